// Work that may be done on another core meanwhile. Who has cores implements it.
#pragma once

#include <functional>
#include <memory>

namespace stepzero::syntax {

// Work that goes on. Has ended when it is gone.
class BackgroundTask {
public:
  virtual ~BackgroundTask() = default;
  // Until it is done; throws what it threw. Asked once.
  virtual void wait() = 0;
};

// Begins with the work, at the latest when it is waited for. Empty: there is no other core. What comes out is
// the same with and without.
using BackgroundRunner = std::function<std::unique_ptr<BackgroundTask>(std::function<void()>)>;

}  // namespace stepzero::syntax
