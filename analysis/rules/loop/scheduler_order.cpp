// loop/scheduler-order: a scheduler that steps before the optimizer, or more or less often than its numbers
// were meant for.
#include "libraries/table/class_roles.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/gated.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/horizon.hpp"
#include "rules/training/windows.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::loop::scheduler_order {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

Value optimizer_of(const Object* scheduler) {
  const auto* instance = dynamic_cast<const Instance*>(scheduler);
  return instance ? instance->attributes.value(syntax::Name(values::OptimizerState::optimizer)) : Value{};
}
// The one that stands for it in the training root: it may be one of several, chosen before the scheduler was
// made.
Value standing_optimizer(const TrainingRoot& training_root, Value optimizer) {
  while (optimizer.is(Kind::choice)) optimizer = optimizer.as<values::Choice>()->yes;
  return optimizer.is(Kind::instance) ? as_value(training_root.standing(optimizer.object())) : optimizer;
}
struct Steps {
  const TrainingEvent* made = nullptr;
  std::vector<const TrainingEvent*> steps;
  Value optimizer;
};

// Before the first step of its optimizer, in the same iteration of a loop, whatever happens.
const TrainingEvent* steps_first(const TrainingRoot& training_root, const Steps& scheduler) {
  const TrainingEvent& first = *scheduler.steps.front();
  const auto& arguments = first.event->arguments;
  if (first.loops.empty() || !first.turns.empty() ||
      (!arguments.empty() && arguments[0] && !arguments[0].is(Kind::none)))
    return nullptr;
  bool after = false;
  for (const TrainingEvent& each : training_root.all) {
    after = after || each.event == first.event;
    const bool steps = stepped_optimizer(*each.event).object() == scheduler.optimizer.object();
    if (!after &&
        (steps ||
            (each.event->row->operation == Operation::unseen &&
                is_handed(*each.event, scheduler.optimizer.object()) && each.in(first.loops.back()))))
      return nullptr;
    if (after && steps) return each.in(first.loops.back()) ? &each : nullptr;
  }
  return nullptr;
}

std::vector<const TrainingEvent*> steps_of_optimizer(
    const TrainingRoot& training_root, const Steps& scheduler) {
  std::vector<const TrainingEvent*> found;
  for (const TrainingEvent& each : training_root.all)
    if (stepped_optimizer(*each.event).object() == scheduler.optimizer.object()) found.push_back(&each);
  return found;
}

// Made for every batch, and stepped in the loop over epochs: around one that steps the optimizer, in which
// that may follow a condition.
const LoopEvent* steps_per_epoch(
    const Record& record, const TrainingRoot& training_root, const Steps& scheduler, const Marks& marks) {
  const OperationEvent& made = *scheduler.made->event;
  const std::vector<const TrainingEvent*> optimizer_steps = steps_of_optimizer(training_root, scheduler);
  const LoopEvent* inner = nullptr;
  for (const TrainingEvent* step : scheduler.steps) {
    if (step->loops.empty()) return nullptr;
    for (const TrainingEvent* each : optimizer_steps) {
      if (!each->in(step->loops.back())) continue;
      if (each->loops.back() == step->loops.back()) return nullptr;
      inner = each->loops.back();
    }
  }
  if (!inner || !repeats(*inner)) return nullptr;
  if (const Value per_epoch = argument(made, "steps_per_epoch"); per_epoch && !per_epoch.is(Kind::none))
    return inner;
  if (marks.of == Marks::Of::none || marks.of == Marks::Of::changes) return nullptr;
  const symbolic::Int batches = rounds_around(record, optimizer_steps),
                      steps = rounds_around(record, scheduler.steps);
  if (!batches || !steps || same_size(record, batches, steps)) return nullptr;
  const auto any = [&](symbolic::Int size) {
    return std::any_of(
        marks.at.begin(), marks.at.end(), [&](symbolic::Int mark) { return same_size(record, mark, size); });
  };
  return any(batches) && !any(steps) ? inner : nullptr;
}

// The window of an accumulation in which the scheduler steps with its optimizer; null: none is known.
const Window* window_of(const std::vector<Window>& all, const Steps& scheduler, const TrainingEvent& step) {
  const auto found = std::ranges::find_if(all, [&](const Window& window) {
    return !window.steps_always && window.size_known && window.size > 1 &&
        window.optimizer.object() == scheduler.optimizer.object() &&
        window.loop->stmt == step.loops.back()->stmt &&
        (window.loop->unrolled || step.turns.size() == window.step->turns.size());
  });
  return found == all.end() ? nullptr : &*found;
}

// Made for the batches of one epoch, and stepped after those of all; or for the steps that an accumulation
// makes of them.
const LoopEvent* ends_with_first_epoch(const Record& record, const TrainingRoot& training_root,
    const std::vector<Window>& all, const Steps& scheduler, const Marks& marks) {
  if (!marks.ends || marks.at.size() != 1) return nullptr;
  const LoopEvent *batches = nullptr, *epochs = nullptr;
  for (const TrainingEvent* step : scheduler.steps) {
    if (step->loops.size() < 2 || step->in_handler) return nullptr;
    const Window* window = window_of(all, scheduler, *step);
    if (!step->turns.empty() && !window) return nullptr;
    batches = step->loops.back();
    epochs = step->loops[step->loops.size() - 2];
    auto& s = record.symbols;
    auto length = length_of(record, *batches);
    if (length && window) {
      const auto size = s.constant(window->size);
      const auto whole = s.floordiv(length, size), begun = s.negate(s.floordiv(s.negate(length), size));
      length = same_size(record, begun, marks.at.front()) ? begun : whole;
    }
    if (!length || s.value(length) == 1 || !same_size(record, length, marks.at.front())) return nullptr;
    // Whoever makes one anew for each epoch means that.
    if (scheduler.made->in(epochs) || !repeats(*epochs)) return nullptr;
  }
  const auto steps = steps_of_optimizer(training_root, scheduler);
  return std::any_of(steps.begin(), steps.end(),
             [&](const TrainingEvent* each) { return !each->loops.empty() && each->loops.back() == batches; })
      ? epochs
      : nullptr;
}

// Does one of the schedulers step there whatever is chosen: is each branch around a choice between what steps
// at the same place?
bool steps_anyway(const TrainingEvent& step) {
  return std::all_of(step.turns.begin(), step.turns.end(), [&](const Turn& turn) {
    const Block& other = turn.yes ? turn.branch->no : turn.branch->yes;
    return std::any_of(other.events.begin(), other.events.end(), [&](const Event* event) {
      return event->kind == EventKind::operation && event->place == step.event->place &&
          static_cast<const OperationEvent*>(event)->row->operation == Operation::scheduler_step;
    });
  });
}

// Its value where all that may be given to the program is its default: `def train(loader, epochs=90)`.
std::optional<std::int64_t> value_by_defaults(const Record& record, symbolic::Int size) {
  std::vector<symbolic::Assignment> defaults;
  for (const symbolic::Int atom : atoms_of(record, size))
    if (const auto* info = record.symbols.atom_info(atom); info && info->usual)
      defaults.push_back({atom, *info->usual});
  return record.symbols.value(record.symbols.substitute(size, defaults));
}

// Does an optimizer step in a loop of its own inside the one in which the scheduler does? Then that one goes
// over epochs, or over the phases of one.
bool steps_further_in(const TrainingRoot& training_root, const TrainingEvent& step) {
  return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    return stepped_optimizer(*each.event) && each.loops.size() > step.loops.size() &&
        each.in(step.loops.back());
  });
}

// Its numbers are epochs, and it steps in the loop over batches.
const LoopEvent* steps_per_batch(
    const Record& record, const TrainingRoot& training_root, const Steps& scheduler, const Marks& all) {
  const LoopEvent* epochs = nullptr;
  for (const TrainingEvent* step : scheduler.steps) {
    if (step->loops.size() < 2 || !steps_anyway(*step) || !repeats(*step->loops.back()) ||
        steps_further_in(training_root, *step))
      return nullptr;
    epochs = step->loops[step->loops.size() - 2];
  }
  const symbolic::Int length = epochs ? length_of(record, *epochs) : nullptr;
  if (!length || all.of == Marks::Of::none) return nullptr;
  auto& s = record.symbols;
  if (all.of == Marks::Of::factor) {
    // One of the numbers is that of the epochs, and none that of the steps.
    const auto any = [&](symbolic::Int size) {
      return size && std::any_of(all.at.begin(), all.at.end(), [&](symbolic::Int mark) {
        return same_size(record, mark, size);
      });
    };
    return s.value(length) != 1 && any(length) && !any(rounds_around(record, scheduler.steps)) ? epochs
                                                                                               : nullptr;
  }
  const std::vector<symbolic::Int>& marks = all.at;
  const bool whole = all.of != Marks::Of::changes;
  const auto known = value_by_defaults(record, length);
  const std::set<symbolic::Int> names = atoms_of(record, length);
  for (const symbolic::Int mark : marks) {
    const auto at = value_by_defaults(record, mark);
    if (at && *at < 2) return nullptr;
    if (whole) {
      if (!same_size(record, mark, length) && !same_size_at_first(record, mark, length)) return nullptr;
      continue;
    }
    const std::set<symbolic::Int> own = atoms_of(record, mark);
    const bool of_epochs = !own.empty() && std::includes(names.begin(), names.end(), own.begin(), own.end());
    if (!of_epochs && !(at && known && *at < *known)) return nullptr;
  }
  return epochs;
}

// Made for a step after every batch of all epochs, and it steps with the optimizer, every few batches.
const Window* ignores_windows(
    const Record& record, const std::vector<Window>& all, const Steps& scheduler, const Marks& marks) {
  auto& s = record.symbols;
  if (marks.of == Marks::Of::none || marks.of == Marks::Of::changes) return nullptr;
  for (const Window& window : all) {
    if (window.steps_always || window.optimizer.object() != scheduler.optimizer.object()) continue;
    // The same loop is there once for each iteration of an outer one that is run iteration by iteration.
    const bool gated = std::all_of(
        scheduler.steps.begin(), scheduler.steps.end(), [&](const TrainingEvent* step) {
          return !step->loops.empty() && step->loops.back()->stmt == window.loop->stmt &&
              (window.loop->unrolled || step->turns.size() > window.backward->turns.size());
        });
    const auto here = std::count_if(scheduler.steps.begin(), scheduler.steps.end(),
        [&](const TrainingEvent* step) { return step->loops.back() == window.loop; });
    if (!gated || (window.loop->unrolled && static_cast<std::size_t>(here) >= window.loop->iterations.size()))
      continue;
    symbolic::Int batches = length_of(record, *window.loop);
    for (const LoopEvent* outer : window.step->loops)
      if (outer != window.loop && batches) {
        const symbolic::Int iterations = length_of(record, *outer);
        batches = iterations ? s.mul(batches, iterations) : nullptr;
      }
    if (batches && std::any_of(marks.at.begin(), marks.at.end(), [&](symbolic::Int mark) {
          return same_size(record, batches, mark);
        }))
      return &window;
  }
  return nullptr;
}

// How often it steps in all, where every iteration of every loop is known.
std::optional<std::int64_t> steps_in_all(const Record& record, const Steps& scheduler) {
  std::int64_t count = 0;
  for (const TrainingEvent* step : scheduler.steps) {
    if (step->in_handler || step->in_attempt) return std::nullopt;
    if (!step->turns.empty()) continue;
    const std::optional<std::int64_t> times = times_made(record, *step);
    if (!times) return std::nullopt;
    count += *times;
  }
  return count;
}

// More steps than the cycle has, all of them known.
std::optional<std::int64_t> overrun(const Record& record, const Steps& scheduler, std::int64_t& total) {
  const OperationEvent& made = *scheduler.made->event;
  const auto steps = record.number(argument(made, "total_steps"));
  const auto epochs = record.number(argument(made, "epochs")),
             per_epoch = record.number(argument(made, "steps_per_epoch"));
  if (!steps && !(epochs && per_epoch)) return std::nullopt;
  total = steps ? *steps : *epochs * *per_epoch;
  const auto count = steps_in_all(record, scheduler);
  return count && *count > total ? count : std::nullopt;
}

// A cosine that is at its end long before the last step, and comes back up.
std::optional<std::int64_t> comes_back_up(
    const Record& record, const Steps& scheduler, std::int64_t& period) {
  const OperationEvent& made = *scheduler.made->event;
  const std::string_view parameter = libraries::schedule_info(*made.row).period;
  const auto given = parameter.empty() ? std::nullopt : record.number(argument(made, parameter));
  if (!given || *given < 2) return std::nullopt;
  period = *given;
  const auto count = steps_in_all(record, scheduler);
  return count && *count >= 2 * period ? count : std::nullopt;
}

void judge(const Record& record, const TrainingRoot& training_root, const Steps& scheduler,
    const std::vector<Window>& all, Report& report, Once& once) {
  const OperationEvent& event = *scheduler.steps.front()->event;
  const OperationEvent& made = *scheduler.made->event;
  const std::string name = object_text(record, event, "the scheduler");
  if (const TrainingEvent* later = steps_first(training_root, scheduler)) {
    if (!once(event.place)) return;
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
        code(name + ".step()") + " comes before " + code(record_call(record, *later->event)) +
            ", which skips the first learning rate. Step the scheduler after the optimizer.");
    if (!finding) return;
    report.relate(*finding, later->event->place, "the optimizer steps here");
    Fix fix;
    fix.title = "Step the scheduler after the optimizer";
    fix.preferred = true;
    if (move_statement(record, event, *later->event, true, fix)) finding->fixes.push_back(std::move(fix));
    return;
  }
  // How often a framework lets it step is not seen.
  if (training_root.handed_over) return;
  const Marks marks = marks_of(record, made);
  std::int64_t total = 0;
  if (const auto count = overrun(record, scheduler, total)) {
    if (!once(event.place)) return;
    const bool certain = scheduler.made->turns.empty() && training_root.root->defaults.empty() &&
        std::ranges::all_of(scheduler.steps, [](const TrainingEvent* step) { return step->turns.empty(); });
    Finding* finding = report.add(certain ? Severity::error : Severity::warning, event.place, event.calls,
        code(name + ".step()") + " is called " + std::to_string(*count) + " times, but the cycle has " +
            std::to_string(total) +
            " steps: one more raises `ValueError`. Pass the number of batches of all epochs as `total_steps`.");
    if (finding)
      report.relate(*finding, made.place, "the cycle is made for " + std::to_string(total) + " steps");
    return;
  }
  if (const LoopEvent* inner = steps_per_epoch(record, training_root, scheduler, marks)) {
    if (!once(event.place)) return;
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
        code(name) +
            " is built to step after every batch, but steps once per epoch: it never leaves the start of its schedule. Step it after every batch.");
    if (!finding) return;
    report.relate(*finding, made.place, "made for every batch here");
    report.relate(*finding, inner->place, "the loop over the batches");
    return;
  }
  if (const LoopEvent* epochs = steps_per_batch(record, training_root, scheduler, marks)) {
    if (!once(event.place)) return;
    const bool period = marks.of == Marks::Of::period,
               whole = marks.of == Marks::Of::total || marks.of == Marks::Of::factor;
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
        code(name) + " is built to step once per epoch, but steps after every batch: " +
            (period ? "the learning rate swings up and down many times"
                    : whole
                    ? "its schedule ends within the first epochs"
                    : "the learning rate falls within the first epochs to what was meant for the last") +
            ". Step it once per epoch.");
    if (!finding) return;
    report.relate(*finding, made.place,
        period      ? "T_max is the number of epochs"
            : whole ? "made for as many steps as there are epochs"
                    : "its numbers are epochs");
    report.relate(*finding, epochs->place, "the loop over the epochs");
    return;
  }
  if (const LoopEvent* epochs = ends_with_first_epoch(record, training_root, all, scheduler, marks)) {
    if (!once(event.place)) return;
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
        code(name) + " is built for the batches of one epoch, but steps after those of every epoch: " +
            (marks.raises ? "the first step of the second epoch raises `ValueError`."
                          : "its schedule ends with the first epoch.") +
            " Build it for the number of epochs times the number of batches.");
    if (!finding) return;
    report.relate(*finding, made.place, "made for one epoch");
    report.relate(*finding, epochs->place, "the loop over the epochs");
    return;
  }
  if (const auto count = comes_back_up(record, scheduler, total)) {
    if (!once(event.place)) return;
    Finding* finding = report.add(Severity::information, event.place, event.calls,
        code(name + ".step()") + " is called " + std::to_string(*count) +
            " times, and the cosine is at its end after " + std::to_string(total) +
            ": the learning rate rises again, and is back at its start after " + std::to_string(2 * total) +
            ". Pass all steps as `T_max`, or use `CosineAnnealingWarmRestarts` to restart it.");
    if (finding) report.relate(*finding, made.place, "T_max is " + std::to_string(total));
    return;
  }
  if (const Window* window = ignores_windows(record, all, scheduler, marks)) {
    if (!once(event.place)) return;
    const std::string size = size_words(record, *window);
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
        code(name) + " is built for as many steps as there are batches, but steps every " + size +
            " batches: training ends long before its cycle does, and the learning rate stays high. Divide the number by " +
            size + ".");
    if (!finding) return;
    report.relate(*finding, made.place, "built to step after every batch");
    report.relate(
        *finding, window->backward->event->place, "the gradients of several batches are accumulated");
  }
}

// `lr_scheduler.step()` of something that is not seen, by its name a schedule: what a statement is, if it is
// nothing else; null otherwise.
const syntax::CallExpr* steps_unseen_schedule(const syntax::Stmt& stmt) {
  using namespace syntax;
  if (stmt.kind != StmtKind::expression || as<ExpressionStmt>(stmt).value->kind != ExprKind::call)
    return nullptr;
  const auto& call = as<CallExpr>(*as<ExpressionStmt>(stmt).value);
  if (!call.arguments.empty() || !call.keywords.empty() || call.function->kind != ExprKind::attribute)
    return nullptr;
  const auto& method = as<AttributeExpr>(*call.function);
  if (!says(method.attribute.text(), Says::stepping)) return nullptr;
  const Expr& object = *method.object;
  const std::string_view name = object.kind == ExprKind::name ? as<NameExpr>(object).id.text()
      : object.kind == ExprKind::attribute                    ? as<AttributeExpr>(object).attribute.text()
                                                              : std::string_view{};
  return says(name, Says::schedule) && !says(name, Says::noise) ? &call : nullptr;
}

// A schedule that is not seen, stepped right before the optimizer in one block.
void look_for_unseen(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& step = *each.event;
    if (!stepped_optimizer(step) || each.loops.empty() || each.in_handler || !record.in_file(step.place))
      continue;
    const ChunkOf& chunk = record.chunk(step.place);
    if (!chunk.statement()) continue;
    const auto around = enclosing(*chunk.chunk->stmt, step.place.span);
    if (around.empty() || around.back().index == 0) continue;
    const Enclosing& here = around.back();
    const syntax::CallExpr* schedule = steps_unseen_schedule(*here.block[here.index - 1]);
    if (!schedule || here.stmt->kind != syntax::StmtKind::expression) continue;
    const Place place{step.place.chunk, schedule->span};
    // One that is seen is judged by what it does.
    if (std::ranges::any_of(training_root.all, [&](const TrainingEvent& other) {
          return other.event->place == place && other.event->row->operation != Operation::unseen;
        }))
      continue;
    if (!once(place)) continue;
    const std::string name(record.text({place.chunk, schedule->function->span}));
    Finding* finding = report.add(Severity::warning, place, step.calls,
        code(name + "()") + ", by its name a schedule of the learning rate, comes before " +
            code(record_call(record, step)) +
            ", which skips the first learning rate. Step the scheduler after the optimizer.");
    if (finding) report.relate(*finding, step.place, "the optimizer steps here");
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  std::optional<std::vector<Window>> all;
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (!trains_itself(training_root) || training_root.root->truncated) continue;
    look_for_unseen(record, training_root, report, once);
    for (const TrainingEvent& made : training_root.all) {
      if (made.event->row->operation != Operation::scheduler_made) continue;
      if (!all) all = windows(record, training);
      Steps scheduler{&made, {}, standing_optimizer(training_root, optimizer_of(made.event->self.object()))};
      bool unseen = false;
      for (const TrainingEvent& each : training_root.all) {
        if (each.event->row->operation == Operation::scheduler_step &&
            each.event->self.object() == made.event->self.object())
          scheduler.steps.push_back(&each);
        unseen = unseen ||
            (each.event->row->operation == Operation::unseen &&
                is_handed(*each.event, made.event->self.object()));
      }
      if (scheduler.steps.empty() || unseen || !scheduler.optimizer.is(Kind::instance)) continue;
      judge(record, training_root, scheduler, *all, report, once);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/scheduler-order",
    .severity = Severity::warning,
    .summary = "a scheduler that steps before the optimizer, or not as often as its numbers mean",
    .why =
        "A scheduler sets the first learning rate when it is made and the next at each `step()`. Before the first `optimizer.step()` it skips "
        "the first value; PyTorch warns \"Detected call of `lr_scheduler.step()` before `optimizer.step()`\". Its numbers count steps: a "
        "OneCycleLR made for every batch and stepped per epoch stays at its start, one stepped beyond its total raises `ValueError`, "
        "and a cosine over the number of epochs, stepped per batch, swings up and down. One made for all batches that steps only every n, with the "
        "optimizer of an accumulation, covers the first n-th of its cycle (measured: StepLR from 0.1 gives four epochs 0.1, 0.05, 0.05, 0.025 instead of 0.1, 0.1, 0.05, 0.05; a cosine of 6 epochs turns 7 times in 48 "
        "batches; OneCycleLR of 1000 steps with a max_lr of 0.1 stands at 0.00426 after 10 epochs, and at 0.0938 after 250 windows of 4).",
    .wrong = "for epoch in range(epochs):\n"
             "    scheduler.step()\n"
             "    train_one_epoch(model, optimizer, loader)\n",
    .right = "for epoch in range(epochs):\n"
             "    train_one_epoch(model, optimizer, loader)\n"
             "    scheduler.step()\n",
    .silent =
        "`step(epoch)` that says where it is; functions of the step whose numbers are neither the steps nor the epochs; restarts with fractions of an epoch; a warm-up that steps per batch; steps that a GradScaler "
        "skips; schedulers of code that is not seen.",
    .fix = "Moves the scheduler's step after the optimizer's, where both stand in one block.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::loop::scheduler_order
