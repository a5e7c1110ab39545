// call/no-key: a key is read that the dict has not.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"
#include "rules/specialised.hpp"

namespace stepzero::rules::call::no_key {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::no_attribute, Severity::error, {}, "call/no-key");
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "call/no-key",
    .severity = Severity::error,
    .summary = "a key is asked of a dict that has none of that name",
    .why =
        "A data set gives samples as dicts, a loader makes batches of the same keys, a model answers with a dict, and a checkpoint is one: who reads another name than the one that was "
        "written gets KeyError, at the first batch, or after the first epoch.",
    .wrong = "sample = {\"input\": x, \"label\": y}\n"
             "loss = criterion(model(sample[\"inputs\"]), sample[\"label\"])\n",
    .right = "sample = {\"input\": x, \"label\": y}\n"
             "loss = criterion(model(sample[\"input\"]), sample[\"label\"])\n",
    .silent =
        "Dicts of which not all keys are known: from files, from code that is not seen, with keys that are computed; `get`, `in` and `try`; dicts with defaults.",
    .fix =
        "Writes the key that was probably meant, where there is one: that is a guess, and needs a decision.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::call::no_key
