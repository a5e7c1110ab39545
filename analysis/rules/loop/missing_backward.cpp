// loop/missing-backward: an optimizer that clears and steps in a loop, and no backward feeds it.
#include "rules/loop/absent.hpp"
#include "rules/list.hpp"
#include "rules/loop/given_optimizer.hpp"
#include "rules/loop/handed.hpp"
#include "rules/source.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

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

// A loss of the loop that is computed by a model or a criterion, as programs call theirs, and is handed to nobody: whoever has it may run the
// backward, and so may a function of another name that computes it.
bool keeps_loss(const Record& record, const Happening& step) {
  const LoopEvent& loop = *step.loops.back();
  const std::uint32_t chunk = loop.place.chunk;
  const auto is_loss = [&](const syntax::Expr& expr) { return expr.kind == syntax::ExprKind::name && record.text({chunk, expr.span}).ends_with("loss"); };
  const auto computes = [&](const syntax::Expr& value) {
    bool found = false;
    for_each_expression(value, [&](const syntax::Expr& expr) {
      if (expr.kind != syntax::ExprKind::call || syntax::as<syntax::CallExpr>(expr).function->kind != syntax::ExprKind::name) return;
      const std::string_view name = record.text({chunk, syntax::as<syntax::CallExpr>(expr).function->span});
      found = found || name == "model" || name == "net" || name == "criterion" || name.ends_with("loss_fn");
    });
    return found;
  };
  constexpr std::string_view printing[] = {"print", "item", "update", "append", "float", "log", "info", "add_scalar", "isnan", "isfinite"};
  bool computed = false, handed = false;
  for_each_statement(*loop.stmt, [&](const syntax::Stmt& stmt) {
    if (stmt.kind != syntax::StmtKind::assign) return;
    const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
    computed = computed || (assign.targets.size() == 1 && is_loss(*assign.targets[0]) && computes(*assign.value));
  });
  for_each_expression(*loop.stmt, [&](const syntax::Expr& expr) {
    if (expr.kind != syntax::ExprKind::call) return;
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    const std::string_view text = record.text({chunk, call.function->span}), name = text.substr(text.rfind('.') + 1);
    handed = handed || text.find("backward") != std::string_view::npos;
    if (std::ranges::find(printing, name) != std::end(printing)) return;
    for (const syntax::Expr* argument : call.arguments) handed = handed || is_loss(*argument);
    for (const syntax::Keyword& keyword : call.keywords) handed = handed || is_loss(*keyword.value);
  });
  return computed && !handed;
}

// An optimizer that is given, cleared and stepped in each round without a backward.
void look_at_given(const Record& record, Report& report, const Scene& scene, Once& once) {
  const bool backward = std::ranges::any_of(scene.all, [](const Happening& each) { return each.event->row->operation == Operation::backward; });
  if (backward) return;
  for (const GivenOptimizer& each : given_optimizers(record, scene)) {
    if (!each.stepped || each.stepped->event->row->operation != Operation::optimizer_step || !keeps_loss(record, *each.stepped)) continue;
    const auto& arguments = each.stepped->event->arguments;
    if ((!arguments.empty() && arguments[0] && !arguments[0].is(Kind::none)) || !once(each.stepped->event->place)) continue;
    report.add(Severity::warning, each.stepped->event->place, each.stepped->event->calls,
               "No backward pass computes gradients for " + code(each.name) + ", so its steps train nothing. Call `backward()` on the loss before the step.");
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const Scene& scene : training.scenes()) {
    if (!trains_itself(scene) || scene.root->truncated) continue;
    look_at_given(record, report, scene, once);
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
