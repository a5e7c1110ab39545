#include "libraries/torch/meaning/devices.hpp"

#include "interpreter/runtime.hpp"
#include "libraries/torch/meaning/op_semantics.hpp"
#include "values/devices.hpp"
#include "values/limits.hpp"

namespace stepzero::libraries {

const values::Device* device_around(Runtime& run) {
  for (const interpreter::Around* around = run.around(); around; around = around->outer) {
    const Value manager = run.resolve(around->manager);
    if (manager.is(Kind::device)) return manager.as<values::Device>();
    if (const values::Device* chosen = values::device_named(run.heap(), manager)) return chosen;
    // It may be such a manager.
    if (manager.is(Kind::unknown) || manager.is(Kind::choice)) return nullptr;
  }
  return nullptr;
}

const values::Device* default_device(Runtime& run) {
  const values::Device* cpu = run.heap().device("cpu").as<values::Device>();
  if (run.knows_default_device()) return cpu;
  if (const values::Device* around = device_around(run)) return around;
  for (const interpreter::Around* around = run.around(); around; around = around->outer) {
    const Value manager = run.resolve(around->manager);
    if (manager.is(Kind::unknown) || manager.is(Kind::choice)) return nullptr;
  }
  if (!run.in_roots()) return nullptr;
  return values::default_device(
      run.heap(), run.named_condition(values::DeviceCondition::default_is_cpu, Sharing::uniform));
}

const values::Device* device_of_model(Runtime& run) {
  return values::gpu_or_other(
      run.heap(), run.named_condition(values::DeviceCondition::model_on_gpu, Sharing::uniform));
}

const values::Unknown* unseen_behind(Runtime& run, Value tensor) {
  tensor = run.resolve(tensor);
  for (int depth = 0; depth < values::deepest_search; ++depth) {
    if (tensor.is(Kind::unknown)) return tensor.as<values::Unknown>();
    const TensorState* state = tensor_state(run, tensor);
    if (!state || !state->made || state->made->arguments.empty()) return nullptr;
    // What was moved lies elsewhere.
    if (state->made->row->moves != values::Moves::nowhere) return nullptr;
    const OpSemantics by = semantics_of(*state->made->row);
    if (by != OpSemantics::same && by != OpSemantics::detached) return nullptr;
    tensor = state->made->arguments.front();
  }
  return nullptr;
}

bool is_meta(const values::Device& device) { return device.text == "meta"; }

}  // namespace stepzero::libraries
