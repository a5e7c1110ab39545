// What fixes do to texts: which go together, and the text that they make. Knows no files.
#pragma once

#include "rules/finding.hpp"
#include "syntax/document.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::server {

struct ChosenFix {
  const rules::Finding* finding = nullptr;
  const rules::Fix* fix = nullptr;
};

// Tells a fix from the others of its round, and stays the same in later rounds.
std::string key(const ChosenFix& chosen);

// The first preferred fix of each finding, as many as go together: where two overlap the first one wins, and
// the other waits for the next round. Taken whole or not at all: none that edits a path outside `editable`,
// none whose key is `refused`.
std::vector<ChosenFix> choose_fixes(const std::vector<const rules::Finding*>& findings,
    const std::set<std::string>& editable, const std::set<std::string>& refused);

// The edits, which do not overlap, in one text; equal ones count once. New lines end as those of the text do.
std::string apply_edits(std::string_view text, std::vector<rules::TextEdit> edits);

// Whether an edit of Python left more of it unparsable than there was.
bool is_broken(const syntax::Module& before, const syntax::Module& after);

}  // namespace stepzero::server
