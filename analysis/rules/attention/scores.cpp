#include "rules/attention/scores.hpp"

#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

std::vector<Attention> attentions(const Record& record) {
  std::vector<Attention> found;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::softmax)) {
    Attention attention;
    attention.softmax = each.made;
    attention.probabilities = each.state;
    const TensorState* at = input(*each.made);
    for (int way = 0; at && at->made && way < 12 && !attention.product; ++way) {
      const Producer& made = *at->made;
      const TensorState *a = input(made, 0), *b = input(made, 1);
      const auto other = number(record, argument(made, 1));
      switch (semantics(made)) {
      case OpSemantics::product: {
        const auto factors = inputs(made);
        if (factors.size() == 2) {
          attention.product = &made;
          attention.queries = factors[0];
          attention.keys = factors[1];
        }
        at = nullptr;
        break;
      }
      case OpSemantics::same:
      case OpSemantics::masked:
      case OpSemantics::rearranged: at = a; break;
      // The mask.
      case OpSemantics::add:
      case OpSemantics::sub:
        at = a && b && b->made && semantics(source_of(b)) == OpSemantics::mul &&
                semantics(source_of(a)) != OpSemantics::mul && semantics(source_of(a)) != OpSemantics::div
            ? b
            : a;
        break;
      case OpSemantics::mul:
      case OpSemantics::div: {
        if (!a && b && semantics(made) == OpSemantics::mul && number(record, made.arguments[0])) {
          attention.scale *= *number(record, made.arguments[0]);
          at = b;
        } else if (const double by = other.value_or(0); a && by != 0) {
          attention.scale *= semantics(made) == OpSemantics::mul ? by : 1 / by;
          at = a;
        } else {
          attention.scale_known = false;
          at = a;
        }
        if (!attention.scaled) attention.scaled = &made;
        break;
      }
      default: at = nullptr; break;
      }
    }
    if (attention.product) found.push_back(attention);
  }
  return found;
}

std::vector<const TensorState*> since_projection(const TensorState* state) {
  std::vector<const TensorState*> found{state};
  std::unordered_set<const void*> seen{identity(state)};
  for (std::size_t i = 0; i < found.size() && found.size() < values::most_operations; ++i) {
    if (!found[i]->made) continue;
    const OpSemantics by = semantics(found[i]);
    if (by == OpSemantics::linear || by == OpSemantics::normalized || by == OpSemantics::softmax) continue;
    for (const TensorState* source : inputs(*found[i]->made))
      if (seen.insert(identity(source)).second) found.push_back(source);
  }
  return found;
}

}  // namespace stepzero::rules
