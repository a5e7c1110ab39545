#include "server/scheduler/scheduler.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace stepzero::server {
namespace {
constexpr std::chrono::milliseconds recent{250};

std::chrono::microseconds between(Scheduler::Clock::time_point from, Scheduler::Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::microseconds>(to - from);
}
}  // namespace

Scheduler::Scheduler(Pool& pool, Hooks hooks) : pool_(pool), hooks_(std::move(hooks)) {}
Scheduler::~Scheduler() { stop(); }

void Scheduler::enqueue(const std::string& key, Job& job) {
  auto& queue = queues_[static_cast<int>(job.urgency)];
  job.place = queue.insert(queue.end(), key);
  job.queued = true;
}

void Scheduler::unqueue(Job& job) {
  if (!job.queued) return;
  queues_[static_cast<int>(job.urgency)].erase(job.place);
  job.queued = false;
}

void Scheduler::request(const std::string& key, Urgency urgency, Work work) {
  if (stopped_) return;
  Job& job = jobs_[key];
  const bool fresh = !job.waiting;
  job.waiting = std::move(work);
  if (fresh) job.since = hooks_.now();
  if (job.running) {
    job.urgency = fresh ? urgency : std::min(job.urgency, urgency);
    const auto published = published_.find(key);
    if (job.running->published ||
        (published != published_.end() && hooks_.now() - published->second <= recent))
      job.running->cancelled = true;
  } else if (!job.queued || urgency < job.urgency) {
    unqueue(job);
    job.urgency = urgency;
    enqueue(key, job);
  }
  dispatch();
}

void Scheduler::hasten(const std::string& key) {
  const auto found = jobs_.find(key);
  if (found == jobs_.end() || found->second.urgency == Urgency::typing) return;
  Job& job = found->second;
  const bool queued = job.queued;
  unqueue(job);
  job.urgency = Urgency::typing;
  if (queued) enqueue(key, job);
  dispatch();
}

void Scheduler::published(const std::string& key) {
  published_[key] = hooks_.now();
  const auto found = jobs_.find(key);
  if (found != jobs_.end() && found->second.running) found->second.running->published = true;
}

void Scheduler::drop(const std::string& key) {
  published_.erase(key);
  const auto found = jobs_.find(key);
  if (found == jobs_.end()) return;
  unqueue(found->second);
  if (found->second.running) {
    found->second.running->cancelled = true;
    found->second.running->dropped = true;
  }
  jobs_.erase(found);
  run_when_idle();
}

void Scheduler::stop() {
  stopped_ = true;
  *alive_ = false;
  for (auto& [key, job] : jobs_)
    if (job.running) job.running->cancelled = true;
  jobs_.clear();
  for (auto& queue : queues_) queue.clear();
}

void Scheduler::dispatch() {
  for (int urgency = 0; urgency < 3; ++urgency) {
    auto& queue = queues_[urgency];
    while (!queue.empty() && running_ < pool_.size()) {
      const bool lower = urgency != static_cast<int>(Urgency::typing);
      if (lower && running_lower_ + 1 >= pool_.size()) break;
      const std::string key = queue.front();
      Job& job = jobs_.at(key);
      unqueue(job);
      start(key, job);
    }
  }
}

void Scheduler::start(const std::string& key, Job& job) {
  auto run = std::make_shared<Run>();
  run->urgency = job.urgency;
  job.running = run;
  ++running_;
  if (run->urgency != Urgency::typing) ++running_lower_;
  pool_.post([this, key = std::string(key), run, alive = alive_, since = job.since,
                 work = std::exchange(job.waiting, nullptr), post = hooks_.post, now = hooks_.now,
                 failed = hooks_.failed]() mutable {
    const auto started = now();
    Finish finish;
    try {
      finish = work(run->cancelled);
    } catch (const std::exception& error) {
      finish = [failed, key, what = std::string(error.what())] { failed(key, what); };
    } catch (...) {
      finish = [failed, key] { failed(key, "an unknown exception"); };
    }
    work = nullptr;  // what it holds is freed here, not on the scheduler's thread
    const Timing timing{between(since, started), between(started, now())};
    post([this, alive = std::move(alive), key = std::move(key), run = std::move(run),
             finish = std::move(finish), timing]() mutable {
      if (*alive) ended(key, run, std::move(finish), timing);
    });
  });
}

void Scheduler::ended(const std::string& key, const std::shared_ptr<Run>& run, Finish finish, Timing timing) {
  --running_;
  if (run->urgency != Urgency::typing) --running_lower_;
  hooks_.ran(key, timing);
  if (!run->dropped) {
    // The job leaves before its Finish runs, so that a Finish sees the scheduler as it is without it.
    const auto found = jobs_.find(key);
    found->second.running = nullptr;
    if (found->second.waiting)
      enqueue(key, found->second);
    else
      jobs_.erase(found);
    if (finish) finish();
  }
  dispatch();
  run_when_idle();
}

std::function<void(std::function<void()>)> Scheduler::poster() const {
  return [alive = alive_, post = hooks_.post](std::function<void()> task) {
    post([alive, task = std::move(task)] {
      if (*alive) task();
    });
  };
}

void Scheduler::when_idle(std::function<void()> then) {
  when_idle_.push_back(std::move(then));
  run_when_idle();
}

void Scheduler::run_when_idle() {
  while (idle() && !when_idle_.empty()) {
    auto then = std::exchange(when_idle_, {});
    for (auto& each : then) each();
  }
}

}  // namespace stepzero::server
