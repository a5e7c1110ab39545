// loop/absolute-rate: the function of a LambdaLR gives a learning rate, and is asked for a factor. What it
// gives is read from its text: an own function may compute anything.
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop::absolute_rate {

using namespace interpreter;
using namespace syntax;
using values::Kind;
using values::Operation;

namespace {

// The expression by which the optimizer was given its rate; null if there is none.
const Expr* rate_of(const OperationEvent& made) {
  if (!made.expr) return nullptr;
  for (const Keyword& keyword : made.expr->keywords)
    if (keyword.name.text() == "lr") return keyword.value;
  return nullptr;
}

// How an expression uses the rate: as itself, or to divide by it.
struct Uses {
  bool plain = false, divides = false;
};
void look_at(const Record& record, std::uint32_t chunk, const Expr& expr, std::string_view rate, bool divides,
    Uses& uses) {
  if (record.text({chunk, expr.span}) == rate) {
    (divides ? uses.divides : uses.plain) = true;
    return;
  }
  if (expr.kind == ExprKind::binary) {
    const auto& binary = as<BinaryExpr>(expr);
    look_at(record, chunk, *binary.left, rate, divides, uses);
    look_at(record, chunk, *binary.right, rate, binary.op == BinaryOp::div ? !divides : divides, uses);
    return;
  }
  for_each_expression(expr, [&](const Expr& part) {
    if (&part != &expr && record.text({chunk, part.span}) == rate)
      (divides ? uses.divides : uses.plain) = true;
  });
}

Uses uses_in(const Record& record, const values::Function& function, std::string_view rate) {
  Uses uses;
  if (function.lambda) {
    look_at(record, function.chunk, *function.lambda->body, rate, false, uses);
    return uses;
  }
  if (!function.stmt) return uses;
  for_each_statement(*function.stmt, [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::return_ && as<ReturnStmt>(stmt).value) {
      look_at(record, function.chunk, *as<ReturnStmt>(stmt).value, rate, false, uses);
      return;
    }
    // What is divided by before it is returned.
    Uses other;
    if (stmt.kind == StmtKind::assign && as<AssignStmt>(stmt).value)
      look_at(record, function.chunk, *as<AssignStmt>(stmt).value, rate, false, other);
    uses.divides = uses.divides || other.divides;
  });
  return uses;
}

void check(const Record& record, Report& report) {
  std::vector<const OperationEvent*> optimizers, schedulers;
  visit_operations(record, [&](const OperationEvent& event) {
    if (event.row->operation == Operation::optimizer_made) optimizers.push_back(&event);
    if (event.row->operation == Operation::scheduler_made) schedulers.push_back(&event);
  });
  Once once;
  for (const OperationEvent* made : schedulers) {
    const Value given = argument(*made, "lr_lambda"), optimizer = argument(*made, "optimizer");
    if (!given.is(Kind::function) || !optimizer.object()) continue;
    const auto found = std::ranges::find_if(
        optimizers, [&](const OperationEvent* each) { return each->self.object() == optimizer.object(); });
    const Expr* rate = found == optimizers.end() ? nullptr : rate_of(**found);
    if (!rate) continue;
    const std::string text(record.text({(*found)->place.chunk, rate->span}));
    const Uses uses = uses_in(record, *given.as<values::Function>(), text);
    // A rate of 1 changes nothing.
    if (!uses.plain || uses.divides || text == "1" || text == "1.0" || !once(made->place)) continue;
    Finding* finding = report.add(Severity::warning, made->place, made->calls,
        "`LambdaLR` multiplies the optimizer's rate by what this function gives, and the function gives a rate: the steps are made with " +
            values::code(text) + " squared. Return the factor, 1 for the full rate.");
    if (finding) report.relate(*finding, (*found)->place, "the rate that is multiplied");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/absolute-rate",
    .severity = Severity::warning,
    .summary = "the function of a LambdaLR returns the learning rate itself",
    .why =
        "`LambdaLR` sets the rate of each group to its initial rate times what the function returns. A function that returns the rate gives 1e-3 times 1e-3: training "
        "seems to run, and the loss hardly moves.",
    .wrong = "optimizer = torch.optim.AdamW(model.parameters(), lr=base_lr)\n"
             "scheduler = LambdaLR(optimizer, lambda step: base_lr * 0.99 ** step)\n",
    .right = "optimizer = torch.optim.AdamW(model.parameters(), lr=base_lr)\n"
             "scheduler = LambdaLR(optimizer, lambda step: 0.99 ** step)\n",
    .silent =
        "Functions that divide by the rate; optimizers whose rate is 1, for which a rate is the factor; rates that the function names otherwise than the optimizer.",
    .fix = "None: the function may need its rate for something else.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::absolute_rate
