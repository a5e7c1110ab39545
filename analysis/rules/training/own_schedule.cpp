#include "rules/training/own_schedule.hpp"

#include "rules/name_hints.hpp"
#include "rules/source.hpp"
#include "rules/training/horizon.hpp"
#include "syntax/walk.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Int;
using values::Kind;

namespace {

// What the run found an expression of a function to be, for the step that a schedule was asked about. Null
// where it found several values.
class Found {
public:
  Found(const Record& record, std::uint32_t chunk) : record_(record) {
    for (const Fact& fact : record.facts) {
      const Int value = fact.place.chunk == chunk && fact.role == Fact::Role::expression ? as_size(fact.value)
                                                                                         : nullptr;
      if (!value) continue;
      const auto [at, first] = values_.try_emplace({fact.place.span.begin, fact.place.span.end}, value);
      if (!first && at->second != value) at->second = nullptr;
    }
  }
  Int of(const syntax::Expr& expr) const {
    if (expr.kind == syntax::ExprKind::integer)
      return record_.symbols.constant(syntax::as<syntax::IntegerExpr>(expr).value);
    const auto at = values_.find({expr.span.begin, expr.span.end});
    return at == values_.end() ? nullptr : at->second;
  }

  bool has_step(Int value, Int step) const { return value && atoms_of(record_, value).contains(step); }

private:
  const Record& record_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Int> values_;
};

// float(x), max(1, x), (x): the x.
const syntax::Expr& bare(const syntax::Expr& expr) {
  if (expr.kind != syntax::ExprKind::call) return expr;
  const auto& call = syntax::as<syntax::CallExpr>(expr);
  if (call.function->kind != syntax::ExprKind::name || !call.keywords.empty()) return expr;
  const std::string_view name = syntax::as<syntax::NameExpr>(*call.function).id.text();
  if ((name == "float" || name == "int") && call.arguments.size() == 1) return bare(*call.arguments[0]);
  const auto is_number = [](const syntax::Expr& argument) {
    return argument.kind == syntax::ExprKind::integer || argument.kind == syntax::ExprKind::real;
  };
  if ((name == "max" || name == "min") && call.arguments.size() == 2)
    for (const std::size_t i : {0, 1})
      if (is_number(*call.arguments[i])) return bare(*call.arguments[1 - i]);
  return expr;
}

// math.pi * step: the step.
const syntax::Expr& without_factors(const Found& found, Int step, const syntax::Expr& whole) {
  const syntax::Expr* expr = &bare(whole);
  while (!found.of(*expr) && expr->kind == syntax::ExprKind::binary &&
      syntax::as<syntax::BinaryExpr>(*expr).op == syntax::BinaryOp::mul) {
    const auto& product = syntax::as<syntax::BinaryExpr>(*expr);
    expr = &bare(found.has_step(found.of(bare(*product.right)), step) ? *product.right : *product.left);
  }
  return *expr;
}

// The step at which two numbers are equal of which one counts steps; null if there is none.
Int meeting(const Record& record, Int step, Int a, Int b) {
  auto& s = record.symbols;
  const Int difference = s.sub(a, b);
  const symbolic::Assignment at_first[] = {{step, 0}}, at_next[] = {{step, 1}};
  const Int none = s.substitute(difference, at_first), one = s.substitute(difference, at_next);
  const auto slope = s.value(s.sub(one, none));
  if (slope == 1) return s.negate(none);
  return slope == -1 ? none : nullptr;
}

}  // namespace

std::vector<Int> marks_of_function(const Record& record, const values::Function& function, Int step) {
  std::vector<Int> marks;
  const Found found(record, function.chunk);
  auto& s = record.symbols;
  const auto has_step = [&](Int value) { return found.has_step(value, step); };
  const auto counted = [&](const syntax::Expr& whole) {
    return found.of(without_factors(found, step, whole));
  };
  const auto meet = [&](const syntax::Expr& left, const syntax::Expr& right) {
    const Int a = counted(left), b = counted(right);
    if (!a || !b || has_step(a) == has_step(b)) return;
    if (const Int mark = meeting(record, step, a, b)) marks.push_back(mark);
  };
  const auto look = [&](const syntax::Expr& expr) {
    if (expr.kind == syntax::ExprKind::binary) {
      const auto& binary = syntax::as<syntax::BinaryExpr>(expr);
      using enum syntax::BinaryOp;
      if (binary.op == div || binary.op == floordiv) meet(*binary.left, *binary.right);
      // (total - step): nothing is left at its zero.
      const Int value = binary.op == sub ? found.of(expr) : nullptr;
      if (const Int mark = has_step(value) ? meeting(record, step, value, s.constant(0)) : nullptr)
        marks.push_back(mark);
    } else if (expr.kind == syntax::ExprKind::compare) {
      const auto& compare = syntax::as<syntax::CompareExpr>(expr);
      if (compare.rights.size() == 1) meet(*compare.left, *compare.rights[0]);
    } else if (expr.kind == syntax::ExprKind::call) {
      const auto& call = syntax::as<syntax::CallExpr>(expr);
      if (call.arguments.size() == 2 && call.keywords.empty()) meet(*call.arguments[0], *call.arguments[1]);
    }
  };
  if (function.lambda)
    for_each_expression(*function.lambda->body, look);
  else if (function.stmt)
    for_each_expression(*function.stmt, look);
  return marks;
}

namespace {

// What the parts of a schedule are by their arithmetic.
class Shape {
public:
  Shape(const Record& record, const values::Function& function, Int step, syntax::Name parameter = {})
      : record_(record), found_(record, function.chunk), step_(step), parameter_(parameter) {
    const auto look = [&](const syntax::Expr& expr) {
      if (expr.kind == syntax::ExprKind::compare) {
        const auto& compare = syntax::as<syntax::CompareExpr>(expr);
        if (compare.rights.size() == 1) compared(*compare.left, *compare.rights[0]);
      } else if (expr.kind == syntax::ExprKind::binary) {
        const auto& binary = syntax::as<syntax::BinaryExpr>(expr);
        if (binary.op == syntax::BinaryOp::div) divided(binary);
      } else if (expr.kind == syntax::ExprKind::call) {
        const std::string_view name = last_name(*syntax::as<syntax::CallExpr>(expr).function);
        has_cosine_ = has_cosine_ || name == "cos";
        is_bounded_ = is_bounded_ || says(name, Says::bounding);
      }
    };
    if (function.lambda)
      for_each_expression(*function.lambda->body, look);
    else if (function.stmt)
      for_each_expression(*function.stmt, look);
  }

  OwnSchedule found() const {
    OwnSchedule made;
    for (const std::int64_t mark : compared_)
      if (std::ranges::any_of(ramps_, [&](std::int64_t ramp) { return ramp == mark || ramp == mark + 1; }))
        made.warmup = mark;
    for (const Part& part : parts_) {
      if (part.slope < 0) made.total = part.zero;
      if (part.slope > 0 && made.warmup && part.zero == *made.warmup && part.zero > 0)
        made.total = part.zero + part.over;
    }
    // Only the warm-up is asked for: the cosine goes on beyond the end.
    made.rises_again = made.total && has_cosine_ && !is_bounded_ && comparisons_ == (made.warmup ? 1 : 0);
    return made;
  }

private:
  struct Part {
    std::int64_t slope = 0, zero = 0, over = 0;  // of the dividend; the divisor
  };

  // What it is at the first step, where it counts the steps by ones.
  std::optional<Part> count(const syntax::Expr& whole) const {
    if (!step_) return count_by_name(whole);
    auto& s = record_.symbols;
    const Int value = found_.of(without_factors(found_, step_, whole));
    if (!found_.has_step(value, step_)) return std::nullopt;
    const symbolic::Assignment at_first[] = {{step_, 0}}, at_next[] = {{step_, 1}};
    const auto first = number(s.substitute(value, at_first)), next = number(s.substitute(value, at_next));
    if (!first || !next || (*next - *first != 1 && *next - *first != -1)) return std::nullopt;
    return Part{*next - *first, *next - *first > 0 ? -*first : *first, 0};
  }
  // epoch, epoch - warmup, epochs - epoch, 0.1 * epoch
  std::optional<Part> count_by_name(const syntax::Expr& whole) const {
    const syntax::Expr& expr = bare(whole);
    if (expr.kind == syntax::ExprKind::name && syntax::as<syntax::NameExpr>(expr).id == parameter_)
      return Part{1, 0, 0};
    if (expr.kind != syntax::ExprKind::binary) return std::nullopt;
    const auto& both = syntax::as<syntax::BinaryExpr>(expr);
    const auto left = count_by_name(*both.left), right = count_by_name(*both.right);
    if (left.has_value() == right.has_value()) return std::nullopt;
    if (both.op == syntax::BinaryOp::mul) return left ? left : right;
    const auto other = number(found_.of(bare(left ? *both.right : *both.left)));
    if (!other || (both.op != syntax::BinaryOp::add && both.op != syntax::BinaryOp::sub)) return std::nullopt;
    const Part& part = left ? *left : *right;
    // As a line over the step: its value at the first one.
    const std::int64_t first = part.slope > 0 ? -part.zero : part.zero;
    const bool is_taken_away = both.op == syntax::BinaryOp::sub;
    const std::int64_t slope = is_taken_away && right ? -part.slope : part.slope,
                       at_first = !is_taken_away ? first + *other
        : left                                   ? first - *other
                                                 : *other - first;
    return Part{slope, slope > 0 ? -at_first : at_first, 0};
  }
  std::optional<std::int64_t> number(Int value) const {
    return value ? record_.symbols.value(value) : std::nullopt;
  }

  // step < warmup
  void compared(const syntax::Expr& left, const syntax::Expr& right) {
    const auto counts = count(left);
    if (counts || count(right)) ++comparisons_;
    const auto limit = number(found_.of(bare(right)));
    if (counts && limit && counts->slope > 0 && *limit + counts->zero > 0)
      compared_.push_back(*limit + counts->zero);
  }
  // (step + 1) / warmup, (step - warmup) / (total - warmup), (total - step) / (total - warmup)
  void divided(const syntax::BinaryExpr& quotient) {
    auto counts = count(*quotient.left);
    const auto over = number(found_.of(bare(*quotient.right)));
    if (!counts || !over) return;
    counts->over = *over;
    parts_.push_back(*counts);
    if (counts->slope > 0 && (counts->zero == 0 || counts->zero == -1)) ramps_.push_back(*over);
  }

  const Record& record_;
  Found found_;
  Int step_;  // null: it goes by the name of the parameter
  syntax::Name parameter_;
  std::vector<std::int64_t> compared_, ramps_;
  int comparisons_ = 0;  // of the step
  bool has_cosine_ = false, is_bounded_ = false;
  std::vector<Part> parts_;
};

}  // namespace

OwnSchedule own_schedule(const Record& record, const values::Function& function, Int step) {
  return Shape(record, function, step).found();
}
OwnSchedule own_schedule(
    const Record& record, const values::Function& function, const syntax::Parameter& parameter) {
  if (!function.stmt) return {};
  // Written again, the name stands for another number.
  bool is_kept = true;
  const auto written = [&](const syntax::Expr& target) {
    is_kept = is_kept &&
        !(target.kind == syntax::ExprKind::name && syntax::as<syntax::NameExpr>(target).id == parameter.name);
  };
  for_each_statement(*function.stmt, [&](const syntax::Stmt& stmt) {
    if (stmt.kind == syntax::StmtKind::assign)
      for (const syntax::Expr* target : syntax::as<syntax::AssignStmt>(stmt).targets) written(*target);
    else if (stmt.kind == syntax::StmtKind::aug_assign)
      written(*syntax::as<syntax::AugAssignStmt>(stmt).target);
    else if (stmt.kind == syntax::StmtKind::for_)
      written(*syntax::as<syntax::ForStmt>(stmt).target);
  });
  return is_kept ? Shape(record, function, nullptr, parameter.name).found() : OwnSchedule{};
}

}  // namespace stepzero::rules
