// parallel/wrapped-attribute: an attribute of the model is asked of the wrapper around it.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::parallel::wrapped_attribute {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::of_wrapped, Severity::error,
      [&](const ProblemEvent& problem, Finding& finding) {
        if (!record.in_file(problem.place)) return;
        const std::string_view written = record.text(problem.place);
        const std::size_t point = written.rfind('.');
        if (point == std::string_view::npos) return;
        const auto at = problem.place.span.begin + static_cast<std::uint32_t>(point);
        Fix fix;
        fix.title = "Ask the model inside: .module" + std::string(written.substr(point));
        fix.edits.push_back({report.location({problem.place.chunk, {at, at}}), ".module"});
        finding.fixes.push_back(std::move(fix));
      });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "parallel/wrapped-attribute",
    .severity = Severity::error,
    .summary = "an attribute of the model is asked of the wrapper around it",
    .why =
        "DistributedDataParallel, DataParallel and AveragedModel keep the model in `module` and hand on nothing but the forward: what the "
        "model's class defines raises `AttributeError` on the wrapper. A script that runs on one process without the wrapper fails so on the "
        "first run with it, often not before the evaluation or the saving.",
    .wrong = "model = DistributedDataParallel(Net())\n"
             "features = model.encode(x)\n",
    .right = "model = DistributedDataParallel(Net())\n"
             "features = model.module.encode(x)\n",
    .silent =
        "FullyShardedDataParallel, DeepSpeed's engine, Fabric's and Accelerate's modules; classes of the program that derive from a wrapper; "
        "hasattr and getattr; names that a model that is seen lacks as well; of models that are not seen, wrappers that unseen code was handed; names that begin with an underscore.",
    .fix =
        "Writes `.module` in between; whether the wrapper is there on every run is a question to the author.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::parallel::wrapped_attribute
