#include "rules/amp/gated_call.hpp"

#include "values/shape_text.hpp"

namespace stepzero::rules {

using values::code;

Finding* report_gated(const Record& record, Report& report, Once& once, const Gated& gated,
    std::string_view method, std::string_view what_runs, std::string_view consequence) {
  const auto weight = severity_under(record, gated.event->self.object(), *gated.event, *gated.training_root);
  if (!weight || !once(gated.event->place)) return nullptr;
  const bool sure = gated.certain && weight->severity == Severity::error;
  Finding* finding = report.add(sure ? Severity::error : Severity::warning, gated.event->place,
      gated.event->calls,
      code(object_text(record, *gated.event, "the scaler").append(method)) +
          (gated.by_data ? " is called in every iteration, but " : " is called for every micro-batch, but ") +
          std::string(what_runs) + " only in some iterations" +
          (gated.condition.empty() ? "" : ", when " + gated.condition) + ": " + std::string(consequence));
  if (finding) report.relate(*finding, gated.step->place, "the step is made in some iterations only");
  return finding;
}

}  // namespace stepzero::rules
