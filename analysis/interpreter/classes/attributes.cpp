// Attributes that are read: of an object, a class, super(), a function or something unknown. Setting them is
// in attributes_set.cpp.
#include "interpreter/builtins/builtins.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/classes/abstract.hpp"
#include "interpreter/classes/attribute.hpp"
#include "interpreter/classes/descriptors.hpp"
#include "interpreter/classes/lacking_attributes.hpp"
#include "interpreter/classes/module_attributes.hpp"
#include "interpreter/classes/object_model.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/loops/merged_values.hpp"
#include "interpreter/roots/declared_arguments.hpp"
#include "interpreter/roots/hooks.hpp"
#include "interpreter/statements/module_loader.hpp"

#include "interpreter/calls/unseen.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "interpreter/expressions/unknown_items.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
const Name native_first{
    values::EngineNotes::native_first};  // in a class whose first base is one of a library
}  // namespace

Value Interpreter::attribute(Value object, Name name, Place where) {
  return ObjectModel::Attribute{*this, name, where}.of(object);
}

Value Interpreter::attribute_or_none(Value object, Name name, Place) {
  if (!object.is(Kind::instance)) return {};
  auto* instance = object.as<values::Instance>();
  if (const values::Slot* slot = instance->attributes.find(name); slot && slot->value) {
    if (attributes_read_) attributes_read_->insert(slot);
    return resolve(slot->value);
  }
  return find_method(instance, name);
}

// What the library class itself says of a name that is no attribute: its own `__getattr__`.
Value ObjectModel::native_fallback(const values::LibrarySymbol& native, Value self, Name name, Place where) {
  const Row* row = run_.method_row(native.path, "__getattr__");
  if (!row) return {};
  return run_.resolve(
      run_.library_calls_->call_library(*run_.library_symbol(row->path).as<values::LibrarySymbol>(), self,
          {{heap().string(name.text())}, {}, false}, where, nullptr));
}

Value ObjectModel::native_attribute(const values::LibrarySymbol& native, Value self, Name name, Place where) {
  const Row* row = run_.method_row(native.path, name);
  if (!row) return {};
  if (row->kind == values::RowKind::property)
    return run_.library_calls_->call_library(
        *run_.library_symbol(row->path).as<values::LibrarySymbol>(), self, {}, where, nullptr);
  auto* bound = heap().make<values::Bound>();
  bound->self = self;
  bound->function = run_.library_symbol(row->path);
  return Value::of(Kind::bound, bound);
}

namespace {

// `name: annotation = value` in the text of one of the classes.
bool declares_field(const std::vector<values::Class*>& order, Name name) {
  return std::ranges::any_of(order, [&](const values::Class* cls) {
    return cls->stmt && std::ranges::any_of(cls->stmt->body, [&](const Stmt* stmt) {
      if (stmt->kind != StmtKind::ann_assign) return false;
      const auto& assign = as<AnnAssignStmt>(*stmt);
      return assign.target->kind == ExprKind::name && as<NameExpr>(*assign.target).id == name;
    });
  });
}
}  // namespace

// By `__getattribute__` or `__getattr__` of its class. Absent: it has neither.
Value ObjectModel::Attribute::of_hook(values::Instance& object, Value self) {
  if (!object.cls || name.text().starts_with("__")) return {};
  // The first stands before all else in Python; it is asked where nothing else answers: what it finds so is
  // mostly another name for the same.
  if (const Value hook = run.find_in_order(object.cls->order, Name("__getattribute__"));
      hook.is(Kind::function) && run.active_[hook.as<values::Function>()] == 0)
    return run.call(run.object_model_->bind_method(hook, self, object.cls, where),
        {{run.heap().string(name.text())}, {}, false}, where);
  const Value hook = run.find_in_order(object.cls->order, Name("__getattr__"));
  if (hook.is(Kind::library))
    return run.call(hook, {{self, run.heap().string(name.text())}, {}, false}, where);
  return hook.is(Kind::function) && run.active_[hook.as<values::Function>()] == 0
      ? run.call(run.object_model_->bind_method(hook, self, object.cls, where),
            {{run.heap().string(name.text())}, {}, false}, where)
      : Value{};
}

Value ObjectModel::Attribute::of_instance(values::Instance& object, Value self) {
  meet(object);
  if (object.cls && object.cls->hooks_attributes && is_descriptor(run.find_in_order(object.cls->order, name)))
    return run.heap().unseen(
        std::string(object.name.empty() ? "self" : object.name) + "." + std::string(name.text()), where);
  if (const values::Slot* slot = object.attributes.find(name); slot && slot->value) {
    if (run.attributes_read_) run.attributes_read_->insert(slot);
    const Value found = run.resolve(slot->value);
    const bool may_differ = found.is(Kind::unknown) || found.is(Kind::tensor);
    if ((found.is(Kind::list) || found.is(Kind::dict)) && object.attributes.find(handed_out))
      run.unseen_->escape(found);
    return may_differ && object.attributes.find(stands_for_many) ? run.one_of_many(found) : found;
  }
  if (object.cls)
    if (const Value found = run.find_in_order(object.cls->order, name)) {
      // A base that is not seen may make fields of annotations, and fill them when it constructs an object:
      // the class holds their defaults. What the program constructs is taken to have them.
      if (object.symbolic && object.cls->open && !found.is(Kind::function) &&
          declares_field(object.cls->order, name)) {
        const Value field = run.symbol(
            std::string(object.name.empty() ? "self" : object.name) + "." + std::string(name.text()),
            Sharing::uniform, where);
        if (field.is(Kind::unknown) &&
            (found.is(Kind::integer) || found.is(Kind::real) || found.is(Kind::string) ||
                found.is(Kind::boolean)))
          field.as<values::Unknown>()->default_value = found;
        return run.heap().slot_of(object.attributes, name).value = field;  // it was always there: no write
      }
      const auto bind = [&](Value method) {
        return run.object_model_->bind_method(method, self, object.cls, where);
      };
      const Value either = run.policy_.picks_override && run.in_roots_
          ? one_of_overrides(run, *object.cls, name, found, run.globals_, bind)
          : Value{};
      if (!either && object.symbolic && is_left_to_others(found))
        return run.heap().unseen(
            std::string(object.name.empty() ? "self" : object.name) + "." + std::string(name.text()), where);
      return either ? either : bind(found);
    }
  const values::LibrarySymbol* native = object.native ? object.native
      : object.cls                                    ? object.cls->native
                                                      : nullptr;
  if (native) {
    if (const Value found = run.object_model_->native_attribute(*native, self, name, where)) return found;
    if (const Value found = run.object_model_->native_fallback(*native, self, name, where)) return found;
  }
  if (name.text() == "__class__") return run.type_of(self, where);
  if (name.text() == "__dict__") return dict_of(object);
  if (name.text() == "__module__") return run.heap().unknown("", Sharing::uniform, where);
  // `self.__setattr__(key, value)` where the class has none of its own.
  if (name.text() == "__setattr__" && object.cls && !object.cls->open) {
    auto* bound = run.heap().make<values::Bound>();
    bound->self = self;
    bound->function = run.library_symbol("builtins.setattr");
    return Value::of(Kind::bound, bound);
  }
  if (const Value inner = run.object_model_->held(object)) {
    constexpr std::string_view own[] = {"keys", "values", "items", "get", "pop", "update", "setdefault",
        "copy", "clear", "append", "extend", "insert", "remove", "index", "sort", "popitem"};
    if (std::find(std::begin(own), std::end(own), name.text()) != std::end(own))
      return run.attribute(inner, name, where);
  }
  if (const Value found = of_hook(object, self)) return found;
  if (const std::string_view method = run.library_.presume_method(name.text());
      !method.empty() && run.calling_) {
    judge_lacking(run, object, name, where);
    auto* bound = run.heap().make<values::Bound>();
    bound->self = self;
    bound->function = run.library_symbol(method);
    return Value::of(Kind::bound, bound);
  }
  if (run.catching_ > 0 && run.has_attribute(self, name) == symbolic::Answer::no)
    return run.raise_builtin("AttributeError", where);
  judge_declared(run, object, name, where);
  judge_lacking(run, object, name, where);
  // Not seen being set: one symbol for it from now on.
  const std::string base(object.name.empty() ? "self" : object.name);
  const bool uncertain = object.native && !object.symbolic;
  Value made;
  if (uncertain)
    made = run.heap().unseen(base + "." + std::string(name.text()), where);
  else
    made = run.symbol(base + "." + std::string(name.text()), Sharing::uniform, where);
  if (made.is(Kind::unknown) && !object.open && !(object.cls && object.cls->open))
    made.as<values::Unknown>()->unseen = true;
  run.heap().slot_of(object.attributes, name).value = made;  // it was always there: no write
  return made;
}

// `object.__dict__`: what is written into it becomes an attribute.
Value ObjectModel::Attribute::dict_of(values::Instance& object) {
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [key, slot] : object.attributes.entries())
    if (slot->value && !values::is_kept(key.text()))
      items.push_back({run.heap().string(key.text()), slot->value});
  const bool open = object.open || object.symbolic ||
      (object.native && !object.cls && !object.native->path.starts_with("types.") &&
          !object.native->path.starts_with("argparse."));
  const Value dict = run.heap().dict(std::move(items), open, open ? run.heap().unseen("") : Value{});
  dict.as<values::Dict>()->mirrored = &object;
  return dict;
}

// What the class has from the class that it is an object of, where that has a name of its module.
static Value of_metaclass(Interpreter& run, const values::Class& cls, Name name) {
  for (const values::Class* one : cls.order) {
    if (!one->stmt || !one->globals) continue;
    for (const syntax::Keyword& keyword : one->stmt->keywords) {
      if (keyword.name.text() != "metaclass" || keyword.value->kind != ExprKind::name) continue;
      const values::Slot* slot = one->globals->names.find(syntax::as<syntax::NameExpr>(*keyword.value).id);
      const Value meta = slot ? run.resolve(slot->value) : Value{};
      return meta.is(Kind::class_) ? run.find_in_order(meta.as<values::Class>()->order, name) : Value{};
    }
  }
  return {};
}

Value ObjectModel::Attribute::of_class(values::Class& cls) {
  if (const Value found = run.find_in_order(cls.order, name))
    return run.object_model_->bind_method(found, {}, &cls, {});
  const std::string_view text = name.text();
  if (text == "__name__" || text == "__qualname__") return run.heap().string(cls.name.text());
  if (text == "__doc__" && cls.stmt)
    return cls.stmt->docstring.empty() ? Value::none() : run.heap().string(cls.stmt->docstring);
  if (text == "__class__") return run.library_symbol("builtins.type");
  if (text == "__dict__") {
    std::vector<std::pair<Value, Value>> items;
    if (cls.body)
      for (const auto& [key, slot] : cls.body->names.entries())
        if (slot->value && key != native_first) items.push_back({run.heap().string(key.text()), slot->value});
    if (!cls.body || cls.native || cls.open || cls.is_enum || cls.is_named_tuple)
      return run.heap().dict(std::move(items), true, run.heap().unseen(""));
    for (const std::string_view always : {"__module__", "__doc__", "__dict__", "__weakref__",
             "__annotations__", "__hash__", "__eq__", "__repr__", "__dataclass_fields__", "__match_args__"})
      if (!cls.body->names.find(Name(always)))
        items.push_back({run.heap().string(always), run.heap().unseen(always)});
    return run.heap().dict(std::move(items));
  }
  if (text == "__mro__" || text == "__bases__") {
    std::vector<Value> classes;
    if (text == "__bases__" || cls.native || cls.open) return run.heap().unseen("", where);
    classes.reserve(cls.order.size());
    for (values::Class* one : cls.order) classes.push_back(Value::of(Kind::class_, one));
    classes.push_back(run.library_symbol("builtins.object"));
    return run.heap().tuple(std::move(classes));
  }
  if (cls.is_named_tuple && (text == "_fields" || text == "_make" || text == "_field_defaults")) {
    if (text == "_fields") {
      std::vector<Value> names;
      names.reserve(cls.fields.size());
      for (const auto& field : cls.fields) names.push_back(run.heap().string(field.name.text()));
      return run.heap().tuple(std::move(names));
    }
    auto* bound = run.heap().make<values::Bound>();
    bound->self = Value::of(Kind::class_, &cls);
    bound->function = run.heap().string(text);
    return Value::of(Kind::bound, bound);
  }
  if (cls.is_enum && text == "__members__") {
    std::vector<std::pair<Value, Value>> items;
    for (const Value& member : cls.members)
      if (const values::Slot* slot = member.as<values::Instance>()->attributes.find(Name("name")))
        items.push_back({slot->value, member});
    return run.heap().dict(std::move(items));
  }
  if (cls.native)
    if (const Row* row = run.method_row(cls.native->path, name)) {
      if (row->kind != values::RowKind::class_method) return run.library_symbol(row->path);
      auto* bound = run.heap().make<values::Bound>();
      bound->self = Value::of(Kind::class_, &cls);
      bound->function = run.library_symbol(row->path);
      return Value::of(Kind::bound, bound);
    }
  if (cls.holds == Kind::dict || cls.holds == Kind::list) {
    if (text == "get" || text == "__getitem__" || text == "__setitem__" || text == "fromkeys")
      return run.library_symbol(
          (cls.holds == Kind::dict ? "builtins.dict." : "builtins.list.") + std::string(text));
  }
  if (const Value method = of_metaclass(run, cls, name); method.is(Kind::function)) {
    auto* bound = run.heap().make<values::Bound>();
    bound->self = Value::of(Kind::class_, &cls);
    bound->function = method;
    return Value::of(Kind::bound, bound);
  }
  if (text == "__new__" || text == "__setattr__" || text == "__getattribute__")
    return run.library_symbol("builtins.object." + std::string(text));
  if (run.catching_ > 0 && !cls.open && !cls.native && !text.starts_with("__"))
    return run.raise_builtin("AttributeError", where);
  return run.heap().unseen(std::string(cls.name.text()) + "." + std::string(text));
}

// `class Layer(nn.Module, Mixin)`: the library's class stands before the mixin, which does not derive from
// it, and answers in its place.
static bool library_stands_before(
    const Interpreter& run, const values::Class& cls, std::size_t at, Name name) {
  if (!cls.native ||
      !(name.text() == "__init__" ? run.constructor_row(cls.native->path)
                                  : run.method_row(cls.native->path, name)))
    return false;
  std::size_t owner = 0,
              last = 0;  // the class that is found without it, and the last one that derives from it
  for (std::size_t i = 0; i < cls.order.size(); ++i) {
    const values::Slot* slot =
        owner == 0 && i > at && cls.order[i]->body ? cls.order[i]->body->names.find(name) : nullptr;
    if (slot && slot->value) owner = i;
    if (cls.order[i]->native) last = i;
  }
  return at <= last && last < owner && cls.order[last]->body &&
      cls.order[last]->body->names.find(native_first);
}

Value ObjectModel::Attribute::of_super(const values::Super& super) {
  const Value self = super.self;
  const bool of_class = self.is(Kind::class_);
  if (!of_class && !self.is(Kind::instance)) return run.heap().unseen("", where);
  values::Class* cls = of_class ? self.as<values::Class>() : self.as<values::Instance>()->cls;
  if (!cls || !super.after) return run.heap().unseen("", where);
  const auto at = std::find(cls->order.begin(), cls->order.end(), super.after);
  if (at == cls->order.end()) return run.heap().unseen("", where);
  const auto own = static_cast<std::size_t>(at - cls->order.begin());
  if (const Value found = run.find_in_order(cls->order, name, own + 1);
      found && (of_class || !library_stands_before(run, *cls, own, name))) {
    const Value function = run.resolve(found);
    if (!of_class && function.is(Kind::library) &&
        values::is_internal(function.as<values::LibrarySymbol>()->path)) {
      auto* bound = run.heap().make<values::Bound>();
      bound->self = self;
      bound->function = function;
      return Value::of(Kind::bound, bound);
    }
    if (!of_class) return run.object_model_->bind_method(found, self, cls, where);
    if (function.is(Kind::function) && function.as<values::Function>()->is_class_method) {
      auto* bound = run.heap().make<values::Bound>();
      bound->self = self;
      bound->function = function;
      return Value::of(Kind::bound, bound);
    }
    return found;
  }
  const std::string_view text = name.text();
  if (!of_class && cls->native) {
    if (const Row* init_row = text == "__init__" ? run.constructor_row(cls->native->path) : nullptr) {
      auto* bound = run.heap().make<values::Bound>();
      bound->self = self;
      bound->function = run.library_symbol(init_row->path);
      return Value::of(Kind::bound, bound);
    }
    if (const Value found = run.object_model_->native_attribute(*cls->native, self, name, where))
      return found;
    if (text == "__getattr__") return run.library_symbol(values::InternalRow::missing);
  }
  const auto bound_to = [&](Value of, Value function) {
    auto* bound = run.heap().make<values::Bound>();
    bound->self = of;
    bound->function = function;
    return Value::of(Kind::bound, bound);
  };
  if (!of_class && cls->holds != Kind::absent) {
    auto* object = self.as<values::Instance>();
    if (text == "__init__") return bound_to(self, run.library_symbol(values::InternalRow::hold));
    if (const Value inner = run.object_model_->held(*object)) return bound_to(inner, run.heap().string(text));
  }
  if (text == "__new__") return run.library_symbol("builtins.object.__new__");
  // A method that is not seen may call the object's others, which set what they like.
  const auto not_seen = [&] {
    const Value method = run.heap().unseen("", where);
    if (!of_class && !text.starts_with("__"))
      run.heap().slot_of(method.as<values::Unknown>()->attributes, Name(values::UnknownState::one_of)).value =
          run.heap().tuple({self});  // it is new: no write
    return method;
  };
  if (cls->open) return not_seen();
  if (text == "__init__" || text == "__init_subclass__")
    return run.library_symbol("builtins.object." + std::string(text));
  if (text == "__setattr__" || text == "__getattribute__")
    return bound_to(self, run.library_symbol("builtins.object." + std::string(text)));
  if (text == "__repr__" || text == "__str__" || text == "__eq__" || text == "__hash__")
    return run.library_symbol("builtins.object." + std::string(text));
  return not_seen();
}

Value ObjectModel::Attribute::of_unknown(values::Unknown& object) {
  if (values::Slot* slot = object.attributes.find(name); slot && slot->value) {
    // A property that is not seen may make what it gives anew: what was stored in that is not in the next.
    const auto* given = object.unseen && slot->value.is(Kind::unknown) ? slot->value.as<values::Unknown>()
                                                                       : nullptr;
    // What has no name may have been given by one, too.
    if (given && was_stored_in(*given) &&
        (given->name.empty() || given->name.ends_with("." + std::string(name.text())))) {
      const Value anew = run.heap().unseen(given->name, where);
      note_part(run.heap(), anew, object);
      run.heap().set(*slot, anew);
    }
    return run.resolve(slot->value);
  }
  // What is described of a package that is not there to be read: `import peft`, `peft.get_peft_model`.
  if (const values::Slot* imported = object.attributes.find(Name(values::UnknownState::imported));
      imported && imported->value.is(Kind::none) && !object.name.empty())
    if (const std::string dotted = std::string(object.name) + "." + std::string(name.text());
        run.library_.find(dotted))
      return run.library_symbol(dotted);
  // A gradient that is asked for anything is there, and a tensor.
  if (object.is_gradient)
    if (run.method_row(run.library_.types().tensor, name))
      return run.object_model_->native_attribute(
          *run.library_symbol(run.library_.types().tensor).as<values::LibrarySymbol>(),
          Value::of(Kind::unknown, &object), name, where);
  // Modules and classes that are imported are no tensors, though they have functions of these names.
  const auto of_tensors = [&](std::string_view path) {
    return path.starts_with(std::string(run.library_.types().tensor) + ".");
  };
  // What a framework's object is called tells, together with the method, whose it is:
  // accelerator.wait_for_everyone().
  const auto of_called = [&] {
    std::string_view called = object.name;
    called.remove_prefix(std::min(called.find_last_of('.') + 1, called.size()));
    called.remove_prefix(std::min(called.find_first_not_of('_'), called.size()));
    return called.empty() || !run.calling_ || object.attributes.find(Name(values::UnknownState::annotated))
        ? std::string_view{}
        : run.library_.presume_method(std::string(called) + "." + std::string(name.text()));
  };
  // An object of a class of the program has the methods of that class, though tensors have some of these
  // names.
  const auto is_of_own_class = [&] {
    const Value declared = object.attributes.value(Name(values::UnknownState::annotated));
    const auto* native = declared.is(Kind::class_) ? declared.as<values::Class>()->native : nullptr;
    return declared.is(Kind::class_) && (!native || native->path != run.library_.types().tensor);
  };
  std::string_view of_any = run.library_.presume_method(name.text());
  if (of_tensors(of_any) && is_of_own_class()) of_any = {};
  if (const std::string_view method = of_any.empty() ? of_called() : of_any; !method.empty() &&
      !(of_tensors(method) && object.attributes.find(Name(values::UnknownState::imported)))) {
    const auto* found = run.library_symbol(method).as<values::LibrarySymbol>();
    if (found->row && found->row->kind == values::RowKind::property)
      return run.library_calls_->call_library(*found, Value::of(Kind::unknown, &object), {}, where, nullptr);
    if (run.calling_) {
      if (found->row && found->row->operation == values::Operation::state_put &&
          method.starts_with(run.library_.types().module))
        note_module(run.heap(), object);
      auto* bound = run.heap().make<values::Bound>();
      bound->self = Value::of(Kind::unknown, &object);
      bound->function = run.library_symbol(method);
      return Value::of(Kind::bound, bound);
    }
  }
  std::string text = object.name.empty() ? "" : std::string(object.name) + "." + std::string(name.text());
  Value made;
  if (object.unseen) {
    made = run.heap().unseen(text, where);
  } else if (object.of_many) {
    made = run.heap().unknown(text, object.sharing, where);
    made.as<values::Unknown>()->of_many = true;
  } else {
    made = run.symbol(text.empty() ? name.text() : std::string_view(text), object.sharing, where);
  }
  date_back(made, object);
  note_part(run.heap(), made, object);
  note_owner(run, made, object, name);
  if (made.is(Kind::unknown) && object.default_value.is(Kind::instance))
    made.as<values::Unknown>()->default_value = object.default_value.as<values::Instance>()->attributes.value(
        name);
  if (object.poisoned && made.is(Kind::unknown)) made.as<values::Unknown>()->poisoned = true;
  // What a module that was imported holds is a module, a class or a function like itself: `tf.nn`.
  if (const values::Slot* imported = object.attributes.find(Name(values::UnknownState::imported));
      imported && imported->value.is(Kind::none) && made.is(Kind::unknown))
    run.heap().slot_of(made.as<values::Unknown>()->attributes, Name(values::UnknownState::imported)).value =
        Value::none();
  run.heap().slot_of(object.attributes, name).value = made;  // it was always there: no write
  return made;
}

Value ObjectModel::Attribute::of(Value object) {
  object = run.resolve(object);
  // What may be an array of NumPy has methods of its own.
  const auto is_known = [&](Value tensor) {
    return !tensor.as<values::Tensor>()->now()->maybe_array ||
        !run.library_.presume_method(name.text()).empty() || run.library_.only_of_tensors(name.text());
  };
  switch (object.kind) {
  case Kind::instance: return of_instance(*object.as<values::Instance>(), object);
  case Kind::tensor:
    return is_known(object) ? run.builtins_->value_attribute(object, name, where)
                            : run.heap().unseen("", where);
  case Kind::class_: return of_class(*object.as<values::Class>());
  case Kind::module: return run.loader_->module_attribute(*object.as<values::ModuleObject>(), name, where);
  case Kind::unknown: {
    auto* unknown = object.as<values::Unknown>();
    run.note_choice_by_text(object);
    if (const Value tensor = unknown->state.value; tensor.is(Kind::tensor))
      return is_known(tensor) ? run.attribute(tensor, name, where) : run.heap().unseen("", where);
    return of_unknown(*unknown);
  }
  case Kind::library: {
    const auto* symbol_found = object.as<values::LibrarySymbol>();
    if (name.text() == "__name__" &&
        (!symbol_found->row || symbol_found->row->kind == values::RowKind::class_ ||
            symbol_found->row->kind == values::RowKind::function))
      return run.heap().string(symbol_found->path.substr(symbol_found->path.rfind('.') + 1));
    const values::LibrarySymbol* made = run.names_.member(*symbol_found, name);
    const Row* row = made->row;
    if (row && (row->kind == values::RowKind::constant || row->kind == values::RowKind::property))
      return run.library_calls_->call_library(*made, {}, {}, where, nullptr);
    return Value::of(Kind::library, made);
  }
  case Kind::super: return of_super(*object.as<values::Super>());
  case Kind::choice:
    if (const Value given = without_none(run, object); !given.is(Kind::choice))
      return run.attribute(given, name, where);
    return run.over_choices(object, [&](Value side) { return run.attribute(side, name, where); }, where);
  case Kind::bound:
  case Kind::function:
  case Kind::partial: return of_function(object);
  default:
    if (run.catching_ == 0 && !run.handling_)
      if (const Value made = judge_lacking_of_display(run, object, name, where)) return made;
    return run.builtins_->value_attribute(object, name, where);
  }
}

Value ObjectModel::Attribute::of_function(Value object) {
  const std::string_view text = name.text();
  const Value function = object.is(Kind::bound) ? run.resolve(object.as<values::Bound>()->function) : object;
  if (object.is(Kind::bound) && text == "__self__") return object.as<values::Bound>()->self;
  if (object.is(Kind::bound) && text == "__func__") return function;
  if (object.is(Kind::partial)) {
    const auto* partial = object.as<values::Partial>();
    if (text == "func") return partial->function;
    if (text == "args") return run.heap().tuple(partial->arguments);
    if (text == "keywords") {
      std::vector<std::pair<Value, Value>> items;
      items.reserve(partial->keywords.size());
      for (const auto& [key, value] : partial->keywords)
        items.push_back({run.heap().string(key.text()), value});
      return run.heap().dict(std::move(items));
    }
    return run.heap().unseen("", where);
  }
  if (!function.is(Kind::function)) return run.heap().unseen("", where);
  auto* known = function.as<values::Function>();
  if (const values::Slot* slot = known->attributes.find(name); slot && slot->value)
    return run.resolve(slot->value);
  if (text == "__name__")
    return run.heap().string(known->lambda ? std::string_view("<lambda>") : known->name.text());
  if (text == "__qualname__") return run.heap().string(known->qualified);
  if (text == "__module__" && known->closure && known->closure->globals)
    if (const Value module = run.resolve(known->closure->globals->names.value(Name("__name__"))))
      return module;
  if (text == "__doc__" && known->stmt)
    return known->stmt->docstring.empty() ? Value::none() : run.heap().string(known->stmt->docstring);
  // Its parameters, those with stars last, then its other names.
  if (text == "__code__" && known->stmt && known->parameters) {
    std::vector<Value> names, last;
    for (const Parameter& parameter : known->parameters->list) {
      const bool starred = parameter.kind == ParameterKind::var_positional ||
          parameter.kind == ParameterKind::var_keyword;
      (starred ? last : names).push_back(run.heap().string(parameter.name.text()));
    }
    names.insert(names.end(), last.begin(), last.end());
    for (const Name local : known->stmt->scope.locals)
      if (std::none_of(names.begin(), names.end(), [&](Value one) { return one.text() == local.text(); }))
        names.push_back(run.heap().string(local.text()));
    auto* code = run.make_native("types.CodeType", where);
    run.heap().set(
        run.heap().slot_of(code->attributes, Name("co_varnames")), run.heap().tuple(std::move(names)));
    run.heap().set(
        run.heap().slot_of(code->attributes, Name("co_name")), run.heap().string(known->stmt->name.text()));
    return Value::of(Kind::instance, code);
  }
  if (known->is_property && (text == "setter" || text == "getter" || text == "deleter")) {
    auto* bound = run.heap().make<values::Bound>();
    bound->self = function;
    bound->function = run.heap().string(text);
    return Value::of(Kind::bound, bound);
  }
  if (text == "__call__") return object;
  return run.heap().unseen("", where);
}

}  // namespace stepzero::interpreter
