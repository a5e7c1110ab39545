// What the last whole analysis of a file said, for an answer before the next one is whole: findings that an
// edit left alone, at their new places.
#pragma once

#include "rules/finding.hpp"
#include "syntax/text.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::snapshot {

struct StandingFindings {
  struct One {
    rules::Finding finding;
    bool local = false;  // of a rule that is local, in the file's own run: see rules::Rule
  };
  std::shared_ptr<const syntax::Text>
      text;  // that they were found in; null: there has been no whole analysis
  std::vector<One> findings;

  // Those that still stand in `now`, a later text of `path`: where the edit did not touch them, and unless
  // the rule is asked once more of the root that led there. `judged_again` is asked of the name of a root,
  // the empty one being the statements of the file.
  std::vector<rules::Finding> in(const syntax::Text& now, const std::string& path,
      const std::function<bool(const std::string& root)>& judged_again) const;
  // The findings that are not local, where an edit of comments alone leaves them as they are in every word:
  // it touches no place of theirs, and none of them names a line. Nothing where one is not left so.
  std::optional<std::vector<rules::Finding>> in_other_comments(
      const syntax::Text& now, const std::string& path) const;
};

}  // namespace stepzero::snapshot
