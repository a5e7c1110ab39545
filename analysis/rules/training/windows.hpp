// Accumulation: how many backward passes of a loop come before each step of an optimizer. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

// A loop whose iterations each compute gradients of an optimizer's parameters, and step it, or clear the
// gradients, in some of them only.
struct Window {
  const TrainingRoot* training_root = nullptr;
  const interpreter::LoopEvent* loop = nullptr;
  Value optimizer;
  const TrainingEvent* backward = nullptr;
  const TrainingEvent* step = nullptr;
  const TrainingEvent* clear = nullptr;  // in the loop; null if there is none
  const syntax::IfStmt* gate =
      nullptr;  // around what is made in some iterations; null if it does not stand in the loop itself
  bool steps_always = false;  // it is the clearing that is made in some iterations only
  bool clears_always =
      false;              // each iteration throws away what the iterations before have added, stepped or not
  std::int64_t size = 0;  // iterations from one to the next
  bool size_known = false;                       // else it stands for a number that the program does not say
  std::optional<std::int64_t> first;             // iterations until the first
  std::optional<std::int64_t> iterations, left;  // of the loop, and of them those after the last
};
std::vector<Window> windows(const Record& record, const Training& training);

// The number of iterations as the program writes it: what the gate divides by.
std::string size_text(const Record& record, const Window& window);
// … as messages write it: a number as it is, what the program calls it as code.
std::string size_words(const Record& record, const Window& window);
// `i % n` of the gate, where it is written so; null otherwise.
const syntax::BinaryExpr* remainder_of(const Window& window);

}  // namespace stepzero::rules
