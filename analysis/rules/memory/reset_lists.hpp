// Losses that are collected in a list which now and then begins anew, by the text: of two lists that a name
// may hold the run does not say which one a backward was made of, and of a loss that is not seen it has no
// history. Part of memory/retained-graph.
#pragma once

#include "rules/training/training_loops.hpp"

#include <string_view>

namespace stepzero::rules {

// Does the text of the function show that the backward has nothing of the sum, nor of what is computed from
// it?
bool is_of_another(const Record& record, std::string_view sum, Place kept, const interpreter::CallSite* calls,
    const OperationEvent& backward);
bool assigns(const syntax::Stmt& stmt, syntax::Name name);
// `losses.append(loss)` right after `loss.backward()`, to a list that now and then begins anew: two lists
// that may be one another are nothing that the run follows.
void look_for_reset_lists(const Record& record, Report& report, const TrainingLoop& training, Once& once);

}  // namespace stepzero::rules
