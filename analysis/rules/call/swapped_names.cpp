// call/swapped-names: results that are unpacked, or arguments that are given, in another order than the one
// in which the function names them.
#include "libraries/torch/distributed/jobs.hpp"
#include "rules/call_at.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::call::swapped_names {

using values::code;

namespace {

using Names = std::vector<std::string_view>;
using Pair = std::pair<std::size_t, std::size_t>;

// The name that a variable or an attribute has; empty for what is no such name, or a name of one letter,
// which says little.
std::string_view name_of(const syntax::Expr& expr) {
  const std::string_view name = syntax::last_name(expr);
  return name.size() > 1 ? name : std::string_view();
}

// The two places that the two lists have the other way round; every other name stands in its own place or in
// neither list.
std::optional<Pair> swapped(const Names& given, const Names& meant) {
  const std::size_t both = std::min(given.size(), meant.size());
  std::optional<Pair> found;
  for (std::size_t i = 0; i < both; ++i) {
    if (given[i].empty() || meant[i].empty() || given[i] == meant[i]) continue;
    const auto at = std::find(meant.begin(), meant.begin() + static_cast<std::ptrdiff_t>(both), given[i]);
    const auto other = static_cast<std::size_t>(at - meant.begin());
    if (other == both) continue;
    if (given[other] != meant[i] || (found && *found != Pair{other, i})) return std::nullopt;
    found = {std::min(i, other), std::max(i, other)};
  }
  return found;
}

Names elements(const syntax::Expr& expr) {
  Names names;
  if (expr.kind == syntax::ExprKind::tuple)
    for (const syntax::Expr* each : syntax::as<syntax::TupleExpr>(expr).elements)
      names.push_back(name_of(*each));
  return names;
}

// What every `return` of the function gives, by name; empty where they do not agree.
Names returned(const syntax::FunctionStmt& function) {
  std::optional<Names> all;
  for (const syntax::Stmt* stmt : function.body)
    syntax::for_each_statement(*stmt, [&](const syntax::Stmt& each) {
      if (each.kind == syntax::StmtKind::function) all = Names{};  // its returns are its own
      if (each.kind != syntax::StmtKind::return_) return;
      const syntax::Expr* value = syntax::as<syntax::ReturnStmt>(each).value;
      const Names names = value ? elements(*value) : Names{};
      if (!all)
        all = names;
      else if (*all != names)
        all = Names{};
    });
  return all.value_or(Names{});
}

Names parameters(const values::Function& function) {
  Names names;
  for (const syntax::Parameter& each : function.stmt->parameters->list) {
    if (each.kind != syntax::ParameterKind::normal && each.kind != syntax::ParameterKind::positional_only)
      break;
    names.push_back(each.name.text());
  }
  if (function.owner && !function.is_static && !names.empty()) names.erase(names.begin());
  return names;
}

bool holds(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The statement that unpacks what the call gives.
const syntax::Expr* target_of(const Record& record, Place call) {
  const auto path = enclosing(*record.chunk(call).chunk->stmt, call.span);
  if (path.empty() || path.back().stmt->kind != syntax::StmtKind::assign) return nullptr;
  const auto& assign = syntax::as<syntax::AssignStmt>(*path.back().stmt);
  return assign.value->span == call.span && assign.targets.size() == 1 ? assign.targets[0] : nullptr;
}

class Check {
public:
  Check(const Record& record, Report& report) : record_(record), report_(report) {}

  void look_at(const interpreter::CallSite& site) {
    const values::Function& function = *site.function;
    if (!function.stmt || function.altered || function.wrapped_unseen || !record_.in_file(site.place)) return;
    if (function_around(record_, site.place) == function.stmt || !once_(site.place)) return;
    const syntax::CallExpr* call = call_at(record_, site.place);
    if (!call) return;
    const Names taken = parameters(function);
    Names given;
    for (const syntax::Expr* each : call->arguments) {
      if (each->kind == syntax::ExprKind::starred) break;
      given.push_back(name_of(*each));
    }
    if (const auto places = swapped(given, taken); places && !is_symmetric(site, taken, given, *places))
      tell(site.place, "given to", function, given, *places, "takes", taken);
    if (const syntax::Expr* target = target_of(record_, site.place)) {
      const Names results = returned(*function.stmt), wanted = elements(*target);
      if (results.size() != wanted.size()) return;
      // What gives its own arguments the other way round is made for that.
      if (const auto places = swapped(wanted, results); places &&
          !(holds(taken, results[places->first]) && holds(taken, results[places->second])) &&
          !(holds(given, wanted[places->first]) && holds(given, wanted[places->second])))
        tell(site.place, "unpacked from", function, wanted, *places, "returns", results);
    }
  }

  // What gives back its arguments, in their order.
  void look_at(const interpreter::OperationEvent& event) {
    if (!event.expr || !record_.in_file(event.place)) return;
    const syntax::Expr* target = target_of(record_, event.place);
    if (!target || target->kind != syntax::ExprKind::tuple) return;
    const auto& targets = syntax::as<syntax::TupleExpr>(*target).elements;
    const auto& given = event.expr->arguments;
    if (targets.size() != given.size()) return;
    const auto text = [&](const syntax::Expr& expr) { return record_.text({event.place.chunk, expr.span}); };
    std::string order;
    bool same = true;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const bool among = std::ranges::any_of(
          targets, [&](const syntax::Expr* each) { return text(*each) == text(*given[i]); });
      if (!among) return;
      same = same && text(*targets[i]) == text(*given[i]);
      order += (order.empty() ? "" : ", ") + std::string(text(*given[i]));
    }
    if (same || !once_(event.place)) return;
    Finding* finding = report_.add(Severity::warning, event.place, event.calls,
        "This call gives its arguments back in the order in which they are given, and they are unpacked in another. Unpack into " +
            code(order) + ".");
    if (!finding) return;
    Fix fix;
    fix.title = "Unpack into " + order;
    fix.edits.push_back(
        {report_.location({event.place.chunk, {targets.front()->span.begin, targets.back()->span.end}}),
            order});
    finding->fixes.push_back(std::move(fix));
  }

private:
  const Record& record_;
  Report& report_;
  Once once_;

  // Is the function called both ways round by the same code, as `kl(p, q) + kl(q, p)` is?
  bool is_symmetric(const interpreter::CallSite& site, const Names& taken, const Names& given, Pair places) {
    const auto* around = function_around(record_, site.place);
    return std::ranges::any_of(record_.sites, [&](const auto& other) {
      if (other->function != site.function || other->place == site.place ||
          function_around(record_, other->place) != around)
        return false;
      const syntax::CallExpr* call = call_at(record_, other->place);
      if (!call || call->arguments.size() <= places.second) return false;
      return name_of(*call->arguments[places.first]) == given[places.second] &&
          name_of(*call->arguments[places.second]) == given[places.first] && !taken.empty();
    });
  }

  void tell(Place place, std::string_view how, const values::Function& function, const Names& given,
      Pair places, std::string_view verb, const Names& meant) {
    const auto two = [&](const Names& names) {
      return code(names[places.first]) + " and " + code(names[places.second]);
    };
    Finding* finding = report_.add(Severity::information, place, nullptr,
        two(given) + " are " + std::string(how) + " " + code(function.name.text()) +
            " in this order, which " + std::string(verb) + " " + two(meant) + ". Swap them.");
    if (finding)
      report_.relate(*finding, {function.chunk, function.stmt->name_span}, "the function is defined here");
  }
};

void check(const Record& record, Report& report) {
  Check look(record, report);
  for (const auto& site : record.sites)
    if (site->function) look.look_at(*site);
  visit_operations(
      record, libraries::prepares, [&](const interpreter::OperationEvent& event) { look.look_at(event); });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "call/swapped-names",
    .severity = Severity::warning,
    .summary = "results are unpacked, or arguments given, in another order than the function has them",
    .why =
        "`return mu, logvar` and `logvar, mu = encode(x)`: both are tensors of one shape, so nothing fails, and the mean is used as a variance from then on. The same of `loss(target, scores)` where the function takes `scores, target`. `accelerator.prepare(model, optimizer)` gives both back in that order: unpacked the other way round, the optimizer is called as if it were the model.",
    .wrong = "def encode(x):\n"
             "    ...\n"
             "    return mu, logvar\n"
             "\n"
             "logvar, mu = encode(x)\n",
    .right = "def encode(x):\n"
             "    ...\n"
             "    return mu, logvar\n"
             "\n"
             "mu, logvar = encode(x)\n",
    .silent =
        "Names of one letter; functions that give their own arguments back the other way round; functions that the same code calls both ways round, and calls of itself; names of which only one stands in another place.",
    .fix = "Unpacks what `prepare` gives in the order of its arguments.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::call::swapped_names
