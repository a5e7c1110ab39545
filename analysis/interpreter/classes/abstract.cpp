#include "interpreter/classes/abstract.hpp"

#include "syntax/walk.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

constexpr std::size_t most_overrides = 4;  // of a method: of more, any of them may be meant

// Of what is raised: a class, or a call of it.
std::string_view name_of_class(const Expr& expr) {
  return expr.kind == ExprKind::call ? name_of_class(*as<CallExpr>(expr).function) : last_name(expr);
}

}  // namespace

bool only_names_not_implemented(const Stmt& stmt) {
  if (stmt.kind != StmtKind::expression) return false;
  const Expr& value = *as<ExpressionStmt>(stmt).value;
  return (value.kind == ExprKind::name || value.kind == ExprKind::call) &&
      name_of_class(value) == "NotImplementedError";
}

bool is_abstract(const FunctionStmt& function) {
  const bool marked = std::ranges::any_of(function.decorators,
      [](const Expr* decorator) { return name_of_class(*decorator) == "abstractmethod"; });
  bool raises = false;
  for (const Stmt* stmt : function.body) {
    if (stmt->kind == StmtKind::raise)
      raises = as<RaiseStmt>(*stmt).exception &&
          name_of_class(*as<RaiseStmt>(*stmt).exception) == "NotImplementedError";
    else if (only_names_not_implemented(*stmt))
      raises = true;
    else if (stmt->kind != StmtKind::pass &&
        !(stmt->kind == StmtKind::expression &&
            (as<ExpressionStmt>(*stmt).value->kind == ExprKind::string ||
                as<ExpressionStmt>(*stmt).value->kind == ExprKind::ellipsis)))
      return false;
  }
  return raises || marked;
}

bool is_left_to_others(Value method) {
  const auto* function = method.is(Kind::function) ? method.as<values::Function>() : nullptr;
  return function && function->stmt && is_abstract(*function->stmt);
}

bool is_abstract_class(const values::Class& of) {
  return std::ranges::any_of(of.order, [](const values::Class* cls) {
    return cls->body && std::ranges::any_of(cls->body->names.entries(), [](const auto& entry) {
      const values::Value member = entry.second->value;
      const auto* function = member.is(Kind::function) ? member.as<values::Function>() : nullptr;
      return function && function->stmt && is_abstract(*function->stmt);
    });
  });
}

namespace {

struct Override {
  const values::Class* cls;
  Value function;
};
std::vector<Override> overrides_of(
    const Interpreter& run, const values::Class& cls, Name name, Value found, const values::Scope* globals) {
  std::vector<Override> made;
  const auto* method = found.is(Kind::function) ? found.as<values::Function>()->stmt : nullptr;
  if (!method || !is_abstract(*method)) return made;
  const values::Scope* const others = globals == cls.globals ? nullptr : globals;
  for (const values::Scope* scope : {static_cast<const values::Scope*>(cls.globals), others}) {
    if (!scope) continue;
    for (const auto& [key, slot] : scope->names.entries()) {
      if (!slot->value.is(Kind::class_)) continue;
      const auto* derived = slot->value.as<values::Class>();
      if (derived == &cls || std::ranges::find(derived->order, &cls) == derived->order.end()) continue;
      const Value own = run.find_in_order(derived->order, name);
      const auto* stmt = own.is(Kind::function) ? own.as<values::Function>()->stmt : nullptr;
      if (!stmt || is_abstract(*stmt) ||
          std::ranges::any_of(made, [&](const Override& other) { return other.function == own; }))
        continue;
      if (made.size() == most_overrides) return {};
      made.push_back({derived, own});
    }
  }
  return made;
}

}  // namespace

Value one_of_overrides(Interpreter& run, const values::Class& cls, Name name, Value found,
    const values::Scope* globals, const std::function<Value(Value)>& bind) {
  const auto overrides = overrides_of(run, cls, name, found, globals);
  Value made;
  for (auto one = overrides.rbegin(); one != overrides.rend(); ++one) {
    const std::string condition = values::code(cls.name.text()) + " is a " +
        values::code(one->cls->name.text());
    const Value bound = bind(one->function);
    made = made ? run.heap().choose(run.named_condition(condition, Sharing::uniform), bound, made) : bound;
  }
  return made;
}

}  // namespace stepzero::interpreter
