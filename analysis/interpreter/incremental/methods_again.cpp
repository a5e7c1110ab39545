// The methods of a class that ran a body which an edit changed, run again on the object that they were run on
// before. See replay.hpp.
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/roots/root_runner.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

// Whose contents and gradients a part of the run may have changed. How often it did makes no difference: what
// was known before holds after it or does not.
auto kinds_written(const values::Writes& before, const values::Writes& after) {
  std::array<bool, std::size(values::Writes{}.of_type) + 3> written{};
  std::size_t at = 0;
  for (; at < std::size(before.of_type); ++at) written[at] = before.of_type[at] != after.of_type[at];
  written[at++] = before.of_gradients != after.of_gradients;
  written[at++] = before.of_histories != after.of_histories;
  written[at++] = before.of_integers != after.of_integers;
  return written;
}

}  // namespace

// What the run of one method left.
struct IncrementalRun::RootAgain {
  std::unique_ptr<Root> root;
  std::vector<Fact> facts;
  std::size_t index = 0;  // of the root, as the facts name it
  RootRun run;
};

std::optional<IncrementalRun::RootAgain> IncrementalRun::run_method_again(
    Unit& unit, std::size_t nth, values::Class& cls) {
  const RootRun& before = unit.root_runs[nth];
  const auto as_now = [&](const FunctionStmt* stmt) {
    const auto changed = replay_.changed.bodies.find(stmt);
    return changed == replay_.changed.bodies.end() ? stmt : changed->second;
  };
  if (!before.called || before.of_built) return std::nullopt;
  const std::size_t roots = record_.roots.size(), facts = record_.facts.size(),
                    built = run_.roots_->built_.size(), built_runs = run_.roots_->built_runs_;
  Unit made;
  made.roots[0] = roots;
  made.facts[0] = facts;
  const Switched began = switched();
  const bool out_of_budget = record_.out_of_budget;
  switch_back(before.switched);
  run_.default_device_set_ = before.switched.default_device;
  unit_ = &made;
  run_.used_ = &unit.used;
  part_begin_ = unit.clock;
  heap().set_writes(before.writes);
  record_.steps += before.begin - unit.begin;
  run_.any_use_ = true;
  run_.roots_->run_method(cls, *before.called, Value::of(Kind::instance, unit.object));
  run_.any_use_ = false;
  end_root_run();
  unit_ = nullptr;
  run_.used_ = nullptr;
  switch_back(began);
  run_.default_device_set_ = began.default_device;
  record_.out_of_budget = out_of_budget;
  const bool one = !record_.cancelled && record_.steps < run_.limits_.steps &&
      record_.roots.size() == roots + 1 && made.root_runs.size() == 1 &&
      run_.roots_->built_.size() == built && run_.roots_->built_runs_ == built_runs;
  std::optional<RootAgain> again;
  if (one) {
    RootRun& run = made.root_runs.front();
    // Which other methods are run by themselves hangs on what of the file this one runs. Functions of modules
    // that it was the first to import ran that one time only.
    const auto of_file = [&](const std::unordered_set<const FunctionStmt*>& executed) {
      std::unordered_set<const FunctionStmt*> own;
      for (const FunctionStmt* stmt : executed)
        if (run_.functions_.contains(as_now(stmt))) own.insert(as_now(stmt));
      return own;
    };
    if (run.switched_after == before.switched_after && of_file(before.executed) == of_file(run.executed) &&
        kinds_written(before.writes, before.writes_after) == kinds_written(run.writes, run.writes_after))
      again = RootAgain{std::move(record_.roots.back()),
          {record_.facts.begin() + static_cast<std::ptrdiff_t>(facts), record_.facts.end()}, roots,
          std::move(run)};
  }
  record_.roots.resize(roots);
  record_.facts.resize(facts);
  return again;
}

void IncrementalRun::put_roots(Unit& unit, std::map<std::size_t, RootAgain>& again, std::uint64_t begin) {
  const std::size_t old_root = unit.roots[0], old_facts = unit.facts[0],
                    all_facts = unit.facts[1] - unit.facts[0];
  unit.roots[0] = record_.roots.size();
  unit.facts[0] = record_.facts.size();
  unit.default_roots[0] = unit.default_roots[1] = record_.default_roots.size();
  unit.begin = record_.steps = begin;
  unit.built_before = run_.roots_->built_runs_;
  std::vector<std::size_t> begins;  // of each root's facts, as they are now
  for (std::size_t i = 0; i < unit.root_runs.size(); ++i) {
    RootRun& run = unit.root_runs[i];
    begins.push_back(record_.facts.size() - unit.facts[0]);
    const std::size_t end = i + 1 < unit.root_runs.size() ? unit.root_runs[i + 1].facts : all_facts,
                      to = record_.facts.size(), root = record_.roots.size();
    std::size_t was = old_root + run.root;
    if (const auto fresh = again.find(i); fresh != again.end()) {
      was = fresh->second.index;
      run = std::move(fresh->second.run);
      record_.roots.push_back(std::move(fresh->second.root));
      record_.facts.insert(record_.facts.end(), fresh->second.facts.begin(), fresh->second.facts.end());
    } else {
      record_.roots.push_back(std::move(replay_.old_roots[was]));
      const auto facts = replay_.old_facts.begin() + static_cast<std::ptrdiff_t>(old_facts);
      record_.facts.insert(record_.facts.end(), facts + static_cast<std::ptrdiff_t>(run.facts),
          facts + static_cast<std::ptrdiff_t>(end));
    }
    for (std::size_t j = to; j < record_.facts.size(); ++j)
      record_.facts[j].root = static_cast<std::uint32_t>(record_.facts[j].root - was + root);
    for (const FunctionStmt* stmt : run.executed) note_reached(stmt);
    run.begin = record_.steps;
    record_.steps += run.steps;
  }
  for (std::size_t i = 0; i < unit.root_runs.size(); ++i) {
    unit.root_runs[i].root = i;
    unit.root_runs[i].facts = begins[i];
  }
  unit.roots[1] = record_.roots.size();
  unit.facts[1] = record_.facts.size();
  unit.steps = record_.steps - begin;
  unit.out_of_budget = std::ranges::any_of(unit.root_runs, &RootRun::cut);
  record_.out_of_budget = record_.out_of_budget || unit.out_of_budget;
  run_.default_device_set_ = unit.device_after;
  unit.doubtful = std::ranges::any_of(unit.root_runs, &RootRun::doubtful);
}

bool IncrementalRun::is_kept_for_methods(const Unit& unit) const {
  return unit.object && !unit.built && !replay_.changed.bodies.empty() && !differs(unit.used) &&
      unit.roots[1] - unit.roots[0] == unit.root_runs.size() && !unit.ran(0, replay_.changed);
}

void IncrementalRun::on_kept_object(const Unit& unit, values::Class& cls, const std::function<void()>& run) {
  Speculation made(run_);
  heap().apply(unit.made);
  for (const Cond condition : unit.learned) symbols().assume(condition);
  const bool prepared = run_.roots_->prepares_tests(cls);
  run_.casts_ += prepared;
  run();
  run_.casts_ -= prepared;
  made.keep_new_objects();
}

bool IncrementalRun::run_methods_again(Unit& unit, values::Class& cls) {
  if (!is_kept_for_methods(unit)) return false;
  const std::uint64_t begin = record_.steps;
  const std::size_t reached = replay_.reached.size();
  std::map<std::size_t, RootAgain> again;
  bool all = true;
  on_kept_object(unit, cls, [&] {
    for (std::size_t i = 1; i < unit.root_runs.size() && all && !record_.cancelled; ++i) {
      if (!unit.ran(i, replay_.changed)) continue;
      auto one = run_method_again(unit, i, cls);
      record_.steps = begin;
      all = one.has_value();
      if (all) again.emplace(i, std::move(*one));
    }
  });
  if (!all) {
    forget_reached(reached);
    return false;
  }
  put_roots(unit, again, begin);
  return true;
}

bool IncrementalRun::run_focus_again(values::Class& cls, const values::Function& method) {
  const auto kept = replay_.old_units.find({cls.stmt, false});
  if (kept == replay_.old_units.end() || !is_kept_for_methods(kept->second)) return false;
  Unit& unit = kept->second;
  std::optional<RootAgain> again;
  on_kept_object(unit, cls, [&] {
    for (std::size_t i = 1; i < unit.root_runs.size() && !again; ++i)
      if (unit.root_runs[i].called == &method) again = run_method_again(unit, i, cls);
  });
  if (!again) return false;
  record_.roots.push_back(std::move(again->root));
  record_.facts.insert(record_.facts.end(), again->facts.begin(), again->facts.end());
  return true;
}

}  // namespace stepzero::interpreter
