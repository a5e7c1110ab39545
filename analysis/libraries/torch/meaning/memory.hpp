// Whose memory the results of operators have, and in which order they lie there. Columns of the table of
// operators.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepzero::libraries {

enum class MemoryOf : std::uint8_t {
  own,
  view,     // of the first operand, whatever it is given
  reshape,  // the same where the order of the elements allows a view
  cast,     // the first operand itself where it is of the wanted kind already
  dropout,  // the same outside of training, or with a probability of 0
};
MemoryOf memory_of(std::string_view operator_name);
// Does it go through its operands element by element? Its result lies in memory in the order of these.
bool lies_as_operands(std::string_view operator_name);

}  // namespace stepzero::libraries
