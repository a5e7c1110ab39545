// Quick-fixes that several ranks' going on depends on: edits after which all of them enter what one enters.
// Each answers nothing where it does not see that it would be right.
#pragma once

#include "rules/deadlock/rank_guarded_collective.hpp"
#include "rules/ranks/comparison.hpp"
#include "rules/source.hpp"

namespace stepzero::rules {

// What decides is agreed on by all_reduce in front of the `if`: all ranks go the way that one goes.
std::vector<Fix> agree_first(const Report& report, const Mismatch& mismatch);
// The ranks that leave enter the collective first, if it is the only one that they miss and it carries
// nothing.
std::vector<Fix> enter_before_leaving(const Report& report, const Mismatch& mismatch);
std::vector<Fix> leave_together(const Report& report, const Mismatch& mismatch);  // either
// A send and a receive on two lines become one batch; where both have one peer, the lower rank may send first
// instead.
std::vector<Fix> exchange_at_once(const Report& report, const Mismatch& mismatch);
// A process group is made outside the guard.
std::vector<Fix> make_group_on_all(const Report& report, const Mismatch& mismatch);
// The ranks that do not bind a name get a tensor of its shape.
std::vector<Fix> buffer_for_others(const Report& report, const Mismatch& mismatch);
// The ranks that run out of batches join those that have some.
std::vector<Fix> join_loop(const Report& report, const Mismatch& mismatch);
// The loader leaves out the last batch, where that gives all ranks as many.
std::vector<Fix> drop_last_batch(const Report& report, const Mismatch& mismatch);
// Loops whose iterations differ: these, or the ranks that leave by a condition agree on it.
std::vector<Fix> as_many_iterations(const Report& report, const Mismatch& mismatch);
// The module inside the wrapper is called, which does not communicate.
std::vector<Fix> call_module_inside(const Record& record, const Guarded& guarded, Place seen);

// `torch.zeros(…)` of the shape and dtype of a tensor, written like the expression that makes it; empty if
// that is not known well enough.
std::string buffer_like(const Record& record, const SourceLines& source, const values::TensorState* state,
    const syntax::Expr& made);

}  // namespace stepzero::rules
