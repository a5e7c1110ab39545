// How the elements of a tensor lie in memory, found through the views that made it; for matrix products,
// which copy what they cannot see as a row of matrices.
#pragma once

#include "footprint/graph.hpp"

namespace stepzero::footprint {

// Empty: not known. `device`: whose kernels run.
std::vector<Int> strides_of(const Record& record, const TensorState& state, Device device);
// Those of a view in another shape of a tensor with these sizes and strides, as at::detail::computeStride
// finds them. Nullopt: there is no such view; empty: a size is not known.
std::optional<std::vector<Int>> strides_of_view(
    symbolic::Context& s, const Shape& from, const std::vector<Int>& strides, const Shape& as);
// Do the elements of its last dimension lie side by side, as far as is known?
bool has_rows(const Record& record, const TensorState& state, Device device);
bool in_order(const Record& record, const TensorState& state, Device device);
// Is what einops.rearrange makes of it a view?
bool is_rearranged_view(const Record& record, const Producer& made, const TensorState& result, Device device);
// Would a reshape be a view? Where nothing is known it is taken to be one.
bool can_be_viewed(const Record& record, const TensorState& from, const Shape& as, Device device);

}  // namespace stepzero::footprint
