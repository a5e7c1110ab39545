// Dicts: looking up and writing under keys that are known, may be, or are not, and their methods.
#include "interpreter/interpreter.hpp"

#include "interpreter/set_on_self.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
// Of a larger table, what any one of its values is like is not worth its price.
constexpr std::size_t largest_merged = 32;
} // namespace

Value Interpreter::dict_get(Value dict, Value key, Value otherwise) {
  if (key.is(Kind::choice)) return over_choices(key, [&](Value side) { return dict_get(dict, side, otherwise); });
  note_choice_by_text(key);
  const auto* state = values::Heap::dict_state(dict);
  const bool key_is_known = known_key(key);
  bool known = key_is_known;
  step(1 + state->items.size() / 8);
  Value maybe;
  if (!key_is_known && state->items.size() > largest_merged) maybe = heap().external("");
  for (const auto& [k, v] : state->items) {
    if (k == key || same_key(k, key)) {
      // Of a key that is there on some paths only: who asks without a second choice is on those.
      if (otherwise && v.is(Kind::choice)) {
        const auto* choice = v.as<values::Choice>();
        if (!choice->yes || !choice->no)
          return heap().choose(choice->condition, choice->yes ? choice->yes : otherwise, choice->no ? choice->no : otherwise);
      }
      const Value value = resolve(v);
      if (!value) continue;
      return value;
    }
    known = known && known_key(k);
    if (!key_is_known) open_empty(v);
    if (!key_is_known && state->items.size() <= largest_merged) maybe = heap().merge(maybe, resolve(v), Sharing::uniform);
  }
  auto* object = dict.as<values::Dict>();
  if (known && !state->open) {
    if (otherwise) return otherwise;
    if (object->counts) return heap().integer(0);
    if (object->factory && !object->factory.is(Kind::none)) {
      const Value made = call(object->factory, {}, {});
      dict_set(dict, key, made);
      return made;
    }
    return raise_builtin("KeyError", {});
  }
  Value any = heap().merge(maybe, state->rest ? one_of_many(state->rest) : state->rest, Sharing::uniform);
  // Asked for a key that it may not have, a defaultdict has it from here on.
  if (!otherwise && !state->open && object->factory && !object->factory.is(Kind::none)) {
    const Value made = call(object->factory, {}, {});
    dict_set(dict, key, made);
    return any ? heap().merge(any, made, Sharing::uniform) : made;
  }
  if (otherwise && any) any = heap().merge(any, otherwise, Sharing::uniform);
  return any ? any : otherwise ? otherwise : heap().external("");
}

void Interpreter::dict_set(Value dict, Value key, Value value) {
  key = resolve(key);
  // Each write compares all keys and copies the table: it is paid for, or a table that grows costs its square for nothing.
  step(1 + values::Heap::dict_state(dict)->items.size() / 8);
  values::DictState state = *values::Heap::dict_state(dict);
  if (auto* mirrored = dict.as<values::Dict>()->mirrored) {
    if (key.is(Kind::string)) heap().set(heap().slot_of(mirrored->attributes, Name(key.text())), value);
    else {
      open_up(*mirrored);
      set_any(heap(), *mirrored, value);
    }
  }
  bool found = false;
  for (auto& [k, v] : state.items)
    if (k == key || same_key(k, key)) {
      v = value;
      found = true;
    }
  if (!found && known_key(key)) {
    // A key that is there already, as something that is not known, may be this one.
    for (auto& [k, v] : state.items)
      if (!known_key(k)) v = heap().merge(v, value, Sharing::uniform);
    state.items.push_back({key, value});
  } else if (!found && state.items.size() > largest_merged) {
    step(state.items.size());
    for (const auto& [k, v] : state.items) escape(v);
    state = {};
    state.open = true;
    state.rest = heap().external("");
  } else if (!found) {
    for (auto& [k, v] : state.items) v = heap().merge(v, value, Sharing::uniform);
    state.open = true;
    state.rest = heap().merge(state.rest, value, Sharing::uniform);
  }
  heap().set_dict(dict, std::move(state));
}

void Interpreter::dict_delete(Value dict, Value key) {
  key = resolve(key);
  values::DictState rest = *values::Heap::dict_state(dict);
  if (auto* mirrored = dict.as<values::Dict>()->mirrored; mirrored && key.is(Kind::string))
    heap().set(heap().slot_of(mirrored->attributes, Name(key.text())), {});
  if (!known_key(key)) {
    escape(dict);
    return;
  }
  std::erase_if(rest.items, [&](const auto& item) { return same_key(item.first, key); });
  heap().set_dict(dict, std::move(rest));
}

// What `dict.update(other)` and `dict(other)` read: a dict, or pairs. False if it is not known.
bool Interpreter::dict_update(Value dict, Value other, Place where) {
  other = resolve(other);
  if (other.is(Kind::instance))
    if (const Value keys = find_method(other.as<values::Instance>(), Name("keys"))) {
      const auto names = take(call(keys, {}, where), where, true);
      const Expr nowhere{ExprKind::none, {}};
      if (!names) return false;
      for (const Value& name : *names) dict_set(dict, name, subscript(other, name, nowhere));
      return true;
    }
  if (other.is(Kind::dict)) {
    const auto* state = values::Heap::dict_state(other);
    const Value rest = state->open ? state->rest : Value{};
    const bool whole = !state->open || rest;
    for (const auto& [k, v] : std::vector(state->items)) dict_set(dict, k, v);
    if (rest) dict_set(dict, heap().external(""), rest);
    return whole;
  }
  const auto pairs = take(other, where, true);
  if (!pairs) return false;
  for (const Value& pair : *pairs) {
    const auto parts = elements(pair, where);
    if (!parts || parts->size() != 2) return false;
    dict_set(dict, (*parts)[0], (*parts)[1]);
  }
  return true;
}

Value Interpreter::dict_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  const auto* state = values::Heap::dict_state(self);
  const auto& positional = arguments.positional;
  const auto list_of = [&](const std::function<Value(const std::pair<Value, Value>&)>& part) {
    std::vector<Value> items;
    Value rest;
    bool open = state->open;
    for (const auto& item : state->items) {
      if (item.second.is(Kind::choice) && (!item.second.as<values::Choice>()->yes || !item.second.as<values::Choice>()->no)) open = true;
      items.push_back(part({item.first, resolve(item.second)}));
    }
    if (!open) return heap().list(std::move(items));
    if (state->rest) rest = part({heap().external(""), state->rest});
    for (const Value& item : items) rest = heap().merge(rest, item, Sharing::uniform);
    return heap().open_list(rest ? rest : part({heap().external(""), heap().external("")}));
  };
  const auto opened = [&] {
    values::DictState more = *values::Heap::dict_state(self);
    for (auto& [k, v] : more.items) v = heap().merge(v, heap().external(""), Sharing::uniform);
    more.open = true;
    more.rest = heap().external("");
    heap().set_dict(self, std::move(more));
    if (auto* mirrored = self.as<values::Dict>()->mirrored) {
      open_up(*mirrored);
      set_any(heap(), *mirrored, heap().external(""));
    }
  };
  if (name == "keys") return list_of([](const auto& item) { return item.first; });
  if (name == "values") return list_of([](const auto& item) { return item.second; });
  if (name == "items") return list_of([&](const auto& item) { return heap().tuple({item.first, item.second}); });
  if (name == "get" && !positional.empty()) return dict_get(self, positional[0], positional.size() > 1 ? positional[1] : Value::none());
  if (name == "__contains__" && !positional.empty()) return compare(CompareOp::in, positional[0], self);
  if (name == "__getitem__" && !positional.empty()) return dict_get(self, positional[0], {});
  if (name == "__setitem__" && positional.size() == 2) {
    dict_set(self, positional[0], positional[1]);
    return Value::none();
  }
  if ((name == "setdefault") && !positional.empty()) {
    const Value otherwise = positional.size() > 1 ? positional[1] : Value::none();
    const Value result = dict_get(self, positional[0], otherwise);
    dict_set(self, positional[0], result);
    return result;
  }
  if (name == "pop" && !positional.empty()) {
    const Value result = dict_get(self, positional[0], positional.size() > 1 ? positional[1] : Value{});
    if (!killed_) dict_delete(self, positional[0]);
    return result;
  }
  if (name == "popitem" && !state->open && !state->items.empty()) {
    bool first = false;
    for (const auto& [key, value] : arguments.keywords)
      if (key.text() == "last") first = to_constant(value) == 0;
    const auto item = first ? state->items.front() : state->items.back();
    dict_delete(self, item.first);
    return heap().tuple({item.first, resolve(item.second)});
  }
  if (name == "move_to_end" && !positional.empty() && !state->open) {
    values::DictState moved = *state;
    for (std::size_t i = 0; i < moved.items.size(); ++i)
      if (same_key(moved.items[i].first, positional[0])) {
        const auto item = moved.items[i];
        moved.items.erase(moved.items.begin() + static_cast<std::ptrdiff_t>(i));
        moved.items.push_back(item);
        break;
      }
    heap().set_dict(self, std::move(moved));
    return Value::none();
  }
  if (name == "update") {
    if (self.as<values::Dict>()->counts) {
      count_items(self, positional.empty() ? Value{} : positional[0], where);
      return Value::none();
    }
    for (const Value& other : positional)
      if (!dict_update(self, other, where)) opened();
    for (const auto& [key, value] : arguments.keywords) dict_set(self, heap().string(key.text()), value);
    if (arguments.spread) opened();
    return Value::none();
  }
  if (name == "most_common" && self.as<values::Dict>()->counts && !state->open) {
    std::vector<Value> pairs;
    for (const auto& [k, v] : state->items) pairs.push_back(heap().tuple({k, resolve(v)}));
    bool certain = true;
    std::stable_sort(pairs.begin(), pairs.end(), [&](Value a, Value b) {
      const auto answer = order(a.as<values::Tuple>()->items[1], b.as<values::Tuple>()->items[1]);
      certain = certain && answer;
      return answer && *answer > 0;
    });
    const auto most = positional.empty() ? std::optional<std::int64_t>(static_cast<std::int64_t>(pairs.size())) : to_constant(positional[0]);
    if (!certain || !most || *most < 0) return heap().open_list(heap().external(""));
    if (static_cast<std::size_t>(*most) < pairs.size()) pairs.resize(static_cast<std::size_t>(*most));
    return heap().list(std::move(pairs));
  }
  if (name == "copy") {
    const Value copied = heap().dict(state->items, state->open, state->rest);
    copied.as<values::Dict>()->factory = self.as<values::Dict>()->factory;
    copied.as<values::Dict>()->counts = self.as<values::Dict>()->counts;
    return copied;
  }
  if (name == "clear") {
    heap().set_dict(self, {});
    return Value::none();
  }
  if (name == "popitem") opened();
  return heap().external("", where);
}

void Interpreter::count_items(Value counter, Value iterable, Place where) {
  if (!iterable) return;
  const auto items = take(iterable, where, true);
  bool known = items.has_value() && !resolve(iterable).is(Kind::dict);
  if (known)
    for (const Value& raw : *items) {
      const Value item = resolve(raw);
      known = known && known_key(item);
      if (!known) break;
      const Int before = to_int(dict_get(counter, item, heap().integer(0)));
      known = before != nullptr;
      if (before) dict_set(counter, item, Value::of(symbols().add(before, symbols().constant(1))));
    }
  if (!known) escape(counter);
}

} // namespace stepzero::interpreter
