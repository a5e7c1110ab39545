// `for` and `while`. Over known elements they are unrolled within a budget; the others are rehearsed.
#include "interpreter/ambiguous_truth.hpp"
#include "interpreter/first_round.hpp"
#include "interpreter/iteration.hpp"
#include "interpreter/last_round.hpp"
#include "interpreter/rounds.hpp"
#include "interpreter/speculation.hpp"
#include "interpreter/unseen.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::uint64_t while_steps = 3'000;  // of a while loop that is run round by round
constexpr std::size_t most_told_rounds = 64;
constexpr std::size_t most_first_rounds = 8;  // that are kept of one that has too many
constexpr std::uint64_t unroll_steps_list = 20'000;
constexpr std::uint64_t unroll_steps_range = 40'000;
constexpr std::uint64_t unroll_share = 4;  // of the steps that are left, no range takes more than one part in so many
constexpr std::uint64_t first_round_steps = 4'000;  // of a round that is run once more for its first number
constexpr std::uint64_t last_round_steps = 8'000;   // or for its last batch
constexpr std::uint64_t unroll_steps_building = 80'000;
constexpr int most_parts = 500;  // of an element whose kinds are looked for

// Two texts at least, which lie in a set in an order that differs from process to process.
bool holds_texts(const values::ListState& set) {
  return std::count_if(set.items.begin(), set.items.end(), [](const Value& item) { return item.is(Kind::string); }) > 1;
}

// Does a path lead out of the loop whose round the block is? A way out of a function or of a loop inside leads back into it.
bool leaves_the_loop(const Block& round, bool in_function = false, bool in_loop = false) {
  return std::any_of(round.events.begin(), round.events.end(), [&](const Event* event) {
    switch (event->kind) {
    case EventKind::exit: {
      const ExitKind exit = static_cast<const ExitEvent*>(event)->exit;
      if (exit == ExitKind::return_) return !in_function;
      return exit != ExitKind::continue_ && !(exit == ExitKind::break_ && in_loop);
    }
    case EventKind::branch:
      return leaves_the_loop(static_cast<const BranchEvent*>(event)->yes, in_function, in_loop) ||
             leaves_the_loop(static_cast<const BranchEvent*>(event)->no, in_function, in_loop);
    case EventKind::call: return leaves_the_loop(static_cast<const CallEvent*>(event)->body, true, false);
    case EventKind::loop: {
      const auto& rounds = static_cast<const LoopEvent*>(event)->rounds;
      return std::any_of(rounds.begin(), rounds.end(), [&](const Block& inner) { return leaves_the_loop(inner, in_function, true); });
    }
    case EventKind::attempt: return true;
    default: return false;
    }
  });
}

bool communicates(const Block& block) {
  return std::ranges::any_of(block.events, [](const Event* event) {
    switch (event->kind) {
    case EventKind::operation: {
      const values::Row& row = *static_cast<const OperationEvent*>(event)->row;
      return row.collective || row.message || row.operation == values::Operation::backward || row.operation == values::Operation::await || row.operation == values::Operation::unseen_communication;
    }
    case EventKind::branch: return communicates(static_cast<const BranchEvent*>(event)->yes) || communicates(static_cast<const BranchEvent*>(event)->no);
    case EventKind::call: return communicates(static_cast<const CallEvent*>(event)->body);
    case EventKind::loop: return std::ranges::any_of(static_cast<const LoopEvent*>(event)->rounds, communicates);
    case EventKind::attempt: return true;
    default: return false;
    }
  });
}
// The branch under which, or behind whose `continue`, everything lies that the round sends or enters; null: there is none.
const BranchEvent* only_communicating_branch(const Block& round) {
  const BranchEvent* found = nullptr;
  const auto goes_on = [](const Block& side) {
    return std::ranges::any_of(side.events, [](const Event* event) { return event->kind == EventKind::exit && static_cast<const ExitEvent*>(event)->exit == ExitKind::continue_; });
  };
  bool behind = false;  // a `continue`
  for (const Event* event : round.events) {
    Block one{{event}};
    const auto* branch = event->kind == EventKind::branch ? static_cast<const BranchEvent*>(event) : nullptr;
    if (branch && !found && (goes_on(branch->yes) != goes_on(branch->no))) {
      if (communicates(goes_on(branch->yes) ? branch->yes : branch->no)) return nullptr;
      found = branch;
      behind = true;
    } else if (communicates(one)) {
      if (behind) continue;
      if (found || !branch || (communicates(branch->yes) && communicates(branch->no))) return nullptr;
      found = branch;
    }
  }
  return found;
}

// What a round of a loop gives by `yield`: once in every round, once in those of which a condition holds, or in another way.
struct Yielding {
  bool once = false;
  const Expr* condition = nullptr;
};
bool yields(const Stmt* stmt) { return stmt->kind == StmtKind::expression && as<ExpressionStmt>(*stmt).value->kind == ExprKind::yield; }
int count_yields(syntax::Block body) {
  int count = 0;
  for (const Stmt* stmt : body) {
    constexpr int too_many = 2;
    switch (stmt->kind) {
    case StmtKind::expression: count += yields(stmt) ? 1 : as<ExpressionStmt>(*stmt).value->kind == ExprKind::yield_from ? too_many : 0; break;
    case StmtKind::assign: count += as<AssignStmt>(*stmt).value->kind == ExprKind::yield ? too_many : 0; break;
    case StmtKind::if_: count += count_yields(as<IfStmt>(*stmt).body) + count_yields(as<IfStmt>(*stmt).orelse); break;
    case StmtKind::for_: count += count_yields(as<ForStmt>(*stmt).body) + count_yields(as<ForStmt>(*stmt).orelse); break;
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
    if (stmt->kind == StmtKind::if_ && as<IfStmt>(*stmt).orelse.empty() && std::ranges::any_of(as<IfStmt>(*stmt).body, yields)) return {true, as<IfStmt>(*stmt).test};
  }
  return {};
}

// Has the body of a loop a `break` of its own?
bool has_break(syntax::Block body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt* stmt) {
    switch (stmt->kind) {
    case StmtKind::break_: return true;
    case StmtKind::if_: return has_break(as<IfStmt>(*stmt).body) || has_break(as<IfStmt>(*stmt).orelse);
    case StmtKind::with: return has_break(as<WithStmt>(*stmt).body);
    case StmtKind::for_: return has_break(as<ForStmt>(*stmt).orelse);
    case StmtKind::while_: return has_break(as<WhileStmt>(*stmt).orelse);
    case StmtKind::match: return std::ranges::any_of(as<MatchStmt>(*stmt).cases, [](const MatchCase& one) { return has_break(one.body); });
    case StmtKind::try_: {
      const auto& attempt = as<TryStmt>(*stmt);
      return has_break(attempt.body) || has_break(attempt.orelse) || has_break(attempt.finally) ||
             std::ranges::any_of(attempt.handlers, [](const ExceptHandler& handler) { return has_break(handler.body); });
    }
    default: return false;
    }
  });
}

// `any` stands for any one of several, of which `one` is one: the conditions under which a part of it is of one kind or another. Each
// kind is that of some of them.
void conditions_of_kinds(symbolic::Context& s, Value any, Value one, std::vector<Cond>& found, int& budget, int depth = 0) {
  constexpr int deepest_part = 8;  // an object of objects of lists…: what lies deeper decides no kind of an element
  if (any == one || --budget < 0 || depth > deepest_part) return;
  if (any.is(Kind::choice)) {
    if (one.is(Kind::choice)) return;  // the program's own
    const std::function<void(Value, Cond)> sides = [&](Value value, Cond condition) {
      if (!value.is(Kind::choice)) return found.push_back(condition);
      const auto* choice = value.as<values::Choice>();
      if (s.form(choice->condition) != symbolic::Context::Form::opaque || s.text(choice->condition) != "?") return;
      sides(choice->yes, s.logical_and(condition, choice->condition));
      sides(choice->no, s.logical_and(condition, s.logical_not(choice->condition)));
    };
    return sides(any, s.boolean(true));
  }
  if (any.kind != one.kind) return;
  if (any.is(Kind::instance)) {
    for (const auto& [name, slot] : any.as<values::Instance>()->attributes.entries())
      if (const values::Slot* own = one.as<values::Instance>()->attributes.find(name); own && own->value && slot->value)
        conditions_of_kinds(s, slot->value, own->value, found, budget, depth + 1);
  } else if (any.is(Kind::list)) {
    const auto &all = values::Heap::list_state(any)->items, &own = values::Heap::list_state(one)->items;
    for (std::size_t i = 0; i < std::min(all.size(), own.size()); ++i) conditions_of_kinds(s, all[i], own[i], found, budget, depth + 1);
  } else if (any.is(Kind::tuple)) {
    const auto &all = any.as<values::Tuple>()->items, &own = one.as<values::Tuple>()->items;
    for (std::size_t i = 0; i < std::min(all.size(), own.size()); ++i) conditions_of_kinds(s, all[i], own[i], found, budget, depth + 1);
  }
}

} // namespace

Sharing Interpreter::trips_of(Value iterable) {
  iterable = resolve(iterable);
  switch (iterable.kind) {
  case Kind::list: {
    const auto* state = values::Heap::list_state(iterable);
    if (!state->open) return Sharing::uniform;
    if (state->length) return symbols().sharing(state->length);
    // How many there are may be the same where what they are is not.
    return heap().sharing(iterable) == Sharing::local ? Sharing::unseen : heap().sharing(iterable);
  }
  case Kind::range: {
    const auto* range = iterable.as<values::Range>();
    return symbolic::mix(symbols().sharing(range->start), symbolic::mix(symbols().sharing(range->stop), symbols().sharing(range->step)));
  }
  case Kind::tensor: {
    const auto* state = iterable.as<values::Tensor>()->now();
    if (state->shape.rank_known && !state->shape.dims.empty() && state->shape.dims[0].size)
      return symbols().sharing(state->shape.dims[0].size);
    return state->sharing;
  }
  case Kind::choice:
    // Which of two it is makes no difference where both have as many.
    if (const Int length = known_length(iterable)) return symbols().sharing(length);
    return heap().sharing(iterable);
  case Kind::unknown: return sharing_of_length(*iterable.as<values::Unknown>());
  default: return heap().sharing(iterable);
  }
}

bool Interpreter::run_unrolled(const ForStmt& stmt, const std::vector<Value>& items, std::uint64_t budget, Flow& flow) {
  Speculation rounds(*this, Speculation::Of::trial);
  const std::size_t depth = rounds.depth();
  const std::uint64_t from = record_.steps;
  Block* const block = block_;
  auto* event = record_.event<LoopEvent>();
  event->place = {chunk_, stmt.header};
  event->calls = site_;
  event->stmt = &stmt;
  event->unrolled = true;
  event->rounds.resize(items.size());
  LoopTarget target{rounds.mark(), rounds.mark(), depth, {}, {}};
  frame_->loops.push_back(&target);
  flow = Flow::normal;
  bool fits = true;
  for (std::size_t i = 0; i < items.size() && flow == Flow::normal; ++i) {
    block_ = &event->rounds[i];
    const auto before = heap().mark();
    flow = run_round(
        target,
        [&] {
          run_assign(*stmt.target, items[i]);
          return run_block(stmt.body);
        },
        false);
    const std::uint64_t used = record_.steps - from;
    if (i + 1 < items.size() && used / (i + 1) * items.size() > budget) {
      fits = false;
      break;
    }
    if (flow == Flow::normal && target.breaks.empty() && path_.size() == depth && rest_is_alike(items, i + 1, before, event->rounds[i])) {
      event->rounds.resize(i + 1);
      break;
    }
  }
  frame_->loops.pop_back();
  block_ = block;
  if (!fits) return false;
  rounds.commit();
  bool any = false;
  for (const Block& round : event->rounds) any = any || !round.events.empty();
  if (any) append(event);
  if (flow == Flow::normal && !stmt.orelse.empty()) flow = run_block(stmt.orelse);
  if (!target.breaks.empty()) flow = merge_exits(rounds, target.breaks, flow, nullptr, false);
  return true;
}

Flow Interpreter::run_generator_loop(const ForStmt& stmt, Value generator) {
  Frame* const frame = frame_;
  const std::uint32_t chunk = chunk_;
  Speculation rounds(*this);
  const std::size_t depth = rounds.depth();
  const int generic = generic_depth_;
  LoopTarget target{rounds.mark(), rounds.mark(), depth, {}, {}};
  frame->loops.push_back(&target);
  bool loose = false;
  std::size_t conditions = depth;  // on the path, once the rounds so far are over
  std::function<Value(Value)> body = [&](Value yielded) {
    // A yield in a loop of any number of rounds, or under a condition, is a round that may or may not be.
    const bool uncertain = generic_depth_ != generic || path_.size() != conditions;
    loose = loose || uncertain;
    Frame* const inner = frame_;
    const std::uint32_t inner_chunk = chunk_;
    frame_ = frame;
    chunk_ = chunk;
    const Flow flow = run_round(
        target,
        [&] {
          run_assign(*stmt.target, yielded);
          return run_block(stmt.body);
        },
        uncertain);
    frame_ = inner;
    chunk_ = inner_chunk;
    if (!uncertain) conditions = path_.size();
    if (flow == Flow::dead) killed_ = true;
    return Value::none();
  };
  drain(generator, here(*stmt.iterable), body);
  frame->loops.pop_back();
  Flow flow = killed_ ? Flow::dead : Flow::normal;
  killed_ = false;
  if (flow == Flow::normal && !stmt.orelse.empty()) flow = run_block(stmt.orelse);
  rounds.commit();
  return merge_exits(rounds, target.breaks, flow, nullptr, loose);
}

// Is an object being made, or a library's code run? There a loop over a range makes layers: it is no loop of training steps.
bool Interpreter::building() const {
  for (const Frame* frame = frame_; frame; frame = frame->outer) {
    if (frame->function && frame->function->name.text() == "__init__") return true;
    if (frame->scope && !installed_.empty() && installed_.contains(frame->scope->globals)) return true;
  }
  return false;
}

Int Interpreter::known_length(Value iterable) {
  switch (iterable.kind) {
  case Kind::tuple: return symbols().constant(static_cast<std::int64_t>(iterable.as<values::Tuple>()->items.size()));
  case Kind::list:
  case Kind::iterator:
    if (const auto* state = values::Heap::list_state(iterable)) return state->open ? state->length : symbols().constant(static_cast<std::int64_t>(state->items.size()));
    return nullptr;
  case Kind::range: {
    const Value length = resolve(length_of(iterable, {}));
    return length.is(Kind::integer) ? length.integer() : nullptr;
  }
  case Kind::unknown: {
    // Of what the program asks how long it is.
    const values::Slot* asked = iterable.as<values::Unknown>()->attributes.find(Name("$len"));
    const Value length = limits_.as_rank || (asked && asked->value) ? resolve(length_of(iterable, {})) : Value{};
    return length.is(Kind::integer) ? length.integer() : nullptr;
  }
  case Kind::instance: {
    if (iterable.as<values::Instance>()->cls) return nullptr;  // it may have a __len__ of its own, which is not to be run
    const Value length = resolve(length_of(iterable, {}));
    return length.is(Kind::integer) ? length.integer() : nullptr;
  }
  case Kind::choice: {
    const Int one = known_length(resolve(iterable.as<values::Choice>()->yes)), other = known_length(resolve(iterable.as<values::Choice>()->no));
    return one && other && symbols().compare(symbolic::Compare::eq, one, other) == symbolic::Answer::yes ? one : nullptr;
  }
  default: return nullptr;
  }
}

Flow Interpreter::run_for(const ForStmt& stmt) {
  Value iterable = resolve(evaluate(*stmt.iterable));
  if (killed_) {
    killed_ = false;
    return leave(ExitKind::raise, stmt, raised_);
  }
  // An object whose `__iter__` yields is gone through as what that gives.
  if (iterable.is(Kind::instance) && iterable.as<values::Instance>()->cls && !iterable.as<values::Instance>()->symbolic)
    if (const Value method = find_method(iterable.as<values::Instance>(), Name("__iter__")); method.is(Kind::bound)) {
      const Value function = resolve(method.as<values::Bound>()->function);
      const auto* given = function.is(Kind::function) ? function.as<values::Function>()->stmt : nullptr;
      if (given && given->scope.is_generator)
        if (const Value generator = resolve(call(method, {}, here(*stmt.iterable))); is_pending(generator)) iterable = generator;
    }
  if (is_pending(iterable)) return run_generator_loop(stmt, iterable);
  iterable = begin_iteration(*this, iterable, here(*stmt.iterable));
  const bool is_iterator = iterable.is(Kind::iterator) || (iterable.is(Kind::list) && iterable.as<values::List>()->kind == values::ListKind::iterator);
  Value first;  // of several that are known
  bool first_fails = false;
  std::vector<const ProblemEvent*> failures;  // of a first round that is known
  // Runs a round by itself, for what fails in it whatever is not known.
  const auto run_alone = [&](Value item, const std::function<void()>& prepare, std::vector<const ProblemEvent*>& found) {
    Block scratch;
    Block* const block = block_;
    block_ = &scratch;
    const bool alone = rehearsals_ == 0;
    rehearsals_ += alone;
    ++generic_depth_;
    {
      const Speculation trial(*this, Speculation::Of::trial);
      if (prepare) prepare();
      LoopTarget target{trial.mark(), trial.mark(), trial.depth(), {}, {}};
      frame_->loops.push_back(&target);
      run_round(target, [&] {
        run_assign(*stmt.target, item);
        return run_block(stmt.body);
      }, true);
      frame_->loops.pop_back();
    }
    --generic_depth_;
    rehearsals_ -= alone;
    block_ = block;
    failures_of_first_round(scratch, found);
  };
  const auto run_first = [&](Value item) {
    run_alone(item, nullptr, failures);
    first_fails = !failures.empty();
  };
  OperationEvent* misfit = nullptr;  // of the last round, where its batch is smaller
  const auto run_last = [&](Value item, const Speculation& round, std::size_t first_event) {
    misfit = nullptr;
    const auto last = rehearsals_ == 0 && !limits_.as_rank && policy_.looks_for_failures && !guarded() ? last_round(*this, item, known_length(iterable)) : std::nullopt;
    if (!last) return;
    std::vector<const ProblemEvent*> found;
    const std::size_t last_event = record_.events.size(), doubts = symbols().doubts();
    // The round before had a whole batch.
    const auto left = heap().written(round.mark());
    run_alone(with_batch(heap(), item, last->batch, last->size), [&] {
      symbols().assume(symbols().compared(symbolic::Compare::eq, last->batch, symbols().constant(last->others)));
      for (const auto& [slot, before] : left)
        if (const Value whole = with_batch(heap(), slot->value, last->batch, last->others); !(whole == slot->value)) heap().set(*slot, whole);
    }, found);
    replay_.doubts += symbols().doubts() - doubts;
    const ProblemEvent* failure = failure_of_last_round(record_, found, first_event, last_event);
    if (!failure) return;
    misfit = record_implied("$misfits", last->loader, {heap().integer(last->samples), heap().integer(last->others), heap().integer(last->size), heap().string(failure->text)}, {}, failure->place);
    if (misfit) misfit->calls = failure->calls;
  };
  if (auto items = elements(iterable, here(*stmt.iterable)); items && items->size() <= max_unrolled) {
    Flow flow;
    // What an early exit leaves in an iterator is not known.
    const auto whole = is_iterator ? *values::Heap::list_state(iterable) : values::ListState{};
    if (is_iterator) heap().set_list(iterable, {});
    const std::uint64_t left = step_limit_ - std::min(step_limit_, record_.steps);
    const std::uint64_t budget = building() ? unroll_steps_building : iterable.is(Kind::range) ? std::min(unroll_steps_range, left / unroll_share) : unroll_steps_list;
    if (run_unrolled(stmt, *items, budget, flow)) return flow;
    if (is_iterator) heap().set_list(iterable, whole);
    if (items->size() > 1) first = resolve(items->front());
    // Elements of several kinds: what fails for the first of them is proven, though it is not for any one of them.
    if (rehearsals_ == 0 && std::any_of(items->begin(), items->end(), [&](const Value& item) { return !(item == items->front()); })) {
      run_first(items->front());
      block_->events.insert(block_->events.end(), failures.begin(), failures.end());
      failures.clear();
    }
  }
  // The first number of a range of many, or of nobody knows how many, is known: `if step % 100 == 0` holds for it.
  const bool counted = iterable.is(Kind::range) && symbols().value(iterable.as<values::Range>()->start) &&
                       !first_fails && rehearsals_ == 0 && !limits_.as_rank && policy_.looks_for_failures && !building() &&
                       stmt.target->kind == ExprKind::name && asks_for(stmt.body, as<NameExpr>(*stmt.target).id);
  bool rehearsed = false;
  LoopShape shape;
  shape.stmt = &stmt;
  shape.place = {chunk_, stmt.header};
  shape.trips = trips_of(iterable);
  shape.length = known_length(iterable);
  shape.any_order = iterable.is(Kind::list) && iterable.as<values::List>()->kind == values::ListKind::set && holds_texts(*values::Heap::list_state(iterable));
  std::vector<Cond> kinds;  // in the last round
  Int number = nullptr;     // of the round
  // A generator whose only `yield` it holds gives as many values as the loop makes rounds.
  const auto* const generator = limits_.as_rank && frame_->on_yield && frame_->function ? frame_->function->stmt : nullptr;
  const Yielding yielding = generator && shape.length && count_yields(generator->body) == 1 && std::ranges::find(generator->body, static_cast<const Stmt*>(&stmt)) != generator->body.end() ? yielding_of(stmt.body) : Yielding{};
  Int yielded = yielding.once && !yielding.condition ? shape.length : nullptr;
  const std::size_t begin = record_.events.size();
  const std::size_t so_far = block_->events.size();
  const Flow flow = run_generic_loop(shape, [&] {
    const Value each = element(iterable, here(*stmt.iterable));
    kinds.clear();
    if (int budget = most_parts; first && !first_fails && rehearsals_ == 0) conditions_of_kinds(symbols(), each, first, kinds, budget);
    Speculation this_round(*this);
    const std::vector<Cond> path = path_;
    const std::uint64_t from = record_.steps;
    const std::size_t first_event = record_.events.size();
    const Value given = for_a_round(heap(), each), numbered = given.is(Kind::tuple) && !given.as<values::Tuple>()->items.empty() ? resolve(given.as<values::Tuple>()->items.front()) : resolve(given);
    number = numbered.is(Kind::integer) ? numbered.integer() : nullptr;
    run_assign(*stmt.target, given);
    if (yielding.once && yielding.condition && yielding.condition->kind == ExprKind::compare) yielded = number ? length_of_share(shape.length, number, truth(evaluate(*yielding.condition))) : nullptr;
    const Flow flow_of_round = run_block(stmt.body);
    if (counted && !std::exchange(rehearsed, true) && record_.steps - from <= first_round_steps) {
      const std::vector<Cond> path_behind = std::exchange(path_, path);
      const values::Delta changed = this_round.take();
      const bool killed = std::exchange(killed_, false);
      const std::size_t doubts = symbols().doubts();
      run_first(Value::of(iterable.as<values::Range>()->start));
      replay_.doubts += symbols().doubts() - doubts;  // what it leaves open is no reason to run the program with its defaults
      killed_ = killed;
      path_ = path_behind;
      heap().apply(changed);
    }
    if (flow_of_round == Flow::normal && record_.steps - from <= last_round_steps) run_last(given, this_round, first_event);
    this_round.commit();
    return flow_of_round;
  });
  block_->events.insert(block_->events.begin() + static_cast<std::ptrdiff_t>(std::min(so_far, block_->events.size())), failures.begin(), failures.end());
  if (!failures.empty()) return run_else(stmt.body, stmt.orelse, flow);
  if (misfit && block_->events.size() > so_far && block_->events.back()->kind == EventKind::loop && !leaves_the_loop(static_cast<const LoopEvent*>(block_->events.back())->rounds[0])) append(misfit);
  if (yielded) heap().slot_of(frame_->scope->names, yielded_name).value = Value::of(yielded);
  if (is_iterator && shape.length) heap().set_list(iterable, {});
  // Rounds that are dealt out to the ranks: only its own count for this one.
  if (limits_.as_rank && rehearsals_ == 0 && number && shape.length && block_->events.size() > so_far && block_->events.back()->kind == EventKind::loop)
    for (std::size_t i = record_.events.size(); i-- > begin;)
      if (record_.events[i].get() == block_->events.back()) {
        auto& event = static_cast<LoopEvent&>(*record_.events[i]);
        if (const auto* dealt = event.rounds.size() == 1 ? only_communicating_branch(event.rounds[0]) : nullptr)
          for (const bool yes : {true, false})
            if (const Int share = length_of_share(shape.length, number, yes ? dealt->condition : symbols().logical_not(dealt->condition)); share && !leaves_the_loop(event.rounds[0])) {
              for (std::size_t k = begin; k < record_.events.size(); ++k)
                if (record_.events[k].get() == dealt) static_cast<BranchEvent&>(*record_.events[k]).condition = symbols().boolean(yes);
              event.length = share;
              event.counts = round_counts(share);
            }
        break;
      }
  if (!kinds.empty() && block_->events.size() > so_far && block_->events[so_far]->kind == EventKind::loop &&
      !leaves_the_loop(static_cast<const LoopEvent*>(block_->events[so_far])->rounds[0])) {
    // Some round comes to each kind: what fails for one of them alone fails. Of one kind the first failure, from which others may follow.
    std::unordered_set<Cond> told;
    for (std::size_t i = begin; i < record_.events.size(); ++i) {
      if (record_.events[i]->kind != EventKind::problem) continue;
      auto& problem = static_cast<ProblemEvent&>(*record_.events[i]);
      if (problem.assumption && std::find(kinds.begin(), kinds.end(), problem.assumption) != kinds.end() && told.insert(problem.assumption).second)
        problem.assumption = nullptr;
    }
  }
  return run_else(stmt.body, stmt.orelse, flow);
}

// What stands behind `else` is left out where a round broke off.
Flow Interpreter::run_else(syntax::Block body, syntax::Block orelse, Flow flow) {
  if (flow != Flow::normal || orelse.empty()) return flow;
  if (!has_break(body)) return run_block(orelse);
  return fork(symbols().opaque("no break", Sharing::unseen), nullptr, {}, [&] { return run_block(orelse); }, [] { return Flow::normal; });
}

// Rounds whose conditions are known are run one by one. False, and nothing has happened: something is not known, or it
// takes too long; then `first` gets the first ones, in the run of one rank.
bool Interpreter::run_known_rounds(const WhileStmt& stmt, Flow& flow, std::vector<Block>& first) {
  Speculation trial(*this, Speculation::Of::trial);
  const std::size_t depth = trial.depth();
  const std::uint64_t from = record_.steps;
  Block* const block = block_;
  auto* event = record_.event<LoopEvent>();
  event->place = {chunk_, stmt.header};
  event->calls = site_;
  event->stmt = &stmt;
  event->unrolled = true;
  LoopTarget target{trial.mark(), trial.mark(), depth, {}, {}};
  frame_->loops.push_back(&target);
  flow = Flow::normal;
  bool known = true, ended = false;
  std::vector<Block> rounds;
  while (known && !ended && flow == Flow::normal) {
    Block round;
    block_ = &round;
    const Cond holds = truth(evaluate(*stmt.test));
    const auto answer = symbols().decide(holds);
    known = answer != symbolic::Answer::unknown && !killed_;
    if (answer == symbolic::Answer::no) ended = true;
    if (known && !ended) flow = run_round(target, [&] { return run_block(stmt.body); }, false);
    // A way out that depends on what is not known: the rounds behind it may or may not be.
    known = known && path_.size() == depth && record_.steps - from < while_steps && step();
    if (!ended || !round.events.empty()) rounds.push_back(std::move(round));
  }
  frame_->loops.pop_back();
  block_ = block;
  if (!known) {
    // What follows them is not known, but who compares ranks may see from them that there are more than on another.
    // What it sends in them is certain, too: who is told of messages may be told of more by that.
    const bool told = limits_.as_rank && limits_.as_rank->told;
    if (limits_.as_rank && !ended && rehearsals_ == 0 && generic_depth_ == 0 && (told || rounds.size() > most_first_rounds)) {
      rounds.resize(told ? std::min(rounds.size(), most_told_rounds) : most_first_rounds);
      first = std::move(rounds);
    }
    return false;
  }
  trial.commit();
  event->rounds = std::move(rounds);
  bool any = false;
  for (const Block& round : event->rounds) any = any || !round.events.empty();
  if (any) append(event);
  if (flow == Flow::normal && !stmt.orelse.empty()) flow = run_block(stmt.orelse);
  if (!target.breaks.empty()) flow = merge_exits(trial, target.breaks, flow, nullptr, false);
  return true;
}

Flow Interpreter::run_while(const WhileStmt& stmt) {
  std::vector<Block> first_rounds;
  if (Flow flow; run_known_rounds(stmt, flow, first_rounds)) return flow;
  const Cond first = truth(asked_for_truth(*this, evaluate(*stmt.test), here(*stmt.test)));
  if (killed_) {
    killed_ = false;
    return leave(ExitKind::raise, stmt, raised_);
  }
  if (symbols().decide(first) == symbolic::Answer::no) return run_block(stmt.orelse);
  LoopShape shape;
  shape.stmt = &stmt;
  shape.place = {chunk_, stmt.header};
  shape.trips = symbols().sharing(first);
  shape.first = std::move(first_rounds);
  shape.endless = stmt.test->kind == ExprKind::boolean || stmt.test->kind == ExprKind::integer;
  const std::size_t begin = record_.events.size();
  const Flow flow = run_generic_loop(shape, [&] {
    const Cond holds = truth(evaluate(*stmt.test));
    if (symbols().decide(holds) == symbolic::Answer::no) return Flow::dead;
    // What depends on the rank's number alone its own run knows.
    if (const Sharing asked = symbols().sharing(holds); asked != Sharing::divergent) shape.trips = symbolic::mix(shape.trips, asked);
    symbols().assume(holds);
    path_.push_back(holds);
    return run_block(stmt.body);
  });
  // What later rounds ask may be another thing than what the first one knows.
  for (std::size_t i = begin; i < record_.events.size(); ++i)
    if (record_.events[i]->kind == EventKind::loop && static_cast<const LoopEvent&>(*record_.events[i]).stmt == &stmt) static_cast<LoopEvent&>(*record_.events[i]).trips = shape.trips;
  return run_else(stmt.body, stmt.orelse, flow);
}

} // namespace stepzero::interpreter
