// call/no-key: a key is read that the dict has not.
#include "rules/rule.hpp"

#include "rules/shape/operator_problem.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/shape/shape_text.hpp"
#include "rules/source.hpp"
#include "rules/specialized.hpp"

#include <algorithm>
#include <tuple>

namespace stepzero::rules::call::no_key {

namespace {

constexpr std::size_t most_readers = 8;  // that are named beside the first

// A read that fails, as it would be told.
struct Read {
  const ProblemEvent* problem;
  Severity severity;
  std::string message;

  const interpreter::NoSuchKey* refusal;

  // Which key is missing among which: the same wherever a dict of these keys is read.
  auto cause() const { return std::tie(refusal->key, refusal->keys); }
};

std::vector<Fix> fixes_of(const Record& record, const ProblemEvent& problem) {
  std::vector<Fix> fixes;
  for (const interpreter::SuggestedEdit& edit : problem.suggested_edits)
    if (auto fix = fix_of(record, problem, edit)) fixes.push_back(std::move(*fix));
  return fixes;
}

// The fix of the first mends all who read the same.
void add_edits(std::vector<Fix>& fixes, std::vector<Fix> others) {
  for (Fix& other : others)
    for (Fix& fix : fixes)
      if (fix.title == other.title)
        fix.edits.insert(fix.edits.end(), std::make_move_iterator(other.edits.begin()),
            std::make_move_iterator(other.edits.end()));
}

// One missing key is one finding, where it is read first.
void tell(const Record& record, Report& report, std::span<const Read> reads) {
  Finding* finding = nullptr;
  std::vector<Place> places;
  for (const Read& read : reads) {
    const ProblemEvent& problem = *read.problem;
    if (!finding) {
      finding = report.add(read.severity, problem.place, problem.calls, read.message);
      if (!finding) continue;
      report.relate_calls(*finding, problem.calls);
      finding->fixes = fixes_of(record, problem);
      places.push_back(problem.place);
      continue;
    }
    if (!record.in_file(problem.place) || std::ranges::find(places, problem.place) != places.end()) continue;
    places.push_back(problem.place);
    if (places.size() <= most_readers) report.relate(*finding, problem.place, "it is read here, too");
    add_edits(finding->fixes, fixes_of(record, problem));
  }
}

// Does the program ask of the same key, before it reads it, whether it is in another collection: `if key in
// other: … known[key]`? What is not known of that one may keep from here every key that this dict lacks.
bool is_asked_for(const Record& record, const ProblemEvent& problem) {
  if (!problem.node || problem.node->kind != syntax::ExprKind::subscript || !record.in_file(problem.place))
    return false;
  const syntax::Expr& index = *syntax::as<syntax::SubscriptExpr>(*problem.node).index;
  if (index.kind == syntax::ExprKind::string) return false;
  const auto text = [&](const syntax::Expr& expr) { return record.text({problem.place.chunk, expr.span}); };
  const auto asks = [&](const syntax::Expr& test) {
    bool found = false;
    syntax::for_each_expression(test, [&](const syntax::Expr& each) {
      if (each.kind != syntax::ExprKind::compare) return;
      const auto& compare = syntax::as<syntax::CompareExpr>(each);
      found = found ||
          (compare.ops.size() == 1 &&
              (compare.ops[0] == syntax::CompareOp::in || compare.ops[0] == syntax::CompareOp::not_in) &&
              text(*compare.left) == text(index));
    });
    return found;
  };
  const auto path = enclosing(*record.chunk(problem.place).chunk->stmt, problem.place.span);
  return std::ranges::any_of(path, [&](const Enclosing& each) {
    return each.stmt->kind == syntax::StmtKind::if_ && asks(*syntax::as<syntax::IfStmt>(*each.stmt).test);
  });
}

void check(const Record& record, Report& report) {
  std::vector<Read> reads;
  visit_problems(record, [&](const ProblemEvent& problem, const interpreter::Root& root) {
    const auto* refusal = refusal_of<interpreter::NoSuchKey>(problem);
    if (problem.problem != values::ProblemKind::no_attribute || !refusal ||
        reporting_rule_of(record, problem) != "call/no-key" || is_asked_for(record, problem))
      return;
    std::string message = text_of(record, problem);
    if (const auto severity = qualify(record, problem, root, Severity::error, message))
      reads.push_back({&problem, *severity, std::move(message), refusal});
  });
  std::ranges::stable_sort(reads, {}, &Read::severity);
  std::ranges::stable_sort(reads, {}, &Read::cause);
  for (auto from = reads.begin(); from != reads.end();) {
    const auto to = std::find_if(
        from, reads.end(), [&](const Read& each) { return each.cause() != from->cause(); });
    tell(record, report, {from, to});
    from = to;
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "call/no-key",
    .severity = Severity::error,
    .summary = "a key is asked of a dict that has none of that name",
    .why =
        "A data set gives samples as dicts, a loader makes batches of the same keys, a model answers with a dict, and a checkpoint is one: who reads another name than the one that was "
        "written gets `KeyError`, at the first batch, or after the first epoch.",
    .wrong = "sample = {\"input\": x, \"label\": y}\n"
             "loss = criterion(model(sample[\"inputs\"]), sample[\"label\"])\n",
    .right = "sample = {\"input\": x, \"label\": y}\n"
             "loss = criterion(model(sample[\"input\"]), sample[\"label\"])\n",
    .silent =
        "Dicts of which not all keys are known: from files, from code that is not seen, with keys that are computed; `get`, `in` and `try`, `in` of another collection, too; dicts with defaults.",
    .fix =
        "Writes the key that was probably meant, where there is one: that is a guess, and needs a decision.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::call::no_key
