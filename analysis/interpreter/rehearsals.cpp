// Loops whose rounds are not known one by one: rehearsed until what their head holds is so for every round, and then run once for the record.
#include "interpreter/rounds.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::interpreter {

using syntax::Name;
using values::Kind;

namespace {

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

// What is said of how it was computed holds of the other, too.
bool covers_history(const values::TensorState& wide, const values::TensorState& state) {
  return (wide.requires_grad == values::Known::unknown || wide.requires_grad == state.requires_grad) && (!wide.outcome || wide.outcome == state.outcome) &&
         (!wide.mean || state.mean) && (!wide.cast_by || wide.cast_by == state.cast_by);
}

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

// What rounds put into a list has sizes of its own in each: of any of them those are not known.
Value without_own_sizes(values::Heap& heap, Value state) {
  const auto* list = state.is(Kind::state) ? dynamic_cast<values::ListState*>(state.object()) : nullptr;
  if (!list || !list->rest.is(Kind::tensor)) return state;
  const auto* tensor = list->rest.as<values::Tensor>();
  values::TensorState any = *tensor->now();
  const auto varies = [&](symbolic::Int size) {
    bool found = false;
    if (size) heap.symbols().atoms(size, [&](symbolic::Int atom) { found = found || (heap.symbols().atom_info(atom) && heap.symbols().atom_info(atom)->varies); });
    return found;
  };
  bool changed = false;
  for (values::Dim& dim : any.shape.dims)
    if (varies(dim.size)) {
      dim.size = nullptr;
      changed = true;
    }
  if (!changed) return state;
  auto* other = heap.make<values::ListState>();
  other->items = list->items;
  other->open = list->open;
  other->length = list->length;
  other->rest = heap.tensor(std::move(any), tensor->born);
  return Value::of(Kind::state, other);
}

// What failed in one round may not have failed in another: at the head of a loop nothing is blamed that was not so before it.
void forgive(values::Heap& heap, Value before, Value& wide) {
  if (wide == before) return;
  const auto* was = before.is(Kind::state) ? dynamic_cast<const values::TensorState*>(before.object()) : nullptr;
  const auto* now = wide.is(Kind::state) ? dynamic_cast<const values::TensorState*>(wide.object()) : nullptr;
  if (was && now) {
    if (was->blamed || !now->blamed) return;
    values::TensorState state = *now;
    state.blamed = false;
    wide = Value::of(Kind::state, heap.state(std::move(state)));
  } else if (wide.is(Kind::tuple) && before.is(Kind::tuple)) {
    const auto &items = wide.as<values::Tuple>()->items, &olds = before.as<values::Tuple>()->items;
    for (std::size_t i = 0; i < items.size() && i < olds.size(); ++i) {
      Value item = items[i];
      forgive(heap, olds[i], item);
    }
  } else if (!heap.is_blamed(before) && heap.is_blamed(wide)) {
    if (wide.is(Kind::unknown)) wide.as<values::Unknown>()->blamed = false;
    const Value held = wide.is(Kind::unknown) ? wide.as<values::Unknown>()->state.value : wide;
    if (!held.is(Kind::tensor)) return;
    values::TensorState state = *held.as<values::Tensor>()->now();
    state.blamed = false;
    heap.set(held.as<values::Tensor>()->state, Value::of(Kind::state, heap.state(std::move(state))));
  }
}

// Is nothing else known of the tensor behind the round than before it, but that something failed on it?
bool only_blamed(Value before, Value end) {
  const auto* was = before.is(Kind::state) ? dynamic_cast<const values::TensorState*>(before.object()) : nullptr;
  const auto* now = end.is(Kind::state) ? dynamic_cast<const values::TensorState*>(end.object()) : nullptr;
  return was && now && now->blamed && !was->blamed && values::same_shape(was->shape, now->shape) && was->dtype == now->dtype && was->device == now->device &&
         was->requires_grad == now->requires_grad && was->sharing == now->sharing && was->made == now->made && was->content == now->content &&
         was->scaled_by == now->scaled_by && was->cast_by == now->cast_by && was->outcome == now->outcome && was->mean == now->mean &&
         was->maybe_array == now->maybe_array && was->grad_writes == now->grad_writes && was->first.size() == now->first.size();
}

// Two names that hold one thing of the round that is run may hold those of two rounds behind the loop: `if i == 6: first = x`.
void part_rounds(Interpreter& run, values::Delta& left, std::uint64_t began) {
  constexpr int most_choices = 8;
  std::unordered_set<const values::Object*> held;
  const auto apart = [&](Value value, int depth, const auto& again) -> Value {
    switch (value.kind) {
    case Kind::choice: {
      const auto* choice = value.as<values::Choice>();
      if (depth >= most_choices) return value;
      const Value yes = again(choice->yes, depth + 1, again), no = again(choice->no, depth + 1, again);
      return yes == choice->yes && no == choice->no ? value : run.heap().choose(choice->condition, yes, no);
    }
    case Kind::tensor: return value.as<values::Tensor>()->state.birth <= began || held.insert(value.object()).second ? value : run.one_of_many(value);
    case Kind::unknown: return value.as<values::Unknown>()->attributes.birth <= began || held.insert(value.object()).second ? value : run.one_of_many(value);
    default: return value;
    }
  };
  for (auto& [slot, value] : left) value = apart(value, 0, apart);
}

} // namespace

Value for_a_round(values::Heap& heap, Value element, int depth) {
  // What rounds left in a list as one number is another one in each round that goes through the list.
  if (element.is(Kind::integer)) return heap.symbols().is_of_round(element.integer()) ? Value::of(heap.symbols().another(element.integer())) : element;
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
  if (value.is(Kind::choice) && !wide.is(Kind::choice)) {
    const auto* choice = value.as<values::Choice>();
    return choice->yes && choice->no && covers(wide, choice->yes) && covers(wide, choice->no);
  }
  if (wide.is(Kind::list) && wide.as<values::List>()->kind == values::ListKind::tuple) {
    const auto* any = values::Heap::list_state(wide);
    const bool is_open = value.is(Kind::list) && value.as<values::List>()->kind == values::ListKind::tuple;
    if (!any->open || !any->items.empty() || !any->rest || (!is_open && !value.is(Kind::tuple))) return false;
    const auto* state = is_open ? values::Heap::list_state(value) : nullptr;
    const auto& items = state ? state->items : value.as<values::Tuple>()->items;
    return (!state || !state->rest || covers(any->rest, state->rest)) && std::ranges::all_of(items, [&](Value item) { return covers(any->rest, item); });
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
    const auto* c = dynamic_cast<values::DictState*>(wide.object());
    const auto* d = dynamic_cast<values::DictState*>(value.object());
    if (c && d) {
      // Lists and objects that a round makes anew are changed in place, and have states of their own.
      const auto stands_for = [&](Value held, Value item) {
        const bool has_state = held.is(Kind::list) || held.is(Kind::dict) || held.is(Kind::instance);
        return held && ((has_state && held.kind == item.kind) || covers(held, item));
      };
      const auto in_rest = [&](Value item) { return c->open && stands_for(c->rest, item); };
      if ((d->open && !c->open) || (d->rest && !in_rest(d->rest))) return false;
      return std::ranges::all_of(d->items, [&](const auto& item) {
        const auto held = std::ranges::find_if(c->items, [&](const auto& other) { return same_key(other.first, item.first); });
        return held != c->items.end() ? held->second == item.second || stands_for(held->second, item.second) : in_rest(item.second);
      });
    }
    const auto* x = dynamic_cast<values::TensorState*>(wide.object());
    const auto* y = dynamic_cast<values::TensorState*>(value.object());
    if (x && y) return covers_history(*x, *y);
    return true;
  }
  default: return false;
  }
}

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

Flow Interpreter::run_generic_loop(const LoopShape& shape, const std::function<Flow()>& round) {
  const std::size_t depth = path_.size();
  Block* const block = block_;
  const auto counts = exit_counts();
  const auto facts = symbols().mark();
  struct Rounds {
    symbolic::Context& symbols;
    const std::uint64_t began;
    const std::size_t first = symbols.atoms_made();
    ~Rounds() { symbols.note_rounds(first, began); }
  } const rounds{symbols(), heap().mark().clock};
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
      if ((widened.contains(slot) && covers(before, end)) || only_blamed(before, end)) continue;
      Value wide = without_own_sizes(heap(), heap().join_states(before, end, nullptr, carried_sharing));
      if (wide == before) continue;
      forgive(heap(), before, wide);
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
  // that it began with too little. Inside a rehearsal one round is enough, or a loop in loops would be run twice as often for each of them:
  // its outcome is thrown away but for what is changed, and that is known behind it as any round may have left it.
  Flow flow = Flow::normal;
  const bool rehearsed = rehearsals_ > 0;
  bool holds = rehearsed || rehearse(0), done = rehearsed;
  if (rehearsed) {
    flow = run_for_good(true);
    const values::Delta last = heap().capture(mark);
    heap().rollback(mark);
    widen(mark, false);
    mark.trail = heap().mark().trail;
    heap().apply(last);
  }
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
    values::Delta last = heap().capture(mark);
    heap().rollback(mark);
    part_rounds(*this, last, mark.clock);
    if (flow == Flow::normal) heap().join(mark, last, nullptr, shape.trips);
    flow = Flow::normal;
  }
  return merge_exits({mark, facts, depth}, target->breaks, flow, nullptr, true);
}

} // namespace stepzero::interpreter
