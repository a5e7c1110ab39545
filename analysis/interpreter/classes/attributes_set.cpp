// Attributes that are set, and whether a value has one: hasattr().
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/attribute.hpp"
#include "interpreter/classes/descriptors.hpp"
#include "interpreter/classes/lacking_attributes.hpp"
#include "interpreter/classes/module_attributes.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/roots/hooks.hpp"
#include "interpreter/roots/presumed.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <utility>

namespace stepzero::interpreter {

using namespace syntax;
using symbolic::Answer;
using values::Kind;

void Interpreter::set_attribute(Value object, Name name, Value value, Place where) {
  ObjectModel::Attribute{*this, name, where}.set(resolve(object), value);
}

Answer Interpreter::has_attribute(Value value, Name name) {
  return ObjectModel::Attribute{*this, name, {}}.is_there(resolve(value));
}

// An object that was made before the function runs that nobody calls: whoever calls it may have called the
// object's methods before.
void ObjectModel::Attribute::meet(values::Instance& object) {
  static const Name met{values::EngineNotes::met};
  if (!run.in_roots_ || !run.frame_) return;
  if (!object.cls || object.symbolic || object.attributes.birth > outermost(run.frame_)->mark.clock ||
      object.attributes.value(met))
    return;
  lose_set_by_methods(run.heap(), object);
  run.heap().set(run.heap().slot_of(object.attributes, met), run.heap().boolean(true));
}

namespace {
const values::LibrarySymbol* native_of(const values::Instance& object) {
  return object.native ? object.native : object.cls ? object.cls->native : nullptr;
}
bool is_buffer(Value held) {
  return held.is(Kind::tensor) && held.as<values::Tensor>()->role == values::TensorRole::buffer;
}
}  // namespace

void ObjectModel::Attribute::set(Value object, Value value) {
  if (object.is(Kind::tensor) || object.is(Kind::unknown))
    run.object_model_->store_in_tensor(object, name, value, where);
  const auto put_into = [&](values::Table& table) { run.heap().set(run.heap().slot_of(table, name), value); };
  switch (object.kind) {
  case Kind::instance: return set_on_instance(*object.as<values::Instance>(), object, value);
  case Kind::class_:
    if (object.as<values::Class>()->body) put_into(object.as<values::Class>()->body->names);
    return;
  case Kind::module:
    run.note_all_used(object.as<values::ModuleObject>()->globals);
    if (object.as<values::ModuleObject>()->globals)
      put_into(object.as<values::ModuleObject>()->globals->names);
    return;
  case Kind::function: return put_into(object.as<values::Function>()->attributes);
  case Kind::library:
    note_replaced(run.heap(), outermost_globals(run.frame_),
        run.library_.canonical(
            std::string(object.as<values::LibrarySymbol>()->path) + "." + std::string(name.text())));
    return;
  case Kind::unknown:
    // What was there before is there still on other paths.
    if (!run.path_.empty() && !object.as<values::Unknown>()->attributes.find(name))
      (void)of_unknown(*object.as<values::Unknown>());
    // Some objects make something of their own of what they are told under that name.
    if (run.library_.find(values::InternalRow::set + name.text()))
      value = run.heap().unseen(name.text(), where);
    put_into(object.as<values::Unknown>()->attributes);
    // Who calls that object reaches this one as well.
    if (const Value held = run.resolve(value);
        held.is(Kind::instance) && !run.is_a(held, run.library_.types().module))
      run.unseen_->escape(held);
    return;
  case Kind::choice: {
    // Each side gets the value only if its condition holds.
    const auto* choice = object.as<values::Choice>();
    run.fork(
        choice->condition, nullptr, {},
        [&] {
          run.set_attribute(choice->yes, name, value, where);
          return Flow::normal;
        },
        [&] {
          run.set_attribute(choice->no, name, value, where);
          return Flow::normal;
        });
    return;
  }
  default: return;
  }
}

void ObjectModel::Attribute::set_on_instance(values::Instance& object, Value self, Value value) {
  meet(object);
  if (object.cls && object.cls->hooks_attributes && set_by_hook(object, self, value)) return;
  if (set_by_library(object, self, value)) return;
  values::Slot& slot = run.heap().slot_of(object.attributes, name);
  judge_module_attribute(
      run, object, name, slot.value, value, run.frame_ ? run.frame_->function : nullptr, where);
  // A tensor under the name of a buffer is the buffer from here on.
  if (const Value put = run.resolve(value); put.is(Kind::tensor) &&
      put.as<values::Tensor>()->role == values::TensorRole::plain && slot.value &&
      is_buffer(run.resolve(slot.value)))
    put.as<values::Tensor>()->role = values::TensorRole::buffer;
  // Which of them is meant is not known: the others keep what they have.
  run.heap().set(
      slot, object.of_many && slot.value ? run.heap().merge(slot.value, value, Sharing::uniform) : value);
}

// By a descriptor, a property or `__setattr__` of the class.
bool ObjectModel::Attribute::set_by_hook(values::Instance& object, Value self, Value value) {
  if (is_descriptor(run.find_in_order(object.cls->order, name))) return run.unseen_->escape(value), true;
  if (const Value found = run.resolve(run.find_in_order(object.cls->order, name));
      found.is(Kind::function) && found.as<values::Function>()->setter) {
    run.function_calls_->call_function(*found.as<values::Function>()->setter, {{value}, {}, false}, {}, self);
    return true;
  }
  const Value hook = run.find_in_order(object.cls->order, Name("__setattr__"));
  if (hook.is(Kind::function) && run.active_[hook.as<values::Function>()] == 0) {
    run.function_calls_->call_function(
        *hook.as<values::Function>(), {{run.heap().string(name.text()), value}, {}, false}, {}, self);
    return true;
  }
  if (!hook.is(Kind::library)) return false;
  run.call(hook, {{self, run.heap().string(name.text()), value}, {}, false}, {});
  return true;
}

// The class of a library may have a way of its own to take what it is given; a call of its own may stand for
// setting the attribute.
bool ObjectModel::Attribute::set_by_library(values::Instance& object, Value self, Value value) {
  const values::LibrarySymbol* native = native_of(object);
  if (!native) return false;
  const Value part = run.resolve(value);
  // One of the library alone may hand on all that it is given.
  const bool takes_all = object.native && !object.cls && !values::is_kept(name.text());
  if (part.is(Kind::instance) || part.is(Kind::unknown) || part.is(Kind::choice) || takes_all)
    if (const Row* row = run.method_row(native->path, "__setattr__"))
      if (run.resolve(
              run.library_calls_->call_library(*run.library_symbol(row->path).as<values::LibrarySymbol>(),
                  self, {{run.heap().string(name.text()), value}, {}, false}, {}, nullptr)))
        return true;
  if (const Row* setter = setter_row(run, native->path, name))
    run.library_calls_->call_library(*run.library_symbol(setter->path).as<values::LibrarySymbol>(), self,
        {{value}, {}, false}, where, nullptr);
  return false;
}

Answer ObjectModel::Attribute::is_there(Value value) {
  switch (value.kind) {
  case Kind::instance:
    return is_presumed(value) ? Answer::unknown : is_in_instance(*value.as<values::Instance>(), value);
  case Kind::class_: {
    const auto* cls = value.as<values::Class>();
    if (run.find_in_order(cls->order, name)) return Answer::yes;
    return cls->open || cls->native || name.text().starts_with("__") ? Answer::unknown : Answer::no;
  }
  case Kind::module: {
    auto* module = value.as<values::ModuleObject>();
    run.loader_->load(*module);
    run.note_used(module->globals, name);
    const values::Slot* slot = module->globals ? module->globals->names.find(name) : nullptr;
    return slot && slot->value ? Answer::yes : Answer::unknown;
  }
  case Kind::library:
    return run.names_.member(*value.as<values::LibrarySymbol>(), name)->row ? Answer::yes : Answer::unknown;
  case Kind::tensor:
    return run.library_.find(std::string(run.library_.types().tensor) + "." + std::string(name.text()))
        ? Answer::yes
        : Answer::unknown;
  default: return is_in_builtin(value);
  }
}

Answer ObjectModel::Attribute::is_in_builtin(Value value) const {
  const std::string_view text = name.text();
  const auto among = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, text) != names.end();
  };
  if (const Answer displayed = is_in_display(value, name); displayed != Answer::unknown) return displayed;
  switch (value.kind) {
  case Kind::none:
  case Kind::integer:
  case Kind::real:
  case Kind::boolean:
    return text.starts_with("__") || among({"real", "imag", "is_integer", "bit_length"}) ? Answer::unknown
                                                                                         : Answer::no;
  case Kind::list:
  case Kind::tuple:
  case Kind::string:
  case Kind::dict:
    if (among({"__len__", "__getitem__", "__iter__", "__contains__"})) return Answer::yes;
    if (std::ranges::count(run.library_.types().of_tensors_alone, text)) return Answer::no;
    if (value.is(Kind::tuple) && among({"_fields", "_asdict", "_replace", "_make"}))
      return value.as<values::Tuple>()->cls || !value.as<values::Tuple>()->fields.empty() ? Answer::yes
                                                                                          : Answer::no;
    return value.is(Kind::dict) && among({"keys", "items", "values"}) ? Answer::yes : Answer::unknown;
  default: return Answer::unknown;
  }
}

Answer ObjectModel::Attribute::is_in_instance(values::Instance& object, Value self) {
  // A class of the library that lists its names has no others.
  if (const Row* lists = object.native && !object.cls
          ? run.method_row(object.native->path, values::InternalRow::lists)
          : nullptr)
    if (const Value listed = run.resolve(
            run.library_calls_->call_library(*run.library_symbol(lists->path).as<values::LibrarySymbol>(),
                self, {{run.heap().string(name.text())}, {}, false}, {}, nullptr));
        listed.is(Kind::boolean))
      return run.symbols().decide(run.truth(listed));
  if (const values::Slot* slot = object.attributes.find(name); slot) {
    if (slot->value.is(Kind::choice) &&
        (!slot->value.as<values::Choice>()->yes || !slot->value.as<values::Choice>()->no))
      return Answer::unknown;
    if (slot->value && !slot->value.is(Kind::unknown)) return Answer::yes;
    if (slot->value) return object.symbolic || object.open ? Answer::unknown : Answer::yes;
  }
  if (object.cls && run.find_in_order(object.cls->order, name)) return Answer::yes;
  if (const values::LibrarySymbol* native = native_of(object)) {
    const Answer of_library = is_in_library_class(*native, object, self);
    // Most layers have attributes that are not known here; a class of the program that is a plain module or
    // container has not.
    if (of_library != Answer::no || !object.cls) return of_library;
  }
  if (object.cls && run.find_in_order(object.cls->order, Name("__getattr__"))) return Answer::unknown;
  if (const Answer of_hook = is_given_by_hook(object, self); of_hook != Answer::no) return of_hook;
  if (object.symbolic || object.open || (object.cls && object.cls->open) || !object.cls ||
      name.text().starts_with("__"))
    return Answer::unknown;
  return Answer::no;
}

Answer ObjectModel::Attribute::is_in_library_class(
    const values::LibrarySymbol& native, values::Instance& object, Value self) {
  if (run.method_row(native.path, name.text())) return Answer::yes;
  if (run.find_method(&object, Name("__getattr__")))
    if (const Value found = run.object_model_->native_fallback(native, self, name, {}))
      return found.is(Kind::unknown) ? Answer::unknown : Answer::yes;
  // A layer of the library has what some layer has, and nothing else but what the program gave it.
  const std::string_view layers = run.library_.types().layers;
  const bool is_counted = run.record_.conditions.contains(values::RecordCondition::counted);
  if (!object.cls && native.row && native.path.starts_with(layers) && !object.symbolic &&
      !object.attributes.find(handed_out) &&
      (!name.text().starts_with("_") || (is_counted && !name.text().starts_with("__"))))
    return run.library_.find(std::string(layers) + (values::InternalRow::any + name.text())) ? Answer::unknown
                                                                                             : Answer::no;
  const bool is_whole = (native.row && native.row->whole) || native.path.starts_with("builtins.");
  return object.cls && is_whole ? Answer::no : Answer::unknown;
}

// It may answer by another name; that it fails is tried out, and has not happened.
Answer ObjectModel::Attribute::is_given_by_hook(values::Instance& object, Value self) {
  const Value hook = object.cls && !name.text().starts_with("__")
      ? run.find_in_order(object.cls->order, Name("__getattribute__"))
      : Value{};
  if (!hook.is(Kind::function) || run.active_[hook.as<values::Function>()] != 0 || run.killed_)
    return Answer::no;
  Block dropped;
  Block* const around = std::exchange(run.block_, run.block_ ? &dropped : nullptr);
  Answer answer = Answer::no;
  ++run.catching_;
  {
    const Speculation trial(run, Speculation::Of::trial);
    const Value found = run.resolve(run.call(run.object_model_->bind_method(hook, self, object.cls, {}),
        {{run.heap().string(name.text())}, {}, false}, {}));
    const bool failed = std::exchange(run.killed_, false) || !found;
    if (!failed) answer = found.is(Kind::unknown) ? Answer::unknown : Answer::yes;
  }
  --run.catching_;
  run.block_ = around;
  return answer;
}

}  // namespace stepzero::interpreter
