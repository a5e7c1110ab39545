#include "server/scheduler/background_core.hpp"

#include "server/scheduler/cores.hpp"

#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace stepzero::server {
namespace {

using Task = std::packaged_task<void()>;

// A thread that does one task after the other.
class Helper {
public:
  Helper() : thread_([this] { work(); }) {}
  ~Helper() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  // It has none, or is at the end of one.
  void give(Task task) {
    keep_off_this_core(thread_.native_handle());
    {
      const std::lock_guard lock(mutex_);
      task_ = std::move(task);
    }
    changed_.notify_one();
  }

private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || task_; });
      if (!task_) return;
      run_on_any_core();
      {
        Task task = std::move(*task_);
        task_.reset();
        lock.unlock();
        task();
      }  // what the task holds is freed outside the lock
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Task> task_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the rest
};

// As many as there are cores beside the first, made when they are first needed.
class Helpers {
public:
  static Helpers& shared() {
    static Helpers helpers;
    return helpers;
  }

  // Null: all have something to do, or no thread can be had.
  Helper* take() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      Helper* const free = free_.back();
      free_.pop_back();
      return free;
    }
    if (all_.size() + 1 >= std::thread::hardware_concurrency()) return nullptr;
    try {
      return all_.emplace_back(std::make_unique<Helper>()).get();
    } catch (const std::system_error&) {
      return nullptr;
    }
  }
  void give_back(Helper* helper) {
    const std::lock_guard lock(mutex_);
    free_.push_back(helper);
  }

private:
  std::mutex mutex_;
  std::vector<Helper*> free_;
  std::vector<std::unique_ptr<Helper>> all_;  // before the rest goes they have ended
};

class Future final : public syntax::BackgroundTask {
public:
  explicit Future(std::function<void()> work)
      : helper_(Helpers::shared().take()),
        task_(helper_ ? give_back_after(std::move(work)) : std::move(work)), future_(task_.get_future()) {
    if (helper_) helper_->give(std::move(task_));
  }
  ~Future() override {
    if (helper_ && future_.valid()) future_.wait();
  }
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;
  void wait() override {
    if (!helper_) task_();
    future_.get();
  }

private:
  // Before anybody hears that it is done: who waits for it may have something else for the helper at once.
  std::function<void()> give_back_after(std::function<void()> work) const {
    return [work = std::move(work), helper = helper_] {
      struct Back {
        Helper* helper;
        ~Back() { Helpers::shared().give_back(helper); }
      } const back{helper};
      work();
    };
  }

  Helper* helper_;  // null: who waits for it does it
  Task task_;
  std::future<void> future_;
};

}  // namespace

syntax::BackgroundRunner another_core() {
  if (std::thread::hardware_concurrency() < 2) return {};
  return [](std::function<void()> work) { return std::make_unique<Future>(std::move(work)); };
}

}  // namespace stepzero::server
