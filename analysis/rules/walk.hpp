// The possible runs of a recorded block, process by process, as long as nothing is raised by surprise. A
// condition about ranks is decided by who the process is; every other condition is one choice, made alike by
// all processes unless it is known or feared to differ among them. Knows no rule: it turns the tree of events
// into sequences of operations.
#pragma once

#include "interpreter/record.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace stepzero::rules {

// One process of a small job on one node.
struct Process {
  int rank = 0;
  int world = 1;
};

// Does it ask whether there is a process group? Who communicates has one.
bool asks_for_group(const interpreter::Record& record, values::Cond condition);

// What the process alone makes of a condition; unknown where that takes more than who it is.
symbolic::Answer decided_by(const interpreter::Record& record, values::Cond condition, Process process);

// A branch on the way to an operation, and the side that was taken.
struct Turn {
  const interpreter::BranchEvent* branch = nullptr;
  bool yes = false;
};

struct Step {
  const interpreter::OperationEvent* event = nullptr;
  std::vector<Turn> turns;  // outermost first
};

// What the processes do in one possible run; by process.
using Run = std::vector<std::vector<Step>>;

struct Walk {
  // Which operations matter. Branches without any of them, and without an exit that skips some, are not
  // explored.
  std::function<bool(const interpreter::OperationEvent&)> wanted;
  // Branches whose sides do the same, as far as it matters: one is followed, and the condition stays open.
  // Null: none.
  std::function<bool(const interpreter::BranchEvent&)> is_equivalent = {};
  // Choices that are explored at most; beyond, `explore` answers false.
  std::size_t limit = 512;
};

// Calls `each` for the possible runs of the block by the given processes. False if there are too many to
// explore.
bool explore(const interpreter::Record& record, const interpreter::Block& block,
    const std::vector<Process>& processes, const Walk& walk, const std::function<void(const Run&)>& each);

}  // namespace stepzero::rules
