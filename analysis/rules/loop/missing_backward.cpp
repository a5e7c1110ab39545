// loop/missing-backward: an optimizer that clears and steps in a loop, and no backward feeds it.
#include "rules/loop/absent.hpp"
#include "rules/list.hpp"
#include "rules/loop/handed.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Of a backward that feeds no optimizer it may be this one that is meant: loop/wrong-parameters tells of it.
bool feeds_any(const Scene& scene, const OperationEvent& backward) {
  for (const Object* optimizer : scene.optimizers)
    if (feeds(scene, backward, Value::of(Kind::instance, optimizer)) == Answer::yes) return true;
  return false;
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const Scene& scene : training.scenes()) {
    if (!trains_itself(scene) || scene.root->truncated) continue;
    for (const Happening& step : scene.all) {
      const Value optimizer = stepped_optimizer(*step.event);
      if (!optimizer.is(Kind::instance) || step.loops.empty() || !repeats(*step.loops.back()) || !is_made(scene, optimizer.object()) || by_hand(scene, step.loops.back())) continue;
      const LoopEvent* loop = step.loops.back();
      const auto& arguments = step.event->arguments;
      // step(closure)
      if (step.event->row->operation == Operation::optimizer_step && !arguments.empty() && arguments[0] && !arguments[0].is(Kind::none)) continue;
      bool cleared = false, fed = false, unseen = false;
      for (const Happening& each : scene.all) {
        cleared = cleared || (each.event->row->operation == Operation::zero_grad && each.in(loop) &&
                              (each.event->self.object() == optimizer.object() ||
                               (!scene.optimizers.contains(each.event->self.object()) && shares_parameters(scene, each.event->self, optimizer) == Answer::yes)));
        if (each.event->row->operation == Operation::backward) fed = fed || feeds(scene, *each.event, optimizer) != Answer::no || !feeds_any(scene, *each.event);
        // What is handed the model, or anything else, may run a backward.
        unseen = unseen || (each.event->row->operation == Operation::unseen && each.in(loop)) || each.event->row->operation == Operation::gradient_asked;
      }
      if (!cleared || fed || unseen || escapes(record, scene, optimizer.object(), nullptr) || !once(step.event->place)) continue;
      const std::string name = stepped_text(record, *step.event);
      report.add(Severity::warning, step.event->place, step.event->calls,
                 "No backward pass computes gradients for " + (name.empty() ? "this optimizer" : code(name)) + ", so its steps train nothing. Call `backward()` on the loss before the step.");
    }
  }
}

} // namespace

constexpr Rule missing_backward = complete({
    .id = "loop/missing-backward",
    .severity = Severity::warning,
    .summary = "an optimizer that steps in a loop, and no backward computes its gradients",
    .why = "Without a `backward()` the parameters have no gradients, and `optimizer.step()` skips parameters that have none: the loop runs, "
           "and nothing is trained.",
    .wrong = "for x, y in loader:\n"
             "    optimizer.zero_grad()\n"
             "    loss = loss_fn(model(x), y)\n"
             "    optimizer.step()\n",
    .right = "for x, y in loader:\n"
             "    optimizer.zero_grad()\n"
             "    loss = loss_fn(model(x), y)\n"
             "    loss.backward()\n"
             "    optimizer.step()\n",
    .silent = "A backward in a closure or in a function that the loop calls, torch.autograd.backward; gradients that are set by hand; loops that only draw a schedule "
              "(`optimizer.step(); scheduler.step()`); code that is not seen and may run the backward; frameworks.",
    .fix = "None: which loss is meant is to be decided.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
