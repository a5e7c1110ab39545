#include "footprint/text.hpp"

#include <cctype>
#include <charconv>
#include <cstdio>

namespace stepzero::footprint {

std::string rounded(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s", value, unit);
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  for (const char* unit : {"KiB", "MiB", "GiB"}) {
    if (value < 1024) return rounded(value, unit);
    value /= 1024;
  }
  return rounded(value, "TiB");
}

std::string count_text(std::int64_t count) {
  if (count < 1000) return std::to_string(count);
  double value = static_cast<double>(count) / 1000;
  for (const char* unit : {"k", "M"}) {
    if (value < 1000) return rounded(value, unit);
    value /= 1000;
  }
  return rounded(value, "G");
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || number <= 0) return std::nullopt;
  std::string unit;
  for (const char* at = read.ptr; at != text.data() + text.size(); ++at)
    if (*at != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*at)));
  if (unit.ends_with('b')) unit.pop_back();
  if (unit.ends_with('i')) unit.pop_back();
  const std::string_view units = "kmgt";
  const auto place = unit.empty() ? std::string_view::npos : units.find(unit[0]);
  if (unit.size() > 1 || (unit.size() == 1 && place == std::string_view::npos)) return std::nullopt;
  for (std::size_t i = 0; place != std::string_view::npos && i <= place; ++i) number *= 1024;
  return number < 9e18 ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

}  // namespace stepzero::footprint
