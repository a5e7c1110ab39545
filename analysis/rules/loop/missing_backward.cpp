// loop/missing-backward: an optimizer that clears and steps in a loop, and no backward feeds it.
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/alternatives.hpp"
#include "rules/training/given_optimizer.hpp"
#include "rules/training/handed.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::rules::loop::missing_backward {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Of a backward that feeds no optimizer it may be this one that is meant: loop/wrong-parameters tells of it.
bool feeds_any(const TrainingRoot& training_root, const OperationEvent& backward) {
  for (const Object* optimizer : training_root.optimizers)
    if (feeds(training_root, backward, Value::of(Kind::instance, optimizer)) == Answer::yes) return true;
  return false;
}

// Is the call a backward that the run has seen, and that feeds another optimizer?
bool feeds_another(const TrainingRoot& training_root, Place call, const OperationEvent& step) {
  return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    return each.event->row->operation == Operation::backward && each.event->place == call &&
        std::ranges::any_of(training_root.optimizers, [&](const Object* optimizer) {
          return optimizer != step.self.object() &&
              feeds(training_root, *each.event, Value::of(Kind::instance, optimizer)) == Answer::yes;
        });
  });
}

// A loss of the loop, as its text has it: is it computed by a model or a criterion, as programs call theirs,
// and is it handed to somebody? Whoever has it may run the backward, and so may a function of another name
// that computes it.
struct OfLoss {
  bool computed = false, handed = false;
};
// Where a generator yields the batches, the loop in the text is another than the one that runs. Of a function
// that the loop calls, all of it belongs to one iteration.
const syntax::Stmt& loop_around(const Record& record, const TrainingEvent& step) {
  const syntax::Stmt *found = nullptr, *function = nullptr;
  const Place at = step.event->place;
  if (at && record.chunk(at).chunk)
    for (const Enclosing& each : enclosing(*record.chunk(at).chunk->stmt, at.span)) {
      if (each.stmt->kind == syntax::StmtKind::function) {
        found = nullptr;
        function = each.stmt;
      }
      if (each.stmt->kind == syntax::StmtKind::for_ || each.stmt->kind == syntax::StmtKind::while_)
        found = each.stmt;
    }
  const syntax::Stmt& runs = *step.loops.back()->stmt;
  const bool beside = function && step.event->calls != step.loops.back()->calls;
  return found ? *found : beside ? *function : runs;
}
// Does the run of the loop call a model, or a loss function?
bool computes_in_run(const TrainingRoot& training_root, const LoopEvent& loop) {
  return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    return each.event->row->operation == Operation::forward && each.in(&loop);
  });
}
// Is what is called there a function of the program in each run? A backward in it is in the record.
bool is_seen(const Record& record, Place called) {
  bool found = false;
  for (const Fact& fact : record.facts) {
    if (fact.place != called || fact.role != Fact::Role::expression) continue;
    const Value value = fact.value.is(Kind::bound) ? fact.value.as<values::Bound>()->function : fact.value;
    if (!value.is(Kind::function)) return false;
    found = true;
  }
  return found;
}
OfLoss loss_in(const Record& record, const TrainingRoot& training_root, const TrainingEvent& step) {
  const syntax::Stmt& loop = loop_around(record, step);
  const std::uint32_t chunk = &loop == step.loops.back()->stmt ? step.loops.back()->place.chunk
                                                               : step.event->place.chunk;
  const auto is_loss = [&](const syntax::Expr& expr) {
    return expr.kind == syntax::ExprKind::name && says(record.text({chunk, expr.span}), Says::loss_value);
  };
  const auto computes = [&](const syntax::Expr& value) {
    bool found = false;
    for_each_expression(value, [&](const syntax::Expr& expr) {
      if (expr.kind != syntax::ExprKind::call) return;
      found = found || says(last_name(*syntax::as<syntax::CallExpr>(expr).function), Says::computes_loss);
    });
    // What a model gives beside its outputs.
    return found || is_attribute(value, Says::loss_output);
  };
  // What is no number that the program writes down, or reads of a tensor.
  const auto is_plain = [](const syntax::Expr& value) {
    return value.kind == syntax::ExprKind::integer || value.kind == syntax::ExprKind::real ||
        (value.kind == syntax::ExprKind::call &&
            says(last_name(*syntax::as<syntax::CallExpr>(value).function), Says::reading_number));
  };
  // A number that was read of a tensor, or computed of one: `total_loss.item() / n`.
  const auto is_read = [&](const syntax::Expr& value) {
    bool read = false;
    for_each_expression(value, [&](const syntax::Expr& expr) {
      read = read || (expr.kind == syntax::ExprKind::call && is_plain(expr));
    });
    return read && !computes(value);
  };
  bool in_run = false;  // it is assigned something that the run may have computed
  auto [computed, handed] = OfLoss{};
  std::set<std::string_view> losses;  // the loop's own: `loss_meter` is none
  for_each_statement(loop, [&](const syntax::Stmt& stmt) {
    if (stmt.kind == syntax::StmtKind::aug_assign) {
      const auto& sum = syntax::as<syntax::AugAssignStmt>(stmt);
      computed = computed || (is_loss(*sum.target) && computes(*sum.value));
      in_run = in_run || (is_loss(*sum.target) && !is_plain(*sum.value));
    }
    if (stmt.kind != syntax::StmtKind::assign) return;
    const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
    if (assign.targets.size() != 1) return;
    bool of_loss = is_loss(*assign.targets[0]);
    if (assign.targets[0]->kind == syntax::ExprKind::tuple)
      for (const syntax::Expr* part : syntax::as<syntax::TupleExpr>(*assign.targets[0]).elements)
        of_loss = of_loss || is_loss(*part);
    computed = computed || (of_loss && computes(*assign.value));
    in_run = in_run || (of_loss && !is_plain(*assign.value));
    for_each_expression(*assign.targets[0], [&](const syntax::Expr& part) {
      if (is_loss(part) && !is_read(*assign.value)) losses.insert(record.text({chunk, part.span}));
    });
  });
  const auto is_own = [&](const syntax::Expr& expr) {
    return is_loss(expr) && losses.contains(record.text({chunk, expr.span}));
  };
  std::vector<Place> takers;  // what is called with one
  for_each_expression(loop, [&](const syntax::Expr& expr) {
    if (expr.kind != syntax::ExprKind::call) return;
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    const std::string_view name = last_name(*call.function);
    handed = handed ||
        (says(name, Says::making_backward) && !feeds_another(training_root, {chunk, call.span}, *step.event));
    if (says(name, Says::only_reading) || says(name, Says::combining_ranks)) return;
    const bool takes_own = std::ranges::any_of(
                               call.arguments, [&](const syntax::Expr* each) { return is_own(*each); }) ||
        std::ranges::any_of(call.keywords, [&](const syntax::Keyword& each) { return is_own(*each.value); });
    if (takes_own) takers.push_back({chunk, call.function->span});
  });
  handed = handed ||
      std::ranges::any_of(takers, [&](Place taker) { return !is_seen(record, record.as_run(taker)); });
  return {computed || (in_run && computes_in_run(training_root, *step.loops.back())), handed};
}
bool keeps_loss(const Record& record, const TrainingRoot& training_root, const TrainingEvent& step) {
  const OfLoss loss = loss_in(record, training_root, step);
  return loss.computed && !loss.handed;
}

// An optimizer that is given, cleared and stepped in each iteration without a backward.
void look_at_given(const Record& record, Report& report, const TrainingRoot& training_root, Once& once) {
  const bool backward = std::ranges::any_of(training_root.all,
      [](const TrainingEvent& each) { return each.event->row->operation == Operation::backward; });
  if (backward) return;
  for (const GivenOptimizer& each : given_optimizers(record, training_root)) {
    if (!each.stepped || !keeps_loss(record, training_root, *each.stepped)) continue;
    const auto& arguments = each.stepped->event->arguments;
    const bool closure = each.stepped->event->row->operation == Operation::optimizer_step &&
        !arguments.empty() && arguments[0] && !arguments[0].is(Kind::none);
    if (closure || !once(each.stepped->event->place)) continue;
    report.add(Severity::warning, each.stepped->event->place, each.stepped->event->calls,
        "No backward pass computes gradients for " + code(each.name) +
            ", so its steps train nothing. Call `backward()` on the loss before the step.");
  }
}

// Was it made by the program, or is it one of several of which one was?
bool is_one_made(const TrainingRoot& training_root, const Object* optimizer) {
  return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    return each.event->row->operation == Operation::optimizer_made &&
        training_root.standing(each.event->self.object()) == optimizer;
  });
}

// Of two ways to train one lacks it.
void look_at_alternatives(
    const Record& record, Report& report, const TrainingRoot& training_root, Once& once) {
  for (const Lacking& each : unfed(record, training_root)) {
    if (!once(each.event->place)) continue;
    Finding* finding = report.add(Severity::warning, each.event->place, each.event->calls,
        "No backward pass computes gradients for " + code(each.optimizer) +
            " on this branch, though another has one, so this step trains nothing. Call `backward()` on the loss before the step.");
    if (finding) report.relate(*finding, each.other->place, "the other branch");
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (!trains_itself(training_root) || training_root.root->truncated) continue;
    look_at_given(record, report, training_root, once);
    if (!by_hand(training_root, nullptr)) look_at_alternatives(record, report, training_root, once);
    for (const TrainingEvent& step : training_root.all) {
      const Value optimizer = stepped_optimizer(*step.event);
      if (step.loops.empty() || !repeats(*step.loops.back()) ||
          makes_gradients(record, training_root, step.loops.back()))
        continue;
      const bool made = optimizer.is(Kind::instance) && is_one_made(training_root, optimizer.object());
      // What unseen code made, or has given back, is an optimizer by what is done with it.
      // One that an object holds, which its constructor made or was given. Those that a function is given are
      // told of above.
      const bool held = optimizer.is(Kind::instance) &&
          stepped_text(record, *step.event).find('.') != std::string::npos &&
          !by_hand(training_root, nullptr);
      const bool meant = (optimizer.is(Kind::unknown) || held) &&
          training_root.optimizers.contains(optimizer.object()) &&
          names_optimizer(stepped_text(record, *step.event)) && keeps_loss(record, training_root, step);
      if (!made && !meant) continue;
      const LoopEvent* loop = step.loops.back();
      const auto& arguments = step.event->arguments;
      // step(closure)
      if (step.event->row->operation == Operation::optimizer_step && !arguments.empty() && arguments[0] &&
          !arguments[0].is(Kind::none))
        continue;
      bool cleared = false, fed = false, unseen = false;
      for (const TrainingEvent& each : training_root.all) {
        cleared = cleared ||
            (each.event->row->operation == Operation::zero_grad && each.in(loop) &&
                (each.event->self.object() == optimizer.object() ||
                    (!training_root.optimizers.contains(each.event->self.object()) &&
                        shares_parameters(training_root, each.event->self, optimizer) == Answer::yes)));
        if (each.event->row->operation == Operation::backward)
          fed = fed || feeds(training_root, *each.event, optimizer) != Answer::no ||
              !feeds_any(training_root, *each.event);
        // What is handed the model, or anything else, may run a backward.
        unseen = unseen || (each.event->row->operation == Operation::unseen && each.in(loop)) ||
            each.event->row->operation == Operation::gradient_asked;
      }
      if (!cleared || fed || (unseen && !keeps_loss(record, training_root, step)) ||
          loss_in(record, training_root, step).handed ||
          escapes(record, training_root, optimizer.object(), meant ? loop : nullptr) ||
          !once(step.event->place))
        continue;
      const std::string name = stepped_text(record, *step.event);
      report.add(Severity::warning, step.event->place, step.event->calls,
          "No backward pass computes gradients for " + (name.empty() ? "this optimizer" : code(name)) +
              ", so its steps train nothing. Call `backward()` on the loss before the step.");
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/missing-backward",
    .severity = Severity::warning,
    .summary = "an optimizer that steps in a loop, and no backward computes its gradients",
    .why =
        "Without a `backward()` the parameters have no gradients, and `optimizer.step()` skips parameters that have none: the loop runs, "
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
    .silent =
        "A backward in a closure or in a function that the loop calls, torch.autograd.backward; gradients that are set by hand; loops that only draw a schedule "
        "(`optimizer.step(); scheduler.step()`); code that is not seen and may run the backward; frameworks.",
    .fix = "None: decide which loss is meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::missing_backward
