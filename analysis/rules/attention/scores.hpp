// Attention written out: a softmax over scaled products of queries and keys. What the rules of attention
// share.
#pragma once

#include "rules/provenance.hpp"

namespace stepzero::rules {

struct Attention {
  const Producer* softmax = nullptr;
  const TensorState* probabilities = nullptr;
  const Producer* product = nullptr;  // queries times keys
  const TensorState *queries = nullptr, *keys = nullptr;
  double scale = 1;                  // of the scores, where all of it is known
  const Producer* scaled = nullptr;  // where it is applied; null: nowhere
  bool scale_known = true;
};
std::vector<Attention> attentions(const Record& record);

// What the tensor is computed from up to the projections, norms and products around: what was done to it
// since.
std::vector<const TensorState*> since_projection(const TensorState* state);

}  // namespace stepzero::rules
