// The runs that analyses of open documents left, so that the next analysis goes on from them. Thread-safe.
#pragma once

#include "snapshot/snapshot.hpp"

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <utility>

namespace stepzero::server {

class RunCaches {
public:
  // What was kept for the path; empty if nothing was, or another analysis has it.
  snapshot::RunCache take(const std::string& path);
  bool is_bloated(const std::string& path);
  // Of the documents that were analyzed last, only so many are kept: a run holds some hundred times the text.
  void give(const std::string& path, snapshot::RunCache memory);

private:
  static constexpr std::size_t most = 3;
  std::mutex mutex_;
  std::list<std::pair<std::string, snapshot::RunCache>> kept_;  // newest first
};

}  // namespace stepzero::server
