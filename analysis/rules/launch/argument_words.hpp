// What a word of a launch is to the parser of its script: an option, a value, or something that the text does
// not decide.
#pragma once

#include "documents/shell.hpp"
#include "rules/launch/parsers.hpp"

#include <optional>

namespace stepzero::rules::launch {

using documents::Word;

enum class WordKind : unsigned char {
  flag,         // an option that is known
  other_flag,   // one that the script has not
  unsure_flag,  // begins like one; which, or how many words it takes, is not known
  value,
  unsure,     // one word that may be anything
  any,        // any number of them
  separator,  // --
};
struct Seen {
  WordKind kind = WordKind::value;
  const DeclaredOption* option = nullptr;
  Word flag;
  std::optional<Word> attached;  // --lr=3, -l3
};

// `parser`: the one of the script, or that of a command.
Seen see(const Word& word, const ScriptOptions& options, int parser);

// The options that the beginning of a name may stand for.
std::vector<std::string_view> beginnings(const ScriptOptions& options, std::string_view flag);

}  // namespace stepzero::rules::launch
