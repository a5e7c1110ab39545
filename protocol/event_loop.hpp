// The one thread of input and output: a queue of tasks and timers on it. Asio stays after this header.
#pragma once

#include "protocol/task.hpp"

#include <chrono>
#include <cstddef>
#include <memory>

namespace stepzero::protocol {

// Runs its task once when due; destroyed or reset before, never. Owned and used on the loop's thread, and
// must not outlive the loop.
class Timer {
public:
  Timer();
  Timer(Timer&&) noexcept;
  Timer& operator=(Timer&&) noexcept;
  ~Timer();
  void reset();

private:
  friend class EventLoop;
  struct State;
  std::shared_ptr<State> state_;
};

class EventLoop {
public:
  EventLoop();
  ~EventLoop();  // tasks that never ran are destroyed, not run
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void run();            // the calling thread becomes the loop's, until stop()
  void stop();           // from any thread
  std::size_t poll();    // runs what is ready now, and what that makes ready; for tests
  void post(Task task);  // from any thread; tasks of one thread run in its order, and do not throw
  Timer after(std::chrono::milliseconds delay, Task task);  // on the loop's thread, or before it runs

  struct Impl;
  Impl& impl() { return *impl_; }

private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace stepzero::protocol
