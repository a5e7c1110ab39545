// shape/suspicious-broadcast: a column meets a row in a loss, and every prediction is compared with every
// target.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::suspicious_broadcast {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::suspicious_broadcast, Severity::warning);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/suspicious-broadcast",
    .severity = Severity::warning,
    .summary = "a prediction [N, 1] and a target [N] broadcast to [N, N]",
    .why =
        "A model whose last layer has one output gives [N, 1]; targets often come as [N]. Their difference has N×N elements: each "
        "prediction is compared with every target. Nothing is raised (mse_loss warns once), the loss falls a little, and the model "
        "learns the mean of the targets. A mean that keeps its dimension, [N, 1, D], meets [N, D] in the same way: each row with the means of all others.",
    .wrong = "prediction = model(x)                  # [N, 1]\n"
             "loss = F.mse_loss(prediction, target)  # target: [N]\n",
    .right = "prediction = model(x).squeeze(-1)      # [N]\n"
             "loss = F.mse_loss(prediction, target)\n",
    .silent =
        "Differences that are not averaged or squared into a loss: distances of all pairs, grids of relative positions, masks; "
        "operands that were unsqueezed or indexed with None for it; batches of one; sizes that are not known.",
    .fix = "Squeezes the column, so that both are [N].",
    .fix_kind = FixKind::always_right,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::suspicious_broadcast
