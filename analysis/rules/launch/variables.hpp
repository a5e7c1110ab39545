// Variables of the environment that the libraries of a training job read: their names, what they may be, and
// what became of them. Written by hand: no package can be asked for them. A name that is missing here is
// never an error, and only told where it is a letter or two away.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace stepzero::rules::launch {

struct KnownVariable {
  std::string_view name;
  std::string_view choices;          // "OFF|INFO|DETAIL"; empty: not checked
  std::string_view instead;          // its name since it was renamed
  std::string_view left_on;          // why it should not stay switched on; empty: it may
  std::string_view meant_with = {};  // a variable beside which it is meant to be on
};
const KnownVariable* find_variable(std::string_view name);
std::vector<std::string_view> variable_names();
// Does a library own all names that begin like this one?
bool has_owner(std::string_view name);

// Does the process group read the variable once, where it is made, or before?
bool is_read_by_the_group(std::string_view name);
// What the allocator of CUDA reads from PYTORCH_CUDA_ALLOC_CONF: the notes on CUDA of PyTorch 2.9.
std::vector<std::string_view> allocator_options();

// Two variables that cannot both be meant: `one` with this value, and `other` with any but `unless`.
struct Contradiction {
  std::string_view one, one_value, other, unless, why;
};
std::span<const Contradiction> contradictions();

}  // namespace stepzero::rules::launch
