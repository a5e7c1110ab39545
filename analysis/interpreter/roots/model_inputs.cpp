#include "interpreter/roots/model_inputs.hpp"

#include "interpreter/calls/unseen.hpp"
#include "values/devices.hpp"
#include "values/limits.hpp"

#include <unordered_set>

namespace stepzero::interpreter {

using values::Kind;

namespace {

// Do all tensors that it holds lie there? `seen`: modules hold each other.
bool all_lie_on(Interpreter& run, Value value, const values::Device& there,
    std::unordered_set<const values::Object*>& seen, int depth) {
  value = run.resolve(value);
  if (!value || depth > values::deepest_module || seen.size() > values::most_parts) return true;
  const auto part = [&](Value each) { return all_lie_on(run, each, there, seen, depth + 1); };
  const auto all = [&](const auto& parts) { return std::ranges::all_of(parts, part); };
  switch (value.kind) {
  case Kind::tensor: return values::is_same_device(value.as<values::Tensor>()->now()->device, &there);
  case Kind::instance:
    return !seen.insert(value.object()).second || !run.is_a(value, run.library().types().module) ||
        std::ranges::all_of(value.as<values::Instance>()->attributes.entries(),
            [&](const auto& entry) { return part(entry.second->value); });
  case Kind::choice: return part(value.as<values::Choice>()->yes) && part(value.as<values::Choice>()->no);
  case Kind::list: {
    const auto* state = values::Heap::list_state(value);
    return all(state->items) && part(state->rest);
  }
  case Kind::dict:
    return std::ranges::all_of(
        values::Heap::dict_state(value)->items, [&](const auto& item) { return part(item.second); });
  default: return true;
  }
}

}  // namespace

void note_model_inputs(
    Interpreter& run, Value module, const values::Function& function, const values::Scope& scope) {
  const auto& types = run.library().types();
  if (function.name.text() != types.forward || !module.is(Kind::instance) || !run.is_a(module, types.module))
    return;
  const values::Device* there = values::gpu_or_other(
      run.heap(), run.named_condition(values::DeviceCondition::model_on_gpu, Sharing::uniform));
  std::unordered_set<const values::Object*> seen;
  if (!all_lie_on(run, module, *there, seen, 0)) return;
  const auto& list = function.parameters->list;
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (list[i].kind != syntax::ParameterKind::normal || list[i].default_value) continue;
    const Value input = scope.names.value(list[i].name);
    note_device(run.heap(), input, *there, false);
    if (!input.is(Kind::tensor) || input.as<values::Tensor>()->now()->device) continue;
    values::TensorState placed = *input.as<values::Tensor>()->now();
    placed.device = there;
    run.heap().set(input.as<values::Tensor>()->state, Value::of(Kind::state, run.heap().state(placed)));
  }
}

}  // namespace stepzero::interpreter
