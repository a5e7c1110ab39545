// Types of values: type(), isinstance, issubclass, hasattr, the classes that a class derives from.
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/presumed.hpp"
#include "interpreter/statements/from_file.hpp"
#include "values/numbers.hpp"

#include <algorithm>
#include <utility>
#include <array>

namespace stepzero::interpreter {

using namespace syntax;
using symbolic::Answer;
using values::Kind;
using values::ListKind;

namespace {

struct Derived {
  std::string_view name, base;
};
// Python's exceptions, each with the one that it derives from.
constexpr std::array exceptions = {
    Derived{"Exception", "BaseException"}, Derived{"KeyboardInterrupt", "BaseException"}, Derived{"SystemExit", "BaseException"},
    Derived{"GeneratorExit", "BaseException"}, Derived{"ArithmeticError", "Exception"}, Derived{"ZeroDivisionError", "ArithmeticError"},
    Derived{"OverflowError", "ArithmeticError"}, Derived{"FloatingPointError", "ArithmeticError"}, Derived{"LookupError", "Exception"},
    Derived{"KeyError", "LookupError"}, Derived{"IndexError", "LookupError"}, Derived{"ValueError", "Exception"},
    Derived{"UnicodeError", "ValueError"}, Derived{"UnicodeDecodeError", "UnicodeError"}, Derived{"TypeError", "Exception"},
    Derived{"AttributeError", "Exception"}, Derived{"NameError", "Exception"}, Derived{"AssertionError", "Exception"},
    Derived{"ImportError", "Exception"}, Derived{"ModuleNotFoundError", "ImportError"}, Derived{"RuntimeError", "Exception"},
    Derived{"NotImplementedError", "RuntimeError"}, Derived{"RecursionError", "RuntimeError"}, Derived{"StopIteration", "Exception"},
    Derived{"StopAsyncIteration", "Exception"}, Derived{"OSError", "Exception"}, Derived{"FileNotFoundError", "OSError"},
    Derived{"FileExistsError", "OSError"}, Derived{"PermissionError", "OSError"}, Derived{"TimeoutError", "OSError"},
    Derived{"ConnectionError", "OSError"}, Derived{"BrokenPipeError", "ConnectionError"}, Derived{"MemoryError", "Exception"},
    Derived{"EOFError", "Exception"}, Derived{"BufferError", "Exception"}, Derived{"Warning", "Exception"}, Derived{"UserWarning", "Warning"},
    Derived{"DeprecationWarning", "Warning"}, Derived{"FutureWarning", "Warning"}, Derived{"RuntimeWarning", "Warning"},
};
std::string_view base_of(std::string_view exception) {
  for (const Derived& known : exceptions)
    if (known.name == exception) return known.base;
  return {};
}
bool is_exception(std::string_view name) { return name == "BaseException" || !base_of(name).empty(); }

// A class of a library of which nothing is known: is it one that a known class derives from? Private ones are left out of what is known
// (`_BatchNorm`), and a class may be written in another module than the one that it is known by.
bool may_be_a_base(const values::LibrarySymbol& type, const Row* of) {
  if (type.row) return false;
  const auto last = [](std::string_view path) { return path.substr(path.rfind('.') + 1); };
  const std::string_view name = last(type.path);
  if (name.starts_with('_')) return true;
  constexpr int most_bases = 8;  // a cycle in the table ends here
  for (int i = 0; i < most_bases && of; ++i, of = of->base_row)
    if (last(of->path) == name) return true;
  return false;
}

// What the abstract classes of typing, collections.abc and numbers accept of Python's own kinds.
std::optional<bool> is_abstractly(Kind kind, ListKind list, std::string_view type) {
  const auto dot = type.rfind('.');
  const std::string_view module = type.substr(0, dot), name = type.substr(dot + 1);
  if (module == "numbers") {
    const bool whole = kind == Kind::integer || kind == Kind::boolean;
    if (name == "Number" || name == "Real" || name == "Complex") return whole || kind == Kind::real;
    if (name == "Integral" || name == "Rational") return whole;
    return std::nullopt;
  }
  if (module != "typing" && module != "collections.abc" && module != "collections") return std::nullopt;
  const bool sequence = kind == Kind::tuple || kind == Kind::string || kind == Kind::range || (kind == Kind::list && (list == ListKind::list || list == ListKind::tuple));
  const bool iterates = sequence || kind == Kind::tensor || kind == Kind::list || kind == Kind::dict || kind == Kind::iterator;
  if (name == "Iterable") return iterates;
  if (name == "Sequence") return sequence || (kind == Kind::list && list == ListKind::deque);
  if (name == "Mapping" || name == "MutableMapping" || name == "Dict") return kind == Kind::dict;
  if (name == "List" || name == "MutableSequence") return kind == Kind::list && list == ListKind::list;
  if (name == "Tuple") return kind == Kind::tuple || (kind == Kind::list && list == ListKind::tuple);
  if (name == "Callable")
    return kind == Kind::function || kind == Kind::bound || kind == Kind::partial || kind == Kind::class_;
  if (name == "Sized" || name == "Collection" || name == "Container") return iterates && kind != Kind::iterator && !(kind == Kind::list && list == ListKind::iterator);
  if (name == "Iterator" || name == "Generator") return kind == Kind::iterator || (kind == Kind::list && list == ListKind::iterator);
  if (name == "deque") return kind == Kind::list && list == ListKind::deque;
  return std::nullopt;
}

} // namespace

Value Interpreter::type_of(Value value, Place where) {
  value = resolve(value);
  const auto builtin_type = [&](std::string_view name) { return library_symbol("builtins." + std::string(name)); };
  switch (value.kind) {
  case Kind::integer: return builtin_type("int");
  case Kind::real: return builtin_type("float");
  case Kind::boolean: return builtin_type("bool");
  case Kind::string: return builtin_type("str");
  case Kind::tuple:
    if (const auto* cls = value.as<values::Tuple>()->cls) return Value::of(Kind::class_, cls);
    return builtin_type("tuple");
  case Kind::list:
    switch (value.as<values::List>()->kind) {
    case ListKind::list: return builtin_type("list");
    case ListKind::tuple: return builtin_type("tuple");
    case ListKind::set: return builtin_type("set");
    case ListKind::deque: return library_symbol("collections.deque");
    case ListKind::iterator: return heap().external("", where);
    }
    return heap().external("", where);
  case Kind::dict:
    if (const auto& dict = *value.as<values::Dict>(); dict.factory && !file_of(dict)) return library_symbol("collections.defaultdict");
    return builtin_type("dict");
  case Kind::none: return library_symbol("types.NoneType");
  case Kind::tensor: return library_symbol(library_.types().tensor);
  case Kind::instance: {
    const auto* object = value.as<values::Instance>();
    if (is_presumed(value)) return heap().external("", where);
    if (object->cls) return Value::of(Kind::class_, object->cls);
    if (object->native) return library_symbol(object->native->path);
    return heap().external("", where);
  }
  case Kind::class_: return builtin_type("type");
  case Kind::function: return library_symbol("types.FunctionType");
  case Kind::bound: return library_symbol("types.MethodType");
  case Kind::partial: return library_symbol("functools.partial");
  case Kind::module: return library_symbol("types.ModuleType");
  case Kind::unknown:
    if (values::is_number(value)) return heap().choose(symbols().opaque("", values::Sharing::uniform), builtin_type("float"), builtin_type("int"));
    return heap().external("", where);
  default: return heap().external("", where);
  }
}

// Is a number of which nothing else is known of the named type?
static Answer is_number_of(std::string_view path) {
  constexpr std::string_view no_numbers[] = {"list", "tuple", "dict", "set", "frozenset", "str", "bytes", "range", "slice", "type"};
  if (path.starts_with("builtins.") && std::find(std::begin(no_numbers), std::end(no_numbers), path.substr(9)) != std::end(no_numbers)) return Answer::no;
  if (is_abstractly(Kind::real, ListKind::list, path) == false && !path.starts_with("numbers.")) return Answer::no;
  return Answer::unknown;
}

// Is what can be called of the named kind of things that can be called? Nothing if the path names none of them.
static std::optional<bool> is_kind_of_callable(Kind kind, std::string_view path) {
  if (path == "types.FunctionType" || path == "types.LambdaType") return kind == Kind::function;
  if (path == "types.MethodType") return kind == Kind::bound;
  if (path == "functools.partial") return kind == Kind::partial;
  if (path == "types.ModuleType") return kind == Kind::module;
  return std::nullopt;
}

Answer Interpreter::is_instance(Value value, Value type) {
  value = resolve(value);
  type = resolve(type);
  if (type.is(Kind::tuple) || (type.is(Kind::list) && !values::Heap::list_state(type)->open)) {
    Answer any = Answer::no;
    for (const Value& one : type.is(Kind::tuple) ? type.as<values::Tuple>()->items : values::Heap::list_state(type)->items) {
      const Answer answer = is_instance(value, one);
      if (answer == Answer::yes) return answer;
      if (answer == Answer::unknown) any = answer;
    }
    return any;
  }
  if (value.is(Kind::unknown)) {
    // What is a type has made what came of calling it, though nothing else is known of it.
    const std::string_view made_by = value.as<values::Unknown>()->name;
    if (type.is(Kind::unknown) && value.as<values::Unknown>()->external && made_by.ends_with("()") && made_by.substr(0, made_by.size() - 2) == type.as<values::Unknown>()->name)
      return Answer::yes;
    if (!value.as<values::Unknown>()->state.value) {
      if (!values::is_number(value) || type.is(Kind::unknown)) return Answer::unknown;
      if (type.is(Kind::library)) {
        // Who annotates with float may be given a tensor.
        const std::string_view path = type.as<values::LibrarySymbol>()->path;
        return path == library_.types().tensor && values::is_read_number(value) ? Answer::no : is_number_of(path);
      }
      return Answer::unknown;
    }
    value = value.as<values::Unknown>()->state.value;
  }
  if (value.is(Kind::choice) || value.is(Kind::absent) || value.is(Kind::state)) return Answer::unknown;
  const auto yes_if = [](bool holds) { return holds ? Answer::yes : Answer::no; };
  if (is_presumed(value)) return type.is(Kind::library) && type.as<values::LibrarySymbol>()->path == "builtins.object" ? Answer::yes : Answer::unknown;
  if (type.is(Kind::class_)) {
    const auto* wanted = type.as<values::Class>();
    const values::Class* cls = value.is(Kind::instance) ? value.as<values::Instance>()->cls : value.is(Kind::tuple) ? value.as<values::Tuple>()->cls : nullptr;
    // A class with a hook of its own decides for itself.
    if (wanted->open && find_in_order(wanted->order, Name("__instancecheck__"))) return Answer::unknown;
    if (!cls) return value.is(Kind::instance) && value.as<values::Instance>()->symbolic ? Answer::unknown : Answer::no;
    if (std::find(cls->order.begin(), cls->order.end(), wanted) != cls->order.end()) return Answer::yes;
    return cls->open ? Answer::unknown : Answer::no;
  }
  // numpy.float32, numpy.bool_: single numbers are of them, tensors with a dimension are not.
  const auto has_dimension = [&] {
    const values::Shape& shape = value.as<values::Tensor>()->now()->shape;
    return shape.rank_known && !shape.dims.empty();
  };
  if (type.is(Kind::dtype) && value.is(Kind::tensor)) return has_dimension() ? Answer::no : Answer::unknown;
  if (!type.is(Kind::library)) return Answer::unknown;
  const std::string_view path = type.as<values::LibrarySymbol>()->path;
  if (path == "builtins.object") return Answer::yes;
  const ListKind list = value.is(Kind::list) ? value.as<values::List>()->kind : ListKind::list;
  if (const auto abstract = is_abstractly(value.kind, list, path); abstract && !value.is(Kind::instance)) return yes_if(*abstract);
  const bool own = path.starts_with("builtins.");
  const std::string_view name = own ? path.substr(9) : std::string_view{};
  const auto of_own = [&](std::string_view kind) { return own ? yes_if(name == kind) : path.starts_with(library_.types().root) || path == "types.NoneType" ? Answer::no : Answer::unknown; };
  switch (value.kind) {
  case Kind::integer: return of_own("int");
  case Kind::boolean: return own ? yes_if(name == "bool" || name == "int") : of_own("bool");
  case Kind::string: return of_own("str");
  case Kind::real: return of_own("float");
  case Kind::none: return yes_if(path == "types.NoneType");
  case Kind::tuple:
    if (path == library_.types().size) return Answer::unknown;  // shapes are kept as tuples
    return of_own("tuple");
  case Kind::list:
    if (list == ListKind::tuple && path == library_.types().size) return Answer::unknown;
    return of_own(list == ListKind::list ? "list" : list == ListKind::tuple ? "tuple" : list == ListKind::set ? "set" : "deque");
  case Kind::dict:
    if (path == "collections.OrderedDict" || path == "collections.defaultdict" || path == "collections.Counter") return Answer::unknown;
    return of_own("dict");
  case Kind::range: return of_own("range");
  case Kind::slice: return of_own("slice");
  case Kind::tensor:
    if (path == library_.types().tensor) return Answer::yes;
    if (path == library_.types().parameter) {
      if (value.as<values::Tensor>()->role == values::TensorRole::parameter) return Answer::yes;
      return Answer::unknown;
    }
    if (!type.as<values::LibrarySymbol>()->row && path.starts_with("numpy.") && has_dimension()) return Answer::no;
    // A class of another library that is known is no class of tensors.
    if (const Row* row = type.as<values::LibrarySymbol>()->row; row && row->kind == values::RowKind::class_ && !path.starts_with(library_.types().root) && library_.knows(path.substr(0, path.find('.'))))
      return Answer::no;
    return own || path.starts_with(library_.types().layers) || path == "types.NoneType" ? Answer::no : Answer::unknown;
  case Kind::function: case Kind::bound: case Kind::partial: case Kind::module: case Kind::dtype:
    if (const auto callable = is_kind_of_callable(value.kind, path)) return yes_if(*callable);
    return path == library_.types().dtype ? yes_if(value.is(Kind::dtype)) : own || path.starts_with(library_.types().root) || path == "types.NoneType" ? Answer::no : Answer::unknown;
  case Kind::device: return path == library_.types().device ? Answer::yes : own ? Answer::no : Answer::unknown;
  case Kind::class_:
    if (is_kind_of_callable(value.kind, path)) return Answer::no;
    return own ? yes_if(name == "type") : path.starts_with(library_.types().root) ? Answer::no : Answer::unknown;
  case Kind::library: {
    const Row* row = value.as<values::LibrarySymbol>()->row;
    if (!row || row->kind != values::RowKind::class_) return Answer::unknown;
    if (is_kind_of_callable(Kind::class_, path)) return Answer::no;
    return own ? yes_if(name == "type") : Answer::unknown;
  }
  case Kind::instance: {
    const auto* object = value.as<values::Instance>();
    if (is_a(value, path)) return Answer::yes;
    const values::LibrarySymbol* native = object->native ? object->native : object->cls ? object->cls->native : nullptr;
    if (native && native->path.starts_with("builtins.") && own) {
      for (std::string_view at = native->path.substr(9); !at.empty(); at = base_of(at))
        if (at == name) return Answer::yes;
    }
    if (object->cls && object->cls->is_enum) {
      if (const Value plain = plain_member(value); !(plain == value)) return is_instance(plain, type);
    }
    if (object->cls && own && name == "dict" && object->cls->holds == Kind::dict) return Answer::yes;
    if (object->cls && own && name == "list" && object->cls->holds == Kind::list) return Answer::yes;
    if (object->cls && !own && !path.starts_with(library_.types().root)) {
      // Protocols: having the methods is enough.
      const auto dot = path.rfind('.');
      const std::string_view last = path.substr(dot + 1);
      if (last == "Iterable" && find_in_order(object->cls->order, Name("__iter__"))) return Answer::yes;
      if (last == "Callable" && find_in_order(object->cls->order, Name("__call__"))) return Answer::yes;
      if (last == "Sized" && find_in_order(object->cls->order, Name("__len__"))) return Answer::yes;
      if (last == "Number") return Answer::no;
      return Answer::unknown;
    }
    if (object->symbolic && !object->cls) return Answer::unknown;
    if (object->cls ? object->cls->open : false) return Answer::unknown;
    // What turns itself into a number may be one: NumPy's are.
    if (own && native && !object->cls && method_row(native->path, Name("__float__"))) return Answer::unknown;
    if (path == library_.types().tensor) return native && !native->path.starts_with(library_.types().layers) ? Answer::unknown : Answer::no;
    if (native && may_be_a_base(*type.as<values::LibrarySymbol>(), native->row)) return Answer::unknown;
    return own || path.starts_with(library_.types().root) || path == "types.NoneType" ? Answer::no : Answer::unknown;
  }
  default: return Answer::unknown;
  }
}

Answer Interpreter::is_subclass(Value cls, Value of) {
  cls = resolve(cls);
  of = resolve(of);
  if (of.is(Kind::tuple)) {
    Answer any = Answer::no;
    for (const Value& one : of.as<values::Tuple>()->items) {
      const Answer answer = is_subclass(cls, one);
      if (answer == Answer::yes) return answer;
      if (answer == Answer::unknown) any = answer;
    }
    return any;
  }
  if (cls.is(Kind::library) && of.is(Kind::library)) {
    const std::string_view wanted = of.as<values::LibrarySymbol>()->path;
    std::string_view at = cls.as<values::LibrarySymbol>()->path;
    if (at == wanted || wanted == "builtins.object") return Answer::yes;
    if (at.starts_with("builtins.") && wanted.starts_with("builtins.")) {
      for (std::string_view one = at.substr(9); !one.empty(); one = base_of(one))
        if (one == wanted.substr(9)) return Answer::yes;
      return at == "builtins.bool" && wanted == "builtins.int" ? Answer::yes : Answer::no;
    }
    constexpr int most_bases = 8;  // up to object: a cycle in the table ends here
    for (int i = 0; i < most_bases; ++i) {
      const Row* row = library_.find(at);
      if (!row || row->kind != values::RowKind::class_) return Answer::unknown;
      at = row->base;
      if (at == wanted) return Answer::yes;
      if (at.empty()) return wanted.starts_with(library_.types().root) && !may_be_a_base(*of.as<values::LibrarySymbol>(), cls.as<values::LibrarySymbol>()->row) ? Answer::no : Answer::unknown;
    }
    return Answer::unknown;
  }
  if (!cls.is(Kind::class_)) return cls.is(Kind::library) && of.is(Kind::class_) ? Answer::no : Answer::unknown;
  const auto* known = cls.as<values::Class>();
  if (of.is(Kind::class_) && std::find(known->order.begin(), known->order.end(), of.as<values::Class>()) != known->order.end()) return Answer::yes;
  if (of.is(Kind::library) && of.as<values::LibrarySymbol>()->path == "builtins.object") return Answer::yes;
  if (of.is(Kind::library) && known->native) return is_subclass(library_symbol(known->native->path), of) == Answer::yes ? Answer::yes : known->open ? Answer::unknown : Answer::no;
  if (known->open) return Answer::unknown;
  return of.is(Kind::class_) || (of.is(Kind::library) && of.as<values::LibrarySymbol>()->path.starts_with(library_.types().root)) ? Answer::no : Answer::unknown;
}

Answer Interpreter::has_attribute(Value value, Name name) {
  value = resolve(value);
  switch (value.kind) {
  case Kind::instance: {
    if (is_presumed(value)) return Answer::unknown;
    auto* object = value.as<values::Instance>();
    // A class of the library that lists its names has no others.
    if (const Row* lists = object->native && !object->cls ? method_row(object->native->path, "$lists") : nullptr)
      if (const Value listed = resolve(call_library(*library_symbol(lists->path).as<values::LibrarySymbol>(), value, {{heap().string(name.text())}, {}, false}, {}, nullptr)); listed.is(Kind::boolean))
        return symbols().decide(truth(listed));
    if (const values::Slot* slot = object->attributes.find(name); slot) {
      if (slot->value.is(Kind::choice) && (!slot->value.as<values::Choice>()->yes || !slot->value.as<values::Choice>()->no)) return Answer::unknown;
      if (slot->value && !slot->value.is(Kind::unknown)) return Answer::yes;
      if (slot->value) return object->symbolic || object->open ? Answer::unknown : Answer::yes;
    }
    if (object->cls && find_in_order(object->cls->order, name)) return Answer::yes;
    const values::LibrarySymbol* native = object->native ? object->native : object->cls ? object->cls->native : nullptr;
    if (native) {
      if (method_row(native->path, name.text())) return Answer::yes;
      if (find_method(object, Name("__getattr__")))
        if (const Value found = native_fallback(*native, value, name, {})) return found.is(Kind::unknown) ? Answer::unknown : Answer::yes;
      // A layer of the library has what some layer has, and nothing else but what the program gave it.
      const std::string_view layers = library_.types().layers;
      if (!object->cls && native->row && native->path.starts_with(layers) && !object->symbolic && !object->attributes.find(handed_out) && !name.text().starts_with("_"))
        return library_.find(std::string(layers) + "$any." + std::string(name.text())) ? Answer::unknown : Answer::no;
      // Most layers have attributes that are not known here; a class of the program that is a plain module or container has not.
      if (!object->cls || (!(native->row && native->row->whole) && !native->path.starts_with("builtins."))) return Answer::unknown;
    }
    if (object->cls && find_in_order(object->cls->order, Name("__getattr__"))) return Answer::unknown;
    // It may answer by another name; that it fails is played out.
    if (const Value hook = object->cls && !name.text().starts_with("__") ? find_in_order(object->cls->order, Name("__getattribute__")) : Value{}; hook.is(Kind::function) && active_[hook.as<values::Function>()] == 0 && !killed_) {
      ++catching_;
      const Value found = resolve(call(bind_method(hook, value, object->cls, {}), {{heap().string(name.text())}, {}, false}, {}));
      --catching_;
      if (!std::exchange(killed_, false) && found) return found.is(Kind::unknown) ? Answer::unknown : Answer::yes;
    }
    if (object->symbolic || object->open || (object->cls && object->cls->open) || !object->cls || name.text().starts_with("__")) return Answer::unknown;
    return Answer::no;
  }
  case Kind::class_: {
    const auto* cls = value.as<values::Class>();
    if (find_in_order(cls->order, name)) return Answer::yes;
    return cls->open || cls->native || name.text().starts_with("__") ? Answer::unknown : Answer::no;
  }
  case Kind::module: {
    auto* module = value.as<values::ModuleObject>();
    load(*module);
    note_used(module->globals, name);
    if (module->globals)
      if (const values::Slot* slot = module->globals->names.find(name); slot && slot->value) return Answer::yes;
    return Answer::unknown;
  }
  case Kind::library:
    return library_symbol(std::string(value.as<values::LibrarySymbol>()->path) + "." + std::string(name.text())).as<values::LibrarySymbol>()->row ? Answer::yes
                                                                                                                                                 : Answer::unknown;
  case Kind::none: case Kind::integer: case Kind::real: case Kind::boolean:
    return name.text().starts_with("__") || name.text() == "real" || name.text() == "imag" || name.text() == "is_integer" || name.text() == "bit_length" ? Answer::unknown
                                                                                                                                                        : Answer::no;
  case Kind::list: case Kind::tuple: case Kind::string: case Kind::dict: {
    const std::string_view text = name.text();
    if (text == "__len__" || text == "__getitem__" || text == "__iter__" || text == "__contains__") return Answer::yes;
    if (text == "shape" || text == "dtype" || text == "device" || text == "size" || text == "to" || text == "dim") return Answer::no;
    if (value.is(Kind::tuple) && (text == "_fields" || text == "_asdict" || text == "_replace" || text == "_make")) return value.as<values::Tuple>()->cls || !value.as<values::Tuple>()->fields.empty() ? Answer::yes : Answer::no;
    if (value.is(Kind::dict) && (text == "keys" || text == "items" || text == "values")) return Answer::yes;
    return Answer::unknown;
  }
  case Kind::tensor: return library_.find(std::string(library_.types().tensor) + "." + std::string(name.text())) ? Answer::yes : Answer::unknown;
  default: return Answer::unknown;
  }
}

// Tensors take what is stored in them by rows of their own: `grad.__set__`. The program may hold what is not known for something else:
// of that only what nothing else has is noticed.
void Interpreter::store_in_tensor(Value object, Name name, Value value, Place where) {
  const Row* row = method_row(library_.types().tensor, std::string(name.text()) + ".__set__");
  if (!row) {
    // A function that is hung on a tensor is there to change it, whenever somebody calls it.
    if (value = resolve(value); object.is(Kind::tensor) && (value.is(Kind::function) || value.is(Kind::bound))) {
      values::TensorState state = *object.as<values::Tensor>()->now();
      heap().note_write(&state);
      state.shape = {};
      state.content = nullptr;
    state.extent = nullptr;
      state.external = true;
      heap().set(object.as<values::Tensor>()->state, Value::of(Kind::state, heap().state(state)));
    }
    return;
  }
  const bool is_tensor = object.is(Kind::tensor) || object.as<values::Unknown>()->state.value.is(Kind::tensor);
  // `p.grad = None` throws the gradient away.
  const bool cleared = value && resolve(value).is(Kind::none) && row->operation == values::Operation::gradient_written;
  if (is_tensor || cleared) static_cast<void>(call_library(*library_symbol(row->path).as<values::LibrarySymbol>(), object, {{value ? value : Value::none()}, {}, false}, where, nullptr));
  if (!is_tensor) heap().note_grad_write();
  if (!is_tensor && !cleared && row->operation == values::Operation::gradient_written) note_gradient_written(object, where);
}

void Interpreter::delete_attribute(Value object, Name name, Place where) {
  object = resolve(object);
  if (object.is(Kind::tensor) || object.is(Kind::unknown)) store_in_tensor(object, name, {}, where);
  if (object.is(Kind::instance)) heap().set(heap().slot_of(object.as<values::Instance>()->attributes, name), {});
  else if (object.is(Kind::class_) && object.as<values::Class>()->body) heap().set(heap().slot_of(object.as<values::Class>()->body->names, name), {});
}

// A library class that adds nothing to those deriving from it.
bool Interpreter::is_plain_base(std::string_view path) const {
  constexpr std::string_view plain[] = {"builtins.object", "typing.Generic", "abc.ABC", "typing.Protocol", "builtins.type"};
  return std::find(std::begin(plain), std::end(plain), path) != std::end(plain);
}

void Interpreter::add_bases(values::Class& cls, const std::vector<Value>& bases, std::vector<values::Class*>& parents) {
  if (std::find(cls.order.begin(), cls.order.end(), &cls) == cls.order.end()) cls.order.push_back(&cls);
  for (const Value& given : bases) {
    const Value base = resolve(given);
    if (base.is(Kind::class_)) {
      auto* parent = base.as<values::Class>();
      parents.push_back(parent);
      if (!cls.native) cls.native = parent->native;
      if (cls.holds == Kind::absent) cls.holds = parent->holds;
      cls.open = cls.open || parent->open;
      cls.is_dataclass = cls.is_dataclass || parent->is_dataclass;
      cls.is_named_tuple = cls.is_named_tuple || parent->is_named_tuple;
      cls.is_enum = cls.is_enum || parent->is_enum;
      cls.enum_mixes = cls.enum_mixes || parent->enum_mixes;
      cls.enum_is_text = cls.enum_is_text || parent->enum_is_text;
      cls.hooks_attributes = cls.hooks_attributes || parent->hooks_attributes;
    } else if (base.is(Kind::library)) {
      auto* found = base.as<values::LibrarySymbol>();
      const std::string_view path = found->path;
      if (path == "enum.Enum" || path == "enum.IntEnum" || path == "enum.StrEnum" || path == "enum.Flag" || path == "enum.IntFlag") {
        cls.is_enum = true;
        cls.enum_is_text = cls.enum_is_text || path == "enum.StrEnum";
        cls.enum_mixes = cls.enum_mixes || path == "enum.IntEnum" || path == "enum.StrEnum" || path == "enum.IntFlag";
      } else if (path == "typing.NamedTuple") {
        cls.is_named_tuple = true;
      } else if (path == "builtins.dict" || path == "collections.OrderedDict" || path == "collections.UserDict" || path == "typing.Dict") {
        cls.holds = Kind::dict;
      } else if (path == "builtins.list" || path == "collections.UserList") {
        cls.holds = Kind::list;
      } else if (found->row && found->row->kind == values::RowKind::class_) {
        if (!cls.native) cls.native = found;
      } else if (path.starts_with("builtins.") && is_exception(path.substr(9))) {
        if (!cls.native) cls.native = found;
      } else if (path == "builtins.int" || path == "builtins.str" || path == "builtins.float") {
        // Before an Enum: its members are numbers or text. Alone it makes numbers with more to them.
        cls.enum_mixes = true;
        cls.enum_is_text = path == "builtins.str";
        if (bases.size() == 1) cls.open = true;
      } else if (!is_plain_base(path)) {
        cls.open = true;
      }
    } else {
      cls.open = true;
    }
  }
  if (!cls.is_enum) cls.enum_mixes = false;
  merge_orders(cls, parents);
}

} // namespace stepzero::interpreter
