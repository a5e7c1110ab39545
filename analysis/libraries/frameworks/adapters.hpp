// What peft puts into a model.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

// Where memory is counted, and model, configuration and package are read: the model of the call with the
// layers that peft.get_peft_model(model, LoraConfig(…)) puts into it. Absent: not so here, and nothing has
// changed.
Value adapted_model(Call& call);
std::vector<values::Row> adapter_rows();

}  // namespace stepzero::libraries
