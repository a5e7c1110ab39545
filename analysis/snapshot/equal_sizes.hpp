// Sizes that are equal by chance: the file is run with another number for one of them, and what fails only
// there was right because they are equal.
#pragma once

#include "interpreter/record.hpp"
#include "program/sources.hpp"
#include "rules/finding.hpp"
#include "snapshot/run_cache.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace stepzero::snapshot {

// An operation that succeeds only because a number of the text is as it is.
struct EqualByChance {
  std::shared_ptr<const Run> run;                      // with the other number
  const interpreter::ProblemEvent* problem = nullptr;  // of that run
  rules::Location number;                              // in the text
  std::int64_t as_written = 0, other = 0;
  bool by_defaults = false;  // the run is the one where the command line gives nothing
  bool is_batch = false;     // it says how many samples there are at once; else, how long they are
};

// Runs the statements of the file with other numbers, within so many steps; with the defaults of the command
// line, or whatever it gives.
using RunWithNumbers = std::function<std::shared_ptr<const Run>(
    const interpreter::OtherNumbers& numbers, bool by_defaults, std::uint64_t steps)>;

// `records`: the file's own run, and the one with defaults where there is one, which the others are held
// against. Of programs that say no number twice, and of long ones, nothing is run.
std::vector<EqualByChance> equal_by_chance(const std::vector<const interpreter::Record*>& records,
    const program::Sources& sources, const RunWithNumbers& run);

// Its finding, of a rule that judged the run, as it is told: a warning that names the number.
void tell_by_chance(const EqualByChance& found, rules::Finding& finding);

}  // namespace stepzero::snapshot
