#include "rules/training/handed.hpp"

#include <algorithm>

namespace stepzero::rules {

bool trains_itself(const TrainingRoot& training_root) {
  if (!training_root.handed_over) return true;
  return std::none_of(training_root.all.begin(), training_root.all.end(), [](const TrainingEvent& each) {
    const OperationEvent& event = *each.event;
    if (event.row->operation == values::Operation::framework) return !event.row->leaves_loop;
    // An engine that is not known, given the loss.
    return event.row->operation == values::Operation::backward && !event.self_state() &&
        !event.arguments.empty() && event.arguments[0] && !event.arguments[0].is(values::Kind::none);
  });
}

Severity at_most(Severity severity, const TrainingRoot& training_root) {
  return (training_root.handed_over || training_root.by_caller) && severity == Severity::error
      ? Severity::warning
      : severity;
}

}  // namespace stepzero::rules
