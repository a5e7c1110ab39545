#include "rules/walk.hpp"

#include "interpreter/calls/noted_at.hpp"
#include "libraries/table/class_roles.hpp"
#include "rules/ways.hpp"
#include "symbolic/supposition.hpp"

#include <map>
#include <unordered_map>

namespace stepzero::rules {

using namespace interpreter;
using interpreter::Block;
using symbolic::Answer;
using symbolic::Role;

namespace {

// What a process is told of itself.
std::vector<symbolic::Assignment> numbers_of(const Record& record, Process process) {
  std::vector<symbolic::Assignment> values;
  const auto give = [&](Role role, std::int64_t value) {
    if (const Int atom = record.roles[static_cast<int>(role)]) values.push_back({atom, value});
  };
  give(Role::rank, process.rank);
  give(Role::local_rank, process.rank);
  give(Role::node_rank, 0);
  give(Role::world_size, process.world);
  give(Role::local_world_size, process.world);
  return values;
}

// Where a walk is left to.
enum class Left : std::uint8_t { no, iteration, loop, call, process };

class Explorer {
public:
  Explorer(const Record& record, const Block& block, const std::vector<Process>& processes, const Walk& walk,
      const std::function<void(const Run&)>& each)
      : record_(record), symbols_(record.symbols), block_(block), processes_(processes), walk_(walk),
        each_(each), own_(processes.size()), unasked_(processes.size()) {}

  bool run() {
    WaySearch search = WaySearch::every(walk_.limit);
    return search.follow<Asked>([this](Asked& asked) { return walk_all(asked); },
        [this](const Asked& asked, bool answer, const auto& go_on) { return under(asked, answer, go_on); });
  }

private:
  struct Asked {
    Cond condition = nullptr;
    std::size_t process = 0;
  };

  // All processes, with the answers so far.
  WaySearch::Came walk_all(Asked& asked) {
    Run run(processes_.size());
    for (process_ = 0; process_ < processes_.size(); ++process_) {
      missing_ = nullptr;
      steps_ = &run[process_];
      turns_.clear();
      walk(block_);
      if (!missing_) continue;
      asked = {missing_, process_};
      return WaySearch::Came::to_a_question;
    }
    each_(run);
    return WaySearch::Came::through;
  }

  template <class GoOn> std::optional<bool> under(const Asked& asked, bool answer, const GoOn& go_on) {
    // What comes from unseen code, or from per-rank data, may differ from process to process.
    const bool separate = symbols_.sharing(asked.condition) != Sharing::uniform;
    auto& choices = separate ? own_[asked.process] : shared_;
    choices[asked.condition] = answer;
    std::optional<bool> done;
    {
      // Who asks next is to find what the record knows, and no more.
      symbolic::Supposition supposed(symbols_);
      if (separate || supposed.assume(answer ? asked.condition : symbols_.logical_not(asked.condition)))
        done = go_on();
    }
    choices.erase(asked.condition);
    return done;
  }

  // What needs no question: the same on every way.
  Answer unasked(Cond condition) {
    const auto [known, fresh] = unasked_[process_].try_emplace(condition, Answer::unknown);
    if (!fresh) return known->second;
    Answer answer = symbols_.evaluate(condition, numbers_of(record_, processes_[process_]));
    if (answer == Answer::unknown) {
      // Whoever is one of several was told its rank.
      if (asks_for_group(record_, condition) ||
          (processes_[process_].world > 1 && asks_whether_told(condition)))
        answer = Answer::yes;
    }
    return unasked_[process_][condition] = answer;
  }

  Answer leaf(Cond condition) {
    if (const Answer answer = unasked(condition); answer != Answer::unknown) return answer;
    for (const auto* choices : {&own_[process_], &shared_})
      if (const auto it = choices->find(condition); it != choices->end())
        return it->second ? Answer::yes : Answer::no;
    if (!missing_) missing_ = condition;
    return Answer::unknown;
  }

  bool asks_whether_told(Cond condition) const {
    bool asks = false;
    for (const symbolic::Role role : {symbolic::Role::rank, symbolic::Role::local_rank})
      interpreter::each_noted(
          record_, interpreter::told(role), [&](Cond question) { asks = asks || question == condition; });
    return asks;
  }

  Answer decide(Cond condition) {
    return decide_by_parts(symbols_, condition, missing_, [this](Cond part) { return leaf(part); });
  }

  // Does anything in the block matter: an operation that is wanted, or a way out of it?
  bool matters(const Block& block) {
    const auto it = matters_.find(&block);
    if (it != matters_.end()) return it->second;
    bool any = false;
    for (const Event* event : block.events) {
      switch (event->kind) {
      case EventKind::operation: any = any || walk_.wanted(static_cast<const OperationEvent&>(*event)); break;
      case EventKind::exit: any = true; break;
      case EventKind::branch:
        any = any || matters(static_cast<const BranchEvent*>(event)->yes) ||
            matters(static_cast<const BranchEvent*>(event)->no);
        break;
      case EventKind::loop:
        for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations)
          any = any || matters(iteration);
        break;
      case EventKind::call: any = any || communicates(static_cast<const CallEvent*>(event)->body); break;
      case EventKind::attempt: {
        const auto* attempt = static_cast<const AttemptEvent*>(event);
        any = any || matters(attempt->body) || matters(attempt->orelse) || matters(attempt->finally);
        for (const Block& handler : attempt->handlers) any = any || communicates(handler);
        break;
      }
      case EventKind::problem: break;
      }
      if (any) break;
    }
    matters_[&block] = any;
    return any;
  }
  // The same without ways out: those of a call stay within it.
  bool communicates(const Block& block) {
    const auto it = wanted_.find(&block);
    if (it != wanted_.end()) return it->second;
    bool any = false;
    for (const Event* event : block.events) {
      switch (event->kind) {
      case EventKind::operation: any = any || walk_.wanted(static_cast<const OperationEvent&>(*event)); break;
      case EventKind::branch:
        any = any || communicates(static_cast<const BranchEvent*>(event)->yes) ||
            communicates(static_cast<const BranchEvent*>(event)->no);
        break;
      case EventKind::loop:
        for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations)
          any = any || communicates(iteration);
        break;
      case EventKind::call: any = any || communicates(static_cast<const CallEvent*>(event)->body); break;
      case EventKind::attempt: {
        const auto* attempt = static_cast<const AttemptEvent*>(event);
        any = any || communicates(attempt->body) || communicates(attempt->orelse) ||
            communicates(attempt->finally);
        for (const Block& handler : attempt->handlers) any = any || communicates(handler);
        break;
      }
      default: break;
      }
      if (any) break;
    }
    wanted_[&block] = any;
    return any;
  }
  Left walk(const Block& block) {
    for (std::size_t i = 0; i < block.events.size(); ++i) {
      const Event* event = block.events[i];
      Left left = Left::no;
      switch (event->kind) {
      case EventKind::operation: {
        const auto& operation = static_cast<const OperationEvent&>(*event);
        if (walk_.wanted(operation)) steps_->push_back({&operation, turns_});
        break;
      }
      case EventKind::branch: left = walk_branch(static_cast<const BranchEvent&>(*event)); break;
      case EventKind::loop: left = walk_loop(static_cast<const LoopEvent&>(*event)); break;
      case EventKind::call: {
        const auto& call = static_cast<const CallEvent&>(*event);
        if (!communicates(call.body)) break;
        left = walk(call.body);
        if (left == Left::call) left = Left::no;
        break;
      }
      case EventKind::attempt: {
        // The run in which nothing is raised.
        const auto& attempt = static_cast<const AttemptEvent&>(*event);
        left = walk(attempt.body);
        if (left == Left::no) left = walk(attempt.orelse);
        if (left == Left::no && !missing_) left = walk(attempt.finally);
        break;
      }
      case EventKind::exit:
        switch (static_cast<const ExitEvent&>(*event).exit) {
        case ExitKind::return_: left = Left::call; break;
        case ExitKind::break_: left = Left::loop; break;
        case ExitKind::continue_: left = Left::iteration; break;
        case ExitKind::raise: left = Left::process; break;
        }
        break;
      case EventKind::problem: break;
      }
      if (missing_) return Left::process;
      if (left != Left::no) return left;
    }
    return Left::no;
  }

  Left walk_branch(const BranchEvent& branch) {
    if (!matters(branch.yes) && !matters(branch.no)) return Left::no;
    if (walk_.is_equivalent && walk_.is_equivalent(branch)) return walk_side(branch, true);
    switch (decide(branch.condition)) {
    case Answer::yes: missing_ = nullptr; return walk_side(branch, true);
    case Answer::no: missing_ = nullptr; return walk_side(branch, false);
    case Answer::unknown: return Left::process;
    }
    return Left::no;
  }
  Left walk_side(const BranchEvent& branch, bool yes) {
    turns_.push_back({&branch, yes});
    const Left left = walk(yes ? branch.yes : branch.no);
    turns_.pop_back();
    return left;
  }

  Left walk_loop(const LoopEvent& loop) {
    for (const Block& iteration : loop.iterations) {
      const Left left = walk(iteration);
      if (left == Left::iteration) continue;
      if (left == Left::loop) return Left::no;
      if (left != Left::no) return left;
    }
    return Left::no;
  }

  const Record& record_;
  symbolic::Context& symbols_;
  const Block& block_;
  const std::vector<Process>& processes_;
  const Walk& walk_;
  const std::function<void(const Run&)>& each_;
  std::map<Cond, bool> shared_;
  std::vector<std::map<Cond, bool>> own_;
  std::vector<std::unordered_map<Cond, Answer>> unasked_;  // by process
  std::unordered_map<const Block*, bool> matters_, wanted_;
  std::size_t process_ = 0;
  std::vector<Step>* steps_ = nullptr;
  std::vector<Turn> turns_;
  Cond missing_ = nullptr;
};

}  // namespace

bool asks_for_group(const Record& record, Cond condition) {
  const auto it = record.conditions.find(libraries::group_condition);
  return it != record.conditions.end() && it->second == condition;
}

Answer decided_by(const Record& record, Cond condition, Process process) {
  Cond missing = nullptr;
  return decide_by_parts(record.symbols, condition, missing,
      [&](Cond part) { return record.symbols.evaluate(part, numbers_of(record, process)); });
}

bool explore(const Record& record, const Block& block, const std::vector<Process>& processes,
    const Walk& walk, const std::function<void(const Run&)>& each) {
  return Explorer(record, block, processes, walk, each).run();
}

}  // namespace stepzero::rules
