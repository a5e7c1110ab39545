// The step of a pipeline: what the microbatches take that are on their way at once on one stage.
#pragma once

#include "footprint/timeline.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepzero::footprint {

// The backward of the step is that of one of them.
struct Microbatches {
  std::int64_t all = 1;
  std::int64_t in_flight = 1;            // at most, on this stage
  bool known = true;                     // how many
  bool is_first = true, is_last = true;  // the stage
};

bool is_pipeline_step(const Record& record, const interpreter::OperationEvent& event);
// Why nothing is counted of a pipeline's step without a backward of its own.
std::string uncounted_in(const Record& record, const interpreter::OperationEvent& event);
// `pipelines`: the steps of pipelines. Nullopt: the backward is no part of one.
std::optional<Microbatches> microbatches_of(const Record& record,
    const std::vector<const interpreter::OperationEvent*>& pipelines,
    const interpreter::OperationEvent& backward);
// What they keep besides the one that the graph is of.
Bytes kept_in_flight(const Microbatches& of, const Graph& graph, const std::vector<Saving>& savings);
void add_pipeline(const Microbatches& of, const Graph& graph, const std::vector<Saving>& savings,
    const interpreter::OperationEvent& backward, StandingMemory& standing);

}  // namespace stepzero::footprint
