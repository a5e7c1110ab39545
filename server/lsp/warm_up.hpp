// What the first analysis of a process would have to wait for, done before somebody asks for one: a small
// training script is analyzed, which builds the tables and brings in the code, and the memory of a larger one
// is taken from the system.
#pragma once

#include <atomic>

namespace stepzero::server {

// Takes some tens of milliseconds; ends early once it is cancelled.
void warm_up(const std::atomic<bool>& cancelled);

}  // namespace stepzero::server
