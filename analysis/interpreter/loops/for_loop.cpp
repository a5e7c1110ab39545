// `for`. Over known elements it is unrolled within a budget; of the others any one iteration stands for all,
// and the first and the last are run by themselves where something is known of them alone.
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/no_result.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/expressions/iterables.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/loops/begin_iteration.hpp"
#include "interpreter/loops/each_iteration.hpp"
#include "interpreter/loops/first_iteration.hpp"
#include "interpreter/loops/iteration_ways.hpp"
#include "interpreter/loops/known_iterations.hpp"
#include "interpreter/loops/last_iteration.hpp"
#include "interpreter/loops/loop_shape.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/statements/assignments.hpp"
#include "symbolic/naming.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::uint64_t unroll_steps_list = 20'000;
constexpr std::uint64_t unroll_steps_range = 40'000;
// In a dry run, of which only what it changes is kept: most often any one iteration tells that, too.
constexpr std::uint64_t unroll_steps_dry_range = 12'000;
// Where memory is counted: who sorts parameters goes through all modules, and all parameters of each.
constexpr std::uint64_t unroll_steps_counted = 300'000;
constexpr std::uint64_t unroll_share =
    4;  // of the steps that are left, no range takes more than one part in so many
constexpr std::uint64_t first_iteration_steps =
    4'000;  // of an iteration that is run once more for its first number
constexpr std::uint64_t last_iteration_steps = 8'000;  // or for its last batch
constexpr std::uint64_t asked_steps = 3'000;           // of iterations that ask a function for their element
constexpr std::uint64_t unroll_steps_building = 80'000;
constexpr int most_parts = 500;  // of an element whose kinds are looked for

// Two texts at least, which lie in a set in an order that differs from process to process.
bool holds_texts(const values::ListState& set) {
  return std::count_if(
             set.items.begin(), set.items.end(), [](const Value& item) { return item.is(Kind::string); }) > 1;
}

// What an iteration of a loop gives by `yield`: once in every iteration, once in those of which a condition
// holds, or in another way.
struct Yielding {
  bool once = false;
  const Expr* condition = nullptr;
};
bool yields(const Stmt* stmt) {
  return stmt->kind == StmtKind::expression && as<ExpressionStmt>(*stmt).value->kind == ExprKind::yield;
}
int count_yields(syntax::Block body) {
  int count = 0;
  for (const Stmt* stmt : body) {
    constexpr int too_many = 2;
    switch (stmt->kind) {
    case StmtKind::expression:
      count += yields(stmt)                                               ? 1
          : as<ExpressionStmt>(*stmt).value->kind == ExprKind::yield_from ? too_many
                                                                          : 0;
      break;
    case StmtKind::assign:
      count += as<AssignStmt>(*stmt).value->kind == ExprKind::yield ? too_many : 0;
      break;
    case StmtKind::if_:
      count += count_yields(as<IfStmt>(*stmt).body) + count_yields(as<IfStmt>(*stmt).orelse);
      break;
    case StmtKind::for_:
      count += count_yields(as<ForStmt>(*stmt).body) + count_yields(as<ForStmt>(*stmt).orelse);
      break;
    case StmtKind::with: count += count_yields(as<WithStmt>(*stmt).body); break;
    case StmtKind::while_:
    case StmtKind::try_:
    case StmtKind::match: count += too_many; break;
    case StmtKind::return_: count += too_many; break;
    default: break;
    }
  }
  return count;
}
Yielding yielding_of(syntax::Block body) {
  if (count_yields(body) != 1) return {};
  for (const Stmt* stmt : body) {
    if (stmt->kind == StmtKind::break_ || stmt->kind == StmtKind::continue_) return {};
    if (yields(stmt)) return {true, nullptr};
    if (stmt->kind == StmtKind::if_ && as<IfStmt>(*stmt).orelse.empty() &&
        std::ranges::any_of(as<IfStmt>(*stmt).body, yields))
      return {true, as<IfStmt>(*stmt).test};
  }
  return {};
}

// `any` stands for any one of several, of which `one` is one: the conditions under which a part of it is of
// one kind or another. Each kind is that of some of them.
void conditions_of_kinds(
    symbolic::Context& s, Value any, Value one, std::vector<Cond>& found, int& budget, int depth = 0) {
  constexpr int deepest_part =
      8;  // an object of objects of lists…: what lies deeper decides no kind of an element
  if (any == one || --budget < 0 || depth > deepest_part) return;
  if (any.is(Kind::choice)) {
    if (one.is(Kind::choice)) return;  // the program's own
    const std::function<void(Value, Cond)> sides = [&](Value value, Cond condition) {
      if (!value.is(Kind::choice)) return found.push_back(condition);
      const auto* choice = value.as<values::Choice>();
      if (!symbolic::is_anonymous(choice->condition)) return;
      sides(choice->yes, s.logical_and(condition, choice->condition));
      sides(choice->no, s.logical_and(condition, s.logical_not(choice->condition)));
    };
    return sides(any, s.boolean(true));
  }
  if (any.kind != one.kind) return;
  if (any.is(Kind::instance)) {
    for (const auto& [name, slot] : any.as<values::Instance>()->attributes.entries())
      if (const values::Slot* own = one.as<values::Instance>()->attributes.find(name);
          own && own->value && slot->value)
        conditions_of_kinds(s, slot->value, own->value, found, budget, depth + 1);
  } else if (any.is(Kind::list)) {
    const auto &all = values::Heap::list_state(any)->items, &own = values::Heap::list_state(one)->items;
    for (std::size_t i = 0; i < std::min(all.size(), own.size()); ++i)
      conditions_of_kinds(s, all[i], own[i], found, budget, depth + 1);
  } else if (any.is(Kind::tuple)) {
    const auto &all = any.as<values::Tuple>()->items, &own = one.as<values::Tuple>()->items;
    for (std::size_t i = 0; i < std::min(all.size(), own.size()); ++i)
      conditions_of_kinds(s, all[i], own[i], found, budget, depth + 1);
  }
}

}  // namespace

bool communicates(const Block& block) {
  return std::ranges::any_of(block.events, [](const Event* event) {
    switch (event->kind) {
    case EventKind::operation: {
      const values::Row& row = *static_cast<const OperationEvent*>(event)->row;
      return row.collective || row.message || row.operation == values::Operation::backward ||
          row.operation == values::Operation::await ||
          row.operation == values::Operation::unseen_communication;
    }
    case EventKind::branch:
      return communicates(static_cast<const BranchEvent*>(event)->yes) ||
          communicates(static_cast<const BranchEvent*>(event)->no);
    case EventKind::call: return communicates(static_cast<const CallEvent*>(event)->body);
    case EventKind::loop:
      return std::ranges::any_of(static_cast<const LoopEvent*>(event)->iterations, communicates);
    case EventKind::attempt: return true;
    default: return false;
    }
  });
}

namespace {
// Is it told already that the place fails?
bool fails_at(const Block& block, Place place) {
  return std::ranges::any_of(block.events, [&](const Event* event) {
    switch (event->kind) {
    case EventKind::problem:
      return event->place == place && !static_cast<const ProblemEvent*>(event)->guarded &&
          !static_cast<const ProblemEvent*>(event)->assumption;
    case EventKind::branch:
      return fails_at(static_cast<const BranchEvent*>(event)->yes, place) ||
          fails_at(static_cast<const BranchEvent*>(event)->no, place);
    case EventKind::call: return fails_at(static_cast<const CallEvent*>(event)->body, place);
    case EventKind::loop:
      return std::ranges::any_of(static_cast<const LoopEvent*>(event)->iterations,
          [&](const Block& iteration) { return fails_at(iteration, place); });
    default: return false;
    }
  });
}
}  // namespace

// A `for` whose iterations are run by their statements: each by itself where they are few and known, else any
// one of them for all.
struct LoopRunner::ForLoop {
  Interpreter& run;
  const ForStmt& stmt;
  Value iterable;
  symbolic::Context& s;
  bool is_iterator = false;                     // it is used up
  Value first{};                                // of several elements that are known
  std::vector<const ProblemEvent*> failures{};  // of a first iteration that is known
  OperationEvent* misfit = nullptr;             // of the last iteration, where its batch is smaller
  LoopShape shape{};
  std::vector<Cond>
      kinds{};  // of the element in the last iteration that was run: which of the known ones it is like
  Int number = nullptr;      // of that iteration
  bool first_fails = false;  // an iteration of the first element was run by itself, and fails
  bool dry_run = false;      // the first number of a range has had its iteration
  Int last_one = nullptr;    // the last number of a range, where it is an index
  std::vector<const ProblemEvent*> last_failures{};  // of its iteration

  Flow result();

private:
  // Are failures looked for in iterations by themselves?
  bool may_run_alone() const {
    return run.dry_runs_ == 0 && !run.limits_.as_rank && run.policy_.looks_for_failures;
  }
  void run_alone(Value item, const std::function<void()>& prepare, std::vector<const ProblemEvent*>& found);
  void run_last(Value item, const Speculation& iteration, std::size_t first_event);
  void run_number(Speculation& iteration, const std::vector<Cond>& path, Int number,
      std::vector<const ProblemEvent*>& found);
  Int last_number() const;
  void tell_last(std::size_t so_far);
  std::optional<Flow> unrolled();
  std::optional<Flow> asked(std::vector<Block>& so_far);
  bool is_counted() const;
  Flow run_any_iteration(bool counted, const std::function<void(Value)>& begun);
  const LoopEvent* loop_since(std::size_t event) const;
  void end_early(std::size_t begin);
  void deal_out(std::size_t begin);
  void prove_of_each_kind(std::size_t begin);
};

Flow LoopRunner::run_for(const ForStmt& stmt) {
  Value iterable = run_.resolve(run_.evaluate(*stmt.iterable));
  if (run_.killed_) {
    run_.killed_ = false;
    return run_.leave(ExitKind::raise, stmt, run_.raised_);
  }
  if (const Value made = refuse_nothing(run_, iterable, NoResult::iteration, run_.here(*stmt.iterable)))
    iterable = made;
  // An object whose `__iter__` yields is gone through as what that gives.
  if (iterable.is(Kind::instance) && iterable.as<values::Instance>()->cls &&
      !iterable.as<values::Instance>()->symbolic)
    if (const Value method = run_.find_method(iterable.as<values::Instance>(), Name("__iter__"));
        method.is(Kind::bound)) {
      const Value function = run_.resolve(method.as<values::Bound>()->function);
      const auto* given = function.is(Kind::function) ? function.as<values::Function>()->stmt : nullptr;
      if (given && given->scope.is_generator)
        if (const Value generator = run_.resolve(run_.call(method, {}, run_.here(*stmt.iterable)));
            FunctionCalls::is_pending(generator))
          iterable = generator;
    }
  if (FunctionCalls::is_pending(iterable)) return run_generator_loop(stmt, iterable);
  const auto over = [&](Value one) {
    ForLoop loop{run_, stmt, begin_iteration(run_, one, run_.here(*stmt.iterable)), symbols()};
    return loop.result();
  };
  if (const auto* either = either_unlike(run_, iterable))
    return run_.fork(
        either->condition, nullptr, run_.here(*stmt.iterable), [&] { return over(either->yes); },
        [&] { return over(either->no); });
  return over(iterable);
}

Flow LoopRunner::ForLoop::result() {
  is_iterator = iterable.is(Kind::iterator) ||
      (iterable.is(Kind::list) && iterable.as<values::List>()->kind == values::ListKind::iterator);
  if (const auto flow = unrolled()) return *flow;
  if (const auto flow = asked(shape.first)) return *flow;
  const bool counted = is_counted();
  shape.counted = counted;
  shape.stmt = &stmt;
  shape.place = {run.chunk_, stmt.header};
  shape.trips = run.iterables_->trips_of(iterable);
  shape.length = run.iterables_->known_length(iterable);
  // A loader of what each rank has of its own.
  if (iterable.is(Kind::instance) && shape.length && run.symbols().sharing(shape.length) == Sharing::local)
    shape.trips = symbolic::mix(shape.trips, Sharing::local);
  shape.any_order = iterable.is(Kind::list) && iterable.as<values::List>()->kind == values::ListKind::set &&
      holds_texts(*values::Heap::list_state(iterable));
  // A generator whose only `yield` it holds gives as many values as the loop makes iterations.
  const auto* const generator = run.limits_.as_rank && run.frame_->on_yield && run.frame_->function
      ? run.frame_->function->stmt
      : nullptr;
  const bool only = generator && shape.length && count_yields(generator->body) == 1 &&
      std::ranges::find(generator->body, static_cast<const Stmt*>(&stmt)) != generator->body.end();
  const Yielding yielding = only ? yielding_of(stmt.body) : Yielding{};
  Int yielded = yielding.once && !yielding.condition ? shape.length : nullptr;
  last_one = last_number();
  const std::size_t begin = run.record_.events.size(), so_far = run.block_->events.size();
  const Flow flow = run_any_iteration(counted, [&](Value) {
    if (yielding.once && yielding.condition && yielding.condition->kind == ExprKind::compare)
      yielded = number
          ? run.loops_->length_of_share(shape.length, number, run.truth(run.evaluate(*yielding.condition)))
          : nullptr;
  });
  auto& events = run.block_->events;
  events.insert(events.begin() + static_cast<std::ptrdiff_t>(std::min(so_far, events.size())),
      failures.begin(), failures.end());
  if (!failures.empty()) return run.loops_->run_else(stmt.body, stmt.orelse, flow);
  if (const LoopEvent* event = misfit ? loop_since(so_far) : nullptr;
      event && !leaves_the_loop(event->iterations[0]))
    run.append(misfit);
  tell_last(so_far);
  if (yielded) run.heap().slot_of(run.frame_->scope->names, yielded_name).value = Value::of(yielded);
  if (is_iterator && shape.length) run.heap().set_list(iterable, {});
  if (run.limits_.as_rank && run.dry_runs_ == 0 && number && shape.length && loop_since(so_far)) {
    end_early(begin);
    deal_out(begin);
  }
  if (!kinds.empty() && events.size() > so_far && events[so_far]->kind == EventKind::loop &&
      !leaves_the_loop(static_cast<const LoopEvent*>(events[so_far])->iterations[0]))
    prove_of_each_kind(begin);
  return run.loops_->run_else(stmt.body, stmt.orelse, flow);
}

// The loop's own event, where it is the last one of the block since `event`.
const LoopEvent* LoopRunner::ForLoop::loop_since(std::size_t event) const {
  const auto& events = run.block_->events;
  return events.size() > event && events.back()->kind == EventKind::loop
      ? static_cast<const LoopEvent*>(events.back())
      : nullptr;
}

// Runs an iteration by itself, for what fails in it whatever is not known.
void LoopRunner::ForLoop::run_alone(
    Value item, const std::function<void()>& prepare, std::vector<const ProblemEvent*>& found) {
  Block scratch;
  Block* const block = run.block_;
  run.block_ = &scratch;
  const bool alone = run.dry_runs_ == 0;
  run.dry_runs_ += alone;
  ++run.generic_depth_;
  {
    const Speculation trial(run, Speculation::Of::trial);
    if (prepare) prepare();
    LoopTarget target{trial.mark(), trial.mark(), trial.depth(), {}, {}};
    run.frame_->loops.push_back(&target);
    run.loops_->run_iteration(
        target,
        [&] {
          run.assignments_->run_assign(*stmt.target, item);
          return run.run_block(stmt.body);
        },
        true);
    run.frame_->loops.pop_back();
  }
  --run.generic_depth_;
  run.dry_runs_ -= alone;
  run.block_ = block;
  failures_of_first_iteration(scratch, found);
}

// The last iteration with its smaller batch, after one with a whole batch.
void LoopRunner::ForLoop::run_last(Value item, const Speculation& iteration, std::size_t first_event) {
  misfit = nullptr;
  values::Heap& heap = run.heap();
  const auto last = may_run_alone() && !run.guarded()
      ? last_iteration(run, item, run.iterables_->known_length(iterable))
      : std::nullopt;
  if (!last) return;
  std::vector<const ProblemEvent*> found;
  const std::size_t last_event = run.record_.events.size(), doubts = s.doubts();
  const auto left = heap.written(iteration.mark());
  run_alone(
      with_batch(heap, item, last->batch, last->size),
      [&] {
        s.assume(s.compared(symbolic::Compare::eq, last->batch, s.constant(last->others)));
        for (const auto& [slot, before] : left)
          if (const Value whole = with_batch(heap, slot->value, last->batch, last->others);
              !(whole == slot->value))
            heap.set(*slot, whole);
      },
      found);
  run.incremental_->replay().doubts += s.doubts() - doubts;
  const ProblemEvent* failure = failure_of_last_iteration(run.record_, found, first_event, last_event);
  if (!failure) return;
  misfit = run.noted_->record_implied(values::InternalRow::misfits, last->loader,
      {heap.integer(last->samples), heap.integer(last->others), heap.integer(last->size)}, {},
      failure->place);
  if (!misfit) return;
  misfit->calls = failure->calls;
  misfit->refusal = failure->refusal;
}

// Each iteration by itself; absent where they are too many, or take too long.
std::optional<Flow> LoopRunner::ForLoop::unrolled() {
  const auto items = run.elements(iterable, run.here(*stmt.iterable));
  if (!items || items->size() > max_unrolled) return {};
  Flow flow;
  // What an early exit leaves in an iterator is not known.
  const auto whole = is_iterator ? *values::Heap::list_state(iterable) : values::ListState{};
  if (is_iterator) run.heap().set_list(iterable, {});
  const auto share_up_to = [&](std::uint64_t most) {
    const std::uint64_t left = run.step_limit_ - std::min(run.step_limit_, run.record_.steps);
    const bool all = left / unroll_share >= most;
    run.incremental_->note_steps_left(
        all ? most * unroll_share : left, all ? RunState::unlimited_steps : left);
    return all ? most : left / unroll_share;
  };
  const std::uint64_t budget = run.loops_->building() ? unroll_steps_building
      : iterable.is(Kind::range)
      ? share_up_to(run.dry_runs_ > 0 ? unroll_steps_dry_range : unroll_steps_range)
      : run.record_.conditions.contains(values::RecordCondition::counted) ? share_up_to(unroll_steps_counted)
                                                                          : unroll_steps_list;
  if (run.loops_->run_unrolled(stmt, *items, budget, flow)) return flow;
  if (is_iterator) run.heap().set_list(iterable, whole);
  if (items->size() > 1) first = run.resolve(items->front());
  // Elements of several kinds: what fails for the first of them is proven, though it is not for any one of
  // them.
  const auto is_any_number = [&] {
    return iterable.is(Kind::range) && stmt.target->kind == ExprKind::name &&
        !reads(stmt.body, as<NameExpr>(*stmt.target).id);
  };
  const auto differs = [&](const Value& item) { return !(item == items->front()); };
  if (run.dry_runs_ == 0 && std::ranges::any_of(*items, differs) && !is_any_number()) {
    std::vector<const ProblemEvent*> found;
    run_alone(items->front(), nullptr, found);
    first_fails = !found.empty();
    run.block_->events.insert(run.block_->events.end(), found.begin(), found.end());
  }
  return {};
}

// Over `iter(function, last)`, as a `while` that calls the function: each iteration by itself as long as it
// is known whether what it gives is the last. Absent, and nothing has happened, where it is not: then
// `so_far` gets the first ones, in the run of one rank that was told of messages.
std::optional<Flow> LoopRunner::ForLoop::asked(std::vector<Block>& so_far) {
  const Value both = iterable.is(Kind::instance)
      ? iterable.as<values::Instance>()->attributes.value(called_each_iteration)
      : Value{};
  if (!both.is(Kind::tuple)) return {};
  const Value function = both.as<values::Tuple>()->items[0], last = both.as<values::Tuple>()->items[1];
  KnownIterations known{run, stmt, stmt.header, stmt.orelse, asked_steps};
  Value item;
  const auto flow = known.all(
      [&] {
        item = run.resolve(run.call(function, {}, run.here(*stmt.iterable)));
        const symbolic::Answer is_last = run.killed_
            ? symbolic::Answer::unknown
            : s.decide(run.truth(run.compare(CompareOp::eq, item, last)));
        return is_last == symbolic::Answer::unknown ? KnownIterations::Next::unknown
            : is_last == symbolic::Answer::yes      ? KnownIterations::Next::none
                                                    : KnownIterations::Next::another;
      },
      [&] {
        run.assignments_->run_assign(*stmt.target, item);
        return run.run_block(stmt.body);
      });
  if (!flow && run.limits_.as_rank && run.limits_.as_rank->told && run.dry_runs_ == 0 &&
      run.generic_depth_ == 0)
    so_far = std::move(known.iterations);
  return flow;
}

// The first number of a range of many, or of nobody knows how many, is known: `if step % 100 == 0` holds for
// it.
bool LoopRunner::ForLoop::is_counted() const {
  return iterable.is(Kind::range) && s.value(iterable.as<values::Range>()->start) && !first_fails &&
      may_run_alone() && !run.loops_->building() && stmt.target->kind == ExprKind::name &&
      asks_for(stmt.body, as<NameExpr>(*stmt.target).id);
}

// The last number of a range that is all known. Null: it is not, or no index either.
Int LoopRunner::ForLoop::last_number() const {
  if (!iterable.is(Kind::range) || run.dry_runs_ > 0 || run.limits_.as_rank ||
      !run.policy_.looks_for_failures || run.loops_->building() || stmt.target->kind != ExprKind::name ||
      !takes_by(stmt.body, as<NameExpr>(*stmt.target).id))
    return nullptr;
  const auto* range = iterable.as<values::Range>();
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const auto start = s.value(range->start), step = s.value(range->step);
  const std::int64_t count = shape.length ? s.value(shape.length).value_or(0) : 0;
  if (!start || !step || count < 2 || count > most || std::abs(*step) > most) return nullptr;
  return s.constant(*start + (count - 1) * *step);
}

// What fails in the last iteration, whatever the others leave, if each comes to its end.
void LoopRunner::ForLoop::tell_last(std::size_t so_far) {
  // Of a loop in which nothing happens there is no event.
  const LoopEvent* event = loop_since(so_far);
  if (event && leaves_the_loop(event->iterations[0])) return;
  for (const ProblemEvent* failure : last_failures)
    if (!event || !fails_at(event->iterations[0], failure->place)) return run.append(failure);
}

// Takes the iteration that was just run back, runs that of the number by itself, and goes on after the
// former.
void LoopRunner::ForLoop::run_number(Speculation& iteration, const std::vector<Cond>& path, Int chosen,
    std::vector<const ProblemEvent*>& found) {
  const std::vector<Cond> path_after = std::exchange(run.path_, path);
  const values::Delta changed = iteration.take();
  const bool killed = std::exchange(run.killed_, false);
  const std::size_t doubts = s.doubts();
  run_alone(Value::of(chosen), nullptr, found);
  run.incremental_->replay().doubts += s.doubts() -
      doubts;  // what it leaves open is no reason to run the program with its defaults
  run.killed_ = killed;
  run.path_ = path_after;
  run.heap().apply(changed);
}

// `begun` is called in each iteration once the target has its value.
Flow LoopRunner::ForLoop::run_any_iteration(bool counted, const std::function<void(Value)>& begun) {
  return run.loops_->run_generic_loop(shape, [&] {
    const Value each = run.element(iterable, run.here(*stmt.iterable));
    kinds.clear();
    if (int budget = most_parts; first && !first_fails && run.dry_runs_ == 0)
      conditions_of_kinds(s, each, first, kinds, budget);
    Speculation iteration(run);
    const std::vector<Cond> path = run.path_;
    const std::uint64_t from = run.record_.steps;
    const std::size_t first_event = run.record_.events.size();
    const Value given = for_an_iteration(run.heap(), each),
                numbered = given.is(Kind::tuple) && !given.as<values::Tuple>()->items.empty()
        ? run.resolve(given.as<values::Tuple>()->items.front())
        : run.resolve(given);
    number = numbered.is(Kind::integer) ? numbered.integer() : nullptr;
    run.assignments_->run_assign(*stmt.target, given);
    begun(given);
    const Flow flow = run.run_block(stmt.body);
    const std::uint64_t steps = run.record_.steps - from;
    if (counted && !std::exchange(dry_run, true) && steps <= first_iteration_steps) {
      run_number(iteration, path, iterable.as<values::Range>()->start, failures);
      first_fails = !failures.empty();
    }
    last_failures.clear();
    if (last_one && flow == Flow::normal && may_run_alone() && !run.guarded() &&
        steps <= first_iteration_steps)
      run_number(iteration, path, last_one, last_failures);
    if (flow == Flow::normal && run.record_.steps - from <= last_iteration_steps)
      run_last(given, iteration, first_event);
    iteration.commit();
    return flow;
  });
}

// `for i in range(most): if i >= n: break` at the top of the iteration: it makes n iterations, and no more.
void LoopRunner::ForLoop::end_early(std::size_t begin) {
  const auto* range = iterable.is(Kind::range) ? iterable.as<values::Range>() : nullptr;
  if (!range || s.value(range->start) != 0 || s.value(range->step) != 1) return;
  auto& events = run.record_.events;
  for (std::size_t i = events.size(); i-- > begin;) {
    if (events[i].get() != run.block_->events.back()) continue;
    auto& event = static_cast<LoopEvent&>(*events[i]);
    if (event.iterations.size() != 1) return;
    const auto [asked, yes, count] = early_end(s, event.iterations[0], number);
    if (!asked) return;
    for (std::size_t k = begin; k < events.size(); ++k)
      if (events[k].get() == asked) {
        auto& branch = static_cast<BranchEvent&>(*events[k]);
        branch.condition = s.boolean(!yes);
        (yes ? branch.yes : branch.no).events.clear();
      }
    event.length = s.min(shape.length, count);
    event.counts = run.loops_->iteration_counts(event.length);
    return;
  }
}

// Iterations that are dealt out to the ranks: only its own count for this one.
void LoopRunner::ForLoop::deal_out(std::size_t begin) {
  auto& events = run.record_.events;
  for (std::size_t i = events.size(); i-- > begin;) {
    if (events[i].get() != run.block_->events.back()) continue;
    auto& event = static_cast<LoopEvent&>(*events[i]);
    const auto* dealt = event.iterations.size() == 1 ? only_communicating_branch(event.iterations[0])
                                                     : nullptr;
    if (!dealt || leaves_the_loop(event.iterations[0])) return;
    for (const bool yes : {true, false})
      if (const Int share = run.loops_->length_of_share(
              shape.length, number, yes ? dealt->condition : s.logical_not(dealt->condition))) {
        for (std::size_t k = begin; k < events.size(); ++k)
          if (events[k].get() == dealt) static_cast<BranchEvent&>(*events[k]).condition = s.boolean(yes);
        event.length = share;
        event.counts = run.loops_->iteration_counts(share);
      }
    return;
  }
}

// Some iteration comes to each kind: what fails for one of them alone fails. Of one kind the first failure,
// from which others may follow.
void LoopRunner::ForLoop::prove_of_each_kind(std::size_t begin) {
  std::unordered_set<Cond> told;
  for (std::size_t i = begin; i < run.record_.events.size(); ++i) {
    if (run.record_.events[i]->kind != EventKind::problem) continue;
    auto& problem = static_cast<ProblemEvent&>(*run.record_.events[i]);
    if (problem.assumption && std::find(kinds.begin(), kinds.end(), problem.assumption) != kinds.end() &&
        told.insert(problem.assumption).second)
      problem.assumption = nullptr;
  }
}

}  // namespace stepzero::interpreter
