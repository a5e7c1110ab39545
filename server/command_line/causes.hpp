// One cause is one finding: what files that lead to it tell of another file, where that file, or the first of
// them, tells it too.
#pragma once

#include "server/command_line/checker.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace stepzero::server {

class Causes {
public:
  // Of all files that are checked together.
  explicit Causes(const std::vector<Checked>& results);
  // Is it left out, because its cause is told once, no less severely: in its own file, or else by the first
  // file that leads there?
  bool are_told_elsewhere(const rules::Finding& finding) const;

private:
  // The rule, and where the cause stands.
  using Key = std::tuple<std::string_view, std::string, std::uint32_t>;
  static Key key_of(const rules::Finding& finding, const rules::Location& where) {
    return {finding.rule, where.path, where.span.begin};
  }
  struct Reported {
    rules::Severity severity;
    rules::Location by;  // the finding that stays; its path is empty where it stands at the cause itself
  };
  std::map<Key, Reported> told_;
};

}  // namespace stepzero::server
