// The commands that a program of Python starts, as far as their words stand in its text:
// `subprocess.run([…])`, `os.system("…")`.
#pragma once

#include "documents/shell.hpp"
#include "syntax/document.hpp"

#include <string_view>

namespace stepzero::rules::launch {

// Is it worth the while to look?
bool may_start_commands(std::string_view text);
documents::Script commands_of_program(const syntax::Module& module);

}  // namespace stepzero::rules::launch
