#include "rules/loop/measured.hpp"

#include "rules/lineage.hpp"

#include <unordered_set>

namespace stepzero::rules {

using values::Operation;

namespace {

enum class From : std::uint8_t { gradient, other };

From from(const Record& record, const TensorState* state, std::unordered_set<const void*>& seen) {
  if (!state || seen.size() > 64) return From::other;
  if (state->is_gradient) return From::gradient;
  if (!state->made || !seen.insert(identity(state)).second) return From::other;
  const Made& made = *state->made;
  switch (sense(made)) {
  case Sense::same:
  case Sense::rearranged:
  case Sense::reordered:
  case Sense::joined:
  case Sense::sum:
  case Sense::mean:
  case Sense::largest:
  case Sense::square:
  case Sense::power:
  case Sense::sqrt:
  case Sense::norm:
  case Sense::not_negative: break;
  case Sense::add: break;
  case Sense::mul:
  case Sense::div:
    // By a number that the program writes, or counts.
    for (std::size_t i = 0; i < made.arguments.size(); ++i)
      if (made.arguments[i] && !(i < made.states.size() && made.states[i]) && !number(record, made.arguments[i])) return From::other;
    break;
  default: return From::other;
  }
  bool any = false;
  std::vector<const TensorState*> all = inputs(made);
  // Of a list of which not all is known, what any of the others is.
  for (const Value& argument : made.arguments)
    if (argument.is(values::Kind::list))
      if (const Value rest = values::Heap::list_state(argument)->rest; rest.is(values::Kind::tensor)) all.push_back(rest.as<values::Tensor>()->now());
  for (const TensorState* each : all) {
    if (from(record, each, seen) == From::gradient) any = true;
    else if (each->shape.rank_known && !each->shape.dims.empty()) return From::other;
  }
  return any ? From::gradient : From::other;
}

} // namespace

bool measures_gradients(const Record& record, const OperationEvent& read) {
  const TensorState* state = read.self_state();
  if (!state || read.row->operation != Operation::host_read || !state->made) return false;
  std::unordered_set<const void*> seen;
  return from(record, state, seen) == From::gradient;
}

} // namespace stepzero::rules
