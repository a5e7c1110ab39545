// What constructors of optimizers refuse, and the tensors that they take.
#pragma once

#include "libraries/table/native.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepzero::libraries {

std::string optimizer_title(const Call& call);
void refuse_optimizer(Call& call, interpreter::Refusal refusal);
std::optional<double> optimizer_number(Call& call, Value value);

void judge_names(Call& call);     // an argument that it has not
void judge_settings(Call& call);  // the numbers and flags
void judge_trained(Call& call, Value given);
void judge_matrices(Call& call, const std::vector<Value>& taken);  // of those that step matrices alone
void judge_leaves(Call& call, const std::vector<Value>& taken);
void judge_groups(Call& call);  // of those that take one group
void judge_shared(Call& call);  // a parameter is in one group only

// The tensors among what an optimizer is given: a tensor, a sequence of them, groups of them. False if they
// are not all known.
bool optimized_tensors(Call& call, Value given, std::vector<Value>& taken, int depth = 0);

}  // namespace stepzero::libraries
