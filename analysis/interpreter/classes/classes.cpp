// Classes, objects and their attributes: inheritance, properties, bound methods, library bases, symbols' attributes.
#include "interpreter/classes/abstract.hpp"
#include "interpreter/classes/lacking_attributes.hpp"
#include "interpreter/classes/module_attributes.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/loops/alike.hpp"
#include "interpreter/roots/declared_arguments.hpp"
#include "interpreter/roots/hooks.hpp"

#include "interpreter/calls/unseen.hpp"
#include "interpreter/classes/set_on_self.hpp"
#include "interpreter/expressions/unknown_items.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
const Name native_first{"$native_first"};  // in a class whose first base is one of a library

// An object of the program that stands in a class and answers for the attribute of that name.
bool is_descriptor(Value value) {
  if (!value.is(Kind::instance) || !value.as<values::Instance>()->cls) return false;
  const auto& order = value.as<values::Instance>()->cls->order;
  return std::any_of(order.begin(), order.end(), [](const values::Class* cls) { return cls->body && (cls->body->names.find(Name("__get__")) || cls->body->names.find(Name("__set__"))); });
}
} // namespace

// Python's method resolution order (C3): an ancestor comes before the next base only if no other order puts it later.
void Interpreter::merge_orders(values::Class& cls, const std::vector<values::Class*>& parents) {
  std::vector<std::vector<values::Class*>> lists;
  for (const values::Class* parent : parents) lists.push_back(parent->order);
  lists.push_back(parents);
  while (true) {
    std::erase_if(lists, [](const auto& list) { return list.empty(); });
    if (lists.empty()) return;
    const auto free = [&](values::Class* head) {
      return std::none_of(lists.begin(), lists.end(), [&](const auto& list) { return std::find(list.begin() + 1, list.end(), head) != list.end(); });
    };
    auto next = std::find_if(lists.begin(), lists.end(), [&](const auto& list) { return free(list.front()); });
    if (next == lists.end()) next = lists.begin();  // Python refuses such a class
    values::Class* const head = next->front();
    cls.order.push_back(head);
    for (auto& list : lists) std::erase(list, head);
  }
}

Value Interpreter::make_class(const ClassStmt& stmt) {
  auto* cls = heap().make<values::Class>();
  cls->name = stmt.name;
  cls->stmt = &stmt;
  cls->chunk = chunk_;
  cls->born = {chunk_, stmt.name_span};
  cls->globals = frame_->scope->globals;
  std::vector<values::Class*> parents;
  bool open = false;
  Value rest;
  std::vector<Value> bases = evaluate_elements(stmt.bases, open, rest);
  if (open) bases.push_back(heap().external(""));
  add_bases(*cls, bases, parents);
  Arguments options;
  for (const Keyword& keyword : stmt.keywords) {
    const Value value = evaluate(*keyword.value);
    if (!keyword.name.empty() && keyword.name.text() != "metaclass") options.keywords.push_back({keyword.name, value});
  }

  auto* body = heap().make<values::Scope>();
  body->parent = frame_->scope;
  body->globals = frame_->scope->globals;
  body->is_class = true;
  body->cls = cls;
  body->info = &stmt.scope;
  cls->body = body;
  values::Scope* const outer = frame_->scope;
  frame_->scope = body;
  run_block(stmt.body);
  frame_->scope = outer;
  for (const auto& [name, slot] : body->names.entries()) {
    if (name.text() == "__setattr__" || is_descriptor(slot->value)) cls->hooks_attributes = true;
    if (!slot->value.is(Kind::function)) continue;
    auto* function = slot->value.as<values::Function>();
    cls->hooks_attributes = cls->hooks_attributes || function->setter;
    if (function->owner && function->owner != cls) continue;
    function->owner = cls;
    function->qualified = heap().keep(std::string(stmt.name.text()) + "." + std::string(function->name.text()));
  }
  if (cls->is_enum) finish_enum(*cls);
  if (cls->is_named_tuple) finish_named_tuple(*cls);
  if (cls->is_dataclass) inherit_fields(*cls);
  if (cls->native && !bases.empty() && resolve(bases.front()).is(Kind::library)) heap().slot_of(body->names, native_first).value = heap().boolean(true);
  if (rehearsals_ == 0 && record_.chunks[chunk_].path == main_path_) classes_.push_back(cls);
  Value made = Value::of(Kind::class_, cls);
  if (const Value hook = parents.empty() ? Value{} : find_in_order(cls->order, Name("__init_subclass__"), 1); hook.is(Kind::function))
    call_function(*hook.as<values::Function>(), std::move(options), cls->born, made);
  for (auto it = stmt.decorators.rbegin(); it != stmt.decorators.rend(); ++it) {
    const Value decorator = resolve(evaluate(**it));
    if (!decorates(decorator)) continue;
    const Value changed = resolve(call(decorator, {{made}, {}, false}, here(**it)));
    if (changed.is(Kind::class_) || changed.is(Kind::function) || changed.is(Kind::partial) || changed.is(Kind::bound)) made = changed;
  }
  return made;
}

// Is it known what calling the decorator does? What an unseen one makes of a function is not known; most call it.
bool Interpreter::decorates(Value decorator) {
  switch (decorator.kind) {
  case Kind::function: case Kind::partial: case Kind::bound: case Kind::class_: return true;
  case Kind::library: {
    const auto* found = decorator.as<values::LibrarySymbol>();
    return (found->row && found->row->run) || found->path.starts_with("builtins.");
  }
  case Kind::instance: return static_cast<bool>(find_method(decorator.as<values::Instance>(), Name("__call__")));
  default: return false;
  }
}

Value Interpreter::find_in_order(const std::vector<values::Class*>& order, Name name, std::size_t from) const {
  for (std::size_t i = from; i < order.size(); ++i)
    if (order[i]->body)
      if (const values::Slot* slot = order[i]->body->names.find(name); slot && slot->value) return slot->value;
  return {};
}

Value Interpreter::bind_method(Value found, Value self, values::Class* cls, Place where) {
  found = resolve(found);
  if (found.is(Kind::library) && self && found.as<values::LibrarySymbol>()->row && found.as<values::LibrarySymbol>()->row->kind == values::RowKind::method) {
    auto* bound = heap().make<values::Bound>();
    bound->self = self;
    bound->function = found;
    return Value::of(Kind::bound, bound);
  }
  // Of `functools.partialmethod` the object comes before what is given already.
  if (found.is(Kind::partial) && self && found.as<values::Partial>()->function == library_symbol("functools.$method")) {
    const auto* given = found.as<values::Partial>();
    auto* made = heap().make<values::Partial>();
    made->function = bind_method(given->arguments.front(), self, cls, where);
    made->arguments.assign(given->arguments.begin() + 1, given->arguments.end());
    made->keywords = given->keywords;
    return Value::of(Kind::partial, made);
  }
  if (!found.is(Kind::function)) return found_outside(found);
  auto* function = found.as<values::Function>();
  if (function->is_static) return found;
  if (function->is_property && self) {
    const Value made = call_function(*function, {}, where, self);
    if (function->is_cached && self.is(Kind::instance)) heap().set(heap().slot_of(self.as<values::Instance>()->attributes, function->name), made);
    return made;
  }
  if (!self && !function->is_class_method) return found;
  auto* bound = heap().make<values::Bound>();
  bound->self = function->is_class_method ? Value::of(Kind::class_, cls) : self;
  bound->function = found;
  return Value::of(Kind::bound, bound);
}

// What an object of a class that derives from dict or list holds.
Value Interpreter::held(const values::Instance& object) const {
  if (!object.cls || object.cls->holds == Kind::absent) return {};
  return object.attributes.value(Name(object.cls->holds == Kind::dict ? values::ContainerState::dict : values::ContainerState::items));
}

// A method that the classes which derive from its own have to write.
static bool is_left_to_others(Value method) {
  const auto* function = method.is(Kind::function) ? method.as<values::Function>() : nullptr;
  return function && function->stmt && is_abstract(*function->stmt);
}

Value Interpreter::find_method(values::Instance* object, Name name) {
  const Value self = Value::of(Kind::instance, object);
  if (object->cls)
    if (const Value found = find_in_order(object->cls->order, name)) {
      const auto bind = [&](Value method) { return bind_method(method, self, object->cls, {}); };
      const Value either = policy_.picks_override && in_roots_ ? one_of_overrides(*this, *object->cls, name, found, globals_, bind) : Value{};
      if (!either && object->symbolic && is_left_to_others(found)) return heap().external(name.text());
      return either ? either : bind(found);
    }
  const auto bound = [&](Value of, Value function) {
    auto* made = heap().make<values::Bound>();
    made->self = of;
    made->function = function;
    return Value::of(Kind::bound, made);
  };
  const values::LibrarySymbol* native = object->native ? object->native : object->cls ? object->cls->native : nullptr;
  if (native)
    if (const Row* row = method_row(native->path, name.text())) return bound(self, library_symbol(row->path));
  if (const Value inner = held(*object)) {
    constexpr std::string_view own[] = {"__getitem__", "__len__", "__contains__", "__iter__", "__setitem__"};
    if (std::find(std::begin(own), std::end(own), name.text()) != std::end(own)) return bound(inner, heap().string(name.text()));
  }
  return {};
}

Value Interpreter::attribute_or_none(Value object, Name name, Place) {
  if (!object.is(Kind::instance)) return {};
  auto* instance = object.as<values::Instance>();
  if (const values::Slot* slot = instance->attributes.find(name); slot && slot->value) return resolve(slot->value);
  return find_method(instance, name);
}

// What the library class itself says of a name that is no attribute: its own `__getattr__`.
Value Interpreter::native_fallback(const values::LibrarySymbol& native, Value self, Name name, Place where) {
  const Row* row = method_row(native.path, "__getattr__");
  if (!row) return {};
  return resolve(call_library(*library_symbol(row->path).as<values::LibrarySymbol>(), self, {{heap().string(name.text())}, {}, false}, where, nullptr));
}

Value Interpreter::native_attribute(const values::LibrarySymbol& native, Value self, Name name, Place where) {
  const Row* row = method_row(native.path, name);
  if (!row) return {};
  if (row->kind == values::RowKind::property)
    return call_library(*library_symbol(row->path).as<values::LibrarySymbol>(), self, {}, where, nullptr);
  auto* bound = heap().make<values::Bound>();
  bound->self = self;
  bound->function = library_symbol(row->path);
  return Value::of(Kind::bound, bound);
}

namespace {
const Name met{"$met"};
// An object that was made before the function runs that nobody calls: whoever calls it may have called the object's methods before.
void meet(values::Heap& heap, values::Instance& object, std::uint64_t began) {
  if (!object.cls || object.symbolic || object.attributes.birth > began || object.attributes.value(met)) return;
  lose_set_by_methods(heap, object);
  heap.set(heap.slot_of(object.attributes, met), heap.boolean(true));
}
} // namespace

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

// Has the class a method that a decorator of which nothing is known made something of? A base that is not seen may call it where it constructs
// an object, and have it change the fields: a validator.
bool is_completed_by_others(const values::Class& cls) {
  return std::ranges::any_of(cls.order, [](const values::Class* each) {
    return each->body && std::ranges::any_of(each->body->names.entries(), [](const auto& entry) {
      const Value member = entry.second->value;
      return member.is(Kind::function) && member.as<values::Function>()->wrapped_unseen;
    });
  });
}
// What such a base leaves in the fields is not known.
void lose_fields(Interpreter& run, values::Instance& object) {
  for (const values::Class* cls : object.cls->order) {
    if (!cls->stmt) continue;
    for (const Stmt* stmt : cls->stmt->body) {
      if (stmt->kind != StmtKind::ann_assign || as<AnnAssignStmt>(*stmt).target->kind != ExprKind::name) continue;
      const Name field = as<NameExpr>(*as<AnnAssignStmt>(*stmt).target).id;
      run.heap().set(run.heap().slot_of(object.attributes, field), run.heap().external(field.text()));
    }
  }
}
} // namespace

Value Interpreter::instance_attribute(values::Instance& object, Value self, Name name, Place where) {
  if (in_roots_ && frame_) meet(heap(), object, outermost(frame_)->mark.clock);
  if (object.cls && object.cls->hooks_attributes && is_descriptor(find_in_order(object.cls->order, name))) return heap().external(std::string(object.name.empty() ? "self" : object.name) + "." + std::string(name.text()), where);
  if (const values::Slot* slot = object.attributes.find(name); slot && slot->value) {
    const Value found = resolve(slot->value);
    const bool may_differ = found.is(Kind::unknown) || found.is(Kind::tensor);
    if ((found.is(Kind::list) || found.is(Kind::dict)) && object.attributes.find(handed_out)) escape(found);
    return may_differ && object.attributes.find(stands_for_many) ? one_of_many(found) : found;
  }
  if (object.cls)
    if (const Value found = find_in_order(object.cls->order, name)) {
      // A base that is not seen may make fields of annotations, and fill them when it constructs an object: the class holds their defaults. What
      // the program constructs is taken to have them.
      if (object.symbolic && object.cls->open && !found.is(Kind::function) && declares_field(object.cls->order, name)) {
        const Value field = symbol(std::string(object.name.empty() ? "self" : object.name) + "." + std::string(name.text()), Sharing::uniform, where);
        if (field.is(Kind::unknown) && (found.is(Kind::integer) || found.is(Kind::real) || found.is(Kind::string) || found.is(Kind::boolean))) field.as<values::Unknown>()->default_value = found;
        return heap().slot_of(object.attributes, name).value = field;  // it was always there: no write
      }
      const auto bind = [&](Value method) { return bind_method(method, self, object.cls, where); };
      const Value either = policy_.picks_override && in_roots_ ? one_of_overrides(*this, *object.cls, name, found, globals_, bind) : Value{};
      if (!either && object.symbolic && is_left_to_others(found)) return heap().external(std::string(object.name.empty() ? "self" : object.name) + "." + std::string(name.text()), where);
      return either ? either : bind(found);
    }
  const values::LibrarySymbol* native = object.native ? object.native : object.cls ? object.cls->native : nullptr;
  if (native) {
    if (const Value found = native_attribute(*native, self, name, where)) return found;
    if (const Value found = native_fallback(*native, self, name, where)) return found;
  }
  if (name.text() == "__class__") return type_of(self, where);
  if (name.text() == "__dict__") return attributes_dict(object);
  if (name.text() == "__module__") return heap().unknown("", Sharing::uniform, where);
  if (const Value inner = held(object)) {
    constexpr std::string_view own[] = {"keys", "values", "items", "get", "pop", "update", "setdefault", "copy", "clear", "append", "extend", "insert", "remove", "index", "sort", "popitem"};
    if (std::find(std::begin(own), std::end(own), name.text()) != std::end(own)) return attribute(inner, name, where);
  }
  // It stands before all this in Python; it is asked where nothing else answers: what it finds so is mostly another name for the same.
  if (object.cls && !name.text().starts_with("__"))
    if (const Value hook = find_in_order(object.cls->order, Name("__getattribute__")); hook.is(Kind::function) && active_[hook.as<values::Function>()] == 0)
      return call(bind_method(hook, self, object.cls, where), {{heap().string(name.text())}, {}, false}, where);
  if (object.cls && !name.text().starts_with("__"))
    if (const Value hook = find_in_order(object.cls->order, Name("__getattr__")); hook.is(Kind::function) || hook.is(Kind::library)) {
      const auto* function = hook.is(Kind::function) ? hook.as<values::Function>() : nullptr;
      if (!function || active_[function] == 0) return call(function ? bind_method(hook, self, object.cls, where) : hook, {function ? std::vector<Value>{heap().string(name.text())} : std::vector<Value>{self, heap().string(name.text())}, {}, false}, where);
    }
  if (const std::string_view method = library_.presume_method(name.text()); !method.empty() && calling_) {
    judge_lacking(*this, object, name, where);
    auto* bound = heap().make<values::Bound>();
    bound->self = self;
    bound->function = library_symbol(method);
    return Value::of(Kind::bound, bound);
  }
  if (catching_ > 0 && has_attribute(self, name) == symbolic::Answer::no) return raise_builtin("AttributeError", where);
  judge_declared(*this, object, name, where);
  judge_lacking(*this, object, name, where);
  // Not seen being set: one symbol for it from now on.
  const std::string base(object.name.empty() ? "self" : object.name);
  const bool uncertain = object.native && !object.symbolic;
  Value made;
  if (uncertain) made = heap().external(base + "." + std::string(name.text()), where);
  else made = symbol(base + "." + std::string(name.text()), Sharing::uniform, where);
  if (made.is(Kind::unknown) && !object.open && !(object.cls && object.cls->open)) made.as<values::Unknown>()->external = true;
  heap().slot_of(object.attributes, name).value = made;  // it was always there: no write
  return made;
}

// `object.__dict__`: what is written into it becomes an attribute.
Value Interpreter::attributes_dict(values::Instance& object) {
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [name, slot] : object.attributes.entries())
    if (slot->value && !name.text().starts_with('$')) items.push_back({heap().string(name.text()), slot->value});
  const bool open = object.open || object.symbolic || (object.native && !object.cls && !object.native->path.starts_with("types.") && !object.native->path.starts_with("argparse."));
  const Value dict = heap().dict(std::move(items), open, open ? heap().external("") : Value{});
  dict.as<values::Dict>()->mirrored = &object;
  return dict;
}

Value Interpreter::class_attribute(values::Class& cls, Name name, Place where) {
  if (const Value found = find_in_order(cls.order, name)) return bind_method(found, {}, &cls, {});
  const std::string_view text = name.text();
  if (text == "__name__" || text == "__qualname__") return heap().string(cls.name.text());
  if (text == "__doc__" && cls.stmt) return cls.stmt->docstring.empty() ? Value::none() : heap().string(cls.stmt->docstring);
  if (text == "__class__") return library_symbol("builtins.type");
  if (text == "__dict__") {
    std::vector<std::pair<Value, Value>> items;
    if (cls.body)
      for (const auto& [key, slot] : cls.body->names.entries())
        if (slot->value && key != native_first) items.push_back({heap().string(key.text()), slot->value});
    if (!cls.body || cls.native || cls.open || cls.is_enum || cls.is_named_tuple) return heap().dict(std::move(items), true, heap().external(""));
    for (const std::string_view always : {"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__hash__", "__eq__", "__repr__", "__dataclass_fields__", "__match_args__"})
      if (!cls.body->names.find(Name(always))) items.push_back({heap().string(always), heap().external(always)});
    return heap().dict(std::move(items));
  }
  if (text == "__mro__" || text == "__bases__") {
    std::vector<Value> classes;
    if (text == "__bases__" || cls.native || cls.open) return heap().external("", where);
    for (values::Class* one : cls.order) classes.push_back(Value::of(Kind::class_, one));
    classes.push_back(library_symbol("builtins.object"));
    return heap().tuple(std::move(classes));
  }
  if (cls.is_named_tuple && (text == "_fields" || text == "_make" || text == "_field_defaults")) {
    if (text == "_fields") {
      std::vector<Value> names;
      for (const auto& field : cls.fields) names.push_back(heap().string(field.name.text()));
      return heap().tuple(std::move(names));
    }
    auto* bound = heap().make<values::Bound>();
    bound->self = Value::of(Kind::class_, &cls);
    bound->function = heap().string(text);
    return Value::of(Kind::bound, bound);
  }
  if (cls.is_enum && text == "__members__") {
    std::vector<std::pair<Value, Value>> items;
    for (const Value& member : cls.members)
      if (const values::Slot* slot = member.as<values::Instance>()->attributes.find(Name("name"))) items.push_back({slot->value, member});
    return heap().dict(std::move(items));
  }
  if (cls.native)
    if (const Row* row = method_row(cls.native->path, name)) {
      if (row->kind != values::RowKind::class_method) return library_symbol(row->path);
      auto* bound = heap().make<values::Bound>();
      bound->self = Value::of(Kind::class_, &cls);
      bound->function = library_symbol(row->path);
      return Value::of(Kind::bound, bound);
    }
  if (cls.holds == Kind::dict || cls.holds == Kind::list) {
    if (text == "get" || text == "__getitem__" || text == "__setitem__" || text == "fromkeys") return library_symbol((cls.holds == Kind::dict ? "builtins.dict." : "builtins.list.") + std::string(text));
  }
  if (text == "__new__" || text == "__setattr__" || text == "__getattribute__") return library_symbol("builtins.object." + std::string(text));
  if (catching_ > 0 && !cls.open && !cls.native && !text.starts_with("__")) return raise_builtin("AttributeError", where);
  return heap().external(std::string(cls.name.text()) + "." + std::string(text));
}

// `class Layer(nn.Module, Mixin)`: the library's class stands before the mixin, which does not derive from it, and answers in its place.
static bool library_stands_before(const Interpreter& run, const values::Class& cls, std::size_t at, Name name) {
  if (!cls.native || !(name.text() == "__init__" ? run.constructor_row(cls.native->path) : run.method_row(cls.native->path, name))) return false;
  std::size_t owner = 0, last = 0;  // the class that is found without it, and the last one that derives from it
  for (std::size_t i = 0; i < cls.order.size(); ++i) {
    const values::Slot* slot = owner == 0 && i > at && cls.order[i]->body ? cls.order[i]->body->names.find(name) : nullptr;
    if (slot && slot->value) owner = i;
    if (cls.order[i]->native) last = i;
  }
  return at <= last && last < owner && cls.order[last]->body && cls.order[last]->body->names.find(native_first);
}

Value Interpreter::super_attribute(const values::Super& super, Name name, Place where) {
  const Value self = super.self;
  const bool of_class = self.is(Kind::class_);
  if (!of_class && !self.is(Kind::instance)) return heap().external("", where);
  values::Class* cls = of_class ? self.as<values::Class>() : self.as<values::Instance>()->cls;
  if (!cls || !super.after) return heap().external("", where);
  const auto at = std::find(cls->order.begin(), cls->order.end(), super.after);
  if (at == cls->order.end()) return heap().external("", where);
  const auto own = static_cast<std::size_t>(at - cls->order.begin());
  if (const Value found = find_in_order(cls->order, name, own + 1); found && (of_class || !library_stands_before(*this, *cls, own, name))) {
    const Value function = resolve(found);
    if (!of_class && function.is(Kind::library) && function.as<values::LibrarySymbol>()->path.starts_with("$")) {
      auto* bound = heap().make<values::Bound>();
      bound->self = self;
      bound->function = function;
      return Value::of(Kind::bound, bound);
    }
    if (!of_class) return bind_method(found, self, cls, where);
    if (function.is(Kind::function) && function.as<values::Function>()->is_class_method) {
      auto* bound = heap().make<values::Bound>();
      bound->self = self;
      bound->function = function;
      return Value::of(Kind::bound, bound);
    }
    return found;
  }
  const std::string_view text = name.text();
  if (!of_class && cls->native) {
    if (const Row* init_row = text == "__init__" ? constructor_row(cls->native->path) : nullptr) {
      auto* bound = heap().make<values::Bound>();
      bound->self = self;
      bound->function = library_symbol(init_row->path);
      return Value::of(Kind::bound, bound);
    }
    if (const Value found = native_attribute(*cls->native, self, name, where)) return found;
    if (text == "__getattr__") return library_symbol("$missing");
  }
  const auto bound_to = [&](Value of, Value function) {
    auto* bound = heap().make<values::Bound>();
    bound->self = of;
    bound->function = function;
    return Value::of(Kind::bound, bound);
  };
  if (!of_class && cls->holds != Kind::absent) {
    auto* object = self.as<values::Instance>();
    if (text == "__init__") return bound_to(self, library_symbol("$hold"));
    if (const Value inner = held(*object)) return bound_to(inner, heap().string(text));
  }
  if (text == "__new__") return library_symbol("builtins.object.__new__");
  // A method that is not seen may call the object's others, which set what they like.
  const auto not_seen = [&] {
    const Value method = heap().external("", where);
    if (!of_class && !text.starts_with("__")) heap().slot_of(method.as<values::Unknown>()->attributes, Name("$one_of")).value = heap().tuple({self});  // it is new: no write
    return method;
  };
  if (cls->open) return not_seen();
  if (text == "__init__" || text == "__init_subclass__") return library_symbol("builtins.object." + std::string(text));
  if (text == "__setattr__" || text == "__getattribute__") return bound_to(self, library_symbol("builtins.object." + std::string(text)));
  if (text == "__repr__" || text == "__str__" || text == "__eq__" || text == "__hash__") return library_symbol("builtins.object." + std::string(text));
  return not_seen();
}

Value Interpreter::unknown_attribute(values::Unknown& object, Name name, Place where) {
  if (values::Slot* slot = object.attributes.find(name); slot && slot->value) {
    // A property that is not seen may make what it gives anew: what was stored in that is not in the next.
    const auto* given = object.external && slot->value.is(Kind::unknown) ? slot->value.as<values::Unknown>() : nullptr;
    // What has no name may have been given by one, too.
    if (given && was_stored_in(*given) && (given->name.empty() || given->name.ends_with("." + std::string(name.text())))) {
      const Value anew = heap().external(given->name, where);
      note_part(heap(), anew, object);
      heap().set(*slot, anew);
    }
    return resolve(slot->value);
  }
  // A gradient that is asked for anything is there, and a tensor.
  if (object.is_gradient)
    if (method_row(library_.types().tensor, name))
      return native_attribute(*library_symbol(library_.types().tensor).as<values::LibrarySymbol>(), Value::of(Kind::unknown, &object), name, where);
  // Modules and classes that are imported are no tensors, though they have functions of these names.
  const auto of_tensors = [&](std::string_view path) { return path.starts_with(std::string(library_.types().tensor) + "."); };
  // What a framework's object is called tells, together with the method, whose it is: accelerator.wait_for_everyone().
  const auto of_called = [&] {
    std::string_view called = object.name;
    called.remove_prefix(std::min(called.find_last_of('.') + 1, called.size()));
    called.remove_prefix(std::min(called.find_first_not_of('_'), called.size()));
    return called.empty() || !calling_ || object.attributes.find(Name("$declared")) ? std::string_view{} : library_.presume_method(std::string(called) + "." + std::string(name.text()));
  };
  // An object of a class of the program has the methods of that class, though tensors have some of these names.
  const auto is_of_own_class = [&] {
    const Value declared = object.attributes.value(Name("$declared"));
    const auto* native = declared.is(Kind::class_) ? declared.as<values::Class>()->native : nullptr;
    return declared.is(Kind::class_) && (!native || native->path != library_.types().tensor);
  };
  std::string_view of_any = library_.presume_method(name.text());
  if (of_tensors(of_any) && is_of_own_class()) of_any = {};
  if (const std::string_view method = of_any.empty() ? of_called() : of_any; !method.empty() && !(of_tensors(method) && object.attributes.find(Name("$imported")))) {
    const auto* found = library_symbol(method).as<values::LibrarySymbol>();
    if (found->row && found->row->kind == values::RowKind::property)
      return call_library(*found, Value::of(Kind::unknown, &object), {}, where, nullptr);
    if (calling_) {
      auto* bound = heap().make<values::Bound>();
      bound->self = Value::of(Kind::unknown, &object);
      bound->function = library_symbol(method);
      return Value::of(Kind::bound, bound);
    }
  }
  std::string text = object.name.empty() ? "" : std::string(object.name) + "." + std::string(name.text());
  Value made;
  if (object.external) {
    made = heap().external(text, where);
  } else if (object.of_many) {
    made = heap().unknown(text, object.sharing, where);
    made.as<values::Unknown>()->of_many = true;
  } else {
    made = symbol(text.empty() ? name.text() : std::string_view(text), object.sharing, where);
  }
  note_part(heap(), made, object);
  note_owner(*this, made, object, name);
  if (object.blamed && made.is(Kind::unknown)) made.as<values::Unknown>()->blamed = true;
  // What a module that was imported holds is a module, a class or a function like itself: `tf.nn`.
  if (const values::Slot* imported = object.attributes.find(Name("$imported")); imported && imported->value.is(Kind::none) && made.is(Kind::unknown))
    heap().slot_of(made.as<values::Unknown>()->attributes, Name("$imported")).value = Value::none();
  heap().slot_of(object.attributes, name).value = made;  // it was always there: no write
  return made;
}

Value Interpreter::attribute(Value object, Name name, Place where) {
  object = resolve(object);
  // What may be an array of NumPy has methods of its own.
  const auto is_known = [&](Value tensor) {
    return !tensor.as<values::Tensor>()->now()->maybe_array || !library_.presume_method(name.text()).empty() || library_.only_of_tensors(name.text());
  };
  switch (object.kind) {
  case Kind::instance: return instance_attribute(*object.as<values::Instance>(), object, name, where);
  case Kind::tensor: return is_known(object) ? value_attribute(object, name, where) : heap().external("", where);
  case Kind::class_: return class_attribute(*object.as<values::Class>(), name, where);
  case Kind::module: return module_attribute(*object.as<values::ModuleObject>(), name, where);
  case Kind::unknown: {
    auto* unknown = object.as<values::Unknown>();
    note_choice_by_text(object);
    if (const Value tensor = unknown->state.value; tensor.is(Kind::tensor)) return is_known(tensor) ? attribute(tensor, name, where) : heap().external("", where);
    return unknown_attribute(*unknown, name, where);
  }
  case Kind::library: {
    const auto* symbol_found = object.as<values::LibrarySymbol>();
    if (name.text() == "__name__" && (!symbol_found->row || symbol_found->row->kind == values::RowKind::class_ || symbol_found->row->kind == values::RowKind::function))
      return heap().string(symbol_found->path.substr(symbol_found->path.rfind('.') + 1));
    values::LibrarySymbol*& member = members_[{symbol_found, name}];
    if (!member) member = library_symbol(std::string(symbol_found->path) + "." + std::string(name.text())).as<values::LibrarySymbol>();
    const Value made = Value::of(Kind::library, member);
    const Row* row = made.as<values::LibrarySymbol>()->row;
    if (row && (row->kind == values::RowKind::constant || row->kind == values::RowKind::property))
      return call_library(*made.as<values::LibrarySymbol>(), {}, {}, where, nullptr);
    return made;
  }
  case Kind::super: return super_attribute(*object.as<values::Super>(), name, where);
  case Kind::choice:
    if (const Value given = without_none(*this, object); !given.is(Kind::choice)) return attribute(given, name, where);
    return over_choices(object, [&](Value side) { return attribute(side, name, where); }, where);
  case Kind::bound:
  case Kind::function:
  case Kind::partial: return function_attribute(object, name, where);
  default: return value_attribute(object, name, where);
  }
}

Value Interpreter::function_attribute(Value object, Name name, Place where) {
  const std::string_view text = name.text();
  const Value function = object.is(Kind::bound) ? resolve(object.as<values::Bound>()->function) : object;
  if (object.is(Kind::bound) && text == "__self__") return object.as<values::Bound>()->self;
  if (object.is(Kind::bound) && text == "__func__") return function;
  if (object.is(Kind::partial)) {
    const auto* partial = object.as<values::Partial>();
    if (text == "func") return partial->function;
    if (text == "args") return heap().tuple(partial->arguments);
    if (text == "keywords") {
      std::vector<std::pair<Value, Value>> items;
      for (const auto& [key, value] : partial->keywords) items.push_back({heap().string(key.text()), value});
      return heap().dict(std::move(items));
    }
    return heap().external("", where);
  }
  if (!function.is(Kind::function)) return heap().external("", where);
  auto* known = function.as<values::Function>();
  if (const values::Slot* slot = known->attributes.find(name); slot && slot->value) return resolve(slot->value);
  if (text == "__name__") return heap().string(known->lambda ? std::string_view("<lambda>") : known->name.text());
  if (text == "__qualname__") return heap().string(known->qualified);
  if (text == "__doc__" && known->stmt) return known->stmt->docstring.empty() ? Value::none() : heap().string(known->stmt->docstring);
  // Its parameters, those with stars last, then its other names.
  if (text == "__code__" && known->stmt && known->parameters) {
    std::vector<Value> names, last;
    for (const Parameter& parameter : known->parameters->list) {
      const bool starred = parameter.kind == ParameterKind::var_positional || parameter.kind == ParameterKind::var_keyword;
      (starred ? last : names).push_back(heap().string(parameter.name.text()));
    }
    names.insert(names.end(), last.begin(), last.end());
    for (const Name local : known->stmt->scope.locals)
      if (std::none_of(names.begin(), names.end(), [&](Value one) { return one.text() == local.text(); })) names.push_back(heap().string(local.text()));
    auto* code = make_native("types.CodeType", where);
    heap().set(heap().slot_of(code->attributes, Name("co_varnames")), heap().tuple(std::move(names)));
    heap().set(heap().slot_of(code->attributes, Name("co_name")), heap().string(known->stmt->name.text()));
    return Value::of(Kind::instance, code);
  }
  if (known->is_property && (text == "setter" || text == "getter" || text == "deleter")) {
    auto* bound = heap().make<values::Bound>();
    bound->self = function;
    bound->function = heap().string(text);
    return Value::of(Kind::bound, bound);
  }
  if (text == "__call__") return object;
  return heap().external("", where);
}

void Interpreter::set_attribute(Value object, Name name, Value value, Place where) {
  object = resolve(object);
  if (object.is(Kind::tensor) || object.is(Kind::unknown)) store_in_tensor(object, name, value, where);
  switch (object.kind) {
  case Kind::instance: {
    auto* instance = object.as<values::Instance>();
    if (in_roots_ && frame_) meet(heap(), *instance, outermost(frame_)->mark.clock);
    if (instance->cls && instance->cls->hooks_attributes) {
      if (is_descriptor(find_in_order(instance->cls->order, name))) return escape(value);
      if (const Value found = resolve(find_in_order(instance->cls->order, name)); found.is(Kind::function) && found.as<values::Function>()->setter) {
        call_function(*found.as<values::Function>()->setter, {{value}, {}, false}, {}, object);
        return;
      }
      if (const Value hook = find_in_order(instance->cls->order, Name("__setattr__")); hook.is(Kind::function) && active_[hook.as<values::Function>()] == 0) {
        call_function(*hook.as<values::Function>(), {{heap().string(name.text()), value}, {}, false}, {}, object);
        return;
      }
      if (const Value hook = find_in_order(instance->cls->order, Name("__setattr__")); hook.is(Kind::library)) {
        call(hook, {{object, heap().string(name.text()), value}, {}, false}, {});
        return;
      }
    }
    // One of the library alone may hand on all that it is given.
    if (const Value part = resolve(value); part.is(Kind::instance) || part.is(Kind::unknown) || part.is(Kind::choice) || (instance->native && !instance->cls && !name.text().starts_with("$"))) {
      const values::LibrarySymbol* native = instance->native ? instance->native : instance->cls ? instance->cls->native : nullptr;
      if (const Row* row = native ? method_row(native->path, "__setattr__") : nullptr)
        if (resolve(call_library(*library_symbol(row->path).as<values::LibrarySymbol>(), object, {{heap().string(name.text()), value}, {}, false}, {}, nullptr))) return;
    }
    if (const values::LibrarySymbol* native = instance->native ? instance->native : instance->cls ? instance->cls->native : nullptr)
      if (const Row* setter = setter_row(*this, native->path, name)) call_library(*library_symbol(setter->path).as<values::LibrarySymbol>(), object, {{value}, {}, false}, where, nullptr);
    values::Slot& slot = heap().slot_of(instance->attributes, name);
    judge_module_attribute(*this, *instance, name, slot.value, value, frame_ ? frame_->function : nullptr, where);
    // A tensor under the name of a buffer is the buffer from here on.
    const auto is_buffer = [](Value held) { return held.is(Kind::tensor) && held.as<values::Tensor>()->role == values::TensorRole::buffer; };
    if (const Value put = resolve(value); put.is(Kind::tensor) && put.as<values::Tensor>()->role == values::TensorRole::plain && slot.value && is_buffer(resolve(slot.value)))
      put.as<values::Tensor>()->role = values::TensorRole::buffer;
    // Which of them is meant is not known: the others keep what they have.
    heap().set(slot, instance->of_many && slot.value ? heap().merge(slot.value, value, Sharing::uniform) : value);
    return;
  }
  case Kind::class_:
    if (object.as<values::Class>()->body) heap().set(heap().slot_of(object.as<values::Class>()->body->names, name), value);
    return;
  case Kind::module:
    note_all_used(object.as<values::ModuleObject>()->globals);
    if (object.as<values::ModuleObject>()->globals) heap().set(heap().slot_of(object.as<values::ModuleObject>()->globals->names, name), value);
    return;
  case Kind::function: heap().set(heap().slot_of(object.as<values::Function>()->attributes, name), value); return;
  case Kind::library: note_replaced(heap(), outermost_globals(frame_), library_.canonical(std::string(object.as<values::LibrarySymbol>()->path) + "." + std::string(name.text()))); return;
  case Kind::unknown:
    // What was there before is there still on other paths.
    if (!path_.empty() && !object.as<values::Unknown>()->attributes.find(name)) (void)unknown_attribute(*object.as<values::Unknown>(), name, where);
    heap().set(heap().slot_of(object.as<values::Unknown>()->attributes, name), value);
    // Who calls that object reaches this one as well.
    if (const Value held = resolve(value); held.is(Kind::instance) && !is_a(held, library_.types().module)) escape(held);
    return;
  case Kind::choice: {
    // Each side gets the value only if its condition holds.
    const auto* choice = object.as<values::Choice>();
    fork(
        choice->condition, nullptr, {}, [&] { set_attribute(choice->yes, name, value, where); return Flow::normal; },
        [&] { set_attribute(choice->no, name, value, where); return Flow::normal; });
    return;
  }
  default: return;
  }
}

Value Interpreter::instantiate(values::Class& cls, Arguments arguments, Place where, const CallExpr* expr) {
  if (cls.is_enum && !cls.members.empty() && arguments.positional.size() == 1) return enum_member(cls, resolve(arguments.positional[0]), where);
  if (const Value maker = find_in_order(cls.order, Name("__new__")); maker.is(Kind::function) && active_[maker.as<values::Function>()] == 0) {
    Arguments given = arguments;
    given.positional.insert(given.positional.begin(), Value::of(Kind::class_, &cls));
    const Value made = resolve(call_function(*maker.as<values::Function>(), std::move(given), where, {}));
    if (!made.is(Kind::instance) || made.as<values::Instance>()->cls != &cls) return made;
    if (const Value init = find_in_order(cls.order, Name("__init__")); init.is(Kind::function))
      call_function(*init.as<values::Function>(), std::move(arguments), where, made);
    return made;
  }
  if (cls.is_named_tuple) return make_named(cls, arguments, where);
  auto* object = heap().make<values::Instance>();
  object->cls = &cls;
  object->born = where;
  object->open = cls.open;
  const Value self = Value::of(Kind::instance, object);
  if (cls.holds == Kind::dict) heap().set(heap().slot_of(object->attributes, Name(values::ContainerState::dict)), heap().dict({}));
  if (cls.holds == Kind::list) heap().set(heap().slot_of(object->attributes, Name(values::ContainerState::items)), heap().list({}));
  const Value init = find_in_order(cls.order, Name("__init__"));
  const bool judged = expr && std::ranges::all_of(cls.order, [](const values::Class* each) { return each->stmt && each->stmt->decorators.empty() && each->stmt->keywords.empty(); });
  const auto refused = [&] {
    const Value made_up = heap().unknown_from(arguments.positional, where);
    made_up.as<values::Unknown>()->blamed = true;
    return made_up;
  };
  if (init.is(Kind::function)) {
    arguments.positional.insert(arguments.positional.begin(), self);
    if (judged && refuses(*init.as<values::Function>(), arguments, self, where, *expr, &cls)) return refused();
    call_function(*init.as<values::Function>(), std::move(arguments), where, {});
    if (record_.steps < step_limit_) note_built(*object);
    else lose_half_built(heap(), *object, *init.as<values::Function>());
  } else if (cls.is_dataclass) {
    if (expr && refuses_fields(cls, arguments, where, *expr)) return refused();
    fill_dataclass(*object, std::move(arguments), where);
  } else if (cls.holds != Kind::absent) {
    hold(*object, arguments, where);
  } else if (cls.native && cls.native->row) {
    const Row* init_row = constructor_row(cls.native->path);
    call_library(*library_symbol(init_row->path).as<values::LibrarySymbol>(), self, std::move(arguments), where, expr);
  } else {
    if (judged && refuses_all(cls, arguments, where, *expr)) return refused();
    for (const auto& [name, value] : arguments.keywords) heap().set(heap().slot_of(object->attributes, name), value);
    if (cls.open && is_completed_by_others(cls)) lose_fields(*this, *object);
    if (cls.native) heap().set(heap().slot_of(object->attributes, Name("args")), heap().tuple(arguments.positional));
    else if (!arguments.keywords.empty() || !arguments.positional.empty()) object->open = true;
  }
  return self;
}

void Interpreter::hold(values::Instance& object, const Arguments& arguments, Place where) {
  Arguments given = arguments;
  if (object.cls->holds == Kind::dict) heap().set(heap().slot_of(object.attributes, Name(values::ContainerState::dict)), call_builtin("dict", given, where));
  else heap().set(heap().slot_of(object.attributes, Name(values::ContainerState::items)), call_builtin("list", given, where));
}

} // namespace stepzero::interpreter
