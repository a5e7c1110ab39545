// Which one an operator is of those that mean the same in algebra (OpSemantics): a column of meanings.cpp.
#pragma once

#include "interpreter/library.hpp"

#include <cstdint>

namespace stepzero::libraries {

enum class OpForm : std::uint8_t {
  none,
  lower_triangle,  // what stays: tril
  upper_triangle,
  causal_mask,  // hides what comes after, in numbers that are added: generate_square_subsequent_mask
  by_mask,      // masked_fill
  equal,
  unequal,
  less,  // lt, le
  greater,
  inverted,     // logical_not
  boolean,      // bool
  zeros,        // filled with 0
  ones,         // … with 1
  filled,       // … with a number that it is given: full
  expanded,     // seen several times without a copy: expand
  tiled,        // the whole, again and again: repeat, tile
  each_again,   // each part so often before the next: repeat_interleave
  rolled,       // along a dimension, around its ends
  swaps_last,   // the last two dimensions: mT
  swaps_both,   // of a matrix: t, T
  swaps_given,  // two that it is given: transpose
  looked_up,    // rows of a table by indices: embedding
  by_pattern,   // einsum
  added_to,     // a product is added to its first operand: addmm
  divergence,   // between distributions: kl_div
  dropout,      // numbers are left out at random
  one_device,   // its tensors lie on one device, those without dimensions as well: gather, nll_loss
};

// Of an operator's row; of a layer's forward, too.
OpForm form_of(const values::Row& row);

}  // namespace stepzero::libraries
