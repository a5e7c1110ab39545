// An operator's own name, under whatever other name it was called: "sub" of torch.Tensor.subtract_. What is
// known of operators by name is looked up by it, so that it is known of their aliases, too.
#pragma once

#include "libraries/table/table.hpp"

namespace stepzero::libraries {

// "sub", "conv2d", "Linear"; in the form that writes into its tensor the same. Of what is no operator the
// last part of its path.
std::string_view operator_name(const Row& row);
// Operators of torch.masked; grid_sample and affine_grid; torch.sparse. (Families beside those of table.hpp.)
std::vector<Row> masked_rows();
std::vector<Row> sampling_rows();
std::vector<Row> sparse_rows();
std::vector<Row> transform_rows();  // torch.func, parameters as a vector

// Told once for each operator, by who makes its rows.
void name_operator(const values::OperatorInfo* op, std::string_view name);
// The rows of an operator mean the same to the rules, whichever of its names they stand for.
void share_roles(std::span<Row> rows);

}  // namespace stepzero::libraries
