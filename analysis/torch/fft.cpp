// .
#include "torch/operators.hpp"
namespace stepzero::torch {
std::vector<Row> fft_rows() { return {}; }
} // namespace stepzero::torch
