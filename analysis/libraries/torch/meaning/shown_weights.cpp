#include "libraries/torch/meaning/shown_weights.hpp"

#include "interpreter/library.hpp"

namespace stepzero::libraries {

using values::Kind;

bool writes_in_place(const values::Producer& made) {
  return made.row->variant != values::Variant::plain || semantics_of(*made.row) == OpSemantics::copied;
}

const values::Tensor* shown_weights(values::Value value) {
  constexpr int longest_way = 12;  // views of views of a weight
  const auto* tensor = value.is(Kind::tensor) ? value.as<values::Tensor>() : nullptr;
  const values::TensorState* state = tensor ? tensor->now() : nullptr;
  for (int way = 0; tensor && way < longest_way; ++way) {
    if (tensor->role != values::TensorRole::plain) return tensor;
    const values::Producer* made = state ? state->made : nullptr;
    if (!made || made->arguments.empty()) return nullptr;
    if (!writes_in_place(*made) && semantics_of(*made->row) != OpSemantics::detached) return nullptr;
    tensor = made->arguments[0].is(Kind::tensor) ? made->arguments[0].as<values::Tensor>() : nullptr;
    state = made->states[0];
  }
  return nullptr;
}

bool averages(OpSemantics semantics) {
  return semantics == OpSemantics::add || semantics == OpSemantics::sub || semantics == OpSemantics::copied ||
      semantics == OpSemantics::interpolated;
}

}  // namespace stepzero::libraries
