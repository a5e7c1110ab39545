#include "server/scheduler/pool.hpp"

#include <algorithm>
#include <utility>

namespace stepzero::server {

unsigned Pool::default_size() { return std::clamp(std::thread::hardware_concurrency(), 2u, 4u); }

Pool::Pool(unsigned size) {
  threads_.reserve(size);
  for (unsigned i = 0; i < size; ++i) threads_.emplace_back([this] { work(); });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Pool::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

bool Pool::stop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  tasks_.clear();
  changed_.notify_all();
  return changed_.wait_for(lock, patience, [this] { return running_ == 0; });
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    {
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      ++running_;
      lock.unlock();
      task();
    }  // what the task holds is freed outside the lock
    lock.lock();
    --running_;
    if (stopping_) changed_.notify_all();
  }
}

}  // namespace stepzero::server
