// What the functions of attention share.
#pragma once

#include "libraries/torch/nn/layer.hpp"

namespace stepzero::libraries {

// Heads of keys and values that are shared by several of queries. False after fail().
bool heads_are_shared(Op& op, const Dim& heads, const Dim& shared);

std::vector<Row> flexible_attention_rows();
std::vector<Row> nested_rows();  // of batches of sequences of different lengths

}  // namespace stepzero::libraries
