// How the result of einops.rearrange lies in the memory of what it was given: its axes are parted, put in
// another order and joined, and only what cannot be joined so is copied.
#pragma once

#include "footprint/bytes.hpp"

#include <optional>
#include <string_view>

namespace stepzero::footprint {

// Nullopt: it is a copy, or that is not known.
std::optional<std::vector<Int>> strides_of_rearranged(symbolic::Context& s, std::string_view pattern,
    const Shape& from, const std::vector<Int>& strides, const Shape& to);

}  // namespace stepzero::footprint
