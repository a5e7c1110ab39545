#include "libraries/torch/meaning/devices.hpp"

#include "interpreter/runtime.hpp"
#include "values/devices.hpp"

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

bool is_meta(const values::Device& device) { return device.text == "meta"; }

}  // namespace stepzero::libraries
