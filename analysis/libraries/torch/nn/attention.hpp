// What the functions of attention share.
#pragma once

#include "libraries/torch/nn/layer.hpp"

namespace stepzero::libraries {

// Heads of keys and values that are shared by several of queries. False after fail().
bool heads_are_shared(Op& op, const Dim& heads, const Dim& shared);
// Fails, as two of the inputs differ in a size: `what`, such as "their length".
void fail_as_different(
    Op& op, std::string_view what, std::string_view left, std::string_view right, const Dim& a, const Dim& b);

std::vector<Row> flexible_attention_rows();
std::vector<Row> nested_rows();  // of batches of sequences of different lengths

}  // namespace stepzero::libraries
