#include "interpreter/roots/residual.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

constexpr int deepest_call = 12;  // expressions within each other

bool gives_name(const Expr& expr, Name name, int depth = 0) {
  if (depth > deepest_call) return false;
  const auto within = [&](const Expr& part) { return gives_name(part, name, depth + 1); };
  switch (expr.kind) {
  case ExprKind::name: return as<NameExpr>(expr).id == name;
  case ExprKind::attribute: return within(*as<AttributeExpr>(expr).object);
  case ExprKind::binary: return within(*as<BinaryExpr>(expr).left) || within(*as<BinaryExpr>(expr).right);
  case ExprKind::call: {
    const auto& call = as<CallExpr>(expr);
    return within(*call.function) ||
        std::ranges::any_of(call.arguments, [&](const Expr* part) { return within(*part); }) ||
        std::ranges::any_of(call.keywords, [&](const auto& keyword) { return within(*keyword.value); });
  }
  default: return false;
  }
}

bool is_call_with(const Expr& expr, Name name) {
  if (expr.kind == ExprKind::call) return gives_name(expr, name);
  // gate * block(x)
  if (expr.kind != ExprKind::binary || as<BinaryExpr>(expr).op != BinaryOp::mul) return false;
  return is_call_with(*as<BinaryExpr>(expr).left, name) || is_call_with(*as<BinaryExpr>(expr).right, name);
}

}  // namespace

void keep_updated(Interpreter& run, Value before, Value made) {
  before = run.refined(before);
  made = run.resolve(made);
  if (!before.is(Kind::tensor) || !made.is(Kind::tensor) || before == made) return;
  const values::Shape& known = before.as<values::Tensor>()->now()->shape;
  const values::TensorState& now = *made.as<values::Tensor>()->now();
  if (now.shape.ndim_known || !known.ndim_known || known.dims.size() < 2 ||
      now.shape.dims.size() > known.dims.size())
    return;
  values::TensorState state = now;
  const auto more = known.dims.size() - now.shape.dims.size();
  state.shape.ndim_known = true;
  state.shape.dims.insert(
      state.shape.dims.begin(), known.dims.begin(), known.dims.begin() + static_cast<std::ptrdiff_t>(more));
  for (std::size_t i = more; i < known.dims.size(); ++i)
    if (!state.shape.dims[i].size) state.shape.dims[i] = known.dims[i];
  state.shape_value = {};
  run.heap().set(
      made.as<values::Tensor>()->state, Value::of(Kind::state, run.heap().state(std::move(state))));
}

void keep_residual(Interpreter& run, const BinaryExpr& sum, Value left, Value right, Value made) {
  for (const bool turned : {false, true}) {
    const Expr &name = turned ? *sum.right : *sum.left, &other = turned ? *sum.left : *sum.right;
    if (name.kind == ExprKind::name && is_call_with(other, as<NameExpr>(name).id))
      return keep_updated(run, turned ? right : left, made);
  }
}

}  // namespace stepzero::interpreter
