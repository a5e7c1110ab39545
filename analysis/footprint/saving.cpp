#include "footprint/saving.hpp"

#include "footprint/gradients.hpp"
#include "footprint/saving_kinds.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::footprint {

namespace {

// One word of the table.
void keep_word(Keeper& keeper, std::string_view word) {
  std::string_view who;
  if (const auto arrow = word.find('<'); arrow != std::string_view::npos) {
    who = word.substr(arrow + 1);
    word = word.substr(0, arrow);
  }
  if (!who.empty() && !keeper.any_requires_grad(who)) return;
  for (const SpecialKind& kind : special_kinds())
    if (kind.word == word) return kind.keep(keeper);
  keeper.operand(word);
}

}  // namespace

Saving saved_by(const Graph& graph, const Node& node, Device device) {
  Saving saving;
  // A gradient is what the last of its operations makes.
  if (!node.results.empty() && graph.gradient(*node.results[0])) return saving;
  // What a function of the program's own keeps, its call says.
  const auto rule = is_own_function(*node.made) ? std::optional<std::string_view>("own")
      : is_checkpoint(*node.made)               ? std::optional<std::string_view>("region")
      : keeping_of_gradient(*node.made)         ? keeping_of_gradient(*node.made)
                                                : saving_rule(libraries::operator_name(*node.made->row));
  if (!rule) {
    // A view keeps nothing, whatever it is called.
    saving.known = node.results.empty() || shares_memory(graph.record(), *node.made, node.results[0], device);
    // Nor does what is made of nothing that has a gradient: numbers that are drawn, read, or taken from an
    // array.
    const auto has_gradient = [&](const TensorState* state) { return state && graph.requires_grad(*state); };
    saving.known = saving.known ||
        (!layer_of(*node.made) && std::ranges::none_of(node.made->states, has_gradient) &&
            std::ranges::none_of(node.made->listed, has_gradient));
    return saving;
  }
  if (is_idle_dropout(graph.record(), *node.made)) return saving;
  Keeper keeper(graph, node, device, saving);
  for (std::string_view rest = *rule; !rest.empty();) {
    const auto space = rest.find(' ');
    keep_word(keeper, rest.substr(0, space));
    rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
  }
  keeper.computing_of_weight();
  return saving;
}

namespace {
// Of a Transformer's layer, or of those that are stacked in it; null: not known.
Int hidden_numbers(const Graph& graph, const Producer& made, const TensorState& result) {
  const Instance* layer = layer_of(made);
  if (!layer) return nullptr;
  const Value inside = attribute(graph.record(), *layer, values::ModuleState::layer);
  const Instance& settings = inside.is(values::Kind::instance) ? *inside.as<Instance>() : *layer;
  const Value hidden = attribute(graph.record(), settings, "dim_feedforward"),
              width = attribute(graph.record(), settings, "d_model");
  symbolic::Context& s = graph.record().symbols;
  const Int numbers = elements(s, result.shape);
  return numbers && hidden.is(values::Kind::integer) && width.is(values::Kind::integer)
      ? s.floordiv(s.mul(numbers, hidden.integer()), width.integer())
      : nullptr;
}
}  // namespace

Bytes temporaries_of_backward(const Graph& graph, const Node& node, Device device) {
  Bytes made;
  symbolic::Context& s = graph.record().symbols;
  const Temporaries* known = temporaries_of(libraries::operator_name(*node.made->row));
  const TensorState* input = node.made->states.empty() ? nullptr : node.made->states[0];
  if (!known || node.results.empty() || !input) return made;
  const TensorState& result = *node.results[0];
  const TensorState* other = operand(*node.made, "other");
  const bool has_other = other && graph.requires_grad(*other);
  switch (known->of) {
  case Temporaries::Of::input: made.add(s, graph.bytes(*input), known->times); break;
  case Temporaries::Of::spread_factor:
    if (has_other && other->shape.ndim_known && graph.bytes(*other) != graph.bytes(result))
      made.add(s, graph.bytes(result), known->times);
    break;
  case Temporaries::Of::divisor:
    if (has_other) made.add(s, graph.bytes(result), known->times);
    break;
  case Temporaries::Of::query:
    if (device == Device::cuda) made.add(s, bytes_of(s, input->shape, Dtype::float32), known->times);
    break;
  case Temporaries::Of::hidden:
    if (const Int hidden = hidden_numbers(graph, *node.made, result)) {
      made.add(s, hidden, 2 * values::width(result.cast_by ? graph.half_of(result) : graph.dtype(result)));
      made.add(s, graph.bytes(result), -2);
    }
    break;
  }
  return made;
}

std::optional<std::string_view> saving_rule(std::string_view operator_name) {
  return keeping_of(operator_name);
}

}  // namespace stepzero::footprint
