// shape/empty-slice: a slice that lies wholly outside its dimension and selects nothing.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::empty_slice {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::empty_slice, Severity::warning);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/empty-slice",
    .severity = Severity::warning,
    .summary = "a slice lies outside the dimension and gives an empty tensor",
    .why =
        "Slices are cut to the size of the dimension, as in Python: x[:, 128:256] of 128 columns has none. Nothing is raised. Sums "
        "over it are 0, means are nan, and a loss goes wrong far from here.",
    .wrong = "x = torch.randn(32, 128, 1024)\n"
             "second = x[:, 128:256]             # [32, 0, 1024]\n",
    .right = "x = torch.randn(32, 128, 1024)\n"
             "second = x[:, 64:128]\n",
    .silent =
        "Slices that are cut but not empty; x[:0] and x[n:n], which ask for nothing; x[n:] of n rows, the rest; sizes or bounds that are not known; a slice "
        "whose size is looked at afterwards.",
    .fix = "None: which part was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::empty_slice
