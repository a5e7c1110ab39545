// The methods of lists, sets, deques and tuples, and what it takes for a key to be known. Sets have no order
// that is known: they are read in order only where it cannot matter.
#include "interpreter/builtins/builtin_call.hpp"
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/roots/presumed.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;
using values::ListKind;

// ---------------------------------------------------------------- keys and order

// Two keys of which both are known are equal or different for sure.
bool Interpreter::known_key(Value key) const {
  switch (key.kind) {
  case Kind::string:
  case Kind::none:
  case Kind::ellipsis:
  case Kind::real:
  case Kind::dtype:
  case Kind::class_:
  case Kind::function:
  case Kind::module: return true;
  case Kind::library: {
    // sys.platform and its like are values that are not known.
    const auto* found = key.as<values::LibrarySymbol>();
    return found->path.starts_with("builtins.") || found->path.starts_with("inspect.Parameter.") ||
        (found->row &&
            (found->row->kind == values::RowKind::function || found->row->kind == values::RowKind::class_));
  }
  case Kind::integer: return record_.symbols.value(key.integer()).has_value();
  case Kind::boolean: return record_.symbols.form(key.condition()) == symbolic::Context::Form::constant;
  case Kind::tuple: {
    const auto& items = key.as<values::Tuple>()->items;
    return std::all_of(items.begin(), items.end(), [&](Value item) { return known_key(item); });
  }
  case Kind::instance: {
    const auto* cls = key.as<values::Instance>()->cls;
    if (is_presumed(key)) return false;
    return !cls || cls->is_enum ||
        (!cls->is_dataclass && !cls->open && !find_in_order(cls->order, Name("__eq__")));
  }
  default: return false;
  }
}

Value Builtins::plain_member(Value value) const {
  if (!value.is(Kind::instance)) return value;
  const auto* object = value.as<values::Instance>();
  if (!object->cls || !object->cls->enum_mixes) return value;
  const values::Slot* slot = object->attributes.find(Name("value"));
  return slot && slot->value ? slot->value : value;
}

bool Interpreter::same_key(Value a, Value b) const {
  a = builtins_->plain_member(a);
  b = builtins_->plain_member(b);
  if (a == b) return true;
  if (a.is(Kind::string) && b.is(Kind::string)) return a.text() == b.text();
  if (a.is(Kind::tuple) && b.is(Kind::tuple)) {
    const auto& x = a.as<values::Tuple>()->items;
    const auto& y = b.as<values::Tuple>()->items;
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!same_key(x[i], y[i])) return false;
    return true;
  }
  const auto number = [&](Value value) -> std::optional<double> {
    if (value.is(Kind::real)) return value.real();
    if (value.is(Kind::integer))
      if (const auto constant = record_.symbols.value(value.integer())) return static_cast<double>(*constant);
    if (value.is(Kind::boolean) &&
        record_.symbols.form(value.condition()) == symbolic::Context::Form::constant)
      return record_.symbols.decide(value.condition()) == symbolic::Answer::yes;
    return std::nullopt;
  };
  if (a.kind != b.kind) {
    const auto x = number(a), y = number(b);
    return x && y && *x == *y;
  }
  return false;
}

// -1, 0 or 1 as Python orders the two, if both are known.
std::optional<int> Interpreter::order(Value a, Value b) const {
  a = builtins_->plain_member(a);
  b = builtins_->plain_member(b);
  const auto sign = [](auto x, auto y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (a.is(Kind::string) && b.is(Kind::string)) return sign(a.text(), b.text());
  const auto items = [](Value value) -> const std::vector<Value>* {
    if (value.is(Kind::tuple)) return &value.as<values::Tuple>()->items;
    if (value.is(Kind::list) && !values::Heap::list_state(value)->open)
      return &values::Heap::list_state(value)->items;
    return nullptr;
  };
  if (const auto *x = items(a), *y = items(b); x && y && a.kind == b.kind) {
    for (std::size_t i = 0; i < x->size() && i < y->size(); ++i) {
      const auto part = order((*x)[i], (*y)[i]);
      if (!part || *part != 0) return part;
    }
    return sign(x->size(), y->size());
  }
  const auto whole = [&](Value value) -> std::optional<std::int64_t> {
    if (value.is(Kind::integer)) return record_.symbols.value(value.integer());
    if (value.is(Kind::boolean) &&
        record_.symbols.form(value.condition()) == symbolic::Context::Form::constant)
      return record_.symbols.decide(value.condition()) == symbolic::Answer::yes;
    return std::nullopt;
  };
  const auto x = whole(a), y = whole(b);
  if (x && y) return sign(*x, *y);
  if ((x || a.is(Kind::real)) && (y || b.is(Kind::real)))
    return sign(x ? static_cast<double>(*x) : a.real(), y ? static_cast<double>(*y) : b.real());
  return std::nullopt;
}

bool Interpreter::sort_values(std::vector<Value>& items, Value key, bool descending, Place where) {
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : items) {
    const Value by = key && !key.is(Kind::none) ? call(key, {{item}, {}, false}, where) : item;
    keyed.push_back({resolve(by), item});
  }
  // Every pair has to be comparable: with a total order on the first it is.
  for (std::size_t i = 0; i < keyed.size(); ++i)
    if (!order(keyed[i].first, keyed[i ? i - 1 : 0].first)) return false;
  bool certain = true;
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    const auto answer = order(a.first, b.first);
    certain = certain && answer;
    return answer && (descending ? *answer > 0 : *answer < 0);
  });
  if (!certain) return false;
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = keyed[i].second;
  return true;
}

// ---------------------------------------------------------------- lists

Value Interpreter::make_set(std::vector<Value> items) {
  std::vector<Value> unique;
  Value any;
  bool known = true;
  for (Value item : items) {
    item = resolve(item);
    known = known && known_key(item);
    any = heap().merge(any, item, Sharing::uniform);
    if (std::none_of(unique.begin(), unique.end(), [&](Value other) { return same_key(item, other); }))
      unique.push_back(item);
  }
  if (!known && unique.size() > 1) return heap().open_list(any, nullptr, ListKind::set);
  return heap().list(std::move(unique), ListKind::set);
}

namespace {
// The elements of a list that is as it was copied from a set; null: it is none.
const std::vector<Value>* copied_elements(Value list) {
  const auto* object = list.is(Kind::list) ? list.as<values::List>() : nullptr;
  return object && object->copied && object->state.value.object() == object->as_copied
      ? &object->copied.as<values::Tuple>()->items
      : nullptr;
}
}  // namespace

std::optional<std::vector<Value>> Interpreter::take(Value iterable, Place where, bool any_order) {
  iterable = resolve(iterable);
  if (any_order && iterable.is(Kind::list) && iterable.as<values::List>()->kind == ListKind::set) {
    const auto* state = values::Heap::list_state(iterable);
    return state->open ? std::nullopt : std::optional(state->items);
  }
  if (const auto* copied = any_order ? copied_elements(iterable) : nullptr) return *copied;
  auto items = elements(iterable, where);
  if (iterable.is(Kind::iterator) ||
      (iterable.is(Kind::list) && iterable.as<values::List>()->kind == ListKind::iterator))
    if (const auto* state = values::Heap::list_state(iterable); state && !state->open)
      heap().set_list(iterable, {});
  return items;
}

Value Interpreter::next_of(Value iterator, Value otherwise, Place where) {
  iterator = resolve(iterator);
  // Of two iterators, what either gives.
  if (iterator.is(Kind::choice)) {
    const auto& choice = *iterator.as<values::Choice>();
    const Value both = heap().merge(choice.yes, choice.no, symbols().sharing(choice.condition));
    if (both.is(Kind::list) && both.as<values::List>()->kind == ListKind::iterator) iterator = both;
  }
  if (iterator.is(Kind::instance)) {
    if (const Value method = find_method(iterator.as<values::Instance>(), Name("__next__")))
      return call(method, {}, where);
    return element(iterator, where);
  }
  // There may be nothing left, which `except StopIteration` waits for.
  if (!iterator.is(Kind::iterator) && !iterator.is(Kind::list)) {
    may_raise_ += !otherwise;
    const Value any = element(iterator, where);
    return otherwise ? heap().merge(any, otherwise, heap().sharing(any)) : any;
  }
  if (FunctionCalls::is_pending(iterator)) elements(iterator, where);
  const auto* state = values::Heap::list_state(iterator);
  if (!state) return heap().unseen("", where);
  if (!state->items.empty() &&
      !(iterator.is(Kind::list) && iterator.as<values::List>()->kind != ListKind::iterator)) {
    values::ListState rest = *state;
    const Value first = rest.items.front();
    rest.items.erase(rest.items.begin());
    if (rest.length) rest.length = symbols().sub(rest.length, symbols().constant(1));
    heap().set_list(iterator, std::move(rest));
    return first;
  }
  if (!state->open && state->items.empty())
    return otherwise ? otherwise : raise_builtin("StopIteration", where);
  may_raise_ += !otherwise;
  const Value any = element(iterator, where);
  return otherwise ? heap().merge(any, otherwise, heap().sharing(any)) : any;
}

namespace {

// A method of a list, set or deque, and what it is to hold from then on.
struct ListCall : BuiltinCall {
  values::ListState state;
  const ListKind kind;
  const bool is_set;

  explicit ListCall(const BuiltinCall& call)
      : BuiltinCall(call), state(*values::Heap::list_state(call.self)),
        kind(call.self.as<values::List>()->kind), is_set(kind == ListKind::set) {}

  values::List& list() const { return *self.as<values::List>(); }
  Value store();
  Value shuffle(Value more = {});
  std::optional<std::ptrdiff_t> found_at(Value wanted) const;
  // Sets `known` to false where it is not known what the set and all of these hold.
  std::vector<std::vector<Value>> other_items(bool& known) const;
  bool has(const std::vector<Value>& items, Value wanted) const {
    return std::ranges::any_of(items, [&](Value item) { return run.same_key(item, wanted); });
  }
};

Value ListCall::store() {
  if (!state.open) state.length = nullptr;
  if (kind == ListKind::deque && !state.open && list().most) {
    const auto most = symbols().value(list().most);
    const auto size = state.items.size();
    if (most && size > static_cast<std::size_t>(*most)) {
      const auto extra = static_cast<std::ptrdiff_t>(size) - *most;
      if (name == "appendleft" || name == "extendleft")
        state.items.resize(static_cast<std::size_t>(*most));
      else
        state.items.erase(state.items.begin(), state.items.begin() + extra);
    } else if (!most) {
      state.open = true;
      for (const Value& item : state.items) state.rest = heap().merge(state.rest, item, Sharing::uniform);
      state.items.clear();
    }
  }
  heap().set_list(self, std::move(state));
  return Value::none();
}

// Other elements than before, of which nothing more is known.
Value ListCall::shuffle(Value more) {
  Value any = state.items.empty() && !state.rest ? more : run.element(self, where);
  if (more) any = heap().merge(any, more, Sharing::uniform);
  state.rest = any;
  state.items.clear();
  state.open = true;
  state.length = nullptr;
  heap().set_list(self, std::move(state));
  return Value::none();
}

// -1: it is not there; nullopt: not known.
std::optional<std::ptrdiff_t> ListCall::found_at(Value wanted) const {
  if (state.open || !run.known_key(wanted)) return std::nullopt;
  for (std::size_t i = 0; i < state.items.size(); ++i) {
    const Value item = run.resolve(state.items[i]);
    if (item == wanted || run.same_key(item, wanted)) return static_cast<std::ptrdiff_t>(i);
    if (!run.known_key(item)) return std::nullopt;
  }
  return -1;
}

std::vector<std::vector<Value>> ListCall::other_items(bool& known) const {
  std::vector<std::vector<Value>> others;
  const auto is_known = [&](Value item) { return run.known_key(run.resolve(item)); };
  known = !state.open && !arguments.spread &&
      std::ranges::all_of(state.items, [&](Value item) { return run.known_key(item); });
  for (const Value& other : positional) {
    const auto items = run.take(other, where, true);
    known = known && items && std::ranges::all_of(*items, is_known);
    others.push_back(items ? *items : std::vector<Value>{});
    for (Value& item : others.back()) item = run.resolve(item);
  }
  return others;
}

// Of a tensor that only some iterations add: the sizes that these have, as the conditions around say. `if
// len(x)
// == batch_size: outputs.append(y)`
Value as_it_is_here(ListCall& call, Value added) {
  if (!added.is(Kind::tensor) || added.as<values::Tensor>()->role != values::TensorRole::plain) return added;
  auto& s = call.symbols();
  values::TensorState state = *added.as<values::Tensor>()->now();
  bool changed = false;
  for (values::Dim& dim : state.shape.dims) {
    if (!dim.size || s.value(dim.size) || s.sharing(dim.size) < Sharing::local) continue;
    const auto least = s.lower(dim.size), most = s.upper(dim.size);
    if (!least || least != most) continue;
    dim.size = s.constant(least.value_or(0));
    changed = true;
  }
  return changed ? call.heap().tensor(std::move(state), added.as<values::Tensor>()->born) : added;
}

// append, appendleft, and add of a set.
Value append(ListCall& call) {
  call.first = as_it_is_here(call, call.first);
  if (call.arguments.spread && call.name != "appendleft") return call.shuffle(call.heap().unseen(""));
  if (!call.first) return {};
  values::ListState& state = call.state;
  if (call.name == "add") {
    const auto at = call.found_at(call.first);
    if (at && *at >= 0) return Value::none();
    if (!at && !(state.items.empty() && !state.open)) return call.shuffle(call.first);
  }
  const Int length = state.open && state.length ? call.symbols().add(state.length, call.symbols().constant(1))
                                                : nullptr;
  if (state.open)
    state.rest = call.heap().merge(state.rest, call.first, Sharing::uniform);
  else if (call.name == "appendleft")
    state.items.insert(state.items.begin(), call.first);
  else
    state.items.push_back(call.first);
  state.length = length;
  const bool keeps = call.name == "append" && !call.list().most;
  if (keeps) call.note_kept(call.list().state, call.first);
  const Value done = call.store();
  if (keeps) call.note_kept(call.list().state, {});
  return done;
}

// extend, extendleft, and update of a set.
Value extend(ListCall& call) {
  if (call.arguments.spread && call.name != "extendleft") return call.shuffle(call.heap().unseen(""));
  if (!call.first) return {};
  values::ListState& state = call.state;
  const bool keeps = call.name == "extend" && !call.list().most;
  if (keeps) call.note_kept(call.list().state, call.first);
  for (const Value& more : call.positional) {
    const auto items = call.run.take(more, call.where, call.is_set);
    if (!items || state.open) {
      state.open = true;
      state.rest = call.heap().merge(state.rest, call.run.element(more, call.where), Sharing::uniform);
      state.length = nullptr;
    } else if (call.is_set) {
      state.items.insert(state.items.end(), items->begin(), items->end());
      const Value joined = call.run.make_set(std::move(state.items));
      state = *values::Heap::list_state(joined);
    } else if (call.name == "extendleft") {
      state.items.insert(state.items.begin(), items->rbegin(), items->rend());
    } else {
      state.items.insert(state.items.end(), items->begin(), items->end());
    }
  }
  const Value done = call.store();
  if (keeps) call.note_kept(call.list().state, {});
  return done;
}

Value insert(ListCall& call) {
  if (call.arguments.spread) return call.shuffle(call.heap().unseen(""));
  if (call.count != 2) return {};
  auto at = call.run.to_constant(call.first);
  if (call.state.open || !at) return call.shuffle(call.second);
  const auto size = static_cast<std::int64_t>(call.state.items.size());
  if (*at < 0) *at += size;
  call.state.items.insert(call.state.items.begin() + std::clamp<std::int64_t>(*at, 0, size), call.second);
  return call.store();
}

Value pop_of_set(ListCall& call) {
  const bool one = !call.state.open && call.state.items.size() == 1;
  const Value any = one ? call.state.items[0] : call.run.element(call.self, call.where);
  if (one)
    call.heap().set_list(call.self, {});
  else
    call.shuffle();
  return any;
}

Value pop(ListCall& call) {
  if (call.is_set) return call.name == "pop" ? pop_of_set(call) : Value{};
  const auto at = call.first ? call.run.to_constant(call.first)
                             : std::optional<std::int64_t>(call.name == "pop" ? -1 : 0);
  const auto size = static_cast<std::int64_t>(call.state.items.size());
  if (!call.state.open && size == 0) return call.fails("IndexError");
  if (!call.state.open && at && *at < size && *at >= -size) {
    const auto index = static_cast<std::ptrdiff_t>(*at < 0 ? *at + size : *at);
    const Value popped = call.state.items[static_cast<std::size_t>(index)];
    call.state.items.erase(call.state.items.begin() + index);
    call.store();
    return popped;
  }
  const Value any = call.run.element(call.self, call.where);
  call.shuffle();
  return any;
}

Value copy(ListCall& call) {
  const Value copied = call.heap().list({}, call.kind);
  copied.as<values::List>()->most = call.list().most;
  *values::Heap::list_state(copied) = call.state;
  return copied;
}

Value clear(ListCall& call) {
  call.heap().set_list(call.self, {});
  return Value::none();
}

// The same elements in another order that is not known.
Value reorder(ListCall& call, Int length) {
  call.shuffle();
  values::ListState other = *values::Heap::list_state(call.self);
  other.length = length;
  call.heap().set_list(call.self, std::move(other));
  return Value::none();
}

Value reverse(ListCall& call) {
  if (call.state.open) return reorder(call, call.state.length);
  std::reverse(call.state.items.begin(), call.state.items.end());
  return call.store();
}

Value rotate(ListCall& call) {
  if (call.state.open) return reorder(call, call.state.length);
  const auto by = call.first ? call.run.to_constant(call.first) : std::optional<std::int64_t>(1);
  const auto size = static_cast<std::int64_t>(call.state.items.size());
  if (!by) return call.shuffle();
  if (size > 0)
    std::rotate(call.state.items.begin(), call.state.items.begin() + ((size - *by) % size + size) % size,
        call.state.items.end());
  return call.store();
}

Value sort(ListCall& call) {
  if (const auto* copied = copied_elements(call.self)) {
    call.state = {};
    call.state.items = *copied;
  }
  if (call.state.open) return reorder(call, call.state.length);
  const Value reversed = call.keyword("reverse");
  const auto descending = reversed ? call.run.to_constant(reversed) : std::optional<std::int64_t>(0);
  if (descending && call.run.sort_values(call.state.items, call.keyword("key"), *descending != 0, call.where))
    return call.store();
  return reorder(call, call.symbols().constant(static_cast<std::int64_t>(call.state.items.size())));
}

// remove, and discard of a set.
Value remove(ListCall& call) {
  const auto at = call.first ? call.found_at(call.first) : std::nullopt;
  if (!at) return call.shuffle();
  if (*at < 0)
    return call.name == "remove" ? call.fails(call.is_set ? "KeyError" : "ValueError") : Value::none();
  call.state.items.erase(call.state.items.begin() + *at);
  return call.store();
}

// issubset, issuperset, isdisjoint
Value compare_sets(ListCall& call) {
  if (!call.is_set) return {};
  bool known = false;
  const auto others = call.other_items(known);
  if (!known || others.size() != 1)
    return Value::of(call.symbols().opaque("", call.heap().sharing(call.self)));
  const auto within = [&](const std::vector<Value>& part, const std::vector<Value>& whole) {
    return std::ranges::all_of(part, [&](Value item) { return call.has(whole, item); });
  };
  if (call.name == "isdisjoint")
    return call.heap().boolean(
        std::ranges::none_of(call.state.items, [&](Value item) { return call.has(others[0], item); }));
  return call.heap().boolean(
      call.name == "issubset" ? within(call.state.items, others[0]) : within(others[0], call.state.items));
}

// union, intersection, difference and symmetric_difference, and the same with `_update`.
Value combine_sets(ListCall& call) {
  const bool in_place = call.name.ends_with("_update");
  if (in_place && call.arguments.spread) return call.shuffle(call.heap().unseen(""));
  if (!call.is_set) return {};
  const std::string_view what =
      in_place ? call.name.substr(0, call.name.size() - std::string_view("_update").size()) : call.name;
  bool known = false;
  const auto others = call.other_items(known);
  Value made;
  if (known) {
    std::vector<Value> items = call.state.items;
    for (const auto& other : others) {
      const std::vector<Value> before = items;
      if (what != "union")
        std::erase_if(items, [&](Value item) { return call.has(other, item) != (what == "intersection"); });
      if (what == "union") items.insert(items.end(), other.begin(), other.end());
      if (what == "symmetric_difference")
        for (const Value& item : other)
          if (!call.has(before, item)) items.push_back(item);
    }
    made = call.run.make_set(std::move(items));
  } else {
    Value any = call.state.items.empty() && !call.state.rest ? Value{}
                                                             : call.run.element(call.self, call.where);
    for (const Value& other : call.positional)
      any = call.heap().merge(any, call.run.element(other, call.where), Sharing::uniform);
    if (call.arguments.spread) any = call.heap().merge(any, call.heap().unseen(""), Sharing::uniform);
    made = call.heap().open_list(any ? any : call.heap().unseen(""), nullptr, ListKind::set);
  }
  if (!in_place) return made;
  call.heap().set_list(call.self, *values::Heap::list_state(made));
  return Value::none();
}

template <Value (*method)(ListCall&)> Value on_list(const BuiltinCall& call) {
  ListCall list(call);
  return method(list);
}

const BuiltinTable& list_methods() {
  static const BuiltinTable table{
      {"append appendleft add", on_list<append>},
      {"extend extendleft update", on_list<extend>},
      {"insert", on_list<insert>},
      {"pop popleft", on_list<pop>},
      {"copy", on_list<copy>},
      {"clear", on_list<clear>},
      {"reverse", on_list<reverse>},
      {"rotate", on_list<rotate>},
      {"sort", on_list<sort>},
      {"remove discard", on_list<remove>},
      {"issubset issuperset isdisjoint", on_list<compare_sets>},
      {"union intersection difference symmetric_difference", on_list<combine_sets>},
      {"intersection_update difference_update symmetric_difference_update", on_list<combine_sets>},
  };
  return table;
}

}  // namespace

Value Builtins::list_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  constexpr std::size_t copied_per_step = 64;
  run_.step(values::Heap::list_state(self)->items.size() / copied_per_step);
  if (name == "index" || name == "count") return sequence_method(self, name, arguments, where);
  const Value made = list_methods().run({run_, name, self, arguments, where});
  return made ? made : heap().unknown("", heap().sharing(self), where);
}

// index() and count() of lists and tuples.
Value Builtins::sequence_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  const auto items = run_.elements(self, where);
  const auto unknown = [&] {
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = heap().sharing(self);
    return Value::of(symbols().fresh(info));
  };
  if (!items || arguments.positional.size() != 1) return unknown();
  const Value wanted = run_.resolve(arguments.positional[0]);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const Value item = run_.resolve((*items)[i]);
    if (item == wanted || run_.same_key(item, wanted)) {
      if (name == "index") return heap().integer(static_cast<std::int64_t>(i));
      ++count;
    } else if (!run_.known_key(item) || !run_.known_key(wanted)) {
      return unknown();
    }
  }
  return name == "index" ? run_.raise_builtin("ValueError", where) : heap().integer(count);
}

}  // namespace stepzero::interpreter
