// States of sharded modules and optimizers, and distributed checkpoints.
#pragma once

#include "libraries/table/native.hpp"

#include <vector>

namespace stepzero::libraries {

// What tells a module that FSDP has sharded.
extern const values::CollectiveInfo backward_of_fsdp;

std::vector<Row> sharded_state_rows();

// Why the calls that make a state of a sharded module meet.
inline constexpr std::string_view sharded_state = "the shards of all ranks are gathered to build the state";

}  // namespace stepzero::libraries
