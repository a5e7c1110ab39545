// Python numbers in nested lists, as torch.tensor() and numpy.array() take them.
#pragma once

#include "libraries/table/op.hpp"

#include <vector>

namespace stepzero::libraries {

// The dtype that a Python number or a tensor gives.
Dtype dtype_of(Op& op, Value value);
// As many as fit between the ends: rounded up.
Int steps_between(Op& op, Int start, Int end, std::int64_t step);

// Nested lists have the shape of their nesting.
struct NestedLists {
  Dtype dtype = Dtype::unknown;
  bool shape_known = true, dtype_known = true, ragged = false;
  bool deeper =
      false;  // some items may be lists or arrays themselves: the sizes are those of the first dimensions,
  bool flat = false;    // but for others that are numbers
  bool arrays = false;  // tensors or arrays are among them
  std::vector<Int> sizes;
};
NestedLists nesting_of(Op& op, Value data);

}  // namespace stepzero::libraries
