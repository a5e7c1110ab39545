// A bounded set of threads that run tasks. Knows nothing of documents.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace stepzero::server {

class Pool {
public:
  // As many threads as the hardware has, at least 2, at most 4: one slow document never takes them all.
  static unsigned default_size();

  explicit Pool(unsigned size = default_size());
  ~Pool();  // waits for the running tasks; drops those that wait
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned size() const { return static_cast<unsigned>(threads_.size()); }
  void post(std::function<void()> task);  // the task does not throw

  // Takes no more tasks, drops those that wait; true if those that run ended within `patience`.
  bool stop(std::chrono::milliseconds patience);

private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  unsigned running_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stepzero::server
