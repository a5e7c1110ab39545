// shape/broadcast: operands of an elementwise operation whose sizes do not fit.
#include "rules/list.hpp"
#include "rules/operator_problem.hpp"

namespace stepzero::rules {

namespace {

void check(const Record& record, Report& report) { report_problems(record, report, values::ProblemKind::broadcast, Severity::error); }

} // namespace

constexpr Rule broadcast = complete({
    .id = "shape/broadcast",
    .severity = Severity::error,
    .summary = "elementwise operands have shapes that do not broadcast",
    .why = "Elementwise operations line shapes up from the right. Two sizes fit if they are equal or one of them is 1; anything else "
           "raises \"The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0\".",
    .wrong = "scores = torch.randn(8, 16)\n"
             "bias = torch.zeros(8)\n"
             "scores = scores + bias  # 16 meets 8\n",
    .right = "scores = torch.randn(8, 16)\n"
             "bias = torch.zeros(8)\n"
             "scores = scores + bias.unsqueeze(1)\n",
    .silent = "Sizes of 1, which stretch; missing leading dimensions; sizes that are not known, or symbols that may be equal.",
    .fix = "None yet: which dimension was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
