// .
#include "torch/operators.hpp"
namespace stepzero::torch {
std::vector<Row> linalg_rows() { return {}; }
} // namespace stepzero::torch
