#include "rules/loop/evaluation.hpp"

#include "rules/loop/absent.hpp"
#include "rules/loop/parts.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

bool sets_mode(const OperationEvent& event) { return event.row->operation == Operation::eval_mode || event.row->operation == Operation::train_mode; }
bool sets_eval(const Record& record, const OperationEvent& event) {
  if (event.row->operation == Operation::eval_mode) return true;
  return event.row->operation == Operation::train_mode && !event.arguments.empty() && event.arguments[0].is(Kind::boolean) &&
         record.symbols.decide(event.arguments[0].condition()) == Answer::no;
}

namespace {

// Anything by which a loop may train, or use gradients otherwise.
bool uses_gradients(Operation operation) {
  switch (operation) {
  case Operation::backward:
  case Operation::gradient_asked:
  case Operation::gradient_written:
  case Operation::trained_from_here:
  case Operation::optimizer_step:
  case Operation::scaler_step: return true;
  default: return false;
  }
}

} // namespace

std::vector<Evaluation> evaluations(const Record& record, const Training& training) {
  std::vector<Evaluation> found;
  for (const Scene& scene : training.scenes()) {
    if (scene.handed_over || scene.root->truncated) continue;
    std::set<const LoopEvent*> training_loops;
    for (const Happening& each : scene.all)
      if (uses_gradients(each.event->row->operation)) training_loops.insert(each.loops.begin(), each.loops.end());
    std::set<std::pair<const LoopEvent*, const Object*>> told;
    for (std::size_t i = 0; i < scene.all.size(); ++i) {
      const Happening& forward = scene.all[i];
      if (forward.event->row->operation != Operation::forward || !forward.event->self.is(Kind::instance) || forward.loops.empty() || forward.in_handler) continue;
      const LoopEvent* loop = nullptr;
      for (auto it = forward.loops.rbegin(); it != forward.loops.rend() && !training_loops.contains(*it); ++it) loop = *it;
      if (!loop || !repeats(*loop) || !told.insert({loop, forward.event->self.object()}).second) continue;
      Evaluation evaluation{&scene, &forward, loop, nullptr, false};
      for (std::size_t j = 0; j < i; ++j) {
        const OperationEvent& event = *scene.all[j].event;
        if (!sets_mode(event) || event.self.object() != forward.event->self.object()) continue;
        evaluation.mode = &event;
        evaluation.evaluates = sets_eval(record, event);
      }
      found.push_back(evaluation);
    }
  }
  return found;
}

} // namespace stepzero::rules
