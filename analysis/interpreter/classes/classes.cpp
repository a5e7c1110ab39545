// Classes and their objects: inheritance, finding and binding methods, constructing. Attributes are in
// attributes.cpp.
#include "interpreter/builtins/builtins.hpp"
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/classes/abstract.hpp"
#include "interpreter/classes/descriptors.hpp"
#include "interpreter/classes/object_model.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/root_runner.hpp"

#include "interpreter/calls/call_check.hpp"
#include "interpreter/calls/unseen.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/records.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

const Name first_base_is_native{values::EngineNotes::native_first};

// Has the class a method that a decorator of which nothing is known made something of? A base that is not
// seen may call it where it constructs an object, and have it change the fields: a validator.
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
      if (stmt->kind != StmtKind::ann_assign || as<AnnAssignStmt>(*stmt).target->kind != ExprKind::name)
        continue;
      const Name field = as<NameExpr>(*as<AnnAssignStmt>(*stmt).target).id;
      run.heap().set(run.heap().slot_of(object.attributes, field), run.heap().unseen(field.text()));
    }
  }
}
}  // namespace

Value ObjectModel::make_class(const ClassStmt& stmt) {
  auto* cls = heap().make<values::Class>();
  cls->name = stmt.name;
  cls->stmt = &stmt;
  cls->chunk = run_.chunk_;
  cls->born = {run_.chunk_, stmt.name_span};
  cls->globals = run_.frame_->scope->globals;
  std::vector<values::Class*> parents;
  bool open = false;
  Value rest;
  std::vector<Value> bases = run_.evaluate_elements(stmt.bases, open, rest);
  if (open) bases.push_back(heap().unseen(""));
  add_bases(*cls, bases, parents);
  Arguments options;
  for (const Keyword& keyword : stmt.keywords) {
    const Value value = run_.evaluate(*keyword.value);
    if (!keyword.name.empty() && keyword.name.text() != "metaclass")
      options.keywords.push_back({keyword.name, value});
  }

  auto* body = heap().make<values::Scope>();
  body->parent = run_.frame_->scope;
  body->globals = run_.frame_->scope->globals;
  body->is_class = true;
  body->cls = cls;
  body->info = &stmt.scope;
  cls->body = body;
  values::Scope* const outer = run_.frame_->scope;
  run_.frame_->scope = body;
  run_.run_block(stmt.body);
  run_.frame_->scope = outer;
  for (const auto& [name, slot] : body->names.entries()) {
    if (name.text() == "__setattr__" || is_descriptor(slot->value)) cls->hooks_attributes = true;
    if (!slot->value.is(Kind::function)) continue;
    auto* function = slot->value.as<values::Function>();
    cls->hooks_attributes = cls->hooks_attributes || function->setter;
    if (function->owner && function->owner != cls) continue;
    function->owner = cls;
    function->qualified = heap().keep(
        std::string(stmt.name.text()) + "." + std::string(function->name.text()));
  }
  if (cls->is_enum) run_.records_->finish_enum(*cls);
  if (cls->is_named_tuple) run_.records_->finish_named_tuple(*cls);
  if (cls->is_dataclass) run_.records_->inherit_fields(*cls);
  if (cls->native && !bases.empty() && run_.resolve(bases.front()).is(Kind::library))
    heap().slot_of(body->names, first_base_is_native).value = heap().boolean(true);
  if (run_.dry_runs_ == 0 && record_.chunks[run_.chunk_].path == run_.main_path_)
    run_.classes_.push_back(cls);
  Value made = Value::of(Kind::class_, cls);
  if (const Value hook = parents.empty() ? Value{}
                                         : run_.find_in_order(cls->order, Name("__init_subclass__"), 1);
      hook.is(Kind::function))
    run_.function_calls_->call_function(*hook.as<values::Function>(), std::move(options), cls->born, made);
  for (auto it = stmt.decorators.rbegin(); it != stmt.decorators.rend(); ++it) {
    const Value decorator = run_.resolve(run_.evaluate(**it));
    if (!decorates(decorator)) continue;
    const Value changed = run_.resolve(run_.call(decorator, {{made}, {}, false}, run_.here(**it)));
    if (changed.is(Kind::class_) || changed.is(Kind::function) || changed.is(Kind::partial) ||
        changed.is(Kind::bound))
      made = changed;
  }
  return made;
}

// Is it known what calling the decorator does? What an unseen one makes of a function is not known; most call
// it.
bool ObjectModel::decorates(Value decorator) {
  switch (decorator.kind) {
  case Kind::function:
  case Kind::partial:
  case Kind::bound:
  case Kind::class_: return true;
  case Kind::library: {
    const auto* found = decorator.as<values::LibrarySymbol>();
    return (found->row && found->row->run) || found->path.starts_with("builtins.");
  }
  case Kind::instance:
    return static_cast<bool>(run_.find_method(decorator.as<values::Instance>(), Name("__call__")));
  default: return false;
  }
}

Value Interpreter::find_in_order(
    const std::vector<values::Class*>& order, Name name, std::size_t from) const {
  for (std::size_t i = from; i < order.size(); ++i)
    if (order[i]->body)
      if (const values::Slot* slot = order[i]->body->names.find(name); slot && slot->value)
        return slot->value;
  return {};
}

Value ObjectModel::bind_method(Value found, Value self, values::Class* cls, Place where) {
  found = run_.resolve(found);
  // One of several by the way that the body of the class took.
  if (found.is(Kind::choice))
    return run_.over_choices(
        found, [&](Value each) { return each ? bind_method(each, self, cls, where) : each; }, where);
  if (found.is(Kind::library) && self && found.as<values::LibrarySymbol>()->row &&
      found.as<values::LibrarySymbol>()->row->kind == values::RowKind::method) {
    auto* bound = heap().make<values::Bound>();
    bound->self = self;
    bound->function = found;
    return Value::of(Kind::bound, bound);
  }
  // Of `functools.partialmethod` the object comes before what is given already.
  if (found.is(Kind::partial) && self &&
      found.as<values::Partial>()->function == run_.library_symbol("functools.$method")) {
    const auto* given = found.as<values::Partial>();
    auto* made = heap().make<values::Partial>();
    made->function = bind_method(given->arguments.front(), self, cls, where);
    made->arguments.assign(given->arguments.begin() + 1, given->arguments.end());
    made->keywords = given->keywords;
    return Value::of(Kind::partial, made);
  }
  // A row in the place of a class method.
  if (const values::Row* row = found.is(Kind::library) && cls
          ? run_.library_.find(found.as<values::LibrarySymbol>()->path)
          : nullptr;
      row && row->kind == values::RowKind::class_method) {
    auto* bound = heap().make<values::Bound>();
    bound->self = Value::of(Kind::class_, cls);
    bound->function = found;
    return Value::of(Kind::bound, bound);
  }
  if (!found.is(Kind::function)) return run_.unseen_->found_outside(found);
  auto* function = found.as<values::Function>();
  if (function->is_static) return found;
  if (function->is_property && self) {
    const Value made = run_.function_calls_->call_function(*function, {}, where, self);
    if (function->is_cached && self.is(Kind::instance))
      heap().set(heap().slot_of(self.as<values::Instance>()->attributes, function->name), made);
    return made;
  }
  if (!self && !function->is_class_method) return found;
  auto* bound = heap().make<values::Bound>();
  bound->self = function->is_class_method ? Value::of(Kind::class_, cls) : self;
  bound->function = found;
  return Value::of(Kind::bound, bound);
}

// What an object of a class that derives from dict or list holds.
Value ObjectModel::held(const values::Instance& object) const {
  if (!object.cls || object.cls->holds == Kind::absent) return {};
  return object.attributes.value(
      Name(object.cls->holds == Kind::dict ? values::ContainerState::dict : values::ContainerState::items));
}

Value Interpreter::find_method(values::Instance* object, Name name) {
  const Value self = Value::of(Kind::instance, object);
  if (object->cls)
    if (const Value found = find_in_order(object->cls->order, name)) {
      const auto bind = [&](Value method) {
        return object_model_->bind_method(method, self, object->cls, {});
      };
      const Value either = policy_.picks_override && in_roots_
          ? one_of_overrides(*this, *object->cls, name, found, globals_, bind)
          : Value{};
      if (!either && object->symbolic && is_left_to_others(found)) return heap().unseen(name.text());
      return either ? either : bind(found);
    }
  const auto bound = [&](Value of, Value function) {
    auto* made = heap().make<values::Bound>();
    made->self = of;
    made->function = function;
    return Value::of(Kind::bound, made);
  };
  const values::LibrarySymbol* native = object->native ? object->native
      : object->cls                                    ? object->cls->native
                                                       : nullptr;
  if (native)
    if (const Row* row = method_row(native->path, name.text())) return bound(self, library_symbol(row->path));
  if (const Value inner = object_model_->held(*object)) {
    constexpr std::string_view own[] = {"__getitem__", "__len__", "__contains__", "__iter__", "__setitem__"};
    if (std::find(std::begin(own), std::end(own), name.text()) != std::end(own))
      return bound(inner, heap().string(name.text()));
  }
  return {};
}

Value ObjectModel::instantiate(values::Class& cls, Arguments arguments, Place where, const CallExpr* expr) {
  if (cls.is_enum && !cls.members.empty() && arguments.positional.size() == 1)
    return run_.records_->enum_member(cls, run_.resolve(arguments.positional[0]), where);
  if (const Value maker = run_.find_in_order(cls.order, Name("__new__"));
      maker.is(Kind::function) && run_.active_[maker.as<values::Function>()] == 0) {
    Arguments given = arguments;
    given.positional.insert(given.positional.begin(), Value::of(Kind::class_, &cls));
    const Value made = run_.resolve(
        run_.function_calls_->call_function(*maker.as<values::Function>(), std::move(given), where, {}));
    if (!made.is(Kind::instance) || made.as<values::Instance>()->cls != &cls) return made;
    if (const Value init = run_.find_in_order(cls.order, Name("__init__")); init.is(Kind::function))
      run_.function_calls_->call_function(*init.as<values::Function>(), std::move(arguments), where, made);
    return made;
  }
  if (cls.is_named_tuple) return run_.records_->make_named(cls, arguments, where);
  auto* object = heap().make<values::Instance>();
  object->cls = &cls;
  object->born = where;
  object->open = cls.open;
  const Value self = Value::of(Kind::instance, object);
  if (cls.holds == Kind::dict)
    heap().set(heap().slot_of(object->attributes, Name(values::ContainerState::dict)), heap().dict({}));
  if (cls.holds == Kind::list)
    heap().set(heap().slot_of(object->attributes, Name(values::ContainerState::items)), heap().list({}));
  const Value init = run_.find_in_order(cls.order, Name("__init__"));
  const bool judged = expr && std::ranges::all_of(cls.order, [](const values::Class* each) {
    return each->stmt && each->stmt->decorators.empty() && each->stmt->keywords.empty();
  });
  const auto refused = [&] {
    const Value made_up = heap().unknown_from(arguments.positional, where);
    made_up.as<values::Unknown>()->poisoned = true;
    return made_up;
  };
  if (init.is(Kind::function)) {
    arguments.positional.insert(arguments.positional.begin(), self);
    if (judged &&
        run_.call_check_->refuses(*init.as<values::Function>(), arguments, self, where, *expr, &cls))
      return refused();
    run_.function_calls_->call_function(*init.as<values::Function>(), std::move(arguments), where, {});
    if (record_.steps < run_.step_limit_)
      run_.roots_->note_built(*object);
    else
      lose_half_built(heap(), *object, *init.as<values::Function>());
  } else if (cls.is_dataclass) {
    if (expr && run_.call_check_->refuses_fields(cls, arguments, where, *expr)) return refused();
    run_.fill_dataclass(*object, std::move(arguments), where);
  } else if (cls.holds != Kind::absent) {
    run_.hold(*object, arguments, where);
  } else if (cls.native && cls.native->row) {
    const Row* init_row = run_.constructor_row(cls.native->path);
    run_.library_calls_->call_library(*run_.library_symbol(init_row->path).as<values::LibrarySymbol>(), self,
        std::move(arguments), where, expr);
  } else {
    if (judged && run_.call_check_->refuses_all(cls, arguments, where, *expr)) return refused();
    // `Settings(**read())`: the defaults that the class holds are those of who is given nothing.
    if (cls.open && arguments.spread) lose_fields(run_, *object);
    for (const auto& [name, value] : arguments.keywords)
      heap().set(heap().slot_of(object->attributes, name), value);
    if (cls.open && is_completed_by_others(cls)) lose_fields(run_, *object);
    if (cls.native)
      heap().set(heap().slot_of(object->attributes, Name("args")), heap().tuple(arguments.positional));
    else if (!arguments.keywords.empty() || !arguments.positional.empty())
      object->open = true;
  }
  return self;
}

void Interpreter::hold(values::Instance& object, const Arguments& arguments, Place where) {
  Arguments given = arguments;
  if (object.cls->holds == Kind::dict)
    heap().set(heap().slot_of(object.attributes, Name(values::ContainerState::dict)),
        builtins_->call_builtin("dict", given, where));
  else
    heap().set(heap().slot_of(object.attributes, Name(values::ContainerState::items)),
        builtins_->call_builtin("list", given, where));
}

}  // namespace stepzero::interpreter
