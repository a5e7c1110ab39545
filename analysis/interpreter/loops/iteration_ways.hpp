// The ways through an iteration that was run: which lead out of the loop, and which of them communicate.
#pragma once

#include "interpreter/events.hpp"
#include "symbolic/expression.hpp"

namespace stepzero::interpreter {

// Does a path lead out of the loop whose iteration the block is? A way out of a function or of a loop inside
// leads back into it.
bool leaves_the_loop(const Block& iteration, bool in_function = false, bool in_loop = false);

// The branch under which, or after whose `continue`, everything lies that the iteration sends or enters;
// null: there is none.
const BranchEvent* only_communicating_branch(const Block& iteration);

// `if i >= n: break` at the top of an iteration, by its number.
struct EarlyEnd {
  const BranchEvent* asked = nullptr;  // null: there is none
  bool yes = false;                    // the side that leaves
  symbolic::Int count = nullptr;       // of the iterations before it
};
EarlyEnd early_end(symbolic::Context& symbols, const Block& iteration, symbolic::Int number);

}  // namespace stepzero::interpreter
