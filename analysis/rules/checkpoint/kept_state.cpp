// checkpoint/kept-state: the state of a model is kept for later without a copy, and training goes on.
#include "rules/checkpoint/files.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/training.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::checkpoint::kept_state {

using namespace interpreter;
using namespace syntax;
using values::Kind;
using values::Operation;

namespace {

// The things that the value may be.
void leaves(Value value, std::vector<Value>& found) {
  if (value.is(Kind::choice)) {
    leaves(value.as<values::Choice>()->yes, found);
    leaves(value.as<values::Choice>()->no, found);
  } else if (value.object()) {
    found.push_back(value);
  }
}

// Does it hold nothing but what the call gave? After a loop it is another object, which stands for that of
// any iteration.
bool is_as_taken(Value state, const OperationEvent& taken) {
  if (!state.is(Kind::dict)) return false;
  const values::DictState& dict = *values::Heap::dict_state(state);
  return !dict.items.empty() && std::ranges::all_of(dict.items, [&](const auto& item) {
    return item.second.is(Kind::tensor) && item.second.object()->born == taken.place;
  });
}

// The loop that takes the state now and then and trains in between; null if none does.
const LoopEvent* training_around(
    const CheckpointRoot& checkpoint_root, const FileUse& taken, const FileUse& used) {
  for (const LoopEvent* loop : taken.loops) {
    if (!repeats(*loop) || std::ranges::find(used.loops, loop) != used.loops.end()) continue;
    if (std::ranges::any_of(checkpoint_root.steps,
            [&](const FileUse& step) { return std::ranges::find(step.loops, loop) != step.loops.end(); }))
      return loop;
  }
  return nullptr;
}

// The variable or the attribute that an expression is, by the last part of its name; empty if it is neither.
std::string_view name_of(const Expr& expr) {
  if (expr.kind == ExprKind::name) return as<NameExpr>(expr).id.text();
  return expr.kind == ExprKind::attribute ? as<AttributeExpr>(expr).attribute.text() : std::string_view{};
}

// What the program gives the name of the call's result, and nothing else: `best, self.kept = loss,
// m.state()`.
const Expr* named_as(const Record& record, Place call) {
  const Place place = as_it_stands(record, call);
  if (!place) return nullptr;
  const std::vector<Enclosing> around = enclosing(*record.chunk(place).chunk->stmt, place.span);
  if (around.empty() || around.back().stmt->kind != StmtKind::assign) return nullptr;
  const auto& assign = as<AssignStmt>(*around.back().stmt);
  const Expr* target = assign.targets.size() == 1 ? assign.targets.front() : nullptr;
  if (!target || !assign.value) return nullptr;
  if (assign.value->span == place.span) return target;
  if (assign.value->kind != ExprKind::tuple || target->kind != ExprKind::tuple) return nullptr;
  const auto &values = as<TupleExpr>(*assign.value).elements, &targets = as<TupleExpr>(*target).elements;
  for (std::size_t i = 0; i < values.size() && values.size() == targets.size(); ++i)
    if (values[i]->span == place.span) return targets[i];
  return nullptr;
}

// After many iterations of which any may have kept it, it is not known what the name holds: what the program
// gave it is.
bool is_kept_under_name(const Record& record, const FileUse& used, Value given, const FileUse& taken) {
  if (!given.is(Kind::unknown) || !used.event->expr || used.event->expr->arguments.empty()) return false;
  const Expr& loaded = *used.event->expr->arguments.front();
  const Expr* const target = named_as(record, taken.event->place);
  return target && target->kind == loaded.kind && !name_of(loaded).empty() &&
      name_of(*target) == name_of(loaded) &&
      (loaded.kind == ExprKind::attribute ||
          function_around(record, taken.event->place) == function_around(record, used.event->place));
}

const FileUse* kept_in(
    const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& used, Value given) {
  std::vector<Value> all;
  leaves(given, all);
  for (const Value& each : all) {
    const auto gave = [&](const FileUse& taken) { return taken.event->result.object() == each.object(); };
    const bool is_one = std::ranges::any_of(checkpoint_root.taken, gave);
    for (const FileUse& taken : checkpoint_root.taken)
      if (taken.order < used.order && taken.event->self.is(Kind::instance) && (!is_one || gave(taken)) &&
          (is_as_taken(each, *taken.event) || is_kept_under_name(record, used, each, taken)) &&
          training_around(checkpoint_root, taken, used))
        return &taken;
  }
  return nullptr;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const CheckpointRoot& checkpoint_root : Files::of(record).checkpoint_roots()) {
    if (checkpoint_root.root->truncated || checkpoint_root.steps.empty()) continue;
    const auto look = [&](const FileUse& used, Value given, const char* consequence, const char* there) {
      const FileUse* taken = kept_in(record, checkpoint_root, used, given);
      if (!taken || !once(taken->event->place)) return;
      Finding* finding = report.add(Severity::warning, taken->event->place, taken->event->calls,
          std::string(
              "`state_dict()` gives the model's own tensors, which the steps that follow write over: ") +
              consequence + " Keep a copy: `copy.deepcopy(model.state_dict())`.");
      if (!finding) return;
      report.relate(*finding, used.event->place, there);
      report.relate(*finding, training_around(checkpoint_root, *taken, used)->place,
          "the training goes on in this loop");
    };
    for (const FileUse& put : checkpoint_root.put)
      if (!put.event->arguments.empty() && put.event->self.is(Kind::instance))
        look(put, put.event->arguments[0],
            "the weights that are loaded in the end are those of the last step, not those of this moment.",
            "loaded here");
    for (const FileUse& save : checkpoint_root.saves)
      look(save, saved_object(save),
          "the weights that are saved in the end are those of the last step, not those of this moment.",
          "saved here");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "checkpoint/kept-state",
    .severity = Severity::warning,
    .summary = "the best weights are kept without a copy, and training writes over them",
    .why =
        "`state_dict()` copies nothing: the dict holds the parameters themselves. Kept as the best state while training goes on, it is the state of the last step by the time it is loaded or saved, and early stopping keeps nothing.",
    .wrong = "if loss < best:\n"
             "    best, best_state = loss, model.state_dict()\n",
    .right = "if loss < best:\n"
             "    best, best_state = loss, copy.deepcopy(model.state_dict())\n",
    .silent =
        "Copies (`copy.deepcopy`, `{k: v.clone() for …}`); states that are saved or loaded at once, before the next step; states of which not all tensors are known.",
    .fix = "None: `copy` may have to be imported, and a copy on the CPU may be wanted.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::checkpoint::kept_state
