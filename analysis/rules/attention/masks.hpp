// What a mask of attention is true of: a triangle, or the places where tokens are something. Found by where
// the mask came from.
#pragma once

#include "rules/provenance.hpp"

#include <optional>

namespace stepzero::rules {

// Which part of a square is true: on and below the diagonal, or on and above it.
struct Triangle {
  bool lower = true;
  std::int64_t diagonal = 0;
  const Producer* made = nullptr;
};
// The triangle that the mask is true in, if it is one.
std::optional<Triangle> triangle(const Record& record, const TensorState* mask, int depth = 0);
// The triangle in which a mask of numbers, which is added to the scores, is so low that it hides them.
std::optional<Triangle> hidden_triangle(const Record& record, const TensorState* mask, int depth = 0);

// A mask over positions: true where a tensor equals a number other than 1, or where positions lie before a
// length; or everywhere else.
struct PositionMask {
  const Producer* made = nullptr;  // the comparison
  bool inverted = false;           // everywhere else
  std::optional<double> number;    // absent: before a length
};
std::optional<PositionMask> position_mask(const Record& record, const TensorState* mask, int depth = 0);

}  // namespace stepzero::rules
