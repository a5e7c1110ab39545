#include "program/paths.hpp"

#include <algorithm>
#include <vector>

namespace stepzero::program {

std::string normal_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part == ".." && !parts.empty())
      parts.pop_back();
    else if (!part.empty() && part != "." && part != "..")
      parts.push_back(part);
  }
  std::string text;
  for (const std::string_view part : parts) text += "/" + std::string(part);
  return text;
}

}  // namespace stepzero::program
