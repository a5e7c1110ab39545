// shape/reshape: view, reshape, flatten, unflatten, expand into sizes that cannot hold the elements.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::reshape {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::reshape, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/reshape",
    .severity = Severity::error,
    .summary = "a view or reshape cannot hold the elements of the tensor",
    .why =
        "A reshape keeps the number of elements; one size may be -1 and is worked out, if the others divide the elements. view "
        "besides needs strides that fit: a transposed or permuted tensor is not laid out as its shape says. expand stretches sizes "
        "of 1 only. PyTorch raises \"shape '[8, 4]' is invalid for input of size 30\", or \"view size is not compatible with input "
        "tensor's size and stride\".",
    .wrong = "q = self.q(x)                          # [B, T, 512]\n"
             "q = q.view(B, T, self.heads, 60)       # 8 heads of 60 are 480\n",
    .right = "q = self.q(x)\n"
             "q = q.view(B, T, self.heads, 64)\n",
    .silent =
        "Sizes that are not known or may be equal; -1; products that are equal as polynomials; empty tensors; a view that only "
        "splits a dimension of a transposed tensor.",
    .fix =
        "A view of what is not laid out in order becomes a reshape. Which of several sizes was meant cannot be seen: there is no fix for those.",
    .fix_kind = FixKind::always_right,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::reshape
