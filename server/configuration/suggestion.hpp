// "Did you mean": the nearest of a few known words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepzero::server {

// The known word that `word` is most likely a slip of the finger for; empty if none is near. A word without
// '/' is also compared with what follows the '/' of known ones.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

// ` (did you mean "amp"?)`, or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace stepzero::server
