// shape/dtype: an operation is given dtypes that it refuses.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::dtype {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::dtype, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/dtype",
    .severity = Severity::error,
    .summary = "an operation refuses the dtype of an operand",
    .why =
        "Products and layers want one floating type for all operands, embeddings and gather want integers as indices, masks are "
        "bool, class labels are int64. PyTorch raises \"expected scalar type Float but found Long\" or \"mat1 and mat2 must have the "
        "same dtype\".",
    .wrong = "x = torch.arange(10).reshape(2, 5)     # int64\n"
             "y = nn.Linear(5, 3)(x)\n",
    .right = "x = torch.arange(10).reshape(2, 5).float()\n"
             "y = nn.Linear(5, 3)(x)\n",
    .silent =
        "Types that promote (int with float in elementwise operations); types that are not known; products under autocast, which "
        "converts them.",
    .fix = "Converts the operand: .float() or .long().",
    .fix_kind = FixKind::always_right,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::dtype
