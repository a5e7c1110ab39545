#include "footprint/saving.hpp"

#include "footprint/saving_kinds.hpp"

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

} // namespace

Saving saved_by(const Graph& graph, const Node& node, Device device) {
  Saving saving;
  const auto rule = saving_rule(torch::operator_name(*node.made->row));
  if (!rule) {
    // A view keeps nothing, whatever it is called.
    saving.known = node.results.empty() || shares_memory(graph.record(), *node.made, node.results[0]);
    // Nor does what is made of nothing that has a gradient: numbers that are drawn, read, or taken from an array.
    const auto has_gradient = [&](const TensorState* state) { return state && graph.requires_grad(*state); };
    saving.known = saving.known || (!layer_of(*node.made) && std::ranges::none_of(node.made->states, has_gradient) && std::ranges::none_of(node.made->listed, has_gradient));
    return saving;
  }
  if (is_idle_dropout(graph.record(), *node.made)) return saving;
  Keeper keeper(graph, node, device, saving);
  for (std::string_view rest = *rule; !rest.empty();) {
    const auto space = rest.find(' ');
    keep_word(keeper, rest.substr(0, space));
    rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
  }
  return saving;
}

Bytes passing_by(const Graph& graph, const Node& node, Device device) {
  Bytes made;
  symbolic::Context& s = graph.record().symbols;
  const Made& of = *node.made;
  const std::string_view name = torch::operator_name(*of.row);
  const TensorState* input = of.states.empty() ? nullptr : of.states[0];
  if (node.results.empty() || !input) return made;
  // A product that is spread over a smaller factor, and a quotient, make the gradient of the factor in full first.
  const TensorState* other = operand(of, "other");
  const bool spreads = other && graph.requires_grad(*other) && other->shape.rank_known && graph.bytes(*other) != graph.bytes(*node.results[0]);
  // Inside a Transformer's layer the gradients of the hidden numbers, before and behind their activation.
  if (const TensorState* result = node.results[0]; name.starts_with("Transformer")) {
    const Instance* layer = layer_of(of);
    const Value inside = layer ? attribute(graph.record(), *layer, "$layer") : Value{};
    const Instance* settings = inside.is(values::Kind::instance) ? inside.as<Instance>() : layer;
    const Value hidden = settings ? attribute(graph.record(), *settings, "dim_feedforward") : Value{}, width = settings ? attribute(graph.record(), *settings, "d_model") : Value{};
    const Int numbers = elements(s, result->shape);
    if (!hidden.is(values::Kind::integer) || !width.is(values::Kind::integer) || !numbers) return made;
    const int bytes = values::width(result->cast_by ? graph.half_of(*result) : graph.dtype(*result));
    made.add(s, s.mul(s.floordiv(s.mul(numbers, hidden.integer()), width.integer()), s.constant(2 * bytes)));
    made.add(s, graph.bytes(*result), -2);
  } else if (const int numbers = passing_of(name)) {
    made.add(s, graph.bytes(*input), numbers);
  } else if (name == "mul" && spreads) {
    made.add(s, graph.bytes(*node.results[0]));
  } else if (name == "div" && other && graph.requires_grad(*other)) {
    made.add(s, graph.bytes(*node.results[0]), 2);
  } else if (name == "scaled_dot_product_attention" && device == Device::cuda) {
    // Fused kernels add up the gradient of the query in float32.
    made.add(s, bytes_of(s, input->shape, Dtype::float32));
  }
  return made;
}

std::optional<std::string_view> saving_rule(std::string_view operator_name) { return keeping_of(operator_name); }

} // namespace stepzero::footprint
