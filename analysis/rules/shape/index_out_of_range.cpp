// shape/index-out-of-range: an index, or an argument that names a dimension, outside the tensor; an item that
// a list or a tuple has not.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::index_out_of_range {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::index, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/index-out-of-range",
    .severity = Severity::error,
    .summary = "an index or a dimension lies outside the tensor, or an item outside the list",
    .why =
        "A dimension of size n takes indices from -n to n - 1, a tensor of r dimensions takes dim from -r to r - 1. PyTorch raises "
        "\"index 3 is out of bounds for dimension 0 with size 3\" or \"Dimension out of range\"; on a GPU, a wrong embedding index or "
        "class label is a device-side assert that is raised much later and elsewhere. So it is with lists: `chunk(2)` gives two parts, and reading a third raises `IndexError`.",
    .wrong = "x = torch.randn(32, 128)\n"
             "y = x.mean(dim=2)                  # dimensions 0 and 1\n",
    .right = "x = torch.randn(32, 128)\n"
             "y = x.mean(dim=1)\n",
    .silent =
        "Slices, which Python cuts to the size; sizes and ranks that are not known; indices that depend on a symbol which may be "
        "large enough; a symbol that may be 0; lists of which not all items are known, or that are empty; an `except` around it.",
    .fix =
        "Offers to make an embedding as long as the index asks for. Which other index was meant cannot be seen.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::index_out_of_range
