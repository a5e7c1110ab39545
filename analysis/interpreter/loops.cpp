// Loops. Over known elements they are unrolled within a budget; others are rehearsed until their head's state holds for
// every round, and then run once for the record.
#include "interpreter/interpreter.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t max_unrolled = 512;
constexpr std::uint64_t while_steps = 3'000;  // of a while loop that is run round by round
constexpr std::size_t most_first_rounds = 8;  // that are kept of one that has too many
constexpr std::size_t max_generators = 16;  // of one comprehension
constexpr std::uint64_t unroll_steps_list = 20'000;
constexpr std::uint64_t unroll_steps_range = 4'000;
constexpr std::uint64_t unroll_steps_building = 80'000;
constexpr int most_parts = 500;  // of an element whose kinds are looked for
constexpr std::uint64_t alike_steps = 2'000;  // of the elements of a comprehension that are made one by one though they are alike

// A tensor that was computed from parameters, or a tuple of such.
bool has_graph(Value value) {
  if (value.is(Kind::tuple)) {
    const auto& items = value.as<values::Tuple>()->items;
    return std::any_of(items.begin(), items.end(), [](const Value& item) { return item.is(Kind::tensor) && has_graph(item); });
  }
  if (!value.is(Kind::tensor) || value.as<values::Tensor>()->role != values::TensorRole::plain) return false;
  const values::TensorState* state = value.as<values::Tensor>()->now();
  return state && state->requires_grad != values::Known::no && !state->graph.empty();
}

// Two texts at least, which lie in a set in an order that differs from process to process.
bool holds_texts(const values::ListState& set) {
  return std::count_if(set.items.begin(), set.items.end(), [](const Value& item) { return item.is(Kind::string); }) > 1;
}

// Is an expression made of names, attributes, numbers, text and calls of those only, and does it not read the target?
bool is_free_of(const Expr* expr, Name target) {
  if (!expr) return true;
  switch (expr->kind) {
  case ExprKind::name: return as<NameExpr>(*expr).id != target;
  case ExprKind::attribute: return is_free_of(as<AttributeExpr>(*expr).object, target);
  case ExprKind::binary: return is_free_of(as<BinaryExpr>(*expr).left, target) && is_free_of(as<BinaryExpr>(*expr).right, target);
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
// One of the elements as it is for a round: a size of a tensor that only this element need have is the same wherever the round meets it.
Value for_a_round(values::Heap& heap, Value element, int depth = 0) {
  if (element.is(Kind::tensor)) {
    const auto* tensor = element.as<values::Tensor>();
    const values::TensorState* state = tensor->now();
    if (tensor->role != values::TensorRole::plain || !state->shape.rank_known ||
        std::ranges::all_of(state->shape.dims, [](const values::Dim& dim) { return dim.size != nullptr; }))
      return element;
    values::TensorState one = *state;
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = state->sharing;
    info.varies = true;
    for (values::Dim& dim : one.shape.dims)
      if (!dim.size) dim.size = heap.symbols().fresh(info);
    return heap.tensor(std::move(one), tensor->born);
  }
  if (!element.is(Kind::tuple) || depth > 2) return element;
  const auto* all = element.as<values::Tuple>();
  std::vector<Value> items;
  bool same = true;
  for (const Value& item : all->items) {
    items.push_back(for_a_round(heap, item, depth + 1));
    same = same && items.back() == item;
  }
  if (same) return element;
  const Value one = heap.tuple(std::move(items));
  one.as<values::Tuple>()->fields = all->fields;
  one.as<values::Tuple>()->cls = all->cls;
  return one;
}

// May what is behind the block not be come to?
bool leaves(const Block& block) {
  return std::any_of(block.events.begin(), block.events.end(), [](const Event* event) {
    switch (event->kind) {
    case EventKind::exit: return true;
    case EventKind::branch: return leaves(static_cast<const BranchEvent*>(event)->yes) || leaves(static_cast<const BranchEvent*>(event)->no);
    case EventKind::call: return leaves(static_cast<const CallEvent*>(event)->body);
    case EventKind::loop: {
      const auto& rounds = static_cast<const LoopEvent*>(event)->rounds;
      return std::any_of(rounds.begin(), rounds.end(), leaves);
    }
    case EventKind::attempt: return true;
    default: return false;
    }
  });
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

// `any` stands for any one of several, of which `one` is one: the conditions under which a part of it is of one kind or another. Each
// kind is that of some of them.
void conditions_of_kinds(symbolic::Context& s, Value any, Value one, std::vector<Cond>& found, int& budget, int depth = 0) {
  if (any == one || --budget < 0 || depth > 8) return;
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

// What fails in every first round of a loop that the block was run for: nothing on the way to it depends on a condition.
void failures_of_first_round(const Block& block, std::vector<const ProblemEvent*>& found) {
  for (const Event* event : block.events) {
    if (event->kind == EventKind::problem) {
      const auto* problem = static_cast<const ProblemEvent*>(event);
      if (!problem->guarded && !problem->assumption && problem->problem < values::ProblemKind::first_without_failure) found.push_back(problem);
    } else if (event->kind == EventKind::call) {
      failures_of_first_round(static_cast<const CallEvent*>(event)->body, found);
    } else if (event->kind == EventKind::branch || event->kind == EventKind::loop || event->kind == EventKind::attempt) {
      const Block here{{event}};
      if (leaves(here)) return;
    }
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
  default: return heap().sharing(iterable);
  }
}

// What is said of how it was computed holds of the other, too.
static bool covers_history(const values::TensorState& wide, const values::TensorState& state) {
  return (wide.requires_grad == values::Known::unknown || wide.requires_grad == state.requires_grad) && (!wide.outcome || wide.outcome == state.outcome) &&
         (!wide.mean || state.mean) && (!wide.cast_by || wide.cast_by == state.cast_by);
}

// The modules that rounds of a loop make and put into a list are not there before the loop is run for good: of the list it is known only
// that there may be more in it.
Value Interpreter::without_made(Value state, std::uint64_t since) {
  if (!state.is(Kind::state)) return state;
  const auto* list = dynamic_cast<values::ListState*>(state.object());
  if (!list) return state;
  const auto made = [&](Value item) {
    return item.is(Kind::instance) && item.as<values::Instance>()->attributes.birth > since && is_a(item, library_.types().module);
  };
  if (!made(list->rest) && std::none_of(list->items.begin(), list->items.end(), made)) return state;
  auto* other = heap().make<values::ListState>();
  for (const Value& item : list->items)
    if (!made(item)) other->items.push_back(item);
  if (!made(list->rest)) other->rest = list->rest;
  other->open = true;
  return Value::of(Kind::state, other);
}

// A size that each round of a loop has its own of.
Value Interpreter::any_of_wide(Value wide) {
  if (wide.is(Kind::unknown)) {
    wide.as<values::Unknown>()->of_many = true;
    return wide;
  }
  const symbolic::AtomInfo* known = symbols().atom_info(wide.integer());
  if (!known || known->varies) return wide;
  symbolic::AtomInfo info = *known;
  info.varies = true;
  return Value::of(symbols().fresh(info));
}

bool Interpreter::covers(Value wide, Value value) const {
  if (wide == value) return true;
  if (wide.is(Kind::unknown)) {
    const Value any = wide.as<values::Unknown>()->element;
    if (!any) return true;
    if (value.is(Kind::unknown)) return value.as<values::Unknown>()->element && covers(any, value.as<values::Unknown>()->element);
    if (!value.is(Kind::tuple)) return false;
    const auto& items = value.as<values::Tuple>()->items;
    return std::all_of(items.begin(), items.end(), [&](const Value& item) { return covers(any, item); });
  }
  if (wide.kind != value.kind) return false;
  switch (wide.kind) {
  case Kind::integer: return record_.symbols.is_atom(wide.integer());
  case Kind::boolean: return record_.symbols.form(wide.condition()) == symbolic::Context::Form::opaque;
  case Kind::string: return wide.text() == value.text();
  case Kind::tensor: {
    const auto* a = wide.as<values::Tensor>()->now();
    const auto* b = value.as<values::Tensor>()->now();
    if (a->dtype != values::Dtype::unknown && a->dtype != b->dtype) return false;
    if (a->content && a->content != b->content) return false;
    if (a->shape.rank_known && (!b->shape.rank_known || a->shape.dims.size() != b->shape.dims.size())) return false;
    if (a->shape.dims.size() > b->shape.dims.size()) return false;
    for (std::size_t i = 1; i <= a->shape.dims.size(); ++i) {
      const auto& dim = a->shape.dims[a->shape.dims.size() - i];
      if (dim.size && dim.size != b->shape.dims[b->shape.dims.size() - i].size) return false;
    }
    return a->scaled_by == b->scaled_by && symbolic::mix(a->sharing, b->sharing) == a->sharing && covers_history(*a, *b);
  }
  case Kind::instance: {
    const auto *a = wide.as<values::Instance>(), *b = value.as<values::Instance>();
    if (a->cls || b->cls || a->native != b->native) return false;
    const values::Slot *mine = a->attributes.find(Name("$state")), *theirs = b->attributes.find(Name("$state"));
    return mine && theirs && mine->value.is(Kind::tensor) && covers(mine->value, theirs->value);
  }
  case Kind::tuple: {
    const auto& a = wide.as<values::Tuple>()->items;
    const auto& b = value.as<values::Tuple>()->items;
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!covers(a[i], b[i])) return false;
    return true;
  }
  case Kind::state: {
    const auto* a = dynamic_cast<values::ListState*>(wide.object());
    const auto* b = dynamic_cast<values::ListState*>(value.object());
    if (a && b) return a->open && (!b->rest || covers(a->rest, b->rest));
    const auto* x = dynamic_cast<values::TensorState*>(wide.object());
    const auto* y = dynamic_cast<values::TensorState*>(value.object());
    if (x && y) return covers_history(*x, *y);
    return true;
  }
  default: return false;
  }
}

namespace {

// Does every round leave a tensor with a history there?
bool has_history(Value value, int depth = 0) {
  switch (value.kind) {
  case Kind::tuple: {
    const auto& items = value.as<values::Tuple>()->items;
    return depth == 0 && std::any_of(items.begin(), items.end(), [](const Value& item) { return has_history(item, 1); });
  }
  case Kind::choice: return has_history(value.as<values::Choice>()->yes, depth + 1) && has_history(value.as<values::Choice>()->no, depth + 1);
  case Kind::tensor: return value.as<values::Tensor>()->now() && value.as<values::Tensor>()->now()->requires_grad == values::Known::yes;
  default: return false;
  }
}

// What an earlier round of one loop left in a slot gets the mark of that loop: what is computed from it has it, too.
bool mark_carried(values::Heap& heap, const values::Object* earlier, const values::Object* mark, Value value, int depth = 0) {
  if (value.is(Kind::tuple) && depth == 0) {
    bool any = false;
    for (const Value& item : value.as<values::Tuple>()->items) any = mark_carried(heap, earlier, mark, item, depth + 1) || any;
    return any;
  }
  if (value.is(Kind::choice)) {
    const auto* choice = value.as<values::Choice>();
    const bool yes = mark_carried(heap, earlier, mark, choice->yes, depth + 1), no = mark_carried(heap, earlier, mark, choice->no, depth + 1);
    return yes || no;
  }
  if (!value.is(Kind::tensor) || value.as<values::Tensor>()->role != values::TensorRole::plain) return false;
  auto* tensor = value.as<values::Tensor>();
  if (!tensor->now() || tensor->now()->requires_grad == values::Known::no) return false;
  values::TensorState state = *tensor->now();
  if (!state.graph.contains(earlier)) return false;
  state.graph.push_back(mark);
  heap.set(tensor->state, Value::of(Kind::state, heap.state(state)));
  return true;
}

} // namespace

Flow Interpreter::run_round(LoopTarget& target, const std::function<Flow()>& body, bool loose) {
  if (target.rounds++ > 0 && rehearsals_ == 0) {
    mark_earlier(target.round_mark);
    auto* mark = record_.earlier ? heap().make<values::Unknown>() : nullptr;
    bool any = false;
    if (mark)
      for (const auto& [slot, before] : heap().written(target.round_mark))
        if (slot->birth <= target.mark.clock && has_history(slot->value)) any = mark_carried(heap(), record_.earlier, mark, slot->value) || any;
    if (any)
      if (OperationEvent* event = record_implied("$carried", {}, {Value::of(Kind::unknown, mark)}, {}, {})) append(event);
  }
  const Moment begin = moment();
  target.round_mark = begin.mark;
  target.kept.clear();
  Flow flow = body();
  if (flow == Flow::normal) record_kept(target);
  return merge_exits(begin, target.continues, flow, nullptr, loose);
}

RoundCounts Interpreter::round_counts(Int length) {
  auto& s = symbols();
  std::map<std::string, Int> sizes;
  bool named = true;
  s.atoms(length, [&](Int atom) {
    const auto* info = s.atom_info(atom);
    named = named && info && !info->name.empty() && !resized_.contains(info->name) && sizes.try_emplace(info->name, atom).first->second == atom;
  });
  if (!named || sizes.empty() || sizes.size() > 2) return {};
  RoundCounts found;
  std::vector<symbolic::Assignment> values;
  for (const auto& [name, atom] : sizes) {
    found.sizes.push_back(name);
    values.push_back({atom, 1});
  }
  const std::int64_t most = RoundCounts::most(sizes.size());
  for (bool more = true; more;) {
    const auto facts = s.mark();
    bool possible = true;
    for (const auto& [atom, value] : values) possible = possible && s.assume(s.compared(symbolic::Compare::eq, atom, s.constant(value)));
    s.rewind(facts);
    for (std::size_t i = 0; possible && i < path_.size(); ++i) possible = s.evaluate(path_[i], values) != symbolic::Answer::no;
    const auto rounds = possible ? s.value(s.substitute(length, values)) : std::nullopt;
    found.rounds.push_back(rounds ? *rounds : RoundCounts::never);
    more = false;
    for (std::size_t i = values.size(); i-- > 0 && !more;) {
      more = values[i].value < most;
      values[i].value = more ? values[i].value + 1 : 1;
    }
  }
  return found;
}

Int Interpreter::length_of_share(Int size, Int number, Cond condition) {
  auto& s = symbols();
  if (!size || !number || !limits_.as_rank || !s.is_atom(number)) return nullptr;
  const std::int64_t parts = limits_.as_rank->world;
  for (std::int64_t part = 0; part < parts; ++part)
    if (s.compared(symbolic::Compare::eq, s.mod(number, s.constant(parts)), s.constant(part)) == condition)
      return s.floordiv(s.add(size, s.constant(parts - 1 - part)), s.constant(parts));
  return nullptr;
}

Flow Interpreter::run_generic_loop(const LoopShape& shape, const std::function<Flow()>& round) {
  const std::size_t depth = path_.size();
  Block* const block = block_;
  const auto counts = exit_counts();
  const auto facts = symbols().mark();
  ++generic_depth_;
  std::unordered_set<values::Slot*> widened;  // what a round changes
  std::vector<const ProblemEvent*> failures;  // of the first round, whose state is known best
  std::unordered_set<values::Slot*> histories;  // what of it holds a tensor with a history, after every round
  std::vector<values::Slot*> carries;           // and one with a graph
  // Ranks that meet in a round are in the same one, however many each makes.
  const Sharing carried_sharing = shape.trips == Sharing::unseen ? Sharing::unseen : Sharing::uniform;

  // Runs a round from the loop's head; what it leaves in what was there before it is kept.
  std::vector<std::pair<values::Slot*, Value>> ends;
  std::optional<LoopTarget> target;
  const auto run_once = [&](values::Mark mark, Block& into, bool look) {
    block_ = &into;
    target.emplace(LoopTarget{mark, mark, depth, {}, {}});
    frame_->loops.push_back(&*target);
    const Flow flow = run_round(*target, round, true);
    frame_->loops.pop_back();
    killed_ = false;
    block_ = block;
    ends.clear();
    if (!look) return flow;
    for (const auto& [slot, base] : heap().written(mark))
      if (base && slot->birth <= mark.clock) {
        // Taking the round back takes back what became of a tensor made in it.
        Value end = slot->value;
        if (end.is(Kind::tensor) && end.as<values::Tensor>()->state.birth > mark.clock) {
          const auto* made = end.as<values::Tensor>();
          end = heap().tensor(*made->now(), made->born);
          end.as<values::Tensor>()->role = made->role;
        }
        ends.push_back({slot, end});
        if (has_graph(slot->value)) carries.push_back(slot);
        if (has_history(slot->value)) histories.insert(slot);
        else histories.erase(slot);
      }
    return flow;
  };
  // Makes the head's state one that holds at the end of the round, too; false: it was.
  const auto widen = [&](values::Mark mark, bool last) {
    bool changed = false;
    for (const auto& [slot, left] : ends) {
      const Value before = slot->value;
      const Value end = without_made(left, mark.clock);
      if (widened.contains(slot) && covers(before, end)) continue;
      Value wide = heap().join_states(before, end, nullptr, carried_sharing);
      if (wide == before) continue;
      // What failed in one round may not have failed in another.
      if (wide.is(Kind::tensor) && before.is(Kind::tensor) && wide.as<values::Tensor>()->now()->blamed && !before.as<values::Tensor>()->now()->blamed) {
        values::TensorState state = *wide.as<values::Tensor>()->now();
        state.blamed = false;
        heap().set(wide.as<values::Tensor>()->state, Value::of(Kind::state, heap().state(std::move(state))));
      }
      if (building() && (wide.is(Kind::integer) || wide.is(Kind::unknown))) wide = any_of_wide(wide);
      if (last && !wide.is(Kind::state)) wide = heap().unknown("", symbolic::mix(carried_sharing, heap().sharing(wide)));
      heap().set(*slot, wide);
      widened.insert(slot);
      changed = true;
    }
    return changed;
  };
  const auto take_back = [&](values::Mark mark) {
    heap().rollback(mark);
    symbols().rewind(facts);
    path_.resize(depth);
    drop_exits(counts);
  };
  // True: the head's state holds for every round.
  const auto rehearse = [&](int pass) {
    Block scratch;
    ++rehearsals_;
    const auto mark = heap().mark();
    run_once(mark, scratch, true);
    take_back(mark);
    --rehearsals_;
    if (pass == 0 && rehearsals_ == 0) failures_of_first_round(scratch, failures);
    return !widen(mark, pass == 2) || !step();
  };

  values::Unknown* carried = nullptr;
  auto* event = record_.event<LoopEvent>();
  event->place = shape.place;
  event->calls = site_;
  event->trips = shape.trips;
  event->any_order = shape.any_order;
  event->stmt = shape.stmt;
  event->length = shape.length;
  event->first = shape.first;
  values::Mark mark;
  std::size_t round_begin = 0;
  const auto run_for_good = [&](bool look) {
    if (limits_.as_rank && rehearsals_ == 0 && shape.length && !symbols().value(shape.length)) event->counts = round_counts(shape.length);
    if (rehearsals_ == 0)
      for (values::Slot* slot : carries) {
        mark_earlier(slot->value);
        if (!record_.earlier || !histories.contains(slot)) continue;
        auto* const own = carried ? carried : heap().make<values::Unknown>();
        if (mark_carried(heap(), record_.earlier, own, slot->value)) carried = own;
      }
    event->rounds.clear();
    Block& into = event->rounds.emplace_back();
    block_ = &into;
    if (carried)
      if (OperationEvent* left = record_implied("$carried", {}, {Value::of(Kind::unknown, carried)}, {}, {})) append(left);
    round_begin = record_.events.size();
    mark = heap().mark();
    return run_once(mark, into, look);
  };

  // A first rehearsal tells what a round changes. Then most rounds hold: the next is run for good, and taken back only if it shows
  // that it began with too little. Inside a rehearsal one more rehearsal is enough: its outcome is thrown away.
  Flow flow = Flow::normal;
  bool holds = rehearse(0) || rehearsals_ > 0, done = false;
  if (!holds) {
    const std::size_t fact_count = record_.facts.size(), function_count = function_order_.size(), class_count = classes_.size(), built_count = built_.size();
    const auto known = std::pair(std::unordered_set<values::Slot*>(carries.begin(), carries.end()), histories);
    flow = run_for_good(true);
    const values::Delta last = heap().capture(mark);
    heap().rollback(mark);
    symbols().rewind(facts);
    path_.resize(depth);
    const bool knew = histories == known.second && std::all_of(carries.begin(), carries.end(), [&](values::Slot* slot) { return known.first.contains(slot); });
    done = !widen(mark, false) && knew;
    if (done) {
      heap().apply(last);
    } else {
      take_back(mark);
      record_.facts.resize(fact_count);
      for (std::size_t i = function_count; i < function_order_.size(); ++i) functions_.erase(function_order_[i]->stmt);
      function_order_.resize(function_count);
      classes_.resize(class_count);
      built_.resize(built_count);
      if (step()) rehearse(2);
    }
  }
  if (!done) flow = run_for_good(false);
  --generic_depth_;
  const std::size_t count = record_.events.size();
  for (const ProblemEvent* failure : failures)
    if (std::none_of(record_.events.begin() + static_cast<std::ptrdiff_t>(round_begin), record_.events.begin() + static_cast<std::ptrdiff_t>(count), [&](const auto& other) {
          return other->kind == EventKind::problem && other->place.chunk == failure->place.chunk && other->place.span.begin == failure->place.span.begin &&
                 !static_cast<const ProblemEvent&>(*other).guarded && !static_cast<const ProblemEvent&>(*other).assumption;
        }))
      event->rounds[0].events.push_back(failure);
  if (!event->rounds[0].events.empty()) append(event);
  symbols().rewind(facts);
  path_.resize(depth);
  // Behind the loop: no round, some rounds, or left by break.
  if (shape.endless) {
    flow = Flow::dead;
  } else {
    const values::Delta last = heap().capture(mark);
    heap().rollback(mark);
    if (flow == Flow::normal) heap().join(mark, last, nullptr, shape.trips);
    flow = Flow::normal;
  }
  return merge_exits({mark, facts, depth}, target->breaks, flow, nullptr, true);
}

bool Interpreter::run_unrolled(const ForStmt& stmt, const std::vector<Value>& items, std::uint64_t budget, Flow& flow) {
  const auto mark = heap().mark();
  const auto facts = symbols().mark();
  const std::size_t depth = path_.size();
  const auto counts = exit_counts();
  const std::uint64_t from = record_.steps;
  Block* const block = block_;
  auto* event = record_.event<LoopEvent>();
  event->place = {chunk_, stmt.header};
  event->calls = site_;
  event->stmt = &stmt;
  event->unrolled = true;
  event->rounds.resize(items.size());
  const std::size_t fact_count = record_.facts.size();
  LoopTarget target{mark, mark, depth, {}, {}};
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
  if (!fits) {
    heap().rollback(mark);
    symbols().rewind(facts);
    path_.resize(depth);
    drop_exits(counts);
    record_.facts.resize(fact_count);
    return false;
  }
  bool any = false;
  for (const Block& round : event->rounds) any = any || !round.events.empty();
  if (any) append(event);
  if (flow == Flow::normal && !stmt.orelse.empty()) flow = run_block(stmt.orelse);
  if (!target.breaks.empty()) flow = merge_exits({mark, facts, depth}, target.breaks, flow, nullptr, false);
  return true;
}

Flow Interpreter::run_generator_loop(const ForStmt& stmt, Value generator) {
  Frame* const frame = frame_;
  const std::uint32_t chunk = chunk_;
  const auto mark = heap().mark();
  const auto facts = symbols().mark();
  const std::size_t depth = path_.size();
  const int generic = generic_depth_;
  LoopTarget target{mark, mark, depth, {}, {}};
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
  return merge_exits({mark, facts, depth}, target.breaks, flow, nullptr, loose);
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
  case Kind::list:
  case Kind::iterator:
    if (const auto* state = values::Heap::list_state(iterable)) return state->open ? state->length : symbols().constant(static_cast<std::int64_t>(state->items.size()));
    return nullptr;
  case Kind::range: {
    const Value length = resolve(length_of(iterable, {}));
    return length.is(Kind::integer) ? length.integer() : nullptr;
  }
  case Kind::unknown: {
    const Value length = limits_.as_rank ? resolve(length_of(iterable, {})) : Value{};
    return length.is(Kind::integer) ? length.integer() : nullptr;
  }
  case Kind::instance: {
    if (iterable.as<values::Instance>()->cls) return nullptr;  // it may have a __len__ of its own, which is not to be run
    const Value length = resolve(length_of(iterable, {}));
    return length.is(Kind::integer) ? length.integer() : nullptr;
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
  if (is_pending(iterable)) return run_generator_loop(stmt, iterable);
  const bool is_iterator = iterable.is(Kind::iterator) || (iterable.is(Kind::list) && iterable.as<values::List>()->kind == values::ListKind::iterator);
  Value first;  // of several that are known
  bool first_fails = false;
  if (auto items = elements(iterable, here(*stmt.iterable)); items && items->size() <= max_unrolled) {
    Flow flow;
    // What an early exit leaves in an iterator is not known.
    if (is_iterator) heap().set_list(iterable, {});
    const std::uint64_t budget = building() ? unroll_steps_building : iterable.is(Kind::range) ? unroll_steps_range : unroll_steps_list;
    if (run_unrolled(stmt, *items, budget, flow)) return flow;
    if (items->size() > 1) first = resolve(items->front());
    // Elements of several kinds: what fails for the first of them is proven, though it is not for any one of them.
    if (rehearsals_ == 0 && std::any_of(items->begin(), items->end(), [&](const Value& item) { return !(item == items->front()); })) {
      Block scratch;
      Block* const block = block_;
      block_ = &scratch;
      ++rehearsals_;
      ++generic_depth_;
      const std::size_t depth = path_.size();
      const auto counts = exit_counts();
      const auto mark = heap().mark();
      const auto facts = symbols().mark();
      LoopTarget target{mark, mark, depth, {}, {}};
      frame_->loops.push_back(&target);
      run_round(target, [&] {
        run_assign(*stmt.target, items->front());
        return run_block(stmt.body);
      }, true);
      frame_->loops.pop_back();
      killed_ = false;
      heap().rollback(mark);
      symbols().rewind(facts);
      path_.resize(depth);
      drop_exits(counts);
      --generic_depth_;
      --rehearsals_;
      block_ = block;
      std::vector<const ProblemEvent*> failures;
      failures_of_first_round(scratch, failures);
      block_->events.insert(block_->events.end(), failures.begin(), failures.end());
      first_fails = !failures.empty();
    }
  }
  LoopShape shape;
  shape.stmt = &stmt;
  shape.place = {chunk_, stmt.header};
  shape.trips = trips_of(iterable);
  shape.length = known_length(iterable);
  shape.any_order = iterable.is(Kind::list) && iterable.as<values::List>()->kind == values::ListKind::set && holds_texts(*values::Heap::list_state(iterable));
  std::vector<Cond> kinds;  // in the last round
  const std::size_t begin = record_.events.size();
  const std::size_t so_far = block_->events.size();
  const Flow flow = run_generic_loop(shape, [&] {
    const Value each = element(iterable, here(*stmt.iterable));
    kinds.clear();
    if (int budget = most_parts; first && !first_fails && rehearsals_ == 0) conditions_of_kinds(symbols(), each, first, kinds, budget);
    run_assign(*stmt.target, for_a_round(heap(), each));
    return run_block(stmt.body);
  });
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
  if (flow == Flow::normal && !stmt.orelse.empty()) return run_block(stmt.orelse);
  return flow;
}

// Rounds whose conditions are known are run one by one. False, and nothing has happened: something is not known, or it
// takes too long; then `first` gets the first ones, in the run of one rank.
bool Interpreter::run_known_rounds(const WhileStmt& stmt, Flow& flow, std::vector<Block>& first) {
  const auto mark = heap().mark();
  const auto facts = symbols().mark();
  const std::size_t depth = path_.size();
  const auto counts = exit_counts();
  const std::uint64_t from = record_.steps;
  const std::size_t fact_count = record_.facts.size();
  Block* const block = block_;
  auto* event = record_.event<LoopEvent>();
  event->place = {chunk_, stmt.header};
  event->calls = site_;
  event->stmt = &stmt;
  event->unrolled = true;
  LoopTarget target{mark, mark, depth, {}, {}};
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
    if (limits_.as_rank && !ended && rehearsals_ == 0 && generic_depth_ == 0 && rounds.size() > most_first_rounds) {
      rounds.resize(most_first_rounds);
      first = std::move(rounds);
    }
    killed_ = false;
    heap().rollback(mark);
    symbols().rewind(facts);
    path_.resize(depth);
    drop_exits(counts);
    record_.facts.resize(fact_count);
    return false;
  }
  event->rounds = std::move(rounds);
  bool any = false;
  for (const Block& round : event->rounds) any = any || !round.events.empty();
  if (any) append(event);
  if (flow == Flow::normal && !stmt.orelse.empty()) flow = run_block(stmt.orelse);
  if (!target.breaks.empty()) flow = merge_exits({mark, facts, depth}, target.breaks, flow, nullptr, false);
  return true;
}

Flow Interpreter::run_while(const WhileStmt& stmt) {
  std::vector<Block> first_rounds;
  if (Flow flow; run_known_rounds(stmt, flow, first_rounds)) return flow;
  const Cond first = truth(evaluate(*stmt.test));
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
  const Flow flow = run_generic_loop(shape, [&] {
    const Cond holds = truth(evaluate(*stmt.test));
    if (symbols().decide(holds) == symbolic::Answer::no) return Flow::dead;
    // What depends on the rank's number alone its own run knows.
    if (const Sharing asked = symbols().sharing(holds); asked != Sharing::divergent) shape.trips = symbolic::mix(shape.trips, asked);
    symbols().assume(holds);
    path_.push_back(holds);
    return run_block(stmt.body);
  });
  if (flow == Flow::normal && !stmt.orelse.empty()) return run_block(stmt.orelse);
  return flow;
}

Value Interpreter::run_comprehension(const ComprehensionExpr& expr) {
  if (expr.generators.size() > max_generators) return heap().external("", here(expr));
  values::Scope* const outer = frame_->scope;
  auto* scope = heap().make<values::Scope>();
  scope->parent = outer;
  scope->globals = outer->globals;
  std::vector<Value> items, keys;
  bool open = false;
  Value rest, rest_key;
  Int length = nullptr, share = nullptr;
  Sharing filtered = Sharing::uniform;  // by conditions that are not known

  const std::function<void(std::size_t, bool)> run_generator = [&](std::size_t level, bool certain) {
    if (!step() || killed_) return;
    if (level == expr.generators.size()) {
      const Value value = evaluate(*expr.element);
      const Value mapped = expr.value ? evaluate(*expr.value) : Value{};
      if (certain) {
        items.push_back(expr.value ? mapped : value);
        keys.push_back(value);
      } else {
        open = true;
        rest = heap().merge(rest, expr.value ? mapped : value, Sharing::uniform);
        rest_key = value;
      }
      return;
    }
    const Generator& generator = expr.generators[level];
    // The first iterable belongs to the enclosing scope.
    if (level == 0) frame_->scope = outer;
    const Value iterable = resolve(evaluate(*generator.iterable));
    frame_->scope = scope;
    const auto known = take(iterable, here(*generator.iterable), expr.comprehension == ComprehensionKind::set);
    const auto round = [&](Value item, bool sure) {
      run_assign(*generator.target, item);
      Cond all = symbols().boolean(true);
      for (const Expr* condition : generator.conditions) {
        all = symbols().logical_and(all, truth(evaluate(*condition)));
        if (killed_ || symbols().decide(all) == symbolic::Answer::no) break;  // the others are not evaluated
      }
      const auto answer = symbols().decide(all);
      if (answer == symbolic::Answer::no) return;
      if (answer == symbolic::Answer::unknown) {
        filtered = symbolic::mix(filtered, symbols().sharing(all));
        if (level == 0 && !sure && expr.generators.size() == 1 && limits_.as_rank) {
          const Value numbered = item.is(Kind::tuple) && !item.as<values::Tuple>()->items.empty() ? resolve(item.as<values::Tuple>()->items.front()) : resolve(item);
          share = numbered.is(Kind::integer) ? length_of_share(known_length(iterable), numbered.integer(), all) : nullptr;
        }
      }
      run_generator(level + 1, sure && answer == symbolic::Answer::yes);
    };
    if (known && known->size() <= max_unrolled) {
      // Experts by the hundred: one is made, and stands for all.
      const bool alike = level == 0 && known->size() > 4 && expr.generators.size() == 1 && generator.conditions.empty() && !expr.value &&
                         expr.comprehension != ComprehensionKind::set && generator.target->kind == ExprKind::name &&
                         expr.element->kind == ExprKind::call && is_free_of(expr.element, as<NameExpr>(*generator.target).id);
      for (std::size_t i = 0; i < known->size(); ++i) {
        const std::uint64_t from = record_.steps;
        const std::size_t events = block_->events.size();
        const Value before = i == 0 && alike ? (*known)[i] : Value{};
        if (before) run_assign(*generator.target, before);
        const auto mark = heap().mark();
        round((*known)[i], certain);
        if (!before || items.size() != 1 || (record_.steps - from) * known->size() <= alike_steps) continue;
        const Value made = resolve(items.front());
        if (!made.is(Kind::instance) || block_->events.size() != events || made.as<values::Instance>()->born.chunk == 0) continue;
        bool touched = false;
        for (const auto& [slot, base] : heap().written(mark))
          touched = touched || (slot->birth <= mark.clock && !(base == slot->value));
        if (touched) continue;
        made.as<values::Instance>()->of_many = true;
        items.assign(known->size(), made);
        keys.assign(known->size(), made);
        return;
      }
      return;
    }
    if (level == 0 && expr.generators.size() == 1 && generator.conditions.empty()) {
      if (iterable.is(Kind::range)) {
        const auto* range = iterable.as<values::Range>();
        if (symbols().value(range->step) == 1) length = symbols().max(symbols().constant(0), symbols().sub(range->stop, range->start));
      } else if (iterable.is(Kind::list)) {
        length = values::Heap::list_state(iterable)->length;
      }
    }
    open = true;
    LoopShape shape;
    shape.place = here(expr);
    shape.trips = trips_of(iterable);
    run_generic_loop(shape, [&] {
      if (level == 0) rest = {};
      round(for_a_round(heap(), element(iterable, here(*generator.iterable))), false);
      return killed_ ? Flow::dead : Flow::normal;
    });
  };
  run_generator(0, true);
  frame_->scope = outer;

  switch (expr.comprehension) {
  case ComprehensionKind::dict: {
    const Value dict = heap().dict({});
    for (std::size_t i = 0; i < items.size(); ++i) dict_set(dict, keys[i], items[i]);
    if (open) {
      values::DictState state = *values::Heap::dict_state(dict);
      for (auto& [k, v] : state.items) v = heap().merge(v, rest, Sharing::uniform);
      state.open = true;
      state.rest = heap().merge(state.rest, rest, Sharing::uniform);
      heap().set_dict(dict, std::move(state));
    }
    return dict;
  }
  case ComprehensionKind::set:
  case ComprehensionKind::list:
  case ComprehensionKind::generator: break;
  }
  if (expr.comprehension == ComprehensionKind::set && !open) return make_set(std::move(items));
  const auto kind = expr.comprehension == ComprehensionKind::set         ? values::ListKind::set
                    : expr.comprehension == ComprehensionKind::generator ? values::ListKind::iterator
                                                                         : values::ListKind::list;
  const Value list = heap().list(std::move(items), kind);
  if (open) {
    auto* state = values::Heap::list_state(list);
    state->open = true;
    state->rest = rest;
    state->length = !state->items.empty() ? nullptr : length ? length : share;
    if (!state->length && state->items.empty() && filtered == Sharing::local) state->length = symbols().fresh({.name = {}, .lower = 0, .upper = {}, .sharing = filtered});
  }
  return list;
}

} // namespace stepzero::interpreter
