// Commands that stand in the text of a word: what `bash -c`, `eval` and `sbatch --wrap` are handed.
#pragma once

#include "documents/shell.hpp"

#include <vector>

namespace stepzero::documents {

// The words of each command in order. What an inner `$name` stands for is not known.
std::vector<std::vector<Chars>> inline_commands(const Chars& script);
// Does the command run what it reads, as `bash <<EOF` and `sbatch <<EOF` do? `within` gets the program around
// it.
bool reads_script(std::string_view command, std::string& within);
// The word of a command that holds such a script, `within` gets the program around it; an empty text: there
// is none. `texts` are the words.
Chars inline_script_of(const std::vector<Chars>& texts, std::string& within);

}  // namespace stepzero::documents
