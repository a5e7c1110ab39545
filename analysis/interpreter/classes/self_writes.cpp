#include "interpreter/classes/self_writes.hpp"

#include "syntax/attribute_writes.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::interpreter {

using namespace syntax;

namespace {

bool is_named(const Expr* expr, Name name) {
  return expr->kind == ExprKind::name && as<NameExpr>(*expr).id == name;
}

// What the text of a method may set on its object.
class Reader {
public:
  Reader(Name of_object, Changes& into) : self(of_object), changes(into) {}
  void block(syntax::Block statements) {
    for (const Stmt* stmt : statements) statement(*stmt);
  }

private:
  void statement(const Stmt& stmt);
  void compound(const Stmt& stmt);
  void target(const Expr* expr);
  void called(const Expr* expr);
  void changed(const Expr* held);
  bool sets_by_name(const CallExpr& call);
  void registers(const CallExpr& call, Name method);
  bool is_self(const Expr* expr) const;
  const AttributeExpr* attribute_of_self(const Expr* expr) const;

  Name self;
  Changes& changes;
};

// self, or its class: self.__class__, type(self), the class by its name.
bool Reader::is_self(const Expr* expr) const {
  if (is_named(expr, self) || (!changes.cls.text().empty() && is_named(expr, changes.cls))) return true;
  if (expr->kind == ExprKind::attribute)
    return as<AttributeExpr>(*expr).attribute.text() == "__class__" &&
        is_named(as<AttributeExpr>(*expr).object, self);
  if (expr->kind != ExprKind::call) return false;
  const auto& call = as<CallExpr>(*expr);
  return call.arguments.size() == 1 && is_named(call.function, Name("type")) &&
      is_named(call.arguments[0], self);
}

const AttributeExpr* Reader::attribute_of_self(const Expr* expr) const {
  if (expr->kind != ExprKind::attribute) return nullptr;
  const auto& attribute = as<AttributeExpr>(*expr);
  return is_self(attribute.object) ? &attribute : nullptr;
}

// self.runs[i].append(one): what the container holds changes.
void Reader::changed(const Expr* held) {
  const Expr* whole = held;
  while (whole->kind == ExprKind::subscript) whole = as<SubscriptExpr>(*whole).object;
  if (const auto* attribute = whole != held ? attribute_of_self(whole) : nullptr) {
    changes.changed.push_back(attribute->attribute);
    changes.changed_within.push_back(attribute->attribute);
    return;
  }
  if (const auto* attribute = attribute_of_self(held))
    changes.changed.push_back(attribute->attribute);
  else if (held->kind == ExprKind::attribute)
    if (const auto* outer = attribute_of_self(as<AttributeExpr>(*held).object))
      changes.changed_in.emplace_back(outer->attribute, as<AttributeExpr>(*held).attribute);
}

void Reader::target(const Expr* expr) {
  if (!expr) return;
  if (const auto* attribute = attribute_of_self(expr)) changes.set.push_back(attribute->attribute);
  if (expr->kind == ExprKind::subscript) changed(as<SubscriptExpr>(*expr).object);
  if (expr->kind == ExprKind::starred) target(as<StarredExpr>(*expr).value);
  if (expr->kind == ExprKind::tuple)
    for (const Expr* part : as<TupleExpr>(*expr).elements) target(part);
  if (expr->kind == ExprKind::list)
    for (const Expr* part : as<ListExpr>(*expr).elements) target(part);
}

// setattr(self, name, value)
bool Reader::sets_by_name(const CallExpr& call) {
  return call.function->kind == ExprKind::name && as<NameExpr>(*call.function).id.text() == "setattr" &&
      call.arguments.size() == 3 && is_named(call.arguments[0], self);
}

// self.register_buffer(name, tensor)
void Reader::registers(const CallExpr& call, Name method) {
  if (call.arguments.empty() || !registers_attribute(method.text())) return;
  if (call.arguments[0]->kind == ExprKind::string)
    changes.set.push_back(Name(as<StringExpr>(*call.arguments[0]).value));
  else
    changes.registers = true;
}

// self.parts.append(part), last = self.parts.pop()
void Reader::called(const Expr* expr) {
  constexpr std::string_view changing[] = {"append", "extend", "insert", "pop", "remove", "clear", "update",
      "setdefault", "add", "discard", "appendleft", "popleft", "popitem"};
  if (!expr || expr->kind != ExprKind::call) return;
  const auto& call = as<CallExpr>(*expr);
  if (sets_by_name(call)) {
    if (call.arguments[1]->kind == ExprKind::string)
      changes.set.push_back(Name(as<StringExpr>(*call.arguments[1]).value));
    else
      changes.any = true;
  }
  for (const Expr* argument : call.arguments) called(argument);
  if (call.function->kind != ExprKind::attribute) return;
  const auto& method = as<AttributeExpr>(*call.function);
  if (is_self(method.object)) {
    changes.calls.push_back(method.attribute);
    changes.calls_in.emplace_back(method.attribute, Name());  // of a part: self.encoder(x)
    registers(call, method.attribute);
  } else if (const auto* held = attribute_of_self(method.object))
    changes.calls_in.emplace_back(held->attribute, method.attribute);
  if (std::ranges::find(changing, method.attribute.text()) != std::end(changing)) changed(method.object);
}

void Reader::statement(const Stmt& stmt) {
  switch (stmt.kind) {
  case StmtKind::expression: called(as<ExpressionStmt>(stmt).value); break;
  case StmtKind::delete_:
    for (const Expr* expr : as<DeleteStmt>(stmt).targets) target(expr);
    break;
  case StmtKind::return_: called(as<ReturnStmt>(stmt).value); break;
  case StmtKind::assign:
    for (const Expr* expr : as<AssignStmt>(stmt).targets) target(expr);
    called(as<AssignStmt>(stmt).value);
    break;
  case StmtKind::aug_assign: target(as<AugAssignStmt>(stmt).target); break;
  case StmtKind::ann_assign: target(as<AnnAssignStmt>(stmt).target); break;
  default: compound(stmt);
  }
}

void Reader::compound(const Stmt& stmt) {
  switch (stmt.kind) {
  case StmtKind::if_:
    block(as<IfStmt>(stmt).body);
    block(as<IfStmt>(stmt).orelse);
    break;
  // A closure, unless the name is its own.
  case StmtKind::function:
    if (std::ranges::none_of(as<FunctionStmt>(stmt).parameters->list,
            [&](const Parameter& parameter) { return parameter.name == self; }))
      block(as<FunctionStmt>(stmt).body);
    break;
  case StmtKind::for_:
    target(as<ForStmt>(stmt).target);
    block(as<ForStmt>(stmt).body);
    block(as<ForStmt>(stmt).orelse);
    break;
  case StmtKind::while_:
    block(as<WhileStmt>(stmt).body);
    block(as<WhileStmt>(stmt).orelse);
    break;
  case StmtKind::with:
    for (const WithItem& item : as<WithStmt>(stmt).items) target(item.target);
    block(as<WithStmt>(stmt).body);
    break;
  case StmtKind::try_:
    block(as<TryStmt>(stmt).body);
    for (const ExceptHandler& handler : as<TryStmt>(stmt).handlers) block(handler.body);
    block(as<TryStmt>(stmt).orelse);
    block(as<TryStmt>(stmt).finally);
    break;
  default: break;
  }
}

}  // namespace

void collect_self_writes(syntax::Block block, Name self, Changes& changes) {
  Reader(self, changes).block(block);
}

void each_method(const values::Class& cls, const std::function<void(const FunctionStmt&)>& look) {
  std::unordered_set<const FunctionStmt*> seen;
  const auto meet = [&](const FunctionStmt* method) {
    if (!seen.insert(method).second || method->parameters->list.empty()) return;
    look(*method);
  };
  const auto in_block = [&](const auto& each, syntax::Block block) -> void {
    for (const Stmt* stmt : block) {
      if (stmt->kind == StmtKind::function) meet(&as<FunctionStmt>(*stmt));
      if (stmt->kind != StmtKind::if_) continue;
      each(each, as<IfStmt>(*stmt).body);
      each(each, as<IfStmt>(*stmt).orelse);
    }
  };
  if (cls.stmt) in_block(in_block, cls.stmt->body);
  if (!cls.body) return;
  for (const auto& [name, slot] : cls.body->names.entries())
    if (slot->value.is(values::Kind::function) && slot->value.as<values::Function>()->stmt)
      meet(slot->value.as<values::Function>()->stmt);
}

namespace {
Changes set_by(const values::Class& cls, bool constructors) {
  Changes changes;
  for (const values::Class* each : cls.order) {
    changes.cls = each->name;
    each_method(*each, [&](const FunctionStmt& method) {
      if (constructors || (method.name.text() != "__init__" && method.name.text() != "__new__"))
        collect_self_writes(method.body, method.parameters->list[0].name, changes);
    });
  }
  return changes;
}
}  // namespace

Changes set_by_methods(const values::Class& cls) { return set_by(cls, false); }

const FunctionStmt* method_named(const values::Class& cls, Name name) {
  const FunctionStmt* found = nullptr;
  for (const values::Class* each : cls.order) {
    each_method(*each, [&](const FunctionStmt& method) {
      if (method.name == name) found = &method;
    });
    if (found) return found;
  }
  return nullptr;
}

Changes set_by_method(const values::Class& cls, Name method) {
  Changes changes;
  std::unordered_set<const FunctionStmt*> seen;
  const auto look = [&](Name name) {
    const FunctionStmt* stmt = method_named(cls, name);
    if (!stmt || !seen.insert(stmt).second) return;
    changes.cls = cls.name;
    collect_self_writes(stmt->body, stmt->parameters->list[0].name, changes);
  };
  look(method);
  for (std::size_t i = 0; i < changes.calls.size(); ++i) look(changes.calls[i]);
  return changes;
}

// Is it None or a buffer, or may it be? What is registered under a condition is one of two.
static bool may_be_buffer(Value held, int depth = 0) {
  using values::Kind;
  if (held.is(Kind::choice) && depth < values::most_choices)
    return may_be_buffer(held.as<values::Choice>()->yes, depth + 1) ||
        may_be_buffer(held.as<values::Choice>()->no, depth + 1);
  return held.is(Kind::none) ||
      (held.is(Kind::tensor) && held.as<values::Tensor>()->role == values::TensorRole::buffer);
}

std::vector<Name> may_be_registered(const values::Instance& object) {
  std::vector<Name> names;
  for (const auto& [name, slot] : object.attributes.entries())
    if (!values::is_kept(name.text()) && may_be_buffer(slot->value)) names.push_back(name);
  return names;
}

void lose_set(Runtime& run, values::Instance& object, const Changes& changes) {
  using values::Kind;
  if (changes.registers || changes.any)
    for (const Name name : may_be_registered(object)) {
      values::Slot* slot = object.attributes.find(name);
      run.heap().set(*slot, set_at_some_time(run.heap(), run.resolve(slot->value), name));
    }
  for (const Name name : changes.set) {
    values::Slot* slot = object.attributes.find(name);
    const Value held = slot ? run.resolve(slot->value) : Value{};
    if (!held || values::is_kept(name.text()) || run.is_a(held, run.library().types().module)) continue;
    const bool contains = held.is(Kind::tuple) || held.is(Kind::list) || held.is(Kind::dict);
    run.heap().set(
        *slot, contains ? another_of_its_kind(run.heap(), held) : set_at_some_time(run.heap(), held, name));
  }
}

bool returns_something(syntax::Block block) {
  return std::any_of(block.begin(), block.end(), [](const Stmt* stmt) {
    switch (stmt->kind) {
    case StmtKind::return_: {
      const Expr* value = as<ReturnStmt>(*stmt).value;
      return value && value->kind != ExprKind::none &&
          !(value->kind == ExprKind::boolean && !as<BooleanExpr>(*value).value);
    }
    case StmtKind::if_:
      return returns_something(as<IfStmt>(*stmt).body) || returns_something(as<IfStmt>(*stmt).orelse);
    case StmtKind::for_: return returns_something(as<ForStmt>(*stmt).body);
    case StmtKind::while_: return returns_something(as<WhileStmt>(*stmt).body);
    case StmtKind::with: return returns_something(as<WithStmt>(*stmt).body);
    case StmtKind::try_:
      return returns_something(as<TryStmt>(*stmt).body) || returns_something(as<TryStmt>(*stmt).orelse) ||
          returns_something(as<TryStmt>(*stmt).finally);
    default: return false;
    }
  });
}

Value set_at_some_time(values::Heap& heap, Value held, Name attribute) {
  const Value made = heap.unseen("self." + std::string(attribute.text()));
  if (held.is(values::Kind::none))
    heap.slot_of(made.as<values::Unknown>()->attributes, was_none).value =
        Value::none();  // it is new: no write
  return made;
}

Value another_of_its_kind(values::Heap& heap, Value container) {
  using values::Kind;
  if (container.is(Kind::dict)) return heap.dict({}, true, heap.unseen(""));
  return heap.open_list(heap.unseen(""), nullptr,
      container.is(Kind::tuple) ? values::ListKind::tuple : container.as<values::List>()->kind);
}

void lose_set_by_methods(values::Heap& heap, values::Instance& object) {
  using values::Kind;
  if (!object.cls) return;
  const auto lose = [&](Name name, values::Slot* slot) {
    if (!slot || values::is_kept(name.text())) return;
    switch (slot->value.kind) {
    case Kind::none:
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
    case Kind::string: heap.set(*slot, set_at_some_time(heap, slot->value, name)); break;
    case Kind::tuple:
    case Kind::list:
    case Kind::dict: heap.set(*slot, another_of_its_kind(heap, slot->value)); break;
    default: break;
    }
  };
  const Changes changes = set_by_methods(*object.cls);
  for (const Name name : changes.set) lose(name, object.attributes.find(name));
  if (changes.any)
    for (const auto& [name, slot] : object.attributes.entries()) lose(name, slot);
  for (const Name name : changes.changed) {
    values::Slot* slot = object.attributes.find(name);
    for (const values::Class* each : object.cls->order)
      if (!slot && each->body) slot = each->body->names.find(name);
    if (slot && slot->value.is(Kind::list)) heap.set(*slot, heap.open_list(heap.unseen("")));
  }
  for (const Name name : changes.changed_within)
    if (values::Slot* slot = object.attributes.find(name); slot && slot->value.is(Kind::dict))
      heap.set(*slot, heap.dict({}, true, heap.unseen("")));
}

void lose_filled_by_objects(values::Heap& heap, const values::Class& cls) {
  for (const Name name : set_by(cls, true).changed) {
    values::Slot* slot = nullptr;
    for (const values::Class* each : cls.order)
      if (!slot && each->body) slot = each->body->names.find(name);
    if (slot && slot->value.is(values::Kind::list)) heap.set(*slot, heap.open_list(heap.unseen("")));
    if (slot && slot->value.is(values::Kind::dict)) heap.set(*slot, heap.dict({}, true, heap.unseen("")));
  }
}

void lose_half_built(values::Heap& heap, values::Instance& object, const values::Function& constructor) {
  using values::Kind;
  Changes changes;
  if (constructor.stmt && !constructor.parameters->list.empty())
    collect_self_writes(constructor.stmt->body, constructor.parameters->list[0].name, changes);
  object.open = true;
  for (const auto& [name, slot] : std::vector(object.attributes.entries())) {
    // The parts that it holds itself: others may come.
    if (slot->value && name.text() == values::ContainerState::items)
      heap.set(*slot, heap.open_list(heap.unseen("")));
    if (slot->value && name.text() == values::ContainerState::dict)
      heap.set(*slot, heap.dict({}, true, heap.unseen("")));
    if (!slot->value || values::is_kept(name.text())) continue;
    // A layer of the library that is set in one place is as it will be; what holds parts, and objects of the
    // program, may not be whole.
    const auto* layer = slot->value.is(Kind::instance) ? slot->value.as<values::Instance>() : nullptr;
    const bool is_whole = layer && !layer->cls &&
        !layer->attributes.find(Name(values::ContainerState::items)) &&
        !layer->attributes.find(Name(values::ContainerState::dict));
    if (!is_whole || std::count(changes.set.begin(), changes.set.end(), name) != 1)
      heap.set(*slot, heap.unseen("self." + std::string(name.text())));
  }
}

void set_any(values::Heap& heap, values::Instance& object, Value value) {
  using values::Kind;
  for (const auto& [name, slot] : std::vector(object.attributes.entries()))
    if (slot->value && !values::is_kept(name.text()))
      heap.set(*slot, heap.merge(slot->value, value, Sharing::uniform));
  if (!object.cls) return;
  for (const values::Class* each : object.cls->order) {
    if (!each->body) continue;
    for (const auto& [name, slot] : std::vector(each->body->names.entries())) switch (slot->value.kind) {
      case Kind::none:
      case Kind::boolean:
      case Kind::integer:
      case Kind::real:
      case Kind::string:
      case Kind::tuple:
      case Kind::list:
      case Kind::dict:
        if (!name.text().starts_with("__") && !object.attributes.value(name))
          heap.set(heap.slot_of(object.attributes, name), heap.merge(slot->value, value, Sharing::uniform));
        break;
      default: break;
      }
  }
}

namespace {
const Name any_replaced{values::EngineNotes::replaced};
}
void note_replaced(values::Heap& heap, values::Scope* globals, std::string_view path) {
  if (!globals) return;
  heap.set(heap.slot_of(globals->names, any_replaced), heap.boolean(true));
  heap.set(heap.slot_of(
               globals->names, Name(std::string(values::EngineNotes::replaced) + " " + std::string(path))),
      heap.boolean(true));
}

bool is_replaced(const values::Scope* globals, std::string_view path) {
  return globals && globals->names.value(any_replaced) &&
      globals->names.value(Name(std::string(values::EngineNotes::replaced) + " " + std::string(path)));
}

}  // namespace stepzero::interpreter
