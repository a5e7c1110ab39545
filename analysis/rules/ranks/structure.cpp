#include "rules/ranks/structure.hpp"

#include "rules/ranks/communication.hpp"
#include "rules/ranks/job_view.hpp"
#include "rules/sentences.hpp"
#include "rules/walk.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Answer;
using values::Operation;

namespace {

constexpr int world = 4;  // that is told of

// Where an event stands.
struct Spot {
  const BranchEvent* guard = nullptr;    // the outermost branch by the rank; null: all ranks come here
  bool side = false;                     // of it
  std::vector<const CallEvent*> frames;  // the calls whose bodies it is in, outermost first
  std::vector<const LoopEvent*> loops;
  std::size_t guard_frames = 0, guard_loops = 0;  // around the guard
  bool may_fail = false;                          // in a `try` or a handler: another way leads past
};
struct Entry {
  const OperationEvent* event;
  Spot spot;
  std::size_t order;
};
struct Exit {
  const ExitEvent* event;
  Spot spot;
  std::size_t order;
};

class Structure {
public:
  explicit Structure(const Record& record) : record_(record) {}

  std::vector<Mismatch> run(const Root& root, const std::function<bool(Place)>& got_past) {
    walk(root.block, {});
    std::vector<Mismatch> found;
    if (ranks_have_parts()) return found;
    for (const Exit& exit : exits_)
      if (const Entry* missed = missed_by(exit)) {
        found.push_back(left(exit, *missed));
        return found;  // what follows is told of ranks that are no longer there
      }
    for (const Entry& entry : entries_)
      if (entry.spot.guard && !entry.spot.may_fail && !is_open(*entry.event) && on_all_ranks(*entry.event) &&
          entry.event->row->operation == Operation::collective && enters_alone(entry) &&
          !got_past(entry.event->place)) {
        found.push_back(guarded(entry));
        return found;
      }
    return found;
  }

private:
  // The ranks of the told world that may take this side.
  std::vector<int> ranks_of(const BranchEvent& branch, bool side) const {
    std::vector<int> ranks;
    for (int rank = 0; rank < world; ++rank)
      if (decided_by(record_, branch.condition, {rank, world}) != (side ? Answer::no : Answer::yes))
        ranks.push_back(rank);
    return ranks;
  }
  bool parts_ranks(const BranchEvent& branch) const {
    if (!depends_on_rank(record_.symbols, branch.condition)) return false;
    const std::size_t yes = ranks_of(branch, true).size(), no = ranks_of(branch, false).size();
    return yes > 0 && no > 0 && (yes < world || no < world);
  }

  void walk(const Block& block, const Spot& spot) {
    for (const Event* event : block.events) {
      ++order_;
      switch (event->kind) {
      case EventKind::operation:
        if (const auto& operation = static_cast<const OperationEvent&>(*event); communicates(operation))
          entries_.push_back({&operation, spot, order_});
        break;
      case EventKind::exit:
        if (spot.guard && spot.frames.size() == spot.guard_frames)
          exits_.push_back({static_cast<const ExitEvent*>(event), spot, order_});
        break;
      case EventKind::branch: {
        const auto& branch = static_cast<const BranchEvent&>(*event);
        const bool guards = !spot.guard && parts_ranks(branch);
        for (const bool side : {true, false}) {
          Spot inner = spot;
          if (guards) {
            inner.guard = &branch;
            inner.side = side;
            inner.guard_frames = spot.frames.size();
            inner.guard_loops = spot.loops.size();
          }
          walk(side ? branch.yes : branch.no, inner);
        }
        break;
      }
      case EventKind::loop: {
        Spot inner = spot;
        inner.loops.push_back(static_cast<const LoopEvent*>(event));
        for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations)
          walk(iteration, inner);
        break;
      }
      case EventKind::call: {
        Spot inner = spot;
        inner.frames.push_back(static_cast<const CallEvent*>(event));
        walk(static_cast<const CallEvent*>(event)->body, inner);
        break;
      }
      case EventKind::attempt: {
        const auto& attempt = static_cast<const AttemptEvent&>(*event);
        walk(attempt.body, spot);
        walk(attempt.orelse, spot);
        walk(attempt.finally, spot);
        Spot inner = spot;
        inner.may_fail = true;
        for (const Block& handler : attempt.handlers) walk(handler, inner);
        break;
      }
      case EventKind::problem: break;
      }
    }
  }

  // Do ranks send messages, make groups, or communicate on the way to an exit of their own? Then each may
  // have a part that another answers.
  bool ranks_have_parts() const {
    std::map<const BranchEvent*, bool> enters[2];
    for (const Entry& entry : entries_) {
      const auto& row = *entry.event->row;
      if (row.operation == Operation::message || (row.collective && row.collective->makes_group)) return true;
      if (entry.spot.guard) enters[entry.spot.side][entry.spot.guard] = true;
    }
    for (const auto& [guard, any] : enters[0])
      if (enters[1].contains(guard)) return true;
    return std::ranges::any_of(exits_, [&](const Exit& exit) {
      return enters[exit.spot.side].contains(exit.spot.guard) && exit.event->exit != ExitKind::raise;
    });
  }

  // Is there no other guard, that lets others in, around a call of the same name?
  bool enters_alone(const Entry& entry) const {
    const auto ranks = ranks_of(*entry.spot.guard, entry.spot.side);
    return std::ranges::none_of(entries_, [&](const Entry& other) {
      return other.spot.guard && collective_name(*other.event) == collective_name(*entry.event) &&
          ranks_of(*other.spot.guard, other.spot.side) != ranks;
    });
  }

  // Does the run come from one spot to the other after it, in the same call or in what that calls: further
  // down, or in the next iteration?
  static bool comes_to(const Spot& from, std::size_t order, bool leaves_call, const Entry& to) {
    // In the call that is left, or in what that calls.
    if (leaves_call &&
        (to.spot.frames.size() < from.frames.size() ||
            !std::equal(from.frames.begin(), from.frames.end(), to.spot.frames.begin())))
      return false;
    if (to.order > order) return true;
    for (std::size_t i = 0; i < from.loops.size() && i < to.spot.loops.size(); ++i)
      if (from.loops[i] == to.spot.loops[i] && !from.loops[i]->unrolled) return true;
    return false;
  }

  // The collective that the others enter, and who takes the exit does not.
  const Entry* missed_by(const Exit& exit) const {
    const Spot& spot = exit.spot;
    if (exit.event->exit == ExitKind::raise || spot.may_fail) return nullptr;
    // A loop inside the guard is the business of who is there.
    if (exit.event->exit != ExitKind::return_ && spot.loops.size() > spot.guard_loops) return nullptr;
    // In the iterations of the loops that are left; for `continue`, in what is left of this one.
    const std::size_t depth = spot.loops.size();
    const Entry* best = nullptr;
    for (const Entry& entry : entries_) {
      if (entry.spot.guard || entry.spot.may_fail || is_open(*entry.event) || !on_all_ranks(*entry.event) ||
          entry.event->row->operation != Operation::collective)
        continue;
      const auto& loops = entry.spot.loops;
      const bool same_loop = depth > 0 && loops.size() >= depth &&
          std::equal(spot.loops.begin(), spot.loops.end(), loops.begin());
      bool missed = false;
      switch (exit.event->exit) {
      case ExitKind::return_: missed = comes_to(spot, exit.order, true, entry); break;
      case ExitKind::break_: missed = same_loop; break;
      case ExitKind::continue_: missed = same_loop && entry.order > exit.order; break;
      case ExitKind::raise: break;
      }
      // The next one, else the first of the next iteration.
      if (missed && (!best || (best->order < exit.order && entry.order > exit.order))) best = &entry;
    }
    return best;
  }

  const OperationEvent* next_of_others(const Entry& entry) const {
    const Entry* best = nullptr;
    for (const Entry& other : entries_)
      if (!other.spot.guard && comes_to(entry.spot, entry.order, false, other) &&
          (!best || (best->order < entry.order && other.order > entry.order)))
        best = &other;
    return best ? best->event : nullptr;
  }

  static Mismatch supposed(const OperationEvent& event) {
    Mismatch mismatch;
    mismatch.certain = false;
    mismatch.supposed = true;
    mismatch.jobs = "As far as is seen: ";
    mismatch.world = world;
    mismatch.name = std::string(collective_name(event));
    mismatch.event = &event;
    mismatch.place = event.place;
    mismatch.calls = event.calls;
    return mismatch;
  }

  Mismatch guarded(const Entry& entry) const {
    Mismatch mismatch = supposed(*entry.event);
    mismatch.cause = Cause::guard;
    mismatch.ranks = ranks_of(*entry.spot.guard, entry.spot.side);
    auto& detail = mismatch.make<GuardedEntry>();
    detail.guard = entry.spot.guard;
    detail.side = entry.spot.side;
    detail.next_of_others = next_of_others(entry);
    return mismatch;
  }

  Mismatch left(const Exit& exit, const Entry& missed) const {
    Mismatch mismatch = supposed(*missed.event);
    mismatch.cause = Cause::exit;
    mismatch.ranks = ranks_of(*exit.spot.guard, exit.spot.side);
    std::vector<int> waiting;
    for (int rank = 0; rank < world; ++rank)
      if (std::ranges::find(mismatch.ranks, rank) == mismatch.ranks.end()) waiting.push_back(rank);
    const bool returns = exit.event->exit == ExitKind::return_, breaks = exit.event->exit == ExitKind::break_;
    const JobRun nobody;
    const JobView view{record_, nobody};
    mismatch.place = exit.event->place;
    mismatch.calls = exit.event->calls;
    auto& parting = mismatch.make<Parting>();
    parting.condition = exit.spot.guard->place;
    parting.exit = exit.event->exit;
    const std::string wait = ranks_do(waiting, world, "waits", "wait");
    mismatch.text = ranks_do(mismatch.ranks, world,
                        returns      ? "returns"
                            : breaks ? "leaves the loop"
                                     : "continues with the next iteration",
                        returns      ? "return"
                            : breaks ? "leave the loop"
                                     : "continue with the next iteration") +
        " here, and " + wait + " in " + call_text(mismatch.name) + view.at_line(missed.event->place) +
        " forever. Make all ranks leave together: `broadcast` the value that decides.";
    mismatch.text = capitalized(mismatch.text);
    mismatch.related = {{exit.spot.guard->place, "by this condition"}, {missed.event->place, wait + " here"}};
    return mismatch;
  }

  const Record& record_;
  std::vector<Entry> entries_;
  std::vector<Exit> exits_;
  std::size_t order_ = 0;
};

}  // namespace

std::vector<Mismatch> standing_out(
    const Record& record, const Root& root, const std::function<bool(Place)>& got_past) {
  return Structure(record).run(root, got_past);
}

}  // namespace stepzero::rules
