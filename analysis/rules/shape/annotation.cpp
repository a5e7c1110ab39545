// shape/annotation: the value contradicts the shape that its annotation gives.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::annotation {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::annotation, Severity::warning);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/annotation",
    .severity = Severity::warning,
    .summary = "a value contradicts its shape annotation",
    .why =
        "jaxtyping's Float[Tensor, \"batch seq 768\"] and similar annotations say what shape a tensor has. Readers and type checkers "
        "rely on it; a value of another rank or with other numbers means that one of the two is wrong.",
    .wrong = "def pool(x: Float[Tensor, \"batch seq 768\"]) -> Float[Tensor, \"batch 768\"]:\n"
             "    return x.mean(dim=2)               # [batch, seq]\n",
    .right = "def pool(x: Float[Tensor, \"batch seq 768\"]) -> Float[Tensor, \"batch 768\"]:\n"
             "    return x.mean(dim=1)\n",
    .silent =
        "Names of dimensions, which may stand for any size; variadic annotations (\"*batch 768\", \"...\"); shapes that are not "
        "known; comments after assignments, which only give names to dimensions.",
    .fix = "None: whether the annotation or the value is wrong cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::annotation
