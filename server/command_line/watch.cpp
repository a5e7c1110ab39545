#include "server/command_line/watch.hpp"

#include "server/workspace/read.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <set>

#include <poll.h>
#include <unistd.h>

namespace stepzero::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds shortest_pause{200};
constexpr int share = 20;  // one part of so many is spent on looking

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 1099511628211u; }

// Ctrl-C ends a wait in order, and anything else at once.
std::atomic<bool> waiting = false;
int wake[2] = {-1, -1};

extern "C" void ended_by_user(int) {
  constexpr int interrupted = 130;
  if (!waiting) _exit(interrupted);
  const char byte = 0;
  [[maybe_unused]] const ssize_t size = ::write(wake[1], &byte, 1);
}

void hear_signals() {
  if (wake[0] >= 0 || ::pipe(wake) != 0) return;
  struct sigaction action{};
  action.sa_handler = ended_by_user;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

bool signal_within(Clock::duration pause) {
  pollfd heard{wake[0], POLLIN, 0};
  // A signal that interrupts the wait has written as well.
  return ::poll(&heard, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(pause).count())) !=
      0;
}

}  // namespace

void Kept::begin() {
  const std::lock_guard lock(mutex_);
  states_.clear();
}

std::uint64_t Kept::state_of(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = states_.find(path); known != states_.end()) return known->second;
  }
  std::uint64_t state = 1;
  if (const auto stamp = file_stamp(path))
    state = mix(mix(mix(2, static_cast<std::uint64_t>(stamp->modified)), stamp->size), stamp->inode);
  const std::lock_guard lock(mutex_);
  return states_.emplace(path, state).first->second;
}

std::uint64_t Kept::fingerprint(
    const std::string& path, const ConfigurationFile& settings, const std::vector<std::string>& read) {
  std::uint64_t hash = mix(14695981039346656037u, std::hash<std::string>()(settings.path));
  if (settings.text) hash = mix(hash, std::hash<std::string>()(settings.text->bytes()));
  hash = mix(hash, state_of(path));
  for (const std::string& each : read) hash = mix(hash, state_of(each));
  return hash;
}

Checked Kept::checked(
    const std::string& path, const ConfigurationFile& settings, const std::function<Checked()>& make) {
  std::optional<One> one;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = files_.find(path); found != files_.end()) one = found->second;
  }
  if (one && one->fingerprint == fingerprint(path, settings, one->checked.read))
    return std::move(one->checked);
  state_of(path);  // as it is before it is read: what changes in the meantime is seen in the next round
  Checked checked = make();
  const std::uint64_t now = fingerprint(path, settings, checked.read);
  const std::lock_guard lock(mutex_);
  files_[path] = {checked, now};
  return checked;
}

std::vector<std::string> Kept::changed(const Inputs& inputs, ConfigurationFiles& configuration) {
  std::vector<std::string> changed;
  std::set<std::string> present;
  for (const std::string& path : inputs.files) {
    present.insert(path);
    const auto found = files_.find(path);
    if (found == files_.end() ||
        found->second.fingerprint !=
            fingerprint(path, *configuration.nearest(path), found->second.checked.read))
      changed.push_back(path);
  }
  for (auto each = files_.begin(); each != files_.end();) {
    if (present.contains(each->first)) {
      ++each;
      continue;
    }
    changed.push_back(each->first);
    each = files_.erase(each);
  }
  return changed;
}

void end_in_order() {
  hear_signals();
  waiting = true;
}

bool wait_for_change(const std::function<bool()>& look) {
  end_in_order();
  Clock::duration pause = shortest_pause;
  while (true) {
    if (signal_within(pause)) return false;
    const auto began = Clock::now();
    if (look()) {
      waiting = false;
      return !signal_within(Clock::duration(0));
    }
    pause = std::max<Clock::duration>(shortest_pause, (Clock::now() - began) * share);
  }
}

}  // namespace stepzero::server
