// config/bool-argument: an argument of the command line is read with bool.
#include "rules/rule.hpp"
#include "rules/sentences.hpp"
#include "rules/shape/operator_problem.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::config::bool_argument {

extern const Rule rule;

namespace {

// Is it read with bool? One that is always on is found where the command line is parsed, and stands
// elsewhere.
bool is_read(const ProblemEvent& problem) { return problem.expr && problem.expr->span == problem.place.span; }

// The parser, or group of it, that gets the argument, as the program calls it.
std::string parser_of(const Record& record, const ProblemEvent& problem) {
  if (!problem.expr || problem.expr->function->kind != syntax::ExprKind::attribute) return "";
  return std::string(record.text(
      {problem.place.chunk, syntax::as<syntax::AttributeExpr>(*problem.expr->function).object->span}));
}

// Who reads one argument so reads others so, too: that is one mistake for each parser, which stands at the
// first of them.
void check(const Record& record, Report& report) {
  std::vector<Finding> found;
  std::vector<std::string> parsers;
  std::vector<const ProblemEvent*> problems;
  Report each(record, report.ranks(), rule, found);
  report_problems(record, each, values::ProblemKind::truth_of_text, Severity::warning,
      [&](const ProblemEvent& problem, Finding&) {
        parsers.resize(found.size());
        problems.resize(found.size());
        parsers.back() = is_read(problem) ? parser_of(record, problem) : "";
        problems.back() = &problem;
      });
  std::vector<std::size_t> order(found.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return found[a].where.span.begin < found[b].where.span.begin; });
  std::vector<bool> told(found.size());
  for (const std::size_t first : order) {
    if (told[first]) continue;
    std::vector<Related> related = found[first].related;
    std::string message = found[first].message;
    std::size_t others = 0;
    for (const std::size_t i : order)
      if (i != first && !told[i] && !parsers[i].empty() && parsers[i] == parsers[first]) {
        told[i] = true;
        ++others;
        related.push_back({found[i].where, "so is this one"});
      }
    if (others > 0)
      message.insert(end_of_first_sentence(message),
          ", and likewise for " + std::to_string(others) +
              (others == 1 ? " other argument" : " other arguments") + " of " + values::code(parsers[first]));
    if (Finding* finding = report.add(
            found[first].severity, problems[first]->place, problems[first]->calls, std::move(message)))
      finding->related = std::move(related);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/bool-argument",
    .severity = Severity::warning,
    .summary = "an argument of the command line can never be switched off",
    .why =
        "argparse calls the type with the string of the argument, and `bool(\"False\")` is true: every string but the empty one is. The "
        "option can never be switched off, and `--amp False` trains with it on, without a word. `store_true` with `default=True` is the "
        "same: the option is on whether it is given or not.",
    .wrong = "parser.add_argument(\"--amp\", type=bool, default=True)\n",
    .right = "parser.add_argument(\"--amp\", action=argparse.BooleanOptionalAction, default=True)\n",
    .silent =
        "Functions of the program that read \"true\" and \"false\"; `store_true` and `store_false` beside it; an option that another one switches off.",
    .fix = "None yet: what was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::config::bool_argument
