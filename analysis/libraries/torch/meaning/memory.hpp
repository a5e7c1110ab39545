// Whose memory the result of an operator has.
#pragma once

#include <cstdint>

namespace stepzero::libraries {

enum class MemoryOf : std::uint8_t {
  own,
  same,        // of the first operand, in the same order
  view,        // of the first operand, whatever it is given
  reshape,     // the same where the order of the elements allows a view
  cast,        // the first operand itself where it is of the wanted kind already
  dropout,     // the same outside of training, or with a probability of 0
  contiguous,  // the same where it lies in order already
  rearranged,  // what einops says in a pattern
  subscript,   // a view of the first operand by an index of numbers and slices; else its own
};

}  // namespace stepzero::libraries
