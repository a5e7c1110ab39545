// Which objects of a training root are optimizers: those that the program makes, those that it uses as one,
// and several to choose from, of which it has one. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

// Of several optimizers to choose from (`SGD(…) if args.sgd else Adam(…)`) one comes to stand for all, in all
// that is done with them.
void replace_choices(TrainingRoot& training_root, std::vector<std::unique_ptr<OperationEvent>>& copies);
void find_optimizers(const Record& record, TrainingRoot& training_root);

}  // namespace stepzero::rules
