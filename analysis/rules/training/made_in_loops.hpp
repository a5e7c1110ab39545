// What a loop makes anew, in roots of which all is known. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

#include <functional>

namespace stepzero::rules {

using MadeInLoop = std::function<void(const TrainingRoot& training_root, const TrainingEvent& made)>;
void visit_made_in_loops(const Record& record, values::Operation operation, const MadeInLoop& each);

}  // namespace stepzero::rules
