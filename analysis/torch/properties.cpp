// .
#include "torch/operators.hpp"
namespace stepzero::torch {
std::vector<Row> property_rows() { return {}; }
} // namespace stepzero::torch
