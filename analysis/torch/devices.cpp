#include "torch/devices.hpp"

#include "interpreter/interpreter.hpp"
#include "values/devices.hpp"
#include "values/shape_text.hpp"

namespace stepzero::torch {

const values::Device* device_around(Interpreter& run) {
  for (const interpreter::Around* around = run.around(); around; around = around->outer) {
    const Value manager = run.resolve(around->manager);
    if (manager.is(Kind::device)) return manager.as<values::Device>();
    if (const values::Device* chosen = values::device_named(run.heap(), manager)) return chosen;
    // It may be such a manager.
    if (manager.is(Kind::unknown) || manager.is(Kind::choice)) return nullptr;
  }
  return nullptr;
}

const values::Device* default_device(Interpreter& run) {
  const values::Device* cpu = run.heap().device("cpu").as<values::Device>();
  if (run.knows_default_device()) return cpu;
  if (const values::Device* around = device_around(run)) return around;
  for (const interpreter::Around* around = run.around(); around; around = around->outer) {
    const Value manager = run.resolve(around->manager);
    if (manager.is(Kind::unknown) || manager.is(Kind::choice)) return nullptr;
  }
  if (!run.in_roots()) return nullptr;
  auto* other = run.heap().make<values::NamedDevice>();
  other->text = values::any_device;
  other->value = run.heap().external("device", {});
  return values::choose_device(run.heap(), run.named_condition("the default device is the CPU", Sharing::uniform), cpu, other);
}

const values::Device* device_meant(Interpreter& run, Value value) {
  if (const values::Device* known = values::device_named(run.heap(), value)) return known;
  const std::string_view name = value.is(Kind::unknown) ? value.as<values::Unknown>()->name : std::string_view{};
  // `x.device` is where x lies, which may be the CPU.
  if (name.empty() || name.find_first_of(".()[]") != std::string_view::npos) return nullptr;
  return values::unknown_device(run.heap(), name, value, run.named_condition(values::code(name) + " is not the CPU", run.heap().sharing(value)));
}

bool is_meta(const values::Device& device) { return device.text == "meta"; }

} // namespace stepzero::torch
