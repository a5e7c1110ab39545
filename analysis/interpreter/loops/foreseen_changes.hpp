// What an iteration of a loop changed in a dry run of a loop around it. When the loop around is run for good,
// the loop inside begins with these changes, without a dry run of its own; the iteration that is run for good
// shows whether they are all. So the body of loops in loops is run once more, not once more for each of them.
//
// Nothing is proven by what is foreseen. Nothing of it is kept beyond the outermost loop: what becomes of a
// part of the program depends on no part that was run before.
#pragma once

#include "interpreter/frame.hpp"
#include "interpreter/loops/reachable_things.hpp"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stepzero::interpreter {

struct LoopShape;

class ForeseenChanges {
public:
  struct Change {
    values::Slot* slot = nullptr;
    Value end;             // what the iteration left in it; absent: what was in it
    bool carries = false;  // that is a tensor with a graph
    bool has_history = false;
  };
  struct Iteration {
    std::vector<Change> changes;
    std::vector<const ProblemEvent*> failures;  // that are sure
    std::uint64_t began = 0;                    // what was made later was made in it
  };

  // A dry run that lies in no other begins at the mark, and ends; so many conditions are on the path to it.
  void begin_dry_run(values::Mark mark, std::size_t path) { dry_run_ = {mark, path}; }
  void end_dry_run() { dry_run_.reset(); }
  // Of an iteration in a dry run; of others nothing is kept, nor of one with failures that only some
  // iterations of the loop around come to. The heap is as it was before it.
  void keep(const values::Heap& heap, const LoopShape& loop, const Frame& in, std::size_t path,
      Iteration iteration);
  // With the slots and objects of the present. Absent: nothing is foreseen, or what was changed is not found.
  std::optional<Iteration> of(values::Heap& heap, const LoopShape& loop, const Frame& in) const;

  // While it lives, a loop is run that lies in no other.
  class Outermost;

private:
  // Where the program has now what was there in the dry run and is gone.
  struct Kept {
    Iteration iteration;
    std::unordered_map<const values::Slot*, ReachableThings::Path> slots;
    std::unordered_map<const values::Object*, ReachableThings::Path> objects;
  };
  using Loops = std::unordered_map<std::uint64_t, Kept>;  // by place and calls

  struct DryRun {
    values::Mark since;  // what was made later is gone at its end
    std::size_t path;
  };
  std::optional<DryRun> dry_run_;
  Loops loops_;
};

class ForeseenChanges::Outermost {
public:
  explicit Outermost(ForeseenChanges& of) : of_(of) { std::swap(of_.loops_, around_); }
  ~Outermost() { std::swap(of_.loops_, around_); }
  Outermost(const Outermost&) = delete;
  Outermost& operator=(const Outermost&) = delete;

private:
  ForeseenChanges& of_;
  Loops around_;
};

}  // namespace stepzero::interpreter
