// Another core for what somebody waits for.
#pragma once

#include "syntax/elsewhere.hpp"

namespace stepzero::server {

// Empty where the machine has one core only.
syntax::Elsewhere another_core();

} // namespace stepzero::server
