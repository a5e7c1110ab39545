// A float as Python writes it.
#pragma once

#include <string>

namespace stepzero::interpreter {

// The shortest text that reads back as the same number.
std::string text_of_real(double value);

}  // namespace stepzero::interpreter
