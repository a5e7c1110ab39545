// What the rules of mixtures of experts share: what is differentiated, and which terms balance the experts.
// Says nothing to the user.
#pragma once

#include "rules/provenance.hpp"

namespace stepzero::rules {

// The tensors that backward() is called on.
std::vector<const TensorState*> differentiated(const Record& record);

// Is it computed from which experts were chosen and from nothing that has a gradient?
bool only_of_choices(const TensorState* state);

// A term that balances: made of the router's average probabilities and of the shares of tokens that the
// experts get.
struct Balance {
  const TensorState* term = nullptr;
  const TensorState* logits = nullptr;
};
std::vector<Balance> balances(const Record& record);

// Tokens sent to experts by what a router chose.
struct Routing {
  const Producer* choice = nullptr;  // topk, argmax
  Scores scores;
};
std::vector<Routing> routings(const Record& record);

}  // namespace stepzero::rules
