// Samplers and data sets that draw by their epoch, and whether they are told it. Part of loop/set-epoch.
#pragma once

#include "rules/training/training.hpp"

#include <optional>

namespace stepzero::rules::loop {

// The sampler that a loader reads by, and what has to hold for it to be one that has epochs:
// `DistributedSampler(d) if distributed else None`.
struct Sampler {
  Value value;
  values::Cond when = nullptr;  // null: always
  bool inside = false;          // an object of the program's own takes its samples from it
};
Sampler sampler_of(const Record& record, const OperationEvent& read);
bool is_librarys(Value value);
// The data set that a loader reads, of the program's own and seeded by the epoch that it is told.
const values::Instance* seeded_data(const Record& record, const OperationEvent& read);
// May an object that is told an epoch be the sampler, or hand it on to that? Another one that is seen does
// not.
bool may_tell(const Record& record, Value told, const values::Object* sampler, int depth = 0);
// Does the program call a method of that name anywhere but to hand it on, or to tell another object that is
// seen? What a short method of its own does leaves no trace in the run.
bool tells_epochs(const Record& record, const TrainingRoot& training_root, const values::Object* told);
// What has to hold for it to shuffle, null if it always does: by the argument `shuffle`, of a sampler of the
// program's own by what it keeps. None if it does not, or if that is unknown.
std::optional<values::Cond> shuffles(const Record& record, const TrainingEvent* made, Value sampler);

}  // namespace stepzero::rules::loop
