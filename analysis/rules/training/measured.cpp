#include "rules/training/measured.hpp"

#include "rules/provenance.hpp"
#include "values/limits.hpp"

#include <unordered_set>

namespace stepzero::rules {

using values::Operation;

namespace {

enum class From : std::uint8_t { gradient, other };

From from(const Record& record, const TensorState* state, std::unordered_set<const void*>& seen) {
  if (!state || seen.size() > values::most_operations) return From::other;
  if (state->is_gradient) return From::gradient;
  if (!state->made || !seen.insert(identity(state)).second) return From::other;
  const Producer& made = *state->made;
  switch (semantics(made)) {
  case OpSemantics::same:
  case OpSemantics::rearranged:
  case OpSemantics::reordered:
  case OpSemantics::joined:
  case OpSemantics::sum:
  case OpSemantics::mean:
  case OpSemantics::largest:
  case OpSemantics::square:
  case OpSemantics::power:
  case OpSemantics::sqrt:
  case OpSemantics::norm:
  case OpSemantics::not_negative: break;
  case OpSemantics::add: break;
  case OpSemantics::mul:
  case OpSemantics::div:
    // By a number that the program writes, or counts.
    for (std::size_t i = 0; i < made.arguments.size(); ++i)
      if (made.arguments[i] && !(i < made.states.size() && made.states[i]) &&
          !number(record, made.arguments[i]))
        return From::other;
    break;
  default: return From::other;
  }
  bool any = false;
  std::vector<const TensorState*> all = inputs(made);
  // Of a list of which not all is known, what any of the others is.
  for (const Value& argument : made.arguments)
    if (argument.is(values::Kind::list))
      if (const Value rest = values::Heap::list_state(argument)->rest; rest.is(values::Kind::tensor))
        all.push_back(rest.as<values::Tensor>()->now());
  for (const TensorState* each : all) {
    if (from(record, each, seen) == From::gradient)
      any = true;
    else if (each->shape.ndim_known && !each->shape.dims.empty())
      return From::other;
  }
  return any ? From::gradient : From::other;
}

}  // namespace

bool measures_gradients(const Record& record, const OperationEvent& read) {
  const TensorState* state = read.self_state();
  if (!state || read.row->operation != Operation::host_read || !state->made) return false;
  std::unordered_set<const void*> seen;
  return from(record, state, seen) == From::gradient;
}

}  // namespace stepzero::rules
