// Comprehensions and generator expressions: element by element where those are known, else as a loop that
// fills what it makes.
#include "interpreter/expressions/iterables.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/loops/equal_iterations.hpp"
#include "interpreter/loops/loop_runner.hpp"
#include "interpreter/loops/loop_shape.hpp"
#include "interpreter/statements/assignments.hpp"

#include <algorithm>
#include <unordered_map>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t max_generators = 16;  // of one comprehension
constexpr std::uint64_t equal_steps =
    2'000;  // of the elements of a comprehension that are made one by one though they are alike
// … where memory is counted: what is done to single layers, by their names and shapes, has to be known there.
constexpr std::uint64_t counted_equal_steps = 500'000;
// Elements that take more than this share of the steps that are left, and more than these where memory is
// counted, are not made one by one.
constexpr std::uint64_t elements_share = 2;
constexpr std::uint64_t counted_elements_steps = 1'000'000;

// Is an expression made of names, attributes, numbers, text and calls of those only, and does it not read the
// target?
bool is_free_of(const Expr* expr, Name target) {
  if (!expr) return true;
  switch (expr->kind) {
  case ExprKind::name: return as<NameExpr>(*expr).id != target;
  case ExprKind::attribute: return is_free_of(as<AttributeExpr>(*expr).object, target);
  case ExprKind::binary:
    return is_free_of(as<BinaryExpr>(*expr).left, target) && is_free_of(as<BinaryExpr>(*expr).right, target);
  case ExprKind::integer:
  case ExprKind::real:
  case ExprKind::boolean:
  case ExprKind::none:
  case ExprKind::string: return true;
  case ExprKind::call: {
    const auto& call = as<CallExpr>(*expr);
    for (const Expr* argument : call.arguments)
      if (!is_free_of(argument, target)) return false;
    for (const Keyword& keyword : call.keywords)
      if (!is_free_of(keyword.value, target)) return false;
    return is_free_of(call.function, target);
  }
  default: return false;
  }
}

// Is there a backward among the events, from that one on?
bool trains(std::span<const Event* const> events, std::size_t from = 0) {
  return std::ranges::any_of(events.subspan(from), [](const Event* event) {
    switch (event->kind) {
    case EventKind::operation:
      return static_cast<const OperationEvent*>(event)->row->operation == values::Operation::backward;
    case EventKind::call: return trains(static_cast<const CallEvent*>(event)->body.events);
    case EventKind::branch:
      return trains(static_cast<const BranchEvent*>(event)->yes.events) ||
          trains(static_cast<const BranchEvent*>(event)->no.events);
    case EventKind::loop:
      return std::ranges::any_of(static_cast<const LoopEvent*>(event)->iterations,
          [](const Block& iteration) { return trains(iteration.events); });
    case EventKind::attempt: return trains(static_cast<const AttemptEvent*>(event)->body.events);
    default: return false;
    }
  });
}

// Of what a filter lets through it is not known which of the sizes that differ among the elements it has.
Value without_local_sizes(values::Heap& heap, Value element) {
  if (!element.is(Kind::tensor) || element.as<values::Tensor>()->role != values::TensorRole::plain)
    return element;
  values::TensorState state = *element.as<values::Tensor>()->now();
  bool changed = false;
  for (values::Dim& dim : state.shape.dims)
    if (dim.size && heap.symbols().sharing(dim.size) >= Sharing::local) {
      dim.size = nullptr;
      changed = true;
    }
  return changed ? heap.tensor(std::move(state), element.as<values::Tensor>()->born) : element;
}

}  // namespace

const values::Choice* either_unlike(Interpreter& run, Value iterable) {
  if (!iterable.is(Kind::choice)) return nullptr;
  const auto* either = iterable.as<values::Choice>();
  if (run.symbols().sharing(either->condition) != Sharing::uniform) return nullptr;
  const auto held = [&](Value side) -> std::optional<Sharing> {
    side = run.resolve(side);
    if (!side.is(Kind::list)) return std::nullopt;
    const auto* state = values::Heap::list_state(side);
    Sharing mixed = state->rest ? run.heap().sharing(state->rest) : Sharing::uniform;
    for (const Value item : state->items) mixed = symbolic::mix(mixed, run.heap().sharing(item));
    return mixed;
  };
  const auto yes = held(either->yes), no = held(either->no);
  return yes && no && *yes != *no ? either : nullptr;
}

Int LoopRunner::length_of_share(Int size, Int number, Cond condition) {
  auto& s = symbols();
  if (!size || !number || !run_.limits_.as_rank || !s.is_atom(number)) return nullptr;
  const std::int64_t parts = run_.limits_.as_rank->world;
  for (std::int64_t part = 0; part < parts; ++part)
    if (s.compared(symbolic::Compare::eq, s.mod(number, s.constant(parts)), s.constant(part)) == condition)
      return s.floordiv(s.add(size, s.constant(parts - 1 - part)), s.constant(parts));
  return nullptr;
}

// A list, set, dict or generator that is made of others: what is known of its elements, and how many it has.
struct LoopRunner::Comprehension {
  Interpreter& run;
  const ComprehensionExpr& expr;
  values::Scope* outer;
  values::Scope* scope;
  std::vector<Value> items, keys;  // those that are there for certain
  bool open = false;               // there may be more
  Value rest;                      // any one of those
  Int length = nullptr, share = nullptr, whole = nullptr;
  Sharing filtered = Sharing::uniform;  // by conditions that are not known
  Sharing dealt = Sharing::uniform;     // how many there are to go through

  Value result();

private:
  Value over(Value first);
  bool is_set() const { return expr.comprehension == ComprehensionKind::set; }
  bool has_one_generator() const { return expr.generators.size() == 1; }
  // `{value: key for key, value in items}`: no iteration costs more than a name.
  bool only_rearranges() const {
    const auto is_name = [](const Expr* each) { return !each || each->kind == ExprKind::name; };
    return has_one_generator() && expr.generators[0].conditions.empty() && is_name(expr.element) &&
        is_name(expr.value);
  }
  void run_generator(std::size_t level, bool certain, Value given = {});
  void run_iteration(std::size_t level, Value iterable, Value item, bool certain);
  void run_known(std::size_t level, Value iterable, const std::vector<Value>& known, bool certain);
  void run_any(std::size_t level, Value iterable);
  void note_share(std::size_t at);
  void note_part(std::uint64_t others, bool enough, std::uint64_t begin);
  void leave_read(Value iterator);
  void add_element(bool certain);
  bool takes_its_own(Value item, Cond condition) const;
  bool may_be_equivalent(std::size_t level, std::size_t count) const;
  bool are_equal_elements(std::size_t level, const std::vector<Value>& known) const;
  bool are_equally_known(const std::vector<Value>& known) const;
  bool makes_equal(std::size_t events, values::Mark before) const;
  Value as_dict();
  Value as_list();
  Int length_of_open(const values::ListState& state);
};

Value LoopRunner::run_comprehension(const ComprehensionExpr& expr) {
  if (expr.generators.size() > max_generators) return heap().unseen("", run_.here(expr));
  auto* scope = heap().make<values::Scope>();
  scope->parent = run_.frame_->scope;
  scope->globals = run_.frame_->scope->globals;
  Comprehension made{run_, expr, run_.frame_->scope, scope, {}, {}, false, {}, nullptr, nullptr, nullptr};
  return made.result();
}

Value LoopRunner::Comprehension::result() {
  if (run.killed_) return {};
  const Value first = run.resolve(run.evaluate(*expr.generators[0].iterable));
  const auto* either = either_unlike(run, first);
  if (!either) return over(first);
  return run.fork_value(
      either->condition, run.here(expr), [&] { return over(either->yes); }, [&] { return over(either->no); });
}

Value LoopRunner::Comprehension::over(Value first) {
  items.clear();
  keys.clear();
  open = false;
  rest = {};
  length = share = whole = nullptr;
  filtered = dealt = Sharing::uniform;
  run_generator(0, true, first);
  run.frame_->scope = outer;
  if (expr.comprehension == ComprehensionKind::dict) return as_dict();
  return is_set() && !open ? run.make_set(std::move(items)) : as_list();
}

void LoopRunner::Comprehension::add_element(bool certain) {
  const Value value = run.evaluate(*expr.element);
  const Value mapped = expr.value ? run.evaluate(*expr.value) : Value{};
  const Value kept = expr.value ? mapped : value;
  if (certain) {
    items.push_back(kept);
    keys.push_back(value);
  } else {
    open = true;
    rest = run.heap().merge(
        rest, filtered == Sharing::uniform ? kept : without_local_sizes(run.heap(), kept), Sharing::uniform);
  }
}

void LoopRunner::Comprehension::run_generator(std::size_t level, bool certain, Value given) {
  if (!run.step() || run.killed_) return;
  if (level == expr.generators.size()) return add_element(certain);
  const Generator& generator = expr.generators[level];
  // The first iterable belongs to the enclosing scope.
  const Value iterable = run.resolve(given ? given : run.evaluate(*generator.iterable));
  run.frame_->scope = scope;
  const bool lazily = level == 0 && expr.comprehension == ComprehensionKind::generator &&
      (iterable.is(Kind::iterator) ||
          (iterable.is(Kind::list) && iterable.as<values::List>()->kind == values::ListKind::iterator));
  const auto* const before = lazily ? values::Heap::list_state(iterable) : nullptr;
  const bool was_empty = before && before->items.empty() && !before->open;
  const auto known = run.take(iterable, run.here(*generator.iterable), is_set());
  if (known && known->size() <= (only_rearranges() ? longest_sequence : max_unrolled))
    run_known(level, iterable, *known, certain);
  else
    run_any(level, iterable);
  if (lazily && !was_empty) leave_read(iterable);
}

// A generator reads as far as it is asked. What reads it to its end uses the iterator up; of any other reader
// it is not known how much is left.
void LoopRunner::Comprehension::leave_read(Value iterator) {
  if (run.read_whole_ == &expr) return run.heap().set_list(iterator, {});
  values::ListState left;
  left.open = true;
  left.rest = run.heap().unseen("", run.here(expr));
  run.heap().set_list(iterator, std::move(left));
}

// `int(path.stem) % world == rank`: what is the rank's own it sees from what there is, and how many these are
// is a number of each rank. Of indices it is known.
bool LoopRunner::Comprehension::takes_its_own(Value item, Cond condition) const {
  if (run.symbols().sharing(condition) == Sharing::uniform) return false;
  if (item.is(Kind::tuple) && !item.as<values::Tuple>()->items.empty())
    item = run.resolve(item.as<values::Tuple>()->items.front());
  if (!item.is(Kind::unknown) && !item.is(Kind::instance)) return false;
  bool asks_it = false, asks_rank = false;
  run.symbols().parts(
      condition,
      [&](Int atom) {
        const auto* info = run.symbols().atom_info(atom);
        if (!info) return;
        asks_it = asks_it || info->role == symbolic::Role::none;
        asks_rank = asks_rank || info->role == symbolic::Role::rank ||
            info->role == symbolic::Role::local_rank;
      },
      [](Cond) {});
  return asks_it && asks_rank;
}

void LoopRunner::Comprehension::run_iteration(std::size_t level, Value iterable, Value item, bool certain) {
  const Generator& generator = expr.generators[level];
  run.assignments_->run_assign(*generator.target, item, true);
  auto& s = run.symbols();
  Cond all = s.boolean(true);
  for (const Expr* condition : generator.conditions) {
    all = s.logical_and(all, run.truth(run.evaluate(*condition)));
    if (run.killed_ || s.decide(all) == symbolic::Answer::no) break;  // the others are not evaluated
  }
  const auto answer = s.decide(all);
  if (answer == symbolic::Answer::no) return;
  if (answer == symbolic::Answer::unknown) {
    filtered = symbolic::mix(filtered, takes_its_own(item, all) ? Sharing::local : s.sharing(all));
    if (level == 0 && !certain && has_one_generator() && run.limits_.as_rank) {
      const Value numbered = item.is(Kind::tuple) && !item.as<values::Tuple>()->items.empty()
          ? run.resolve(item.as<values::Tuple>()->items.front())
          : run.resolve(item);
      share = numbered.is(Kind::integer)
          ? run.loops_->length_of_share(run.iterables_->known_length(iterable), numbered.integer(), all)
          : nullptr;
    }
  }
  run_generator(level + 1, certain && answer == symbolic::Answer::yes);
}

// Experts by the hundred: may one be made, and stand for all?
bool LoopRunner::Comprehension::may_be_equivalent(std::size_t level, std::size_t count) const {
  constexpr std::size_t most_made_each = 4;  // a few are cheaper made than compared
  const Generator& generator = expr.generators[level];
  return level == 0 && count > most_made_each && has_one_generator() && generator.conditions.empty() &&
      !expr.value && !is_set() && generator.target->kind == ExprKind::name &&
      expr.element->kind == ExprKind::call && is_free_of(expr.element, as<NameExpr>(*generator.target).id);
}

// Elements by the dozen of which the same is known, as those of a tensor of indices.
bool LoopRunner::Comprehension::are_equal_elements(std::size_t level, const std::vector<Value>& known) const {
  constexpr std::size_t least = 4;  // two are made in any case
  const Generator& generator = expr.generators[level];
  return level == 0 && known.size() >= least && known.front().is(Kind::tensor) && has_one_generator() &&
      generator.conditions.empty() && !expr.value && !is_set() && generator.target->kind == ExprKind::name &&
      !run.record_.conditions.contains(values::RecordCondition::counted) && are_equally_known(known);
}

// Numbers that were drawn from one range are equally known, too, as long as nothing was found out of one of
// them: what holds of it holds of the other in its place.
bool LoopRunner::Comprehension::are_equally_known(const std::vector<Value>& known) const {
  symbolic::Context& s = run.symbols();
  std::unordered_map<Int, std::vector<Cond>> assumed;
  for (const Cond each : s.assumed_since(0))
    s.parts(each, [&](Int atom) { assumed[atom].push_back(each); }, [](Cond) {});
  // Two conditions, each of one of the atoms, are the same for every number if they are for two large ones.
  const auto put = [&](Cond holds, Int atom, std::int64_t number) -> Cond {
    const auto compared = s.comparison(holds);
    const symbolic::Assignment value{atom, number};
    return compared ? s.compared(compared->op, s.substitute(compared->left, {&value, 1}),
                          s.substitute(compared->right, {&value, 1}))
                    : nullptr;
  };
  const auto says_the_same = [&](Cond of_a, Int a, Cond of_b, Int b) {
    constexpr std::int64_t large[] = {1'000'003, 777'777'773};
    return std::ranges::all_of(large, [&](std::int64_t number) {
      const Cond one = put(of_a, a, number);
      return one && one == put(of_b, b, number);
    });
  };
  const auto same_number = [&](Int a, Int b) {
    const symbolic::AtomInfo *mine = s.atom_info(a), *theirs = s.atom_info(b);
    if (!mine || !theirs || mine->lower != theirs->lower || mine->upper != theirs->upper ||
        mine->sharing != theirs->sharing || mine->role != theirs->role || mine->usual != theirs->usual ||
        mine->varies != theirs->varies)
      return false;
    const auto &of_a = assumed[a], &of_b = assumed[b];
    return of_a.size() == of_b.size() && std::ranges::all_of(of_a, [&](Cond each) {
      return std::ranges::any_of(of_b, [&](Cond other) { return says_the_same(each, a, other, b); });
    });
  };
  return std::ranges::all_of(known,
      [&](Value each) { return are_alike(run.heap(), known.front(), run.resolve(each), same_number); });
}

// Of such elements, are the last two made alike, with the block's events from `events` on, since `before`?
// Then so are those that follow. Where something is done that a rule may look at, it looks at each.
bool LoopRunner::Comprehension::makes_equal(std::size_t events, values::Mark before) const {
  if (items.size() < 2) return false;
  const auto seen = std::span(run.block_->events).subspan(events);
  if (!seen.empty() && (!run.loops_->skips_equal_iterations() || !is_quiet(seen))) return false;
  const Value made = run.resolve(items.back()), other = run.resolve(items[items.size() - 2]);
  if (!made.is(Kind::tensor) || made.as<values::Tensor>()->role != values::TensorRole::plain ||
      made.as<values::Tensor>()->state.birth <= before.clock || !are_alike(run.heap(), made, other))
    return false;
  const values::Slot* const target = scope->names.find(as<NameExpr>(*expr.generators[0].target).id);
  return std::ranges::all_of(run.heap().written(before), [&](const auto& one) {
    return one.first->birth > before.clock || one.first == target || one.second == one.first->value;
  });
}

// Of the steps that were left at `begin`, a part is or is not enough for all others.
void LoopRunner::Comprehension::note_part(std::uint64_t others, bool enough, std::uint64_t begin) {
  const std::uint64_t taken = run.record_.steps - begin, needed = others * elements_share;
  const std::uint64_t left = needed - std::min(needed, taken);
  if (enough)
    run.incremental_->note_steps_left(left, RunState::unlimited_steps);
  else
    run.incremental_->note_steps_left(0, left - std::min<std::uint64_t>(left, 1));
}

void LoopRunner::Comprehension::run_known(
    std::size_t level, Value iterable, const std::vector<Value>& known, bool certain) {
  const bool equivalent = may_be_equivalent(level, known.size());
  const bool equal = certain && are_equal_elements(level, known);
  const bool counted = run.record_.conditions.contains(values::RecordCondition::counted);
  const std::uint64_t made_each = counted ? counted_equal_steps : equal_steps;
  const std::uint64_t begin = run.record_.steps,
                      part = (run.step_limit_ - std::min(run.step_limit_, begin)) / elements_share;
  const std::uint64_t budget = counted ? std::min(counted_elements_steps, part) : part;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::uint64_t from = run.record_.steps;
    const std::size_t events = run.block_->events.size();
    const Value before = i == 0 && equivalent ? known[i] : Value{};
    if (before) run.assignments_->run_assign(*expr.generators[level].target, before, true);
    const auto mark = run.heap().mark();
    run_iteration(level, iterable, known[i], certain);
    if (i == 0 && level == 0 && known.size() > 1) {
      // One training takes what each of them does: `[main(seed) for seed in range(200)]`.
      if (counted && certain && items.size() == 1 && trains(run.block_->events, events)) {
        items.assign(known.size(), items.front());
        keys.assign(known.size(), keys.front());
        return;
      }
      // Any one stands for those that come.
      const std::uint64_t others = (run.record_.steps - from) * (known.size() - 1);
      if (!counted || others <= counted_elements_steps) note_part(others, others <= part, begin);
      if (others > budget) return run_any(level, iterable);
    }
    if (equal && items.size() == i + 1 && makes_equal(events, mark)) {
      const auto& made = *run.resolve(items.back()).as<values::Tensor>();
      const std::uint64_t left = known.size() - i - 1;
      run.step((run.record_.steps - from) * left);  // budgets are as if each had been made
      for (std::uint64_t k = 0; k < left; ++k) items.push_back(run.heap().tensor(*made.now(), made.born));
      keys = items;
      return;
    }
    if (!before || items.size() != 1 || (run.record_.steps - from) * known.size() <= made_each) continue;
    const Value made = run.resolve(items.front());
    if (!made.is(Kind::instance) || run.block_->events.size() != events ||
        made.as<values::Instance>()->born.chunk == 0)
      continue;
    const auto written = run.heap().written(mark);
    if (std::ranges::any_of(written, [&](const auto& one) {
          return one.first->birth <= mark.clock && !(one.second == one.first->value);
        }))
      continue;
    made.as<values::Instance>()->of_many = true;
    items.assign(known.size(), made);
    keys.assign(known.size(), made);
    return;
  }
}

void LoopRunner::Comprehension::run_any(std::size_t level, Value iterable) {
  const Generator& generator = expr.generators[level];
  auto& s = run.symbols();
  if (level == 0 && has_one_generator() && generator.conditions.empty()) {
    if (iterable.is(Kind::range)) {
      const auto* range = iterable.as<values::Range>();
      if (s.value(range->step) == 1) length = s.max(s.constant(0), s.sub(range->stop, range->start));
    } else if (iterable.is(Kind::list)) {
      length = values::Heap::list_state(iterable)->length;
    } else if (iterable.is(Kind::tensor)) {
      length = run.iterables_->known_length(iterable);
    }
  }
  open = true;
  LoopShape shape;
  shape.place = run.here(expr);
  shape.trips = run.iterables_->trips_of(iterable);
  if (level == 0) {
    dealt = shape.trips;
    whole = run.iterables_->known_length(iterable);
  }
  // A generator may be read in part.
  const bool makes_all = level == 0 && has_one_generator() &&
      (expr.comprehension != ComprehensionKind::generator || run.read_whole_ == &expr);
  if (makes_all && generator.conditions.empty()) shape.length = run.iterables_->known_length(iterable);
  const std::size_t begin = run.block_->events.size();
  run.loops_->run_generic_loop(shape, [&] {
    if (level == 0) rest = {};
    run_iteration(level, iterable,
        for_an_iteration(run.heap(), run.element(iterable, run.here(*generator.iterable))), false);
    return run.killed_ ? Flow::dead : Flow::normal;
  });
  if (makes_all && share && run.dry_runs_ == 0 && run.block_->events.size() == begin + 1) note_share(begin);
}

// Of iterations that are dealt out by a filter only its own count for this rank.
void LoopRunner::Comprehension::note_share(std::size_t at) {
  auto& events = run.record_.events;
  const Event* const made = run.block_->events[at];
  for (std::size_t i = events.size(); made->kind == EventKind::loop && i-- > 0;) {
    if (events[i].get() != made) continue;
    auto& event = static_cast<LoopEvent&>(*events[i]);
    event.length = share;
    event.counts = run.loops_->iteration_counts(share);
    return;
  }
}

Value LoopRunner::Comprehension::as_dict() {
  const Value dict = run.heap().dict({});
  std::vector<std::pair<Value, Value>> made;
  made.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) made.push_back({keys[i], items[i]});
  run.dict_extend(dict, std::move(made));
  values::DictState state = *values::Heap::dict_state(dict);
  if (open) {
    for (auto& [key, value] : state.items) value = run.heap().merge(value, rest, Sharing::uniform);
    state.open = true;
    state.rest = run.heap().merge(state.rest, rest, Sharing::uniform);
  }
  // Made with what it holds: who reads it when the way to it was taken back finds that, and no empty one.
  return run.heap().dict(std::move(state.items), state.open, state.rest);
}

Value LoopRunner::Comprehension::as_list() {
  const auto kind = is_set()                               ? values::ListKind::set
      : expr.comprehension == ComprehensionKind::generator ? values::ListKind::iterator
                                                           : values::ListKind::list;
  const Value list = run.heap().list(std::move(items), kind);
  if (!open) return list;
  auto* state = values::Heap::list_state(list);
  state->open = true;
  state->rest = rest;
  state->length = length_of_open(*state);
  return list;
}

// How many elements a list has of which none is there for certain. Null: nobody knows.
Int LoopRunner::Comprehension::length_of_open(const values::ListState& state) {
  auto& s = run.symbols();
  if (dealt == Sharing::local) filtered = dealt;
  if (!state.items.empty()) return nullptr;
  if (length || share) return length ? length : share;
  const bool by_rank = filtered == Sharing::divergent && !run.limits_.as_rank;
  if (filtered == Sharing::local || by_rank)
    return s.fresh({.name = {}, .lower = 0, .upper = {}, .sharing = filtered});
  // A filter may leave all of a share. How many it leaves of what is no share is a number that all ranks
  // have.
  const bool is_filtered_list = run.limits_.as_rank && dealt != Sharing::local && has_one_generator() &&
      !expr.generators[0].conditions.empty() && expr.comprehension == ComprehensionKind::list;
  if (!is_filtered_list) return nullptr;
  bool shared_out = false;
  if (whole) s.atoms(whole, [&](Int atom) { shared_out = shared_out || atom != whole; });
  return shared_out ? whole
                    : s.fresh({.name = "len(" + std::string(run.record_.text(run.here(expr))) + ")",
                          .lower = 0,
                          .upper = {},
                          .sharing = symbolic::mix(dealt, filtered)});
}

}  // namespace stepzero::interpreter
