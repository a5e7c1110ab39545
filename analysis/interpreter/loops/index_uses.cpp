#include "interpreter/loops/index_uses.hpp"

#include "syntax/walk.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t most_uses = 32;  // places of one body that use the index

// Has it a value that follows from those of the names in it, without anything being run?
bool is_plain(const Expr& expr) {
  switch (expr.kind) {
  case ExprKind::name:
  case ExprKind::integer: return true;
  case ExprKind::attribute: return is_plain(*as<AttributeExpr>(expr).object);
  case ExprKind::subscript:
    return is_plain(*as<SubscriptExpr>(expr).object) && is_plain(*as<SubscriptExpr>(expr).index);
  case ExprKind::unary:
    return as<UnaryExpr>(expr).op == UnaryOp::minus && is_plain(*as<UnaryExpr>(expr).operand);
  case ExprKind::binary: {
    const auto& binary = as<BinaryExpr>(expr);
    return (binary.op == BinaryOp::add || binary.op == BinaryOp::sub || binary.op == BinaryOp::mul) &&
        is_plain(*binary.left) && is_plain(*binary.right);
  }
  case ExprKind::compare: {
    const auto& compare = as<CompareExpr>(expr);
    return compare.ops.size() == 1 && compare.ops[0] <= CompareOp::ge && is_plain(*compare.left) &&
        is_plain(*compare.rights[0]);
  }
  default: return false;
  }
}

symbolic::Compare comparison(CompareOp op) {
  switch (op) {
  case CompareOp::eq: return symbolic::Compare::eq;
  case CompareOp::ne: return symbolic::Compare::ne;
  case CompareOp::lt: return symbolic::Compare::lt;
  case CompareOp::le: return symbolic::Compare::le;
  case CompareOp::gt: return symbolic::Compare::gt;
  default: return symbolic::Compare::ge;
  }
}
}  // namespace

IndexUses::IndexUses(Interpreter& run, const ForStmt& stmt, const values::Scope& scope, Value last)
    : run_(run), stmt_(stmt), scope_(scope), last_(last) {
  const auto note = [&](const Expr& target, Value value) {
    if (target.kind == ExprKind::name && value.is(Kind::integer)) indices_.push_back(as<NameExpr>(target).id);
  };
  note(*stmt.target, last);
  if (stmt.target->kind == ExprKind::tuple && last.is(Kind::tuple)) {
    const auto& targets = as<TupleExpr>(*stmt.target).elements;
    const auto& items = last.as<values::Tuple>()->items;
    known_ = targets.size() == items.size() &&
        std::ranges::all_of(targets, [](const Expr* one) { return one->kind == ExprKind::name; });
    for (std::size_t i = 0; known_ && i < items.size(); ++i) note(*targets[i], items[i]);
  }
  if (indices_.empty()) return;
  // The body gives them no other values: then each use stands for the loop's own number.
  for (const Name index : indices_) {
    const values::Slot* slot = scope.names.find(index);
    known_ = known_ && slot && slot->value == given(index, last);
  }
  Span covered{};
  const auto look = [&](const Expr& expr) {
    const bool inside = covered.begin <= expr.span.begin && expr.span.end <= covered.end;
    if (inside || !is_plain(expr) || !asks(expr)) return;
    covered = expr.span;
    uses_.push_back(&expr);
  };
  for (const Stmt* each : stmt.body) {
    for_each_expression(*each, look);
    // Defaults are values of the moment in which the function is made.
    for_each_statement(*each, [&](const Stmt& inner) {
      if (inner.kind != StmtKind::function) return;
      for (const Parameter& parameter : as<FunctionStmt>(inner).parameters->list)
        known_ = known_ && !(parameter.default_value && asks(*parameter.default_value));
    });
  }
  known_ = known_ && uses_.size() <= most_uses;
  for (std::size_t i = 0; known_ && i < uses_.size(); ++i) {
    values_.push_back(at(*uses_[i], last));
    known_ = static_cast<bool>(values_.back());
  }
}

bool IndexUses::is_index(const Expr& expr) const {
  return expr.kind == ExprKind::name && std::ranges::find(indices_, as<NameExpr>(expr).id) != indices_.end();
}

bool IndexUses::asks(const Expr& expr) const {
  bool found = false;
  for_each_expression(expr, [&](const Expr& part) { found = found || is_index(part); });
  return found;
}

Value IndexUses::given(Name name, Value item) const {
  const auto is_named = [&](const Expr& target) {
    return target.kind == ExprKind::name && as<NameExpr>(target).id == name;
  };
  if (is_named(*stmt_.target)) return item;
  if (stmt_.target->kind != ExprKind::tuple || !item.is(Kind::tuple)) return {};
  const auto& targets = as<TupleExpr>(*stmt_.target).elements;
  const auto& items = item.as<values::Tuple>()->items;
  for (std::size_t i = 0; i < std::min<std::size_t>(targets.size(), items.size()); ++i)
    if (is_named(*targets[i])) return items[i];
  return {};
}

Value IndexUses::element(Value of, Value index) const {
  // Nothing was asked of it, or the iteration would have failed.
  if (of.is(Kind::none)) return of;
  if (of.is(Kind::unknown)) return of;  // of its elements no more is known of one than of another
  if (of.is(Kind::choice)) {
    const auto* choice = of.as<values::Choice>();
    const Value yes = element(run_.resolve(choice->yes), index),
                no = element(run_.resolve(choice->no), index);
    return yes && no ? run_.heap().choose(choice->condition, yes, no) : Value{};
  }
  if (!index.is(Kind::integer) || !(of.is(Kind::list) || of.is(Kind::tuple) || of.is(Kind::instance)))
    return {};
  const auto number = run_.symbols().value(index.integer());
  const auto items = number ? run_.elements(of, {}) : std::nullopt;
  if (!items) return {};
  const auto size = static_cast<std::int64_t>(items->size());
  const std::int64_t at = *number < 0 ? *number + size : *number;
  return at >= 0 && at < size ? run_.resolve((*items)[static_cast<std::size_t>(at)]) : Value{};
}

Value IndexUses::at(const Expr& expr, Value item) const {
  symbolic::Context& s = run_.symbols();
  switch (expr.kind) {
  case ExprKind::integer:
    return as<IntegerExpr>(expr).fits ? run_.heap().integer(as<IntegerExpr>(expr).value) : Value{};
  case ExprKind::name: {
    if (const Value from_loop = given(as<NameExpr>(expr).id, item)) return from_loop;
    const values::Slot* slot = scope_.names.find(as<NameExpr>(expr).id);
    return slot && slot->value ? run_.resolve(slot->value) : Value{};
  }
  case ExprKind::attribute: {
    const Value object = at(*as<AttributeExpr>(expr).object, item);
    return object.is(Kind::instance)
        ? run_.resolve(object.as<values::Instance>()->attributes.value(as<AttributeExpr>(expr).attribute))
        : Value{};
  }
  case ExprKind::subscript:
    return element(at(*as<SubscriptExpr>(expr).object, item), at(*as<SubscriptExpr>(expr).index, item));
  case ExprKind::unary: {
    const Value operand = at(*as<UnaryExpr>(expr).operand, item);
    return operand.is(Kind::integer) ? Value::of(s.negate(operand.integer())) : Value{};
  }
  case ExprKind::binary: {
    const auto& binary = as<BinaryExpr>(expr);
    const Value left = at(*binary.left, item), right = at(*binary.right, item);
    if (!left.is(Kind::integer) || !right.is(Kind::integer)) return {};
    return Value::of(binary.op == BinaryOp::add ? s.add(left.integer(), right.integer())
            : binary.op == BinaryOp::sub        ? s.sub(left.integer(), right.integer())
                                                : s.mul(left.integer(), right.integer()));
  }
  case ExprKind::compare: {
    const auto& compare = as<CompareExpr>(expr);
    const Value left = at(*compare.left, item), right = at(*compare.rights[0], item);
    if (!left.is(Kind::integer) || !right.is(Kind::integer)) return {};
    const symbolic::Answer answer = s.decide(
        s.compared(comparison(compare.ops[0]), left.integer(), right.integer()));
    return answer == symbolic::Answer::unknown ? Value{}
                                               : run_.heap().boolean(answer == symbolic::Answer::yes);
  }
  default: return {};
  }
}

bool IndexUses::holds(Value item, const std::function<bool(Value, Value)>& equivalent) const {
  // What is given beside the numbers.
  if (item.kind != last_.kind) return false;
  if (item.is(Kind::tuple)) {
    const auto &mine = last_.as<values::Tuple>()->items, &theirs = item.as<values::Tuple>()->items;
    if (mine.size() != theirs.size()) return false;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const bool numbers = mine[i].is(Kind::integer) && theirs[i].is(Kind::integer) && !indices_.empty();
      if (!numbers && !equivalent(mine[i], theirs[i])) return false;
    }
  } else if (!item.is(Kind::integer) && !equivalent(last_, item)) {
    return false;
  }
  for (std::size_t i = 0; i < uses_.size(); ++i)
    if (const Value value = at(*uses_[i], item); !value || !equivalent(values_[i], value)) return false;
  return true;
}

}  // namespace stepzero::interpreter
