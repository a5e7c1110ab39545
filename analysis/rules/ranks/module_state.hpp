// What a wrapped module holds that its forward or backward sends.
#pragma once

#include "values/heap.hpp"

namespace stepzero::rules {

// Has the module, or one in it, buffers that DDP sends before a forward?
bool has_buffers(values::Value module, int depth = 0);
// … and is it not told to keep them?
bool sends_buffers(values::Value wrapper);
// May it send some that are not seen, of parts of which nothing is known?
bool may_send_buffers(values::Value wrapper);

}  // namespace stepzero::rules
