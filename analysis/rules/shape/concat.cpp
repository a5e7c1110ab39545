// shape/concat: parts that differ outside the dimension along which they are joined.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::concat {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::concat, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/concat",
    .severity = Severity::error,
    .summary = "tensors to join differ outside the joined dimension",
    .why =
        "cat joins along one dimension; every other dimension has to be the same in all parts. stack makes a new dimension, so all "
        "parts have one shape. PyTorch raises \"Sizes of tensors must match except in dimension 1\".",
    .wrong = "skip = self.encode(x)                     # [B, 64, 32, 32]\n"
             "up = self.up(y)                           # [B, 64, 30, 30]\n"
             "y = torch.cat([up, skip], dim=1)\n",
    .right = "up = F.interpolate(self.up(y), size=skip.shape[-2:])\n"
             "y = torch.cat([up, skip], dim=1)\n",
    .silent =
        "Sizes that are not known or may be equal; parts without elements of shape [0], which cat ignores; lists whose elements "
        "are not known.",
    .fix = "None: which of the parts is wrong cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::concat
