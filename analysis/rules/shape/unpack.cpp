// shape/unpack: a shape or a result of several parts is unpacked into another number of names.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::unpack {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::unpack, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/unpack",
    .severity = Severity::error,
    .summary = "a shape or result has another number of parts than the names it is unpacked into",
    .why =
        "`B, T, C = x.shape` needs a tensor of three dimensions; max along a dimension gives values and indices, an LSTM gives its "
        "output and a pair of states, split and chunk give as many parts as fit. Python raises \"not enough values to unpack "
        "(expected 3, got 2)\".",
    .wrong = "x = torch.randn(32, 128)\n"
             "batch, time, width = x.shape\n",
    .right = "x = torch.randn(32, 128)\n"
             "batch, width = x.shape\n",
    .silent =
        "Starred targets; ranks that are not known; code under a question about the rank (`if x.dim() == 3`).",
    .fix = "None: which names are missing cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::unpack
