#include "rules/loop/left_in_evaluation.hpp"

#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/evaluation.hpp"
#include "rules/training/modes.hpp"
#include "rules/training/optimized.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/unseen_history.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::rules::loop::eval_mode {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Is it an attribute of the model, or one of several that an attribute may be?
bool is_attribute_of(const Instance& model, const Object* part) {
  const std::function<bool(Value, int)> is = [&](Value value, int depth) {
    if (value.is(Kind::choice) && depth < values::most_choices)
      return is(value.as<values::Choice>()->yes, depth + 1) || is(value.as<values::Choice>()->no, depth + 1);
    return value.object() == part;
  };
  return std::ranges::any_of(model.attributes.entries(), [&](const auto& entry) {
    const Value held = entry.second->value;
    return (held.is(Kind::unknown) || held.is(Kind::instance) || held.is(Kind::choice)) && is(held, 0);
  });
}

// Does the call set a mode of the model: of it, of something that it is a part of, or of what is not known?
bool may_be_mode_of(const OperationEvent& event, const Object* model) {
  const auto* known = dynamic_cast<const Instance*>(model);
  // What a wrapper holds is all of it.
  const bool wraps = known && known->native && !known->cls;
  const bool is_part = known && !wraps && is_attribute_of(*known, event.self.object());
  if (event.self.is(Kind::none) || is_part) return false;
  if (!event.self.is(Kind::instance) || !known) return true;
  Parts around;
  around.add(event.self);
  const auto& whole = *event.self.as<Instance>();
  return whole.symbolic || whole.of_many || (whole.cls && whole.cls->open) || around.found.contains(model);
}

// Is the model trained after the operation, in the same iteration of the loop, before its mode or that of a
// part is set again?
bool trains_after(const TrainingRoot& training_root, const LoopEvent& loop, const OperationEvent& operation,
    const Object* model) {
  Parts parts;
  parts.add(as_value(model));
  for (const Block& iteration : loop.iterations) {
    bool after = false, trains = false, settled = false;
    visit(iteration, [&](const Event& event) {
      after = after || &event == &operation;
      if (!after || settled || event.kind != EventKind::operation || &event == &operation) return;
      const auto& other = static_cast<const OperationEvent&>(event);
      if (other.row->operation == Operation::train_mode && parts.found.contains(other.self.object()))
        settled = true;
      else if (other.row->operation == Operation::backward)
        settled = trains = !dynamic_cast<const Instance*>(model) || !other.self_state() ||
            is_trained_by(training_root, other, as_value(model));
    });
    if (after) return trains;
  }
  return false;
}

// Does each iteration of the loop train another model, one of its own: with an optimizer that it makes for
// that, or of a class that it makes an object of?
bool is_made_in(const TrainingRoot& training_root, const LoopEvent& loop, const Object* model) {
  const auto* known = dynamic_cast<const Instance*>(model);
  if (!known) return false;
  const bool with_optimizer = std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    if (each.event->row->operation != Operation::optimizer_made || !each.in(&loop)) return false;
    Parts trained;
    trained.add(attribute(each.event->self, values::OptimizerState::parameters));
    return trained.found.contains(model);
  });
  bool constructed = false;
  for (const Block& iteration : loop.iterations)
    visit(iteration, [&](const Event& event) {
      if (event.kind != interpreter::EventKind::call) return;
      const values::Function* function = static_cast<const interpreter::CallEvent&>(event).function;
      constructed = constructed ||
          (known->cls && function && function->owner == known->cls && function->name.text() == "__init__");
    });
  return with_optimizer || constructed;
}

// model.train() where each iteration of the loop begins.
void offer_training(const Record& record, const TrainingRoot& training_root, const LoopEvent& loop,
    const Object* model, Finding& finding) {
  if (!loop.stmt || loop.stmt->kind != syntax::StmtKind::for_ || !record.in_file(loop.place)) return;
  const auto& body = syntax::as<syntax::ForStmt>(*loop.stmt).body;
  const SourceLines source(record, loop.place.chunk);
  if (body.empty() || !source.own_line(*body[0])) return;
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& forward = *each.event;
    if (forward.row->operation != Operation::forward || forward.self.object() != model ||
        forward.calls != loop.calls || !each.in(&loop) || !forward.expr)
      continue;
    if (forward.expr->function->kind != syntax::ExprKind::name) return;
    Fix fix;
    fix.title = "Train in training mode in each iteration";
    fix.preferred = true;
    const auto begin = source.lines(*body[0], *body[0]).begin;
    fix.edits.push_back({{source.path(), {begin, begin}},
        source.indentation(*body[0]) +
            std::string(record.text({loop.place.chunk, forward.expr->function->span})) + ".train()" +
            source.line_ending()});
    finding.fixes.push_back(std::move(fix));
    return;
  }
}

// " when `args.average`": where what is set is one of two objects, and this one is meant then.
std::string of_choice(const Record& record, const TrainingEvent& mode) {
  return when_reached(
      record, mode, [&](const Turn& turn) { return turn.branch->place == mode.event->place; });
}

}  // namespace

void look_for_left_in_evaluation(const Record& record, const Training& training, Report& report, Once& once) {
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    for (const TrainingEvent& mode : training_root.all) {
      const OperationEvent& event = *mode.event;
      // Of a model that is not seen its use says that it is one.
      if (!sets_eval(record, event) || !(event.self.is(Kind::instance) || event.self.is(Kind::unknown)))
        continue;
      const Object* model = event.self.object();
      // The loop that evaluates and trains this very model.
      const LoopEvent* loop = nullptr;
      const OperationEvent* backward = nullptr;
      for (auto it = mode.loops.rbegin(); it != mode.loops.rend() && !loop; ++it)
        for (const TrainingEvent& each : training_root.all) {
          if (each.event->row->operation != Operation::backward || !each.in(*it)) continue;
          if (!is_trained_by(training_root, *each.event, event.self)) continue;
          loop = *it;
          backward = each.event;
        }
      if (!loop || !repeats(*loop) || escapes(record, training_root, model, loop) ||
          is_made_in(training_root, *loop, model))
        continue;
      // Any train() in the loop may restore it; one that comes from outside does not.
      bool restored = false;
      std::size_t times = 0;
      for (const TrainingEvent& each : training_root.all) {
        if (!each.in(loop)) continue;
        restored = restored ||
            (sets_mode(*each.event) && !sets_eval(record, *each.event) && may_be_mode_of(*each.event, model));
        times += each.event->place == event.place;
      }
      // Who trains right after an eval() means to, and so wherever else the loop sets it.
      const bool trained_so = std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
        return each.in(loop) && sets_eval(record, *each.event) && may_be_mode_of(*each.event, model) &&
            !without_gradients(*each.event) &&
            trains_after(training_root, *loop, *each.event, each.event->self.object());
      });
      // Who calls eval() and then trains in the same iteration without no_grad means to (frozen statistics).
      const bool evaluation = without_gradients(event) || !trains_after(training_root, *loop, event, model);
      if (restored || trained_so || !evaluation || (loop->unrolled && times < 1) ||
          !may_differ_by_mode(record, model) || !once(event.place))
        continue;
      const std::string_view text = record.text(event.place);
      const std::string name = event.expr || text.rfind('.') == std::string_view::npos
          ? object_text(record, event, "the model")
          : std::string(text.substr(0, text.rfind('.')));
      Finding* finding = report.add(Severity::warning, event.place, event.calls,
          code(name + ".eval()") + " is never undone" + of_choice(record, mode) +
              ": from here on the loop trains without dropout and with fixed statistics in its norms. Call " +
              code(name + ".train()") + " after the evaluation.");
      if (!finding) continue;
      report.relate(*finding, backward->place, "the same model is trained here");
      report.relate(*finding, loop->place, "iteration after iteration");
      offer_training(record, training_root, *loop, model, *finding);
    }
  }
}

}  // namespace stepzero::rules::loop::eval_mode
