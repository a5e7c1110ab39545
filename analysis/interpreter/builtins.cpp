// Python's own functions, and the methods of its lists, dicts, sets and strings.
#include "interpreter/interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

const std::unordered_set<std::string_view>& builtin_names() {
  static const std::unordered_set<std::string_view> names = {
      "abs", "all", "any", "bool", "callable", "classmethod", "dict", "divmod", "enumerate", "exit", "filter", "float", "frozenset",
      "getattr", "globals", "hasattr", "hash", "id", "input", "int", "isinstance", "issubclass", "iter", "len", "list", "locals", "map",
      "max", "min", "next", "object", "open", "pow", "print", "property", "quit", "range", "repr", "reversed", "round", "set", "setattr",
      "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple", "type", "vars", "zip", "bytes", "format", "delattr",
      "Exception", "BaseException", "RuntimeError", "ValueError", "TypeError", "KeyError", "IndexError", "AssertionError", "ImportError",
      "NotImplementedError", "AttributeError", "StopIteration", "KeyboardInterrupt", "OSError", "FileNotFoundError", "MemoryError",
      "SystemExit", "ModuleNotFoundError", "Warning", "UserWarning", "DeprecationWarning", "ZeroDivisionError", "TimeoutError",
      "ConnectionError", "NotImplemented", "PermissionError", "OverflowError", "LookupError", "ArithmeticError", "EOFError",
  };
  return names;
}

} // namespace

Value Interpreter::builtin(Name name) {
  if (!builtin_names().contains(name.text())) return {};
  return library_symbol("builtins." + std::string(name.text()));
}

Value Interpreter::call_builtin(std::string_view name, Arguments& arguments, Place where, const CallExpr* expr) {
  auto& positional = arguments.positional;
  for (Value& argument : positional) argument = resolve(argument);
  const auto keyword = [&](std::string_view wanted) -> Value {
    for (const auto& [key, value] : arguments.keywords)
      if (key.text() == wanted) return resolve(value);
    return {};
  };
  const std::size_t count = positional.size();
  const Value first = count > 0 ? positional[0] : Value{};
  const auto mixed = [&] {
    Sharing sharing = Sharing::uniform;
    bool external = false;
    for (const Value& argument : positional) {
      sharing = symbolic::mix(sharing, heap().sharing(argument));
      external = external || heap().is_external(argument);
    }
    Value made = heap().unknown("", sharing, where);
    made.as<values::Unknown>()->external = external;
    return made;
  };
  if (first.is(Kind::choice) && count == 1 && name != "print")
    return over_choices(
        first,
        [&](Value side) {
          Arguments one{{side}, arguments.keywords, arguments.spread};
          return call_builtin(name, one, where, expr);
        },
        where);

  if (name == "len" && count == 1) {
    switch (first.kind) {
    case Kind::list: {
      const auto* state = values::Heap::list_state(first);
      if (!state->open) return heap().integer(static_cast<std::int64_t>(state->items.size()));
      if (state->length) return Value::of(state->length);
      break;
    }
    case Kind::tuple: return heap().integer(static_cast<std::int64_t>(first.as<values::Tuple>()->items.size()));
    case Kind::string: return heap().integer(static_cast<std::int64_t>(first.text().size()));
    case Kind::dict:
      if (!values::Heap::dict_state(first)->open) return heap().integer(static_cast<std::int64_t>(values::Heap::dict_state(first)->items.size()));
      break;
    case Kind::range: {
      const auto* range = first.as<values::Range>();
      if (symbols().value(range->step) == 1)
        return Value::of(symbols().max(symbols().constant(0), symbols().sub(range->stop, range->start)));
      break;
    }
    case Kind::tensor: {
      const auto* state = first.as<values::Tensor>()->now();
      if (state->shape.rank_known && !state->shape.dims.empty() && state->shape.dims[0].size) return Value::of(state->shape.dims[0].size);
      break;
    }
    case Kind::instance: {
      auto* object = first.as<values::Instance>();
      if (const values::Slot* items = object->attributes.find(Name("$items"))) {
        Arguments inner{{items->value}, {}, false};
        return call_builtin("len", inner, where, expr);
      }
      if (const Value method = find_method(object, Name("__len__"))) return call(method, {}, where);
      break;
    }
    case Kind::unknown: {
      auto* unknown = first.as<values::Unknown>();
      const Name key("$len");
      if (const values::Slot* slot = unknown->attributes.find(key); slot && slot->value) return slot->value;
      symbolic::AtomInfo info;
      info.name = unknown->name.empty() ? "" : "len(" + std::string(unknown->name) + ")";
      info.lower = 0;
      info.sharing = unknown->sharing;
      const Value length = Value::of(symbols().fresh(info));
      heap().slot_of(unknown->attributes, key).value = length;
      return length;
    }
    default: break;
    }
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = trips_of(first);
    return Value::of(symbols().fresh(info));
  }
  if (name == "range") {
    auto* range = heap().make<values::Range>();
    const auto number = [&](std::size_t i) {
      const Int value = to_int(positional[i]);
      return value ? value : to_int(heap().unknown("", heap().sharing(positional[i])));
    };
    if (count == 0 || count > 3) return mixed();
    range->start = count == 1 ? symbols().constant(0) : number(0);
    range->stop = count == 1 ? number(0) : number(1);
    range->step = count == 3 ? number(2) : symbols().constant(1);
    return Value::of(Kind::range, range);
  }
  if (name == "int" && count >= 1) {
    if (first.is(Kind::integer)) return first;
    if (first.is(Kind::real)) return std::abs(first.real()) < 9e15 ? heap().integer(static_cast<std::int64_t>(first.real())) : mixed();
    if (first.is(Kind::string)) {
      const std::string text(first.text());
      char* end = nullptr;
      const long long value = std::strtoll(text.c_str(), &end, 10);
      return end && *end == 0 && !text.empty() ? heap().integer(value) : mixed();
    }
    if (first.is(Kind::boolean)) {
      if (const Int value = to_int(first)) return Value::of(value);
      return heap().choose(first.condition(), heap().integer(1), heap().integer(0));
    }
    if (first.is(Kind::unknown) && !first.as<values::Unknown>()->state.value) return Value::of(to_int(first));
    symbolic::AtomInfo info;
    info.sharing = heap().sharing(first);
    return Value::of(symbols().fresh(info));
  }
  if (name == "float" && count == 1) {
    if (first.is(Kind::real)) return first;
    if (const auto constant = to_constant(first)) return Value::of(static_cast<double>(*constant));
    Value made = mixed();
    made.as<values::Unknown>()->is_real = true;
    return made;
  }
  if (name == "bool" && count == 1) return Value::of(truth(first));
  if (name == "str" && count == 1) {
    if (first.is(Kind::string)) return first;
    if (first.is(Kind::integer))
      if (const auto constant = symbols().value(first.integer())) return heap().string(std::to_string(*constant));
    return mixed();
  }
  if ((name == "list" || name == "tuple" || name == "set" || name == "frozenset" || name == "sorted" || name == "reversed" || name == "iter")) {
    if (count == 0) return name == "tuple" ? heap().tuple({}) : heap().list({}, name == "set" ? values::ListKind::set : values::ListKind::list);
    const bool is_set = name == "set" || name == "frozenset";
    if (name == "iter" && first.is(Kind::iterator)) return first;
    if (auto items = elements(first, where)) {
      if (name == "reversed") std::reverse(items->begin(), items->end());
      if (name == "tuple") return heap().tuple(std::move(*items));
      if (name == "sorted") {
        const bool numbers = std::all_of(items->begin(), items->end(), [&](Value item) { return to_constant(item).has_value(); });
        if (numbers && !keyword("key")) std::sort(items->begin(), items->end(), [&](Value a, Value b) { return *to_constant(a) < *to_constant(b); });
        else {
          Value any;
          for (const Value& item : *items) any = heap().merge(any, item, Sharing::uniform);
          return heap().open_list(any ? any : heap().external(""), symbols().constant(static_cast<std::int64_t>(items->size())));
        }
      }
      return heap().list(std::move(*items), is_set ? values::ListKind::set : values::ListKind::list);
    }
    Int length = nullptr;
    if (first.is(Kind::list)) length = values::Heap::list_state(first)->length;
    if (first.is(Kind::range) && symbols().value(first.as<values::Range>()->step) == 1)
      length = symbols().max(symbols().constant(0), symbols().sub(first.as<values::Range>()->stop, first.as<values::Range>()->start));
    return heap().open_list(element(first, where), is_set ? nullptr : length, is_set ? values::ListKind::set : values::ListKind::list);
  }
  if (name == "dict") {
    std::vector<std::pair<Value, Value>> items;
    bool open = arguments.spread;
    if (first.is(Kind::dict)) {
      items = values::Heap::dict_state(first)->items;
      open = open || values::Heap::dict_state(first)->open;
    } else if (first) {
      open = true;
    }
    const Value dict = heap().dict(std::move(items), open, open ? heap().external("") : Value{});
    for (const auto& [key, value] : arguments.keywords) dict_set(dict, heap().string(key.text()), value);
    return dict;
  }
  if (name == "enumerate" && count >= 1) {
    const Value start = count > 1 ? positional[1] : keyword("start");
    const Int from = start ? to_int(start) : symbols().constant(0);
    if (const auto items = elements(first, where); items && from) {
      std::vector<Value> pairs;
      for (std::size_t i = 0; i < items->size(); ++i)
        pairs.push_back(heap().tuple({Value::of(symbols().add(from, symbols().constant(static_cast<std::int64_t>(i)))), (*items)[i]}));
      return heap().list(std::move(pairs));
    }
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = Sharing::uniform;
    const Value list = heap().open_list(heap().tuple({Value::of(symbols().fresh(info)), element(first, where)}));
    const Sharing trips = trips_of(first);
    symbolic::AtomInfo length;
    length.lower = 0;
    length.sharing = trips;
    values::Heap::list_state(list)->length = symbols().fresh(length);
    return list;
  }
  if (name == "zip") {
    std::vector<std::vector<Value>> columns;
    std::size_t shortest = SIZE_MAX;
    std::vector<Value> any;
    bool known = count > 0;
    Sharing trips = Sharing::uniform;
    for (const Value& argument : positional) {
      auto items = elements(argument, where);
      known = known && items;
      trips = symbolic::mix(trips, trips_of(argument));
      if (items) {
        shortest = std::min(shortest, items->size());
        columns.push_back(std::move(*items));
      }
      any.push_back(element(argument, where));
    }
    if (!known) {
      symbolic::AtomInfo info;
      info.lower = 0;
      info.sharing = trips;
      return heap().open_list(heap().tuple(std::move(any)), symbols().fresh(info));
    }
    std::vector<Value> rows;
    for (std::size_t i = 0; i < shortest; ++i) {
      std::vector<Value> row;
      for (const auto& column : columns) row.push_back(column[i]);
      rows.push_back(heap().tuple(std::move(row)));
    }
    return heap().list(std::move(rows));
  }
  if ((name == "map" || name == "filter") && count >= 2) {
    if (const auto items = elements(positional[1], where); items && count == 2 && items->size() <= 64) {
      std::vector<Value> results;
      bool certain = true;
      for (const Value& item : *items) {
        const Value result = call(first, {{item}, {}, false}, where);
        if (name == "map") results.push_back(result);
        else {
          const auto answer = symbols().decide(truth(first.is(Kind::none) ? item : result));
          certain = certain && answer != symbolic::Answer::unknown;
          if (answer != symbolic::Answer::no) results.push_back(item);
        }
      }
      if (certain) return heap().list(std::move(results));
      Value any;
      for (const Value& item : results) any = heap().merge(any, item, Sharing::uniform);
      return heap().open_list(any ? any : heap().external(""));
    }
    const Value item = element(positional[1], where);
    return heap().open_list(name == "map" ? call(first, {{item}, {}, count > 2}, where) : item);
  }
  if ((name == "min" || name == "max") && count >= 1) {
    std::vector<Value> items = positional;
    if (count == 1) {
      const auto known = elements(first, where);
      if (!known || known->empty()) return mixed();
      items = *known;
    }
    if (keyword("key")) return mixed();
    Int best = nullptr;
    for (const Value& item : items) {
      if (!resolve(item).is(Kind::integer) && !resolve(item).is(Kind::unknown)) return mixed();
      const Int value = to_int(item);
      if (!value) return mixed();
      best = !best ? value : name == "min" ? symbols().min(best, value) : symbols().max(best, value);
    }
    return Value::of(best);
  }
  if (name == "sum" && count >= 1) {
    const auto items = elements(first, where);
    if (!items) return mixed();
    Int total = symbols().constant(0);
    for (const Value& item : *items) {
      const Value value = resolve(item);
      if (!value.is(Kind::integer)) return mixed();
      total = symbols().add(total, value.integer());
    }
    return Value::of(total);
  }
  if (name == "abs" && count == 1) {
    if (const auto constant = to_constant(first)) return heap().integer(std::abs(*constant));
    if (first.is(Kind::real)) return Value::of(std::abs(first.real()));
    return first.is(Kind::tensor) ? first : mixed();
  }
  if (name == "round" && count == 1 && first.is(Kind::real)) return heap().integer(static_cast<std::int64_t>(std::nearbyint(first.real())));
  if ((name == "any" || name == "all") && count == 1) {
    const auto items = elements(first, where);
    if (!items || items->size() > 32) return mixed();
    Cond result = symbols().boolean(name == "all");
    for (const Value& item : *items)
      result = name == "all" ? symbols().logical_and(result, truth(item)) : symbols().logical_or(result, truth(item));
    return Value::of(result);
  }
  if (name == "isinstance" && count == 2) {
    const auto is_one = [&](Value type) -> symbolic::Answer {
      type = resolve(type);
      const auto is_builtin = [&](std::string_view wanted) {
        return type.is(Kind::library) && type.as<values::LibrarySymbol>()->path == wanted;
      };
      if (first.is(Kind::unknown) || first.is(Kind::choice)) return symbolic::Answer::unknown;
      if (type.is(Kind::class_)) {
        if (!first.is(Kind::instance)) return symbolic::Answer::no;
        const auto* cls = first.as<values::Instance>()->cls;
        if (!cls) return symbolic::Answer::no;
        if (std::find(cls->order.begin(), cls->order.end(), type.as<values::Class>()) != cls->order.end()) return symbolic::Answer::yes;
        return cls->open ? symbolic::Answer::unknown : symbolic::Answer::no;
      }
      if (!type.is(Kind::library)) return symbolic::Answer::unknown;
      const std::string_view path = type.as<values::LibrarySymbol>()->path;
      switch (first.kind) {
      case Kind::integer: return is_builtin("builtins.int") ? symbolic::Answer::yes : path.starts_with("builtins.") ? symbolic::Answer::no : symbolic::Answer::unknown;
      case Kind::string: return is_builtin("builtins.str") ? symbolic::Answer::yes : symbolic::Answer::no;
      case Kind::real: return is_builtin("builtins.float") ? symbolic::Answer::yes : symbolic::Answer::no;
      case Kind::none: return symbolic::Answer::no;
      case Kind::tuple: return is_builtin("builtins.tuple") ? symbolic::Answer::yes : path.starts_with("builtins.") ? symbolic::Answer::no : symbolic::Answer::unknown;
      case Kind::list: return is_builtin("builtins.list") ? symbolic::Answer::yes : path.starts_with("builtins.") ? symbolic::Answer::no : symbolic::Answer::unknown;
      case Kind::dict: return is_builtin("builtins.dict") ? symbolic::Answer::yes : path.starts_with("builtins.") ? symbolic::Answer::no : symbolic::Answer::unknown;
      case Kind::tensor: return path == library_.tensor_class() ? symbolic::Answer::yes : path.starts_with("builtins.") ? symbolic::Answer::no : symbolic::Answer::unknown;
      case Kind::instance:
        if (is_a(first, path)) return symbolic::Answer::yes;
        return first.as<values::Instance>()->open || path == library_.tensor_class() ? symbolic::Answer::unknown : symbolic::Answer::no;
      default: return symbolic::Answer::unknown;
      }
    };
    const Value types = positional[1];
    bool any_unknown = false;
    for (const Value& type : types.is(Kind::tuple) ? types.as<values::Tuple>()->items : std::vector<Value>{types}) {
      const auto answer = is_one(type);
      if (answer == symbolic::Answer::yes) return heap().boolean(true);
      any_unknown = any_unknown || answer == symbolic::Answer::unknown;
    }
    if (!any_unknown) return heap().boolean(false);
    return Value::of(symbols().opaque("isinstance", heap().is_external(first) ? Sharing::local : heap().sharing(first)));
  }
  if (name == "getattr" && count >= 2) {
    if (positional[1].is(Kind::string)) {
      const Name wanted(positional[1].text());
      if (count == 3 && first.is(Kind::instance)) {
        auto* object = first.as<values::Instance>();
        const bool there = object->attributes.find(wanted) || (object->cls && find_in_order(object->cls->order, wanted));
        if (!there && !object->open && !(object->cls && (object->cls->open || object->cls->native))) return positional[2];
      }
      return attribute(first, wanted, where);
    }
    return heap().unknown("", heap().sharing(first), where);
  }
  if (name == "setattr" && count == 3) {
    if (positional[1].is(Kind::string)) set_attribute(first, Name(positional[1].text()), positional[2]);
    else if (first.is(Kind::instance)) first.as<values::Instance>()->open = true;
    return Value::none();
  }
  if (name == "hasattr" && count == 2) {
    if (positional[1].is(Kind::string) && first.is(Kind::instance)) {
      const Name wanted(positional[1].text());
      auto* object = first.as<values::Instance>();
      const values::Slot* slot = object->attributes.find(wanted);
      if ((slot && slot->value && !slot->value.is(Kind::unknown)) || (object->cls && find_in_order(object->cls->order, wanted))) return heap().boolean(true);
      if (!object->open && object->cls && !object->cls->open && !object->cls->native && !object->symbolic) return heap().boolean(false);
    }
    return Value::of(named_condition("hasattr:" + (positional[1].is(Kind::string) ? std::string(positional[1].text()) : std::string()), heap().is_external(first) ? Sharing::local : Sharing::uniform));
  }
  if (name == "type" && count == 1 && first.is(Kind::instance) && first.as<values::Instance>()->cls)
    return Value::of(Kind::class_, first.as<values::Instance>()->cls);
  if (name == "next" && count >= 1) return element(first, where);
  if (name == "callable" && count == 1) return first.is(Kind::none) ? heap().boolean(false) : first.is(Kind::function) ? heap().boolean(true) : Value::of(symbols().opaque("callable", heap().sharing(first)));
  if (name == "exit" || name == "quit") {
    exit_process();
    return Value::none();
  }
  if (name == "print" || name == "id" || name == "delattr") return Value::none();
  if (name == "property" && count >= 1 && first.is(Kind::function)) {
    first.as<values::Function>()->is_property = true;
    return first;
  }
  if ((name == "staticmethod" || name == "classmethod") && first.is(Kind::function)) {
    (name == "staticmethod" ? first.as<values::Function>()->is_static : first.as<values::Function>()->is_class_method) = true;
    return first;
  }
  if (name == "open") return heap().unknown("", Sharing::local, where);
  return mixed();
}

// ---------------------------------------------------------------- methods of Python's own types

Value Interpreter::value_attribute(Value object, Name name, Place where) {
  switch (object.kind) {
  case Kind::tensor:
    if (const Row* row = library_.find(std::string(library_.tensor_class()) + "." + std::string(name.text()))) {
      if (row->kind == values::RowKind::property || row->kind == values::RowKind::constant)
        return call_library(*library_symbol(row->path).as<values::LibrarySymbol>(), object, {}, where, nullptr);
      auto* bound = heap().make<values::Bound>();
      bound->self = object;
      bound->function = library_symbol(row->path);
      return Value::of(Kind::bound, bound);
    }
    return heap().unknown("", heap().sharing(object), where);
  case Kind::list:
  case Kind::dict:
  case Kind::string:
  case Kind::tuple:
  case Kind::iterator: {
    auto* bound = heap().make<values::Bound>();
    bound->self = object;
    bound->function = heap().string(name.text());
    return Value::of(Kind::bound, bound);
  }
  case Kind::device:
    if (name.text() == "type") {
      const auto text = object.as<values::Device>()->text;
      return heap().string(text.substr(0, text.find(':')));
    }
    return heap().unknown("", Sharing::uniform, where);
  default: return heap().external("", where);
  }
}

Value Interpreter::call_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  for (Value& argument : arguments.positional) argument = resolve(argument);
  switch (self.kind) {
  case Kind::list: return list_method(self, name, arguments, where);
  case Kind::dict: return dict_method(self, name, arguments, where);
  case Kind::string: return string_method(self, name, arguments);
  case Kind::tuple:
    if (name == "index" || name == "count") return heap().unknown("", heap().sharing(self), where);
    return heap().external("", where);
  default: return heap().external("", where);
  }
}

Value Interpreter::list_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  values::ListState state = *values::Heap::list_state(self);
  const Value first = arguments.positional.empty() ? Value{} : arguments.positional[0];
  if ((name == "append" || name == "add" || name == "appendleft") && first) {
    if (state.open) state.rest = heap().merge(state.rest, first, Sharing::uniform);
    else if (name == "appendleft") state.items.insert(state.items.begin(), first);
    else state.items.push_back(first);
    state.length = nullptr;
    heap().set_list(self, std::move(state));
    return Value::none();
  }
  if ((name == "extend" || name == "update") && first) {
    const auto items = elements(first, where);
    if (items && !state.open) state.items.insert(state.items.end(), items->begin(), items->end());
    else {
      state.open = true;
      state.rest = heap().merge(state.rest, element(first, where), Sharing::uniform);
    }
    state.length = nullptr;
    heap().set_list(self, std::move(state));
    return Value::none();
  }
  if (name == "insert" && arguments.positional.size() == 2) {
    const auto at = to_constant(first);
    if (!state.open && at && *at >= 0 && *at <= static_cast<std::int64_t>(state.items.size())) state.items.insert(state.items.begin() + *at, arguments.positional[1]);
    else {
      state.open = true;
      state.rest = heap().merge(state.rest, arguments.positional[1], Sharing::uniform);
    }
    heap().set_list(self, std::move(state));
    return Value::none();
  }
  if (name == "pop" || name == "popleft") {
    const auto at = first ? to_constant(first) : std::optional<std::int64_t>(name == "pop" ? -1 : 0);
    const auto size = static_cast<std::int64_t>(state.items.size());
    if (!state.open && at && *at < size && *at >= -size && size > 0) {
      const auto index = static_cast<std::ptrdiff_t>(*at < 0 ? *at + size : *at);
      const Value result = state.items[static_cast<std::size_t>(index)];
      state.items.erase(state.items.begin() + index);
      heap().set_list(self, std::move(state));
      return result;
    }
    return element(self, where);
  }
  if (name == "copy") {
    const Value copied = heap().list({}, self.as<values::List>()->kind);
    *values::Heap::list_state(copied) = state;
    return copied;
  }
  if (name == "clear") {
    heap().set_list(self, {});
    return Value::none();
  }
  if (name == "reverse" && !state.open) {
    std::reverse(state.items.begin(), state.items.end());
    heap().set_list(self, std::move(state));
    return Value::none();
  }
  if (name == "sort" || name == "remove" || name == "discard" || name == "reverse") {
    Value any = element(self, where);
    state.rest = any;
    state.items.clear();
    state.open = true;
    heap().set_list(self, std::move(state));
    return Value::none();
  }
  return heap().unknown("", heap().sharing(self), where);
}

bool Interpreter::same_key(Value a, Value b) const {
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
  return false;
}

Value Interpreter::dict_get(Value dict, Value key, Value otherwise) {
  const auto* state = values::Heap::dict_state(dict);
  for (const auto& [k, v] : state->items)
    if (same_key(k, key)) {
      const Value value = resolve(v);
      if (!value) continue;
      return value;
    }
  const bool known_key = key.is(Kind::string) || (key.is(Kind::integer) && symbols().value(key.integer()));
  if (!state->open && known_key) return otherwise ? otherwise : heap().external("");
  Value any = state->rest;
  if (!known_key)
    for (const auto& [k, v] : state->items) any = heap().merge(any, v, heap().sharing(key));
  if (otherwise && any) any = heap().merge(any, otherwise, Sharing::uniform);
  return any ? any : otherwise ? otherwise : heap().external("");
}

void Interpreter::dict_set(Value dict, Value key, Value value) {
  key = resolve(key);
  values::DictState state = *values::Heap::dict_state(dict);
  const bool known_key = key.is(Kind::string) || key.is(Kind::integer) || key.is(Kind::tuple);
  if (!known_key) {
    for (auto& [k, v] : state.items) v = heap().merge(v, value, Sharing::uniform);
    state.open = true;
    state.rest = heap().merge(state.rest, value, Sharing::uniform);
  } else {
    bool found = false;
    for (auto& [k, v] : state.items)
      if (same_key(k, key)) {
        v = value;
        found = true;
      }
    if (!found) state.items.push_back({key, value});
  }
  heap().set_dict(dict, std::move(state));
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
    if (state->rest) rest = part({heap().unknown("", Sharing::local), state->rest});
    for (const Value& item : items) rest = heap().merge(rest, item, Sharing::uniform);
    return heap().open_list(rest ? rest : part({heap().external(""), heap().external("")}));
  };
  if (name == "keys") return list_of([](const auto& item) { return item.first; });
  if (name == "values") return list_of([](const auto& item) { return item.second; });
  if (name == "items") return list_of([&](const auto& item) { return heap().tuple({item.first, item.second}); });
  if (name == "get" && !positional.empty()) return dict_get(self, positional[0], positional.size() > 1 ? positional[1] : Value::none());
  if ((name == "setdefault") && !positional.empty()) {
    const Value otherwise = positional.size() > 1 ? positional[1] : Value::none();
    for (const auto& [k, v] : state->items)
      if (same_key(k, positional[0])) return resolve(v);
    const Value result = state->open ? heap().merge(otherwise, state->rest, Sharing::uniform) : otherwise;
    dict_set(self, positional[0], result);
    return result;
  }
  if (name == "pop" && !positional.empty()) {
    const Value result = dict_get(self, positional[0], positional.size() > 1 ? positional[1] : Value{});
    values::DictState rest = *state;
    std::erase_if(rest.items, [&](const auto& item) { return same_key(item.first, positional[0]); });
    heap().set_dict(self, std::move(rest));
    return result;
  }
  if (name == "update") {
    for (const Value& other : positional) {
      if (other.is(Kind::dict) && !values::Heap::dict_state(other)->open) {
        for (const auto& [k, v] : std::vector(values::Heap::dict_state(other)->items)) dict_set(self, k, v);
      } else {
        escape(self);
      }
    }
    for (const auto& [key, value] : arguments.keywords) dict_set(self, heap().string(key.text()), value);
    return Value::none();
  }
  if (name == "copy") return heap().dict(state->items, state->open, state->rest);
  if (name == "clear") {
    heap().set_dict(self, {});
    return Value::none();
  }
  return heap().external("", where);
}

Value Interpreter::string_method(Value self, std::string_view name, Arguments& arguments) {
  const std::string text(self.text());
  const Value first = arguments.positional.empty() ? Value{} : arguments.positional[0];
  const auto cased = [&](int (*change)(int)) {
    std::string result = text;
    for (char& c : result) c = static_cast<char>(change(static_cast<unsigned char>(c)));
    return heap().string(result);
  };
  if (name == "lower") return cased(std::tolower);
  if (name == "upper") return cased(std::toupper);
  if (name == "startswith" && first.is(Kind::string)) return heap().boolean(text.starts_with(first.text()));
  if (name == "endswith" && first.is(Kind::string)) return heap().boolean(text.ends_with(first.text()));
  if (name == "strip" && !first) {
    const auto begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
    return heap().string(begin == std::string::npos ? "" : text.substr(begin, end - begin + 1));
  }
  if (name == "split") {
    std::vector<Value> parts;
    const std::string separator = first.is(Kind::string) ? std::string(first.text()) : " ";
    if (separator.empty() || arguments.positional.size() > 1) return heap().open_list(heap().unknown("", Sharing::uniform));
    std::size_t from = 0;
    while (parts.size() < 64) {
      const auto at = text.find(separator, from);
      const std::string part = text.substr(from, at == std::string::npos ? at : at - from);
      if (!(part.empty() && !first)) parts.push_back(heap().string(part));
      if (at == std::string::npos) break;
      from = at + separator.size();
    }
    return heap().list(std::move(parts));
  }
  if (name == "join") return heap().unknown("", heap().sharing(first));
  if (name == "format" || name == "replace") {
    Sharing sharing = Sharing::uniform;
    for (const Value& argument : arguments.positional) sharing = symbolic::mix(sharing, heap().sharing(argument));
    return heap().unknown("", sharing);
  }
  return heap().unknown("", Sharing::uniform);
}

} // namespace stepzero::interpreter
