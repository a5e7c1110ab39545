// Single elements of tensors as PyTorch computes them: rounded to their dtype at each step, or between two
// bounds.
#pragma once

#include "libraries/table/op.hpp"

#include <cmath>
#include <vector>

namespace stepzero::libraries {

using Numbers = std::vector<values::Number>;

inline bool is_computed(Dtype dtype) { return dtype == Dtype::float32 || dtype == Dtype::float64; }
inline double rounded(double value, Dtype dtype) {
  return dtype == Dtype::float32 ? static_cast<double>(static_cast<float>(value)) : value;
}
inline bool is_finite(const values::Number& number) {
  return std::isfinite(number.low) && std::isfinite(number.high);
}
inline std::optional<std::int64_t> constant(const Op& op, const values::Number& number) {
  return number.integer ? op.s.value(number.integer) : std::nullopt;
}
inline values::Number truth(const Op& op, bool value) { return {op.s.constant(value)}; }
// So many steps of the dtype's precision further out.
values::Number between(double low, double high, Dtype dtype, int steps);
std::optional<values::Number> whole(const Op& op, std::int64_t value, Dtype dtype);
std::optional<values::Number> converted(const Op& op, const values::Number& number, Dtype to);
// The elements of a tensor, or a number of Python's, in the dtype; as they are where it is unknown.
std::optional<Numbers> numbers_of(const Op& op, Value value, Dtype dtype);

// What the operator computes element by element, or along its elements; null if it does not.
ContentRule arithmetic_rule_of(std::string_view operator_name);
// Of many integers the bounds: of sums, differences and what is clamped. Where the result is known element by
// element that says more.
void hold_bounds_of_sum(Op& op, Value made, bool subtracts, std::string_view left, std::string_view right);
void hold_bounds_of_clamped(Op& op, Value made);
void hold_greatest(Op& op, Value made);
void hold_least(Op& op, Value made);

}  // namespace stepzero::libraries
