// The runs of a file by the ranks of small jobs: each made when it is first asked for, or on another core
// before that.
#pragma once

#include "snapshot/run_cache.hpp"
#include "syntax/background.hpp"

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <unordered_set>

namespace stepzero::snapshot {

// Lives no longer than the analysis: its work elsewhere has ended when it is gone.
class RankRuns {
public:
  // Of the functions that nobody calls, and of classes, those that are run.
  using Only = std::unordered_set<const syntax::Stmt*>;
  static constexpr int first_world = 2;  // begun with before it is asked for
  // Brings one rank's run up to date.
  using Make = std::function<void(std::shared_ptr<Run>& run, int rank, int world, const Only& only)>;

  RankRuns(Run& of, Make make, syntax::BackgroundRunner background)
      : of_(of), make_(std::move(make)), elsewhere_(std::move(background)) {}

  // Begins with all ranks of a world on the other core, if there is one, taking for granted that the same
  // will be asked for as the last time. What else is to be done there comes `after` them.
  void begin(int world, std::function<void()> after = {});
  std::shared_ptr<interpreter::Record> of(int rank, int world, const Only& only);

private:
  static constexpr int asked = -1;  // a rank that was asked for is brought up to date
  struct One {
    int rank = asked;
    std::shared_ptr<Run>* run = nullptr;
    std::atomic<bool> taken = false;
    bool made = false;  // elsewhere, to its end; read only after the wait for it
  };
  struct RunsOfWorld {
    Only only;
    std::list<One> ranks;
    std::unique_ptr<syntax::BackgroundTask>
        working;  // last: it ends before the rest goes; null: nothing is left to wait for
  };
  RunsOfWorld* begin(int world, Only only, std::function<void()> after = {});

  Run& of_;
  Make make_;
  syntax::BackgroundRunner elsewhere_;
  std::map<int, RunsOfWorld> worlds_;
};

}  // namespace stepzero::snapshot
