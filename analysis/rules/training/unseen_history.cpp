#include "rules/training/unseen_history.hpp"

#include "interpreter/calls/unseen.hpp"
#include "rules/training/parts.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

std::vector<const values::Unknown*> unseen_sources(Value value, const values::TensorState* state, int depth) {
  std::vector<const values::Unknown*> found;
  if (value.is(Kind::choice) && depth < values::most_choices) {
    for (const Value side : {value.as<values::Choice>()->yes, value.as<values::Choice>()->no})
      for (const values::Unknown* source :
          unseen_sources(side, side.is(Kind::tensor) ? side.as<values::Tensor>()->now() : nullptr, depth + 1))
        found.push_back(source);
    return found;
  }
  const auto add = [&](const Object* source) {
    if (const auto* unknown = dynamic_cast<const values::Unknown*>(source)) found.push_back(unknown);
  };
  if (value.is(Kind::unknown) && value.as<values::Unknown>()->state.value.is(Kind::tensor))
    state = value.as<values::Unknown>()->state.value.as<values::Tensor>()->now();
  if (state) {
    for (const Object* source : state->graph) add(source);
  } else if (value.is(Kind::unknown)) {
    const auto* unknown = value.as<values::Unknown>();
    for (const Object* source : operands_of(*unknown)) add(source);
    if (found.empty()) add(unknown);
  }
  return found;
}
bool holds(const values::Unknown* whole, const values::Unknown* part) {
  for (int depth = 0; part && depth < values::deepest_module; part = whole_of(*part), ++depth)
    if (part == whole) return true;
  return false;
}
bool leads_to(const values::Unknown* source, const values::Unknown* loss, int depth) {
  if (holds(source, loss)) return true;
  if (depth > values::deepest_search) return false;
  for (const values::Unknown* at = loss; at; at = whole_of(*at))
    for (const auto& operands : {operands_of(*at), given_to(*at)})
      for (const Object* operand : operands)
        if (const auto* unknown = dynamic_cast<const values::Unknown*>(operand);
            unknown && leads_to(source, unknown, depth + 1))
          return true;
  return false;
}

namespace {
// What the scaler was given, where the backward is of what it gave.
Value unscaled_loss(const TrainingRoot& training_root, const OperationEvent& backward) {
  for (const TrainingEvent& each : training_root.all)
    if (each.event->row->operation == Operation::scale && each.event->result.object() &&
        each.event->result.object() == backward.self.object() && !each.event->arguments.empty())
      return each.event->arguments[0];
  return backward.self;
}
// Wrappers train what they wrap, compiled modules what they were compiled from.
Value unwrapped(Value model) {
  for (int depth = 0; depth < values::deepest_search && model.is(Kind::instance); ++depth) {
    const auto* wrapper = model.as<Instance>();
    if (wrapper->cls || !wrapper->native) break;
    Value inner = attribute(model, "module");
    if (!inner) inner = attribute(model, "_orig_mod");
    if (!inner.is(Kind::instance) && !inner.is(Kind::unknown)) break;
    model = inner;
  }
  return model;
}
}  // namespace

bool is_trained_by(const TrainingRoot& training_root, const OperationEvent& backward, Value model) {
  model = unwrapped(model);
  // The scaled loss was computed from all that the loss was.
  if (!model.is(Kind::unknown)) return backward.self_state() && reaches(*backward.self_state(), model);
  const Value of = unscaled_loss(training_root, backward);
  const values::TensorState* state = of.is(Kind::tensor) ? of.as<values::Tensor>()->now()
      : of.object() == backward.self.object()            ? backward.self_state()
                                                         : nullptr;
  const auto losses = unseen_sources(of, state);
  return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    if (each.event->row->operation != Operation::forward || each.event->self.object() != model.object() ||
        !each.event->result.is(Kind::unknown))
      return false;
    const auto* given = each.event->result.as<values::Unknown>();
    return std::ranges::any_of(losses, [&](const values::Unknown* loss) { return leads_to(given, loss); });
  });
}

}  // namespace stepzero::rules
