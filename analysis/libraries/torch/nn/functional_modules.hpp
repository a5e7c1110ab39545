// Modules that are called with other parameters than their own, and parameters as one vector.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

// A tensor as `of`, but for its shape. It is no view.
Value with_shape(Call& call, const TensorState& of, Shape shape);

std::vector<Row> functional_module_rows();

}  // namespace stepzero::libraries
