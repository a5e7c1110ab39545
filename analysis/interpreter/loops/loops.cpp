// What loops share, loops over generators, and `while`: run iteration by iteration within a budget, else by
// any one iteration.
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/unseen.hpp"
#include "interpreter/expressions/ambiguous_truth.hpp"
#include "interpreter/expressions/iterables.hpp"
#include "interpreter/loops/each_iteration.hpp"
#include "interpreter/loops/known_iterations.hpp"
#include "interpreter/loops/loop_runner.hpp"
#include "interpreter/loops/loop_shape.hpp"
#include "interpreter/loops/step_allowance.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/statements/assignments.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "syntax/walk.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::uint64_t while_steps = 3'000;          // of a while loop that is run iteration by iteration
constexpr std::size_t most_reported_iterations = 64;  // that are run one by one where each is reported
constexpr std::size_t most_first_iterations = 8;      // that are kept of one that has too many

bool has_call(const Expr& expr) {
  bool found = false;
  for_each_expression(expr, [&](const Expr& each) { found = found || each.kind == ExprKind::call; });
  return found;
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
    case StmtKind::match:
      return std::ranges::any_of(
          as<MatchStmt>(*stmt).cases, [](const MatchCase& one) { return has_break(one.body); });
    case StmtKind::try_: {
      const auto& attempt = as<TryStmt>(*stmt);
      return has_break(attempt.body) || has_break(attempt.orelse) || has_break(attempt.finally) ||
          std::ranges::any_of(
              attempt.handlers, [](const ExceptHandler& handler) { return has_break(handler.body); });
    }
    default: return false;
    }
  });
}

}  // namespace

struct Iterables::WithLength {
  Int length;
  Cond when;
};

std::optional<std::vector<Iterables::WithLength>> Iterables::lengths_of(Value iterable, int depth) {
  constexpr std::size_t most_lengths = 4;  // that are told apart
  constexpr int deepest = 4;               // choices within a choice: each has two sides
  iterable = run_.resolve(iterable);
  const Cond always = symbols().boolean(true);
  if (!iterable.is(Kind::choice)) {
    const Int length = known_length(iterable);
    return length ? std::optional(std::vector{WithLength{length, always}}) : std::nullopt;
  }
  if (depth == deepest) return std::nullopt;
  const auto& choice = *iterable.as<values::Choice>();
  auto made = lengths_of(choice.yes, depth + 1);
  const auto others = made ? lengths_of(choice.no, depth + 1) : std::nullopt;
  if (!others) return std::nullopt;
  const Cond yes = choice.condition, no = symbols().logical_not(yes);
  std::vector<Cond> outside(made->size());  // when the other of the two has the length
  for (const WithLength& other : *others) {
    const auto same = std::ranges::find(*made, other.length, &WithLength::length);
    if (same != made->end() && static_cast<std::size_t>(same - made->begin()) < outside.size())
      outside[static_cast<std::size_t>(same - made->begin())] = other.when;
    else
      made->push_back({other.length, symbols().logical_and(no, other.when)});
  }
  if (made->size() > most_lengths) return std::nullopt;
  for (std::size_t i = 0; i < outside.size(); ++i) {
    Cond& when = (*made)[i].when;
    // What holds on one side whatever else is asked needs not be denied on the other.
    const Cond inside = outside[i] == always ? when : symbols().logical_and(yes, when);
    when = !outside[i] || when == outside[i]
        ? (outside[i] ? when : inside)
        : symbols().logical_or(inside, when == always ? outside[i] : symbols().logical_and(no, outside[i]));
  }
  return made;
}

std::optional<Sharing> Iterables::sharing_by_length(Value iterable) {
  const auto lengths = lengths_of(iterable);
  if (!lengths) return std::nullopt;
  Sharing shared = Sharing::uniform;
  for (const WithLength& each : *lengths)
    shared = symbolic::mix(
        shared, symbolic::mix(symbols().sharing(each.length), symbols().sharing(each.when)));
  return shared == Sharing::uniform || shared == Sharing::unseen ? std::optional(shared) : std::nullopt;
}

Sharing Iterables::trips_of(Value iterable) {
  iterable = run_.resolve(iterable);
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
    return symbolic::mix(symbols().sharing(range->start),
        symbolic::mix(symbols().sharing(range->stop), symbols().sharing(range->step)));
  }
  case Kind::tensor: {
    const auto* state = iterable.as<values::Tensor>()->now();
    if (state->shape.ndim_known && !state->shape.dims.empty() && state->shape.dims[0].size)
      return symbols().sharing(state->shape.dims[0].size);
    return state->sharing;
  }
  case Kind::choice: {
    // Which of two it is makes no difference where both have as many.
    if (const Int length = known_length(iterable)) return symbols().sharing(length);
    // How many there are may be the same where what they are is not, unless each rank takes its own of the
    // two.
    const auto& choice = *iterable.as<values::Choice>();
    const Sharing held = heap().sharing(iterable), asked = symbols().sharing(choice.condition);
    // Nor does who takes which where those of one length are taken by all or by none.
    if (held != Sharing::uniform)
      if (const auto by_length = sharing_by_length(iterable)) return *by_length;
    if (held != Sharing::local || asked == Sharing::divergent) return held;
    return symbolic::mix(asked, symbolic::mix(trips_of(choice.yes), trips_of(choice.no)));
  }
  case Kind::unknown: {
    const auto* unknown = iterable.as<values::Unknown>();
    // Cut to a number that all ranks have (Subscript::length_of_part).
    if (const Value length = unknown->attributes.value(Name(values::UnknownState::len));
        length.is(Kind::integer) && symbols().sharing(length.integer()) == Sharing::unseen)
      return Sharing::unseen;
    return sharing_of_length(*unknown);
  }
  // When the function of `iter(function, last)` gives the last is its own affair.
  case Kind::instance:
    return iterable.as<values::Instance>()->attributes.find(called_each_iteration) ? Sharing::unseen
                                                                                   : heap().sharing(iterable);
  default: return heap().sharing(iterable);
  }
}

bool LoopRunner::run_unrolled(
    const ForStmt& stmt, const std::vector<Value>& items, std::uint64_t budget, Flow& flow) {
  Speculation iterations(run_, Speculation::Of::trial);
  const std::size_t depth = iterations.depth();
  const std::uint64_t from = record_.steps;
  Block* const block = run_.block_;
  auto* event = record_.event<LoopEvent>();
  event->place = {run_.chunk_, stmt.header};
  event->calls = run_.site_;
  event->stmt = &stmt;
  event->unrolled = true;
  event->iterations.resize(items.size());
  LoopTarget target{iterations.mark(), iterations.mark(), depth, {}, {}};
  run_.frame_->loops.push_back(&target);
  flow = Flow::normal;
  bool fits = true;
  // A loop inside watches what the iterations around read before it, too.
  std::unordered_set<const values::Slot*> read;
  const bool watches = !run_.attributes_read_ && skips_equal_iterations();
  if (watches) run_.attributes_read_ = &read;
  StepAllowance allowance(run_);
  for (std::size_t i = 0; i < items.size() && flow == Flow::normal; ++i) {
    // As many as there are fit if those so far were short enough; the last one is not judged by its length.
    allowance.end_at(
        i + 1 < items.size() ? from + (i + 1) * (budget / items.size() + 1) : RunState::unlimited_steps);
    run_.block_ = &event->iterations[i];
    const auto before = heap().mark();
    flow = run_iteration(
        target,
        [&] {
          run_.assignments_->run_assign(*stmt.target, items[i]);
          return run_.run_block(stmt.body);
        },
        false);
    if (allowance.used_up()) {
      fits = false;
      break;
    }
    if (flow == Flow::normal && target.breaks.empty() && run_.path_.size() == depth &&
        rest_is_equivalent(stmt, items, i + 1, before, event->iterations[i])) {
      event->iterations.resize(i + 1);
      run_.assignments_->run_assign(*stmt.target, items.back());
      break;
    }
  }
  if (watches) run_.attributes_read_ = nullptr;
  run_.frame_->loops.pop_back();
  run_.block_ = block;
  if (!fits) return false;
  iterations.commit();
  bool any = false;
  for (const Block& iteration : event->iterations) any = any || !iteration.events.empty();
  if (any) run_.append(event);
  if (flow == Flow::normal && !stmt.orelse.empty()) flow = run_.run_block(stmt.orelse);
  if (!target.breaks.empty()) flow = run_.merge_exits(iterations, target.breaks, flow, nullptr, false);
  return true;
}

namespace {
bool yields_at_several_places(const Frame& generator) {
  if (!generator.function || !generator.function->stmt) return false;
  int places = 0;
  for (const Stmt* stmt : generator.function->stmt->body)
    syntax::for_each_expression(*stmt, [&](const Expr& expr) {
      places += expr.kind == ExprKind::yield || expr.kind == ExprKind::yield_from;
    });
  return places > 1;
}
}  // namespace

Flow LoopRunner::run_generator_loop(const ForStmt& stmt, Value generator) {
  Frame* const frame = run_.frame_;
  const std::uint32_t chunk = run_.chunk_;
  Speculation iterations(run_);
  const std::size_t depth = iterations.depth();
  const int generic = run_.generic_depth_;
  LoopTarget target{iterations.mark(), iterations.mark(), depth, {}, {}};
  frame->loops.push_back(&target);
  bool loose = false;
  std::size_t conditions = depth;  // on the path, once the iterations so far are over
  std::function<Value(Value)> body = [&](Value yielded) {
    // A yield in a loop of any number of iterations, or under a condition, is an iteration that may or may
    // not be.
    const bool uncertain = run_.generic_depth_ != generic || run_.path_.size() != conditions;
    loose = loose || uncertain;
    Frame* const inner = run_.frame_;
    const std::uint32_t inner_chunk = run_.chunk_;
    // Of several yields each is what the generator may give: as a choice, which the loop goes through.
    const std::size_t assumed = run_.assumed_.size();
    if (run_.path_.size() > conditions && yields_at_several_places(*inner))
      for (std::size_t i = conditions; i < run_.path_.size(); ++i) run_.assumed_.push_back(run_.path_[i]);
    run_.frame_ = frame;
    run_.chunk_ = chunk;
    const Flow flow = run_iteration(
        target,
        [&] {
          run_.assignments_->run_assign(*stmt.target, yielded);
          return run_.run_block(stmt.body);
        },
        uncertain);
    run_.frame_ = inner;
    run_.chunk_ = inner_chunk;
    run_.assumed_.resize(assumed);
    if (!uncertain) conditions = run_.path_.size();
    if (flow == Flow::dead) run_.killed_ = true;
    return Value::none();
  };
  run_.function_calls_->drain(generator, run_.here(*stmt.iterable), body);
  frame->loops.pop_back();
  Flow flow = run_.killed_ ? Flow::dead : Flow::normal;
  run_.killed_ = false;
  if (flow == Flow::normal && !stmt.orelse.empty()) flow = run_.run_block(stmt.orelse);
  iterations.commit();
  return run_.merge_exits(iterations, target.breaks, flow, nullptr, loose);
}

// Is an object being made, or a library's code run? There a loop over a range makes layers: it is no loop of
// training steps.
bool LoopRunner::building() const {
  for (const Frame* frame = run_.frame_; frame; frame = frame->outer) {
    if (frame->function && frame->function->name.text() == "__init__") return true;
    if (frame->scope && run_.loader_->installed_module(frame->scope->globals)) return true;
  }
  return false;
}

Int Iterables::known_length(Value iterable) {
  switch (iterable.kind) {
  case Kind::tuple:
    return symbols().constant(static_cast<std::int64_t>(iterable.as<values::Tuple>()->items.size()));
  case Kind::list:
  case Kind::iterator:
    if (const auto* state = values::Heap::list_state(iterable))
      return state->open ? state->length : symbols().constant(static_cast<std::int64_t>(state->items.size()));
    return nullptr;
  case Kind::range: {
    const Value length = run_.resolve(run_.length_of(iterable, {}));
    return length.is(Kind::integer) ? length.integer() : nullptr;
  }
  case Kind::unknown: {
    // Of what the program asks how long it is.
    const values::Slot* asked = iterable.as<values::Unknown>()->attributes.find(
        Name(values::UnknownState::len));
    const Value length = run_.limits_.as_rank || (asked && asked->value)
        ? run_.resolve(run_.length_of(iterable, {}))
        : Value{};
    return length.is(Kind::integer) ? length.integer() : nullptr;
  }
  case Kind::instance: {
    if (iterable.as<values::Instance>()->cls)
      return nullptr;  // it may have a __len__ of its own, which is not to be run
    const Value length = run_.resolve(run_.length_of(iterable, {}));
    return length.is(Kind::integer) ? length.integer() : nullptr;
  }
  case Kind::choice: {
    const Int one = known_length(run_.resolve(iterable.as<values::Choice>()->yes)),
              other = known_length(run_.resolve(iterable.as<values::Choice>()->no));
    return one && other && symbols().compare(symbolic::Compare::eq, one, other) == symbolic::Answer::yes
        ? one
        : nullptr;
  }
  case Kind::tensor: {
    const values::Shape& shape = iterable.as<values::Tensor>()->now()->shape;
    return shape.ndim_known && !shape.dims.empty() ? shape.dims[0].size : nullptr;
  }
  default: return nullptr;
  }
}

// What follows `else` is left out where an iteration broke off.
Flow LoopRunner::run_else(syntax::Block body, syntax::Block orelse, Flow flow) {
  if (flow != Flow::normal || orelse.empty()) return flow;
  if (!has_break(body)) return run_.run_block(orelse);
  return run_.fork(
      symbols().opaque("no break", Sharing::unseen), nullptr, {}, [&] { return run_.run_block(orelse); },
      [] { return Flow::normal; });
}

// Iterations whose conditions are known are run one by one. Absent, and nothing has happened: something is
// not known, or it takes too long; then `first` gets the first ones, in the run of one rank.
std::optional<Flow> LoopRunner::run_known_iterations(const WhileStmt& stmt, std::vector<Block>& first) {
  KnownIterations known{run_, stmt, stmt.header, stmt.orelse, while_steps};
  const auto flow = known.all(
      [&] {
        const Cond holds = run_.truth(run_.evaluate(*stmt.test));
        const symbolic::Answer answer = run_.killed_ ? symbolic::Answer::unknown : symbols().decide(holds);
        return answer == symbolic::Answer::unknown ? KnownIterations::Next::unknown
            : answer == symbolic::Answer::no       ? KnownIterations::Next::none
                                                   : KnownIterations::Next::another;
      },
      [&] { return run_.run_block(stmt.body); });
  // What follows them is not known, but who compares ranks may see from them that there are more than on
  // another. What it sends in them is certain, too: who is told of messages may be told of more by that.
  const bool told = run_.limits_.as_rank && run_.limits_.as_rank->told;
  if (!flow && run_.limits_.as_rank && !known.ended && run_.dry_runs_ == 0 && run_.generic_depth_ == 0 &&
      (told || known.iterations.size() > most_first_iterations)) {
    known.iterations.resize(
        told ? std::min(known.iterations.size(), most_reported_iterations) : most_first_iterations);
    first = std::move(known.iterations);
  }
  return flow;
}

Flow LoopRunner::run_while(const WhileStmt& stmt) {
  std::vector<Block> first_iterations;
  if (const auto flow = run_known_iterations(stmt, first_iterations)) return *flow;
  LoopShape shape;
  shape.stmt = &stmt;
  shape.place = {run_.chunk_, stmt.header};
  shape.first = std::move(first_iterations);
  // A test that takes the next message is a part of its iteration: `while True`, and a way out after the
  // test.
  if (stmt.orelse.empty() && has_call(*stmt.test)) {
    Speculation trial(run_, Speculation::Of::trial);
    Block alone;
    run_.block_ = &alone;
    const Cond holds = run_.truth(run_.evaluate(*stmt.test));
    const bool takes_message = !run_.killed_ && communicates(alone) &&
        symbols().decide(holds) == symbolic::Answer::unknown;
    trial.discard();
    if (takes_message) {
      shape.endless = true;
      return run_generic_loop(shape, [&] {
        const Cond goes_on = run_.truth(run_.evaluate(*stmt.test));
        if (std::exchange(run_.killed_, false)) return run_.leave(ExitKind::raise, stmt, run_.raised_);
        return run_.fork(
            goes_on, nullptr, run_.here(*stmt.test), [&] { return run_.run_block(stmt.body); },
            [&] { return run_.leave(ExitKind::break_, stmt, {}); });
      });
    }
  }
  const Cond first = run_.truth(asked_for_truth(run_, run_.evaluate(*stmt.test), run_.here(*stmt.test)));
  if (run_.killed_) {
    run_.killed_ = false;
    return run_.leave(ExitKind::raise, stmt, run_.raised_);
  }
  if (symbols().decide(first) == symbolic::Answer::no) return run_.run_block(stmt.orelse);
  shape.trips = symbols().sharing(first);
  shape.endless = stmt.test->kind == ExprKind::boolean || stmt.test->kind == ExprKind::integer;
  const std::size_t begin = record_.events.size();
  const Flow flow = run_generic_loop(shape, [&] {
    const Cond holds = run_.truth(run_.evaluate(*stmt.test));
    if (symbols().decide(holds) == symbolic::Answer::no) return Flow::dead;
    // What depends on the rank's number alone its own run knows, unless it went through a tensor or a float.
    const Cond plain =
        symbols().form(holds) == symbolic::Context::Form::negation ? symbols().operands(holds)[0] : holds;
    const bool computed = symbols().form(plain) == symbolic::Context::Form::opaque;
    if (const Sharing asked = symbols().sharing(holds); computed || asked != Sharing::divergent)
      shape.trips = symbolic::mix(shape.trips, asked);
    symbols().assume(holds);
    run_.path_.push_back(holds);
    return run_.run_block(stmt.body);
  });
  // What later iterations ask may be another thing than what the first one knows.
  for (std::size_t i = begin; i < record_.events.size(); ++i)
    if (record_.events[i]->kind == EventKind::loop &&
        static_cast<const LoopEvent&>(*record_.events[i]).stmt == &stmt)
      static_cast<LoopEvent&>(*record_.events[i]).trips = shape.trips;
  return run_else(stmt.body, stmt.orelse, flow);
}

}  // namespace stepzero::interpreter
