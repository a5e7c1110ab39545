// .
#include "torch/operators.hpp"
namespace stepzero::torch {
std::vector<Row> reduction_rows() { return {}; }
} // namespace stepzero::torch
