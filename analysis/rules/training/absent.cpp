#include "rules/training/absent.hpp"

#include "rules/name_hints.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

bool repeats(const LoopEvent& loop) {
  if (!loop.stmt) return false;
  if (loop.unrolled) return loop.iterations.size() > 1;
  if (loop.iterations.empty() || loop.iterations[0].events.empty()) return false;
  const Event* last = loop.iterations[0].events.back();
  return last->kind != EventKind::exit || static_cast<const ExitEvent*>(last)->exit == ExitKind::continue_;
}

bool escapes(
    const Record& record, const TrainingRoot& training_root, const Object* object, const LoopEvent* loop) {
  for (const TrainingEvent& each : training_root.all) {
    if (each.event->row->operation != Operation::unseen || (loop && !each.in(loop))) continue;
    const std::string_view text = record.text(each.event->place);
    const std::string_view called = text.substr(0, text.find('('));
    if (says(called, Says::scheduling)) continue;
    if (is_handed(*each.event, object)) return true;
  }
  return false;
}

Value stepped_optimizer(const OperationEvent& event) {
  if (event.row->operation == Operation::optimizer_step) return event.self;
  if (event.row->operation == Operation::scaler_step && !event.arguments.empty()) return event.arguments[0];
  return {};
}

std::string stepped_text(const Record& record, const OperationEvent& event) {
  if (event.row->operation == Operation::optimizer_step) return object_text(record, event, "");
  if (!event.expr || event.expr->arguments.empty()) return "";
  return std::string(record.text({event.place.chunk, event.expr->arguments[0]->span}));
}

bool is_made(const TrainingRoot& training_root, const Object* optimizer) {
  return !training_root.presumed.contains(optimizer) &&
      std::any_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
        return each.event->row->operation == Operation::optimizer_made &&
            training_root.standing(each.event->self.object()) == optimizer;
      });
}

}  // namespace stepzero::rules
