// Quick-fixes that the deadlock rules share. Each answers nothing where it does not see that it would be right.
#pragma once

#include "rules/deadlock/match.hpp"
#include "rules/deadlock/rank_guarded_collective.hpp"
#include "rules/source.hpp"

namespace stepzero::rules {

// The ranks that do not bind a name get a tensor of its shape.
std::vector<Fix> buffer_for_others(const Record& record, const Mismatch& mismatch);

// `torch.zeros(…)` of the shape and dtype of a tensor, written like the expression that makes it; empty if that is not known well enough.
std::string buffer_like(const Record& record, const SourceLines& source, const values::TensorState* state, const syntax::Expr& made);

} // namespace stepzero::rules
