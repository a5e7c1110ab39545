// shape/assert: an assertion about sizes that can never hold.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::assertion {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::assertion, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/assert",
    .severity = Severity::error,
    .summary = "an assert on sizes can never hold",
    .why =
        "An assert states what the code below relies on. Here the sizes are known and it is false on every run that reaches it: an "
        "`AssertionError` is raised before the first batch is through.",
    .wrong = "width, heads = 512, 7\n"
             "assert width % heads == 0      # 512 % 7 = 1\n",
    .right = "width, heads = 512, 8\n"
             "assert width % heads == 0\n",
    .silent =
        "`assert False` and other conditions without a size, which mark what must not be reached; conditions that may hold; "
        "a default that is compared with a number as it stands, and an option of the command line that is with another: whoever calls or starts it has to choose; "
        "asserts in a try or in a test that expects them.",
    .fix = "None: which of the sizes is wrong cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::assertion
