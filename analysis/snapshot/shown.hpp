// How a value of the run looks to a person.
#pragma once

#include "interpreter/record.hpp"
#include "snapshot/snapshot.hpp"

namespace stepzero::snapshot {

// What can be shown of the value; `kind` is empty if nothing is known. `tensor` is its state where the value is a tensor.
Shown show(const interpreter::Record& record, interpreter::Value value, const values::TensorState* tensor, int depth = 0);
Shown show(const interpreter::Record& record, const values::TensorState& tensor);

} // namespace stepzero::snapshot
