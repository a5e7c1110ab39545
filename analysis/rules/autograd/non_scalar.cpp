// autograd/non-scalar: backward() of more than one number.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::autograd::non_scalar {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::not_scalar, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "autograd/non-scalar",
    .severity = Severity::error,
    .summary = "backward() of more than one number",
    .why =
        "`backward()` begins with the gradient 1 of one number. A loss for each sample, as `reduction=\"none\"` gives, has none: \"grad "
        "can be implicitly created only for scalar outputs\".",
    .wrong = "loss = F.cross_entropy(logits, y, reduction=\"none\")\n"
             "loss.backward()\n",
    .right = "loss = F.cross_entropy(logits, y, reduction=\"none\")\n"
             "loss.mean().backward()\n",
    .silent =
        "Tensors of one element, whatever their shape; `backward(gradient)`; shapes that are not known.",
    .fix = "None yet: what was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::autograd::non_scalar
