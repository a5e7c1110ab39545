// The hints of a document while it is edited: a statement that is half typed takes knowledge from others for
// a moment, and their hints must not vanish and come back. Knows no protocol and no clock.
#pragma once

#include "server/features/inlay_hints.hpp"
#include "syntax/document.hpp"

#include <vector>

namespace stepzero::server {

class SteadyHints {
public:
  // The text changed: hints move with it; those whose name is touched are gone.
  void edited(const std::vector<syntax::Edit>& edits);
  // Hints of the present text, all of them, as the analysis gives them; with those that it has lost since the
  // last call if somebody is typing.
  const std::vector<Hint>& with(std::vector<Hint> fresh, bool typing);
  // Whether the last answer held what the analysis did not give.
  bool kept() const { return kept_; }
  void clear() { last_.clear(); }

private:
  std::vector<Hint> last_;  // sorted
  bool kept_ = false;
};

}  // namespace stepzero::server
