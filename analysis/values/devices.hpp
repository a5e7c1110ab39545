// Devices that a program chooses: "cuda" if torch.cuda.is_available() else "cpu".
#pragma once

#include "values/value.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stepzero::values {

class Heap;

// What programs leave open about where things lie, by the names of the conditions.
struct DeviceCondition {
  static constexpr std::string_view has_cuda = "torch.cuda.is_available()";
  static constexpr std::string_view default_is_cpu = "the default device is the CPU";
  static constexpr std::string_view model_on_gpu = "the model is on a GPU";
  static constexpr std::string_view inputs_stay = "the model moves none of its inputs";
  static constexpr std::string_view samples_on_cpu = "the loader's samples are on the CPU";
  static constexpr std::string_view layers_stay = "no other code moves the layer";
  static constexpr std::string_view both_tensors = "both are tensors";
  static constexpr std::string_view builder_leaves = "what builds the model leaves it on the CPU";
};

// Its text is no device's name, and the same for two that are chosen alike.
struct ChosenDevice : Device {
  Cond condition = nullptr;
  const Device *yes = nullptr, *no = nullptr;
};
// The default device, of which nobody says that it is not the CPU. It is, when `is_cpu`; else it may be any.
const Device* default_device(Heap& heap, Cond is_cpu);
// A GPU when `is_gpu`; else it may be any other device.
const Device* gpu_or_other(Heap& heap, Cond is_gpu);
// That device when the condition holds; else it may be any. Null: of one that is not known.
const Device* device_when(Heap& heap, Cond condition, const Device* device);
// May two texts of possible devices mean one? "cuda" may be any of "cuda:0", "cuda:1"…
bool may_be_one(std::string_view one, std::string_view other);

// Are they one device, or chosen alike? Of two that are not known, too.
inline bool is_same_device(const Device* a, const Device* b) {
  return a == b || (a && b && a->text == b->text);
}

// Of a possible device that is only known to be no GPU.
bool is_no_gpu(std::string_view text);
// Does the text begin as those of chosen devices do?
bool is_reserved(std::string_view text);
// Null: it is one device, or none is known.
const ChosenDevice* chosen(const Device* device);
// One of the two, either of which may be chosen itself; null if one of them is not known.
const Device* choose_device(Heap& heap, Cond condition, const Device* yes, const Device* no);
// The same, where one that is not known may be any device beside a GPU.
const Device* choose_gpu(Heap& heap, Cond condition, Cond negated, const Device* yes, const Device* no);
// As the program sees it.
Value device_value(Heap& heap, const Device& device);

// Each device that it may be, and when. Null: always.
struct PossibleDevice {
  Cond when = nullptr;
  std::string_view text;
};
std::vector<PossibleDevice> possible_devices(symbolic::Context& symbols, const Device& device);

// A torch.device, one that is chosen at run time, too; no text that names one.
bool is_device(Value value);
// Of what `.to(value)` or `device=value` names; null: not known. A number is a GPU's.
const Device* device_named(Heap& heap, Value value);

// Is it certainly the CPU, or a device that computes besides it? "meta" is neither.
bool is_cpu(const Device* device);
bool is_accelerator(const Device* device);

}  // namespace stepzero::values
