// Another core for what somebody waits for.
#pragma once

#include "syntax/background.hpp"

namespace stepzero::server {

// Empty where the machine has one core only.
syntax::BackgroundRunner another_core();

}  // namespace stepzero::server
