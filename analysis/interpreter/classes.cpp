// Classes, objects and their attributes: inheritance, properties, bound methods, library bases, symbols' attributes.
#include "interpreter/interpreter.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

// Python's method resolution order (C3): an ancestor comes before the next base only if no other order puts it later.
void merge_orders(std::vector<values::Class*>& order, const std::vector<values::Class*>& parents) {
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
    order.push_back(head);
    for (auto& list : lists) std::erase(list, head);
  }
}

} // namespace

Value Interpreter::make_class(const ClassStmt& stmt) {
  auto* cls = heap().make<values::Class>();
  cls->name = stmt.name;
  cls->stmt = &stmt;
  cls->chunk = chunk_;
  cls->born = {chunk_, stmt.name_span};
  cls->globals = frame_->scope->globals;
  cls->order.push_back(cls);
  std::vector<values::Class*> parents;
  for (const Expr* expr : stmt.bases) {
    const Value base = resolve(evaluate(*expr));
    if (base.is(Kind::class_)) {
      auto* parent = base.as<values::Class>();
      parents.push_back(parent);
      if (!cls->native) cls->native = parent->native;
      cls->open = cls->open || parent->open;
      cls->is_dataclass = cls->is_dataclass || parent->is_dataclass;
    } else if (base.is(Kind::library)) {
      auto* symbol_found = base.as<values::LibrarySymbol>();
      if (symbol_found->row && symbol_found->row->kind == values::RowKind::class_) {
        if (!cls->native) cls->native = symbol_found;
      } else if (symbol_found->path != "builtins.object" && symbol_found->path != "typing.Generic" && symbol_found->path != "abc.ABC") {
        cls->open = true;
      }
    } else {
      cls->open = true;
    }
  }
  merge_orders(cls->order, parents);
  for (const Keyword& keyword : stmt.keywords) evaluate(*keyword.value);

  auto* body = heap().make<values::Scope>();
  body->parent = frame_->scope;
  body->globals = frame_->scope->globals;
  body->is_class = true;
  body->info = &stmt.scope;
  cls->body = body;
  values::Scope* const outer = frame_->scope;
  frame_->scope = body;
  run_block(stmt.body);
  frame_->scope = outer;
  for (const auto& [name, slot] : body->names.entries())
    if (slot->value.is(Kind::function) && !slot->value.as<values::Function>()->owner) {
      auto* function = slot->value.as<values::Function>();
      function->owner = cls;
      function->qualified = heap().keep(std::string(stmt.name.text()) + "." + std::string(function->name.text()));
    }
  for (const Expr* decorator : stmt.decorators) {
    const Value value = resolve(evaluate(*decorator));
    if (value.is(Kind::library) && value.as<values::LibrarySymbol>()->path == "dataclasses.dataclass") cls->is_dataclass = true;
    if (decorator->kind == ExprKind::call) {
      const Value function = resolve(evaluate(*as<CallExpr>(*decorator).function));
      if (function.is(Kind::library) && function.as<values::LibrarySymbol>()->path == "dataclasses.dataclass") cls->is_dataclass = true;
    }
  }
  if (rehearsals_ == 0 && record_.chunks[chunk_].path == main_path_) classes_.push_back(cls);
  return Value::of(Kind::class_, cls);
}

Value Interpreter::find_in_order(const std::vector<values::Class*>& order, Name name, std::size_t from) const {
  for (std::size_t i = from; i < order.size(); ++i)
    if (order[i]->body)
      if (const values::Slot* slot = order[i]->body->names.find(name); slot && slot->value) return slot->value;
  return {};
}

Value Interpreter::bind_method(Value found, Value self, values::Class* cls, Place where) {
  found = resolve(found);
  if (found.is(Kind::function)) {
    auto* function = found.as<values::Function>();
    if (function->is_static) return found;
    if (function->is_property && self) return call_function(*function, {}, where, self);
    auto* bound = heap().make<values::Bound>();
    bound->self = function->is_class_method || !self ? Value::of(Kind::class_, cls) : self;
    if (!self && !function->is_class_method) return found;
    bound->function = found;
    return Value::of(Kind::bound, bound);
  }
  return found;
}

Value Interpreter::find_method(values::Instance* object, Name name) {
  const Value self = Value::of(Kind::instance, object);
  if (object->cls)
    if (const Value found = find_in_order(object->cls->order, name)) return bind_method(found, self, object->cls, {});
  const values::LibrarySymbol* native = object->native ? object->native : object->cls ? object->cls->native : nullptr;
  if (native)
    if (const Row* row = method_row(native->path, name.text())) {
      auto* bound = heap().make<values::Bound>();
      bound->self = self;
      bound->function = library_symbol(row->path);
      return Value::of(Kind::bound, bound);
    }
  return {};
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

Value Interpreter::instance_attribute(values::Instance& object, Value self, Name name, Place where) {
  if (object.cls)
    if (const Value found = resolve(find_in_order(object.cls->order, name)); found.is(Kind::function) && found.as<values::Function>()->is_property)
      return bind_method(found, self, object.cls, where);
  if (const values::Slot* slot = object.attributes.find(name); slot && slot->value) return resolve(slot->value);
  if (object.cls)
    if (const Value found = find_in_order(object.cls->order, name)) return bind_method(found, self, object.cls, where);
  const values::LibrarySymbol* native = object.native ? object.native : object.cls ? object.cls->native : nullptr;
  if (native)
    if (const Value found = native_attribute(*native, self, name, where)) return found;
  if (const std::string_view method = library_.presume_method(name.text()); !method.empty()) {
    auto* bound = heap().make<values::Bound>();
    bound->self = self;
    bound->function = library_symbol(method);
    return Value::of(Kind::bound, bound);
  }
  if (name.text() == "__class__" && object.cls) return Value::of(Kind::class_, object.cls);
  if (name.text() == "__dict__") return heap().dict({}, true, heap().external(""));
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

Value Interpreter::class_attribute(values::Class& cls, Name name) {
  if (const Value found = find_in_order(cls.order, name)) return bind_method(found, {}, &cls, {});
  if (name.text() == "__name__") return heap().string(cls.name.text());
  if (cls.native)
    if (const Row* row = method_row(cls.native->path, name)) return library_symbol(row->path);
  return heap().external(std::string(cls.name.text()) + "." + std::string(name.text()));
}

Value Interpreter::unknown_attribute(values::Unknown& object, Name name, Place where) {
  if (const values::Slot* slot = object.attributes.find(name); slot && slot->value) return resolve(slot->value);
  if (const std::string_view method = library_.presume_method(name.text()); !method.empty()) {
    const auto* found = library_symbol(method).as<values::LibrarySymbol>();
    if (found->row && found->row->kind == values::RowKind::property)
      return call_library(*found, Value::of(Kind::unknown, &object), {}, where, nullptr);
    auto* bound = heap().make<values::Bound>();
    bound->self = Value::of(Kind::unknown, &object);
    bound->function = library_symbol(method);
    return Value::of(Kind::bound, bound);
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
  heap().slot_of(object.attributes, name).value = made;  // it was always there: no write
  return made;
}

Value Interpreter::attribute(Value object, Name name, Place where) {
  object = resolve(object);
  switch (object.kind) {
  case Kind::instance: return instance_attribute(*object.as<values::Instance>(), object, name, where);
  case Kind::class_: return class_attribute(*object.as<values::Class>(), name);
  case Kind::module: return module_attribute(*object.as<values::ModuleObject>(), name, where);
  case Kind::unknown: {
    auto* unknown = object.as<values::Unknown>();
    if (const Value tensor = unknown->state.value; tensor.is(Kind::tensor)) {
      const bool known = !tensor.as<values::Tensor>()->now()->maybe_array || !library_.presume_method(name.text()).empty();
      return known ? attribute(tensor, name, where) : heap().external("", where);
    }
    return unknown_attribute(*unknown, name, where);
  }
  case Kind::library: {
    const auto* symbol_found = object.as<values::LibrarySymbol>();
    values::LibrarySymbol*& member = members_[{symbol_found, name}];
    if (!member) member = library_symbol(std::string(symbol_found->path) + "." + std::string(name.text())).as<values::LibrarySymbol>();
    const Value made = Value::of(Kind::library, member);
    const Row* row = made.as<values::LibrarySymbol>()->row;
    if (row && (row->kind == values::RowKind::constant || row->kind == values::RowKind::property))
      return call_library(*made.as<values::LibrarySymbol>(), {}, {}, where, nullptr);
    return made;
  }
  case Kind::super: {
    const auto* super = object.as<values::Super>();
    const Value self = super->self;
    if (!self.is(Kind::instance)) return heap().external("", where);
    auto* instance = self.as<values::Instance>();
    if (instance->cls && super->after) {
      const auto& order = instance->cls->order;
      const auto at = std::find(order.begin(), order.end(), super->after);
      if (at != order.end())
        if (const Value found = find_in_order(order, name, static_cast<std::size_t>(at - order.begin()) + 1))
          return bind_method(found, self, instance->cls, where);
      if (instance->cls->native)
        if (const Value found = native_attribute(*instance->cls->native, self, name, where)) return found;
    }
    return heap().external("", where);
  }
  case Kind::choice: return over_choices(object, [&](Value side) { return attribute(side, name, where); }, where);
  case Kind::bound:
  case Kind::function:
    if (object.is(Kind::function) && name.text() == "__name__") return heap().string(object.as<values::Function>()->name.text());
    return heap().external("", where);
  default: return value_attribute(object, name, where);
  }
}

void Interpreter::set_attribute(Value object, Name name, Value value) {
  object = resolve(object);
  switch (object.kind) {
  case Kind::instance: heap().set(heap().slot_of(object.as<values::Instance>()->attributes, name), value); return;
  case Kind::class_:
    if (object.as<values::Class>()->body) heap().set(heap().slot_of(object.as<values::Class>()->body->names, name), value);
    return;
  case Kind::module:
    if (object.as<values::ModuleObject>()->globals) heap().set(heap().slot_of(object.as<values::ModuleObject>()->globals->names, name), value);
    return;
  case Kind::unknown: heap().set(heap().slot_of(object.as<values::Unknown>()->attributes, name), value); return;
  case Kind::choice: {
    // Each side gets the value only if its condition holds.
    const auto* choice = object.as<values::Choice>();
    fork(
        choice->condition, nullptr, {}, [&] { set_attribute(choice->yes, name, value); return Flow::normal; },
        [&] { set_attribute(choice->no, name, value); return Flow::normal; });
    return;
  }
  default: return;
  }
}

Value Interpreter::instantiate(values::Class& cls, Arguments arguments, Place where, const CallExpr* expr) {
  auto* object = heap().make<values::Instance>();
  object->cls = &cls;
  object->born = where;
  object->open = cls.open;
  const Value self = Value::of(Kind::instance, object);
  if (const Value init = find_in_order(cls.order, Name("__init__")); init.is(Kind::function)) {
    call_function(*init.as<values::Function>(), std::move(arguments), where, self);
  } else if (cls.is_dataclass) {
    fill_dataclass(*object, cls, std::move(arguments));
    if (const Value after = find_in_order(cls.order, Name("__post_init__")); after.is(Kind::function))
      call_function(*after.as<values::Function>(), {}, where, self);
  } else if (cls.native && cls.native->row) {
    if (const Row* init_row = method_row(cls.native->path, "__init__"))
      call_library(*library_symbol(init_row->path).as<values::LibrarySymbol>(), self, std::move(arguments), where, expr);
    else call_library(*cls.native, self, std::move(arguments), where, expr);
  } else {
    for (const auto& [name, value] : arguments.keywords) heap().set(heap().slot_of(object->attributes, name), value);
    object->open = true;
  }
  return self;
}

void Interpreter::fill_dataclass(values::Instance& object, values::Class& cls, Arguments arguments) {
  std::size_t next = 0;
  std::vector<Name> done;
  for (auto it = cls.order.rbegin(); it != cls.order.rend(); ++it) {
    if (!(*it)->stmt) continue;
    for (const Stmt* stmt : (*it)->stmt->body) {
      if (stmt->kind != StmtKind::ann_assign || as<AnnAssignStmt>(*stmt).target->kind != ExprKind::name) continue;
      const Name field = as<NameExpr>(*as<AnnAssignStmt>(*stmt).target).id;
      if (std::find(done.begin(), done.end(), field) != done.end()) continue;
      done.push_back(field);
      Value value;
      if (next < arguments.positional.size()) value = arguments.positional[next++];
      for (const auto& [name, given] : arguments.keywords)
        if (name == field) value = given;
      if (!value && arguments.spread) value = heap().unknown(field.text(), Sharing::uniform);
      if (!value)
        if (const values::Slot* slot = (*it)->body->names.find(field)) value = slot->value;
      if (!value) value = heap().external(field.text());
      heap().set(heap().slot_of(object.attributes, field), value);
    }
  }
}

} // namespace stepzero::interpreter
