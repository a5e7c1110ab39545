#include "rules/parallel/held_back.hpp"

#include "rules/training/absent.hpp"
#include "rules/training/training_loops.hpp"
#include "symbolic/supposition.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

using interpreter::Around;
using interpreter::LoopEvent;
using values::Kind;
using values::Known;
using values::Operation;

namespace {

// Does the manager keep a backward of the wrapper's forward from sending gradients, as far as is assumed?
Known holds_back(const Record& record, const Instance& wrapper, Value manager, int depth = 0) {
  if (manager.is(Kind::choice) && depth < values::most_choices) {
    const auto& choice = *manager.as<values::Choice>();
    const Answer which = record.symbols.decide(choice.condition);
    const Known yes = holds_back(record, wrapper, choice.yes, depth + 1),
                no = holds_back(record, wrapper, choice.no, depth + 1);
    return yes == no ? yes : which == Answer::yes ? yes : which == Answer::no ? no : Known::unknown;
  }
  const auto* made = manager.is(Kind::instance) ? manager.as<Instance>() : nullptr;
  const values::Row* row = made && made->native ? made->native->row : nullptr;
  if (!row) return Known::unknown;
  if (row->covers != values::Covers::no_sync) return Known::no;
  const Value of = made->attributes.value(values::Name(values::WrapperState::wrapped));
  return of.is(Kind::instance) && of.object() == &wrapper ? Known::yes : Known::no;
}
Known is_held_back(const Record& record, const OperationEvent& forward) {
  Known all = Known::no;
  for (const Around* around = forward.around; around; around = around->outer) {
    const Known one = holds_back(record, *forward.self.as<Instance>(), around->manager);
    if (one == Known::yes) return one;
    if (one == Known::unknown) all = one;
  }
  return all;
}

// The decisions of an iteration that lead to an event.
bool assume(symbolic::Supposition& supposed, const Record& record, const TrainingEvent& each) {
  bool possible = true;
  for (const Turn& turn : each.turns)
    if (turn.branch->condition)
      possible = supposed.assume(turn.yes ? turn.branch->condition
                                          : record.symbols.logical_not(turn.branch->condition)) &&
          possible;
  return possible;
}

// Does every forward of the wrapper that an iteration makes which steps leave its gradients on its own rank?
bool all_held_back(const Record& record, const TrainingRoot& training_root, const Object* wrapper,
    const TrainingEvent& step) {
  symbolic::Supposition supposed(record.symbols);
  if (!assume(supposed, record, step)) return false;
  bool any = false;
  for (const TrainingEvent& each : training_root.all) {
    if (each.event->row->operation != Operation::parallel_forward || each.event->self.object() != wrapper ||
        !records_gradients(record, *each.event))
      continue;
    symbolic::Supposition further(record.symbols);
    if (!assume(further, record, each)) continue;
    // What other loops compute may be the last of the micro-batches.
    if (each.loops != step.loops || is_held_back(record, *each.event) != Known::yes) return false;
    any = true;
  }
  return any;
}
// The same of iterations that are run one by one: the last forward before the step is the last of its
// micro-batches.
bool last_held_back(const Record& record, const TrainingRoot& training_root, const Object* wrapper,
    const TrainingEvent& step) {
  const TrainingEvent* last = nullptr;
  for (const TrainingEvent& each : training_root.all) {
    if (&each == &step) break;
    if (each.event->row->operation == Operation::parallel_forward && each.event->self.object() == wrapper &&
        records_gradients(record, *each.event))
      last = &each;
  }
  return last && last->turns.size() <= step.turns.size() && is_held_back(record, *last->event) == Known::yes;
}

}  // namespace

void look_for_held_back(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    if (training_root.root->truncated || training_root.handed_over || by_hand(training_root, nullptr))
      continue;
    std::set<const Object*> wrappers;
    for (const TrainingEvent& each : training_root.all)
      if (each.event->row->operation == Operation::parallel_forward && each.event->self.is(Kind::instance) &&
          is_held_back(record, *each.event) != Known::no)
        wrappers.insert(each.event->self.object());
    for (const Object* wrapper : wrappers)
      for (const TrainingEvent& step : training_root.all) {
        const Value optimizer = stepped_optimizer(*step.event);
        if (!optimizer || step.in_handler || step.loops.empty() ||
            shares_parameters(training_root, as_value(wrapper), optimizer) == Answer::no ||
            !(step.loops.back()->unrolled ? last_held_back(record, training_root, wrapper, step)
                                          : all_held_back(record, training_root, wrapper, step)) ||
            !once(step.event->place))
          continue;
        Finding* finding = report.add(Severity::warning, step.event->place, step.event->calls,
            "This step applies gradients that were computed under `no_sync()` and that no backward has averaged since: each rank steps with its own, and the weights drift apart. "
            "Compute the last micro-batch before the step outside of `no_sync()`.");
        if (!finding) continue;
        for (const TrainingEvent& each : training_root.all)
          if (each.event->row->operation == Operation::parallel_forward &&
              each.event->self.object() == wrapper && each.loops == step.loops) {
            report.relate(*finding, each.event->place, "its backward sends nothing");
            break;
          }
      }
  }
}

}  // namespace stepzero::rules
