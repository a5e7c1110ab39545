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

std::optional<std::string_view> saving_rule(std::string_view operator_name) { return keeping_of(operator_name); }

} // namespace stepzero::footprint
