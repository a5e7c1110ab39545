// Operators' own words become findings.
#include "rules/shape/operator_problem.hpp"

#include "rules/shape/shape_text.hpp"
#include "rules/specialised.hpp"

namespace stepzero::rules {

std::optional<Severity> qualify(const Record& record, const ProblemEvent& problem, const interpreter::Root& root, Severity severity, std::string& message) {
  if (problem.guarded) return std::nullopt;
  if (problem.assumption) {
    const std::string when = record.symbols.text(problem.assumption);
    // A condition without a name tells nobody anything.
    if (when.empty() || when.find('?') != std::string::npos) return std::nullopt;
    message += ", when " + when;
    if (severity == Severity::error) severity = Severity::warning;
  }
  if (!root.defaults.empty()) {
    message += ", with the defaults of " + root.defaults;
    if (severity == Severity::error) severity = Severity::warning;
  }
  message += ".";
  return severity;
}

void report_problems(const Record& record, Report& report, values::ProblemKind kind, Severity severity,
                     const std::function<void(const ProblemEvent&, Finding&)>& refine) {
  visit_with_defaults(record, [&](const Event& event, const interpreter::Root& root) {
    if (event.kind != interpreter::EventKind::problem) return;
    const auto& problem = static_cast<const ProblemEvent&>(event);
    if (problem.problem != kind || problem.text.empty() || !teller_of(record, problem).empty()) return;
    std::string message = problem.text;
    const auto given = qualify(record, problem, root, severity, message);
    Finding* finding = given ? report.add(*given, problem.place, problem.calls, message) : nullptr;
    if (!finding) return;
    for (const auto& [place, text] : problem.evidence) report.relate(*finding, place, text);
    report.relate_calls(*finding, problem.calls);
    for (const interpreter::Cure& cure : problem.cures)
      if (auto fix = fix_of(record, problem, cure)) finding->fixes.push_back(std::move(*fix));
    if (refine) refine(problem, *finding);
  });
}

} // namespace stepzero::rules
