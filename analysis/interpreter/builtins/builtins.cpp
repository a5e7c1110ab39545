// Python's own functions: which there are, and the methods of its own types.
#include "interpreter/builtins/builtin_call.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/unseen.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/records.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;
using values::ListKind;

namespace {

constexpr std::string_view builtin_list[] = {"abs", "all", "any", "ascii", "bin", "bool", "bytearray",
    "bytes", "callable", "chr", "classmethod", "complex", "delattr", "dict", "dir", "divmod", "enumerate",
    "eval", "exec", "exit", "filter", "float", "format", "frozenset", "getattr", "globals", "hasattr", "hash",
    "hex", "id", "input", "int", "isinstance", "issubclass", "iter", "len", "list", "locals", "map", "max",
    "memoryview", "min", "next", "object", "oct", "open", "ord", "pow", "print", "property", "quit", "range",
    "repr", "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod", "str", "sum", "super",
    "tuple", "type", "vars", "zip", "__import__", "Exception", "BaseException", "RuntimeError", "ValueError",
    "TypeError", "KeyError", "IndexError", "AssertionError", "ImportError", "NotImplementedError",
    "AttributeError", "StopIteration", "KeyboardInterrupt", "OSError", "FileNotFoundError", "MemoryError",
    "SystemExit", "ModuleNotFoundError", "Warning", "UserWarning", "DeprecationWarning", "FutureWarning",
    "RuntimeWarning", "ZeroDivisionError", "TimeoutError", "ConnectionError", "NotImplemented",
    "PermissionError", "OverflowError", "LookupError", "ArithmeticError", "EOFError", "NameError",
    "UnicodeDecodeError", "UnicodeError", "RecursionError", "FloatingPointError", "IOError",
    "EnvironmentError", "FileExistsError", "BrokenPipeError", "GeneratorExit", "StopAsyncIteration",
    "BufferError"};
const std::unordered_set<std::string_view>& builtin_names() {
  static const std::unordered_set<std::string_view> names(std::begin(builtin_list), std::end(builtin_list));
  return names;
}

// Functions whose result depends on nothing but their arguments: asked of each side of a choice.
bool is_plain_function(std::string_view name) {
  constexpr std::string_view names[] = {"len", "int", "float", "bool", "str", "repr", "abs", "round", "list",
      "tuple", "set", "sorted", "isinstance", "type", "sum", "range", "iter", "enumerate", "reversed",
      "callable", "divmod", "hasattr", "dict", "issubclass", "any", "all", "frozenset", "min", "max", "pow",
      "hash", "ord", "chr", "getattr", "format"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

Value Builtins::builtin(Name name) {
  if (!builtin_names().contains(name.text())) return {};
  return run_.library_symbol("builtins." + std::string(name.text()));
}

Value Interpreter::raise_builtin(std::string_view name, Place where) {
  // Only where somebody may catch it is the failure played out; elsewhere the value is unknown, not the rest
  // of the path.
  if (catching_ > 0) {
    raised_ = library_symbol("builtins." + std::string(name));
    killed_ = true;
  }
  return heap().unseen("", where);
}

// In the runs of ranks sizes without a name of their own are known by where they come from.
std::string Iterables::length_name(Place born) const {
  if (!run_.limits_.as_rank || !born) return {};
  const std::string_view text = record_.text(born);
  return values::is_quotable(text) ? "len(" + std::string(text) + ")" : std::string();
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
    return number(static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; })));
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(value);
    const bool sure = std::none_of(state->items.begin(), state->items.end(),
        [](const auto& item) { return item.second.is(Kind::choice); });
    if (!state->open && sure) return number(state->items.size());
    break;
  }
  case Kind::range: {
    const auto* range = value.as<values::Range>();
    const Int span = symbols().sub(range->stop, range->start);
    const auto step_size = symbols().value(range->step);
    if (step_size && *step_size > 0)
      return Value::of(symbols().max(symbols().constant(0),
          symbols().floordiv(symbols().add(span, symbols().constant(*step_size - 1)), range->step)));
    if (step_size && *step_size < 0)
      return Value::of(symbols().max(symbols().constant(0),
          symbols().floordiv(
              symbols().sub(symbols().constant(-*step_size - 1), span), symbols().constant(-*step_size))));
    break;
  }
  case Kind::tensor: {
    const auto* state = value.as<values::Tensor>()->now();
    if (state->shape.ndim_known && !state->shape.dims.empty() && state->shape.dims[0].size)
      return Value::of(state->shape.dims[0].size);
    break;
  }
  case Kind::class_:
    if (value.as<values::Class>()->is_enum) return number(value.as<values::Class>()->members.size());
    break;
  case Kind::instance: {
    auto* object = value.as<values::Instance>();
    if (const Value method = find_method(object, Name("__len__"))) return call(method, {}, where);
    if (const values::Slot* items = object->attributes.find(Name(values::ContainerState::items)))
      return length_of(items->value, where);
    break;
  }
  case Kind::unknown: {
    auto* unknown = value.as<values::Unknown>();
    if (unknown->state.value) return length_of(unknown->state.value, where);
    const Name key(values::UnknownState::len);
    if (const values::Slot* slot = unknown->attributes.find(key); slot && slot->value) return slot->value;
    symbolic::AtomInfo info;
    info.name = unknown->name.empty() ? iterables_->length_name(unknown->born)
                                      : "len(" + std::string(unknown->name) + ")";
    info.lower = 0;
    info.sharing = sharing_of_length(*unknown);
    const Value length = Value::of(symbols().fresh(info));
    heap().slot_of(unknown->attributes, key).value = length;
    return length;
  }
  default: break;
  }
  symbolic::AtomInfo info;
  if (value.is(Kind::list)) info.name = iterables_->length_name(value.object()->born);
  info.lower = 0;
  info.sharing = iterables_->trips_of(value);
  return Value::of(symbols().fresh(info));
}

Value Builtins::call_builtin(std::string_view name, Arguments& arguments, Place where) {
  // `zip(*rows)` of rows that are not known: any number of arguments.
  constexpr std::string_view take_any[] = {"dict", "list", "tuple", "set", "frozenset", "print", "zip"};
  if (arguments.spread && std::find(std::begin(take_any), std::end(take_any), name) == std::end(take_any)) {
    for (const Value& argument : arguments.positional) run_.unseen_->escape(argument);
    return heap().unseen("", where);
  }
  auto& positional = arguments.positional;
  for (Value& argument : positional) argument = run_.resolve(argument);
  if (!positional.empty() && positional[0].is(Kind::choice) && is_plain_function(name))
    return run_.over_choices(
        positional[0],
        [&](Value side) {
          Arguments one = arguments;
          one.positional[0] = side;
          return call_builtin(name, one, where);
        },
        where);
  const BuiltinCall builtin_call{run_, name, {}, arguments, where};
  for (const BuiltinTable* table : {&number_functions(), &sequence_functions(), &object_functions()})
    if (const Value made = table->run(builtin_call)) return made;
  // A method of a built-in class, called on the class: str.lower(text), dict.fromkeys(names).
  const auto dot = name.find('.');
  if (dot != std::string_view::npos) {
    const std::string_view type = name.substr(0, dot), method = name.substr(dot + 1);
    if (type == "dict" && method == "fromkeys" && !positional.empty()) {
      const auto keys = run_.take(positional[0], where);
      const Value dict = heap().dict({}, !keys, keys ? Value{} : heap().unseen(""));
      if (keys)
        for (const Value& key : *keys)
          run_.dict_set(dict, key, positional.size() > 1 ? positional[1] : Value::none());
      return dict;
    }
    if (!positional.empty()) {
      Arguments rest = arguments;
      const Value self = rest.positional.front();
      rest.positional.erase(rest.positional.begin());
      return call_method(self, method, rest, where);
    }
  }
  if (dot == std::string_view::npos && !name.empty() && std::isupper(static_cast<unsigned char>(name[0]))) {
    // An exception: an object of a class that Python has.
    auto* object = heap().make<values::Instance>();
    object->native = run_.library_symbol("builtins." + std::string(name)).as<values::LibrarySymbol>();
    object->born = where;
    heap().set(heap().slot_of(object->attributes, Name("args")), heap().tuple(positional));
    return Value::of(Kind::instance, object);
  }
  return heap().unknown_from(positional, where);
}

// ---------------------------------------------------------------- methods of Python's own types

Value Builtins::value_attribute(Value object, Name name, Place where) {
  if (name.text() == "__class__" && !object.is(Kind::tensor)) return run_.type_of(object, where);
  const auto bound = [&](Value function) {
    auto* made = heap().make<values::Bound>();
    made->self = object;
    made->function = function;
    return Value::of(Kind::bound, made);
  };
  switch (object.kind) {
  case Kind::tensor:
    if (const Row* row = run_.library_.find(
            std::string(run_.library_.types().tensor) + "." + std::string(name.text()))) {
      if (row->kind == values::RowKind::property || row->kind == values::RowKind::constant)
        return run_.library_calls_->call_library(
            *run_.library_symbol(row->path).as<values::LibrarySymbol>(), object, {}, where, nullptr);
      return bound(run_.library_symbol(row->path));
    }
    if (name.text() == "__class__") return run_.type_of(object, where);
    return heap().unknown("", heap().sharing(object), where);
  case Kind::tuple:
    for (std::size_t i = 0;
        i < object.as<values::Tuple>()->fields.size() && i < object.as<values::Tuple>()->items.size(); ++i)
      if (object.as<values::Tuple>()->fields[i] == name.text())
        return run_.resolve(object.as<values::Tuple>()->items[i]);
    if (const auto* tuple = object.as<values::Tuple>(); tuple->cls) {
      for (std::size_t i = 0; i < tuple->cls->fields.size() && i < tuple->items.size(); ++i)
        if (tuple->cls->fields[i].name == name) return run_.resolve(tuple->items[i]);
      if (const Value found = run_.find_in_order(tuple->cls->order, name))
        return run_.object_model_->bind_method(found, object, const_cast<values::Class*>(tuple->cls), where);
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
    return heap().unseen("", where);
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
    if (name.text() == "is_floating_point" && object.dtype() != values::Dtype::unknown)
      return heap().boolean(values::is_floating(object.dtype()));
    return heap().unseen("", where);
  default: return heap().unseen("", where);
  }
}

Value Builtins::call_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  for (Value& argument : arguments.positional) argument = run_.resolve(argument);
  const Value first = arguments.positional.empty() ? Value{} : arguments.positional[0];
  const Expr nowhere{ExprKind::none, {}};
  if (name == "__getitem__" && first) return run_.subscript(self, first, nowhere);
  if (name == "__len__") return run_.length_of(self, where);
  if (name == "__contains__" && first) return run_.compare(CompareOp::in, first, self);
  if (name == "__iter__") return BuiltinCall{run_, name, {}, arguments, where}.as("iter", {self});
  if (name == "__next__") return run_.next_of(self, {}, where);
  switch (self.kind) {
  case Kind::list: return list_method(self, name, arguments, where);
  case Kind::dict: return dict_method(self, name, arguments, where);
  case Kind::string: return string_method(self, name, arguments, where);
  case Kind::range:
  case Kind::tuple:
    if (name == "index" || name == "count") return sequence_method(self, name, arguments, where);
    if (self.is(Kind::tuple) && self.as<values::Tuple>()->cls)
      return run_.records_->named_tuple_method(self, name, arguments, where);
    return heap().unseen("", where);
  case Kind::function: {
    // @name.setter and its like give the property back with another part.
    const auto* property = self.as<values::Function>();
    if (!property->is_property) return heap().unseen("", where);
    auto* made = heap().make<values::Function>();
    *made = *property;
    if (name == "setter" && first && first.is(Kind::function)) made->setter = first.as<values::Function>();
    return Value::of(Kind::function, made);
  }
  case Kind::integer:
    if (name == "bit_length")
      if (const auto constant = run_.to_constant(self)) {
        std::int64_t bits = 0;
        for (auto rest = static_cast<std::uint64_t>(std::abs(*constant)); rest; rest >>= 1) ++bits;
        return heap().integer(bits);
      }
    return heap().unknown("", heap().sharing(self), where);
  case Kind::real:
    if (name == "is_integer") return heap().boolean(self.real() == std::floor(self.real()));
    return heap().unknown("", Sharing::uniform, where);
  default: return heap().unseen("", where);
  }
}

bool Builtins::is_known_there(Value object, Value name) const {
  return asked_.when && asked_.object == object && asked_.name == name &&
      symbols().decide(asked_.when) == symbolic::Answer::yes;
}

}  // namespace stepzero::interpreter
