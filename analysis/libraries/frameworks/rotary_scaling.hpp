// The kinds of rotary scaling that configurations of transformers name, and the keys of each.
#pragma once

#include <span>
#include <string_view>

namespace stepzero::libraries {

struct RotaryScaling {
  std::string_view name;
  std::string_view required = {};  // keys, as words
  std::string_view optional = {};
  bool reaches_product = true;  // positions up to the old length times the factor, and no further
  bool has_keys = true;         // which keys it takes is known: not of names that models read by themselves
};

std::span<const RotaryScaling> rotary_scalings();

// Keys of every kind.
constexpr std::string_view keys_of_rotary_scalings =
    "rope_type type rope_theta partial_rotary_factor mrope_section mrope_interleaved";
// The fields of a configuration that hold such settings.
constexpr std::string_view fields_of_rotary_scalings[] = {"rope_scaling", "rope_parameters"};
// By a factor of 1 nothing is stretched, whether it is read or not.
constexpr std::string_view rotary_factor = "factor";

}  // namespace stepzero::libraries
