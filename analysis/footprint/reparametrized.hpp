// Layers whose weight is computed from other tensors in every forward: what these are, and what that keeps.
#pragma once

#include "footprint/modules.hpp"

namespace stepzero::footprint {

struct ComputedWeight {
  const values::Tensor* weight = nullptr;  // of the shape of the weight; null: nothing is known
  // Sizes of the lengths, one for each part; empty: it is not normalized by lengths.
  std::optional<Shape> lengths;
  // Sizes of the two vectors that follow the largest singular value.
  Int rows = nullptr, columns = nullptr;
};
// Nullopt: the layer holds its weight itself.
std::optional<ComputedWeight> computed_weight(const Record& record, const Instance& layer);

// The tensors besides the one of the weight's shape; nullopt: they are not known.
std::optional<std::vector<Held>> held_for_weight(
    const Record& record, const Instance& layer, const ComputedWeight& computed, const std::string& path);

}  // namespace stepzero::footprint
