// Losses that are computed from what the iterations before have left, with its history. Part of
// memory/retained-graph.
#pragma once

#include "rules/training/training_loops.hpp"

namespace stepzero::rules {

// The decisions of the program under which it happens. That there was an iteration before, by which a carried
// state is none or a tensor, is no decision.
std::size_t decisions(const TrainingEvent& each);
// Is the loss computed from what the iterations before have left? Those of a loop within, as over the layers
// of a model, are of one iteration.
bool is_of_earlier(const Record& record, const TrainingLoop& loop, const values::TensorState& loss);
// The loss of each iteration is computed from what the iterations before have left, with its history.
void look_for_second_backward(const Record& record, Report& report, const TrainingLoop& loop, Once& once);

// The backward keeps the graphs of all iterations, and goes through them.
void report_growing_graph(Report& report, const TrainingEvent& backward);

}  // namespace stepzero::rules
