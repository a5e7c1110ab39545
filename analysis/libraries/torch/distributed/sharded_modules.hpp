// Modules that FSDP shards: FullyShardedDataParallel and fully_shard.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

std::vector<Row> sharded_module_rows();

}  // namespace stepzero::libraries
