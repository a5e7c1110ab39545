// What every iteration of a training loop does, for rules about memory and speed: they speak of nothing else.
// Knows no rule.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

// A loop whose iterations make a backward and a step: the innermost that has both.
struct TrainingLoop {
  const TrainingRoot* training_root = nullptr;
  const interpreter::LoopEvent* loop = nullptr;
  const TrainingEvent* backward = nullptr;
  const TrainingEvent* step = nullptr;
  // Of a loop that is run iteration by iteration: the operations that every iteration makes, by place.
  std::set<std::pair<std::uint32_t, std::uint32_t>> everywhere;
};
// Those in which a framework takes a part that leaves clearing and stepping to the program only if asked for.
std::vector<TrainingLoop> training_loops(const Training& training, bool beside_frameworks = false);

// Does each iteration come to the operation? Not what follows an interval, in a handler, or in an
// evaluation without gradients.
bool in_every_iteration(const Record& record, const TrainingLoop& training, const TrainingEvent& each);
// Are gradients recorded where the operation stands?
bool records_gradients(const Record& record, const OperationEvent& event);

// The known truth of a value: yes, no, or not known.
Answer truth(const Record& record, Value value);
// A device by its value ("cuda:0", torch.device("cpu")): its text; empty if it is not known.
std::string_view device_text(Value value);
bool on_host(const values::TensorState* state);    // known to be
bool on_device(const values::TensorState* state);  // known to be on one that computes besides the CPU
// The program's own text of a place, cut short; empty if it spans lines.
std::string source_excerpt(const Record& record, Place place);

}  // namespace stepzero::rules
