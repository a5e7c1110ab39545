// Work that may be done on another core meanwhile.
#pragma once

#include <functional>
#include <future>

namespace stepzero::syntax {

// Begins with the work at once, on another thread; the future is ready when it is done, holds what it threw, and waits when it is
// destroyed. Empty: there is no other core. What comes out is the same with and without.
using Elsewhere = std::function<std::future<void>(std::function<void()>)>;

} // namespace stepzero::syntax
