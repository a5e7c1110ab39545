#include "footprint/microbatches.hpp"

#include "footprint/order.hpp"
#include "libraries/table/class_roles.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::footprint {

using values::Kind;

bool is_pipeline_step(const Record& record, const interpreter::OperationEvent& event) {
  return libraries::steps_pipeline(*event.row) && event.self.is(Kind::instance) &&
      attribute(record, *event.self.as<Instance>(), values::PipelineState::microbatches);
}

std::string uncounted_in(const Record& record, const interpreter::OperationEvent& event) {
  const Instance& schedule = *event.self.as<Instance>();
  const Value stage = attribute(record, schedule, "_stage");
  if (!stage.is(Kind::instance)) {
    const std::string_view path = schedule.native ? schedule.native->path : std::string_view{};
    const std::string_view type = path.substr(path.rfind('.') + 1);
    return "what microbatches keep on the stages of " +
        (type.empty() ? "this schedule" : "`" + std::string(type) + "`");
  }
  const auto index = record.number(attribute(record, *stage.as<Instance>(), "stage_index"));
  if (index && *index > 0 && !attribute(record, *stage.as<Instance>(), "inputs_meta"))
    return "what the stage before sends, which has no `input_args`, and so what a step keeps";
  return "what a step of the pipeline keeps";
}

std::optional<Microbatches> microbatches_of(const Record& record,
    const std::vector<const interpreter::OperationEvent*>& pipelines,
    const interpreter::OperationEvent& backward) {
  for (const interpreter::OperationEvent* event : pipelines) {
    if (!(event->place == backward.place) || !same_way(event->calls, backward.calls)) continue;
    const Instance& schedule = *event->self.as<Instance>();
    const Value stage = attribute(record, schedule, "_stage");
    const auto all = record.number(attribute(record, schedule, values::PipelineState::microbatches)),
               stages = stage.is(Kind::instance)
        ? record.number(attribute(record, *stage.as<Instance>(), "num_stages"))
        : std::nullopt,
               index = stage.is(Kind::instance)
        ? record.number(attribute(record, *stage.as<Instance>(), "stage_index"))
        : std::nullopt;
    Microbatches made;
    if (!all || !stages || !index) {
      made.known = false;
      return made;
    }
    made.all = *all;
    made.is_first = *index == 0;
    made.is_last = *index + 1 == *stages;
    // One that runs each backward as soon as it can has as many as there are stages after it, and its own.
    made.in_flight =
        is_a(schedule, "torch.distributed.pipelining.Schedule1F1B") ? std::min(*all, *stages - *index) : *all;
    return made;
  }
  return std::nullopt;
}

Bytes kept_in_flight(const Microbatches& of, const Graph& graph, const std::vector<Saving>& savings) {
  Bytes made;
  std::unordered_set<const void*> computed;  // by each of them anew; its part of the batch is a view
  for (const Node& node : graph.nodes()) {
    computed.insert(node.made);
    // What the stage before sent.
    for (const TensorState* state : node.made->states)
      if (state && !of.is_first && !graph.base(*state).made && !graph.held(*state) &&
          state->requires_grad == values::Known::yes)
        computed.insert(identity(&graph.base(*state)));
  }
  std::unordered_set<Storage, StorageHash> seen;
  for (const Saving& saving : savings)
    for (const Saved& each : saving.kept)
      if (!each.held && computed.contains(each.storage.owner) && seen.insert(each.storage).second)
        made.add(graph.record().symbols, each.bytes, of.in_flight - 1);
  return made;
}

// Each stage has a buffer for the gradient of each microbatch that the next one sends, and keeps the results
// of those in flight.
void add_pipeline(const Microbatches& of, const Graph& graph, const std::vector<Saving>& savings,
    const interpreter::OperationEvent& backward, StandingMemory& standing) {
  standing.during.push_back({"kept for other microbatches", kept_in_flight(of, graph, savings)});
  if (of.is_last) return;
  Bytes buffers;
  buffers.add(graph.record().symbols, graph.bytes(*backward.self_state()), of.all + of.in_flight - 1);
  standing.during.push_back({"results and gradients of microbatches", buffers});
}

}  // namespace stepzero::footprint
