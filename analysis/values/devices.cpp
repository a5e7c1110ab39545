#include "values/devices.hpp"

#include "values/heap.hpp"
#include "values/kept.hpp"

namespace stepzero::values {

namespace {
constexpr char mark = '?';
constexpr std::string_view any_device = "=", other_than_gpu = "~";  // no devices' names
constexpr std::size_t most_devices = 6;  // that one may be: more choices are taken for unknown

std::size_t count(const Device& device) {
  const ChosenDevice* choice = chosen(&device);
  return choice ? count(*choice->yes) + count(*choice->no) : 1;
}
void collect(
    symbolic::Context& symbols, const Device& device, Cond when, std::vector<PossibleDevice>& found) {
  const ChosenDevice* choice = chosen(&device);
  if (!choice) return found.push_back({when, device.text});
  const Cond otherwise = symbols.logical_not(choice->condition);
  collect(
      symbols, *choice->yes, when ? symbols.logical_and(when, choice->condition) : choice->condition, found);
  collect(symbols, *choice->no, when ? symbols.logical_and(when, otherwise) : otherwise, found);
}
}  // namespace

const ChosenDevice* chosen(const Device* device) {
  return device && device->text.starts_with(mark) ? static_cast<const ChosenDevice*>(device) : nullptr;
}

bool is_no_gpu(std::string_view text) { return text == other_than_gpu; }
bool is_reserved(std::string_view text) {
  return text.starts_with(mark) || text == any_device || is_no_gpu(text);
}

const Device* device_when(Heap& heap, Cond condition, const Device* device) {
  auto* other = heap.make<Device>();
  other->text = any_device;
  return choose_device(heap, condition, device, other);
}

const Device* default_device(Heap& heap, Cond is_cpu) {
  return device_when(heap, is_cpu, heap.device("cpu").as<Device>());
}

const Device* gpu_or_other(Heap& heap, Cond is_gpu) {
  auto* other = heap.make<Device>();
  other->text = other_than_gpu;
  return choose_device(heap, is_gpu, heap.device("cuda").as<Device>(), other);
}

bool may_be_one(std::string_view one, std::string_view other) {
  // Which one it is of those that are no GPU is not known, and neither is whether it is there.
  const auto open = [](std::string_view text) { return text == any_device || is_no_gpu(text); };
  if (open(one) || open(other)) return true;
  const auto kind = [](std::string_view whole) { return whole.substr(0, whole.find(':')); };
  return one == other || (kind(one) == kind(other) && (kind(one) == one || kind(other) == other));
}

const Device* choose_device(Heap& heap, Cond condition, const Device* yes, const Device* no) {
  if (!yes || !no || !condition) return nullptr;
  if (yes->text == no->text) return yes;
  if (count(*yes) + count(*no) > most_devices) return nullptr;
  auto* made = heap.make<ChosenDevice>();
  made->condition = condition;
  made->yes = yes;
  made->no = no;
  // Conditions are hash-consed: the same one has one address.
  made->text = heap.keep(mark + std::to_string(reinterpret_cast<std::uintptr_t>(condition)) + "(" +
      std::string(yes->text) + "," + std::string(no->text) + ")");
  return made;
}

const Device* choose_gpu(Heap& heap, Cond condition, Cond negated, const Device* yes, const Device* no) {
  if (yes && no) return choose_device(heap, condition, yes, no);
  const Cond when = is_accelerator(yes) ? condition : is_accelerator(no) ? negated : nullptr;
  return when ? device_when(heap, when, heap.device("cuda").as<Device>()) : nullptr;
}

Value device_value(Heap& heap, const Device& device) {
  const ChosenDevice* choice = chosen(&device);
  if (!choice && is_reserved(device.text)) return heap.unknown("device", symbolic::Sharing::uniform);
  return choice
      ? heap.choose(choice->condition, device_value(heap, *choice->yes), device_value(heap, *choice->no))
      : Value::of(Kind::device, &device);
}

std::vector<PossibleDevice> possible_devices(symbolic::Context& symbols, const Device& device) {
  std::vector<PossibleDevice> found;
  collect(symbols, device, nullptr, found);
  return found;
}

namespace {
// What torch.device was given, where a condition chooses it.
const Slot* chosen_by(Value value) {
  return value.is(Kind::unknown) ? value.as<Unknown>()->attributes.find(Name(UnknownState::chosen)) : nullptr;
}
}  // namespace

bool is_device(Value value) { return value.is(Kind::device) || chosen_by(value); }

const Device* device_named(Heap& heap, Value value) {
  switch (value.kind) {
  case Kind::device: return value.as<Device>();
  case Kind::string: return heap.device(value.text()).as<Device>();
  case Kind::integer: {
    const auto number = heap.symbols().value(value.integer());
    return number ? heap.device("cuda:" + std::to_string(*number)).as<Device>() : nullptr;
  }
  case Kind::choice: {
    const auto* choice = value.as<Choice>();
    return choose_device(
        heap, choice->condition, device_named(heap, choice->yes), device_named(heap, choice->no));
  }
  case Kind::unknown: {
    const Slot* slot = chosen_by(value);
    return slot ? device_named(heap, slot->value) : nullptr;
  }
  default: return nullptr;
  }
}

bool is_cpu(const Device* device) { return device && device->text.starts_with("cpu"); }
bool is_accelerator(const Device* device) {
  return device && !device->text.empty() && !chosen(device) && !device->text.starts_with("cpu") &&
      device->text != "meta";
}

}  // namespace stepzero::values
