#include "server/workspace/ignore.hpp"

#include <cctype>
#include <optional>

namespace stepzero::server {
namespace {

bool in_class(std::string_view name, unsigned char byte) {
  if (name == "alpha") return std::isalpha(byte) != 0;
  if (name == "digit") return std::isdigit(byte) != 0;
  if (name == "alnum") return std::isalnum(byte) != 0;
  if (name == "lower") return std::islower(byte) != 0;
  if (name == "upper") return std::isupper(byte) != 0;
  if (name == "space") return std::isspace(byte) != 0;
  if (name == "punct") return std::ispunct(byte) != 0;
  if (name == "xdigit") return std::isxdigit(byte) != 0;
  return false;
}

struct Bracket {
  bool matches = false;
  std::size_t end = 0;  // after the ']'
};

// `glob[at]` is '['. Nothing if the bracket is never closed: such a pattern matches nothing, as in git.
std::optional<Bracket> bracket(std::string_view glob, std::size_t at, unsigned char byte) {
  std::size_t i = at + 1;
  const bool negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < glob.size(); first = false) {
    if (glob[i] == ']' && !first) return Bracket{found != negated, i + 1};
    if (glob.substr(i).starts_with("[:")) {
      const std::size_t close = glob.find(":]", i + 2);
      if (close != std::string_view::npos) {
        found = found || in_class(glob.substr(i + 2, close - i - 2), byte);
        i = close + 2;
        continue;
      }
    }
    if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
    const unsigned char low = static_cast<unsigned char>(glob[i++]);
    unsigned char high = low;
    if (i + 1 < glob.size() && glob[i] == '-' && glob[i + 1] != ']') {
      ++i;
      if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
      high = static_cast<unsigned char>(glob[i++]);
    }
    found = found || (low <= byte && byte <= high);
  }
  return std::nullopt;
}

// How many bytes of the glob match this byte of the name; 0: they do not.
std::size_t match_one(std::string_view glob, std::size_t at, char byte) {
  if (glob[at] == '?') return 1;
  if (glob[at] == '[') {
    const auto found = bracket(glob, at, static_cast<unsigned char>(byte));
    return found && found->matches ? found->end - at : 0;
  }
  if (glob[at] == '\\' && at + 1 < glob.size()) return glob[at + 1] == byte ? 2 : 0;
  return glob[at] == byte ? 1 : 0;
}

// One name against one segment of a pattern. Going back to the last '*' only keeps it quadratic.
bool match_segment(std::string_view glob, std::string_view name) {
  std::size_t g = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_name = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = ++g;
      star_name = n;
      continue;
    }
    const std::size_t taken = g < glob.size() ? match_one(glob, g, name[n]) : 0;
    if (taken != 0) {
      g += taken;
      ++n;
    } else if (star != std::string_view::npos) {
      g = star;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t slash = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, slash - begin));
    begin = slash + 1;
  }
  return parts;
}

// "**" stands for any number of names; at the end for at least one.
bool match_segments(const std::vector<std::string>& glob, const std::vector<std::string_view>& path) {
  std::size_t g = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_path = 0;
  while (p < path.size()) {
    if (g < glob.size() && glob[g] == "**") {
      if (g + 1 == glob.size()) return true;
      star = ++g;
      star_path = p;
    } else if (g < glob.size() && match_segment(glob[g], path[p])) {
      ++g;
      ++p;
    } else if (star != std::string_view::npos) {
      g = star;
      p = ++star_path;
    } else {
      return false;
    }
  }
  return g == glob.size();
}

}  // namespace

IgnorePatterns::IgnorePatterns(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    const std::size_t newline = std::min(text.find('\n'), text.size());
    add(text.substr(0, newline));
    text.remove_prefix(std::min(newline + 1, text.size()));
  }
}

void IgnorePatterns::add(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with('#')) return;
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  Pattern pattern;
  if (line.starts_with('!')) {
    pattern.negated = true;
    line.remove_prefix(1);
  }
  if (line.ends_with('/')) {
    pattern.folders_only = true;
    line.remove_suffix(1);
  }
  if (line.empty()) return;
  pattern.anchored = line.find('/') != std::string_view::npos;
  if (line.starts_with('/')) line.remove_prefix(1);
  if (line.empty()) return;
  for (const std::string_view part : split(line)) pattern.segments.emplace_back(part);
  patterns_.push_back(std::move(pattern));
}

IgnorePatterns::Verdict IgnorePatterns::verdict(std::string_view path, bool is_folder) const {
  const std::vector<std::string_view> parts = split(path);
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern) {
    if (pattern->folders_only && !is_folder) continue;
    const bool matches = pattern->anchored ? match_segments(pattern->segments, parts)
                                           : match_segment(pattern->segments.front(), parts.back());
    if (matches) return pattern->negated ? Verdict::kept : Verdict::ignored;
  }
  return Verdict::none;
}

bool IgnorePatterns::ignores(std::string_view path, bool is_folder) const {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
      slash = path.find('/', slash + 1)) {
    if (verdict(path.substr(0, slash), true) == Verdict::ignored) return true;
  }
  return verdict(path, is_folder) == Verdict::ignored;
}

}  // namespace stepzero::server
