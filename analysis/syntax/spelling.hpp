// How far two words are apart, to say which one was meant.
#pragma once

#include <cstddef>
#include <string_view>

namespace stepzero::syntax {

// Insertions, deletions, replacements and swaps of neighboring letters that turn one into the other; letter
// case and '_' for '-' are free. The time is the product of both lengths, in bytes.
std::size_t letters_between(std::string_view left, std::string_view right);
// The same if it is at most `most`, else some larger number, which is found sooner.
std::size_t letters_between(std::string_view left, std::string_view right, std::size_t most);

}  // namespace stepzero::syntax
