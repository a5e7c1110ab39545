#include "rules/attention/scores.hpp"

#include <algorithm>

namespace stepzero::rules {

std::vector<Attention> attentions(const Record& record) {
  std::vector<Attention> found;
  for (const Origin& each : Lineage::of(record).of_sense(Sense::softmax)) {
    Attention attention;
    attention.softmax = each.made;
    attention.probabilities = each.state;
    const TensorState* at = input(*each.made);
    for (int way = 0; at && at->made && way < 12 && !attention.product; ++way) {
      const Made& made = *at->made;
      const TensorState *a = input(made, 0), *b = input(made, 1);
      const auto other = made.arguments.size() > 1 ? number(record, made.arguments[1]) : std::nullopt;
      switch (sense(made)) {
      case Sense::product: {
        const auto factors = inputs(made);
        if (factors.size() == 2) {
          attention.product = &made;
          attention.queries = factors[0];
          attention.keys = factors[1];
        }
        at = nullptr;
        break;
      }
      case Sense::same:
      case Sense::masked:
      case Sense::rearranged: at = a; break;
      // The mask.
      case Sense::add:
      case Sense::sub: at = a && b && b->made && sense(behind(b)) == Sense::mul && sense(behind(a)) != Sense::mul && sense(behind(a)) != Sense::div ? b : a; break;
      case Sense::mul:
      case Sense::div: {
        if (!a && b && sense(made) == Sense::mul && number(record, made.arguments[0])) {
          attention.scale *= *number(record, made.arguments[0]);
          at = b;
        } else if (const double by = other.value_or(0); a && by != 0) {
          attention.scale *= sense(made) == Sense::mul ? by : 1 / by;
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
  for (std::size_t i = 0; i < found.size() && found.size() < 256; ++i) {
    if (!found[i]->made) continue;
    const Sense by = sense(found[i]);
    if (by == Sense::linear || by == Sense::normalized || by == Sense::softmax) continue;
    for (const TensorState* source : inputs(*found[i]->made))
      if (seen.insert(identity(source)).second) found.push_back(source);
  }
  return found;
}

} // namespace stepzero::rules
