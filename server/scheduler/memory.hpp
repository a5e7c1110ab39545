// Memory that the system has handed over before somebody waits for it: the first touch of a page costs more
// than what is done with it then.
#pragma once

#include <atomic>
#include <cstddef>

namespace stepzero::server {

// Touches so many bytes, or fewer once it is cancelled, and leaves them to the allocator, whose threads share
// them.
void prepare_memory(std::size_t bytes, const std::atomic<bool>& cancelled);

}  // namespace stepzero::server
