#include "rules/launch/pins.hpp"

#include "program/version.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <utility>

namespace stepzero::rules::launch {

namespace {

constexpr std::string_view requirements[] = {
    "requirements.txt", "pyproject.toml", "setup.py", "setup.cfg", "environment.yml", "environment.yaml"};
constexpr int most_folders_around = 8;  // around the document

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
      c == '.' || c == '/';
}

// Of "4.30,<4.40" the version at its beginning, and whether any that begins with it is meant: "4.*".
struct Bound {
  program::Version version;
  bool any_below = false;
};
std::optional<Bound> bound_of(std::string_view text) {
  text = text.substr(0, text.find_first_of(", )]<>=!~"));
  const bool any_below = text.ends_with(".*");
  if (any_below) text.remove_suffix(2);
  auto version = program::parse_version(text);
  return version ? std::optional(Bound{std::move(*version), any_below}) : std::nullopt;
}

// Does the version begin with the numbers of the bound?
bool begins_with(const program::Version& version, const Bound& bound) {
  return version.release.size() >= bound.version.release.size() &&
      std::equal(bound.version.release.begin(), bound.version.release.end(), version.release.begin());
}

// The index of packages takes these for one another.
bool is_same_letter(char a, char b) {
  constexpr std::string_view separators = "-_.";
  return a == b ||
      (separators.find(a) != std::string_view::npos && separators.find(b) != std::string_view::npos);
}

std::size_t find_name(std::string_view text, std::string_view name, std::size_t from) {
  const auto found = std::search(text.begin() + static_cast<std::ptrdiff_t>(std::min(from, text.size())),
      text.end(), name.begin(), name.end(), is_same_letter);
  return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

// Calls `look` with what follows each mention of the package, to the end of its requirement:
// "[torch]>=4.30,<4.40". Is it mentioned?
template <class Look>
bool for_each_mention(std::string_view text, std::string_view package, const Look& look) {
  bool is_mentioned = false;
  for (std::size_t at = find_name(text, package, 0); at != std::string_view::npos;
      at = find_name(text, package, at + 1)) {
    if (at > 0 && is_of_name(text[at - 1])) continue;
    std::string_view rest = text.substr(at + package.size());
    rest = rest.substr(0, rest.find_first_of("\n\"'#;"));
    if (!rest.empty() && is_of_name(rest.front())) continue;
    is_mentioned = true;
    look(rest);
  }
  return is_mentioned;
}

// What the text says of the package: is it kept below the version? Nothing: it does not name the package.
std::optional<bool> keeps_below(
    std::string_view text, std::string_view package, const program::Version& version) {
  bool below = false;
  const bool is_mentioned = for_each_mention(text, package, [&](std::string_view rest) {
    for (std::size_t sign = rest.find_first_of("=<~"); sign != std::string_view::npos;
        sign = rest.find_first_of("=<~", sign)) {
      const bool at_least = sign > 0 && (rest[sign - 1] == '>' || rest[sign - 1] == '!');
      const std::size_t digits = std::min(rest.find_first_not_of("=<~ ", sign), rest.size());
      const bool excludes = rest.substr(sign, digits - sign).find('=') == std::string_view::npos;
      const auto bound = at_least ? std::nullopt : bound_of(rest.substr(digits));
      if (bound && !(bound->any_below && begins_with(version, *bound))) {
        const auto order = program::order(bound->version, version);
        below = below || (excludes ? order <= 0 : order < 0);
      }
      sign = digits;
    }
  });
  return is_mentioned ? std::optional(below) : std::nullopt;
}

// Does the text ask for the version or a later one? Nothing: it does not name the package.
std::optional<bool> asks_for(
    std::string_view text, std::string_view package, const program::Version& version) {
  bool from = false;
  const bool is_mentioned = for_each_mention(text, package, [&](std::string_view rest) {
    for (const std::string_view sign : {">=", "==", "~="})
      if (const std::size_t found = rest.find(sign); found != std::string_view::npos) {
        const std::size_t digits = std::min(rest.find_first_not_of("=<>~ ", found), rest.size());
        const auto bound = bound_of(rest.substr(digits));
        from = from || (bound && program::order(bound->version, version) >= 0);
      }
  });
  return is_mentioned ? std::optional(from) : std::nullopt;
}

// Imports start from a file's own folder, too: what it needs may be written down farther out.
bool is_outermost(const std::vector<std::string>& roots, const std::string& folder) {
  const bool is_root = std::find(roots.begin(), roots.end(), folder) != roots.end();
  return is_root && std::none_of(roots.begin(), roots.end(), [&](const std::string& each) {
    return each.size() < folder.size() && folder.starts_with(each) && folder[each.size()] == '/';
  });
}

// What the nearest file says that names the package; no, where none does.
bool nearest_says(const program::Sources& sources, const std::string& from, std::string_view package,
    std::string_view version, const std::function<void(const std::string&)>& asked,
    std::optional<bool> (*said)(std::string_view, std::string_view, const program::Version&)) {
  const auto wanted = program::parse_version(version);
  if (!wanted) return false;
  std::string folder = from;
  for (int i = 0; i < most_folders_around; ++i) {
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos || slash == 0) return false;
    folder.resize(slash);
    for (const std::string_view name : requirements) {
      const std::string path = folder + "/" + std::string(name);
      if (asked) asked(path);
      const auto module = sources.is_file(path) ? sources.module(path) : nullptr;
      if (const auto answer = module ? said(module->text->bytes(), package, *wanted) : std::nullopt)
        return *answer;
    }
    if (is_outermost(sources.roots(), folder)) return false;
  }
  return false;
}
}  // namespace

bool is_kept_below(const program::Sources& sources, const std::string& from, std::string_view package,
    std::string_view version, const std::function<void(const std::string&)>& asked) {
  return nearest_says(sources, from, package, version, asked, keeps_below);
}

bool is_kept_below(const DocumentInput& input, std::string_view package, std::string_view version) {
  return is_kept_below(
      input.sources, input.path, package, version, [&](const std::string& path) { input.read.insert(path); });
}

bool is_kept_from(const DocumentInput& input, std::string_view package, std::string_view version) {
  return nearest_says(
      input.sources, input.path, package, version, [&](const std::string& path) { input.read.insert(path); },
      asks_for);
}

}  // namespace stepzero::rules::launch
