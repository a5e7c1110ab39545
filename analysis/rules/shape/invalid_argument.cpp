// shape/invalid-argument: a layer or operation is made with values that it refuses whatever it is applied to.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::invalid_argument {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::argument, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/invalid-argument",
    .severity = Severity::error,
    .summary = "a layer or operation is given impossible values",
    .why =
        "embed_dim has to be divisible by num_heads, channels by groups; a kernel may not be larger than the padded input; split "
        "sizes have to add up to what is split; sizes may not be negative; a call has to fit the signature. PyTorch raises when the "
        "layer is built or first used.",
    .wrong = "attention = nn.MultiheadAttention(embed_dim=512, num_heads=7)\n",
    .right = "attention = nn.MultiheadAttention(embed_dim=512, num_heads=8)\n",
    .silent =
        "Values that are not known; arguments passed on with *args or **kwargs; keyword arguments that newer versions of PyTorch "
        "have.",
    .fix = "None yet: which of the values was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::invalid_argument
