// loop/missing-step: a loop computes gradients of an optimizer's parameters, and the optimizer never makes a
// step.
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/alternatives.hpp"
#include "rules/training/edits.hpp"
#include "rules/training/given_optimizer.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/never_stepped.hpp"

#include "values/shape_text.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::loop::missing_step {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Tells one mistake once per place, and knows the functions of which something was told.
class OnceHere {
public:
  explicit OnceHere(const Record& record) : record_(record) {}
  bool operator()(Place place) {
    functions_.insert(function_around(record_, place));
    return once_(place);
  }
  bool in_function_of(Place place) const { return functions_.contains(function_around(record_, place)); }

private:
  const Record& record_;
  Once once_;
  std::set<const syntax::FunctionStmt*> functions_;
};

// An optimizer that is given, cleared in each round and stepped in none.
void look_at_given(const Record& record, Report& report, const TrainingRoot& training_root, OnceHere& once) {
  for (const GivenOptimizer& each : given_optimizers(record, training_root)) {
    if (each.stepped || !each.backward || each.uses_gradients || !once(each.backward->event->place)) continue;
    Finding* finding = report.add(Severity::warning, each.backward->event->place, each.backward->event->calls,
        "This loop computes gradients and clears them with " + code(each.name + ".zero_grad()") + ", but " +
            code(each.name) +
            " never steps, so nothing is trained. Call its `step()` after the backward pass.");
    if (finding) report.relate(*finding, each.cleared->event->place, "the gradients are cleared here");
  }
}

// Of two ways to train the one that is taken less often is the one where it lacks.
void look_at_alternatives(
    const Record& record, Report& report, const TrainingRoot& training_root, OnceHere& once) {
  for (const Lacking& each : unstepped(record, training_root)) {
    if (!once(each.event->place)) continue;
    Finding* finding = report.add(Severity::warning, each.event->place, each.event->calls,
        "The gradients of this backward pass are cleared, and " + code(each.optimizer) +
            " steps only on another branch, so nothing is trained here. Call its `step()` after this backward pass.");
    if (finding) report.relate(*finding, each.other->place, "the other branch");
  }
}

// Does some run of the file step what is written so?
bool is_stepped_elsewhere(const Record& record, const Training& training, const std::string& written) {
  for (const TrainingRoot& training_root : training.training_roots())
    for (const TrainingEvent& each : training_root.all)
      if (each.event->row->operation == Operation::optimizer_step &&
          object_text(record, *each.event, "") == written)
        return true;
  return false;
}

// One backward pass feeds several optimizers that are cleared for it, and one of them is not stepped after it
// as the others are: also in a function that is called once per step.
void look_at_siblings(const Record& record, Report& report, const Training& training,
    const TrainingRoot& training_root, OnceHere& once) {
  if (training_root.optimizers.size() < 2) return;
  const auto own = [&](const TrainingEvent& each, Operation operation, const Object* optimizer) {
    return each.event->row->operation == operation && each.event->self.object() == optimizer;
  };
  // Of each optimizer the last step in each call, by its number.
  std::map<const Object*, std::map<const CallSite*, std::size_t>> steps_of;
  for (std::size_t at = 0; at < training_root.all.size(); ++at)
    if (const OperationEvent& event = *training_root.all[at].event; stepped_optimizer(event).object())
      steps_of[stepped_optimizer(event).object()][event.calls] = at;
  for (std::size_t at = 0; at < training_root.all.size(); ++at) {
    const TrainingEvent& backward = training_root.all[at];
    if (backward.event->row->operation != Operation::backward) continue;
    const Object *stepped = nullptr, *left = nullptr;
    const TrainingEvent* clearing = nullptr;
    for (const Object* optimizer : training_root.optimizers) {
      if (feeds(training_root, *backward.event, as_value(optimizer)) != Answer::yes) continue;
      if (const auto steps = steps_of.find(optimizer); steps != steps_of.end()) {
        const auto last = steps->second.find(backward.event->calls);
        if (last != steps->second.end() && last->second >= at) stepped = optimizer;
        continue;
      }
      const auto cleared = std::ranges::find_if(training_root.all,
          [&](const TrainingEvent& each) { return own(each, Operation::zero_grad, optimizer); });
      if (cleared != training_root.all.end() && cleared->event->calls == backward.event->calls &&
          cleared->turns.size() == backward.turns.size() && !training_root.presumed.contains(optimizer) &&
          !escapes(record, training_root, optimizer, nullptr)) {
        left = optimizer;
        clearing = &*cleared;
      }
    }
    if (!stepped || !left) continue;
    const std::string written = object_text(record, *clearing->event, "");
    if (written.empty() || is_stepped_elsewhere(record, training, written) || !once(backward.event->place))
      continue;
    Finding* finding = report.add(Severity::warning, backward.event->place, backward.event->calls,
        "This backward pass computes gradients for " + code(written) +
            ", which are cleared and never used: it never steps, as the other optimizers do. Call " +
            code(written + ".step()") + " after the backward pass.");
    if (finding) report.relate(*finding, clearing->event->place, "the gradients are cleared here");
  }
}

// An optimizer that an object has, or several functions share, and that nothing in the program steps.
void look_at_never_stepped(const Record& record, Report& report, OnceHere& once) {
  for (const NeverStepped& each : never_stepped(record)) {
    if (once.in_function_of(each.backward->place) || !once(each.backward->place)) continue;
    Finding* finding = report.add(each.in_loop ? Severity::warning : Severity::information,
        each.backward->place, each.backward->calls,
        "The gradients of this backward pass are cleared with " + code(each.clearing + ".zero_grad()") +
            ", and nothing in this program calls " + code(each.name + ".step()") + ", so nothing is trained" +
            (each.in_loop ? ". Step it after the backward pass."
                          : ", unless whoever calls this steps it. Step it after the backward pass."));
    if (finding) report.relate(*finding, each.cleared, "the gradients are cleared here");
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  OnceHere once(record);
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (trains_itself(training_root)) look_at_given(record, report, training_root, once);
    if (!trains_itself(training_root) || training_root.root->truncated) continue;
    // What is done by hand on a way is seen there.
    look_at_alternatives(record, report, training_root, once);
    // Who throws gradients away one by one may have used them one by one.
    if (steps_by_hand(record, training_root)) continue;
    look_at_siblings(record, report, training, training_root, once);
    for (const Object* optimizer : training_root.optimizers) {
      const Value value = as_value(optimizer);
      if (!is_made(training_root, optimizer) || escapes(record, training_root, optimizer, nullptr)) continue;
      // A class of the program's own says itself what a step is.
      const auto* cls = value.as<values::Instance>()->cls;
      if (cls && std::any_of(cls->order.begin(), cls->order.end(), [](const values::Class* each) {
            return each->body && each->body->names.find(values::Name("step"));
          }))
        continue;
      bool stepped = false, cleared = false;
      const TrainingEvent* backward = nullptr;
      for (const TrainingEvent& each : training_root.all) {
        stepped = stepped || stepped_optimizer(*each.event).object() == optimizer ||
            ((each.event->row->operation == Operation::optimizer_step ||
                 each.event->row->operation == Operation::scaler_step) &&
                !training_root.optimizers.contains(stepped_optimizer(*each.event).object()));
        cleared = cleared ||
            (each.event->row->operation == Operation::zero_grad &&
                (each.event->self.object() == optimizer ||
                    (!training_root.optimizers.contains(each.event->self.object()) &&
                        shares_parameters(training_root, each.event->self, value) == Answer::yes)));
        if (each.event->row->operation == Operation::backward && !each.loops.empty() &&
            repeats(*each.loops.back()) && feeds(training_root, *each.event, value) == Answer::yes)
          backward = &each;
      }
      // Who clears the gradients of an optimizer means to step it.
      if (stepped || !cleared || !backward || !once(backward->event->place)) continue;
      Finding* finding = report.add(Severity::warning, backward->event->place, backward->event->calls,
          "This loop computes gradients, but the optimizer of these parameters never steps, so nothing is trained. Call its `step()` after the backward pass.");
      if (!finding) continue;
      for (const TrainingEvent& each : training_root.all)
        if (each.event->row->operation == Operation::optimizer_made &&
            training_root.standing(each.event->self.object()) == optimizer)
          report.relate(*finding, each.event->place, "the optimizer that would step these parameters");
    }
  }
  look_at_never_stepped(record, report, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/missing-step",
    .severity = Severity::warning,
    .summary = "backward in a loop, and the optimizer never makes a step",
    .why =
        "`backward()` computes gradients; only `optimizer.step()` changes parameters. A loop without it runs at full cost and trains "
        "nothing: the loss only wanders with the batches.",
    .wrong = "for x, y in loader:\n"
             "    optimizer.zero_grad()\n"
             "    loss_fn(model(x), y).backward()\n",
    .right = "for x, y in loader:\n"
             "    optimizer.zero_grad()\n"
             "    loss_fn(model(x), y).backward()\n"
             "    optimizer.step()\n",
    .silent =
        "Parameters that the program changes by hand; gradients of inputs; an optimizer that is handed to code that is not seen; a step in another function that the loop calls.",
    .fix = "None: decide where the step belongs.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::missing_step
