// The commands of the shell in the cells of a notebook. The program of a notebook keeps them as comments, so
// that every place before the end of a line stays what it is in the cell.
#pragma once

#include "documents/shell.hpp"
#include "syntax/document.hpp"

#include <string>
#include <string_view>

namespace stepzero::rules::launch {

// `!torchrun train.py`, a line of a cell, as a comment of Python: its first letter, which gives way to `#`,
// follows a mark at the end.
std::string as_comment(std::string_view line);
bool has_commands(std::string_view program);
// Of each such line. What `%env` sets holds for the commands that follow.
void read_commands(const syntax::Module& program, documents::Script& into);

}  // namespace stepzero::rules::launch
