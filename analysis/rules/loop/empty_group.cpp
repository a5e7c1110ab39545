#include "rules/loop/empty_group.hpp"

#include "rules/training/optimized.hpp"
#include "rules/training/training_loops.hpp"

#include <algorithm>

namespace stepzero::rules::loop {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// `[{"params": [p for n, p in model.named_parameters() if "backbone" in n], …}, …]`, where none fits.
bool has_empty_group(const OperationEvent& made) {
  const Value groups = argument(made, 0);
  if (!groups.is(Kind::list)) return false;
  return std::ranges::any_of(values::Heap::list_state(groups)->items, [](const Value& group) {
    if (!group.is(Kind::dict)) return false;
    return std::ranges::any_of(values::Heap::dict_state(group)->items, [](const auto& item) {
      if (!item.first.is(Kind::string) || item.first.text() != "params" || !item.second.is(Kind::list))
        return false;
      const auto* parameters = values::Heap::list_state(item.second);
      return parameters->items.empty() && !parameters->open && !parameters->rest;
    });
  });
}

}  // namespace

void look_for_empty_groups(const TrainingRoot& training_root, Report& report, Once& once) {
  const auto taken = all_taken(training_root);
  if (!taken || taken->empty()) return;
  for (const TrainingEvent& made : training_root.all) {
    if (made.event->row->operation != Operation::optimizer_made || !made.turns.empty() ||
        !has_empty_group(*made.event))
      continue;
    for (const TrainingEvent& each : training_root.all) {
      const values::TensorState* loss = trained_loss(each);
      if (!loss || feeds(training_root, *each.event, made.event->self) != symbolic::Answer::yes) continue;
      for (const Object* source : loss->graph) {
        const auto* layer = dynamic_cast<const Instance*>(source);
        const auto own = layer ? own_parameters(*layer) : std::vector<const values::Tensor*>{};
        if (own.empty() || std::ranges::any_of(own, [&](const values::Tensor* tensor) {
              return taken->contains(tensor) || tensor->now()->requires_grad != values::Known::yes;
            }))
          continue;
        if (!once(made.event->place)) continue;
        Finding* finding = report.add(Severity::warning, made.event->place, made.event->calls,
            "A group of this optimizer is empty, and no group has the parameters of a layer that the loss goes through: no parameter has the names or meets the condition of the group, and the layer is never trained. Correct the names or the condition.");
        if (!finding) continue;
        report.relate(*finding, layer->born, "no optimizer has this layer's parameters");
        report.relate(*finding, each.event->place, "the loss goes through it");
      }
    }
  }
}

}  // namespace stepzero::rules::loop
