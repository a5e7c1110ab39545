// shape/loss-target: the input and the target of a loss do not agree.
#include "rules/rule.hpp"
#include "rules/shape/classes_last.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::shape::loss_target {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::loss_target, Severity::error);
  look_for_classes_last(record, report);
  look_for_batch_first(record, report);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/loss-target",
    .severity = Severity::error,
    .summary = "the input and target of a loss do not agree",
    .why =
        "cross_entropy and nll_loss want the classes in dimension 1: [N, C] with [N], [N, C, d] with [N, d]. Logits of a language "
        "model are [B, T, V] and have to be flattened or transposed. Other losses compare element by element. PyTorch raises "
        "\"Expected target size [8, 100], got [8, 20]\".",
    .wrong = "logits = model(tokens)                       # [B, T, V]\n"
             "loss = F.cross_entropy(logits, labels)       # labels: [B, T]\n",
    .right = "logits = model(tokens)\n"
             "loss = F.cross_entropy(logits.transpose(1, 2), labels)\n",
    .silent =
        "Sizes that are not known or may be equal, but for classes or a batch in another place than the loss takes them in; targets that are class probabilities of the input's shape; broadcasting that "
        "a loss allows.",
    .fix =
        "Offers to transpose the class dimension to its place, or to squeeze or unsqueeze the target, where the two then fit.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::loss_target
