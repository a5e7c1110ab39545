#include "rules/ranks/communication.hpp"

#include "rules/ranks/rank_walker.hpp"

#include "rules/ranks/balance.hpp"
#include "rules/source.hpp"
#include "values/internal_rows.hpp"

#include <limits>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Answer;
using values::Operation;

namespace {

constexpr std::uint64_t most_walked = 400'000;  // events, of one exploration
constexpr int enough_iterations = 8;            // of a loop that goes on where another rank has left it
constexpr int most_iterations_deep = 64;        // blocks in blocks
constexpr int surprising_iterations = 3;        // of a try in a loop: a later one fails as these do

// A call that ends the process: does it tell its caller of no failure, or may it? Nothing: it is no such
// call.
std::optional<bool> ends_well(const OperationEvent& event, const symbolic::Context& symbols) {
  constexpr std::string_view status = "status";
  if (event.row->operation != Operation::fallible || event.row->parameters.empty() ||
      event.row->parameters.front().text() != status || event.arguments.empty())
    return std::nullopt;
  const std::function<bool(values::Value)> success = [&](values::Value value) {
    switch (value.kind) {
    case values::Kind::integer: return symbols.value(value.integer()).value_or(0) == 0;
    case values::Kind::boolean: return symbols.decide(value.condition()) != Answer::yes;
    case values::Kind::choice:
      return success(value.as<values::Choice>()->yes) || success(value.as<values::Choice>()->no);
    case values::Kind::string:
    case values::Kind::real: return false;
    default: return true;
    }
  };
  return success(event.arguments.front());
}

}  // namespace

Walked RankWalker::run(const Block& block) {
  recorder_.default_groups = choices_.assumed == Assumption::agreement;
  const Left left = walk(block);
  // Who ends before the group is made is no member of it.
  const bool is_member = ended_well_ && (started_ || !starts_group(block));
  trace_.raised = left == Left::process && !missing && !waits_ && !is_member;
  return {std::move(trace_), missing, missing_is_shared, missing_key, missing_is_surprise, too_long};
}

Left RankWalker::walk(const Block& block) {
  if (++nesting_ > 4 * most_iterations_deep) too_long = true;
  Left left = Left::no;
  for (std::size_t i = 0; i < block.events.size() && left == Left::no; ++i) {
    const Event* event = block.events[i];
    if (++walked_ > most_walked || too_long) {
      too_long = true;
      left = Left::process;
      break;
    }
    switch (event->kind) {
    case EventKind::operation: {
      const auto& operation = static_cast<const OperationEvent&>(*event);
      if (operation.row->path == values::InternalRow::raised && !operation.arguments.empty())
        raised_ = operation.arguments.front();
      if (fails_ && runs_.may_fail(own_, operation)) {
        fails_ = false;
        left = Left::process;
        break;
      }
      if (const auto well = ends_well(operation, symbols_)) ends_well_ = well;
      started_ = started_ || operation.row->operation == Operation::group_settings;
      if (!is_traced(operation)) break;
      operation_site_ = runs_.site(own_, operation.place, operation.calls);
      differs_ = false;
      if (!recorder_.add(operation, turns_, iterations_)) too_long = true;
      if (trace_.nowhere) {
        left = Left::process;
        if (tries_ == 0) break;
        // What is done about it is not known.
        trace_.nowhere.reset();
        recorder_.become_uncertain();
      }
      break;
    }
    case EventKind::branch: left = walk_branch(static_cast<const BranchEvent&>(*event)); break;
    case EventKind::loop: left = walk_loop(static_cast<const LoopEvent&>(*event)); break;
    case EventKind::call: {
      const auto& call = static_cast<const CallEvent&>(*event);
      const bool quiet = !leads_on(call);
      if (quiet && fails_ && fails_in(call.body)) {
        fails_ = false;
        left = Left::process;
        break;
      }
      if (quiet && !raises(call.body)) break;
      if (quiet) {
        // Only what is known for certain ends the process here.
        left = certain_end(call.body);
        break;
      }
      left = walk(call.body);
      if (left == Left::call) left = Left::no;
      break;
    }
    case EventKind::attempt: left = walk_attempt(static_cast<const AttemptEvent&>(*event)); break;
    case EventKind::exit: left = leave(static_cast<const ExitEvent&>(*event)); break;
    case EventKind::problem: {
      const auto& problem = static_cast<const ProblemEvent&>(*event);
      if (problem.problem == values::ProblemKind::unbound)
        trace_.missing.push_back({std::string(syntax::as<syntax::NameExpr>(*problem.node).id.text()),
            runs_.site(own_, event->place, event->calls), runs_.translate(own_, event->place),
            runs_.translate(own_, event->calls), turns_});
      break;
    }
    }
    if (missing) left = Left::process;
  }
  --nesting_;
  return left;
}

Left RankWalker::certain_end(const Block& block) {
  for (const Event* event : block.events) {
    ++walked_;
    if (event->kind == EventKind::exit) {
      const auto& exit = static_cast<const ExitEvent&>(*event);
      if (exit.exit == ExitKind::raise) return leave(exit);
      return Left::no;
    }
    if (event->kind == EventKind::branch) {
      const auto& branch = static_cast<const BranchEvent&>(*event);
      const Answer answer = symbols_.form(branch.condition) == symbolic::Context::Form::constant
          ? symbols_.decide(branch.condition)
          : Answer::unknown;
      if (answer == Answer::unknown) {
        if (!matters(branch.yes) && !matters(branch.no)) continue;
        // Somebody takes what the rank raises by its own data: it goes on otherwise than the others.
        if (tries_ == 0 || !runs_.differs(own_, branch) ||
            ends_in_exception(branch.yes) == ends_in_exception(branch.no))
          return Left::no;
        if (const Left left = walk_branch(branch); left != Left::no)
          return left == Left::call ? Left::no : left;
        continue;
      }
      push_decision(branch, answer == Answer::yes, runs_.site(own_, branch.place, branch.calls), false);
      const Block& side = answer == Answer::yes ? branch.yes : branch.no;
      const bool leaves = !side.events.empty() && matters(side);
      const Left left = leaves ? certain_end(side) : Left::no;
      turns_.pop_back();
      if (leaves) return left;
      continue;
    }
    if (event->kind == EventKind::call) {
      if (const Left left = certain_end(static_cast<const CallEvent*>(event)->body); left != Left::no)
        return left;
      continue;
    }
    if (event->kind == EventKind::operation &&
        static_cast<const OperationEvent*>(event)->row->path == values::InternalRow::raised)
      raised_ = static_cast<const OperationEvent*>(event)->arguments.front();
    if (event->kind == EventKind::operation)
      if (const auto well = ends_well(static_cast<const OperationEvent&>(*event), symbols_))
        ends_well_ = well;
    if (event->kind != EventKind::operation && event->kind != EventKind::problem) return Left::no;
  }
  return Left::no;
}

void RankWalker::push_decision(const BranchEvent& branch, bool yes, int site, bool local) {
  trace_.decisions.push_back({site, times_[site]++, yes, local,
      symbols_.form(branch.condition) != symbolic::Context::Form::constant &&
          (!presumed_ || unseen_ || locally_),
      unseen_, false, false, &branch, runs_.translate(own_, branch.place), branch.calls});
  turns_.push_back(trace_.decisions.size() - 1);
}

Answer RankWalker::any_side(const BranchEvent& branch, int site) {
  const bool rank_decides = runs_.is_about_rank(own_, branch) || runs_.differs(own_, branch);
  if (tries_ == 0 && !rank_decides && dies(branch.yes) != dies(branch.no)) {
    const bool yes = dies(branch.no);
    take_for_true(yes ? branch.condition : symbols_.logical_not(branch.condition));
    return yes ? Answer::yes : Answer::no;
  }
  if (!choices_.balanced->contains(site)) return Answer::unknown;
  const auto worth = [&](const Block& side) { return communicates(side) ? 2 : matters(side) ? 0 : 1; };
  return worth(branch.yes) >= worth(branch.no) ? Answer::yes : Answer::no;
}

Left RankWalker::walk_branch(const BranchEvent& branch) {
  const bool constant = symbols_.form(branch.condition) == symbolic::Context::Form::constant;
  if (!constant && !leads_on(branch) && !matters(branch.yes) && !matters(branch.no)) return Left::no;
  // Where no rank differs from the others, nothing is seen to fail.
  if (!constant && runs_.fails_equally(own_, branch)) {
    take_for_true(symbols_.logical_not(branch.condition));
    return walk(branch.no);
  }
  const int site = runs_.site(own_, branch.place, branch.calls);
  locally_ = unseen_ = presumed_ = false;
  differs_ = runs_.differs(own_, branch);
  gradients_of_ = choices_.assumed == Assumption::gradients && runs_.is_about_gradients(own_, branch)
      ? runs_.site(own_, branch.place, nullptr)
      : 0;
  about_rank_ = runs_.is_about_rank(own_, branch);
  asked_ = &branch;
  Answer answer = choices_.assumed == Assumption::agreement && !differs_ && is_agreed_on(branch.condition)
      ? as_one_question(branch.condition, site)
      : decide(branch.condition, site);
  asked_ = nullptr;
  differs_ = about_rank_ = false;
  gradients_of_ = 0;
  if (answer == Answer::unknown && choices_.balanced) answer = any_side(branch, site);
  if (answer == Answer::unknown) return Left::process;
  missing = nullptr;
  push_decision(branch, answer == Answer::yes, site, locally_);
  Left left = walk(answer == Answer::yes ? branch.yes : branch.no);
  if (branch.is_assertion() && answer == Answer::no && left == Left::no) {
    ExitEvent exit;
    exit.place = branch.place;
    exit.calls = branch.calls;
    exit.exit = ExitKind::raise;
    exit.fails = true;
    left = leave(exit);
  }
  turns_.pop_back();
  return left;
}

Left RankWalker::walk_loop(const LoopEvent& loop) {
  bool any = false;
  for (const Block& iteration : loop.iterations) any = any || matters(iteration);
  for (const Block& iteration : loop.first) any = any || matters(iteration);
  const int site = runs_.site(own_, loop.place, loop.calls);
  const int nth = times_[site]++;
  const Place place = runs_.translate(own_, loop.place);
  if (!any) {
    // Its iterations are made, too, though nothing is known to be entered in them.
    const auto count = !loop.unrolled && loop.length && !loop.iterations.empty() &&
            !leaves(loop.iterations.front())
        ? symbols_.value(loop.length)
        : std::nullopt;
    if (!loop.iterations.empty())
      trace_.loops.push_back({site, nth, 0, place, nullptr, true, count, false, nullptr, false, true});
    for (const Block& iteration : loop.iterations) note_silent_loops(iteration);
    return Left::no;
  }
  const bool certainly = choices_.certain && !loop.unrolled && !loop.first.empty();
  const bool by_own_data = !loop.unrolled && runs_.is_local(own_, loop);
  if (!certainly && !loop.unrolled && !by_own_data && runs_.is_divergent(own_, loop) &&
      loop.counts.sizes.empty())
    for (const Block& iteration : loop.iterations)
      if (communicates(iteration)) recorder_.become_uncertain();
  // How many messages there are is not known.
  if (!certainly && !loop.unrolled &&
      (loop.trips != symbolic::Sharing::uniform ||
          (loop.stmt && loop.stmt->kind == syntax::StmtKind::while_)))
    for (const Block& iteration : loop.iterations)
      if (sends(iteration)) recorder_.become_uncertain();
  const std::size_t entry = trace_.loops.size();
  LoopRun run{site, nth, 0, place, runs_.translate(own_, loop.calls), !loop.unrolled, {}, loop.any_order,
      nullptr, by_own_data};
  if (!loop.unrolled && loop.length && !leaves(loop.iterations.front()))
    run.count = symbols_.value(loop.length);
  if (!loop.unrolled && !leaves(loop.iterations.front())) run.counts = &loop.counts;
  run.left = is_left(loop);
  const bool none = run.count && *run.count <= 0;
  if (none) run.stands_for_many = false;
  trace_.loops.push_back(run);
  if (none) return Left::no;
  int number = 0;
  // Where another rank is seen to end, the first iterations tell whether this one goes on; what follows them
  // is not known.
  const bool goes_on = certainly ||
      (!loop.unrolled && loop.first.size() >= enough_iterations && runs_.ends_elsewhere(own_, loop));
  if (goes_on) trace_.loops[entry].stands_for_many = false;
  for (const Block& iteration : goes_on ? loop.first : loop.iterations) {
    if (goes_on && !certainly && number == enough_iterations) break;
    iterations_.push_back({site, nth, number++, place, &loop, turns_.size()});
    trace_.loops[entry].iterations = number;
    const Left left = walk(iteration);
    iterations_.pop_back();
    if (left == Left::iteration || left == Left::no) continue;
    if (left == Left::loop) return Left::no;
    return left;
  }
  if (goes_on) {
    trace_.loops[entry].iterations = std::numeric_limits<int>::max();
    recorder_.become_uncertain();
  }
  return Left::no;
}

void RankWalker::note_silent_loops(const Block& block) {
  for (const Event* event : block.events) {
    ++walked_;
    if (event->kind == EventKind::loop)
      walk_loop(static_cast<const LoopEvent&>(*event));
    else if (event->kind == EventKind::call)
      note_silent_loops(static_cast<const CallEvent*>(event)->body);
    else
      any_in(*event, [&](const Block& part) { return note_silent_loops(part), false; });
  }
}

Left RankWalker::walk_attempt(const AttemptEvent& attempt) {
  // The run in which nothing is raised by surprise.
  const bool handles = !attempt.handlers.empty();
  const std::size_t decision = trace_.decisions.size();
  const int site = runs_.site(own_, attempt.place, attempt.calls);
  const int nth = times_[site]++;
  trace_.decisions.push_back({site, nth, true, false, false, false, false, true, nullptr,
      runs_.translate(own_, attempt.place), attempt.calls});
  // The other run, in which a file of this rank cannot be read or written, is of interest where that leads
  // past communication: in the try, or after it where the handler leaves the function or the loop.
  const bool may_surprise = attempt.raised && !fails_ && nth < surprising_iterations;
  const Block* const of_files = may_surprise ? handler_of_files(attempt) : nullptr;
  const bool may_fail = of_files && fails_in(attempt.body) &&
      (communicates(attempt.body) || communicates(attempt.orelse) || communicates(*of_files) ||
          leads_past(*of_files));
  // … or runs out of memory, which the program itself says.
  const Block* const exhausted = may_surprise && attempt.exhausted >= 0 && !may_fail
      ? &attempt.handlers[static_cast<std::size_t>(attempt.exhausted)]
      : nullptr;
  const bool may_run_out = exhausted &&
      (communicates(attempt.body) || communicates(attempt.orelse) || communicates(*exhausted));
  bool fails = false;
  if (may_fail || may_run_out) {
    const auto chosen = choices_.own.find(attempt.raised);
    if (chosen == choices_.own.end() && !choices_.surprised) {
      if (!missing) {
        missing = attempt.raised;
        missing_is_shared = false;
        missing_is_surprise = true;
      }
      return Left::process;
    }
    fails_ = fails = chosen != choices_.own.end() && chosen->second;
    trace_.decisions[decision].open = trace_.decisions[decision].surprise = true;
  }
  turns_.push_back(decision);
  if (may_run_out && fails) {
    fails_ = false;
    trace_.decisions[decision].yes = false;
    trace_.decisions[decision].handled_from = trace_.comms.size();
    for (const Cond condition : attempt.exhausted_when) take_for_true(condition);
    const Left left = walk(*exhausted);
    turns_.pop_back();
    if (missing || too_long) return left;
    const Left last = walk(attempt.finally);
    return last == Left::no ? left : last;
  }
  const std::size_t exits = trace_.exits.size();
  tries_ += handles;
  Left left = walk(attempt.body);
  tries_ -= handles;
  fails = fails && !fails_;
  fails_ = false;
  if (!missing && !too_long) {
    if (left == Left::process && handles) {
      trace_.decisions[decision].yes = false;
      trace_.decisions[decision].handled_from = trace_.comms.size();
      for (std::size_t i = exits; i < trace_.exits.size(); ++i)
        trace_.exits[i].caught = trace_.exits[i].caught || trace_.exits[i].kind == ExitKind::raise;
      const Block* const handler = attempt.caught ? &attempt.handlers.back()
          : fails                                 ? of_files
                                                  : handler_of(attempt, std::exchange(raised_, {}));
      if (handler)
        left = walk(*handler);
      else
        recorder_.become_uncertain();
    } else if (left == Left::no) {
      left = walk(attempt.orelse);
    }
  }
  turns_.pop_back();
  if (missing || too_long) return left;
  // What is left runs what stands in `finally`, too.
  const Left last = walk(attempt.finally);
  return last == Left::no ? left : last;
}

bool RankWalker::waits_in(const ExitEvent& exit) const {
  if (trace_.comms.empty() || trace_.comms.back().starts) return false;
  const CommEvent& comm = trace_.comms.back();
  if (comm.what != CommEvent::What::receive && (comm.what != CommEvent::What::collective || !comm.root))
    return false;
  const Place last = trace_.comms.back().event->place;
  return last.chunk == exit.place.chunk && last.span.begin >= exit.place.span.begin &&
      last.span.end <= exit.place.span.end;
}

std::optional<bool> RankWalker::raises_success(const ExitEvent& exit) const {
  if (exit.fails) return std::nullopt;
  const auto path = enclosing(*record_.chunk(exit.place).chunk->stmt, exit.place.span);
  if (path.empty() || path.back().stmt->kind != syntax::StmtKind::raise) return std::nullopt;
  const syntax::Expr* raised = syntax::as<syntax::RaiseStmt>(*path.back().stmt).exception;
  if (!raised || raised->kind != syntax::ExprKind::call ||
      syntax::as<syntax::CallExpr>(*raised).arguments.empty())
    return raised ? std::optional(true) : std::nullopt;
  const syntax::Expr& status = *syntax::as<syntax::CallExpr>(*raised).arguments.front();
  return status.kind != syntax::ExprKind::string && status.kind != syntax::ExprKind::format &&
      (status.kind != syntax::ExprKind::integer || record_.text({exit.place.chunk, status.span}) == "0");
}

Left RankWalker::leave(const ExitEvent& exit) {
  PathExit leaving;
  leaving.kind = exit.exit;
  leaving.site = runs_.site(own_, exit.place, exit.calls);
  leaving.place = runs_.translate(own_, exit.place);
  leaving.calls = runs_.translate(own_, exit.calls);
  leaving.turns = turns_;
  leaving.iterations = iterations_;
  leaving.at = trace_.comms.size();
  const auto well = exit.exit == ExitKind::raise ? std::exchange(ends_well_, std::nullopt) : std::nullopt;
  const auto success = exit.exit == ExitKind::raise ? raises_success(exit) : std::nullopt;
  leaving.fails = exit.fails || well == false || success == false;
  ended_well_ = exit.exit == ExitKind::raise && (well == true || success == true);
  if (exit.exit == ExitKind::raise && waits_in(exit)) waits_ = true;
  trace_.exits.push_back(std::move(leaving));
  switch (exit.exit) {
  case ExitKind::return_: return Left::call;
  case ExitKind::break_: return Left::loop;
  case ExitKind::continue_: return Left::iteration;
  case ExitKind::raise: return Left::process;
  }
  return Left::no;
}

Walked walk_rank(
    Runs& runs, RankRun& own, int world, const Block& block, Choices choices, std::uint64_t& walked) {
  return RankWalker(runs, own, world, choices, walked).run(block);
}

}  // namespace stepzero::rules
