// Generators of random numbers that a program makes for itself: what they draw is the same on all ranks where
// their seeds are.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

// How what the generator draws relates among the ranks; nothing: it is none, or nothing is known of its seed.
std::optional<Sharing> drawn_by(Runtime& run, Value generator);
// The same of an operator's `generator`, or of the stream that all share where it is given none.
Sharing drawn_with(Runtime& run, Value generator);

}  // namespace stepzero::libraries
