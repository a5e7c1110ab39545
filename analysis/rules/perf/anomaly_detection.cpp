// perf/anomaly-detection: the search of autograd for NaN is on in a training loop, whatever the program is
// asked. Knows where it is switched on and what the training loops are; a choice of the program is its own
// affair.
#include "libraries/table/class_roles.hpp"
#include "rules/call_at.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training_loops.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::perf::anomaly_detection {

using namespace interpreter;
using namespace syntax;
using values::Kind;

namespace {

bool finds_anomaly(Value made) {
  return made.is(Kind::instance) &&
      libraries::role_of(made.as<Instance>()->native) == libraries::ClassRole::finds_anomaly;
}

// The only argument that says whether it is on: `set_detect_anomaly(True)`; of the region there is none.
const Expr* mode_of(const CallExpr& call, const values::Row& row) {
  const auto parameter = [&](std::string_view name) {
    return !row.parameters.empty() && row.parameters[0].text() == name;
  };
  constexpr std::string_view mode = "mode";
  if (!parameter(mode)) return nullptr;
  if (!call.arguments.empty()) return call.arguments[0];
  for (const Keyword& keyword : call.keywords)
    if (keyword.name.text() == mode) return keyword.value;
  return nullptr;
}
bool is_truth(const Expr* expr, bool wanted) {
  return expr && expr->kind == ExprKind::boolean && as<BooleanExpr>(*expr).value == wanted;
}

// Does the program decide whether to come to it? What asks for its own name decides nothing.
bool is_decided(const Record& record, Place place) {
  constexpr std::string_view own_name = "__name__";
  const auto says_name = [&](const Expr& test) {
    bool found = false;
    for_each_expression(test, [&](const Expr& each) {
      found = found || (each.kind == ExprKind::name && as<NameExpr>(each).id.text() == own_name);
    });
    return found;
  };
  if (!record.chunk(place).chunk) return true;
  return std::ranges::any_of(
      enclosing(*record.chunk(place).chunk->stmt, place.span), [&](const Enclosing& each) {
        return each.stmt->kind == StmtKind::try_ ||
            (each.stmt->kind == StmtKind::if_ && !says_name(*as<IfStmt>(*each.stmt).test));
      });
}

struct Switch {
  Place place;
  bool region = false;  // on in a `with` alone
};

void check(const Record& record, Report& report) {
  std::vector<Switch> on;
  bool off = false;
  for (const Fact& fact : record.facts) {
    if (fact.role != Fact::Role::expression || !finds_anomaly(fact.value)) continue;
    const CallExpr* call = call_at(record, fact.place);
    if (!call) continue;
    const values::Row& row = *fact.value.as<Instance>()->native->row;
    const Expr* mode = mode_of(*call, row);
    const bool region = row.parameters.size() == 1;
    off = off || is_truth(mode, false);
    if ((region || is_truth(mode, true)) && !is_decided(record, fact.place))
      on.push_back({fact.place, region});
  }
  if (on.empty() || off) return;
  Once once;
  for (const TrainingLoop& loop : training_loops(Training::of(record), true))
    for (const Switch& each : on) {
      bool inside = false;
      for (const Around* around = loop.backward->event->around; around; around = around->outer)
        inside = inside || (finds_anomaly(around->manager) && around->manager.object()->born == each.place);
      if ((each.region && !inside) || !once(each.place)) continue;
      Finding* finding = report.add(Severity::information, each.place, nullptr,
          "Anomaly detection is on in every step of the training: each backward checks every gradient for NaN and each operator notes where it was called, which makes a step several times slower. Turn it on only to look for a mistake.");
      if (finding) report.relate(*finding, loop.backward->event->place, "every step pays for it here");
    }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "perf/anomaly-detection",
    .severity = Severity::information,
    .summary = "autograd looks for NaN in every step of the training",
    .why =
        "`torch.autograd.set_detect_anomaly(True)` and `detect_anomaly()` note the traceback of every operator of the forward, and let every function of the backward wait for its result and look for NaN. That is meant for the search for a mistake, and multiplies the time of a step.",
    .wrong = "torch.autograd.set_detect_anomaly(True)\n"
             "for x, y in loader:\n"
             "    loss = criterion(model(x), y)\n"
             "    loss.backward()\n"
             "    optimizer.step()\n"
             "    optimizer.zero_grad()\n",
    .right = "torch.autograd.set_detect_anomaly(args.debug)\n"
             "for x, y in loader:\n"
             "    loss = criterion(model(x), y)\n"
             "    loss.backward()\n"
             "    optimizer.step()\n"
             "    optimizer.zero_grad()\n",
    .silent =
        "Programs that are asked whether to turn it on, or turn it off again; regions around no training loop; loops that are not known to train.",
    .fix = "None: it may be on for a search that goes on.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::perf::anomaly_detection
