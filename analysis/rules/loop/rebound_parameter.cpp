// loop/rebound-parameter: a loop over parameters assigns to its own name, which leaves the parameters as they
// are.
#include "rules/imports.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <optional>

namespace stepzero::rules::loop::rebound_parameter {

using values::code;

using namespace interpreter;
using namespace syntax;
using values::Kind;

namespace {

void names_in(const Expr& target, std::vector<const NameExpr*>& found) {
  if (target.kind == ExprKind::name) found.push_back(&as<NameExpr>(target));
  if (target.kind == ExprKind::tuple)
    for (const Expr* each : as<TupleExpr>(target).elements) names_in(*each, found);
}

// What a chain of attributes, methods and subscripts begins with.
const Expr& beginning(const Expr& expr) {
  switch (expr.kind) {
  case ExprKind::attribute: return beginning(*as<AttributeExpr>(expr).object);
  case ExprKind::subscript: return beginning(*as<SubscriptExpr>(expr).object);
  case ExprKind::call: return beginning(*as<CallExpr>(expr).function);
  default: return expr;
  }
}

// Computes the expression a new value of the name's, and does nothing else? A function of the program, and a
// method that writes in place, may do more.
bool only_computes(
    const Expr& value, const std::vector<const NameExpr*>& of, Name name, std::string_view torch) {
  bool reads = false, computes = true;
  for_each_expression(value, [&](const Expr& each) {
    if (each.kind == ExprKind::name) reads = reads || as<NameExpr>(each).id == name;
    if (each.kind != ExprKind::call) return;
    const Expr& function = *as<CallExpr>(each).function;
    const Expr& first = beginning(function);
    computes = computes && function.kind == ExprKind::attribute &&
        !as<AttributeExpr>(function).attribute.text().ends_with('_') && first.kind == ExprKind::name &&
        (as<NameExpr>(first).id.text() == torch ||
            std::ranges::any_of(of, [&](const NameExpr* one) { return one->id == as<NameExpr>(first).id; }));
  });
  return reads && computes && value.kind != ExprKind::name;
}

struct Rebinding {
  const AssignStmt* assign;
  const NameExpr* name;
};

// An assignment to a name of the loop that nobody reads afterwards.
std::vector<Rebinding> rebindings(const ForStmt& loop, const Stmt& around, std::string_view torch) {
  std::vector<const NameExpr*> names;
  names_in(*loop.target, names);
  std::vector<Rebinding> found;
  if (names.empty()) return found;
  for (const Stmt* stmt : loop.body)
    for_each_statement(*stmt, [&](const Stmt& each) {
      if (each.kind != StmtKind::assign) return;
      const auto& assign = as<AssignStmt>(each);
      if (assign.targets.size() != 1 || assign.targets[0]->kind != ExprKind::name) return;
      const Name id = as<NameExpr>(*assign.targets[0]).id;
      const auto own = std::ranges::find_if(names, [&](const NameExpr* one) { return one->id == id; });
      if (own == names.end() || !only_computes(*assign.value, names, id, torch)) return;
      // Another loop around it within this one comes back to what stands before.
      const std::vector<Enclosing> way = enclosing(*stmt, each.span);
      const bool again = std::ranges::any_of(way, [](const Enclosing& one) {
        return one.stmt->kind == StmtKind::for_ || one.stmt->kind == StmtKind::while_ ||
            one.stmt->kind == StmtKind::function || one.stmt->kind == StmtKind::class_;
      });
      bool read = again;
      for_each_expression(around, [&](const Expr& expr) {
        read = read ||
            (expr.kind == ExprKind::name && as<NameExpr>(expr).id == id && expr.span.begin >= each.span.end);
      });
      if (!read) found.push_back({&assign, *own});
    });
  return found;
}

// The function around, or the statement of the file.
const Stmt& scope_of(const Stmt& root, const Stmt& stmt) {
  const Stmt* found = &root;
  for (const Enclosing& each : enclosing(root, stmt.span))
    if (each.stmt != &stmt && each.stmt->kind == StmtKind::function) found = each.stmt;
  return *found;
}

// Is the name of the loop a parameter in each run that comes to it?
bool is_parameter(const Record& record, std::uint32_t chunk, const NameExpr& name) {
  bool any = false, all = true;
  for (const Fact& fact : record.facts) {
    if (fact.place.chunk != chunk || fact.place.span.begin != name.span.begin ||
        fact.place.span.end != name.span.end || !fact.value)
      continue;
    const bool is = fact.value.is(Kind::tensor) &&
        fact.value.as<values::Tensor>()->role == values::TensorRole::parameter;
    any = any || is;
    all = all && is;
  }
  return any && all;
}

void check(const Record& record, Report& report) {
  std::optional<std::string> torch;  // as the file calls it
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const Stmt* root = record.chunks[i].path == record.path ? record.chunks[i].statement() : nullptr;
    if (!root) continue;
    for_each_statement(*root, [&](const Stmt& stmt) {
      if (stmt.kind != StmtKind::for_) return;
      const auto& loop = as<ForStmt>(stmt);
      if (!torch) torch = name_of_module(*record.chunks[i].module, {"torch"});
      for (const Rebinding& each : rebindings(loop, scope_of(*root, stmt), *torch)) {
        if (!is_parameter(record, i, *each.name)) continue;
        const std::string name(each.name->id.text());
        Finding* finding = report.add(Severity::warning, {i, each.assign->span}, nullptr,
            "This only gives the name " + code(name) +
                " to a new tensor that nothing reads: the parameter itself stays as it is. Write into it, under `torch.no_grad()`: " +
                code(name + ".copy_(…)") + ".");
        if (finding) report.relate(*finding, {i, each.name->span}, "the name of the loop");
      }
    });
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/rebound-parameter",
    .severity = Severity::warning,
    .summary = "a loop over parameters assigns to its own name, and changes no parameter",
    .why =
        "`p = p - lr * p.grad` makes a new tensor and gives it the name `p`; the module still holds the old one. The step, the average of the weights or the clipping that the loop is to make never happens, and nothing fails.",
    .wrong = "with torch.no_grad():\n"
             "    for average, p in zip(ema.parameters(), model.parameters()):\n"
             "        average = 0.99 * average + 0.01 * p\n",
    .right = "with torch.no_grad():\n"
             "    for average, p in zip(ema.parameters(), model.parameters()):\n"
             "        average.mul_(0.99).add_(p, alpha=0.01)\n",
    .silent =
        "Names that are read afterwards; `p -= …`, which writes in place; methods that write in place (`p = p.mul_(0.9)`) and functions of the program, which may; loops over other things than parameters.",
    .fix = "None: `copy_`, `mul_` and `add_` write the same in several ways.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::rebound_parameter
