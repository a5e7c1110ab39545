// Evaluations: what runs a model over many batches without training it. Knows no rule.
#pragma once

#include "rules/loop/training.hpp"

namespace stepzero::rules {

// Does the call set the mode of a module, and to evaluation?
bool sets_mode(const OperationEvent& event);
bool sets_eval(const Record& record, const OperationEvent& event);

struct Evaluation {
  const Scene* scene = nullptr;
  const Happening* forward = nullptr;          // the call of the model, in a loop that trains nothing
  const interpreter::LoopEvent* loop = nullptr;  // the outermost such loop around it
  const OperationEvent* mode = nullptr;        // what last set the model's mode before; null if nothing did
  bool evaluates = false;                      // it did so to evaluation
};
std::vector<Evaluation> evaluations(const Record& record, const Training& training);

} // namespace stepzero::rules
