#include "values/strides.hpp"

namespace stepzero::values {

std::vector<Int> strides_in_order(symbolic::Context& symbols, const Shape& shape) {
  if (!shape.ndim_known) return {};
  std::vector<Int> strides(shape.dims.size());
  Int step = symbols.constant(1);
  for (std::size_t i = shape.dims.size(); i-- > 0;) {
    if (!shape.dims[i].size) return {};
    strides[i] = step;
    step = symbols.mul(step, shape.dims[i].size);
  }
  return strides;
}

}  // namespace stepzero::values
