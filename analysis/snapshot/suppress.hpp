// Comments that switch rules off: `# stepzero: ignore[rule, …]` at the end of a line, `# stepzero:
// ignore-file[rule, …]` in the first lines of a file. Without brackets, every rule.
#pragma once

#include "rules/finding.hpp"
#include "syntax/document.hpp"

#include <map>
#include <string>
#include <vector>

namespace stepzero::snapshot {

class Suppressions {
public:
  explicit Suppressions(const syntax::Module& module);
  bool covers(const rules::Finding& finding) const;

private:
  using Rules = std::vector<std::string>;  // "*": every rule; a family stands for its rules
  static bool lists(const Rules& rules, std::string_view rule);
  const syntax::Text& text_;
  std::map<std::uint32_t, Rules> lines_;
  Rules file_;
};

}  // namespace stepzero::snapshot
