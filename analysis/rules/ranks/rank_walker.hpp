// Walks one process through its record: the state of walker.cpp, which goes through the events, and of
// walker_decisions.cpp, which answers the conditions.
#pragma once

#include "rules/ranks/block_queries.hpp"
#include "rules/ranks/comm_events.hpp"
#include "rules/ranks/walker.hpp"

#include <optional>
#include <unordered_map>
#include <vector>

namespace stepzero::rules {

// How a block is left.
enum class Left : std::uint8_t { no, iteration, loop, call, process };

class RankWalker : private BlockQueries {
public:
  RankWalker(Runs& runs, RankRun& own, int world, Choices choices, std::uint64_t& walked)
      : BlockQueries(runs, own), choices_(choices), walked_(walked),
        recorder_(runs, own, world, trace_,
            [this](values::Cond condition) { return decide(condition, operation_site_); }) {}

  Walked run(const interpreter::Block& block);

private:
  // Is the rank asked whether it is one that is not known, the same on all ranks? Only one of them is. Else
  // 0.
  int key_of_rank(values::Cond condition, int branch_site);

  // What a handler asks of the exception that it runs for.
  void take_for_true(values::Cond condition);

  // The answer where every number in it that has a default is that.
  symbolic::Answer by_default(values::Cond condition);

  // The answer where names say what they seem to, and a group of which nothing is known is the whole job.
  symbolic::Answer by_presumption(values::Cond condition);

  // What was chosen for every rank under the key; if nothing was, the condition is what is missing.
  symbolic::Answer chosen_by_all(int key, values::Cond condition);

  symbolic::Answer leaf(values::Cond condition, int branch_site);
  symbolic::Answer unasked(values::Cond condition);

  symbolic::Answer decide(values::Cond condition, int branch_site);

  Left walk(const interpreter::Block& block);

  // Of a call without communication: does it end the process whatever is not known? Then its way out is kept.
  Left certain_end(const interpreter::Block& block);

  // Have all ranks one answer to each part of it, where they agree on what nobody sees, and are there
  // several?
  bool is_agreed_on(values::Cond condition, bool part = false);
  // The parts of a question may come in another order on another rank: it is asked as a whole.
  symbolic::Answer as_one_question(values::Cond condition, int branch_site);

  void push_decision(const interpreter::BranchEvent& branch, bool yes, int site, bool local);

  // The side to take where it does not matter which: one that enters something. Where one side only tells
  // that something is wrong, the process goes on by the other.
  symbolic::Answer any_side(const interpreter::BranchEvent& branch, int site);

  Left walk_branch(const interpreter::BranchEvent& branch);

  Left walk_loop(const interpreter::LoopEvent& loop);

  // Of loops in which nothing matters: those that are made, too. What is not noted has no iterations.
  void note_silent_loops(const interpreter::Block& block);

  Left walk_attempt(const interpreter::AttemptEvent& attempt);

  // Does the process stay in the message that it came to last, as nobody sends it?
  bool waits_in(const interpreter::ExitEvent& exit) const;

  // `raise SystemExit(main())`: a status that is not said to be a failure. Nothing: it is no such statement.
  std::optional<bool> raises_success(const interpreter::ExitEvent& exit) const;

  Left leave(const interpreter::ExitEvent& exit);

  Choices choices_;
  std::uint64_t& walked_;
  RankTrace trace_;
  CommRecorder recorder_;
  std::vector<std::size_t> turns_;
  std::vector<Iteration> iterations_;
  std::unordered_map<int, int> times_;  // by site
  values::Cond missing = nullptr;
  bool missing_is_shared = false;
  int missing_key = 0;
  bool missing_is_surprise = false;
  bool too_long = false;
  values::Value raised_;  // by the last way out that is an exception
  bool locally_ = false, unseen_ = false, presumed_ = false;
  bool differs_ = false;  // the condition that is decided is known to differ among ranks by their data
  int gradients_of_ =
      0;  // the place of the branch that is decided, where that only asks whether there are gradients
  int tries_ = 0;                                    // around, that take exceptions
  bool about_rank_ = false;                          // it is a comparison with the rank
  const interpreter::BranchEvent* asked_ = nullptr;  // the branch that is decided
  int operation_site_ = 0;                           // of the operation that is looked at
  std::unordered_map<values::Cond, bool> taken_for_;
  bool fails_ = false;  // the next thing that may fail in this process does
  int nesting_ = 0;
  bool waits_ = false;  // forever, for a message
  std::optional<bool>
      ends_well_;            // the call that ends the process, at which it is, tells its caller of no failure
  bool started_ = false;     // the default process group was made
  bool ended_well_ = false;  // the last way out was such an end
};

}  // namespace stepzero::rules
