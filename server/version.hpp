// The program's name and version, as every front end says them.
#pragma once

#include <string_view>

namespace stepzero::server {

std::string_view version();  // "0.1.0"

}  // namespace stepzero::server
