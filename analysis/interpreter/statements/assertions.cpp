// assert: what it states holds from here on. One that states something false of sizes is a problem, told with
// the values.
#include "interpreter/statements/assertions.hpp"

#include "interpreter/calls/noted_events.hpp"
#include "interpreter/expressions/ambiguous_truth.hpp"
#include "interpreter/reasons.hpp"

#include "interpreter/roots/required_ndims.hpp"
#include "program/test_files.hpp"
#include "values/internal_rows.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using symbolic::Answer;
using values::Kind;

namespace {

using Values = std::vector<std::pair<const Expr*, Value>>;

Value value_of(const Values& values, const Expr& expr) {
  for (auto it = values.rbegin(); it != values.rend(); ++it)
    if (it->first == &expr) return it->second;
  return {};
}

// Integers, and tuples of them.
bool is_size(Value value) {
  if (value.is(Kind::integer)) return true;
  if (!value.is(Kind::tuple)) return false;
  const auto& items = value.as<values::Tuple>()->items;
  return std::all_of(items.begin(), items.end(), [](Value item) { return item.is(Kind::integer); });
}

std::string words(symbolic::Context& symbols, Value value) {
  if (value.is(Kind::integer)) return symbols.text(value.integer());
  const auto& items = value.as<values::Tuple>()->items;
  std::string text = "[";
  for (const Value& item : items) text += (text.size() > 1 ? ", " : "") + symbols.text(item.integer());
  return text + "]";
}

bool is_literal(const Expr& expr) {
  switch (expr.kind) {
  case ExprKind::integer: return true;
  case ExprKind::unary: return is_literal(*as<UnaryExpr>(expr).operand);
  case ExprKind::binary:
    return is_literal(*as<BinaryExpr>(expr).left) && is_literal(*as<BinaryExpr>(expr).right);
  case ExprKind::tuple:
  case ExprKind::list: {
    const auto parts = expr.kind == ExprKind::tuple ? as<TupleExpr>(expr).elements
                                                    : as<ListExpr>(expr).elements;
    return std::all_of(parts.begin(), parts.end(), [](const Expr* part) { return is_literal(*part); });
  }
  default: return false;
  }
}

// The parts of a size that have a name: `width % heads` has width and heads.
void named_parts(const Expr& expr, std::vector<const Expr*>& parts) {
  switch (expr.kind) {
  case ExprKind::binary:
    named_parts(*as<BinaryExpr>(expr).left, parts);
    named_parts(*as<BinaryExpr>(expr).right, parts);
    return;
  case ExprKind::unary: named_parts(*as<UnaryExpr>(expr).operand, parts); return;
  case ExprKind::tuple:
    for (const Expr* part : as<TupleExpr>(expr).elements) named_parts(*part, parts);
    return;
  case ExprKind::name:
  case ExprKind::attribute:
  case ExprKind::subscript:
  case ExprKind::call: parts.push_back(&expr); return;
  default: return;
  }
}

void comparisons(const Expr& expr, std::vector<const CompareExpr*>& found) {
  if (expr.kind == ExprKind::compare)
    found.push_back(&as<CompareExpr>(expr));
  else if (expr.kind == ExprKind::boolean_op)
    for (const Expr* part : as<BooleanOpExpr>(expr).operands) comparisons(*part, found);
  else if (expr.kind == ExprKind::unary && as<UnaryExpr>(expr).op == UnaryOp::logical_not)
    comparisons(*as<UnaryExpr>(expr).operand, found);
}

// What a subclass or any method may set otherwise, on an object of which nobody knows what was done with it;
// and the length of what grows.
bool is_open(const Values& values, bool in_roots, bool in_constructor) {
  for (const auto& [expr, value] : values) {
    if (expr->kind == ExprKind::attribute) {
      const auto& access = as<AttributeExpr>(*expr);
      const Value object = value_of(values, *access.object);
      if (object.is(Kind::class_)) return true;
      if (object.is(Kind::instance) && in_roots && !in_constructor) return true;
      if (object.is(Kind::instance) && object.as<values::Instance>()->symbolic &&
          !object.as<values::Instance>()->attributes.find(access.attribute))
        return true;
    }
    if (expr->kind == ExprKind::call)
      for (const Expr* argument : as<CallExpr>(*expr).arguments)
        if (const Value given = value_of(values, *argument);
            given.is(Kind::list) || given.is(Kind::dict) || given.is(Kind::instance))
          return true;
  }
  return false;
}

}  // namespace

// A program that trains calls its evaluation so: `test(model, loader)`. Outside of a file of tests what the
// program calls itself is none.
bool Assertions::in_test() const {
  const auto is_test = [](std::string_view name) {
    return name.starts_with("test") || name.starts_with("Test") || name.starts_with("_test");
  };
  for (const Frame* frame = run_.frame_; frame; frame = frame->outer) {
    if (!frame->function) continue;
    const std::string_view name = frame->function->name.text();
    if (!is_test(name) && !is_test(frame->function->qualified)) continue;
    const std::uint32_t chunk = frame->function->chunk;
    const bool of_tests = chunk < record_.chunks.size() && program::is_of_tests(record_.chunks[chunk].path);
    if (of_tests || (!frame->outer && name != "test")) return true;
  }
  return false;
}

void Assertions::judge_assertion(const AssertStmt& stmt, const Values& values) {
  if (run_.dry_runs_ > 0 || run_.branches_ > 0 || !run_.assumed_.empty() || in_test()) return;
  const bool in_constructor = run_.frame_->function && run_.frame_->function->name.text() == "__init__";
  if (is_open(values, run_.in_roots_, in_constructor)) return;
  std::vector<const CompareExpr*> found;
  comparisons(*stmt.test, found);
  for (const CompareExpr* test : found) {
    if (test->ops.size() != 1 || test->ops[0] == CompareOp::is || test->ops[0] == CompareOp::is_not) continue;
    const Expr &left = *test->left, &right = *test->rights[0];
    const Value a = run_.resolve(value_of(values, left)), b = run_.resolve(value_of(values, right)),
                outcome = value_of(values, *test);
    if (!is_size(a) || !is_size(b) || !outcome.is(Kind::boolean) || (is_literal(left) && is_literal(right)))
      continue;
    if (found.size() > 1 && symbols().decide(outcome.condition()) != Answer::no) continue;
    std::vector<const Expr*> parts;
    named_parts(left, parts);
    named_parts(right, parts);
    // A sum of truths counts what was asked for, and is no size.
    const auto holds_truths = [&](const Expr* argument) {
      const Value value = run_.resolve(value_of(values, *argument));
      if (value.is(Kind::boolean)) return true;
      const auto any = [&](const auto& items) {
        return std::ranges::any_of(items, [&](Value item) { return run_.resolve(item).is(Kind::boolean); });
      };
      return value.is(Kind::tuple) ? any(value.as<values::Tuple>()->items)
                                   : value.is(Kind::list) && any(values::Heap::list_state(value)->items);
    };
    const auto is_truth = [&](const Expr* part) {
      if (run_.resolve(value_of(values, *part)).is(Kind::boolean)) return true;
      if (part->kind != ExprKind::call) return false;
      const auto& given = as<CallExpr>(*part).arguments;
      return std::any_of(given.begin(), given.end(), holds_truths);
    };
    if (std::any_of(parts.begin(), parts.end(), is_truth)) continue;
    FalseAssertion refusal;
    auto* event = record_.event<ProblemEvent>();
    const auto tell = [&](const Expr& expr) {
      const Value value = run_.resolve(value_of(values, expr));
      if (!is_size(value)) return;
      const std::string name(record_.text(run_.here(expr)));
      // What an earlier condition has made one number is that.
      const auto least = value.is(values::Kind::integer) ? symbols().lower(value.integer()) : std::nullopt,
                 most = least ? symbols().upper(value.integer()) : std::nullopt;
      const std::string displayed = least && least == most ? std::to_string(*least) : words(symbols(), value);
      if (name.size() > values::longest_quote || displayed.empty() || displayed == name ||
          std::ranges::find(refusal.values, name, &std::pair<std::string, std::string>::first) !=
              refusal.values.end())
        return;
      refusal.values.emplace_back(name, displayed);
    };
    for (const Expr* part : parts) tell(*part);
    for (const Expr* side : {&left, &right})
      if (side->kind == ExprKind::binary) tell(*side);
    // `assert heads in (1, 2)`, `assert args.workers > 1`: whoever makes the object, or starts the program,
    // has to choose, and the default stands for no choice.
    const bool with_a_literal = parts.size() == 1 &&
        (parts[0] == &left ? is_literal(right) : parts[0] == &right && is_literal(left));
    if (run_.with_defaults_ && with_a_literal && parts[0]->kind == ExprKind::name) continue;
    const auto is_given = [&](const Expr& side) {
      return is_literal(side) || side.kind == ExprKind::name || side.kind == ExprKind::attribute;
    };
    if (run_.limits_.with_defaults && is_given(left) && is_given(right)) continue;
    // How many of several things hold, say, is no size.
    if (std::none_of(parts.begin(), parts.end(),
            [&](const Expr* part) { return is_size(run_.resolve(value_of(values, *part))); }))
      continue;
    event->problem = values::ProblemKind::assertion;
    event->place = run_.here(*stmt.test);
    event->calls = run_.site_;
    event->node = stmt.test;
    event->guarded = run_.may_not_fail();
    refusal.condition = record_.text(run_.here(*test));
    explain(*event, std::move(refusal));
    run_.append(event);
    return;
  }
}

// What the ranks hold against each other: `assert rank < num_gpus` ends rank 1 where rank 0 goes on with one
// process.
void Assertions::record_open_assertion(const AssertStmt& stmt, Cond holds) {
  if (!run_.limits_.as_rank && symbols().sharing(holds) != symbolic::Sharing::divergent) return;
  auto* event = record_.event<BranchEvent>();
  event->place = {run_.chunk_, stmt.span};
  event->calls = run_.site_;
  event->condition = holds;
  event->stmt = &stmt;
  run_.append(event);
  if (run_.catching_ == 0) return;
  if (OperationEvent* raised = run_.noted_->record_implied(values::InternalRow::raised, {},
          {run_.library_symbol("builtins.AssertionError")}, {}, event->place))
    event->no.events.push_back(raised);
}

Flow Assertions::run_assert(const AssertStmt& stmt) {
  Values values;
  auto* const outer = run_.traced_;
  const Frame* const outer_frame = run_.traced_frame_;
  run_.traced_ = &values;
  run_.traced_frame_ = run_.frame_;
  const Cond holds = run_.truth(asked_for_truth(run_, run_.evaluate(*stmt.test), run_.here(*stmt.test)));
  run_.traced_ = outer;
  run_.traced_frame_ = outer_frame;
  if (run_.killed_) {
    run_.killed_ = false;
    return run_.leave(ExitKind::raise, stmt, run_.raised_);
  }
  switch (symbols().decide(holds)) {
  case Answer::no:
    judge_assertion(stmt, values);
    run_.raised_ = run_.library_symbol("builtins.AssertionError");
    return run_.leave(ExitKind::raise, stmt, run_.raised_);
  case Answer::yes: return Flow::normal;
  case Answer::unknown: symbols().doubt(holds); break;
  }
  record_open_assertion(stmt, holds);
  if (!symbols().assume(holds)) return run_.leave(ExitKind::raise, stmt, run_.raised_);
  learn_ndims(run_, run_.frame_->scope->names, holds);
  run_.path_.push_back(holds);
  return Flow::normal;
}

}  // namespace stepzero::interpreter
