#include "rules/training/optimized.hpp"

#include "rules/training/absent.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

namespace stepzero::rules {

using values::Kind;

std::optional<std::set<const Object*>> all_taken(const TrainingRoot& training_root) {
  std::set<const Object*> taken, optimizers = training_root.optimizers;
  for (const auto& [one, stands] : training_root.stand_in) optimizers.insert(one);
  for (const Object* optimizer : optimizers) {
    const Value tensors = attribute(optimizer, values::LoaderState::tensors);
    if (!tensors.is(Kind::tuple)) return std::nullopt;
    for (const Value& tensor : tensors.as<values::Tuple>()->items) taken.insert(tensor.object());
  }
  return taken;
}

std::vector<const values::Tensor*> own_parameters(const Instance& layer) {
  std::vector<const values::Tensor*> found;
  for (const auto& [name, slot] : layer.attributes.entries())
    if (slot->value.is(Kind::tensor) &&
        slot->value.as<values::Tensor>()->role == values::TensorRole::parameter)
      found.push_back(slot->value.as<values::Tensor>());
  return found;
}

std::string class_of(const Instance& layer) {
  return layer.native ? std::string(layer.native->path.substr(layer.native->path.rfind('.') + 1)) : "layer";
}

const values::TensorState* trained_loss(const TrainingEvent& event) {
  return event.event->row->operation == values::Operation::backward && !event.loops.empty() &&
          repeats(*event.loops.back())
      ? event.event->self_state()
      : nullptr;
}

}  // namespace stepzero::rules
