// call/arguments: a function of the program is called with arguments that it does not take.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::call::arguments {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::own_call, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "call/arguments",
    .severity = Severity::error,
    .summary = "a function of the program is called with arguments that it does not take",
    .why =
        "Python holds a call against the signature before anything runs: an argument that is missing, that the function does not have, "
        "that is given twice, or one too many raises `TypeError` at the call. In training code that call often comes hours into the job: "
        "the evaluation, the saving, the last epoch.",
    .wrong = "def evaluate(model, loader, device):\n"
             "    ...\n"
             "\n"
             "evaluate(model, loader)\n",
    .right = "def evaluate(model, loader, device):\n"
             "    ...\n"
             "\n"
             "evaluate(model, loader, device)\n",
    .silent =
        "Functions under decorators that may change what they take; `*args` and `**kwargs` that are not known; classes with a "
        "metaclass or a decorator of their own; methods that a derived class overrides; installed libraries; tests that expect the "
        "failure.",
    .fix = "None yet: what was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::call::arguments
