#include "interpreter/calls/no_result.hpp"

#include "interpreter/reasons.hpp"

#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

// A body that does nothing stands for what others write in its place.
bool does_something(const FunctionStmt& function) {
  const bool idle = std::ranges::all_of(function.body, [](const Stmt* stmt) {
    if (stmt->kind == StmtKind::pass || stmt->kind == StmtKind::raise) return true;
    if (stmt->kind != StmtKind::expression) return false;
    const ExprKind kind = as<ExpressionStmt>(*stmt).value->kind;
    return kind == ExprKind::string || kind == ExprKind::ellipsis;
  });
  return !idle;
}

// Is it a method of an object that may be of any class that derives from its own?
bool is_of_any_class(const values::Function& function, const values::Scope& scope) {
  if (!function.owner || function.parameters->list.empty()) return false;
  const values::Slot* self = scope.names.find(function.parameters->list[0].name);
  return self && self->value.is(Kind::instance) && self->value.as<values::Instance>()->symbolic;
}

// May the method that runs be another one, or its result be replaced?
bool may_be_replaced(const values::Function& function, const values::Scope& scope) {
  if (!function.owner) return false;
  const auto& parameters = function.parameters->list;
  const values::Slot* self = !parameters.empty() ? scope.names.find(parameters[0].name) : nullptr;
  if (!self || !self->value.is(Kind::instance)) return true;
  const auto* object = self->value.as<values::Instance>();
  return object->symbolic || object->open || !object->cls || object->cls->open ||
      object->attributes.find(Name(values::ModuleState::hooks));
}

}  // namespace

Value nothing_of(Interpreter& run, const values::Function& function, const values::Scope& scope) {
  const FunctionStmt* stmt = function.stmt;
  if (stmt && !does_something(*stmt) && is_of_any_class(function, scope)) return run.heap().unseen("");
  if (!stmt || stmt->is_async || stmt->scope.is_generator || stmt->scope.returns_value ||
      function.wrapped_unseen || !does_something(*stmt) || may_be_replaced(function, scope))
    return Value::none();
  return Value::none(&function);
}

Value refuse_nothing(
    Interpreter& run, Value value, NoResult::Use use, Place where, std::string_view attribute) {
  if (!value.is(Kind::none) || !value.object()) return {};
  const auto& function = *value.as<values::Function>();
  ProblemEvent* event = run.problem_at(values::ProblemKind::no_result, where, nullptr);
  explain(*event, NoResult{std::string(function.name.text()), use, std::string(attribute)});
  event->evidence.push_back(
      {{function.chunk, function.stmt->name_span}, "no `return` in this function gives a value"});
  const Value made = run.heap().unknown_from({}, where);
  made.as<values::Unknown>()->poisoned = true;
  return made;
}

}  // namespace stepzero::interpreter
