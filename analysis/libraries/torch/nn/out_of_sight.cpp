// What code that is not seen may do to a module that it has: convert it, freeze it, give it attributes.
#include "libraries/table/native.hpp"
#include "libraries/torch/meaning/devices.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <functional>
#include <unordered_set>

namespace stepzero::libraries {

using values::TensorRole;

namespace {

void lose_dtypes_of(Runtime& run, Value value, std::unordered_set<const values::Object*>& seen, int depth) {
  const Name dtype(values::ModuleState::dtype);
  if (!seen.insert(value.object()).second || depth > values::deepest_module ||
      seen.size() > values::most_parts)
    return;
  auto& module = *value.as<Instance>();
  if (const values::Slot* slot = module.attributes.find(dtype);
      slot && slot->value.is(Kind::dtype) && slot->value.dtype() != Dtype::unknown)
    return;
  run.heap().set(run.heap().slot_of(module.attributes, dtype), Value::of(Dtype::unknown));
  for (const auto& [name, slot] : module.attributes.entries()) {
    const Value tensor = run.resolve(slot->value);
    if (!tensor.is(Kind::tensor) || tensor.as<Tensor>()->role == TensorRole::plain ||
        !values::is_floating(tensor.as<Tensor>()->now()->dtype))
      continue;
    TensorState state = *tensor.as<Tensor>()->now();
    state.dtype = Dtype::unknown;
    set_state(run, tensor, state);
  }
  for (const Part& part : parts_of(run, module).list) lose_dtypes_of(run, part.module, seen, depth + 1);
}
// Who has the module may have frozen its parameters: of what a layer of the library holds it is not known any
// more whether it is trained; what is `handed` to unseen code keeps that, and only proves nothing.
void lose_trained(
    Runtime& run, Value value, bool handed, std::unordered_set<const values::Object*>& seen, int depth) {
  if (!seen.insert(value.object()).second || depth > values::deepest_module ||
      seen.size() > values::most_parts)
    return;
  auto& module = *value.as<Instance>();
  if (handed && module.cls && !module.attributes.find(Name(values::ModuleState::in_hands)))
    run.heap().set(
        run.heap().slot_of(module.attributes, Name(values::ModuleState::in_hands)), run.heap().boolean(true));
  for (const auto& [name, slot] : module.attributes.entries()) {
    const Value tensor = module.cls && !handed ? Value{} : run.resolve(slot->value);
    if (!tensor.is(Kind::tensor) || tensor.as<Tensor>()->role != TensorRole::parameter ||
        tensor.as<Tensor>()->now()->requires_grad != Known::yes)
      continue;
    TensorState state = *tensor.as<Tensor>()->now();
    if (handed)
      state.grad_writes = 0;
    else
      state.requires_grad = Known::unknown;
    set_state(run, tensor, state);
  }
  for (const Part& part : parts_of(run, module).list) lose_trained(run, part.module, handed, seen, depth + 1);
}

// Looks at each parameter and buffer of a module.
void each_tensor_in(Runtime& run, Value value, const std::function<void(Value)>& look,
    std::unordered_set<const values::Object*>& seen, int depth) {
  value = run.resolve(value);
  if (depth > values::deepest_module || seen.size() > values::most_parts) return;
  const auto go_on = [&](Value part) { each_tensor_in(run, part, look, seen, depth + 1); };
  switch (value.kind) {
  case Kind::tensor:
    if (value.as<Tensor>()->role != TensorRole::plain && seen.insert(value.object()).second) look(value);
    return;
  case Kind::instance:
    if (!seen.insert(value.object()).second || !run.is_a(value, "torch.nn.Module")) return;
    for (const auto& [name, slot] : std::vector(value.as<Instance>()->attributes.entries()))
      if (slot->value) go_on(slot->value);
    return;
  case Kind::choice:
    go_on(value.as<values::Choice>()->yes);
    go_on(value.as<values::Choice>()->no);
    return;
  case Kind::list:
    for (const Value& item : std::vector(values::Heap::list_state(value)->items)) go_on(item);
    if (const Value rest = values::Heap::list_state(value)->rest) go_on(rest);
    return;
  case Kind::dict:
    for (const auto& [key, item] : std::vector(values::Heap::dict_state(value)->items)) go_on(item);
    return;
  default: return;
  }
}
// Who has the module may have moved it to a GPU, with all parameters and buffers of which it is not known
// where they lie. `from_cpu`: with those on the CPU, too; else one that was put there says that it was not
// moved, or all of it was.
void may_lie_on_gpu_in(Runtime& run, Value module, bool from_cpu) {
  std::unordered_set<const values::Object*> seen;
  bool any_on_cpu = false;
  const values::Device* usual = default_device(run);
  const auto lies_as_made = [&](const values::Device* device) {
    return !device || values::is_cpu(device) || values::is_same_device(device, usual);
  };
  each_tensor_in(
      run, module,
      [&](Value tensor) { any_on_cpu = any_on_cpu || values::is_cpu(tensor.as<Tensor>()->now()->device); },
      seen, 0);
  if (any_on_cpu && !from_cpu) return;
  seen.clear();
  each_tensor_in(
      run, module,
      [&](Value tensor) {
        TensorState state = *tensor.as<Tensor>()->now();
        if (!lies_as_made(state.device)) return;
        state.device = device_of_model(run);
        set_state(run, tensor, state);
      },
      seen, 0);
}

}  // namespace

void lose_dtypes(Runtime& run, Value module) {
  std::unordered_set<const values::Object*> seen;
  if (module.is(Kind::instance)) lose_dtypes_of(run, module, seen, 0);
  lose_devices(run, module);
}

// Others have an object of the class before its methods are called.
Value may_be_frozen(Call& call) {
  std::unordered_set<const values::Object*> seen;
  if (call.self.is(Kind::instance)) lose_trained(call.run, call.self, false, seen, 0);
  if (call.self.is(Kind::instance)) may_lie_on_gpu_in(call.run, call.self, false);
  return Value::none();
}

Value may_lie_on_gpu(Call& call) {
  if (call.self.is(Kind::instance)) may_lie_on_gpu_in(call.run, call.self, true);
  return Value::none();
}
Value out_of_sight(Call& call) {
  lose_dtypes(call.run, call.self);
  std::unordered_set<const values::Object*> seen;
  if (call.self.is(Kind::instance)) lose_trained(call.run, call.self, true, seen, 0);
  // A wrapper may be given attributes there.
  if (Instance& module = object(call); !module.cls && module.attributes.find(Name("module")) &&
      !module.attributes.find(interpreter::handed_out))
    call.run.heap().set(
        call.run.heap().slot_of(module.attributes, interpreter::handed_out), call.run.heap().boolean(true));
  return Value::none();
}

}  // namespace stepzero::libraries
