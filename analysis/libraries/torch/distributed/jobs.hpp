// What the calls say that set up a job, or hand it over: columns of data beside the tables of functions.
#pragma once

#include "interpreter/library.hpp"

namespace stepzero::libraries {

// The parameters whose product is the number of ranks, "devices num_nodes"; of one with a star,
// "*mesh_shape", the product of its entries. Empty if the row says nothing of it.
std::string_view job_size(const values::Row& row);

// Of a class: is it what a framework makes of a model that it prepares? Of a call: does it prepare things?
bool is_prepared(const values::Row& row);
bool prepares(const values::Row& row);
// Of a call: does it make the backward of a loss that it is given?
bool makes_backward(const values::Row& row);

}  // namespace stepzero::libraries
