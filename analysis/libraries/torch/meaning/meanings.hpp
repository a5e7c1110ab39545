// What operators mean beside their shape: the record that readers ask. Names of PyTorch stand in its rows
// (meanings.cpp) and not in rules.
#pragma once

#include "libraries/table/op.hpp"
#include "libraries/torch/meaning/gradients.hpp"
#include "libraries/torch/meaning/memory.hpp"
#include "libraries/torch/meaning/op_form.hpp"
#include "libraries/torch/meaning/op_semantics.hpp"

namespace stepzero::libraries {

struct OperatorMeaning {
  OpSemantics algebra = OpSemantics::none;
  MemoryOf memory = MemoryOf::own;
  // It goes through its operands element by element: its result lies in memory in the order of these.
  bool elementwise = false;
  OutcomeEffect outcome = OutcomeEffect::none;
  ColumnRole column = ColumnRole::none;  // of a column [N, 1] that meets a row [N]
  GradientWrite gradient = GradientWrite::other;
  OpForm form = OpForm::none;  // which one it is of those of one algebra
};
// By the operator's own name; of others nothing.
const OperatorMeaning& meaning_of(std::string_view operator_name);

}  // namespace stepzero::libraries
