// Dicts: looking up and writing under keys that are known, may be, or are not, and their methods.
#include "interpreter/builtins/builtin_call.hpp"

#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/reasons.hpp"

#include "interpreter/builtins/keys_view.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "interpreter/statements/from_file.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "syntax/spelling.hpp"

#include <algorithm>
#include <unordered_map>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
// Of a larger table, what any one of its values is like is not worth its price.
constexpr std::size_t largest_merged = 32;
// Of so few classes or functions each is followed as a choice of the program, as if an `if` named it.
constexpr std::size_t most_followed = 4;

bool is_called(Value value) {
  return value.is(Kind::class_) || value.is(Kind::function) || value.is(Kind::partial) ||
      value.is(Kind::library);
}
// A table of what a name stands for: `{"small": Small, "large": Large}`.
bool is_registry(Interpreter& run, const values::DictState& state) {
  return !state.open && state.items.size() <= most_followed && !state.items.empty() &&
      std::ranges::all_of(state.items, [&](const auto& item) {
        return item.first.is(Kind::string) && is_called(run.resolve(item.second));
      });
}
// Has a class or function of the file entered itself in a table of another file? Then it is not alone: others
// do so as well, wherever the program begins.
bool is_entered_from(const Record& record, Value dict, const values::DictState& state) {
  const auto path_of = [&](std::uint32_t chunk) {
    return chunk < record.chunks.size() ? std::string_view(record.chunks[chunk].path) : std::string_view{};
  };
  const Place born = dict.object()->born;
  if (!born || path_of(born.chunk) == record.path) return false;
  return std::ranges::any_of(state.items, [&](const auto& item) {
    const auto* cls = item.second.is(Kind::class_) ? item.second.template as<values::Class>() : nullptr;
    return cls && cls->stmt && path_of(cls->chunk) == record.path;
  });
}
}  // namespace

Value Interpreter::dict_get(Value dict, Value key, Value otherwise) {
  if (key.is(Kind::choice))
    return over_choices(key, [&](Value side) { return dict_get(dict, side, otherwise); });
  note_choice_by_text(key);
  // Of an installed module only those names are run that are asked for.
  if (values::ModuleObject* module = dict.as<values::Dict>()->names_of;
      module && !otherwise && key.is(Kind::string))
    return loader_->module_attribute(*module, Name(key.text()), {});
  const auto* state = values::Heap::dict_state(dict);
  const bool key_is_known = known_key(key);
  bool known = key_is_known;
  step(1 + state->items.size() / 8);
  if (!key_is_known && key.is(Kind::unknown) && is_entered_from(record_, dict, *state))
    return heap().unseen("");
  if (!key_is_known && !otherwise && key.is(Kind::unknown) && is_registry(*this, *state)) {
    Value chosen = resolve(state->items.back().second);
    for (std::size_t i = state->items.size() - 1; i-- > 0;)
      chosen = heap().choose(
          truth(compare(CompareOp::eq, key, state->items[i].first)), resolve(state->items[i].second), chosen);
    return chosen;
  }
  // Whichever it is, it is one of those that the rest stands for.
  if (!key_is_known && !otherwise && state->open && state->rest.is(Kind::tensor) &&
      state->rest.as<values::Tensor>()->any_of &&
      std::ranges::all_of(state->items, [](const auto& item) { return item.second.is(Kind::tensor); }))
    return state->rest;
  Value maybe;
  if (!key_is_known && state->items.size() > largest_merged) maybe = heap().unseen("");
  for (const auto& [k, v] : state->items) {
    if (k == key || same_key(k, key)) {
      // Of a key that is there on some paths only: who asks without a second choice is on those.
      if (otherwise && v.is(Kind::choice)) {
        const auto* choice = v.as<values::Choice>();
        if (!choice->yes || !choice->no)
          return heap().choose(
              choice->condition, choice->yes ? choice->yes : otherwise, choice->no ? choice->no : otherwise);
      }
      const Value value = resolve(v);
      if (!value) continue;
      return value;
    }
    known = known && known_key(k);
    if (!key_is_known) unseen_->open_empty(v);
    if (!key_is_known && state->items.size() <= largest_merged)
      maybe = heap().merge(maybe, resolve(v), Sharing::uniform);
  }
  auto* object = dict.as<values::Dict>();
  if (known && !state->open) {
    if (loader_->load_registering(key)) return dict_get(dict, key, otherwise);
    if (otherwise) return otherwise;
    if (object->counts) return heap().integer(0);
    if (makes_items(*object)) {
      const Value made = call(object->factory, {}, {});
      dict_set(dict, key, made);
      return made;
    }
    return raise_builtin("KeyError", {});
  }
  const Value one = state->rest ? one_of_many(state->rest) : state->rest;
  // What is not known is called as the program asks for it: `kwargs["args"]`.
  if (!(one == state->rest) && one.is(Kind::unknown) && one.as<values::Unknown>()->name.empty() &&
      key.is(Kind::string))
    one.as<values::Unknown>()->name = key.text();
  Value any = heap().merge(maybe, one, Sharing::uniform);
  // Asked for a key that it may not have, a defaultdict has it from here on.
  if (!otherwise && !state->open && makes_items(*object)) {
    const Value made = call(object->factory, {}, {});
    dict_set(dict, key, made);
    return any ? heap().merge(any, made, Sharing::uniform) : made;
  }
  if (otherwise && any) any = heap().merge(any, otherwise, Sharing::uniform);
  return any ? any : otherwise ? otherwise : heap().unseen("");
}

void Interpreter::dict_set(Value dict, Value key, Value value) {
  key = resolve(key);
  // Each write compares all keys and copies the table: it is paid for, or a table that grows costs its square
  // for nothing.
  step(1 + values::Heap::dict_state(dict)->items.size() / 8);
  values::DictState state = *values::Heap::dict_state(dict);
  if (auto* mirrored = dict.as<values::Dict>()->mirrored) {
    if (key.is(Kind::string))
      heap().set(heap().slot_of(mirrored->attributes, Name(key.text())), value);
    else {
      incremental_->open_up(*mirrored);
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
    for (const auto& [k, v] : state.items) unseen_->escape(v);
    state = {};
    state.open = true;
    state.rest = heap().unseen("");
  } else if (!found) {
    for (auto& [k, v] : state.items) v = heap().merge(v, value, Sharing::uniform);
    state.open = true;
    state.rest = heap().merge(state.rest, value, Sharing::uniform);
  }
  heap().set_dict(dict, std::move(state));
}

void Builtins::dict_delete(Value dict, Value key) {
  key = run_.resolve(key);
  values::DictState rest = *values::Heap::dict_state(dict);
  if (auto* mirrored = dict.as<values::Dict>()->mirrored; mirrored && key.is(Kind::string))
    heap().set(heap().slot_of(mirrored->attributes, Name(key.text())), {});
  if (!run_.known_key(key)) {
    run_.unseen_->escape(dict);
    return;
  }
  std::erase_if(rest.items, [&](const auto& item) { return run_.same_key(item.first, key); });
  heap().set_dict(dict, std::move(rest));
}

// What `dict.update(other)` and `dict(other)` read: a dict, or pairs. False if it is not known.
// The same for many at once. Texts need no comparison with each other.
void Interpreter::dict_extend(Value dict, std::vector<std::pair<Value, Value>> items) {
  for (auto& [key, value] : items) key = resolve(key);
  const auto* before = values::Heap::dict_state(dict);
  const auto is_text = [](const auto& each) { return each.first.is(Kind::string); };
  if (dict.as<values::Dict>()->mirrored || !std::ranges::all_of(items, is_text) ||
      !std::ranges::all_of(before->items, is_text)) {
    for (const auto& [key, value] : items) dict_set(dict, key, value);
    return;
  }
  step(items.size() + before->items.size() / 8);
  values::DictState state = *before;
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < state.items.size(); ++i) places.emplace(state.items[i].first.text(), i);
  for (const auto& [key, value] : items) {
    const auto [place, is_new] = places.emplace(key.text(), state.items.size());
    if (is_new)
      state.items.push_back({key, value});
    else
      state.items[place->second].second = value;
  }
  heap().set_dict(dict, std::move(state));
}

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
    dict_extend(dict, state->items);
    if (rest) dict_set(dict, heap().unseen(""), rest);
    return whole;
  }
  const auto pairs = take(other, where, true);
  if (!pairs) return false;
  std::vector<std::pair<Value, Value>> items;
  bool all = true;
  for (const Value& pair : *pairs) {
    const auto parts = elements(pair, where);
    all = parts && parts->size() == 2;
    if (!all) break;
    items.push_back({(*parts)[0], (*parts)[1]});
  }
  dict_extend(dict, std::move(items));
  return all;
}

namespace {

const values::DictState& state_of(const BuiltinCall& call) { return *values::Heap::dict_state(call.self); }

// Anything may be under any key from here on.
void lose_contents(const BuiltinCall& call) {
  values::DictState more = state_of(call);
  for (auto& [k, v] : more.items) v = call.heap().merge(v, call.heap().unseen(""), Sharing::uniform);
  more.open = true;
  more.rest = call.heap().unseen("");
  call.heap().set_dict(call.self, std::move(more));
  if (auto* mirrored = call.self.as<values::Dict>()->mirrored) {
    call.open_up(*mirrored);
    set_any(call.heap(), *mirrored, call.heap().unseen(""));
  }
}

// keys, values, items: what `part` makes of each of them.
Value list_of(const BuiltinCall& call, const std::function<Value(Value, Value)>& part) {
  const values::DictState& state = state_of(call);
  std::vector<Value> names, held;
  bool open = state.open;
  for (const auto& [key, value] : state.items) {
    if (!value) continue;  // taken away
    if (value.is(Kind::choice) && (!value.as<values::Choice>()->yes || !value.as<values::Choice>()->no))
      open = true;
    names.push_back(key);
    held.push_back(call.run.resolve(value));
  }
  if (!open) {
    std::vector<Value> items;
    items.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) items.push_back(part(names[i], held[i]));
    return call.heap().list(std::move(items));
  }
  // Any one of them: objects of one class are one such object.
  if (state.rest || names.empty()) {
    names.push_back(call.heap().unseen(""));
    held.push_back(state.rest ? state.rest : call.heap().unseen(""));
  }
  const auto one_of = [&](std::vector<Value> all) {
    return call.run.element(call.heap().list(std::move(all)), call.where);
  };
  return call.heap().open_list(part(one_of(std::move(names)), one_of(std::move(held))));
}
Value keys(const BuiltinCall& call) {
  const Value all = list_of(call, [](Value key, Value) { return key; });
  if (!values::Heap::list_state(all)->open) return all;
  auto* view = call.heap().make<KeysView>();
  view->state.value = all.as<values::List>()->state.value;
  view->dict = call.self;
  return Value::of(Kind::list, view);
}
Value values_of(const BuiltinCall& call) {
  return list_of(call, [](Value, Value value) { return value; });
}
Value items(const BuiltinCall& call) {
  return list_of(call, [&](Value key, Value value) { return call.heap().tuple({key, value}); });
}

// `get` of a key that the file has not, where it has one of nearly the same name: rules ask who reads that
// one.
void note_missing_key(const BuiltinCall& call) {
  constexpr std::size_t shortest = 5, farthest = 2;
  const values::Instance* file = file_of(*call.self.as<values::Dict>());
  const values::DictState& state = state_of(call);
  const Value key = call.run.resolve(call.first);
  if (!file || state.open || !key.is(Kind::string) || key.text().size() < shortest) return;
  Value near;
  for (const auto& [known, value] : state.items) {
    if (!known.is(Kind::string) || known.text() == key.text()) return;
    if (letters_between(key.text(), known.text(), farthest) <= farthest) near = known;
  }
  const Value path = file->attributes.value(Name(values::FileState::path));
  if (!near || !path.is(Kind::string)) return;
  ProblemEvent* event = call.run.problem_at(values::ProblemKind::undeclared, call.where, nullptr);
  explain(*event, why<Reason::default_of_get>(path.text(), key.text(), near.text()));
  event->overridable = true;
  event->operands = {near};
  event->row = call.run.library().find(std::string(file_origin));
}

Value get(const BuiltinCall& call) {
  if (call.first) note_missing_key(call);
  return call.first ? call.run.dict_get(call.self, call.first, call.second ? call.second : Value::none())
                    : Value{};
}
Value get_item(const BuiltinCall& call) {
  return call.first ? call.run.dict_get(call.self, call.first, {}) : Value{};
}
Value contains(const BuiltinCall& call) {
  return call.first ? call.run.compare(CompareOp::in, call.first, call.self) : Value{};
}
Value set_item(const BuiltinCall& call) {
  if (call.count != 2) return {};
  call.run.dict_set(call.self, call.first, call.second);
  return Value::none();
}
Value set_default(const BuiltinCall& call) {
  if (!call.first) return {};
  const Value result = call.run.dict_get(call.self, call.first, call.second ? call.second : Value::none());
  call.run.dict_set(call.self, call.first, result);
  return result;
}
Value pop(const BuiltinCall& call) {
  if (!call.first) return {};
  const Value result = call.run.dict_get(call.self, call.first, call.second);
  if (!call.left()) call.dict_delete(call.self, call.first);
  return result;
}

Value pop_item(const BuiltinCall& call) {
  const values::DictState& state = state_of(call);
  if (state.open || state.items.empty()) {
    lose_contents(call);
    return {};
  }
  const Value last = call.keyword("last");
  const auto item = last && call.run.to_constant(last) == 0 ? state.items.front() : state.items.back();
  call.dict_delete(call.self, item.first);
  return call.heap().tuple({item.first, call.run.resolve(item.second)});
}

Value move_to_end(const BuiltinCall& call) {
  values::DictState moved = state_of(call);
  if (!call.first || moved.open) return {};
  const auto found = std::ranges::find_if(
      moved.items, [&](const auto& item) { return call.run.same_key(item.first, call.first); });
  if (found != moved.items.end()) std::rotate(found, found + 1, moved.items.end());
  call.heap().set_dict(call.self, std::move(moved));
  return Value::none();
}

Value update(const BuiltinCall& call) {
  if (call.self.as<values::Dict>()->counts) {
    call.run.count_items(call.self, call.first, call.where);
    return Value::none();
  }
  for (const Value& other : call.positional)
    if (!call.run.dict_update(call.self, other, call.where)) lose_contents(call);
  std::vector<std::pair<Value, Value>> named;
  named.reserve(call.arguments.keywords.size());
  for (const auto& [key, value] : call.arguments.keywords)
    named.push_back({call.heap().string(key.text()), value});
  call.run.dict_extend(call.self, std::move(named));
  if (call.arguments.spread) lose_contents(call);
  return Value::none();
}

Value most_common(const BuiltinCall& call) {
  const values::DictState& state = state_of(call);
  if (!call.self.as<values::Dict>()->counts || state.open) return {};
  std::vector<Value> pairs;
  pairs.reserve(state.items.size());
  for (const auto& [k, v] : state.items) pairs.push_back(call.heap().tuple({k, call.run.resolve(v)}));
  bool certain = true;
  std::stable_sort(pairs.begin(), pairs.end(), [&](Value a, Value b) {
    const auto answer = call.run.order(a.as<values::Tuple>()->items[1], b.as<values::Tuple>()->items[1]);
    certain = certain && answer;
    return answer && *answer > 0;
  });
  const auto most = call.first ? call.run.to_constant(call.first)
                               : std::optional<std::int64_t>(static_cast<std::int64_t>(pairs.size()));
  if (!certain || !most || *most < 0) return call.heap().open_list(call.heap().unseen(""));
  if (static_cast<std::size_t>(*most) < pairs.size()) pairs.resize(static_cast<std::size_t>(*most));
  return call.heap().list(std::move(pairs));
}

Value copy(const BuiltinCall& call) {
  const values::DictState& state = state_of(call);
  const Value copied = call.heap().dict(state.items, state.open, state.rest);
  copied.as<values::Dict>()->factory = call.self.as<values::Dict>()->factory;
  copied.as<values::Dict>()->counts = call.self.as<values::Dict>()->counts;
  return copied;
}

Value clear(const BuiltinCall& call) {
  call.heap().set_dict(call.self, {});
  return Value::none();
}

const BuiltinTable& dict_methods() {
  static const BuiltinTable table{
      {"keys", keys},
      {"values", values_of},
      {"items", items},
      {"get", get},
      {"__contains__", contains},
      {"__getitem__", get_item},
      {"__setitem__", set_item},
      {"setdefault", set_default},
      {"pop", pop},
      {"popitem", pop_item},
      {"move_to_end", move_to_end},
      {"update", update},
      {"most_common", most_common},
      {"copy", copy},
      {"clear", clear},
  };
  return table;
}

}  // namespace

Value Builtins::dict_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  const Value made = dict_methods().run({run_, name, self, arguments, where});
  return made ? made : heap().unseen("", where);
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
  if (!known) unseen_->escape(counter);
}

}  // namespace stepzero::interpreter
