// The comments that silence a rule: `# stepzero: ignore[…]` at the end of a line, `# stepzero:
// ignore-file[…]` in the first lines of a file. Knows no protocol.
#pragma once

#include "rules/finding.hpp"
#include "syntax/document.hpp"

#include <optional>
#include <string_view>

namespace stepzero::server {

// The edit that makes the line on which `at` lies ignore the rule: a new comment, or the rule added to the
// one there. Nothing if the line takes no comment (it ends inside a string, or with a backslash).
std::optional<syntax::Edit> ignore_here(
    const syntax::Module& module, std::uint32_t at, std::string_view rule);

// The same for the whole file: added to the file's first such comment, or in a new line after `#!` and `#
// -*- coding`.
syntax::Edit ignore_in_file(const syntax::Module& module, std::string_view rule);

}  // namespace stepzero::server
