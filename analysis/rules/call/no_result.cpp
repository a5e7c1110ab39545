// call/no-result: the None of a function that returns nothing is used.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::call::no_result {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::no_result, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "call/no-result",
    .severity = Severity::error,
    .summary = "the result of a function that returns nothing is used",
    .why =
        "A `forward` that computes everything and ends without `return` gives None, and so does a function that makes the model and the optimizer and keeps them to itself. Python says so only "
        "where the result is used: in the first batch, or after the first epoch where it is the evaluation that lacks its last line.",
    .wrong = "class Net(nn.Module):\n"
             "    def forward(self, x):\n"
             "        x = torch.relu(x)\n"
             "\n"
             "loss = Net()(batch).mean()\n",
    .right = "class Net(nn.Module):\n"
             "    def forward(self, x):\n"
             "        x = torch.relu(x)\n"
             "        return x\n"
             "\n"
             "loss = Net()(batch).mean()\n",
    .silent =
        "Functions with a `return` that gives a value, on whatever path; bodies that do nothing, which others write in their place; methods of objects that may be of a derived class; functions under "
        "a decorator that is not seen; a result that is only compared, kept or handed on.",
    .fix = "None: decide what to return.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::call::no_result
