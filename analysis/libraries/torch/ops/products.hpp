// What products of tensors share: how operands are refused that do not fit together.
#pragma once

#include "libraries/torch/ops/operators.hpp"

namespace stepzero::libraries {

// The sizes `left` of `a` and `right` of `b` would be summed over together.
void refuse_inner(Op& op, Value a, Value b, const Dim& left, const Dim& right);
void refuse_pair(Op& op, ProblemKind kind, Value a, Value b);

inline bool has_rank(const Shape& shape, std::size_t rank) {
  return shape.ndim_known && shape.dims.size() == rank;
}
// False, after fail(), if the argument is a tensor of another rank. What is not known is held to be of this
// one.
bool must_have_rank(Op& op, std::string_view name, std::size_t rank);
// A dimension of a shape of known rank; unknown else.
inline Dim dim_at(const Shape& shape, std::size_t i) {
  return shape.ndim_known && i < shape.dims.size() ? shape.dims[i] : Dim{};
}

// The dtype that both have; unknown if it is not known to be one.
Dtype product_dtype(Op& op, Value left, Value right);
// Integers with floats: no product takes them, under autocast neither. False after fail().
bool dtypes_fit(Op& op, Value left, Value right);

// Of the library grouped_gemm.
std::vector<Row> grouped_gemm_rows();

}  // namespace stepzero::libraries
