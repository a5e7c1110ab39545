// A loop and a clock that move only when a test says so.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace stepzero::server {

class ManualLoop {
public:
  void post(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    arrived_.notify_one();
  }

  // Runs tasks as they arrive until the condition holds.
  void run_until(const std::function<bool()>& done) {
    while (!done()) {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return !tasks_.empty(); });
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> tasks_;
};

class ManualClock {
public:
  std::chrono::steady_clock::time_point now() const {
    return std::chrono::steady_clock::time_point(std::chrono::hours(1)) + std::chrono::milliseconds(passed_);
  }
  void advance(std::chrono::milliseconds by) { passed_ += by.count(); }

private:
  std::atomic<std::int64_t> passed_ = 0;
};

}  // namespace stepzero::server
