// The step of a pipeline: what the microbatches take that are on their way at once on one stage.
#pragma once

#include "footprint/timeline.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepzero::footprint {

// A forward of a microbatch, or the backward that lets go of what it keeps: of one of the process's stages.
struct Turn {
  std::size_t stage = 0;
  bool is_forward = true;
};

// The backward of the step is that of one microbatch of one stage.
struct Microbatches {
  std::int64_t all = 1;
  bool known = true;                     // when which of them run
  bool is_first = true, is_last = true;  // the stage
  const interpreter::OperationEvent* step = nullptr;
  std::size_t stage = 0, stages = 1;  // among those of the process
  std::vector<Turn> turns;
  // Of each of those, when the most is kept as a backward of this one begins.
  std::vector<std::int64_t> in_flight;
  Bytes others;  // what all keep then besides the one microbatch that the graph is of
};

bool is_pipeline_step(const Record& record, const interpreter::OperationEvent& event);
// Which of the stages a backward in the step is of; nullopt: not known.
std::optional<std::size_t> stage_of(const Record& record, const interpreter::OperationEvent& step,
    const interpreter::OperationEvent& backward);
// Why nothing is counted of a pipeline's step without a backward of its own.
std::string uncounted_in(const Record& record, const interpreter::OperationEvent& event);
// … where it is not known when which of them run.
std::string unknown_turns(const Microbatches& of);
// `pipelines`: the steps of pipelines. Nullopt: the backward is no part of one.
const interpreter::OperationEvent* pipeline_of(
    const std::vector<const interpreter::OperationEvent*>& pipelines,
    const interpreter::OperationEvent& backward);
Microbatches microbatches_of(const Record& record, const interpreter::OperationEvent& step,
    const interpreter::OperationEvent& backward);
// What each keeps that the microbatches of a stage have not in common.
Bytes kept_by_each(const Microbatches& of, const Graph& graph, const std::vector<Saving>& savings);
// Of each stage, when a backward of one begins and these numbers of bytes, of a microbatch of each, are the
// most; empty: it has none.
std::vector<std::int64_t> in_flight_at_most(
    const std::vector<Turn>& turns, std::size_t stage, const std::vector<std::int64_t>& bytes);
void add_pipeline(const Microbatches& of, const Graph& graph, const interpreter::OperationEvent& backward,
    StandingMemory& standing);

}  // namespace stepzero::footprint
