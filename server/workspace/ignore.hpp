// The patterns of a .gitignore: what it says of a path below its folder. Knows no file system. The `exclude`
// setting is written in the same language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepzero::server {

class IgnorePatterns {
public:
  enum class Verdict { none, ignored, kept };

  IgnorePatterns() = default;
  // The text of a .gitignore.
  explicit IgnorePatterns(std::string_view text);

  // One line of a .gitignore; blank lines and comments add nothing.
  void add(std::string_view line);
  bool empty() const { return patterns_.empty(); }

  // `path` is relative to the folder of the patterns, without a leading '/'. The last pattern that matches
  // decides. Only the path itself is looked at, not its parents: who walks a tree does not enter an ignored
  // folder.
  Verdict verdict(std::string_view path, bool is_folder) const;

  // Whether the path, or a folder that it lies in, is ignored.
  bool ignores(std::string_view path, bool is_folder = false) const;

private:
  struct Pattern {
    std::vector<std::string> segments;
    bool negated = false;
    bool folders_only = false;
    bool anchored = false;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace stepzero::server
