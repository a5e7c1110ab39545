// Calls, and reads of items, of what has none.
#include "interpreter/calls/own_calls.hpp"

#include "values/shape_text.hpp"

#include "interpreter/reasons.hpp"

#include "values/limits.hpp"

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

void judge_callable(Interpreter& run, Value value, const CallExpr& expr, Place where) {
  if (run.assumption()) return;
  const char* what = nullptr;
  switch (value.kind) {
  case Kind::tuple: {
    // Of what only looks like a tensor the shape may be anything.
    const Value of = value.as<values::Tuple>()->shape_of;
    if (!of.is(Kind::tensor) || !of.as<values::Tensor>()->now()->unseen) what = "a tuple";
    break;
  }
  case Kind::list: what = "a list"; break;
  case Kind::dict: what = "a dict"; break;
  case Kind::string: what = "a string"; break;
  default: return;
  }
  if (!what) return;
  const std::string_view text = run.record().text({where.chunk, expr.function->span});
  explain(*run.problem_at(values::ProblemKind::own_call, where, &expr),
      why<Reason::not_callable>(
          values::is_quotable(text) ? values::code(text) : std::string("What is called here"), what));
}
void judge_indexed(Interpreter& run, const values::Bound& method, const SubscriptExpr& expr, Place where) {
  const Value function = run.resolve(method.function), self = run.resolve(method.self);
  const auto* found = function.is(Kind::library) ? function.as<values::LibrarySymbol>() : nullptr;
  if (run.assumption() || !found || !found->row || found->row->kind != values::RowKind::method ||
      !self.is(Kind::tensor) || self.as<values::Tensor>()->now()->unseen)
    return;
  const std::string_view text = run.record().text({where.chunk, expr.object->span});
  explain(*run.problem_at(values::ProblemKind::own_call, where, &expr), why<Reason::method_items>(text));
}

}  // namespace stepzero::interpreter
