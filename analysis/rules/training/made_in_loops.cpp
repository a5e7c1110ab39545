#include "rules/training/made_in_loops.hpp"

namespace stepzero::rules {

void visit_made_in_loops(const Record& record, values::Operation operation, const MadeInLoop& each) {
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    for (const TrainingEvent& made : training_root.all)
      if (made.event->row->operation == operation && !made.loops.empty()) each(training_root, made);
  }
}

}  // namespace stepzero::rules
