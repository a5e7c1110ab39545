#include "interpreter/roots/default_object.hpp"

#include "interpreter/classes/self_writes.hpp"
#include "interpreter/roots/annotated_objects.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

// Of fewer attributes many classes have all.
constexpr std::size_t fewest_attributes = 3;

std::unordered_set<Name> attributes_read(const FunctionStmt& function, Name parameter) {
  std::unordered_set<Name> found;
  for_each_expression(function, [&](const Expr& expr) {
    if (expr.kind != ExprKind::attribute) return;
    const auto& read = as<AttributeExpr>(expr);
    if (read.object->kind == ExprKind::name && as<NameExpr>(*read.object).id == parameter)
      found.insert(read.attribute);
  });
  return found;
}

// What objects of the class have: its fields and attributes, and what its constructor sets on them.
bool has_all(const values::Class& cls, const std::unordered_set<Name>& attributes) {
  std::unordered_set<Name> set;
  for (const values::Class* each : cls.order) {
    for (const values::ClassField& field : each->fields) set.insert(field.name);
    if (!each->body) continue;
    for (const auto& [name, slot] : each->body->names.entries()) set.insert(name);
    const values::Slot* init = each->body->names.find(Name("__init__"));
    if (!init || !init->value.is(Kind::function) || !init->value.as<values::Function>()->stmt) continue;
    const FunctionStmt& stmt = *init->value.as<values::Function>()->stmt;
    if (stmt.parameters->list.empty()) continue;
    Changes changes;
    collect_self_writes(stmt.body, stmt.parameters->list.front().name, changes);
    set.insert(changes.set.begin(), changes.set.end());
  }
  return std::ranges::all_of(attributes, [&](Name name) { return set.contains(name); });
}

bool is_native(const values::Class& cls, std::string_view path) {
  return std::ranges::any_of(
      cls.order, [&](const values::Class* each) { return each->native && each->native->path == path; });
}

bool needs_no_arguments(Interpreter& run, const values::Class& cls) {
  if (const Value init = run.find_in_order(cls.order, Name("__init__")); init.is(Kind::function)) {
    const auto& function = *init.as<values::Function>();
    if (!function.stmt || !function.parameters) return false;
    const auto& list = function.parameters->list;
    for (std::size_t i = 1; i < list.size(); ++i)
      if (list[i].kind != ParameterKind::var_positional && list[i].kind != ParameterKind::var_keyword &&
          (i >= function.defaults.size() || !function.defaults[i]))
        return false;
    return true;
  }
  return std::ranges::all_of(cls.fields,
      [](const values::ClassField& field) { return !field.in_init || field.default_value || field.factory; });
}

values::Class* only_class_with(const values::Function& function, Name parameter) {
  const values::Scope* scope = function.closure ? function.closure->globals : nullptr;
  if (!scope || !function.stmt) return nullptr;
  const auto attributes = attributes_read(*function.stmt, parameter);
  if (attributes.size() < fewest_attributes) return nullptr;
  values::Class* found = nullptr;
  for (const auto& [name, slot] : scope->names.entries()) {
    if (!slot->value.is(Kind::class_)) continue;
    auto* cls = slot->value.as<values::Class>();
    if (cls == found || cls == function.owner || !has_all(*cls, attributes)) continue;
    if (found) return nullptr;
    found = cls;
  }
  return found;
}

}  // namespace

values::Class* class_by_default(
    Interpreter& run, const values::Function& function, const Parameter& parameter) {
  values::Class* cls = nullptr;
  if (!parameter.annotation)
    cls = only_class_with(function, parameter.name);
  else if (const Value named = class_of_annotation(run, function.closure, parameter.annotation);
      named.is(Kind::class_))
    cls = named.as<values::Class>();
  const bool fits = cls && cls->stmt && !cls->is_enum && !cls->is_named_tuple &&
      !is_native(*cls, run.library().types().module) && needs_no_arguments(run, *cls);
  return fits ? cls : nullptr;
}

}  // namespace stepzero::interpreter
