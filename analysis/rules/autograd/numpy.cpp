// autograd/numpy: an array is asked of a tensor that requires a gradient.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::autograd::numpy {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::array_of_history, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "autograd/numpy",
    .severity = Severity::error,
    .summary = "an array is asked of a tensor that requires a gradient",
    .why =
        "NumPy knows nothing of gradients, so PyTorch refuses to hand it a tensor that has a history: \"Can't call numpy() on Tensor "
        "that requires grad. Use tensor.detach().numpy() instead.\"",
    .wrong = "predictions = model(x).cpu().numpy()\n",
    .right = "with torch.no_grad():\n"
             "    predictions = model(x).cpu().numpy()\n",
    .silent =
        "Integers and booleans (argmax), which have no gradient; what is computed under `no_grad`; `numpy(force=True)`; functions "
        "that nobody in the program calls, whose caller may switch gradients off.",
    .fix = "Writes `.detach()` in front.",
    .fix_kind = FixKind::always_right,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::autograd::numpy
