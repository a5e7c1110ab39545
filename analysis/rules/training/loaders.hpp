// Which loader a training loop reads, how it was made and what of. Knows no rule.
#pragma once

#include "rules/training/training_loops.hpp"
#include "values/kept.hpp"

namespace stepzero::rules {

// A loader that a training loop reads iteration by iteration.
struct Reading {
  const TrainingLoop* training = nullptr;
  const OperationEvent* made = nullptr;  // its constructor
  std::vector<const OperationEvent*>
      reads;  // where it is asked for batches: in front of the iterations, and in each
  Value loader() const { return made->self; }
};
std::vector<Reading> readings(const std::vector<TrainingLoop>& loops);
// Of the loader whose batches the size is computed from, in whatever loop; that is left open.
std::optional<Reading> reading_of(
    const Record& record, const TrainingRoot& training_root, symbolic::Int size);

// What an object keeps; absent if nothing.
Value kept(Value object, values::AttributeKey name);
// The data sets after a loader or a data set, outermost first: a Subset's own comes after it.
std::vector<Value> datasets_of(Value loader);
// How many processes a loader reads with: the number that is given, or the default of what the command line
// or a caller gives.
struct Workers {
  std::int64_t count = 0;
  bool by_default = false;
};
std::optional<Workers> workers_of(const Record& record, const OperationEvent& made);
// The size of the last batch, where it is known to be smaller than the others.
struct LastBatch {
  std::vector<symbolic::Int> batches;  // each stands for the size of any batch
  std::int64_t size = 0, others = 0, samples = 0;
  std::string by_default;  // " with the default of args.batch_size": others may be another number
};
// A size for batches of so many; what has a default is that. Nothing if it is not known.
std::optional<std::int64_t> size_for(
    const Record& record, const LastBatch& last, symbolic::Int size, std::int64_t batch);
std::optional<LastBatch> last_batch(const Record& record, const Reading& reading);
// May the loop whose iteration it is be left before its last iteration?
bool is_left_early(const interpreter::Block& iteration, bool inner = false);

}  // namespace stepzero::rules
