// Types of values: type(), isinstance, issubclass, hasattr.
#include "interpreter/builtins/builtins.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/classes/exceptions.hpp"
#include "interpreter/classes/object_model.hpp"
#include "interpreter/expressions/rank_questions.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/presumed.hpp"
#include "interpreter/statements/from_file.hpp"
#include "values/internal_rows.hpp"
#include "values/numbers.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace stepzero::interpreter {

using namespace syntax;
using symbolic::Answer;
using values::Kind;
using values::ListKind;

namespace {

// A class of a library of which nothing is known: is it one that a known class derives from? Private ones are
// left out of what is known (`_BatchNorm`), and a class may be written in another module than the one that it
// is known by. What derives from no class of a library has no such base either.
bool may_be_a_base(const values::LibrarySymbol& type, const Row* of) {
  if (type.row) return false;
  const auto last = [](std::string_view path) { return path.substr(path.rfind('.') + 1); };
  const std::string_view name = last(type.path);
  if (name.starts_with('_')) return !of || of->base_row;
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
  const bool sequence = kind == Kind::tuple || kind == Kind::string || kind == Kind::range ||
      (kind == Kind::list && (list == ListKind::list || list == ListKind::tuple));
  const bool iterates = sequence || kind == Kind::tensor || kind == Kind::list || kind == Kind::dict ||
      kind == Kind::iterator;
  if (name == "Iterable") return iterates;
  if (name == "Sequence") return sequence || (kind == Kind::list && list == ListKind::deque);
  if (name == "Mapping" || name == "MutableMapping" || name == "Dict") return kind == Kind::dict;
  if (name == "List" || name == "MutableSequence") return kind == Kind::list && list == ListKind::list;
  if (name == "Tuple") return kind == Kind::tuple || (kind == Kind::list && list == ListKind::tuple);
  if (name == "Callable")
    return kind == Kind::function || kind == Kind::bound || kind == Kind::partial || kind == Kind::class_;
  if (name == "Sized" || name == "Collection" || name == "Container")
    return iterates && kind != Kind::iterator && !(kind == Kind::list && list == ListKind::iterator);
  if (name == "Iterator" || name == "Generator")
    return kind == Kind::iterator || (kind == Kind::list && list == ListKind::iterator);
  if (name == "deque") return kind == Kind::list && list == ListKind::deque;
  return std::nullopt;
}

}  // namespace

Value Interpreter::type_of(Value value, Place where) {
  value = resolve(value);
  const auto builtin_type = [&](std::string_view name) {
    return library_symbol("builtins." + std::string(name));
  };
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
    case ListKind::iterator: return heap().unseen("", where);
    }
    return heap().unseen("", where);
  case Kind::dict:
    if (const auto& dict = *value.as<values::Dict>(); dict.factory && !file_of(dict))
      return library_symbol("collections.defaultdict");
    return builtin_type("dict");
  case Kind::none: return library_symbol("types.NoneType");
  case Kind::tensor: return library_symbol(library_.types().tensor);
  case Kind::instance: {
    const auto* object = value.as<values::Instance>();
    if (is_presumed(value)) return heap().unseen("", where);
    if (object->cls) return Value::of(Kind::class_, object->cls);
    if (object->native) return library_symbol(object->native->path);
    return heap().unseen("", where);
  }
  case Kind::class_: return builtin_type("type");
  case Kind::function: return library_symbol("types.FunctionType");
  case Kind::bound: return library_symbol("types.MethodType");
  case Kind::partial: return library_symbol("functools.partial");
  case Kind::module: return library_symbol("types.ModuleType");
  case Kind::unknown:
    if (values::is_number(value))
      return heap().choose(
          symbols().opaque("", values::Sharing::uniform), builtin_type("float"), builtin_type("int"));
    return heap().unseen("", where);
  default: return heap().unseen("", where);
  }
}

// Is a number of which nothing else is known of the named type?
static Answer is_number_of(std::string_view path) {
  constexpr std::string_view no_numbers[] = {
      "list", "tuple", "dict", "set", "frozenset", "str", "bytes", "range", "slice", "type"};
  if (path.starts_with("builtins.") &&
      std::find(std::begin(no_numbers), std::end(no_numbers), path.substr(9)) != std::end(no_numbers))
    return Answer::no;
  if (is_abstractly(Kind::real, ListKind::list, path) == false && !path.starts_with("numbers."))
    return Answer::no;
  return Answer::unknown;
}

// Is what can be called of the named kind of things that can be called? Nothing if the path names none of
// them.
static std::optional<bool> is_kind_of_callable(Kind kind, std::string_view path) {
  if (path == "types.FunctionType" || path == "types.LambdaType") return kind == Kind::function;
  if (path == "types.MethodType") return kind == Kind::bound;
  if (path == "functools.partial") return kind == Kind::partial;
  if (path == "types.ModuleType") return kind == Kind::module;
  return std::nullopt;
}

// isinstance(): is a value of a type of a library, or of a class of the program?
struct ObjectModel::InstanceOf {
  InstanceOf(Interpreter& interpreter, Value given, Value wanted)
      : run(interpreter), value(given), type(wanted) {}

  Answer answer();

private:
  Answer of_any(std::span<const Value> types);
  Answer unknown_value();
  bool is_what_made_it() const;
  Answer of_class(const values::Class& wanted);
  Answer of_library();
  Answer of_own(std::string_view kind) const;
  Answer tensor();
  Answer callable();
  Answer instance();
  Answer instance_of_protocol(const values::Class& cls);
  bool tensor_has_dimension() const;
  bool is_of_root() const { return path.starts_with(run.library_.types().root); }
  bool is_known_otherwise() const { return own || is_of_root() || path == "types.NoneType"; }

  Interpreter& run;
  Value value, type;  // resolved
  // Of a type of a library: its path, whether it is one of Python's own, and its name then.
  std::string_view path = {};
  bool own = false;
  std::string_view name = {};
};

static Answer yes_if(bool holds) { return holds ? Answer::yes : Answer::no; }

Answer Interpreter::is_instance(Value value, Value type) {
  return ObjectModel::InstanceOf(*this, resolve(value), resolve(type)).answer();
}

Answer ObjectModel::InstanceOf::answer() {
  if (type.is(Kind::tuple)) return of_any(type.as<values::Tuple>()->items);
  if (type.is(Kind::list) && !values::Heap::list_state(type)->open)
    return of_any(values::Heap::list_state(type)->items);
  if (value.is(Kind::unknown)) {
    const values::Slot& state = value.as<values::Unknown>()->state;
    if (!state.value || is_what_made_it()) return unknown_value();
    value = state.value;
  }
  if (value.is(Kind::choice) || value.is(Kind::absent) || value.is(Kind::state)) return Answer::unknown;
  if (is_presumed(value) || is_role(run, value))
    return type.is(Kind::library) && type.as<values::LibrarySymbol>()->path == "builtins.object"
        ? Answer::yes
        : Answer::unknown;
  if (type.is(Kind::class_)) return of_class(*type.as<values::Class>());
  // One of two types, and the answer is the same for both.
  if (type.is(Kind::choice)) {
    const auto* choice = type.as<values::Choice>();
    const Answer answer = run.is_instance(value, choice->yes);
    return answer == run.is_instance(value, choice->no) ? answer : Answer::unknown;
  }
  // numpy.float32, numpy.bool_: single numbers are of them, tensors with a dimension are not.
  if (type.is(Kind::dtype) && value.is(Kind::tensor))
    return tensor_has_dimension() ? Answer::no : Answer::unknown;
  return type.is(Kind::library) ? of_library() : Answer::unknown;
}

Answer ObjectModel::InstanceOf::of_any(std::span<const Value> types) {
  Answer any = Answer::no;
  for (const Value& one : types) {
    const Answer answer = run.is_instance(value, one);
    if (answer == Answer::yes) return answer;
    if (answer == Answer::unknown) any = answer;
  }
  return any;
}

// What is a type has made what came of calling it, though nothing else is known of it.
bool ObjectModel::InstanceOf::is_what_made_it() const {
  const auto* unknown = value.as<values::Unknown>();
  const std::string_view made_by = unknown->name;
  return type.is(Kind::unknown) && unknown->unseen && made_by.ends_with("()") &&
      made_by.substr(0, made_by.size() - 2) == type.as<values::Unknown>()->name;
}

Answer ObjectModel::InstanceOf::unknown_value() {
  if (is_what_made_it()) return Answer::yes;
  if (!values::is_number(value) || !type.is(Kind::library)) return Answer::unknown;
  // Who annotates with float may be given a tensor.
  const std::string_view wanted = type.as<values::LibrarySymbol>()->path;
  return wanted == run.library_.types().tensor && values::is_read_number(value) ? Answer::no
                                                                                : is_number_of(wanted);
}

Answer ObjectModel::InstanceOf::of_class(const values::Class& wanted) {
  const values::Class* cls = value.is(Kind::instance) ? value.as<values::Instance>()->cls
      : value.is(Kind::tuple)                         ? value.as<values::Tuple>()->cls
                                                      : nullptr;
  // A class with a hook of its own decides for itself.
  if (wanted.open && run.find_in_order(wanted.order, Name("__instancecheck__"))) return Answer::unknown;
  if (!cls)
    return value.is(Kind::instance) && value.as<values::Instance>()->symbolic ? Answer::unknown : Answer::no;
  if (std::ranges::find(cls->order, &wanted) != cls->order.end()) return Answer::yes;
  return cls->open ? Answer::unknown : Answer::no;
}

bool ObjectModel::InstanceOf::tensor_has_dimension() const {
  const values::Shape& shape = value.as<values::Tensor>()->now()->shape;
  return shape.ndim_known && !shape.dims.empty();
}

Answer ObjectModel::InstanceOf::of_own(std::string_view kind) const {
  return own ? yes_if(name == kind) : is_of_root() || path == "types.NoneType" ? Answer::no : Answer::unknown;
}

Answer ObjectModel::InstanceOf::of_library() {
  path = type.as<values::LibrarySymbol>()->path;
  own = path.starts_with("builtins.");
  name = own ? path.substr(9) : std::string_view{};
  if (path == "builtins.object") return Answer::yes;
  const ListKind list = value.is(Kind::list) ? value.as<values::List>()->kind : ListKind::list;
  if (const auto abstract = is_abstractly(value.kind, list, path); abstract && !value.is(Kind::instance))
    return yes_if(*abstract);
  const bool is_shape = path == run.library_.types().size;  // shapes are kept as tuples
  switch (value.kind) {
  case Kind::integer: return of_own("int");
  case Kind::boolean: return own ? yes_if(name == "bool" || name == "int") : of_own("bool");
  case Kind::string: return of_own("str");
  case Kind::real: return of_own("float");
  case Kind::none: return yes_if(path == "types.NoneType");
  case Kind::tuple: return is_shape ? Answer::unknown : of_own("tuple");
  case Kind::list:
    if (list == ListKind::tuple && is_shape) return Answer::unknown;
    return of_own(list == ListKind::list ? "list"
            : list == ListKind::tuple    ? "tuple"
            : list == ListKind::set      ? "set"
                                         : "deque");
  case Kind::dict:
    return path == "collections.OrderedDict" || path == "collections.defaultdict" ||
            path == "collections.Counter"
        ? Answer::unknown
        : of_own("dict");
  case Kind::range: return of_own("range");
  case Kind::slice: return of_own("slice");
  case Kind::tensor: return tensor();
  case Kind::function:
  case Kind::bound:
  case Kind::partial:
  case Kind::module:
  case Kind::dtype:
  case Kind::class_:
  case Kind::library: return callable();
  case Kind::device:
    return path == run.library_.types().device ? Answer::yes : own ? Answer::no : Answer::unknown;
  case Kind::instance: return instance();
  default: return Answer::unknown;
  }
}

Answer ObjectModel::InstanceOf::tensor() {
  const Row* row = type.as<values::LibrarySymbol>()->row;
  const TypeNames& types = run.library_.types();
  if (path == types.tensor) return Answer::yes;
  if (path == types.parameter)
    return value.as<values::Tensor>()->role == values::TensorRole::parameter ? Answer::yes : Answer::unknown;
  if (!row && path.starts_with(types.arrays) && tensor_has_dimension()) return Answer::no;
  // A class of another library that is known is no class of tensors.
  if (row && row->kind == values::RowKind::class_ && !is_of_root() &&
      run.library_.knows(path.substr(0, path.find('.'))))
    return Answer::no;
  // DTensor: what the program does not spread over ranks is none.
  if (path.starts_with(types.communication) &&
      run.record_.conditions.contains(values::RecordCondition::counted))
    return Answer::no;
  return own || path.starts_with(types.layers) || path == "types.NoneType" ? Answer::no : Answer::unknown;
}

// Functions, classes and what else is no object of a class that programs name.
Answer ObjectModel::InstanceOf::callable() {
  if (value.is(Kind::class_)) {
    if (is_kind_of_callable(value.kind, path)) return Answer::no;
    return own ? yes_if(name == "type") : is_of_root() ? Answer::no : Answer::unknown;
  }
  if (value.is(Kind::library)) {
    const Row* row = value.as<values::LibrarySymbol>()->row;
    if (!row || row->kind != values::RowKind::class_) return Answer::unknown;
    if (is_kind_of_callable(Kind::class_, path)) return Answer::no;
    return own ? yes_if(name == "type") : Answer::unknown;
  }
  if (const auto is_kind = is_kind_of_callable(value.kind, path)) return yes_if(*is_kind);
  return path == run.library_.types().dtype ? yes_if(value.is(Kind::dtype))
      : is_known_otherwise()                ? Answer::no
                                            : Answer::unknown;
}

Answer ObjectModel::InstanceOf::instance() {
  const auto* object = value.as<values::Instance>();
  if (run.is_a(value, path)) return Answer::yes;
  const values::LibrarySymbol* native = object->native ? object->native
      : object->cls                                    ? object->cls->native
                                                       : nullptr;
  if (native && native->path.starts_with("builtins.") && own)
    for (std::string_view at = native->path.substr(9); !at.empty(); at = base_of(at))
      if (at == name) return Answer::yes;
  if (object->cls && object->cls->is_enum)
    if (const Value plain = run.builtins_->plain_member(value); !(plain == value))
      return run.is_instance(plain, type);
  if (object->cls && own && name == "dict" && object->cls->holds == Kind::dict) return Answer::yes;
  if (object->cls && own && name == "list" && object->cls->holds == Kind::list) return Answer::yes;
  if (object->cls && !own && !is_of_root()) return instance_of_protocol(*object->cls);
  if (object->symbolic && !object->cls) return Answer::unknown;
  if (object->cls && object->cls->open) return Answer::unknown;
  // What turns itself into a number may be one: NumPy's are.
  if (own && native && !object->cls && run.method_row(native->path, Name("__float__")))
    return Answer::unknown;
  if (path == run.library_.types().tensor)
    return native && !native->path.starts_with(run.library_.types().layers) ? Answer::unknown : Answer::no;
  if (native && may_be_a_base(*type.as<values::LibrarySymbol>(), native->row)) return Answer::unknown;
  return is_known_otherwise() ? Answer::no : Answer::unknown;
}

// Having the methods is enough.
Answer ObjectModel::InstanceOf::instance_of_protocol(const values::Class& cls) {
  const std::string_view last = path.substr(path.rfind('.') + 1);
  if (last == "Iterable" && run.find_in_order(cls.order, Name("__iter__"))) return Answer::yes;
  if (last == "Callable" && run.find_in_order(cls.order, Name("__call__"))) return Answer::yes;
  if (last == "Sized" && run.find_in_order(cls.order, Name("__len__"))) return Answer::yes;
  return last == "Number" ? Answer::no : Answer::unknown;
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
      if (at.empty())
        return wanted.starts_with(library_.types().root) &&
                !may_be_a_base(*of.as<values::LibrarySymbol>(), cls.as<values::LibrarySymbol>()->row)
            ? Answer::no
            : Answer::unknown;
    }
    return Answer::unknown;
  }
  if (!cls.is(Kind::class_))
    return cls.is(Kind::library) && of.is(Kind::class_) ? Answer::no : Answer::unknown;
  const auto* known = cls.as<values::Class>();
  if (of.is(Kind::class_) &&
      std::find(known->order.begin(), known->order.end(), of.as<values::Class>()) != known->order.end())
    return Answer::yes;
  if (of.is(Kind::library) && of.as<values::LibrarySymbol>()->path == "builtins.object") return Answer::yes;
  if (of.is(Kind::library) && known->native)
    return is_subclass(library_symbol(known->native->path), of) == Answer::yes ? Answer::yes
        : known->open                                                          ? Answer::unknown
                                                                               : Answer::no;
  if (known->open) return Answer::unknown;
  return of.is(Kind::class_) ||
          (of.is(Kind::library) && of.as<values::LibrarySymbol>()->path.starts_with(library_.types().root))
      ? Answer::no
      : Answer::unknown;
}

// Tensors take what is stored in them by rows of their own: `grad.__set__`. The program may hold what is not
// known for something else: of that only what nothing else has is noticed.
void ObjectModel::store_in_tensor(Value object, Name name, Value value, Place where) {
  const Row* row = run_.method_row(run_.library_.types().tensor, std::string(name.text()) + ".__set__");
  if (!row) {
    // A function that is hung on a tensor is there to change it, whenever somebody calls it.
    if (value = run_.resolve(value);
        object.is(Kind::tensor) && (value.is(Kind::function) || value.is(Kind::bound))) {
      values::TensorState state = *object.as<values::Tensor>()->now();
      heap().note_write(&state);
      state.shape = {};
      state.content = nullptr;
      state.extent = nullptr;
      state.unseen = true;
      heap().set(object.as<values::Tensor>()->state, Value::of(Kind::state, heap().state(state)));
    }
    return;
  }
  const bool is_tensor = object.is(Kind::tensor) ||
      object.as<values::Unknown>()->state.value.is(Kind::tensor);
  // `p.grad = None` throws the gradient away.
  const bool cleared = value && run_.resolve(value).is(Kind::none) &&
      row->operation == values::Operation::gradient_written;
  if (is_tensor || cleared)
    static_cast<void>(
        run_.library_calls_->call_library(*run_.library_symbol(row->path).as<values::LibrarySymbol>(), object,
            {{value ? value : Value::none()}, {}, false}, where, nullptr));
  if (!is_tensor) heap().note_grad_write();
  if (!is_tensor && !cleared && row->operation == values::Operation::gradient_written)
    run_.note_gradient_written(object, where);
}

void ObjectModel::delete_attribute(Value object, Name name, Place where) {
  object = run_.resolve(object);
  if (object.is(Kind::tensor) || object.is(Kind::unknown)) store_in_tensor(object, name, {}, where);
  if (object.is(Kind::instance))
    heap().set(heap().slot_of(object.as<values::Instance>()->attributes, name), {});
  else if (object.is(Kind::class_) && object.as<values::Class>()->body)
    heap().set(heap().slot_of(object.as<values::Class>()->body->names, name), {});
}

}  // namespace stepzero::interpreter
