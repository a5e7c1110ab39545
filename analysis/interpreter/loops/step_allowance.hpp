// How many steps a trial may take: one whose outcome is taken back where it takes more need not run to its
// end.
#pragma once

#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/loops/loop_runner.hpp"

#include <algorithm>

namespace stepzero::interpreter {

// While it lives, the run answers "unknown" once it has taken so many steps, as it does out of budget.
// Whoever opened it takes back what was run if it was used up: whether it was depends on the steps alone, so
// that a trial that fits is run as it would be without. One around it holds as well.
class LoopRunner::StepAllowance {
public:
  explicit StepAllowance(Interpreter& run)
      : run_(run), around_(run.trial_limit_), doubts_(run.symbols().doubts()) {}
  ~StepAllowance() {
    // What is unknown after the end is no reason to run the program with its defaults.
    if (used_up()) run_.incremental_->replay().doubts += run_.symbols().doubts() - doubts_;
    run_.trial_limit_ = around_;
  }
  StepAllowance(const StepAllowance&) = delete;
  StepAllowance& operator=(const StepAllowance&) = delete;

  // `steps`: of the whole run so far.
  void end_at(std::uint64_t steps) { run_.trial_limit_ = std::min(around_, steps); }
  bool used_up() const { return run_.record_.steps >= run_.trial_limit_; }

private:
  Interpreter& run_;
  const std::uint64_t around_;
  const std::size_t doubts_;
};

}  // namespace stepzero::interpreter
