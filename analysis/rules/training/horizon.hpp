// How many steps a schedule of learning rates is made for, and how many it makes. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

#include <optional>
#include <set>
#include <vector>

namespace stepzero::rules {

// The steps after which a schedule does something, or ends.
struct Marks {
  enum class Of : std::uint8_t {
    none,
    total,    // the number of all its steps
    period,   // half of its swing, which goes on after it
    changes,  // where it changes
    factor,   // what the program's own function compares the step with, or divides it by
  };
  Of of = Of::none;
  std::vector<symbolic::Int> at;
  bool raises = false;  // beyond its total
  bool ends = false;    // there is nothing after its total: it is no warm-up
};
Marks marks_of(const Record& record, const OperationEvent& made);

// An integer, or what was used as one; null if it is none.
symbolic::Int as_size(values::Value value);
// How many iterations a loop has, as far as that can be said; null if it cannot.
symbolic::Int length_of(const Record& record, const interpreter::LoopEvent& loop);
// How many rounds the innermost loops around the operations have in all; null if that is not known.
symbolic::Int rounds_around(const Record& record, const std::vector<const TrainingEvent*>& operations);

// How often a run makes an operation in the loops around it, but for those that are run iteration by
// iteration; nothing where the number of iterations of one of them is not known, or one may be left early.
std::optional<std::int64_t> times_made(const Record& record, const TrainingEvent& event);

// Are they equal for ordinary values of what they are made of? A range has max(0, n) iterations.
bool same_size(const Record& record, symbolic::Int a, symbolic::Int b);
// The same from the first one on: what is left of the epochs of a job that goes on has as many fewer as are
// done.
bool same_size_at_first(const Record& record, symbolic::Int size, symbolic::Int left);
std::set<symbolic::Int> atoms_of(const Record& record, symbolic::Int size);

}  // namespace stepzero::rules
