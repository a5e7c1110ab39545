// Amounts of memory as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepzero::footprint {

// Three digits: "474 MiB"
std::string rounded(double value, const char* unit);
// "475 MiB"
std::string bytes_text(std::int64_t bytes);
// "124 M"
std::string count_text(std::int64_t count);

// "80GB", "24 GiB", "81920MB": bytes; a GB is 2^30 of them, as GPUs are sold.
std::optional<std::int64_t> parse_size(std::string_view text);

}  // namespace stepzero::footprint
