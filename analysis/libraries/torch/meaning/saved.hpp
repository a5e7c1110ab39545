// What autograd refuses: writes into leaves, arrays of what has a history, backward of several numbers, and
// of numbers that were written over.
#pragma once

#include "libraries/table/op.hpp"

namespace stepzero::libraries {

// A tensor is written in place. False, after fail(): it is a leaf that requires a gradient, and gradients are
// recorded here.
bool may_be_written(Op& op, Value target);
// loss.backward(): of one number, whose history is still there.
void judge_backward(Call& call);
// The same of one of several losses that a framework makes the backward of, where the condition holds: does
// it still have the dimension of the batch?
void judge_batch_of_losses(Call& call, const TensorState& state, symbolic::Cond where);
// How often a tensor was written since it was made, after one more write; `unknown_version` where that
// differs from path to path.
constexpr std::uint32_t unknown_version = ~0u;
inline std::uint32_t written_once_more(std::uint32_t version) {
  return version == unknown_version ? version : version + 1;
}

}  // namespace stepzero::libraries
