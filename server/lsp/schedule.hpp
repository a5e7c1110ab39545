// textDocument/codeLens, and the command stepzero.schedule: who communicates what, rank by rank.
//
// The command takes one argument, {"uri": "file:///…/train.py", "world": 4} (without `world`: two ranks, or
// as many as the program is made for), and answers {"text": "…", "schedule": {…}}: the output of `stepzero
// schedule` and, as its JSON, what it says of the file. The document need not be open.
#pragma once

#include "server/lsp/session.hpp"

#include <string_view>

namespace stepzero::server {

inline constexpr std::string_view schedule_command = "stepzero.schedule";

void serve_code_lenses(Session& session);
void serve_commands(Session& session);

}  // namespace stepzero::server
