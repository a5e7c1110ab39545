// What the events of a block may do: communicate, leave the loop around, fail. Asked of one rank's record
// before a walk goes into the block.
#pragma once

#include "rules/ranks/runs.hpp"

namespace stepzero::rules {

using namespace interpreter;

class BlockQueries {
protected:
  BlockQueries(Runs& runs, RankRun& own)
      : runs_(runs), own_(own), record_(*own.record), symbols_(own.record->symbols) {}

  static bool starts_group(const Block& block);
  // Some other rank may communicate there.
  bool leads_on(const CallEvent& call);
  bool leads_on(const Event& event);
  bool communicates(const Block& block);
  // From here on it is not known what the process sends and receives.
  bool sends(const Block& block);
  // What a handler takes, as the run of the program noted it; null: not known.
  static const OperationEvent* taken_by(const Block& handler);
  // The handler that runs where a file cannot be read or written; null: none.
  const Block* handler_of_files(const AttemptEvent& attempt) const;
  // The handler that runs for an exception that was raised; null: none, or not known.
  static const Block* handler_of(const AttemptEvent& attempt, values::Value raised);
  // Does something in it read or write what only this rank has, and nothing in it takes the failure?
  bool fails_in(const Block& block);
  // Is there a way out of the loop whose iteration it is?
  bool leaves(const Block& iteration, bool in_loop = false);
  // May it leave the loop by anything else than a failure? Branches that it never takes are empty in its
  // record.
  bool is_left(const LoopEvent& loop);
  // Does the process leave the function or the iteration there, and go on?
  static bool leads_past(const Block& handler);
  bool raises(const Block& block);
  static bool ends_in_exception(const Block& block);
  // Anything that matters to who compares: communication, or a way out that skips some.
  bool matters(const Block& block);

  // Does it hold of one of the blocks in the event?
  template <class Each> bool any_in(const Event& event, const Each& each) {
    switch (event.kind) {
    case EventKind::branch:
      return each(static_cast<const BranchEvent&>(event).yes) ||
          each(static_cast<const BranchEvent&>(event).no);
    case EventKind::loop:
      for (const Block& iteration : static_cast<const LoopEvent&>(event).iterations)
        if (each(iteration)) return true;
      return false;
    case EventKind::attempt: {
      const auto& attempt = static_cast<const AttemptEvent&>(event);
      if (each(attempt.body) || each(attempt.orelse) || each(attempt.finally)) return true;
      for (const Block& handler : attempt.handlers)
        if (each(handler)) return true;
      return false;
    }
    default: return false;
    }
  }

  // The answer, found out once.
  template <class Find>
  static bool once(std::unordered_map<const Block*, bool>& known, const Block& block, const Find& find) {
    if (const auto it = known.find(&block); it != known.end()) return it->second;
    const bool found = find();  // may ask the same of blocks inside
    known.emplace(&block, found);
    return found;
  }

  Runs& runs_;
  RankRun& own_;
  const Record& record_;
  symbolic::Context& symbols_;
};

}  // namespace stepzero::rules
