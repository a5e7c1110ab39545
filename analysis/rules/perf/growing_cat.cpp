// perf/growing-cat: a loop joins each new tensor to all that it has gathered, and copies it all each time.
#include "rules/name_hints.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::perf::growing_cat {

using namespace syntax;
using values::code;

namespace {

// A loop of fewer iterations copies little; one over a range may have few unless its text says otherwise.
constexpr std::int64_t few = 16;

bool is_short(const ForStmt& loop) {
  if (loop.iterable->kind == ExprKind::list || loop.iterable->kind == ExprKind::tuple) return true;
  if (loop.iterable->kind != ExprKind::call) return false;
  const auto& call = as<CallExpr>(*loop.iterable);
  return call.function->kind == ExprKind::name &&
      says(as<NameExpr>(*call.function).id.text(), Says::counting) &&
      !(call.arguments.size() == 1 && call.arguments[0]->kind == ExprKind::integer &&
          as<IntegerExpr>(*call.arguments[0]).value >= few);
}

// The elements of a tensor are few: the crops of an image, the levels of a pyramid.
bool goes_through_tensor(const Record& record, std::uint32_t chunk, const ForStmt& loop) {
  return std::ranges::any_of(record.facts, [&](const interpreter::Fact& fact) {
    return fact.place.chunk == chunk && fact.place.span == loop.iterable->span &&
        (fact.tensor || fact.value.is(values::Kind::tensor));
  });
}

bool reads(const Expr& expr, Name name) {
  bool found = false;
  for_each_expression(expr, [&](const Expr& each) {
    found = found || (each.kind == ExprKind::name && as<NameExpr>(each).id == name);
  });
  return found;
}

// The innermost loop around the assignment, in its function.
const ForStmt* loop_around(const std::vector<Enclosing>& way) {
  for (auto each = way.rbegin(); each != way.rend(); ++each) {
    if (each->stmt->kind == StmtKind::function || each->stmt->kind == StmtKind::while_) return nullptr;
    if (each->stmt->kind == StmtKind::for_) return &as<ForStmt>(*each->stmt);
  }
  return nullptr;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::joined)) {
    const Place place = each.made->born;
    if (!place || !record.in_file(place) || !record.chunk(place).statement()) continue;
    const auto way = enclosing(*record.chunk(place).statement(), place.span);
    if (way.empty() || way.back().stmt->kind != StmtKind::assign) continue;
    const auto& assign = as<AssignStmt>(*way.back().stmt);
    if (assign.targets.size() != 1 || assign.targets[0]->kind != ExprKind::name) continue;
    const Name name = as<NameExpr>(*assign.targets[0]).id;
    // `out = first if out is None else torch.cat([out, first])`: the other side begins.
    const Expr* joins = assign.value;
    if (joins->kind == ExprKind::conditional && reads(*as<ConditionalExpr>(*joins).test, name))
      joins = as<ConditionalExpr>(*joins).body->span == place.span ? as<ConditionalExpr>(*joins).body
                                                                   : as<ConditionalExpr>(*joins).orelse;
    if (joins->kind != ExprKind::call || joins->span != place.span) continue;
    const auto& call = as<CallExpr>(*joins);
    const Expr* list = call.arguments.empty() ? nullptr : call.arguments[0];
    if (!list || (list->kind != ExprKind::list && list->kind != ExprKind::tuple)) continue;
    const auto items = list->kind == ExprKind::list ? as<ListExpr>(*list).elements
                                                    : as<TupleExpr>(*list).elements;
    if (std::ranges::none_of(items,
            [&](const Expr* item) { return item->kind == ExprKind::name && as<NameExpr>(*item).id == name; }))
      continue;
    const ForStmt* loop = loop_around(way);
    // Samples are gathered along the first dimension; parts of one result, of few layers, along another.
    const Value dim = argument(*each.made, "dim");
    if (!loop || is_short(*loop) || (dim && record.number(dim) != 0)) continue;
    // What is gathered so far is of use in each iteration.
    std::size_t own = 0;
    for_each_expression(call, [&](const Expr& expr) {
      own += expr.kind == ExprKind::name && as<NameExpr>(expr).id == name ? 1 : 0;
    });
    bool used = own > 1 || reads(*loop->iterable, name);
    for (const Stmt* stmt : loop->body) {
      for_each_expression(*stmt, [&](const Expr& expr) {
        used = used ||
            (expr.kind == ExprKind::name && as<NameExpr>(expr).id == name && !assign.span.holds(expr.span));
      });
      for_each_statement(*stmt, [&](const Stmt& other) {
        if (other.kind != StmtKind::assign || &other == &assign) return;
        for (const Expr* target : as<AssignStmt>(other).targets) used = used || reads(*target, name);
      });
    }
    if (used || goes_through_tensor(record, place.chunk, *loop) || !once(place)) continue;
    Finding* finding = report.add(Severity::information, place, each.made->calls,
        "Each iteration copies all that " + code(std::string(name.text())) +
            " holds so far to add one more tensor. Append to a list, and join it once after the loop.");
    if (finding) report.relate(*finding, {place.chunk, loop->header}, "in this loop");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "perf/growing-cat",
    .severity = Severity::information,
    .summary = "a loop joins each new tensor to all that it has gathered",
    .why =
        "`torch.cat` makes a new tensor and copies every part. In a loop over n batches the first is copied n times: the time grows with the square of n, and the old and the new tensor are in memory together.",
    .wrong = "features = torch.empty(0)\n"
             "for x in loader:\n"
             "    features = torch.cat([features, model(x)])\n",
    .right = "features = []\n"
             "for x in loader:\n"
             "    features.append(model(x))\n"
             "features = torch.cat(features)\n",
    .silent =
        "Loops that use what was gathered in each iteration, as generation does; loops of a few iterations; parts that are joined along another dimension than the first; what starts again in each iteration.",
    .fix = "None: the first value and the last use change, too.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::perf::growing_cat
