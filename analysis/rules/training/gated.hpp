// Operations of a scaler at every micro-batch whose steps are made only now and then: an accumulation, or
// steps that are skipped. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

struct Gated {
  const TrainingRoot* training_root = nullptr;
  const OperationEvent* event = nullptr;  // made in every iteration
  const OperationEvent* step = nullptr;   // made in some
  std::string condition;                  // of the step, in words; empty if nobody could say it
  bool certain = false;                   // one of the first iterations makes no step, whatever is not known
  bool by_data = false;                   // what an iteration computes decides, not its number
};
// Operations of the kind, an unscale or an update, in loops that make the steps of the same scaler under a
// condition.
std::vector<Gated> gated_steps(const Record& record, const Training& training, values::Operation operation);

// "scaler.step(optimizer)": a call as the program writes it, shortened.
std::string record_call(const Record& record, const OperationEvent& event);

}  // namespace stepzero::rules
