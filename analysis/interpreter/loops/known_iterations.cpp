#include "interpreter/loops/known_iterations.hpp"

#include "interpreter/loops/step_allowance.hpp"
#include "interpreter/paths/speculation.hpp"

#include <algorithm>

namespace stepzero::interpreter {

std::optional<Flow> LoopRunner::KnownIterations::all(
    const std::function<Next()>& next, const std::function<Flow()>& body) {
  Speculation trial(run, Speculation::Of::trial);
  const std::size_t depth = trial.depth();
  const std::uint64_t from = run.record_.steps;
  Block* const block = run.block_;
  LoopTarget target{trial.mark(), trial.mark(), depth, {}, {}};
  run.frame_->loops.push_back(&target);
  Flow flow = Flow::normal;
  bool known = true;
  StepAllowance allowance(run);
  // Who is told of messages is told of the first iteration, however long it takes.
  if (!run.limits_.as_rank || !run.limits_.as_rank->told) allowance.end_at(from + most_steps);
  while (known && !ended && flow == Flow::normal) {
    Block iteration;
    run.block_ = &iteration;
    const Next answer = next();
    if (std::exchange(run.killed_, false)) {  // it waits for what nobody sends, or fails
      flow = run.leave(ExitKind::raise, stmt, run.raised_);
      known = run.path_.size() == depth;
      iterations.push_back(std::move(iteration));
      break;
    }
    known = answer != Next::unknown;
    ended = answer == Next::none;
    if (answer == Next::another) flow = run.loops_->run_iteration(target, body, false);
    // A way out that depends on what is not known: the iterations after it may or may not be.
    known = known && run.path_.size() == depth && run.record_.steps - from < most_steps && run.step();
    if (allowance.used_up()) break;
    if (!ended || !iteration.events.empty()) iterations.push_back(std::move(iteration));
  }
  run.frame_->loops.pop_back();
  run.block_ = block;
  if (!known) return {};
  trial.commit();
  if (std::ranges::any_of(iterations, [](const Block& iteration) { return !iteration.events.empty(); })) {
    auto* event = run.record_.event<LoopEvent>();
    event->place = {run.chunk_, header};
    event->calls = run.site_;
    event->stmt = &stmt;
    event->unrolled = true;
    event->iterations = std::move(iterations);
    run.append(event);
  }
  if (flow == Flow::normal && !orelse.empty()) flow = run.run_block(orelse);
  return target.breaks.empty() ? flow : run.merge_exits(trial, target.breaks, flow, nullptr, false);
}

}  // namespace stepzero::interpreter
