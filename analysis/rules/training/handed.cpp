#include "rules/training/handed.hpp"

#include "libraries/torch/distributed/jobs.hpp"

#include <algorithm>

namespace stepzero::rules {

bool trains_itself(const TrainingRoot& scene) {
  if (!scene.handed_over) return true;
  return std::none_of(scene.all.begin(), scene.all.end(), [](const TrainingEvent& each) {
    const OperationEvent& event = *each.event;
    if (event.row->operation == values::Operation::framework) return !libraries::leaves_the_loop(*event.row);
    // An engine that is not known, given the loss.
    return event.row->operation == values::Operation::backward && !event.self_state() &&
        !event.arguments.empty() && event.arguments[0] && !event.arguments[0].is(values::Kind::none);
  });
}

Severity at_most(Severity severity, const TrainingRoot& scene) {
  return (scene.handed_over || scene.by_caller) && severity == Severity::error ? Severity::warning : severity;
}

}  // namespace stepzero::rules
