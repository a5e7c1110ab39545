// How many ranks a job has by the arguments of the calls that set it up: a column of data beside the tables of functions.
#pragma once

#include "interpreter/library.hpp"

namespace stepzero::torch {

// The parameters whose product is the number of ranks, "devices num_nodes"; empty if the row says nothing of it.
std::string_view job_size(const values::Row& row);

} // namespace stepzero::torch
