// What is known where two paths meet: of two values, and of two states of one object.
#include "values/heap.hpp"

#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/numbers.hpp"
#include "values/uneven.hpp"

#include <algorithm>

namespace stepzero::values {

namespace {

constexpr int max_leaves = 8;          // values of one choice: joins compare each with each
constexpr std::size_t max_graph = 64;  // sources of a joined tensor: each join copies them

int leaves(const Value& value) { return value.is(Kind::choice) ? value.as<Choice>()->leaves : 1; }

Dim merge_dim(const Dim& a, const Dim& b) {
  if (a.size && a.size == b.size) return a.origin ? a : b;
  return {};
}

Shape merge_shape(const Shape& a, const Shape& b) {
  if (a.ndim_known && b.ndim_known && a.dims.size() == b.dims.size()) {
    Shape merged{true, {}};
    for (std::size_t i = 0; i < a.dims.size(); ++i) merged.dims.push_back(merge_dim(a.dims[i], b.dims[i]));
    return merged;
  }
  Shape merged;
  const std::size_t shared = std::min(a.dims.size(), b.dims.size());
  for (std::size_t i = 1; i <= shared; ++i) {
    Dim dim = merge_dim(a.dims[a.dims.size() - i], b.dims[b.dims.size() - i]);
    if (!dim.size) break;
    merged.dims.insert(merged.dims.begin(), dim);
  }
  return merged;
}

// One of two named tuples has the names that both have.
void keep_names(const Tuple& a, const Tuple& b, Tuple& one) {
  if (a.cls == b.cls) one.cls = a.cls;
  if (std::ranges::equal(a.fields, b.fields)) one.fields = a.fields;
}

}  // namespace

void Heap::join(Mark mark, const Delta& other, Cond condition, Sharing sharing, JoinedValues* joined) {
  // What this path alone wrote: the other path still has the value of the mark; what this path made is its
  // own. In the order of the writes, so that a run is the same each time.
  Delta theirs, learned;
  const auto is_new = [&](const Slot* slot, Value value) { return !joined || joined->add(slot, value); };
  for (const auto& [slot, value] : other)
    if (is_new(slot, value)) theirs.push_back({slot, value});
  // What both paths wrote was there before they parted, though it was made since the mark.
  std::vector<std::uint64_t> shared;
  for (const auto& [slot, value] : theirs)
    if (slot->birth > mark.clock && !(slot->value == value)) shared.push_back(slot->birth);
  if (!shared.empty()) {
    std::sort(shared.begin(), shared.end());
    std::vector<std::uint64_t> both;
    for (std::size_t i = mark.trail; i < trail_.size(); ++i)
      if (const std::uint64_t birth = trail_[i].first->birth;
          birth > mark.clock && std::binary_search(shared.begin(), shared.end(), birth))
        both.push_back(birth);
    std::sort(both.begin(), both.end());
    shared = std::move(both);
  }
  const std::uint64_t stamp = ++stamp_;
  for (const auto& [slot, value] : other) slot->visited = stamp;
  for (std::size_t i = mark.trail; i < trail_.size(); ++i)
    if (Slot* slot = trail_[i].first; slot->visited != stamp && slot->birth <= mark.clock) {
      slot->visited = stamp;
      if (is_new(slot, trail_[i].second)) theirs.push_back(trail_[i]);
    }
  for (const auto& [slot, value] : theirs) {
    if (slot->refinement && (!slot->value || !value))
      set(*slot, {});
    else if (slot->refinement && slot->value.is(Kind::tensor) && value.is(Kind::tensor))
      learned.push_back({slot, value});
    else if (slot->birth <= mark.clock || std::binary_search(shared.begin(), shared.end(), slot->birth))
      set(*slot, join_states(slot->value, value, condition, sharing));
    else if (value)
      set(*slot, value);
  }
  // Both paths found the same thing to be a tensor: what both know of it. The states of the two are those of
  // now, not of the mark.
  for (const auto& [slot, value] : learned)
    if (!(slot->value == value)) {
      const Tensor *mine = slot->value.as<Tensor>(), *other_one = value.as<Tensor>();
      set(*slot,
          tensor(
              *join_states(mine->state.value, other_one->state.value, condition, sharing).as<TensorState>(),
              mine->born));
    }
}

// ---------------------------------------------------------------- attributes

// What an operation would have given that was proven to fail: the path that it lies on ends there.
static bool is_failure(Value value) {
  if (value.is(Kind::unknown)) return value.as<Unknown>()->poisoned && !value.as<Unknown>()->state.value;
  return value.is(Kind::tensor) && value.as<Tensor>()->now()->poisoned &&
      !value.as<Tensor>()->now()->shape.ndim_known;
}

// What an object of a library is, such as an array, that is nothing but what it holds; absent if it is none.
static Value held_state(Value value) {
  if (!value.is(Kind::instance) || value.as<Instance>()->cls || !value.as<Instance>()->native) return {};
  const Slot* held = value.as<Instance>()->attributes.find(Name(values::ArrayState::state));
  return held && held->value.is(Kind::tensor) ? held->value : Value{};
}

namespace {
// The side of a choice that is left where a condition holds, as far as the forms of the two say.
Value taken_where(symbolic::Context& symbols, Value value, Cond holds) {
  const auto implied = [&](Cond asked) {
    if (holds == asked) return true;
    if (symbols.form(holds) != symbolic::Context::Form::conjunction) return false;
    const auto parts = symbols.operands(holds);
    return std::find(parts.begin(), parts.end(), asked) != parts.end();
  };
  while (value.is(Kind::choice)) {
    const Choice* choice = value.as<Choice>();
    if (implied(choice->condition))
      value = choice->yes;
    else if (implied(symbols.logical_not(choice->condition)))
      value = choice->no;
    else
      break;
  }
  return value;
}
// Two choices by the same conditions among the same values, made at different times.
bool same_choice(Value a, Value b, int depth = 0) {
  constexpr int deepest = 6;  // choices among choices: deeper ones count as different
  if (a == b) return true;
  if (!a.is(Kind::choice) || !b.is(Kind::choice) || depth > deepest) return false;
  const Choice &one = *a.as<Choice>(), &other = *b.as<Choice>();
  return one.condition == other.condition && same_choice(one.yes, other.yes, depth + 1) &&
      same_choice(one.no, other.no, depth + 1);
}
}  // namespace

Value Heap::choose(Cond condition, Value yes, Value no) {
  if (same_choice(yes, no)) return yes;
  if (const Value a = held_state(yes), b = held_state(no); a && b) {
    const TensorState &x = *a.as<Tensor>()->now(), &y = *b.as<Tensor>()->now();
    if (same_shape(x.shape, y.shape) && x.dtype == y.dtype)
      return merge(yes, no, symbols_.sharing(condition));
  }
  if (yes && no && is_failure(yes) != is_failure(no)) return is_failure(yes) ? no : yes;
  switch (symbols_.decide(condition)) {
  case symbolic::Answer::yes: return yes;
  case symbolic::Answer::no: return no;
  case symbolic::Answer::unknown: break;
  }
  if (yes.is(Kind::choice)) yes = taken_where(symbols_, yes, condition);
  if (no.is(Kind::choice)) no = taken_where(symbols_, no, symbols_.logical_not(condition));
  if (yes == no) return yes;
  if (yes.is(Kind::string) && no.is(Kind::string) && yes.text() == no.text()) return yes;
  if (yes.is(Kind::boolean) && no.is(Kind::boolean)) {
    const Cond left = symbols_.logical_and(condition, yes.condition());
    const Cond right = symbols_.logical_and(symbols_.logical_not(condition), no.condition());
    return Value::of(symbols_.logical_or(left, right));
  }
  if (yes.is(Kind::tuple) && no.is(Kind::tuple) &&
      yes.as<Tuple>()->items.size() == no.as<Tuple>()->items.size()) {
    std::vector<Value> items;
    items.reserve(yes.as<Tuple>()->items.size());
    for (std::size_t i = 0; i < yes.as<Tuple>()->items.size(); ++i)
      items.push_back(choose(condition, yes.as<Tuple>()->items[i], no.as<Tuple>()->items[i]));
    const Value both = tuple(std::move(items));
    keep_names(*yes.as<Tuple>(), *no.as<Tuple>(), *both.as<Tuple>());
    return both;
  }
  if (leaves(yes) + leaves(no) > max_leaves) {
    // The sides first: what they are made of may have something in common.
    const auto one = [&](auto& self, Value side) -> Value {
      if (!side.is(Kind::choice)) return side;
      const Choice* inner = side.as<Choice>();
      return merge(self(self, inner->yes), self(self, inner->no), symbols_.sharing(inner->condition));
    };
    return merge(one(one, yes), one(one, no), symbols_.sharing(condition));
  }
  auto* made = make<Choice>();
  made->condition = condition;
  made->yes = yes;
  made->no = no;
  made->leaves = static_cast<std::uint8_t>(leaves(yes) + leaves(no));
  return Value::of(Kind::choice, made);
}

Value Heap::one_of_equivalent(Value value, bool to_show) {
  if (!value.is(Kind::choice)) return value;
  const Choice* choice = value.as<Choice>();
  const Value yes = one_of_equivalent(choice->yes, to_show), no = one_of_equivalent(choice->no, to_show);
  if (!yes.is(Kind::tensor) || !no.is(Kind::tensor)) return value;
  const auto *a = yes.as<Tensor>(), *b = no.as<Tensor>();
  const TensorState &x = *a->now(), &y = *b->now();
  const auto same_sizes = [&] {
    return same_shape(x.shape, y.shape) && x.first.size() == y.first.size() &&
        std::equal(x.first.begin(), x.first.end(), y.first.begin(),
            [](const Dim& one, const Dim& other) { return one.size == other.size; });
  };
  // What they were computed from may differ, as with and without a bias: the one stands for both.
  const bool equivalent = same_sizes() && x.dtype == y.dtype && a->role == TensorRole::plain &&
      b->role == TensorRole::plain && requires_grad(x) == requires_grad(y) && x.unseen == y.unseen &&
      x.maybe_array == y.maybe_array && x.crossed == y.crossed && x.scaled_by == y.scaled_by &&
      x.cast_by == y.cast_by && x.outcome == y.outcome && x.mean == y.mean && x.content == y.content &&
      x.extent == y.extent && x.version == y.version && x.strides == y.strides && x.poisoned == y.poisoned &&
      (x.device == y.device || (x.device && y.device && x.device->text == y.device->text));
  if (!equivalent && !to_show) return value;
  return tensor(
      *join_states(a->state.value, b->state.value, choice->condition, Sharing::uniform).as<TensorState>(),
      a->born);
}

// What a tuple has for elements; nullopt if it is none, or nothing is known of them.
static std::optional<std::vector<Value>> elements_of_tuple(Value value) {
  if (value.is(Kind::tuple) && !value.as<Tuple>()->cls) return value.as<Tuple>()->items;
  if (value.is(Kind::unknown) && value.as<Unknown>()->element && !value.as<Unknown>()->state.value)
    return std::vector{value.as<Unknown>()->element};
  return std::nullopt;
}

namespace {
// The functions of the program that it may be, if it is one of these or that.
std::vector<Value> functions_among(Value a, Value b) {
  constexpr std::size_t most = 16;  // functions that one value may be: each is run where it is called
  std::vector<Value> found;
  const auto add = [&](Value each) {
    if (found.size() < most && std::find(found.begin(), found.end(), each) == found.end())
      found.push_back(each);
  };
  for (const Value& side : {a, b}) {
    if (side.is(Kind::function) || side.is(Kind::bound))
      add(side);
    else if (side.is(Kind::unknown))
      if (const Value before = side.as<Unknown>()->attributes.value(Name(UnknownState::one_of));
          before.is(Kind::tuple))
        for (const Value& each : before.as<Tuple>()->items) add(each);
  }
  return found;
}
}  // namespace

namespace {
// Of two batches, whichever it is, a loader gave it, and it lies where both lie.
void keep_common(Heap& heap, const Unknown& a, const Unknown& b, Unknown& made) {
  for (const std::string_view name :
      {UnknownState::batch, UnknownState::lies_on, UnknownState::parts_lie_on}) {
    const Value mine = a.attributes.value(Name(name)), theirs = b.attributes.value(Name(name));
    if (!mine || !theirs || mine.kind != theirs.kind) continue;
    if (mine.is(Kind::device) && !is_same_device(mine.as<Device>(), theirs.as<Device>())) continue;
    if (mine.is(Kind::device) || mine.is(Kind::boolean))
      heap.slot_of(made.attributes, Name(name)).value = mine;
  }
  // What one of them may have been is all that is known of both. A part of either batch: what is done with
  // its other parts is asked of one.
  const auto kept = [](const Unknown& of, std::string_view name) { return of.attributes.value(Name(name)); };
  if (kept(a, UnknownState::moved) || kept(b, UnknownState::moved))
    heap.slot_of(made.attributes, Name(UnknownState::moved)).value = heap.boolean(true);
  else if (const Value mine = kept(a, UnknownState::whole), theirs = kept(b, UnknownState::whole);
      mine.is(Kind::unknown) && theirs.is(Kind::unknown))
    heap.slot_of(made.attributes, Name(UnknownState::whole)).value = mine;
}

// Either of them, and no more is known.
Value unknown_of_both(Heap& heap, Value a, Value b, Sharing how) {
  const Value made = heap.unknown("", symbolic::mix(how, symbolic::mix(heap.sharing(a), heap.sharing(b))));
  made.as<Unknown>()->unseen = heap.is_unseen(a) || heap.is_unseen(b);
  made.as<Unknown>()->poisoned = heap.is_poisoned(a) || heap.is_poisoned(b);
  return made;
}

// Tuples, of one length or several, and iterators. Absent: they are none.
Value merged_sequences(Heap& heap, Value a, Value b, Sharing how) {
  if (a.is(Kind::tuple) && b.is(Kind::tuple) && a.as<Tuple>()->items.size() == b.as<Tuple>()->items.size()) {
    const auto &mine = a.as<Tuple>()->items, &theirs = b.as<Tuple>()->items;
    std::vector<Value> items;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      // `(x,) * 16`: the same two again.
      const bool is_again = i > 0 && mine[i] == mine[i - 1] && theirs[i] == theirs[i - 1];
      items.push_back(is_again ? items.back() : heap.merge(mine[i], theirs[i], how));
    }
    const Value both = heap.tuple(std::move(items));
    keep_names(*a.as<Tuple>(), *b.as<Tuple>(), *both.as<Tuple>());
    return both;
  }
  // Tuples of several lengths: any number of elements like these.
  if (const auto mine = elements_of_tuple(a), theirs = elements_of_tuple(b); mine && theirs) {
    Value any;
    for (const auto* items : {&*mine, &*theirs})
      for (const Value& item : *items) any = heap.merge(any, item, how);
    if (any.is(Kind::tensor)) {
      const Value made = unknown_of_both(heap, a, b, how);
      made.as<Unknown>()->element = any;
      return made;
    }
  }
  // Of two iterators nobody knows how far they are: what either gives.
  const auto is_iterator = [](Value value) {
    return value.is(Kind::list) && value.as<List>()->kind == ListKind::iterator &&
        Heap::list_state(value)->open && Heap::list_state(value)->items.empty() &&
        Heap::list_state(value)->rest;
  };
  // A list that it gives is a new one each time.
  const auto given_by_either = [&](Value mine, Value theirs) {
    const auto is_list = [](Value value) {
      return value.is(Kind::list) && value.as<List>()->kind == ListKind::list &&
          !Heap::list_state(value)->open;
    };
    if (!is_list(mine) || !is_list(theirs) ||
        Heap::list_state(mine)->items.size() != Heap::list_state(theirs)->items.size())
      return heap.merge(mine, theirs, how);
    std::vector<Value> items;
    items.reserve(Heap::list_state(mine)->items.size());
    for (std::size_t i = 0; i < Heap::list_state(mine)->items.size(); ++i)
      items.push_back(heap.merge(Heap::list_state(mine)->items[i], Heap::list_state(theirs)->items[i], how));
    return heap.list(std::move(items));
  };
  if (is_iterator(a) && is_iterator(b))
    return heap.open_list(
        given_by_either(Heap::list_state(a)->rest, Heap::list_state(b)->rest), nullptr, ListKind::iterator);
  const auto is_open_tuple = [](Value value) {
    return value.is(Kind::list) && value.as<List>()->kind == ListKind::tuple;
  };
  if ((is_open_tuple(a) || is_open_tuple(b)) && (a.is(Kind::tuple) || is_open_tuple(a)) &&
      (b.is(Kind::tuple) || is_open_tuple(b))) {
    Value any;
    for (const Value each : {a, b}) {
      const ListState* state = each.is(Kind::list) ? Heap::list_state(each) : nullptr;
      for (const Value& item : state ? state->items : each.as<Tuple>()->items)
        any = heap.merge(any, item, how);
      if (state) any = heap.merge(any, state->rest, how);
    }
    return heap.open_list(any ? any : heap.unseen(""), nullptr, ListKind::tuple);
  }
  return {};
}
}  // namespace

Value Heap::merge(Value a, Value b, Sharing how) {
  if (!b || same_choice(a, b)) return a;
  if (!a) return b;
  if (is_failure(a) != is_failure(b)) return is_failure(a) ? b : a;
  const Sharing mixed = symbolic::mix(how, symbolic::mix(sharing(a), sharing(b)));
  if (a.is(Kind::integer) && b.is(Kind::integer)) {
    symbolic::AtomInfo info;
    info.sharing = mixed;
    const auto low_a = symbols_.lower(a.integer()), low_b = symbols_.lower(b.integer());
    if (low_a && low_b && *low_a >= 0 && *low_b >= 0) info.lower = 0;
    return Value::of(symbols_.fresh(info));
  }
  if (a.is(Kind::boolean) && b.is(Kind::boolean)) return Value::of(symbols_.opaque("", mixed));
  if (a.is(Kind::string) && b.is(Kind::string) && a.text() == b.text()) return a;
  if (a.is(Kind::tensor) && b.is(Kind::tensor)) {
    const Value made = tensor(
        *join_states(a.as<Tensor>()->state.value, b.as<Tensor>()->state.value, nullptr, how)
            .as<TensorState>(),
        a.object()->born);
    made.as<Tensor>()->any_of = true;
    // One of several parameters of a module is moved with the module.
    if (a.as<Tensor>()->role == b.as<Tensor>()->role) made.as<Tensor>()->role = a.as<Tensor>()->role;
    return made;
  }
  if (const Value sequence = merged_sequences(*this, a, b, how)) return sequence;
  if (const Value mine = held_state(a), theirs = held_state(b);
      mine && theirs && a.as<Instance>()->native == b.as<Instance>()->native) {
    const Value held = merge(mine, theirs, how);
    if (held.as<Tensor>()->now()->shape.ndim_known) {
      auto* both = make<Instance>();
      both->born = a.object()->born;
      both->native = a.as<Instance>()->native;
      both->open = true;
      slot_of(both->attributes, Name(values::ArrayState::state)).value = held;  // it is new: no write
      return Value::of(Kind::instance, both);
    }
  }
  // What all sides of a choice have in common.
  for (Value* side : {&a, &b}) {
    if (!side->is(Kind::choice)) continue;
    const Choice* choice = side->as<Choice>();
    if (!choice->yes || !choice->no) break;
    const Value one = merge(choice->yes, choice->no, symbols_.sharing(choice->condition));
    if (one.is(Kind::unknown) || one.is(Kind::choice)) break;
    return side == &a ? merge(one, b, how) : merge(a, one, how);
  }
  const Value made = unknown_of_both(*this, a, b, how);
  // 0 and what was added up from tensors are numbers.
  made.as<Unknown>()->is_number = is_number(a) && is_number(b) && (may_be_read(a) || may_be_read(b));
  made.as<Unknown>()->is_real = is_float(a) && is_float(b);
  if (a.is(Kind::unknown) && b.is(Kind::unknown))
    keep_common(*this, *a.as<Unknown>(), *b.as<Unknown>(), *made.as<Unknown>());
  if (auto functions = functions_among(a, b); !functions.empty())
    slot_of(made.as<Unknown>()->attributes, Name(UnknownState::one_of)).value = tuple(
        std::move(functions));  // it is new: no write
  return made;
}

namespace {

// What is known of an object whose state is `mine` on one path and `theirs` on another: where the condition
// holds, or on one of the two.
class Join {
public:
  Join(Heap& of, Cond when, Sharing as) : heap(of), condition(when), how(as) {}
  TensorState tensors(const TensorState& mine, const TensorState& theirs);
  ListState* lists(const ListState& mine, const ListState& theirs);
  DictState* dicts(const DictState& mine, const DictState& theirs);
  ListState* of_one_generator();

private:
  Value either(Value a, Value b) { return condition ? heap.choose(condition, b, a) : heap.merge(a, b, how); }
  Sharing sharing_of_condition() const { return condition ? heap.symbols().sharing(condition) : how; }
  void join_gradients(const TensorState& mine, const TensorState& theirs, TensorState& joined);
  void note_uneven(const Graph& mine, const Graph& theirs, Graph& joined);
  void join_origins(const TensorState& mine, const TensorState& theirs, TensorState& joined);
  void join_elements(const TensorState& mine, const TensorState& theirs, TensorState& joined);

  Heap& heap;
  Cond condition;
  Sharing how;
};

TensorState Join::tensors(const TensorState& mine, const TensorState& theirs) {
  TensorState joined = mine;
  joined.shape = merge_shape(mine.shape, theirs.shape);
  if (mine.dtype != theirs.dtype) joined.dtype = Dtype::unknown;
  if (mine.device != theirs.device &&
      !(mine.device && theirs.device && mine.device->text == theirs.device->text))
    joined.device = choose_device(heap, condition, theirs.device, mine.device);
  const Sharing both = symbolic::mix(mine.sharing, theirs.sharing);
  joined.sharing = symbolic::mix(both, sharing_of_condition());
  // Reduced where a condition holds: whether it is each rank's own is not known.
  if (condition && both != Sharing::uniform &&
      (mine.sharing == Sharing::uniform || theirs.sharing == Sharing::uniform))
    joined.sharing = Sharing::unseen;
  joined.unseen = mine.unseen || theirs.unseen;
  joined.poisoned = mine.poisoned || theirs.poisoned;
  if (mine.version != theirs.version) joined.version = ~0u;  // it depends on the path
  join_gradients(mine, theirs, joined);
  join_origins(mine, theirs, joined);
  join_elements(mine, theirs, joined);
  return joined;
}

void Join::join_gradients(const TensorState& mine, const TensorState& theirs, TensorState& joined) {
  if (mine.requires_grad != theirs.requires_grad) joined.requires_grad = Known::unknown;
  // Counted by different writes, they cannot be compared: any is later.
  const bool equivalent = (mine.grad_writes & Heap::by_histories) ==
      (theirs.grad_writes & Heap::by_histories);
  joined.grad_writes = equivalent ? std::min(mine.grad_writes, theirs.grad_writes) : 0;
  if (!mine.cut) joined.cut = theirs.cut;
  joined.is_gradient = mine.is_gradient || theirs.is_gradient;
  joined.graph_complete = mine.graph_complete && theirs.graph_complete;
  if (!joined.graph.add(theirs.graph, max_graph) || joined.graph.size() > max_graph) {
    joined.graph.clear();
    joined.graph_complete = false;
  } else if (sharing_of_condition() == Sharing::local) {
    note_uneven(mine.graph, theirs.graph, joined.graph);
  }
}

// Ranks that decide by their own data compute from what is in one graph, or they do not.
void Join::note_uneven(const Graph& mine, const Graph& theirs, Graph& joined) {
  const auto is_noted = [&](const Object* source) {
    return std::any_of(joined.begin(), joined.end(), [&](const Object* each) {
      const auto* uneven = dynamic_cast<const Uneven*>(each);
      return uneven == source ||
          (uneven && std::ranges::find(uneven->sources, source) != uneven->sources.end());
    });
  };
  std::vector<const Object*> one_sided;
  for (const auto& [from, other] : {std::pair{&mine, &theirs}, std::pair{&theirs, &mine}})
    for (const Object* source : *from)
      if (!other->contains(source) && !is_noted(source)) one_sided.push_back(source);
  if (one_sided.empty() || joined.size() >= max_graph) return;
  auto* uneven = heap.make<Uneven>();
  uneven->condition = condition;
  uneven->sources = std::move(one_sided);
  joined.push_back(uneven);
}

void Join::join_origins(const TensorState& mine, const TensorState& theirs, TensorState& joined) {
  if (mine.scaled_by != theirs.scaled_by) joined.scaled_by = nullptr;
  if (mine.cast_by != theirs.cast_by) joined.cast_by = nullptr;
  if (mine.outcome != theirs.outcome &&
      !(mine.outcome && theirs.outcome && mine.outcome->outcome == theirs.outcome->outcome))
    joined.outcome = nullptr;
  if (!mine.mean || !theirs.mean) joined.mean = nullptr;
  if (mine.made == theirs.made && (mine.made || mine.either == theirs.either)) return;
  auto* either = heap.make<Either>();
  either->one = &mine;
  either->other = &theirs;
  joined.made = nullptr;
  joined.either = either;
}

void Join::join_elements(const TensorState& mine, const TensorState& theirs, TensorState& joined) {
  const auto same_content = [](const Content* a, const Content* b) {
    return a == b ||
        (a && b && a->dtype == b->dtype && a->is_scalar == b->is_scalar && a->writes == b->writes &&
            a->numbers == b->numbers);
  };
  if (!same_content(mine.content, theirs.content)) joined.content = nullptr;
  if (mine.extent != theirs.extent) joined.extent = nullptr;
  if (mine.strides != theirs.strides || joined.shape.dims.size() != joined.strides.size())
    joined.strides.clear();
  if (joined.shape.ndim_known || mine.shape.ndim_known || theirs.shape.ndim_known) joined.first.clear();
  joined.first.resize(std::min(joined.first.size(), theirs.first.size()));
  for (std::size_t i = 0; i < joined.first.size(); ++i)
    joined.first[i] = merge_dim(joined.first[i], theirs.first[i]);
}

ListState* Join::lists(const ListState& mine, const ListState& theirs) {
  auto* joined = heap.make<ListState>();
  const std::size_t shared = std::min(mine.items.size(), theirs.items.size());
  for (std::size_t i = 0; i < shared; ++i) joined->items.push_back(either(mine.items[i], theirs.items[i]));
  joined->open = mine.open || theirs.open || mine.items.size() != theirs.items.size();
  joined->rest = heap.merge(mine.rest, theirs.rest, how);
  for (const auto* longer : {&mine, &theirs})
    for (std::size_t i = shared; i < longer->items.size(); ++i)
      joined->rest = heap.merge(joined->rest, longer->items[i], how);
  return joined;
}

DictState* Join::dicts(const DictState& mine, const DictState& theirs) {
  auto* joined = heap.make<DictState>();
  joined->open = mine.open || theirs.open;
  joined->rest = heap.merge(mine.rest, theirs.rest, how);
  const auto find = [](const DictState& in, const Value& key) -> Value {
    for (const auto& [k, v] : in.items)
      if (k == key || (k.is(Kind::string) && key.is(Kind::string) && k.text() == key.text())) return v;
    return {};
  };
  for (const auto& [key, value] : mine.items) {
    const Value counterpart = find(theirs, key);
    if (!counterpart && !condition) joined->open = true;
    joined->items.push_back({key, either(value, counterpart)});
  }
  for (const auto& [key, value] : theirs.items)
    if (!find(mine, key)) {
      if (!condition) joined->open = true;
      joined->items.push_back({key, either({}, value)});
    }
  return joined;
}

// A generator that ran on one path only: what it gives on the other is not known.
ListState* Join::of_one_generator() {
  auto* open = heap.make<ListState>();
  open->open = true;
  open->rest = heap.unknown("", symbolic::mix(how, sharing_of_condition()));
  open->rest.as<Unknown>()->unseen = true;
  return open;
}

}  // namespace

Value Heap::join_states(Value now, Value other, Cond condition, Sharing how) {
  if (now == other) return now;
  Join join(*this, condition, how);
  const Value ran = now ? now : other;
  if ((!now || !other) && ran.is(Kind::state) && dynamic_cast<ListState*>(ran.object()))
    return Value::of(Kind::state, join.of_one_generator());
  if (!now.is(Kind::state) || !other.is(Kind::state))
    return condition ? choose(condition, other, now) : merge(now, other, how);
  if (auto* mine = dynamic_cast<TensorState*>(now.object()))
    return Value::of(Kind::state, state(join.tensors(*mine, *other.as<TensorState>())));
  if (auto* mine = dynamic_cast<ListState*>(now.object()))
    return Value::of(Kind::state, join.lists(*mine, *other.as<ListState>()));
  return Value::of(Kind::state, join.dicts(*now.as<DictState>(), *other.as<DictState>()));
}

}  // namespace stepzero::values
