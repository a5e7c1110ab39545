// The stages of a pipeline that one process has, and what they keep at once.
#include "footprint/account.hpp"

#include <set>

namespace stepzero::footprint {

using interpreter::OperationEvent;

// The step of a pipeline has a backward of each stage, all at one place.
void Account::part_stages() {
  std::vector<Backward> others;
  for (const Backward& backward : backwards_) {
    const OperationEvent* pipeline = pipeline_of(pipelines_, *backward.event);
    if (!pipeline) continue;
    std::set<std::optional<std::size_t>> seen{stage_of(record_, *pipeline, *backward.event)};
    for (std::size_t i = backward.earlier.size(); i-- > 0;)
      if (const auto stage = stage_of(record_, *pipeline, *backward.earlier[i]);
          stage && seen.insert(stage).second)
        others.push_back({backward.earlier[i], backward.loop, backward.stepped, backward.times, {}});
  }
  backwards_.insert(backwards_.end(), others.begin(), others.end());
}

std::vector<StepAccount*> Account::stages_of(const StepAccount& step) {
  std::vector<StepAccount*> all(step.microbatches->stages);
  for (StepAccount& other : steps_)
    if (other.microbatches && other.microbatches->step == step.microbatches->step &&
        other.microbatches->stage < all.size())
      all[other.microbatches->stage] = &other;
  return all;
}

// What those keep that are on their way at once on the stages of this process.
void Account::add_other_microbatches() {
  symbolic::Context& s = record_.symbols;
  std::vector<Bytes> each, whole;
  for (const StepAccount& step : steps_) {
    each.push_back(step.microbatches ? kept_by_each(*step.microbatches, *step.graph, step.savings) : Bytes{});
    whole.push_back(step.saved);
  }
  for (StepAccount& step : steps_) {
    if (!step.microbatches || !step.microbatches->known) continue;
    Microbatches& own = *step.microbatches;
    const std::vector<StepAccount*> stages = stages_of(step);
    std::vector<std::int64_t> bytes;
    bytes.reserve(stages.size());
    for (const StepAccount* stage : stages)
      bytes.push_back(stage ? number(each[static_cast<std::size_t>(stage - steps_.data())]) : 0);
    own.in_flight = in_flight_at_most(own.turns, own.stage, bytes);
    for (std::size_t i = 0; i < stages.size() && i < own.in_flight.size(); ++i) {
      const std::int64_t there = own.in_flight[i];
      if (!stages[i]) {
        own.known = false;
        continue;
      }
      if (there == 0) continue;
      const auto at = static_cast<std::size_t>(stages[i] - steps_.data());
      own.others.add(s, each[at], there - 1);
      if (stages[i] != &step) own.others.add(s, whole[at]);
    }
    step.saved.add(s, own.others);
  }
}

}  // namespace stepzero::footprint
