// What an edit did to one function, before the rest of the file is run again. See focus.hpp, replay.hpp.
#include "interpreter/incremental/focus.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/roots/root_runner.hpp"

#include "interpreter/interpreter.hpp"
#include "syntax/difference.hpp"

#include <algorithm>
#include <tuple>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

// A root is not worth being run twice where all that runs again, the root with it, takes less than so many
// times its steps.
constexpr std::uint64_t least_gain = 2;

const FunctionStmt* method_around(const ClassStmt& cls, Span changed) {
  for (const Stmt* stmt : cls.body)
    if (stmt->kind == StmtKind::function && stmt->span.begin <= changed.begin &&
        changed.end <= stmt->span.end)
      return &as<FunctionStmt>(*stmt);
  return nullptr;
}

const FunctionStmt* method_named(const ClassStmt& cls, Name name) {
  for (const Stmt* stmt : cls.body)
    if (stmt->kind == StmtKind::function && as<FunctionStmt>(*stmt).name == name)
      return &as<FunctionStmt>(*stmt);
  return nullptr;
}

}  // namespace

std::optional<Focus> find_focus(
    const Stmt& was, std::string_view text_before, const Stmt& is, std::string_view text_now) {
  if (was.kind != is.kind) return std::nullopt;
  if (is.kind == StmtKind::function) {
    if (as<FunctionStmt>(was).name != as<FunctionStmt>(is).name) return std::nullopt;
    return Focus{{}, &as<FunctionStmt>(was), &as<FunctionStmt>(is)};
  }
  if (is.kind != StmtKind::class_ || as<ClassStmt>(was).name != as<ClassStmt>(is).name) return std::nullopt;
  const auto& cls = as<ClassStmt>(is);
  const Difference changed = difference(text_before, text_now);
  // What is typed after the last statement of a body does not lie in it before.
  const FunctionStmt* now = method_around(cls, {changed.begin, changed.end_now});
  if (!now)
    if (const FunctionStmt* before = method_around(as<ClassStmt>(was), {changed.begin, changed.end_before}))
      now = method_named(cls, before->name);
  if (!now) return std::nullopt;
  return Focus{cls.name, method_named(as<ClassStmt>(was), now->name), now};
}

// Of all roots of the last run in which the function ran: its own, or else the shortest one, of its class
// before others.
const RootRun* IncrementalRun::root_of_focus() const {
  const FunctionStmt* const was = replay_.focus->was;
  const RootRun* best = nullptr;
  std::tuple<int, std::uint64_t, std::size_t> best_order;
  for (const auto& [key, unit] : replay_.old_units) {
    if (key.second || !was) continue;
    for (std::size_t i = 0; i < unit.root_runs.size(); ++i) {
      const RootRun& run = unit.root_runs[i];
      if (run.of_built || !run.executed.contains(was)) continue;
      const bool is_own = run.function == was ||
          (!run.function && was->name.text() == "__init__" && run.owner &&
              as<ClassStmt>(*run.owner).name == replay_.focus->owner);
      const bool same_class = run.owner && as<ClassStmt>(*run.owner).name == replay_.focus->owner;
      const std::tuple order{is_own ? 0 : same_class ? 1 : 2, run.steps, unit.roots[0] + i};
      if (best && best_order <= order) continue;
      best = &run;
      best_order = order;
    }
  }
  return best;
}

std::optional<FocusRoot> IncrementalRun::choose_focus() const {
  const Focus& focus = *replay_.focus;
  const RootRun* const root = root_of_focus();
  if (!is_worthwhile(root)) return std::nullopt;
  if (root)
    return FocusRoot{focus.owner, focus.is->name, root->owner ? as<ClassStmt>(*root->owner).name : Name(),
        root->function ? root->function->name : Name(), root->called};
  // A run that was cancelled did not get to it.
  if (const auto& before = replay_.displayed_first;
      before && before->edited_owner == focus.owner && before->edited == focus.is->name)
    return before;
  return FocusRoot{focus.owner, focus.is->name, focus.owner,
      focus.is->name.text() == "__init__" ? Name() : focus.is->name};
}

// Of a unit whose methods are run by themselves those count that ran what changed.
std::uint64_t IncrementalRun::steps_to_run(const Unit& unit) const {
  if (!differs(unit)) return 0;
  if (!unit.object || differs(unit.used) || unit.ran(0, replay_.changed)) return unit.steps;
  std::uint64_t steps = 0;
  for (std::size_t method = 1; method < unit.root_runs.size(); method = unit.end_of_group(method))
    if (unit.group_ran(method, replay_.changed))
      for (std::size_t i = method; i < unit.end_of_group(method); ++i) steps += unit.root_runs[i].steps;
  return steps;
}

bool IncrementalRun::is_worthwhile(const RootRun* root) const {
  std::uint64_t rest = 0;
  for (const auto& [key, unit] : replay_.old_units)
    if (!key.second) rest += steps_to_run(unit);
  return !root || rest >= least_gain * root->steps;
}

values::Class* IncrementalRun::focus_class(Name name) const {
  const auto found = std::find_if(run_.classes_.rbegin(), run_.classes_.rend(),
      [&](const values::Class* cls) { return cls->stmt && cls->name == name; });
  return found == run_.classes_.rend() ? nullptr : *found;
}

values::Function* IncrementalRun::focus_function(const FocusRoot& root) const {
  const auto found = std::find_if(
      run_.function_order_.rbegin(), run_.function_order_.rend(), [&](const values::Function* function) {
        const bool at_top = function->closure && function->closure->globals == function->closure;
        return function->name == root.function && at_top && !function->owner;
      });
  return found == run_.function_order_.rend() ? nullptr : *found;
}

void IncrementalRun::run_focus_root(const FocusRoot& root, bool with_defaults) {
  const auto run = [&] {
    if (root.owner.empty()) {
      if (values::Function* function = focus_function(root)) run_.roots_->run_root(*function, {}, nullptr);
      return;
    }
    values::Class* const cls = focus_class(root.owner);
    if (!cls) return;
    std::vector<values::Function*> methods;
    if (const values::Slot* slot = root.function.empty() ? nullptr : cls->body->names.find(root.function))
      if (slot->value.is(Kind::function) && slot->value.as<values::Function>()->stmt &&
          slot->value.as<values::Function>()->owner == cls)
        methods.push_back(slot->value.as<values::Function>());
    if (with_defaults || !root.called || !run_focus_again(*cls, *root.called))
      run_.roots_->run_class(*cls, methods);
  };
  if (with_defaults)
    run_.roots_->run_defaults(run);
  else
    run();
}

void IncrementalRun::run_focus() {
  if (!replay_.replaying || !replay_.focus || !record_.on_focus || record_.cancelled) return;
  // What the statements of the file run is in the record already.
  const bool by_statements = run_.roots_->reached_[replay_.focus->is];
  const std::optional<FocusRoot> root = by_statements ? std::nullopt : choose_focus();
  if (!by_statements && !root) return;
  const Switched before = switched();
  const bool out_of_budget = record_.out_of_budget, possible = replay_.possible;
  const std::size_t doubts = symbols().doubts();
  part_begin_ = heap().mark().clock;
  heap().set_writes(replay_.end.writes);
  std::vector<std::string> names;
  if (root) {
    run_focus_root(*root, false);
    if (symbols().doubts() != doubts) {
      forget_reached(replay_.end.reached);
      run_focus_root(*root, true);
    }
    for (const auto& each : record_.roots) {
      const Value init =
          !each->function && each->owner ? run_.find_in_order(each->owner->order, Name("__init__")) : Value{};
      if (each->function)
        names.emplace_back(each->function->qualified);
      else if (init.is(Kind::function))
        names.emplace_back(init.as<values::Function>()->qualified);
    }
  }
  if (!record_.cancelled) {
    replay_.displayed_first = root;
    record_.on_focus(names);
  }
  const bool cancelled = record_.cancelled;
  record_.derived.clear();
  record_.roots.resize(1);
  record_.default_roots.clear();
  rewind_to(replay_.end);
  switch_back(before);
  record_.out_of_budget = out_of_budget;
  record_.cancelled = cancelled;
  replay_.possible = possible;
  run_.in_roots_ = true;
}

}  // namespace stepzero::interpreter
