#include "footprint/microbatches.hpp"

#include "footprint/order.hpp"
#include "libraries/table/class_roles.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::footprint {

using values::Kind;

bool is_pipeline_step(const Record& record, const interpreter::OperationEvent& event) {
  return libraries::steps_pipeline(*event.row) && event.self.is(Kind::instance) &&
      attribute(record, *event.self.as<Instance>(), values::PipelineState::microbatches);
}

namespace {

std::vector<const Instance*> stages_of(const Record& record, const Instance& schedule) {
  std::vector<const Instance*> all;
  const auto add = [&](Value each) {
    each = decided(record, each);
    if (each.is(Kind::instance)) all.push_back(each.as<Instance>());
  };
  const Value several = decided(record, attribute(record, schedule, "_stages"));
  if (several.is(Kind::list))
    for (const Value& each : values::Heap::list_state(several)->items) add(each);
  else if (several.is(Kind::tuple))
    for (const Value& each : several.as<values::Tuple>()->items) add(each);
  else
    add(attribute(record, schedule, "_stage"));
  return all;
}
std::optional<std::int64_t> number_of(const Record& record, const Instance& stage, std::string_view name) {
  return record.number(attribute(record, stage, name));
}

// As the schedules of PyTorch 2.13 have it. The stages of a process are `world` apart, and it is the one of
// the first of them.
class Turns {
public:
  Turns(std::int64_t all, std::int64_t stages, std::int64_t rank, std::int64_t world)
      : all_(all), stages_(stages), rank_(rank), world_(world) {}

  std::vector<Turn> filled() {
    for (std::int64_t stage = 0; stage < stages_; ++stage) add(stage, true, all_);
    for (std::int64_t stage = stages_; stage-- > 0;) add(stage, false, all_);
    return std::move(made_);
  }
  // Each backward as soon as it can run.
  std::vector<Turn> alternating() {
    const std::int64_t first = std::min(all_, world_ - rank_);
    add(0, true, first);
    for (std::int64_t at = 0; at < all_; ++at) {
      add(0, false);
      if (at + first < all_) add(0, true);
    }
    return std::move(made_);
  }
  std::vector<Turn> interleaved() {
    const std::int64_t rounds = std::max<std::int64_t>(1, all_ / world_), in_round = all_ / rounds,
                       each = all_ * stages_;
    if (all_ % rounds != 0) return {};
    const std::int64_t first = std::min((stages_ - 1) * in_round + 2 * (world_ - 1 - rank_), each);
    for (std::int64_t at = 0; at < first; ++at) add(at / in_round % stages_, true);
    for (std::int64_t at = 0; at < each; ++at) {
      if (at + first < each) add((at + first) / in_round % stages_, true);
      add(stages_ - 1 - at / in_round % stages_, false);
    }
    return std::move(made_);
  }

private:
  void add(std::int64_t stage, bool is_forward, std::int64_t times = 1) {
    made_.insert(made_.end(), static_cast<std::size_t>(times), {static_cast<std::size_t>(stage), is_forward});
  }
  const std::int64_t all_, stages_, rank_, world_;
  std::vector<Turn> made_;
};

constexpr std::int64_t most_turns = 1 << 20;  // of all stages: no schedule of a training is longer

std::vector<Turn> turns_of(const Record& record, const Instance& schedule,
    const std::vector<const Instance*>& stages, std::int64_t all) {
  const auto count = number_of(record, *stages.front(), "num_stages");
  const auto rank = number_of(record, *stages.front(), "stage_index");
  const auto local = static_cast<std::int64_t>(stages.size());
  if (!count || !rank || *count % local != 0 || all <= 0 || all > most_turns / local) return {};
  const std::int64_t world = *count / local;
  for (std::int64_t i = 0; i < local; ++i)
    if (number_of(record, *stages[static_cast<std::size_t>(i)], "stage_index") != *rank + i * world ||
        *rank >= world)
      return {};
  Turns turns(all, local, *rank, world);
  const auto is = [&](std::string_view name) {
    return is_a(schedule, "torch.distributed.pipelining." + std::string(name));
  };
  if (is("ScheduleGPipe") || is("ScheduleLoopedBFS")) return turns.filled();
  if (is("Schedule1F1B")) return turns.alternating();
  if (is("ScheduleInterleaved1F1B")) return turns.interleaved();
  return {};
}

// Is one of what the result was computed from a part of the module?
bool is_of(const Record& record, Value module, const TensorState& result) {
  module = decided(record, module);
  if (!module.is(Kind::instance)) return false;
  for (const Module& each : tree_of(record, *module.as<Instance>()).modules) {
    if (std::ranges::find(result.graph, static_cast<const values::Object*>(each.object)) !=
        result.graph.end())
      return true;
    for (const Held& held : each.own)
      if (held.tensor &&
          std::ranges::find(result.graph, static_cast<const values::Object*>(held.tensor)) !=
              result.graph.end())
        return true;
  }
  return false;
}

}  // namespace

std::optional<std::size_t> stage_of(const Record& record, const interpreter::OperationEvent& step,
    const interpreter::OperationEvent& backward) {
  const auto stages = stages_of(record, *step.self.as<Instance>());
  if (stages.size() == 1) return 0;
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (is_of(record, attribute(record, *stages[i], "submod"), *backward.self_state())) return i;
  return std::nullopt;
}

std::string uncounted_in(const Record& record, const interpreter::OperationEvent& event) {
  const Instance& schedule = *event.self.as<Instance>();
  const auto stages = stages_of(record, schedule);
  if (stages.empty()) return "what the stages of the pipeline are";
  const auto index = number_of(record, *stages.front(), "stage_index");
  if (index && *index > 0 && !attribute(record, *stages.front(), "inputs_meta"))
    return "what the stage before sends, which has no `input_args`, and so what a step keeps";
  return "what a step of the pipeline keeps";
}

std::string unknown_turns(const Microbatches& of) {
  const Instance& schedule = *of.step->self.as<Instance>();
  const std::string_view path = schedule.native ? schedule.native->path : std::string_view{};
  const std::string type(values::last_name(path));
  return "what microbatches keep on the stages of " + (type.empty() ? "this schedule" : values::code(type));
}

const interpreter::OperationEvent* pipeline_of(
    const std::vector<const interpreter::OperationEvent*>& pipelines,
    const interpreter::OperationEvent& backward) {
  const auto found = std::ranges::find_if(pipelines, [&](const interpreter::OperationEvent* event) {
    return event->place == backward.place && same_way(event->calls, backward.calls);
  });
  return found == pipelines.end() ? nullptr : *found;
}

Microbatches microbatches_of(const Record& record, const interpreter::OperationEvent& step,
    const interpreter::OperationEvent& backward) {
  Microbatches made;
  made.step = &step;
  const Instance& schedule = *step.self.as<Instance>();
  const auto stages = stages_of(record, schedule);
  const auto all = record.number(attribute(record, schedule, values::PipelineState::microbatches));
  const auto own = stage_of(record, step, backward);
  made.known = false;
  if (stages.empty() || !all || !own) return made;
  made.all = *all;
  made.stage = *own;
  made.stages = stages.size();
  const auto count = number_of(record, *stages[*own], "num_stages"),
             index = number_of(record, *stages[*own], "stage_index");
  if (!count || !index) return made;
  made.is_first = *index == 0;
  made.is_last = *index + 1 == *count;
  made.turns = turns_of(record, schedule, stages, *all);
  made.known = !made.turns.empty();
  return made;
}

Bytes kept_by_each(const Microbatches& of, const Graph& graph, const std::vector<Saving>& savings) {
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
        made.add(graph.record().symbols, each.bytes);
  return made;
}

std::vector<std::int64_t> in_flight_at_most(
    const std::vector<Turn>& turns, std::size_t stage, const std::vector<std::int64_t>& bytes) {
  std::vector<std::int64_t> now(bytes.size()), best;
  std::int64_t sum = 0, most = -1;
  for (const Turn& turn : turns) {
    if (!turn.is_forward && turn.stage == stage && sum > most) most = sum, best = now;
    now[turn.stage] += turn.is_forward ? 1 : -1;
    sum += turn.is_forward ? bytes[turn.stage] : -bytes[turn.stage];
  }
  return best;
}

// Each stage has a buffer for the gradient of each microbatch that the next one sends, and keeps the results
// of those in flight.
void add_pipeline(const Microbatches& of, const Graph& graph, const interpreter::OperationEvent& backward,
    StandingMemory& standing) {
  standing.during.push_back({"kept for other microbatches", of.others});
  if (of.is_last) return;
  Bytes buffers;
  buffers.add(graph.record().symbols, graph.bytes(*backward.self_state()),
      of.all + (of.in_flight.empty() ? 1 : of.in_flight[of.stage]) - 1);
  standing.during.push_back({"results and gradients of microbatches", buffers});
}

}  // namespace stepzero::footprint
