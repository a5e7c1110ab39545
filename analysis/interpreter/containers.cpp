// The methods of lists, sets, deques and tuples, and what it takes for a key to be known. Sets have no order that is
// known: they are read in order only where it cannot matter.
#include "interpreter/interpreter.hpp"
#include "interpreter/presumed.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;
using values::ListKind;

// ---------------------------------------------------------------- keys and order

// Two keys of which both are known are equal or different for sure.
bool Interpreter::known_key(Value key) const {
  switch (key.kind) {
  case Kind::string: case Kind::none: case Kind::ellipsis: case Kind::real: case Kind::dtype: case Kind::class_: case Kind::function:
  case Kind::module: return true;
  case Kind::library: {
    // sys.platform and its like are values that are not known.
    const auto* found = key.as<values::LibrarySymbol>();
    return found->path.starts_with("builtins.") || found->path.starts_with("inspect.Parameter.") ||
           (found->row && (found->row->kind == values::RowKind::function || found->row->kind == values::RowKind::class_));
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
    return !cls || cls->is_enum || (!cls->is_dataclass && !cls->open && !find_in_order(cls->order, Name("__eq__")));
  }
  default: return false;
  }
}

Value Interpreter::plain_member(Value value) const {
  if (!value.is(Kind::instance)) return value;
  const auto* object = value.as<values::Instance>();
  if (!object->cls || !object->cls->enum_mixes) return value;
  const values::Slot* slot = object->attributes.find(Name("value"));
  return slot && slot->value ? slot->value : value;
}

bool Interpreter::same_key(Value a, Value b) const {
  a = plain_member(a);
  b = plain_member(b);
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
    if (value.is(Kind::boolean) && record_.symbols.form(value.condition()) == symbolic::Context::Form::constant)
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
  a = plain_member(a);
  b = plain_member(b);
  const auto sign = [](auto x, auto y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (a.is(Kind::string) && b.is(Kind::string)) return sign(a.text(), b.text());
  const auto items = [](Value value) -> const std::vector<Value>* {
    if (value.is(Kind::tuple)) return &value.as<values::Tuple>()->items;
    if (value.is(Kind::list) && !values::Heap::list_state(value)->open) return &values::Heap::list_state(value)->items;
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
    if (value.is(Kind::boolean) && record_.symbols.form(value.condition()) == symbolic::Context::Form::constant)
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
    if (std::none_of(unique.begin(), unique.end(), [&](Value other) { return same_key(item, other); })) unique.push_back(item);
  }
  if (!known && unique.size() > 1) return heap().open_list(any, nullptr, ListKind::set);
  return heap().list(std::move(unique), ListKind::set);
}

std::optional<std::vector<Value>> Interpreter::take(Value iterable, Place where, bool any_order) {
  iterable = resolve(iterable);
  if (any_order && iterable.is(Kind::list) && iterable.as<values::List>()->kind == ListKind::set) {
    const auto* state = values::Heap::list_state(iterable);
    return state->open ? std::nullopt : std::optional(state->items);
  }
  auto items = elements(iterable, where);
  if (iterable.is(Kind::iterator) || (iterable.is(Kind::list) && iterable.as<values::List>()->kind == ListKind::iterator))
    if (const auto* state = values::Heap::list_state(iterable); state && !state->open) heap().set_list(iterable, {});
  return items;
}

Value Interpreter::next_of(Value iterator, Value otherwise, Place where) {
  iterator = resolve(iterator);
  if (iterator.is(Kind::instance)) {
    if (const Value method = find_method(iterator.as<values::Instance>(), Name("__next__"))) return call(method, {}, where);
    return element(iterator, where);
  }
  if (!iterator.is(Kind::iterator) && !iterator.is(Kind::list)) {
    const Value any = element(iterator, where);
    return otherwise ? heap().merge(any, otherwise, heap().sharing(any)) : any;
  }
  if (is_pending(iterator)) elements(iterator, where);
  const auto* state = values::Heap::list_state(iterator);
  if (!state) return heap().external("", where);
  if (!state->items.empty() && !(iterator.is(Kind::list) && iterator.as<values::List>()->kind != ListKind::iterator)) {
    values::ListState rest = *state;
    const Value first = rest.items.front();
    rest.items.erase(rest.items.begin());
    if (rest.length) rest.length = symbols().sub(rest.length, symbols().constant(1));
    heap().set_list(iterator, std::move(rest));
    return first;
  }
  if (!state->open && state->items.empty()) return otherwise ? otherwise : raise_builtin("StopIteration", where);
  const Value any = element(iterator, where);
  return otherwise ? heap().merge(any, otherwise, heap().sharing(any)) : any;
}

Value Interpreter::list_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  step(values::Heap::list_state(self)->items.size() / 64);  // the elements are copied
  values::ListState state = *values::Heap::list_state(self);
  const ListKind kind = self.as<values::List>()->kind;
  const bool is_set = kind == ListKind::set;
  const auto& positional = arguments.positional;
  const Value first = positional.empty() ? Value{} : positional[0];
  const auto keyword = [&](std::string_view wanted) -> Value {
    for (const auto& [key, value] : arguments.keywords)
      if (key.text() == wanted) return resolve(value);
    return {};
  };
  const auto store = [&] {
    if (!state.open) state.length = nullptr;
    if (kind == ListKind::deque && !state.open && self.as<values::List>()->most) {
      const auto most = symbols().value(self.as<values::List>()->most);
      const auto size = state.items.size();
      if (most && size > static_cast<std::size_t>(*most)) {
        const auto extra = static_cast<std::ptrdiff_t>(size) - *most;
        if (name == "appendleft" || name == "extendleft") state.items.resize(static_cast<std::size_t>(*most));
        else state.items.erase(state.items.begin(), state.items.begin() + extra);
      } else if (!most) {
        state.open = true;
        for (const Value& item : state.items) state.rest = heap().merge(state.rest, item, Sharing::uniform);
        state.items.clear();
      }
    }
    heap().set_list(self, std::move(state));
    return Value::none();
  };
  // Other elements than before, of which nothing more is known.
  const auto shuffle = [&](Value more = {}) {
    Value any = state.items.empty() && !state.rest ? more : element(self, where);
    if (more) any = heap().merge(any, more, Sharing::uniform);
    state.rest = any;
    state.items.clear();
    state.open = true;
    state.length = nullptr;
    heap().set_list(self, std::move(state));
    return Value::none();
  };
  const auto found_at = [&](Value wanted) -> std::optional<std::ptrdiff_t> {  // -1: it is not there; nullopt: not known
    if (state.open || !known_key(wanted)) return std::nullopt;
    for (std::size_t i = 0; i < state.items.size(); ++i) {
      const Value item = resolve(state.items[i]);
      if (item == wanted || same_key(item, wanted)) return static_cast<std::ptrdiff_t>(i);
      if (!known_key(item)) return std::nullopt;
    }
    return -1;
  };

  if (arguments.spread && (name == "extend" || name == "append" || name == "insert" || name == "add" || name.ends_with("update"))) return shuffle(heap().external(""));
  if ((name == "append" || name == "add" || name == "appendleft") && first) {
    if (name == "add") {
      const auto at = found_at(first);
      if (at && *at >= 0) return Value::none();
      if (!at && !(state.items.empty() && !state.open)) return shuffle(first);
    }
    const Int length = state.open && state.length ? symbols().add(state.length, symbols().constant(1)) : nullptr;
    if (state.open) state.rest = heap().merge(state.rest, first, Sharing::uniform);
    else if (name == "appendleft") state.items.insert(state.items.begin(), first);
    else state.items.push_back(first);
    state.length = length;
    const bool keeps = name == "append" && !self.as<values::List>()->most;
    if (keeps) note_kept(self.as<values::List>()->state, first, where);
    const Value done = store();
    if (keeps) note_kept(self.as<values::List>()->state, {}, where);
    return done;
  }
  if ((name == "extend" || name == "extendleft" || name == "update") && first) {
    for (const Value& more : positional) {
      const auto items = take(more, where, is_set);
      if (items && !state.open) {
        if (is_set) {
          state.items.insert(state.items.end(), items->begin(), items->end());
          const Value joined = make_set(std::move(state.items));
          state = *values::Heap::list_state(joined);
        } else if (name == "extendleft") {
          state.items.insert(state.items.begin(), items->rbegin(), items->rend());
        } else {
          state.items.insert(state.items.end(), items->begin(), items->end());
        }
      } else {
        state.open = true;
        state.rest = heap().merge(state.rest, element(more, where), Sharing::uniform);
        state.length = nullptr;
      }
    }
    return store();
  }
  if (name == "insert" && positional.size() == 2) {
    auto at = to_constant(first);
    if (state.open || !at) return shuffle(positional[1]);
    const auto size = static_cast<std::int64_t>(state.items.size());
    if (*at < 0) *at += size;
    state.items.insert(state.items.begin() + std::clamp<std::int64_t>(*at, 0, size), positional[1]);
    return store();
  }
  if ((name == "pop" || name == "popleft") && !is_set) {
    const auto at = first ? to_constant(first) : std::optional<std::int64_t>(name == "pop" ? -1 : 0);
    const auto size = static_cast<std::int64_t>(state.items.size());
    if (!state.open && size == 0) return raise_builtin("IndexError", where);
    if (!state.open && at && *at < size && *at >= -size) {
      const auto index = static_cast<std::ptrdiff_t>(*at < 0 ? *at + size : *at);
      const Value popped = state.items[static_cast<std::size_t>(index)];
      state.items.erase(state.items.begin() + index);
      store();
      return popped;
    }
    const Value any = element(self, where);
    shuffle();
    return any;
  }
  if (name == "pop") {
    const Value any = !state.open && state.items.size() == 1 ? state.items[0] : element(self, where);
    if (!state.open && state.items.size() == 1) heap().set_list(self, {});
    else shuffle();
    return any;
  }
  if (name == "copy") {
    const Value copied = heap().list({}, kind);
    copied.as<values::List>()->most = self.as<values::List>()->most;
    *values::Heap::list_state(copied) = state;
    return copied;
  }
  if (name == "clear") {
    heap().set_list(self, {});
    return Value::none();
  }
  if (name == "reverse" && !state.open) {
    std::reverse(state.items.begin(), state.items.end());
    return store();
  }
  if (name == "rotate" && !state.open) {
    const auto by = first ? to_constant(first) : std::optional<std::int64_t>(1);
    const auto size = static_cast<std::int64_t>(state.items.size());
    if (!by) return shuffle();
    if (size > 0) std::rotate(state.items.begin(), state.items.begin() + ((size - *by) % size + size) % size, state.items.end());
    return store();
  }
  if (name == "sort" && !state.open) {
    const Value reverse = keyword("reverse");
    const auto descending = reverse ? to_constant(reverse) : std::optional<std::int64_t>(0);
    if (descending && sort_values(state.items, keyword("key"), *descending != 0, where)) return store();
    const auto size = static_cast<std::int64_t>(state.items.size());
    shuffle();
    values::ListState sorted = *values::Heap::list_state(self);
    sorted.length = symbols().constant(size);
    heap().set_list(self, std::move(sorted));
    return Value::none();
  }
  if (name == "remove" || name == "discard") {
    const auto at = first ? found_at(first) : std::nullopt;
    if (!at) return shuffle();
    if (*at < 0) return name == "remove" ? raise_builtin(is_set ? "KeyError" : "ValueError", where) : Value::none();
    state.items.erase(state.items.begin() + *at);
    return store();
  }
  if (name == "index" || name == "count") return sequence_method(self, name, arguments, where);
  if (name == "sort" || name == "reverse" || name == "rotate") {
    const Int length = state.length;
    shuffle();
    values::ListState other = *values::Heap::list_state(self);
    other.length = length;
    heap().set_list(self, std::move(other));
    return Value::none();
  }

  if (is_set) {
    std::vector<std::vector<Value>> others;
    bool known = !state.open && !arguments.spread && std::all_of(state.items.begin(), state.items.end(), [&](Value item) { return known_key(item); });
    for (const Value& other : positional) {
      const auto items = take(other, where, true);
      known = known && items && std::all_of(items->begin(), items->end(), [&](Value item) { return known_key(resolve(item)); });
      others.push_back(items ? *items : std::vector<Value>{});
      for (Value& item : others.back()) item = resolve(item);
    }
    const auto has = [&](const std::vector<Value>& list, Value wanted) {
      return std::any_of(list.begin(), list.end(), [&](Value item) { return same_key(item, wanted); });
    };
    const bool in_place = name.ends_with("_update");
    const std::string_view what = in_place ? name.substr(0, name.size() - 7) : name;
    if (what == "issubset" || what == "issuperset" || what == "isdisjoint") {
      if (!known || others.size() != 1) return Value::of(symbols().opaque("", heap().sharing(self)));
      const auto within = [&](const std::vector<Value>& part, const std::vector<Value>& whole) {
        return std::all_of(part.begin(), part.end(), [&](Value item) { return has(whole, item); });
      };
      if (what == "isdisjoint") return heap().boolean(std::none_of(state.items.begin(), state.items.end(), [&](Value item) { return has(others[0], item); }));
      return heap().boolean(what == "issubset" ? within(state.items, others[0]) : within(others[0], state.items));
    }
    if (what == "union" || what == "intersection" || what == "difference" || what == "symmetric_difference") {
      Value made;
      if (known) {
        std::vector<Value> items = state.items;
        for (const auto& other : others) {
          const std::vector<Value> before = items;
          if (what != "union") std::erase_if(items, [&](Value item) { return has(other, item) != (what == "intersection"); });
          if (what == "union") items.insert(items.end(), other.begin(), other.end());
          if (what == "symmetric_difference")
            for (const Value& item : other)
              if (!has(before, item)) items.push_back(item);
        }
        made = make_set(std::move(items));
      } else {
        Value any = state.items.empty() && !state.rest ? Value{} : element(self, where);
        for (const Value& other : positional) any = heap().merge(any, element(other, where), Sharing::uniform);
        if (arguments.spread) any = heap().merge(any, heap().external(""), Sharing::uniform);
        made = heap().open_list(any ? any : heap().external(""), nullptr, ListKind::set);
      }
      if (!in_place) return made;
      heap().set_list(self, *values::Heap::list_state(made));
      return Value::none();
    }
  }
  return heap().unknown("", heap().sharing(self), where);
}

// index() and count() of lists and tuples.
Value Interpreter::sequence_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  const auto items = elements(self, where);
  const auto unknown = [&] {
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = heap().sharing(self);
    return Value::of(symbols().fresh(info));
  };
  if (!items || arguments.positional.size() != 1) return unknown();
  const Value wanted = resolve(arguments.positional[0]);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const Value item = resolve((*items)[i]);
    if (item == wanted || same_key(item, wanted)) {
      if (name == "index") return heap().integer(static_cast<std::int64_t>(i));
      ++count;
    } else if (!known_key(item) || !known_key(wanted)) {
      return unknown();
    }
  }
  return name == "index" ? raise_builtin("ValueError", where) : heap().integer(count);
}

} // namespace stepzero::interpreter
