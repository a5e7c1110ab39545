// The configurations of OmegaConf as objects of the run.
#pragma once

#include "libraries/table/native.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

// Of a dict: its fields are attributes as well, and what refers to another field is found when it is asked
// for. `completed`: the command line may add keys to it, so that what is missing is missing without them.
Value configuration_of(Call& call, Value dict, bool completed = false);
std::vector<Row> omegaconf_rows();
// What the reader of a file of YAML keeps of a comment "@package" in front of it.
constexpr std::string_view package_of_file = program::Data::package;

}  // namespace stepzero::libraries
