// memory/retained-graph: losses or outputs are kept from iteration to iteration with all that they were
// computed from.
#include "interpreter/calls/unseen.hpp"
#include "rules/condition_text.hpp"
#include "rules/memory/added.hpp"
#include "rules/memory/carried_graph.hpp"
#include "rules/memory/reset_lists.hpp"
#include "rules/memory/second_backward.hpp"
#include "rules/name_hints.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/decided_before.hpp"
#include "rules/training/training_loops.hpp"
#include "rules/training/unseen_history.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::memory::retained_graph {

using values::code;

using namespace interpreter;
using namespace syntax;
using values::Kind;
using values::Operation;

namespace {

// Is the sum a variable of its function that is not given back, and the backward made in another function
// that this one does not call?
bool stays_with(
    const Record& record, std::string_view sum, const OperationEvent& kept, const OperationEvent& backward) {
  const FunctionStmt* function = function_around(record, kept.place);
  if (!function || sum.find_first_of(".[(") != std::string_view::npos ||
      function == function_around(record, backward.place))
    return false;
  for (const interpreter::CallSite* site = backward.calls; site; site = site->outer)
    if (site == kept.calls) return false;
  bool given_back = false;
  for_each_statement(*function, [&](const Stmt& stmt) {
    given_back = given_back || stmt.kind == StmtKind::global || stmt.kind == StmtKind::nonlocal ||
        (stmt.kind == StmtKind::return_ && reads_name(stmt, Name(sum)));
  });
  return !given_back;
}

// Is a backward made of the sum, or of something computed from it? Then its history is of use.
bool is_used(const Record& record, const TrainingRoot& training_root, const TrainingEvent& kept,
    const TrainingLoop& loop) {
  // Another way through the iteration: `scaler.scale(loss).backward()` with amp, `loss.backward()` without.
  const auto instead = [&](const TrainingEvent& each) {
    return std::ranges::any_of(each.turns, [&](const Turn& turn) {
      return std::ranges::any_of(loop.backward->turns,
          [&](const Turn& other) { return turn.branch == other.branch && turn.yes != other.yes; });
    });
  };
  const auto added = added_by(record, *kept.event);
  // After the loop, or now and then: any backward but the one of each iteration.
  return std::any_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
    if (each.event->row->operation != Operation::backward ||
        each.event->place == loop.backward->event->place || instead(each))
      return false;
    return (!each.in(kept.loops.back()) || each.turns.size() > loop.backward->turns.size()) &&
        !(added &&
            (is_of_another(record, added->into, kept.event->place, kept.event->calls, *each.event) ||
                stays_with(record, added->into, *kept.event, *each.event)));
  });
}

// Has it a history, as the backward of the iteration proves? It is the loss, or a sum with it, or holds it;
// or it is what a model made of its inputs, and the loss was computed from it.
bool proven_by(
    const OperationEvent& backward, Value kept, const values::TensorState* state, const Object* earlier) {
  auto sources = unseen_sources(kept, state), losses = unseen_sources(backward.self, backward.self_state());
  std::erase(losses, earlier);
  std::erase(sources, earlier);
  if (losses.empty() || sources.empty()) return false;
  const auto covered = [&](const values::Unknown* loss) {
    return std::any_of(
        sources.begin(), sources.end(), [&](const values::Unknown* source) { return holds(source, loss); });
  };
  if (std::all_of(losses.begin(), losses.end(), covered)) return true;
  const auto of_model = [](const values::Unknown* at) {
    for (; at; at = whole_of(*at))
      if (is_of_model(*at)) return true;
    return false;
  };
  return std::any_of(sources.begin(), sources.end(), [&](const values::Unknown* source) {
    return of_model(source) && std::any_of(losses.begin(), losses.end(), [&](const values::Unknown* loss) {
      return leads_to(source, loss);
    });
  });
}

// Is it called a loss, and is the loss of the backward made of all that it is made of? Then it is a part of
// it.
bool is_part_by_name(const Record& record, const OperationEvent& backward, const OperationEvent& event,
    const values::TensorState* state) {
  const auto added = added_by(record, event);
  if (!added || !says(added->what, Says::loss) || added->what.find_first_of("(.") != std::string::npos)
    return false;
  auto sources = unseen_sources(event.arguments[0], state),
       losses = unseen_sources(backward.self, backward.self_state());
  std::erase(losses, record.earlier);
  std::erase(sources, record.earlier);
  return !sources.empty() && std::ranges::all_of(sources, [&](const values::Unknown* source) {
    return std::ranges::any_of(losses, [&](const values::Unknown* loss) { return leads_to(source, loss); });
  });
}

// Has it a history whatever way was taken?
bool has_history(Value kept, const values::TensorState* state, int depth = 0) {
  if (!kept.is(Kind::choice) || depth > values::most_choices)
    return state && state->requires_grad == values::Known::yes;
  const auto of = [&](Value side) {
    return has_history(side, side.is(Kind::tensor) ? side.as<values::Tensor>()->now() : nullptr, depth + 1);
  };
  return of(kept.as<values::Choice>()->yes) && of(kept.as<values::Choice>()->no);
}
// Does the backward of an iteration prove that it has one? Of several the one does that follows the
// same decisions.
bool proven(const Record& record, const TrainingLoop& loop, const OperationEvent& event,
    const values::TensorState* state) {
  if (event.arguments.empty()) return false;
  return std::ranges::any_of(loop.training_root->all, [&](const TrainingEvent& each) {
    return each.event->row->operation == Operation::backward && each.in(loop.loop) && !each.in_handler &&
        (proven_by(*each.event, event.arguments[0], state, record.earlier) ||
            is_part_by_name(record, *each.event, event, state));
  });
}

// A program that never makes a backward keeps what a model made of each batch, where nothing around it can be
// without gradients: in the statements of its module. A function that these call may be a part of the model.
void look_for_unused_history(const Record& record, Report& report, Once& once) {
  bool uses = false;
  std::vector<std::pair<const OperationEvent*, const LoopEvent*>> collected;
  const auto look = [&](const interpreter::Block& block, const LoopEvent* loop, const auto& again) -> void {
    for (const Event* event : block.events) {
      switch (event->kind) {
      case EventKind::operation: {
        const auto& operation = *static_cast<const OperationEvent*>(event);
        switch (operation.row->operation) {
        case Operation::backward:
        case Operation::gradient_asked:
        case Operation::framework:
        case Operation::optimizer_made: uses = true; break;
        case Operation::kept:
          if (operation.place && loop && !argument(operation, 3)) collected.push_back({&operation, loop});
          break;
        default: break;
        }
        break;
      }
      case EventKind::loop:
        for (const interpreter::Block& iteration : static_cast<const LoopEvent*>(event)->iterations)
          again(iteration, static_cast<const LoopEvent*>(event), again);
        break;
      case EventKind::branch:
        // What is added under a condition may be little.
        again(static_cast<const BranchEvent*>(event)->yes, nullptr, again);
        again(static_cast<const BranchEvent*>(event)->no, nullptr, again);
        break;
      case EventKind::call: again(static_cast<const CallEvent*>(event)->body, loop, again); break;
      case EventKind::attempt: again(static_cast<const AttemptEvent*>(event)->body, loop, again); break;
      default: break;
      }
    }
  };
  for (const auto& root : record.roots) {
    uses = uses || root->truncated;
    if (root->function) continue;
    look(root->block, nullptr, look);
  }
  if (uses) return;
  for (const auto& [event, loop] : collected) {
    if (event->calls || !repeats(*loop) || !records_gradients(record, *event) || event->arguments.empty())
      continue;
    const values::TensorState* state = event->argument_state(0);
    const auto sources = unseen_sources(event->arguments[0], state);
    if (std::none_of(sources.begin(), sources.end(), [](const values::Unknown* source) {
          return is_of_model(*source) && !whole_of(*source) && given_to(*source).empty();
        }))
      continue;
    const auto added = added_by(record, *event);
    if (!added || added->sum || !once(event->place)) continue;
    Finding* finding = report.add(Severity::warning, event->place, event->calls,
        code(added->into) + " collects " + code(added->what) +
            " with all that it was computed from, for a backward that never comes, so the memory of every iteration stays in use. Keep " +
            code(added->what + ".detach()") + ", or compute under `torch.no_grad()`.");
    if (finding) report.relate(*finding, loop->place, "iteration after iteration");
  }
}

// Is each iteration that of another model, which steps an optimizer of its own? Then there are as many as
// models, and not as many as batches.
bool over_optimizers(const Record& record, const TrainingLoop& loop) {
  if (!loop.loop->stmt || loop.loop->stmt->kind != StmtKind::for_ || !loop.step->event->expr) return false;
  const Expr& step = *loop.step->event->expr->function;
  if (step.kind != ExprKind::attribute || as<AttributeExpr>(step).object->kind != ExprKind::name)
    return false;
  const Name optimizer = as<NameExpr>(*as<AttributeExpr>(step).object).id;
  const auto& each = as<ForStmt>(*loop.loop->stmt);
  const auto names_part = [](const Expr& expr, Name name) {
    bool found = false;
    for_each_expression(expr, [&](const Expr& part) {
      found = found || (part.kind == ExprKind::name && as<NameExpr>(part).id == name);
    });
    return found;
  };
  bool bound = names_part(*each.target, optimizer);
  // `optimizer = optimizers[i]` with the iteration's `i`.
  const auto chooses = [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::assign || each.target->kind != ExprKind::name) return;
    const auto& assign = as<AssignStmt>(stmt);
    bound = bound ||
        (assign.targets.size() == 1 && names_part(*assign.targets[0], optimizer) &&
            names_part(*assign.value, as<NameExpr>(*each.target).id));
  };
  for (const Stmt* stmt : each.body) for_each_statement(*stmt, chooses);
  return bound && record.in_file(loop.loop->place);
}

// Is the loop a part of one step, as the few rounds in which a critic is trained before its generator is? And
// what is kept begins anew with each such step.
bool is_within_step(const TrainingLoop& loop, const std::string& into) {
  if (!loop.loop->stmt || loop.loop->stmt->kind != StmtKind::for_ || loop.step->loops.size() < 2 ||
      !calls(*as<ForStmt>(*loop.loop->stmt).iterable, Says::counting))
    return false;
  const auto at = std::ranges::find(loop.step->loops, loop.loop);
  if (at == loop.step->loops.begin() || at == loop.step->loops.end()) return false;
  const LoopEvent* outer = *std::prev(at);
  const bool steps = std::ranges::any_of(loop.training_root->all, [&](const TrainingEvent& each) {
    const Operation what = each.event->row->operation;
    return (what == Operation::optimizer_step || what == Operation::scaler_step) && each.in(outer) &&
        !each.in(loop.loop);
  });
  return steps && outer->stmt && assigns(*outer->stmt, Name(into));
}

// Is it added in each iteration, but for choices that were made before the loop, or whenever a backward is
// made beside it?
bool kept_with_backward(const Record& record, const TrainingLoop& loop, Place place) {
  return decided_before(record, *loop.loop, place) ||
      std::ranges::any_of(loop.training_root->all, [&](const TrainingEvent& each) {
        return each.event->row->operation == Operation::backward && each.in(loop.loop) &&
            decided_before(record, *loop.loop, place, as_it_stands(record, each.event->place));
      });
}

// Does a backward of each iteration go through what is kept? Then it frees what the graph saved, and the
// graph's nodes alone stay.
bool is_freed(const TrainingLoop& loop, const OperationEvent& event, const values::TensorState* state,
    const Object* earlier) {
  return std::ranges::any_of(loop.training_root->all, [&](const TrainingEvent& each) {
    const OperationEvent& backward = *each.event;
    if (backward.row->operation != Operation::backward || !each.in(loop.loop) || each.in_handler)
      return false;
    const Value kept = argument(event, 0);
    const values::TensorState* loss = backward.self_state();
    return (kept.object() && kept.object() == backward.self.object()) ||
        (state && loss && state->made && loss->made &&
            (identity(loss) == identity(state) || comes_from(loss, state))) ||
        proven_by(backward, kept, state, earlier);
  });
}

// " when `args.amp`": what is added under a choice of the program.
std::string added_when(const Record& record, Value under) {
  return under.is(Kind::boolean) ? when_text(record, under.condition()) : std::string();
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  look_for_unused_history(record, report, once);
  look_for_freed_graph(record, report, training, once);
  for (const TrainingLoop& loop : training_loops(training, true)) {
    look_for_second_backward(record, report, loop, once);
    if (over_optimizers(record, loop)) continue;
    look_for_reset_lists(record, report, loop, once);
    for (const TrainingEvent& each : loop.training_root->all) {
      const OperationEvent& event = *each.event;
      if (event.row->operation != Operation::kept || !event.place || each.loops.empty() ||
          each.loops.back() != loop.loop || each.in_handler)
        continue;
      const values::TensorState* state = event.argument_state(0);
      if (!records_gradients(record, event) || is_used(record, *loop.training_root, each, loop)) continue;
      // An iteration for each of a few models that are named there.
      constexpr std::size_t few = 4;
      if (loop.loop->unrolled && loop.loop->iterations.size() <= few) continue;
      // What begins anew after a backward that comes now and then may be what that backward goes through.
      const bool begins_anew = static_cast<bool>(argument(event, 2));
      const Value under = argument(event, 3);
      if (under && !kept_with_backward(record, loop, event.place)) continue;
      if (begins_anew && decisions(*loop.backward) > decisions(each)) {
        const auto into = added_by(record, event);
        if (!into || !is_of_another(record, into->into, event.place, event.calls, *loop.backward->event))
          continue;
      }
      const bool certain = has_history(argument(event, 0), state);
      if (!certain && !proven(record, loop, event, state)) continue;
      // The backward is made of what is kept: of the sum so far.
      if (const values::TensorState* loss = loop.backward->event->self_state();
          loss && is_of_earlier(record, loop, *loss))
        continue;
      const auto added = added_by(record, event);
      if (!added || is_within_step(loop, added->into) || !once(event.place)) continue;
      const bool simple = added->value->kind == ExprKind::name || added->value->kind == ExprKind::attribute ||
          added->value->kind == ExprKind::call;
      const std::string kept = simple ? added->what : "(" + added->what + ")";
      // A sum that begins anew every few iterations keeps little then.
      const bool freed = is_freed(loop, event, state, record.earlier);
      Finding* finding = report.add(freed && begins_anew ? Severity::information : Severity::warning,
          event.place, event.calls,
          code(added->into) + (added->sum ? " adds up " : " collects ") + code(added->what) +
              " with all that it was computed from, so the " + (freed ? "graph" : "memory") +
              " of every iteration stays in use" + (begins_anew ? " until it is reset" : "") +
              added_when(record, under) +
              ". Keep the value alone: " + (added->sum ? code(kept + ".item()") + " or " : std::string()) +
              code(kept + ".detach()") + ".");
      if (!finding) continue;
      report.relate(*finding, loop.backward->event->place,
          "this backward needs the history, and nothing after it does");
      report.relate_calls(*finding, event.calls);
      // What is kept may be a tuple of several tensors.
      if (!record.in_file(event.place) || added->value->kind == ExprKind::tuple ||
          added->value->kind == ExprKind::list || added->value->kind == ExprKind::dict)
        continue;
      Fix fix;
      fix.title = "Keep " + kept + ".detach()";
      // In a function of its own the value may be a number, too.
      fix.preferred = added->value->kind == ExprKind::name && event.calls == loop.backward->event->calls;
      if (!fix.preferred && event.calls != loop.backward->event->calls) {
        // Where it is handed over.
        continue;
      }
      fix.edits.push_back({report.location({event.place.chunk, added->value->span}), kept + ".detach()"});
      finding->fixes.push_back(std::move(fix));
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/retained-graph",
    .severity = Severity::warning,
    .summary = "losses or outputs are kept from iteration to iteration with their history",
    .why =
        "A loss refers to all that its backward goes through. `total += loss` and `outputs.append(out)` keep these references, so the memory grows with every "
        "iteration until the GPU has none left. Measured with a small model: 100 iterations of `total += loss` hang 804 nodes of graphs on `total`; where no backward frees "
        "what the graphs saved, as in a validation that records gradients, 20 iterations keep 20 MiB. A sum that begins anew every few iterations, of losses whose backward ran, keeps little: it is information. `loss.detach()` and `loss.item()` keep the value alone. A hidden state that goes into the next iteration "
        "with its history fails at once: the next backward goes through the iteration before, which its own backward has freed. With `retain_graph=True` it runs, and each backward goes through all iterations before. Of a model that is not seen, what is known is that its "
        "loss has a history, as the backward shows. A second loss of one iteration that was computed from the same outputs fails, too, where the first backward did not keep the graph: "
        "a generator's images that train the discriminator without `detach()`, two losses of one model.",
    .wrong = "for x, y in loader:\n"
             "    loss = loss_fn(model(x), y)\n"
             "    loss.backward()\n"
             "    optimizer.step()\n"
             "    total += loss\n",
    .right = "for x, y in loader:\n"
             "    loss = loss_fn(model(x), y)\n"
             "    loss.backward()\n"
             "    optimizer.step()\n"
             "    total += loss.item()\n",
    .silent =
        "Sums of the losses of one step, on which backward is called; one backward through several iterations; what each iteration begins anew; values without history (`no_grad`, "
        "`detach`, `item`); bounded collections; what is added under a condition that changes from iteration to iteration; a second backward through what is added, computed anew, detached or kept by `retain_graph=True`.",
    .fix = "Adds `.detach()`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::memory::retained_graph
