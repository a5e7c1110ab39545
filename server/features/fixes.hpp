// Which fixes go together. Works on spans; knows no protocol and no file system.
#pragma once

#include "rules/finding.hpp"

#include <string>
#include <vector>

namespace stepzero::server {

// Whether both edits can be made to one text: they neither overlap nor insert at one place.
bool conflict(const rules::TextEdit& a, const rules::TextEdit& b);

// The edits of the first preferred fix of each finding, as many as go together, in the order of the findings.
// A fix is taken whole or not at all; one that also changes another file than `path` is left out. Equal edits
// count once.
std::vector<rules::TextEdit> fix_all(const std::vector<rules::Finding>& findings, const std::string& path);

}  // namespace stepzero::server
