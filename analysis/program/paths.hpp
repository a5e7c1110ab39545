// Paths as text. Asks no file system.
#pragma once

#include <string>
#include <string_view>

namespace stepzero::program {

// An absolute path without "." and "..".
std::string normal_path(std::string_view path);

}  // namespace stepzero::program
