// The memory of a training step as a person reads it. Knows no protocol and no terminal.
#pragma once

#include "footprint/footprint.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace stepzero::server {

// How a path is written in front of a line; the program's own file is left out.
using ShownPath = std::function<std::string(const std::string& path)>;

// "474.7 MiB"
std::string bytes_text(std::int64_t bytes);
// "124.4 M"
std::string count_text(std::int64_t count);
// "at least 474.7 MiB", "4*B*T*50257 B"
std::string amount_text(const footprint::Amount& amount);

std::string footprint_text(const footprint::Footprint& footprint, const std::string& path, const ShownPath& name);

} // namespace stepzero::server
