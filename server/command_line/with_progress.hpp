// Independent pieces of work on all hardware threads, with a line that shows how far it is. Knows nothing of
// the work.
#pragma once

#include "server/command_line/console.hpp"
#include "server/command_line/parallel.hpp"

#include <type_traits>

namespace stepzero::server {

// make(0) … make(count - 1), in this order; they are made in no order.
template <class Make> auto with_progress(std::string_view doing, std::size_t count, const Make& make) {
  std::vector<std::invoke_result_t<Make, std::size_t>> all(count);
  Progress progress(doing, count);
  std::atomic<std::size_t> done = 0;
  parallel(count, [&](std::size_t i) {
    all[i] = make(i);
    progress.at(++done);
  });
  return all;
}

}  // namespace stepzero::server
