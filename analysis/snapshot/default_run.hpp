// The run of a file where the command line gives nothing, and every parameter of the program has its default.
// Made where the statements leave something open that this decides: on another core while the file's own run
// goes on, or when it is asked for.
#pragma once

#include "snapshot/run_cache.hpp"
#include "syntax/background.hpp"

#include <atomic>
#include <functional>
#include <memory>

namespace stepzero::snapshot {

// Lives no longer than the analysis: its work elsewhere has ended when it is gone.
class DefaultRun {
public:
  // Brings the run up to date.
  using Make = std::function<void(std::shared_ptr<Run>& run)>;

  DefaultRun(Run& of, Make make) : of_(of), make_(std::move(make)) {}

  // The work, for another core; at most once.
  std::function<void()> work();
  void begin(const syntax::BackgroundRunner& background) { working_ = background(work()); }
  const Run* get();  // null if it could not be made

private:
  enum class State : std::uint8_t { open, taken, made };
  void make();

  Run& of_;
  Make make_;
  std::atomic<State> state_ = State::open;
  std::unique_ptr<syntax::BackgroundTask>
      working_;  // last: it ends before the rest goes; null: begun by somebody else, or not
};

}  // namespace stepzero::snapshot
