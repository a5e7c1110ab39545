// Python's own functions.
#include "interpreter/interpreter.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;
using values::ListKind;

namespace {

const std::unordered_set<std::string_view>& builtin_names() {
  static const std::unordered_set<std::string_view> names = {
      "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr", "classmethod", "complex", "delattr", "dict", "dir",
      "divmod", "enumerate", "eval", "exec", "exit", "filter", "float", "format", "frozenset", "getattr", "globals", "hasattr", "hash", "hex",
      "id", "input", "int", "isinstance", "issubclass", "iter", "len", "list", "locals", "map", "max", "memoryview", "min", "next", "object",
      "oct", "open", "ord", "pow", "print", "property", "quit", "range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted",
      "staticmethod", "str", "sum", "super", "tuple", "type", "vars", "zip", "__import__",
      "Exception", "BaseException", "RuntimeError", "ValueError", "TypeError", "KeyError", "IndexError", "AssertionError", "ImportError",
      "NotImplementedError", "AttributeError", "StopIteration", "KeyboardInterrupt", "OSError", "FileNotFoundError", "MemoryError",
      "SystemExit", "ModuleNotFoundError", "Warning", "UserWarning", "DeprecationWarning", "FutureWarning", "RuntimeWarning",
      "ZeroDivisionError", "TimeoutError", "ConnectionError", "NotImplemented", "PermissionError", "OverflowError", "LookupError",
      "ArithmeticError", "EOFError", "NameError", "UnicodeDecodeError", "UnicodeError", "RecursionError", "FloatingPointError", "IOError",
      "EnvironmentError", "FileExistsError", "BrokenPipeError", "GeneratorExit", "StopAsyncIteration", "BufferError",
  };
  return names;
}

constexpr std::size_t most_items = 1024;  // of a list that is made element by element

// Functions whose result depends on nothing but their arguments: asked of each side of a choice.
bool is_plain_function(std::string_view name) {
  constexpr std::string_view names[] = {"len", "int", "float", "bool", "str", "repr", "abs", "round", "list", "tuple", "set", "sorted", "isinstance",
                                        "type", "sum", "range", "iter", "enumerate", "reversed", "callable", "divmod", "hasattr", "dict",
                                        "issubclass", "any", "all", "frozenset", "min", "max", "pow", "hash", "ord", "chr", "getattr", "format"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::optional<std::int64_t> read_integer(std::string_view text, int base) {
  std::string digits;
  for (const char c : text)
    if (c != '_' && c != ' ' && c != '\n' && c != '\t') digits += c;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  const auto prefixed = [&](char letter) { return digits.size() > 2 && digits[0] == '0' && std::tolower(digits[1]) == letter; };
  for (const auto& [letter, of] : {std::pair{'x', 16}, {'b', 2}, {'o', 8}})
    if ((base == of || base == 0) && prefixed(letter)) {
      base = of;
      digits.erase(0, 2);
      break;
    }
  if (base == 0) base = 10;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return negative ? -value : value;
}

} // namespace

Value Interpreter::builtin(Name name) {
  if (!builtin_names().contains(name.text())) return {};
  return library_symbol("builtins." + std::string(name.text()));
}

Value Interpreter::raise_builtin(std::string_view name, Place where) {
  // Only where somebody may catch it is the failure played out; elsewhere the value is unknown, not the rest of the path.
  if (catching_ > 0) {
    raised_ = library_symbol("builtins." + std::string(name));
    killed_ = true;
  }
  return heap().external("", where);
}

Value Interpreter::mixed_result(const std::vector<Value>& arguments, Place where) {
  return heap().unknown_from(arguments, where);
}

Value Interpreter::length_of(Value value, Place where) {
  value = resolve(value);
  const auto number = [&](std::size_t size) { return heap().integer(static_cast<std::int64_t>(size)); };
  switch (value.kind) {
  case Kind::list: {
    const auto* state = values::Heap::list_state(value);
    if (!state->open) return number(state->items.size());
    if (state->length) return Value::of(state->length);
    break;
  }
  case Kind::tuple: return number(value.as<values::Tuple>()->items.size());
  case Kind::string: {
    const std::string_view text = value.text();
    return number(static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; })));
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(value);
    const bool sure = std::none_of(state->items.begin(), state->items.end(), [](const auto& item) { return item.second.is(Kind::choice); });
    if (!state->open && sure) return number(state->items.size());
    break;
  }
  case Kind::range: {
    const auto* range = value.as<values::Range>();
    const Int span = symbols().sub(range->stop, range->start);
    const auto step_size = symbols().value(range->step);
    if (step_size && *step_size > 0)
      return Value::of(symbols().max(symbols().constant(0), symbols().floordiv(symbols().add(span, symbols().constant(*step_size - 1)), range->step)));
    if (step_size && *step_size < 0)
      return Value::of(symbols().max(symbols().constant(0), symbols().floordiv(symbols().sub(symbols().constant(-*step_size - 1), span), symbols().constant(-*step_size))));
    break;
  }
  case Kind::tensor: {
    const auto* state = value.as<values::Tensor>()->now();
    if (state->shape.rank_known && !state->shape.dims.empty() && state->shape.dims[0].size) return Value::of(state->shape.dims[0].size);
    break;
  }
  case Kind::class_:
    if (value.as<values::Class>()->is_enum) return number(value.as<values::Class>()->members.size());
    break;
  case Kind::instance: {
    auto* object = value.as<values::Instance>();
    if (const Value method = find_method(object, Name("__len__"))) return call(method, {}, where);
    if (const values::Slot* items = object->attributes.find(Name("$items"))) return length_of(items->value, where);
    break;
  }
  case Kind::unknown: {
    auto* unknown = value.as<values::Unknown>();
    if (unknown->state.value) return length_of(unknown->state.value, where);
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
  info.sharing = trips_of(value);
  return Value::of(symbols().fresh(info));
}

// ---------------------------------------------------------------- numbers

Value Interpreter::number_builtin(std::string_view name, const Arguments& arguments, Place where) {
  const auto& positional = arguments.positional;
  const std::size_t count = positional.size();
  const Value first = count > 0 ? positional[0] : Value{};
  const auto mixed = [&] { return mixed_result(positional, where); };
  const auto keyword = [&](std::string_view wanted) -> Value {
    for (const auto& [key, value] : arguments.keywords)
      if (key.text() == wanted) return resolve(value);
    return {};
  };
  if (name == "int") {
    if (count == 0) return heap().integer(0);
    if (first.is(Kind::integer)) return first;
    if (first.is(Kind::real)) {
      if (std::isfinite(first.real()) && std::abs(first.real()) < 9e15) return heap().integer(static_cast<std::int64_t>(first.real()));
      return mixed();
    }
    if (first.is(Kind::string)) {
      const Value given = count > 1 ? positional[1] : keyword("base");
      const auto base = given ? to_constant(given) : std::optional<std::int64_t>(10);
      if (!base) return mixed();
      if (const auto value = read_integer(first.text(), static_cast<int>(*base))) return heap().integer(*value);
      return raise_builtin("ValueError", where);
    }
    if (first.is(Kind::boolean)) {
      if (const Int value = to_int(first)) return Value::of(value);
      return heap().choose(first.condition(), heap().integer(1), heap().integer(0));
    }
    if (const Value plain = plain_member(first); !(plain == first)) return number_builtin(name, {{plain}, {}, false}, where);
    if (first.is(Kind::unknown) && !first.as<values::Unknown>()->state.value && !first.as<values::Unknown>()->is_real) return Value::of(to_int(first));
    if (first.is(Kind::instance))
      if (const Value method = find_method(first.as<values::Instance>(), Name("__int__"))) return call(method, {}, where);
    symbolic::AtomInfo info;
    info.sharing = heap().sharing(first);
    return Value::of(symbols().fresh(info));
  }
  if (name == "float") {
    if (count == 0) return Value::of(0.0);
    if (first.is(Kind::real)) return first;
    if (const auto constant = to_constant(first)) return Value::of(static_cast<double>(*constant));
    if (first.is(Kind::string)) {
      std::string text(first.text());
      std::erase_if(text, [](char c) { return c == ' ' || c == '_'; });
      char* end = nullptr;
      const double value = std::strtod(text.c_str(), &end);
      if (!text.empty() && *end == 0) return Value::of(value);
      return raise_builtin("ValueError", where);
    }
    const Value made = mixed();
    made.as<values::Unknown>()->is_real = true;
    return made;
  }
  if (name == "bool") return count == 0 ? heap().boolean(false) : Value::of(truth(first));
  if (name == "abs" && count == 1) {
    if (const auto constant = to_constant(first)) return heap().integer(std::abs(*constant));
    if (first.is(Kind::real)) return Value::of(std::abs(first.real()));
    if (first.is(Kind::integer)) return Value::of(symbols().max(first.integer(), symbols().negate(first.integer())));
    if (first.is(Kind::instance))
      if (const Value method = find_method(first.as<values::Instance>(), Name("__abs__"))) return call(method, {}, where);
    return first.is(Kind::tensor) ? first : mixed();
  }
  if (name == "round" && count >= 1) {
    const Value digits = count > 1 ? positional[1] : keyword("ndigits");
    if (!digits || digits.is(Kind::none)) {
      if (first.is(Kind::integer)) return first;
      if (first.is(Kind::real) && std::abs(first.real()) < 9e15) return heap().integer(static_cast<std::int64_t>(std::nearbyint(first.real())));
      return mixed();
    }
    const auto places = to_constant(digits);
    if (first.is(Kind::real) && places && *places >= 0 && *places <= 15) {
      // Through text, as Python does: 2.675 has no exact half.
      char buffer[400];
      std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(*places), first.real());
      return Value::of(std::strtod(buffer, nullptr));
    }
    if (first.is(Kind::integer) && places && *places >= 0) return first;
    return mixed();
  }
  if (name == "divmod" && count == 2) {
    const Expr nowhere{ExprKind::none, {}};
    return heap().tuple({binary(BinaryOp::floordiv, first, positional[1], nowhere), binary(BinaryOp::mod, first, positional[1], nowhere)});
  }
  if (name == "pow" && count >= 2) {
    const Expr nowhere{ExprKind::none, {}};
    const Value power = binary(BinaryOp::pow, first, positional[1], nowhere);
    return count == 2 ? power : binary(BinaryOp::mod, power, positional[2], nowhere);
  }
  if ((name == "min" || name == "max") && count >= 1) {
    std::vector<Value> items = positional;
    if (count == 1) {
      const auto known = take(first, where, true);
      if (!known) return mixed();
      if (known->empty()) {
        const Value otherwise = keyword("default");
        return otherwise ? otherwise : raise_builtin("ValueError", where);
      }
      items = *known;
    }
    for (Value& item : items) item = resolve(item);
    const Value key = keyword("key");
    const bool by_key = key && !key.is(Kind::none);
    std::vector<Value> keys = items;
    if (by_key)
      for (Value& one : keys) one = resolve(call(key, {{one}, {}, false}, where));
    // All of them known: the first best one, as it is.
    std::size_t best = 0;
    bool known = true;
    for (std::size_t i = 0; i < items.size() && known; ++i) {
      const auto answer = order(keys[i], keys[best]);
      known = answer.has_value();
      if (known && (name == "min" ? *answer < 0 : *answer > 0)) best = i;
    }
    if (known) return items[best];
    if (by_key) return mixed_result(items, where);
    Int extreme = nullptr;
    for (const Value& item : items) {
      if (!item.is(Kind::integer) && !(item.is(Kind::unknown) && !item.as<values::Unknown>()->is_real)) return mixed_result(items, where);
      const Int value = to_int(item);
      if (!value) return mixed_result(items, where);
      extreme = !extreme ? value : name == "min" ? symbols().min(extreme, value) : symbols().max(extreme, value);
    }
    return Value::of(extreme);
  }
  if (name == "sum" && count >= 1) {
    const auto items = take(first, where, true);
    const Value start = count > 1 ? positional[1] : keyword("start");
    if (!items) return mixed();
    const Expr nowhere{ExprKind::none, {}};
    Value total = start ? start : heap().integer(0);
    for (std::size_t i = 0; i < items->size(); ++i) {
      const Value item = resolve((*items)[i]);
      // 0 + tensor is the tensor: no operation of its own is to be seen.
      if (i == 0 && !start && (item.is(Kind::tensor) || item.is(Kind::instance))) total = item;
      else total = binary(BinaryOp::add, total, item, nowhere);
    }
    return total;
  }
  if ((name == "any" || name == "all") && count == 1) {
    const auto items = take(first, where, true);
    if (!items || items->size() > 256) return mixed();
    Cond result = symbols().boolean(name == "all");
    for (const Value& item : *items) {
      result = name == "all" ? symbols().logical_and(result, truth(item)) : symbols().logical_or(result, truth(item));
      if (symbols().decide(result) == (name == "all" ? symbolic::Answer::no : symbolic::Answer::yes)) break;
    }
    return Value::of(result);
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
  if ((name == "ord" || name == "chr") && count == 1) {
    if (name == "ord" && first.is(Kind::string) && first.text().size() == 1) return heap().integer(static_cast<unsigned char>(first.text()[0]));
    if (const auto code = to_constant(first); name == "chr" && code && *code > 0 && *code < 128) {
      const char letter = static_cast<char>(*code);
      return heap().string(std::string_view(&letter, 1));
    }
    return mixed();
  }
  if ((name == "hex" || name == "bin" || name == "oct") && count == 1) {
    const auto text = to_constant(first) ? formatted(first, name == "hex" ? "#x" : name == "bin" ? "#b" : "#o") : std::nullopt;
    return text ? heap().string(*text) : mixed();
  }
  return {};
}

// ---------------------------------------------------------------- sequences

Value Interpreter::zip_of(const std::vector<Value>& iterables, bool longest, Value fill, Place where) {
  std::vector<std::vector<Value>> columns;
  std::size_t shortest = SIZE_MAX, length = 0;
  bool known = !iterables.empty();
  Sharing trips = Sharing::uniform;
  std::vector<const values::Range*> endless(iterables.size());
  for (std::size_t i = 0; i < iterables.size(); ++i) {
    const Value iterable = resolve(iterables[i]);
    trips = symbolic::mix(trips, trips_of(iterable));
    if (iterable.is(Kind::range)) {
      const auto* range = iterable.as<values::Range>();
      if (symbols().value(range->start) && symbols().value(range->step) && symbols().value(range->stop) && *symbols().value(range->stop) > (std::int64_t{1} << 40)) {
        endless[i] = range;
        columns.emplace_back();
        continue;
      }
    }
    auto items = take(iterable, where);
    known = known && items;
    if (items) {
      shortest = std::min(shortest, items->size());
      length = std::max(length, items->size());
    }
    columns.push_back(items ? std::move(*items) : std::vector<Value>{});
  }
  if (!known || shortest == SIZE_MAX) {
    std::vector<Value> any;
    for (const Value& iterable : iterables) any.push_back(element(iterable, where));
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = trips;
    return heap().open_list(heap().tuple(std::move(any)), symbols().fresh(info), ListKind::iterator);
  }
  std::vector<Value> rows;
  for (std::size_t i = 0; i < (longest ? length : shortest); ++i) {
    std::vector<Value> row;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (const auto* range = endless[k])
        row.push_back(Value::of(symbols().add(range->start, symbols().mul(range->step, symbols().constant(static_cast<std::int64_t>(i))))));
      else row.push_back(i < columns[k].size() ? columns[k][i] : fill);
    }
    rows.push_back(heap().tuple(std::move(row)));
  }
  return heap().list(std::move(rows), ListKind::iterator);
}

Value Interpreter::sequence_builtin(std::string_view name, const Arguments& arguments, Place where) {
  const auto& positional = arguments.positional;
  const std::size_t count = positional.size();
  const Value first = count > 0 ? positional[0] : Value{};
  const auto keyword = [&](std::string_view wanted) -> Value {
    for (const auto& [key, value] : arguments.keywords)
      if (key.text() == wanted) return resolve(value);
    return {};
  };
  if (name == "len" && count == 1) return length_of(first, where);
  if (name == "list" || name == "tuple" || name == "set" || name == "frozenset" || name == "sorted" || name == "reversed" || name == "iter") {
    const bool is_set = name == "set" || name == "frozenset";
    if (arguments.spread) return heap().open_list(heap().external("", where), nullptr, is_set ? ListKind::set : ListKind::list);
    if (count == 0) return name == "tuple" ? heap().tuple({}) : heap().list({}, is_set ? ListKind::set : ListKind::list);
    if (name == "iter") {
      if (first.is(Kind::iterator) || (first.is(Kind::list) && first.as<values::List>()->kind == ListKind::iterator)) return first;
      if (first.is(Kind::instance) && count == 1) {
        auto* object = first.as<values::Instance>();
        if (object->cls)
          if (const Value method = find_method(object, Name("__iter__"))) return call(method, {}, where);
      }
      if (count > 1) return heap().open_list(heap().external("", where), nullptr, ListKind::iterator);
    }
    if (name == "reversed" && first.is(Kind::instance))
      if (const Value method = find_method(first.as<values::Instance>(), Name("__reversed__"))) return call(method, {}, where);
    const ListKind kind = is_set ? ListKind::set : name == "reversed" || name == "iter" ? ListKind::iterator : ListKind::list;
    if (auto items = name == "iter" ? elements(first, where) : take(first, where, is_set || name == "sorted")) {
      if (name == "reversed") std::reverse(items->begin(), items->end());
      if (name == "tuple") return heap().tuple(std::move(*items));
      if (is_set) return make_set(std::move(*items));
      if (name == "sorted") {
        const Value reverse = keyword("reverse");
        const auto descending = reverse ? to_constant(reverse) : std::optional<std::int64_t>(0);
        if (!descending || !sort_values(*items, keyword("key"), *descending != 0, where)) {
          Value any;
          for (const Value& item : *items) any = heap().merge(any, item, Sharing::uniform);
          return heap().open_list(any ? any : heap().external(""), symbols().constant(static_cast<std::int64_t>(items->size())));
        }
      }
      return heap().list(std::move(*items), kind);
    }
    Int length = nullptr;
    if (first.is(Kind::list)) {
      const auto* state = values::Heap::list_state(first);
      length = state->open ? state->length : symbols().constant(static_cast<std::int64_t>(state->items.size()));
    }
    if (first.is(Kind::range)) length = length_of(first, where).integer();
    return heap().open_list(element(first, where), is_set ? nullptr : length, kind);
  }
  if (name == "dict") {
    if (count == 0 && arguments.keywords.empty() && !arguments.spread) return heap().dict({});
    const Value dict = heap().dict({});
    bool known = !arguments.spread;
    if (first) known = dict_update(dict, first, where) && known;
    for (const auto& [key, value] : arguments.keywords) dict_set(dict, heap().string(key.text()), value);
    if (!known) {
      values::DictState state = *values::Heap::dict_state(dict);
      state.open = true;
      state.rest = heap().external("");
      heap().set_dict(dict, std::move(state));
    }
    return dict;
  }
  if (name == "enumerate" && count >= 1) {
    const Value start = count > 1 ? positional[1] : keyword("start");
    const Int from = start ? to_int(start) : symbols().constant(0);
    if (const auto items = take(first, where); items && from) {
      std::vector<Value> pairs;
      for (std::size_t i = 0; i < items->size(); ++i)
        pairs.push_back(heap().tuple({Value::of(symbols().add(from, symbols().constant(static_cast<std::int64_t>(i)))), (*items)[i]}));
      return heap().list(std::move(pairs), ListKind::iterator);
    }
    symbolic::AtomInfo info;
    info.lower = 0;
    info.sharing = Sharing::uniform;
    symbolic::AtomInfo length;
    length.lower = 0;
    length.sharing = trips_of(first);
    return heap().open_list(heap().tuple({Value::of(symbols().fresh(info)), element(first, where)}), symbols().fresh(length), ListKind::iterator);
  }
  if (name == "zip" && arguments.spread) {
    // zip(*pairs) of any number of pairs: as many columns as a pair has parts, each of any length.
    const Value row = positional.empty() ? resolve(arguments.rest) : Value{};
    if (!row.is(Kind::tuple)) return heap().open_list(heap().external("", where), nullptr, ListKind::iterator);
    std::vector<Value> columns;
    for (const Value& part : row.as<values::Tuple>()->items) columns.push_back(heap().open_list(part));
    return heap().list(std::move(columns), ListKind::iterator);
  }
  if (name == "zip") return zip_of(positional, false, {}, where);
  if ((name == "map" || name == "filter") && count >= 2) {
    const std::vector<Value> iterables(positional.begin() + 1, positional.end());
    const Value source = name == "map" && count > 2 ? zip_of(iterables, false, {}, where) : positional[1];
    const bool spread = name == "map" && count > 2;
    const auto apply = [&](Value item) {
      if (!spread) return call(first, {{item}, {}, false}, where);
      const auto parts = elements(item, where);
      return call(first, parts ? Arguments{*parts, {}, false} : Arguments{{}, {}, true}, where);
    };
    if (const auto items = take(source, where); items && items->size() <= most_items) {
      std::vector<Value> results;
      bool certain = true;
      for (const Value& item : *items) {
        if (name == "map") {
          results.push_back(apply(item));
          if (killed_) break;
          continue;
        }
        const auto answer = symbols().decide(truth(first.is(Kind::none) ? item : apply(item)));
        certain = certain && answer != symbolic::Answer::unknown;
        if (answer != symbolic::Answer::no) results.push_back(item);
      }
      if (certain) return heap().list(std::move(results), ListKind::iterator);
      Value any;
      for (const Value& item : results) any = heap().merge(any, item, Sharing::uniform);
      return heap().open_list(any ? any : heap().external(""), nullptr, ListKind::iterator);
    }
    const Value item = element(source, where);
    return heap().open_list(name == "map" ? apply(item) : item, nullptr, ListKind::iterator);
  }
  if (name == "next" && count >= 1) return next_of(first, count > 1 ? positional[1] : Value{}, where);
  if (name == "slice" && count >= 1) {
    auto* slice = heap().make<values::SliceObject>();
    slice->lower = count > 1 ? first : Value::none();
    slice->upper = count > 1 ? positional[1] : first;
    slice->step = count > 2 ? positional[2] : Value::none();
    return Value::of(Kind::slice, slice);
  }
  return {};
}

// ---------------------------------------------------------------- objects

Value Interpreter::object_builtin(std::string_view name, const Arguments& arguments, Place where) {
  const auto& positional = arguments.positional;
  const std::size_t count = positional.size();
  const Value first = count > 0 ? positional[0] : Value{};
  if (name == "isinstance" && count == 2) {
    const auto answer = is_instance(first, positional[1]);
    if (answer != symbolic::Answer::unknown) return heap().boolean(answer == symbolic::Answer::yes);
    return Value::of(symbols().opaque("isinstance", heap().is_external(first) ? Sharing::local : heap().sharing(first)));
  }
  if (name == "issubclass" && count == 2) {
    const auto answer = is_subclass(first, positional[1]);
    if (answer != symbolic::Answer::unknown) return heap().boolean(answer == symbolic::Answer::yes);
    return Value::of(symbols().opaque("issubclass", Sharing::uniform));
  }
  if (name == "type" && count == 1) return type_of(first, where);
  if (name == "type" && count == 3) {
    // type(name, bases, dict): a class like any other.
    auto* cls = heap().make<values::Class>();
    cls->name = Name(first.is(Kind::string) ? first.text() : std::string_view("type"));
    cls->chunk = chunk_;
    cls->born = where;
    cls->globals = frame_->scope->globals;
    cls->body = heap().make<values::Scope>();
    cls->body->globals = cls->globals;
    cls->body->is_class = true;
    const auto bases = elements(positional[1], where);
    std::vector<values::Class*> parents;
    add_bases(*cls, bases ? *bases : std::vector<Value>{heap().external("")}, parents);
    const Value members = positional[2];
    if (members.is(Kind::dict))
      for (const auto& [key, value] : values::Heap::dict_state(members)->items)
        if (key.is(Kind::string)) heap().set(heap().slot_of(cls->body->names, Name(key.text())), value);
    if (!members.is(Kind::dict) || values::Heap::dict_state(members)->open) cls->open = true;
    return Value::of(Kind::class_, cls);
  }
  if (name == "getattr" && count >= 2) {
    if (!positional[1].is(Kind::string)) {
      if (positional[1].is(Kind::choice))
        return over_choices(positional[1], [&](Value side) {
          Arguments one = arguments;
          one.positional[1] = side;
          return object_builtin(name, one, where);
        });
      return heap().unknown("", heap().sharing(first), where);
    }
    const Name wanted(positional[1].text());
    if (count == 3)
      switch (has_attribute(first, wanted)) {
      case symbolic::Answer::no: return positional[2];
      case symbolic::Answer::yes: break;
      case symbolic::Answer::unknown:
        if (first.is(Kind::library) || first.is(Kind::class_)) return heap().external(wanted.text(), where);
        break;
      }
    return attribute(first, wanted, where);
  }
  if (name == "setattr" && count == 3) {
    if (positional[1].is(Kind::string)) set_attribute(first, Name(positional[1].text()), positional[2]);
    else if (first.is(Kind::instance)) first.as<values::Instance>()->open = true;
    return Value::none();
  }
  if (name == "delattr" && count == 2) {
    if (positional[1].is(Kind::string)) delete_attribute(first, Name(positional[1].text()));
    return Value::none();
  }
  if (name == "hasattr" && count == 2) {
    const auto answer = positional[1].is(Kind::string) ? has_attribute(first, Name(positional[1].text())) : symbolic::Answer::unknown;
    if (answer != symbolic::Answer::unknown) return heap().boolean(answer == symbolic::Answer::yes);
    return Value::of(named_condition("hasattr:" + (positional[1].is(Kind::string) ? std::string(positional[1].text()) : std::string()),
                                     heap().is_external(first) ? Sharing::local : Sharing::uniform));
  }
  if (name == "callable" && count == 1) {
    switch (first.kind) {
    case Kind::function: case Kind::bound: case Kind::partial: case Kind::class_: return heap().boolean(true);
    case Kind::instance:
      if (find_method(first.as<values::Instance>(), Name("__call__"))) return heap().boolean(true);
      if (first.as<values::Instance>()->open) break;
      return heap().boolean(false);
    case Kind::library:
      if (const Row* row = first.as<values::LibrarySymbol>()->row; row && row->kind != values::RowKind::constant) return heap().boolean(true);
      if (first.as<values::LibrarySymbol>()->path.starts_with("builtins.")) return heap().boolean(true);
      break;
    case Kind::unknown: case Kind::choice: break;
    default: return heap().boolean(false);
    }
    return Value::of(symbols().opaque("callable", heap().sharing(first)));
  }
  if (name == "vars" && count == 1) return attribute(first, Name("__dict__"), where);
  if ((name == "locals" || name == "globals" || name == "vars") && count == 0) {
    std::vector<std::pair<Value, Value>> items;
    const values::Scope* scope = name == "globals" ? frame_->scope->globals : frame_->scope;
    if (scope)
      for (const auto& [key, slot] : scope->names.entries())
        if (slot->value) items.push_back({heap().string(key.text()), slot->value});
    return heap().dict(std::move(items), true, heap().external(""));
  }
  if ((name == "str" || name == "repr" || name == "ascii") && count >= 1) {
    if (name == "str" && first.is(Kind::string)) return first;
    if (const auto text = text_of(first, name != "str")) return heap().string(*text);
    return mixed_result(positional, where);
  }
  if (name == "str") return heap().string("");
  if (name == "format" && count >= 1) {
    const Value pattern = count > 1 ? positional[1] : heap().string("");
    if (const auto text = pattern.is(Kind::string) ? formatted(first, pattern.text()) : std::nullopt) return heap().string(*text);
    return mixed_result(positional, where);
  }
  if (name == "property") {
    const auto keyword = [&](std::string_view wanted) -> Value {
      for (const auto& [key, value] : arguments.keywords)
        if (key.text() == wanted) return resolve(value);
      return {};
    };
    const Value getter = count > 0 ? first : keyword("fget");
    const Value setter = count > 1 ? positional[1] : keyword("fset");
    if (!getter.is(Kind::function)) return heap().external("", where);
    auto* made = heap().make<values::Function>();
    *made = *getter.as<values::Function>();
    made->is_property = true;
    if (setter && setter.is(Kind::function)) made->setter = setter.as<values::Function>();
    return Value::of(Kind::function, made);
  }
  if ((name == "staticmethod" || name == "classmethod") && first.is(Kind::function)) {
    auto* made = heap().make<values::Function>();
    *made = *first.as<values::Function>();
    (name == "staticmethod" ? made->is_static : made->is_class_method) = true;
    return Value::of(Kind::function, made);
  }
  if (name == "object.__setattr__" && count == 3) {
    if (first.is(Kind::instance) && positional[1].is(Kind::string))
      heap().set(heap().slot_of(first.as<values::Instance>()->attributes, Name(positional[1].text())), positional[2]);
    return Value::none();
  }
  if (name == "object.__getattribute__" && count == 2 && positional[1].is(Kind::string)) return attribute(first, Name(positional[1].text()), where);
  if ((name == "object.__new__" || name == "object") && (count == 0 || first.is(Kind::class_))) {
    auto* object = heap().make<values::Instance>();
    object->born = where;
    if (first.is(Kind::class_)) {
      object->cls = first.as<values::Class>();
      object->open = object->cls->open;
    }
    return Value::of(Kind::instance, object);
  }
  if (name == "object.__init__" || name == "object.__init_subclass__") return Value::none();
  if (name == "exit" || name == "quit") {
    exit_process();
    return Value::none();
  }
  if (name == "print") return Value::none();
  if (name == "id" || name == "hash") return heap().unknown("", Sharing::local, where);
  if (name == "open") return heap().unknown("", Sharing::local, where);
  return {};
}

Value Interpreter::call_builtin(std::string_view name, Arguments& arguments, Place where, const CallExpr* expr) {
  // `zip(*rows)` of rows that are not known: any number of arguments.
  constexpr std::string_view take_any[] = {"dict", "list", "tuple", "set", "frozenset", "print", "zip"};
  if (arguments.spread && std::find(std::begin(take_any), std::end(take_any), name) == std::end(take_any)) {
    for (const Value& argument : arguments.positional) escape(argument);
    return heap().external("", where);
  }
  auto& positional = arguments.positional;
  for (Value& argument : positional) argument = resolve(argument);
  if (!positional.empty() && positional[0].is(Kind::choice) && is_plain_function(name))
    return over_choices(
        positional[0],
        [&](Value side) {
          Arguments one = arguments;
          one.positional[0] = side;
          return call_builtin(name, one, where, expr);
        },
        where);
  if (const Value made = number_builtin(name, arguments, where)) return made;
  if (const Value made = sequence_builtin(name, arguments, where)) return made;
  if (const Value made = object_builtin(name, arguments, where)) return made;
  // A method of a built-in class, called on the class: str.lower(text), dict.fromkeys(names).
  const auto dot = name.find('.');
  if (dot != std::string_view::npos) {
    const std::string_view type = name.substr(0, dot), method = name.substr(dot + 1);
    if (type == "dict" && method == "fromkeys" && !positional.empty()) {
      const auto keys = take(positional[0], where);
      const Value dict = heap().dict({}, !keys, keys ? Value{} : heap().external(""));
      if (keys)
        for (const Value& key : *keys) dict_set(dict, key, positional.size() > 1 ? positional[1] : Value::none());
      return dict;
    }
    if (!positional.empty()) {
      Arguments rest = arguments;
      const Value self = rest.positional.front();
      rest.positional.erase(rest.positional.begin());
      return call_method(self, method, rest, where);
    }
  }
  if (dot == std::string_view::npos && !name.empty() && std::isupper(static_cast<unsigned char>(name[0])))  {
    // An exception: an object of a class that Python has.
    auto* object = heap().make<values::Instance>();
    object->native = library_symbol("builtins." + std::string(name)).as<values::LibrarySymbol>();
    object->born = where;
    heap().set(heap().slot_of(object->attributes, Name("args")), heap().tuple(positional));
    return Value::of(Kind::instance, object);
  }
  return mixed_result(positional, where);
}

// ---------------------------------------------------------------- methods of Python's own types

Value Interpreter::value_attribute(Value object, Name name, Place where) {
  if (name.text() == "__class__" && !object.is(Kind::tensor)) return type_of(object, where);
  const auto bound = [&](Value function) {
    auto* made = heap().make<values::Bound>();
    made->self = object;
    made->function = function;
    return Value::of(Kind::bound, made);
  };
  switch (object.kind) {
  case Kind::tensor:
    if (const Row* row = library_.find(std::string(library_.types().tensor) + "." + std::string(name.text()))) {
      if (row->kind == values::RowKind::property || row->kind == values::RowKind::constant)
        return call_library(*library_symbol(row->path).as<values::LibrarySymbol>(), object, {}, where, nullptr);
      return bound(library_symbol(row->path));
    }
    if (name.text() == "__class__") return type_of(object, where);
    return heap().unknown("", heap().sharing(object), where);
  case Kind::tuple:
    for (std::size_t i = 0; i < object.as<values::Tuple>()->fields.size() && i < object.as<values::Tuple>()->items.size(); ++i)
      if (object.as<values::Tuple>()->fields[i] == name.text()) return resolve(object.as<values::Tuple>()->items[i]);
    if (const auto* tuple = object.as<values::Tuple>(); tuple->cls) {
      for (std::size_t i = 0; i < tuple->cls->fields.size() && i < tuple->items.size(); ++i)
        if (tuple->cls->fields[i].name == name) return resolve(tuple->items[i]);
      if (const Value found = find_in_order(tuple->cls->order, name)) return bind_method(found, object, const_cast<values::Class*>(tuple->cls), where);
    }
    return bound(heap().string(name.text()));
  case Kind::list:
    if (name.text() == "maxlen" && object.as<values::List>()->kind == ListKind::deque)
      return object.as<values::List>()->most ? Value::of(object.as<values::List>()->most) : Value::none();
    return bound(heap().string(name.text()));
  case Kind::dict:
  case Kind::string:
  case Kind::iterator: return bound(heap().string(name.text()));
  case Kind::integer:
  case Kind::real:
  case Kind::boolean:
    if (name.text() == "real") return object;
    if (name.text() == "imag") return heap().integer(0);
    return bound(heap().string(name.text()));
  case Kind::slice: {
    const auto* slice = object.as<values::SliceObject>();
    if (name.text() == "start") return slice->lower;
    if (name.text() == "stop") return slice->upper;
    if (name.text() == "step") return slice->step;
    return heap().external("", where);
  }
  case Kind::range: {
    const auto* range = object.as<values::Range>();
    if (name.text() == "start") return Value::of(range->start);
    if (name.text() == "stop") return Value::of(range->stop);
    if (name.text() == "step") return Value::of(range->step);
    return bound(heap().string(name.text()));
  }
  case Kind::device:
    if (name.text() == "type") {
      const auto text = object.as<values::Device>()->text;
      return heap().string(text.substr(0, text.find(':')));
    }
    return heap().unknown("", Sharing::uniform, where);
  case Kind::dtype:
    if (name.text() == "is_floating_point" && object.dtype() != values::Dtype::unknown) return heap().boolean(values::is_floating(object.dtype()));
    return heap().external("", where);
  default: return heap().external("", where);
  }
}

Value Interpreter::call_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  for (Value& argument : arguments.positional) argument = resolve(argument);
  const Value first = arguments.positional.empty() ? Value{} : arguments.positional[0];
  const Expr nowhere{ExprKind::none, {}};
  if (name == "__getitem__" && first) return subscript(self, first, nowhere);
  if (name == "__len__") return length_of(self, where);
  if (name == "__contains__" && first) return compare(CompareOp::in, first, self);
  if (name == "__iter__") return sequence_builtin("iter", {{self}, {}, false}, where);
  if (name == "__next__") return next_of(self, {}, where);
  switch (self.kind) {
  case Kind::list: return list_method(self, name, arguments, where);
  case Kind::dict: return dict_method(self, name, arguments, where);
  case Kind::string: return string_method(self, name, arguments, where);
  case Kind::range:
  case Kind::tuple:
    if (name == "index" || name == "count") return sequence_method(self, name, arguments, where);
    if (self.is(Kind::tuple) && self.as<values::Tuple>()->cls) return named_tuple_method(self, name, arguments, where);
    return heap().external("", where);
  case Kind::function: {
    // @name.setter and its like give the property back with another part.
    const auto* property = self.as<values::Function>();
    if (!property->is_property) return heap().external("", where);
    auto* made = heap().make<values::Function>();
    *made = *property;
    if (name == "setter" && first && first.is(Kind::function)) made->setter = first.as<values::Function>();
    return Value::of(Kind::function, made);
  }
  case Kind::integer:
    if (name == "bit_length")
      if (const auto constant = to_constant(self)) {
        std::int64_t bits = 0;
        for (auto rest = static_cast<std::uint64_t>(std::abs(*constant)); rest; rest >>= 1) ++bits;
        return heap().integer(bits);
      }
    return heap().unknown("", heap().sharing(self), where);
  case Kind::real:
    if (name == "is_integer") return heap().boolean(self.real() == std::floor(self.real()));
    return heap().unknown("", Sharing::uniform, where);
  default: return heap().external("", where);
  }
}

} // namespace stepzero::interpreter
