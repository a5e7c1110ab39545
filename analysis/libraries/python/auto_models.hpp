// The Auto classes of transformers: which class they make of a configuration.
#pragma once

#include "libraries/table/native.hpp"

#include <vector>

namespace stepzero::libraries {

std::vector<values::Row> auto_model_rows();
// `Model.from_pretrained(name, config=config)`: the model as the configuration has it, in evaluation; what
// its numbers are is not known, nor anything of one whose configuration is in the checkpoint.
Value pretrained(Call& call);

}  // namespace stepzero::libraries
