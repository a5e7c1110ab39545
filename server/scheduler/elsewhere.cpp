#include "server/scheduler/elsewhere.hpp"

#include <future>
#include <thread>

namespace stepzero::server {
namespace {

class Future final : public syntax::Working {
public:
  // Deferred where no thread can be had: who waits for it does it then.
  explicit Future(std::function<void()> work) : future_(std::async(std::launch::async | std::launch::deferred, std::move(work))) {}
  void wait() override { future_.get(); }

private:
  std::future<void> future_;
};

} // namespace

syntax::Elsewhere another_core() {
  if (std::thread::hardware_concurrency() < 2) return {};
  return [](std::function<void()> work) { return std::make_unique<Future>(std::move(work)); };
}

} // namespace stepzero::server
