// Two iterations that come to the same: what may be asked of their values and of their events.
#pragma once

#include "interpreter/record.hpp"
#include "values/heap.hpp"

#include <functional>
#include <span>

namespace stepzero::interpreter {

// Is the same known of both, but for who they are? Nothing unknown is like another, but tensors of which the
// same is known. `same_number`: of two elements of tensors that are not known, whether as much is known of
// them; without it, nothing is like a tensor whose elements are known.
bool are_alike(values::Heap& heap, Value a, Value b, const std::function<bool(Int, Int)>& same_number = {});
// Does nothing happen that somebody may count: communication, failures, ways out?
bool is_quiet(std::span<const Event* const> events);

}  // namespace stepzero::interpreter
