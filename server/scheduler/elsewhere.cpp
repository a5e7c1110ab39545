#include "server/scheduler/elsewhere.hpp"

#include <thread>

namespace stepzero::server {

syntax::Elsewhere another_core() {
  if (std::thread::hardware_concurrency() < 2) return {};
  return [](std::function<void()> work) {
    // Deferred where no thread can be had: whoever needs what it makes does it then.
    return std::async(std::launch::async | std::launch::deferred, std::move(work));
  };
}

} // namespace stepzero::server
