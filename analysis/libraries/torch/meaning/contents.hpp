// What is asked of the elements of small tensors of indices.
#pragma once

#include "libraries/table/op.hpp"

#include <functional>

namespace stepzero::libraries {

// Which of so many elements a slice takes; nothing if its numbers are not known.
std::optional<std::vector<std::size_t>> places_of(
    const Op& op, const values::SliceObject& slice, std::size_t length);
// Numbers that are among the elements of the tensor, as far as they are known: of what was filled, stacked or
// listed, too.
std::vector<values::Number> elements_among(Op& op, Value tensor);
// An integer that is among the elements of the tensor and less than `low`, or at least `high`, and is not
// `except`; null if none is known.
Int number_outside(Op& op, Value indices, Int low, Int high, std::optional<std::int64_t> except = {});

// The number lies between the bounds of an element that it was read from.
void keep_bounds(Op& op, values::Unknown& number, const values::Number& element);

// The least and the greatest of a tensor's integers; where they are `met`, both are among its elements.
struct Bounds {
  Int low = nullptr, high = nullptr;
  bool met = false;
  std::string_view what;  // what made them: "arange"
};
// Those of a tensor or of one integer, as far as they are known; through what only arranges the elements.
std::optional<Bounds> bounds_of(Op& op, Value value);

// What is known of the bounds of the tensor's integers, through what only arranges them; null: nothing.
const values::Extent* extent_among(Op& op, Value tensor);
// Indices that were drawn between two bounds reach beyond the size: told as `text` with the greatest of them;
// a proof where so many were drawn that no run has none of those.
bool refuses_drawn(Op& op, Value indices, const Dim& size,
    const std::function<interpreter::Refusal(const Dim& greatest)>& refusal);

}  // namespace stepzero::libraries
