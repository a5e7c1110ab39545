// Layers of torch.nn whose parts PyTorch builds inside, of which the run keeps the settings only: what
// tensors they hold.
#pragma once

#include "footprint/modules.hpp"

namespace stepzero::footprint {

// Nullopt: it is no such layer, or a setting is not known.
std::optional<std::vector<Held>> held_by_built_layer(
    const Record& record, const Instance& layer, const std::string& path);

}  // namespace stepzero::footprint
