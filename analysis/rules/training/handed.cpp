#include "rules/training/handed.hpp"

#include <algorithm>

namespace stepzero::rules {

bool loops_itself(const TrainingRoot& training_root) {
  return std::ranges::none_of(training_root.all, [](const TrainingEvent& each) {
    return each.event->row->operation == values::Operation::framework && !each.event->row->leaves_loop;
  });
}
bool trains_itself(const TrainingRoot& training_root) {
  if (!training_root.handed_over) return true;
  return loops_itself(training_root) &&
      std::ranges::none_of(training_root.all, [](const TrainingEvent& each) {
        const OperationEvent& event = *each.event;
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
