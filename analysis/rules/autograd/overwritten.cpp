// autograd/overwritten: what backward needs was written over in place.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::autograd::overwritten {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::overwritten, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "autograd/overwritten",
    .severity = Severity::error,
    .summary = "what backward needs was written over in place",
    .why =
        "Many operations keep what went in or came out, and compute the gradient from it: `relu`, `sigmoid` and `exp` keep their "
        "result, a product keeps both factors. Where that tensor is written over before `backward()`, PyTorch notices: \"one of the "
        "variables needed for gradient computation has been modified by an inplace operation\".",
    .wrong = "y = torch.relu(self.conv(x))\n"
             "y += x\n"
             "y.sum().backward()\n",
    .right = "y = torch.relu(self.conv(x))\n"
             "y = y + x\n"
             "y.sum().backward()\n",
    .silent =
        "Operations that keep nothing of what is written (`add`, `mean`, a convolution's result); writes on some paths only; writes "
        "through views and `.data`, which are not followed.",
    .fix = "None yet: what was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::autograd::overwritten
