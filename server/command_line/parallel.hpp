// Runs independent pieces of work on all hardware threads. Knows nothing of the work.
#pragma once

#include "server/scheduler/cores.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

namespace stepzero::server {

// Calls work(0) … work(count - 1), each once, in no order, and returns when all are done. `work` must not
// throw.
template <class Work> void parallel(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t hardware = std::max(1u, std::thread::hardware_concurrency());
  std::latch begin(1);
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(hardware, count); ++i) {
    try {
      others.emplace_back([&] {
        begin.wait();
        run_on_any_core();
        run();
      });
    } catch (const std::system_error&) {
      break;  // no more threads can be had: those that wait for the word, and this one, do it all
    }
    keep_off_this_core(others.back().native_handle());
  }
  begin.count_down();
  run();
}

}  // namespace stepzero::server
