#include "rules/moe/balance.hpp"

#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

using values::Known;
using values::Operation;

std::vector<const TensorState*> differentiated(const Record& record) {
  std::vector<const TensorState*> found;
  visit_operations(record, with_operation(Operation::backward), [&](const OperationEvent& operation) {
    for (const TensorState* state : operation.tensors)
      if (state && state->made && std::find(found.begin(), found.end(), state) == found.end()) {
        found.push_back(state);
        break;
      }
  });
  return found;
}

bool only_of_choices(const TensorState* state) {
  std::vector<const TensorState*> open{state};
  std::unordered_set<const TensorState*> seen;
  while (!open.empty()) {
    const TensorState* at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    if (seen.size() > values::most_operations || !at->made) return false;
    const OpSemantics by = semantics(at);
    // Indices: nothing after them has a gradient.
    if (((by == OpSemantics::chosen || by == OpSemantics::largest) && at->made->part == 1) ||
        by == OpSemantics::place_of_largest)
      continue;
    const auto from = inputs(*at->made);
    if (from.empty() && by != OpSemantics::count_up) return false;
    for (const TensorState* source : from) open.push_back(source);
  }
  return true;
}

std::vector<Balance> balances(const Record& record) {
  std::vector<Balance> found;
  const Provenance& provenance = Provenance::of(record);
  // What is used in something that is computed further.
  for (const Origin& each : provenance.of_semantics(OpSemantics::sum)) {
    if (!each.state->shape.ndim_known || !each.state->shape.dims.empty()) continue;
    const TensorState* product = source_of(input(*each.made));
    if (semantics(product) != OpSemantics::mul) continue;
    const auto factors = inputs(*product->made);
    if (factors.size() != 2) continue;
    const TensorState* logits = nullptr;
    bool shares = false;
    for (const TensorState* factor : factors) {
      for (const TensorState* state : ancestors(factor))
        shares = shares ||
            ((semantics(state) == OpSemantics::one_hot || semantics(state) == OpSemantics::count) &&
                only_of_choices(factor));
      const TensorState* mean = source_of(factor);
      if (semantics(mean) != OpSemantics::mean && semantics(mean) != OpSemantics::sum) continue;
      const TensorState* probabilities = source_of(input(*mean->made));
      if (semantics(probabilities) != OpSemantics::softmax &&
          semantics(probabilities) != OpSemantics::sigmoid)
        continue;
      if (const auto scores = scores_of(probabilities)) logits = scores->logits;
    }
    if (shares && logits) found.push_back({each.state, logits});
  }
  return found;
}

std::vector<Routing> routings(const Record& record) {
  std::vector<Routing> found;
  const Provenance& provenance = Provenance::of(record);
  std::unordered_set<const void*> used;
  for (const OpSemantics by :
      {OpSemantics::equals, OpSemantics::one_hot, OpSemantics::picked, OpSemantics::count})
    for (const Origin& each : provenance.of_semantics(by))
      for (const TensorState* source : inputs(*each.made)) {
        used.insert(identity(source));
        used.insert(identity(source_of(source)));
        // x[chosen] keeps the indices in its subscript.
        const Value index = argument(*each.made, 1);
        if (index.is(values::Kind::tuple))
          for (const Value& item : index.as<values::Tuple>()->items)
            if (item.is(values::Kind::tensor))
              used.insert(identity(source_of(item.as<values::Tensor>()->now())));
      }
  for (const OpSemantics by : {OpSemantics::chosen, OpSemantics::place_of_largest, OpSemantics::largest})
    for (const Origin& each : provenance.of_semantics(by)) {
      if (by != OpSemantics::place_of_largest && each.made->part != 1) continue;
      if (!used.contains(identity(each.state))) continue;
      const TensorState* from = input(*each.made);
      if (const auto scores = from ? scores_of(from) : std::nullopt) found.push_back({each.made, *scores});
    }
  return found;
}

}  // namespace stepzero::rules
