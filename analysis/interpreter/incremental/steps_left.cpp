// With how many steps a root may be begun and still be run as it was: where those before it took more or
// fewer, the budget of the whole run leaves it others.
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"

#include <algorithm>

namespace stepzero::interpreter {

std::uint64_t IncrementalRun::steps_of_root(std::uint64_t begin) const {
  return std::min(run_.limits_.root_steps, run_.limits_.steps - std::min(run_.limits_.steps, begin));
}

void IncrementalRun::note_steps_left(std::uint64_t least, std::uint64_t most) {
  if (!unit_ || unit_->root_runs.empty()) return;
  RootRun& run = unit_->root_runs.back();
  if (run_.step_limit_ != run.begin + run.allowance) return;  // a module is imported, with steps of its own
  const std::uint64_t taken = record_.steps - run.begin;
  run.least = std::max(run.least, taken + least);
  if (most < RunState::unlimited_steps) run.most = std::min(run.most, taken + most);
}

void IncrementalRun::note_steps_taken(RootRun& run) const {
  if (run.cut || run.steps >= run.allowance)
    run.least = run.most = run.allowance;
  else
    run.least = std::max(run.least, run.steps + 1);
}

bool IncrementalRun::allows(const RootRun& run, std::uint64_t begin) const {
  const std::uint64_t steps = steps_of_root(begin);
  return run.least <= steps && steps <= run.most;
}

bool IncrementalRun::allows(const Unit& unit) const {
  return unit.begin == record_.steps || std::ranges::all_of(unit.root_runs, [&](const RootRun& run) {
    return allows(run, record_.steps + (run.begin - unit.begin));
  });
}

}  // namespace stepzero::interpreter
