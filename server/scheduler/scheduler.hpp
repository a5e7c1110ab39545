// Decides what is analyzed next: per key the latest request wins, and progress is guaranteed. Belongs to one
// thread (the one that reads the client), which it reaches from the pool only through `post`. Knows no
// document, no result, no JSON.
#pragma once

#include "server/scheduler/pool.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace stepzero::server {

// What the user types in goes first, then the open documents that depend on it, then the rest of the
// workspace. Only `typing` may take the last free thread of the pool.
enum class Urgency : std::uint8_t { typing, dependent, background };

class Scheduler {
public:
  using Clock = std::chrono::steady_clock;
  // Runs on the scheduler's thread once the work is done; not called if its key was dropped meanwhile.
  using Finish = std::function<void()>;
  // Runs on the pool and looks at the newest state of its key when it starts; returns early once the flag is
  // set.
  using Work = std::function<Finish(const std::atomic<bool>& cancelled)>;

  struct Timing {
    std::chrono::microseconds queued;
    std::chrono::microseconds ran;
  };
  struct Hooks {
    std::function<void(std::function<void()>)> post;  // to the scheduler's thread, from any
    std::function<Clock::time_point()> now = Clock::now;
    std::function<void(const std::string& key, Timing)> ran = [](const std::string&, Timing) {};
    std::function<void(const std::string& key, const std::string& what)> failed = [](const auto&,
                                                                                      const auto&) {};
  };

  Scheduler(Pool& pool, Hooks hooks);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The key's state changed. Replaces what waits for it; a running work is cancelled only if it has published
  // something, or something was published for the key within the last 250 ms, so that under steady typing
  // results still come.
  void request(const std::string& key, Urgency urgency, Work work);

  // Somebody waits for the key's result: what waits for a thread goes before all that is less than `typing`.
  void hasten(const std::string& key);
  void published(const std::string& key);
  // The key is gone: nothing more runs or finishes for it.
  void drop(const std::string& key);
  // Cancels everything and starts nothing more.
  void stop();

  unsigned pool_size() const { return pool_.size(); }
  // Runs a task on the scheduler's thread, from any, while the scheduler lives.
  std::function<void(std::function<void()>)> poster() const;

  // Whether the key has something waiting or running.
  bool busy(const std::string& key) const { return jobs_.contains(key); }
  bool idle() const { return jobs_.empty(); }
  // Called once as soon as nothing waits or runs; at once if that is now.
  void when_idle(std::function<void()> then);

private:
  struct Run {
    std::atomic<bool> cancelled = false;
    bool dropped = false;    // the scheduler's thread only
    bool published = false;  // the same
    Urgency urgency = Urgency::typing;
  };
  struct Job {
    Work waiting;
    Urgency urgency = Urgency::background;
    Clock::time_point since;
    std::shared_ptr<Run> running;
    std::list<std::string>::iterator place;  // in queues_[urgency] if something waits and nothing runs
    bool queued = false;
  };

  void enqueue(const std::string& key, Job& job);
  void unqueue(Job& job);
  void dispatch();
  void start(const std::string& key, Job& job);
  void ended(const std::string& key, const std::shared_ptr<Run>& run, Finish finish, Timing timing);
  void run_when_idle();

  Pool& pool_;
  Hooks hooks_;
  bool stopped_ = false;
  unsigned running_ = 0;
  unsigned running_lower_ = 0;  // of those, not `typing`
  std::unordered_map<std::string, Job> jobs_;
  std::unordered_map<std::string, Clock::time_point> published_;
  std::list<std::string> queues_[3];
  std::vector<std::function<void()>> when_idle_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace stepzero::server
