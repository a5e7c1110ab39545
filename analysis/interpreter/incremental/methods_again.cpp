// The methods of a class that ran a body which an edit changed, run again on the object that they were run on
// before. See replay.hpp.
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/roots/root_runner.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
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

bool is_integer(const values::Unknown& unknown) { return unknown.integer && !unknown.only_compared; }

std::unordered_set<values::Unknown*> integers(std::span<values::Unknown* const> asked) {
  std::unordered_set<values::Unknown*> found;
  for (values::Unknown* unknown : asked)
    if (is_integer(*unknown)) found.insert(unknown);
  return found;
}

// The unknowns that a method and those after it were the first to take for integers, as it found them.
class NotYetNumbers {
public:
  explicit NotYetNumbers(std::span<values::Unknown* const> asked) {
    for (values::Unknown* unknown : asked)
      if (is_integer(*unknown)) {
        unknown->only_compared = true;
        were_.push_back(unknown);
      }
  }
  ~NotYetNumbers() {
    for (values::Unknown* unknown : were_) unknown->only_compared = false;
  }
  NotYetNumbers(const NotYetNumbers&) = delete;
  NotYetNumbers& operator=(const NotYetNumbers&) = delete;

private:
  std::vector<values::Unknown*> were_;
};

}  // namespace

// What the run of one method left, with the functions that it makes and hands out: a group of roots.
struct IncrementalRun::RootsAgain {
  std::vector<std::unique_ptr<Root>> roots;
  std::vector<Fact> facts;
  std::size_t index = 0;  // of the first root, as the facts name it
  std::vector<RootRun> runs;
};

std::size_t Unit::end_of_group(std::size_t method) const {
  std::size_t end = method + 1;
  while (end < root_runs.size() && root_runs[end].of_built) ++end;
  return end;
}

bool Unit::group_ran(std::size_t method, const Changed& changed) const {
  for (std::size_t i = method; i < end_of_group(method); ++i)
    if (ran(i, changed)) return true;
  return false;
}

std::optional<IncrementalRun::RootsAgain> IncrementalRun::run_method_again(
    Unit& unit, std::size_t nth, values::Class& cls) {
  const RootRun& before = unit.root_runs[nth];
  const std::size_t end = unit.end_of_group(nth);
  const RootRun& last_before = unit.root_runs[end - 1];
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
  const std::size_t numbers = replay_.numbers.size(),
                    numbers_after = end < unit.root_runs.size() ? unit.root_runs[end].numbers
                                                                : unit.numbers_after;
  const std::vector<values::Unknown*> asked_since(
      replay_.numbers.begin() + static_cast<std::ptrdiff_t>(before.numbers),
      replay_.numbers.begin() + static_cast<std::ptrdiff_t>(unit.numbers_after));
  const std::unordered_set<values::Unknown*> asked_before = integers(
      std::span(asked_since).first(numbers_after - before.numbers));
  const NotYetNumbers as_then(asked_since);
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
  const bool is_group = !record_.cancelled && record_.steps < run_.limits_.steps && !made.root_runs.empty() &&
      record_.roots.size() == roots + made.root_runs.size() &&
      made.end_of_group(0) == made.root_runs.size() && run_.roots_->built_.size() == built &&
      run_.roots_->built_runs_ == built_runs;
  const std::unordered_set<values::Unknown*> asked = integers(std::span(replay_.numbers).subspan(numbers));
  replay_.numbers.resize(numbers);
  std::optional<RootsAgain> again;
  if (is_group && asked == asked_before) {
    const RootRun& last = made.root_runs.back();
    if (last.switched_after == last_before.switched_after &&
        runs_of_file(&before, &last_before + 1) == runs_of_file(&made.root_runs.front(), &last + 1) &&
        kinds_written(before.writes, last_before.writes_after) ==
            kinds_written(made.root_runs.front().writes, last.writes_after))
      again = RootsAgain{{std::make_move_iterator(record_.roots.begin() + static_cast<std::ptrdiff_t>(roots)),
                             std::make_move_iterator(record_.roots.end())},
          {record_.facts.begin() + static_cast<std::ptrdiff_t>(facts), record_.facts.end()}, roots,
          std::move(made.root_runs)};
  }
  record_.roots.resize(roots);
  record_.facts.resize(facts);
  return again;
}

// Which other functions are run by themselves hangs on what of the file these run. Functions of modules that
// a method was the first to import ran that one time only; what a function defines within it is its own.
std::unordered_set<const FunctionStmt*> IncrementalRun::runs_of_file(
    const RootRun* first, const RootRun* after) const {
  std::unordered_set<const FunctionStmt*> own;
  for (const RootRun* run = first; run != after; ++run)
    for (const FunctionStmt* stmt : run->executed) {
      const auto changed = replay_.changed.bodies.find(stmt);
      const FunctionStmt* const now = changed == replay_.changed.bodies.end() ? stmt : changed->second;
      if (const auto known = run_.functions_.find(now); known != run_.functions_.end())
        if (const values::Function& function = *known->second;
            function.owner || !function.closure || function.closure->globals == function.closure)
          own.insert(now);
    }
  return own;
}

void IncrementalRun::put_roots(Unit& unit, std::map<std::size_t, RootsAgain>& again, std::uint64_t begin) {
  const std::size_t old_root = unit.roots[0], old_facts = unit.facts[0],
                    all_facts = unit.facts[1] - unit.facts[0];
  unit.roots[0] = record_.roots.size();
  unit.facts[0] = record_.facts.size();
  unit.default_roots[0] = unit.default_roots[1] = record_.default_roots.size();
  unit.begin = record_.steps = begin;
  unit.built_before = run_.roots_->built_runs_;
  std::vector<RootRun> runs;
  const auto put = [&](RootRun run, std::size_t first_fact) {
    for (const FunctionStmt* stmt : run.executed) note_reached(stmt);
    run.root = runs.size();
    run.facts = first_fact - unit.facts[0];
    run.begin = record_.steps;
    record_.steps += run.steps;
    runs.push_back(std::move(run));
  };
  for (std::size_t i = 0; i < unit.root_runs.size();) {
    const std::size_t to = record_.facts.size(), root = record_.roots.size();
    std::size_t was = old_root + unit.root_runs[i].root;
    if (const auto fresh = again.find(i); fresh != again.end()) {
      was = fresh->second.index;
      for (auto& each : fresh->second.roots) record_.roots.push_back(std::move(each));
      record_.facts.insert(record_.facts.end(), fresh->second.facts.begin(), fresh->second.facts.end());
      for (RootRun& run : fresh->second.runs) {
        run.numbers = unit.root_runs[i].numbers;
        const std::size_t facts = to + run.facts;
        put(std::move(run), facts);
      }
      i = unit.end_of_group(i);
    } else {
      RootRun& run = unit.root_runs[i];
      const std::size_t end = i + 1 < unit.root_runs.size() ? unit.root_runs[i + 1].facts : all_facts;
      record_.roots.push_back(std::move(replay_.old_roots[was]));
      const auto facts = replay_.old_facts.begin() + static_cast<std::ptrdiff_t>(old_facts);
      record_.facts.insert(record_.facts.end(), facts + static_cast<std::ptrdiff_t>(run.facts),
          facts + static_cast<std::ptrdiff_t>(end));
      put(std::move(run), to);
      ++i;
    }
    for (std::size_t j = to; j < record_.facts.size(); ++j)
      record_.facts[j].root = static_cast<std::uint32_t>(record_.facts[j].root - was + root);
  }
  unit.root_runs = std::move(runs);
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
  std::map<std::size_t, RootsAgain> again;
  bool all = true;
  on_kept_object(unit, cls, [&] {
    for (std::size_t i = 1; i < unit.root_runs.size() && all && !record_.cancelled;
        i = unit.end_of_group(i)) {
      if (!unit.group_ran(i, replay_.changed)) continue;
      auto one = run_method_again(unit, i, cls);
      record_.steps = begin;
      all = one.has_value();
      if (all) again.emplace(i, std::move(*one));
    }
  });
  // Those that are longer or shorter than before move the others.
  std::uint64_t at = begin;
  const auto allowed = [&](const RootRun& run) { return allows(run, std::exchange(at, at + run.steps)); };
  for (std::size_t i = 0; i < unit.root_runs.size() && all;) {
    const auto fresh = again.find(i);
    all = fresh == again.end() ? allowed(unit.root_runs[i])
                               : std::ranges::all_of(fresh->second.runs, allowed);
    i = fresh == again.end() ? i + 1 : unit.end_of_group(i);
  }
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
  std::optional<RootsAgain> again;
  on_kept_object(unit, cls, [&] {
    for (std::size_t i = 1; i < unit.root_runs.size() && !again; i = unit.end_of_group(i))
      if (unit.root_runs[i].called == &method) again = run_method_again(unit, i, cls);
  });
  if (!again) return false;
  for (auto& each : again->roots) record_.roots.push_back(std::move(each));
  record_.facts.insert(record_.facts.end(), again->facts.begin(), again->facts.end());
  return true;
}

}  // namespace stepzero::interpreter
