// autograd/in-place-leaf: a tensor that is trained is written in place while gradients are recorded.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::autograd::in_place_leaf {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::leaf_written, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "autograd/in-place-leaf",
    .severity = Severity::error,
    .summary = "a tensor that is trained is written in place while gradients are recorded",
    .why =
        "A leaf is where a gradient arrives: a parameter, or a tensor made with `requires_grad=True`. An operation that writes into it "
        "would belong to the history that the gradient is computed from, and PyTorch raises: \"a leaf Variable that requires grad is "
        "being used in an in-place operation\". It says so for `w += 1`, for `w[0] = 1` and for every method whose name ends with an "
        "underscore.",
    .wrong = "layer = nn.Linear(8, 8)\n"
             "layer.weight.mul_(0.5)\n",
    .right = "layer = nn.Linear(8, 8)\n"
             "with torch.no_grad():\n"
             "    layer.weight.mul_(0.5)\n",
    .silent =
        "What stands under `no_grad`, or goes through `.data`, `.detach()` or torch.nn.init; tensors that were computed, which may be "
        "written; functions that nobody in the program calls, whose caller may switch gradients off.",
    .fix = "None yet: what was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::autograd::in_place_leaf
