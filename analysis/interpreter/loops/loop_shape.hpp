// What is known of the iterations of a loop. Shared by the files of LoopRunner that run loops and
// comprehensions.
#pragma once

#include "interpreter/interpreter.hpp"
#include "values/kept.hpp"

namespace stepzero::interpreter {

// The name under which a generator's variables say how many values it gives.
inline const syntax::Name yielded_name{values::EngineNotes::yielded};

constexpr std::size_t max_unrolled = 512;  // iterations that are run one by one

// A loop of which any one iteration stands for all.
struct LoopShape {
  const syntax::Stmt* stmt = nullptr;  // null for a comprehension
  Place place;
  Sharing trips = Sharing::uniform;
  bool endless = false;  // left by break only
  Int length = nullptr;  // of what is iterated over, if it is known
  bool any_order = false;
  bool counted = false;      // the first dry run has an iteration of the first number, too
  std::vector<Block> first;  // iterations that are known one by one
};

// One of the elements as it is for an iteration: a size of a tensor that only this element need have is the
// same wherever the iteration meets it.
Value for_an_iteration(values::Heap& heap, Value element, int depth = 0);
// Does every iteration leave a tensor with a history there?
bool has_history(Value value, int depth = 0);
// What an earlier iteration of one loop left in a slot gets the mark of that loop: what is computed from it
// has it, too.
bool mark_carried(values::Heap& heap, const values::Object* earlier, const values::Object* mark, Value value,
    int depth = 0);
// What fails in every first iteration of a loop that the block was run for: nothing on the way to it depends
// on a condition.
void failures_of_first_iteration(const Block& block, std::vector<const ProblemEvent*>& found);

// Lists or dicts by a condition that the ranks agree on, of which one holds each rank's own and the other
// what they share: what is made of the two is not mixed. Null: it is none.
const values::Choice* either_unlike(Interpreter& run, Value iterable);

// Does anything in the block send, receive or enter a collective?
bool communicates(const Block& block);

}  // namespace stepzero::interpreter
