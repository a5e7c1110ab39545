// Numbers as messages show them.
#pragma once

#include <string>

namespace stepzero::rules {

// In six digits at most, as C's %g writes it: "0.5", "1e-05", "10000".
std::string in_digits(double number);

}  // namespace stepzero::rules
