// loop/accumulation-step: gradients are accumulated over several batches, and the sum, the moment of the step
// or the last batches are wrong.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/windows.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::loop::accumulation_step {

using namespace interpreter;
using values::Operation;

namespace {

Place gate_place(const Window& window) {
  return window.gate ? Place{window.loop->place.chunk, window.gate->test->span} : window.step->event->place;
}
std::string in_words(const Record& record, const Window& window) {
  const std::string text = size_words(record, window);
  return window.size_known && text != std::to_string(window.size) ? text + " = " + std::to_string(window.size)
                                                                  : text;
}

// `loss.backward()` becomes `(loss / n).backward()`, and `scaler.scale(loss)` `scaler.scale(loss / n)`.
void divide(const Record& record, const Report& report, const OperationEvent& backward,
    const std::string& size, Finding& finding) {
  if (!backward.expr || backward.expr->function->kind != syntax::ExprKind::attribute ||
      !record.in_file(backward.place))
    return;
  const syntax::Expr* object = syntax::as<syntax::AttributeExpr>(*backward.expr->function).object;
  const bool in_call = object->kind == syntax::ExprKind::call && backward.self_state() &&
      backward.self_state()->scaled_by;
  const syntax::Expr* loss = in_call && syntax::as<syntax::CallExpr>(*object).arguments.size() == 1
      ? syntax::as<syntax::CallExpr>(*object).arguments[0]
      : object;
  if (in_call == (loss == object)) return;
  const Place place{backward.place.chunk, loss->span};
  const std::string text(record.text(place));
  const bool whole = loss->kind == syntax::ExprKind::name || loss->kind == syntax::ExprKind::attribute ||
      loss->kind == syntax::ExprKind::call || loss->kind == syntax::ExprKind::subscript;
  const std::string quotient = (whole ? text : "(" + text + ")") + " / " + size;
  Fix fix;
  fix.title = "Divide the loss by " + size;
  fix.preferred = true;
  fix.edits.push_back({report.location(place), in_call ? quotient : "(" + quotient + ")"});
  finding.fixes.push_back(std::move(fix));
}

// Where the mean of a batch is made that is a term of the loss; null if none is known.
const values::Origin* mean_in(const values::TensorState* loss, int depth = 0) {
  constexpr int longest_sum = 8;  // terms
  if (!loss || depth > longest_sum) return nullptr;
  if (loss->mean) return loss->mean;
  if (!loss->made && loss->either) {
    const values::Origin* one = mean_in(loss->either->one, depth + 1);
    return one && mean_in(loss->either->other, depth + 1) ? one : nullptr;
  }
  const bool scaled = loss->made && loss->made->row->operation == Operation::scale;
  if (!scaled && semantics(loss) != OpSemantics::add) return nullptr;
  for (const values::TensorState* term : inputs(*loss->made))
    if (const values::Origin* found = mean_in(term, depth + 1)) return found;
  return nullptr;
}

bool look_at_sum(const Record& record, Report& report, const Window& window, Once& once) {
  const OperationEvent& backward = *window.backward->event;
  const values::TensorState* loss = backward.self_state();
  const values::Origin* mean = mean_in(loss);
  if (!mean || !once(backward.place)) return false;
  Finding* finding = report.add(Severity::warning, backward.place, backward.calls,
      "The gradients of " + in_words(record, window) +
          " batches add up before each step, and each is the gradient of a mean: together they are " +
          (window.size_known ? std::to_string(window.size) : size_words(record, window)) +
          " times as large as those of one large batch. Divide the loss by " + size_words(record, window) +
          ".");
  if (!finding) return false;
  report.relate(*finding, mean->place, "the mean over one batch");
  report.relate(*finding, gate_place(window), "the optimizer steps only now and then");
  if (size_text(record, window) != "n") divide(record, report, backward, size_text(record, window), *finding);
  return true;
}

bool look_at_steps(const Record& record, Report& report, const Window& window, Once& once) {
  const OperationEvent& step = *window.step->event;
  if (!once(step.place)) return false;
  Finding* finding = report.add(Severity::warning, step.place, step.calls,
      "This steps after every batch, but the gradients are cleared only every " + in_words(record, window) +
          " batches: each step also applies the gradients of the batches before it again. Step under the same condition.");
  if (!finding) return false;
  report.relate(*finding, window.clear->event->place, "the gradients are cleared only here");
  const std::string name = stepped_text(record, step);
  Fix fix;
  fix.title = "Step where the gradients are cleared";
  fix.preferred = true;
  std::string text(record.text(step.place));
  if (step.calls == window.clear->event->calls && insert_before(record, *window.clear->event, text, fix) &&
      remove_statement(record, step, fix)) {
    std::sort(fix.edits.begin(), fix.edits.end(),
        [](const TextEdit& a, const TextEdit& b) { return a.where.span.begin < b.where.span.begin; });
    finding->fixes.push_back(std::move(fix));
  }
  return true;
}

// Nothing is accumulated: each iteration clears what the iterations before it have added.
void look_at_clearing(const Record& record, Report& report, const Window& window, Once& once) {
  const OperationEvent& clear = *window.clear->event;
  const OperationEvent& step = *window.step->event;
  // Two optimizers of one loss, of which one steps now and then, as it is meant to.
  for (const TrainingEvent& each : window.training_root->all)
    if (const Value other = stepped_optimizer(*each.event);
        other && other.object() != window.optimizer.object() && each.in(window.loop))
      return;
  if (!once(clear.place)) return;
  Finding* finding = report.add(Severity::warning, clear.place, clear.calls,
      "This clears the gradients in every iteration, but the optimizer steps only every " +
          in_words(record, window) +
          " batches: each step uses the gradients of one batch, and those of the others are lost. Clear them where the step is.");
  if (!finding) return;
  report.relate(*finding, gate_place(window), "the optimizer steps only now and then");
  report.relate(*finding, window.backward->event->place, "the gradients that should add up");
  Fix fix;
  fix.title = "Clear the gradients after the step";
  fix.preferred = true;
  // Several steps: after which of them is to be decided.
  std::set<std::pair<std::uint32_t, std::uint32_t>> places;
  for (const TrainingEvent& each : window.training_root->all)
    if (stepped_optimizer(*each.event).object() == window.optimizer.object() && each.in(window.loop))
      places.insert({each.event->place.chunk, each.event->place.span.begin});
  const std::string text(record.text(clear.place));
  // Where they are cleared there, too, the other one goes.
  const bool cleared_after = std::any_of(
      window.training_root->all.begin(), window.training_root->all.end(), [&](const TrainingEvent& each) {
        return each.event->row->operation == Operation::zero_grad && each.in(window.loop) &&
            !(each.event->place == clear.place) && each.event->self.object() == clear.self.object();
      });
  if (cleared_after) {
    fix.title = "Clear the gradients after the step only";
    if (remove_statement(record, clear, fix)) finding->fixes.push_back(std::move(fix));
    return;
  }
  if (places.size() != 1 || step.calls != clear.calls || step.place.chunk != clear.place.chunk ||
      !insert_after(record, step, text, fix) || !remove_statement(record, clear, fix))
    return;
  std::sort(fix.edits.begin(), fix.edits.end(),
      [](const TextEdit& a, const TextEdit& b) { return a.where.span.begin < b.where.span.begin; });
  finding->fixes.push_back(std::move(fix));
}

bool look_at_first(const Record& record, Report& report, const Window& window, Once& once) {
  if (!window.first || *window.first != 1) return false;
  const Place place = gate_place(window);
  if (!once(place)) return false;
  const std::string size = size_text(record, window);
  Finding* finding = report.add(Severity::warning, place, window.step->event->calls,
      "The condition holds in the first iteration: the first step uses the gradients of one batch, and those of the last batches are never applied. Count from 1: `(" +
          std::string("i + 1) % ") + size + "`.");
  if (!finding) return false;
  report.relate(*finding, window.step->event->place, "the step");
  const auto* remainder = remainder_of(window);
  if (remainder && remainder->left->kind == syntax::ExprKind::name &&
      window.gate->test->kind == syntax::ExprKind::compare) {
    const Place index{window.loop->place.chunk, remainder->left->span};
    Fix fix;
    fix.title = "Count from 1";
    fix.preferred = true;
    fix.edits.push_back({report.location(index), "(" + std::string(record.text(index)) + " + 1)"});
    finding->fixes.push_back(std::move(fix));
  }
  return true;
}

// Where an outer loop clears the gradients before the inner one begins, what was left of the iteration before
// is lost.
void look_at_last(const Record& record, Report& report, const Window& window, Once& once) {
  if (!window.left || *window.left == 0 || window.step->loops.size() < 2) return;
  const LoopEvent* outer = window.step->loops[window.step->loops.size() - 2];
  if (!repeats(*outer)) return;
  const TrainingEvent* cleared = nullptr;
  bool inside = false;
  for (const TrainingEvent& each : window.training_root->all) {
    if (!each.in(outer)) continue;
    inside = inside || each.in(window.loop);
    if (each.in(window.loop)) continue;
    if (stepped_optimizer(*each.event).object() == window.optimizer.object() && each.loops.back() == outer)
      return;
    if (!inside && each.event->row->operation == Operation::zero_grad &&
        each.event->self.object() == window.optimizer.object())
      cleared = &each;
  }
  const Place place = gate_place(window);
  if (!cleared || !once(place)) return;
  Finding* finding = report.add(Severity::warning, place, window.step->event->calls,
      "The last " + std::to_string(*window.left) + " of " + std::to_string(*window.iterations) +
          " batches of each epoch are lost: the optimizer steps after every " + in_words(record, window) +
          " of them, and their gradients are cleared when the next epoch begins. Step after the last batch, too.");
  if (!finding) return;
  report.relate(*finding, cleared->event->place, "the gradients are cleared here");
  report.relate(*finding, window.loop->place, std::to_string(*window.iterations) + " batches");
  // `for i, batch in enumerate(loader)` says what the last one is.
  const auto* remainder = remainder_of(window);
  if (!remainder || window.gate->test->kind != syntax::ExprKind::compare ||
      window.loop->stmt->kind != syntax::StmtKind::for_)
    return;
  const syntax::Expr& iterable = *syntax::as<syntax::ForStmt>(*window.loop->stmt).iterable;
  const syntax::Expr& target = *syntax::as<syntax::ForStmt>(*window.loop->stmt).target;
  if (iterable.kind != syntax::ExprKind::call || target.kind != syntax::ExprKind::tuple) return;
  const auto& call = syntax::as<syntax::CallExpr>(iterable);
  if (call.arguments.size() != 1 || !call.keywords.empty() ||
      (call.arguments[0]->kind != syntax::ExprKind::name &&
          call.arguments[0]->kind != syntax::ExprKind::attribute))
    return;
  const auto text = [&](const syntax::Expr& expr) {
    return std::string(record.text({window.loop->place.chunk, expr.span}));
  };
  Fix fix;
  fix.title = "Step after the last batch, too";
  fix.preferred = true;
  fix.edits.push_back({report.location(place),
      text(*window.gate->test) + " or " + text(*syntax::as<syntax::TupleExpr>(target).elements.front()) +
          " + 1 == len(" + text(*call.arguments[0]) + ")"});
  finding->fixes.push_back(std::move(fix));
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const Window& window : windows(record, training)) {
    if (by_hand(*window.training_root, window.loop)) continue;
    if (window.steps_always) {
      look_at_steps(record, report, window, once);
      continue;
    }
    if (window.clears_always) {
      look_at_clearing(record, report, window, once);
      continue;
    }
    look_at_sum(record, report, window, once);
    if (!look_at_first(record, report, window, once)) look_at_last(record, report, window, once);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/accumulation-step",
    .severity = Severity::warning,
    .summary =
        "gradients are accumulated over several batches, and their sum, the moment of the step or the last batches are wrong",
    .why =
        "Gradients add up. Accumulated over n batches of which each loss is a mean, their sum is n times the gradient of one batch n times as large, and so is "
        "the step of SGD (measured: 2.66 instead of 0.332). A step after every batch, with gradients that are cleared every n, takes the first of them n times; gradients that are cleared for every batch, with a step every n, leave the last of them alone. `i % n == 0` holds "
        "for the first batch alone (measured with `i % 4 == 0` over 16 batches: steps of 1, 4, 4, 4, and 3 left over). And what the last batches of an epoch leave is lost where the next epoch clears it.",
    .wrong = "for i, (x, y) in enumerate(loader):\n"
             "    loss_fn(model(x), y).backward()\n"
             "    if i % n == 0:\n"
             "        optimizer.step()\n"
             "        optimizer.zero_grad()\n",
    .right = "for i, (x, y) in enumerate(loader):\n"
             "    (loss_fn(model(x), y) / n).backward()\n"
             "    if (i + 1) % n == 0 or i + 1 == len(loader):\n"
             "        optimizer.step()\n"
             "        optimizer.zero_grad()\n",
    .silent =
        "Losses that are sums, or that were divided or weighted; gradients that are divided by hand; batches of which it is not known that some are left "
        "over; conditions that only decide what is logged; loops that a framework runs, which divides itself.",
    .fix =
        "Divides the loss, moves the step to where the gradients are cleared or the other way around, counts from 1, or steps after the last batch, too.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::loop::accumulation_step
