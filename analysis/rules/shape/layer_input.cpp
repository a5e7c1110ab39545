// shape/layer-input: a layer is given a tensor that it cannot take.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/shape/shape_text.hpp"

namespace stepzero::rules::shape::layer_input {

using values::ProblemKind;

namespace {

void check(const Record& record, Report& report) {
  visit_problems(record, [&](const ProblemEvent& problem, const interpreter::Root& root) {
    const auto add = [&](std::string message) -> Finding* {
      const auto severity = qualify(record, problem, root, Severity::error, message);
      return severity ? report.add(*severity, problem.place, problem.calls, message) : nullptr;
    };
    if (!problem.self.is(values::Kind::instance)) return;
    const std::string layer = layer_text(record, problem);
    if (problem.problem == ProblemKind::ndim) {
      add(layer + " needs at least one dimension, but " + operand_text(record, problem, 0) +
          " is a single number, of shape `[]`");
      return;
    }
    if (problem.problem != ProblemKind::layer_features || !problem.left.factors) return;
    const std::string arithmetic = arithmetic_text(record, problem.left);
    Finding* finding = add("Flattened, " + operand_text(record, problem, 0) + " has " +
        (arithmetic.empty() ? size_words(record, problem.left) : arithmetic) + " features, but " + layer +
        " expects " + size_words(record, problem.right));
    if (!finding) return;
    relate_origin(report, *finding, problem.right, "made for " + size_words(record, problem.right) + " here");
    relate_origin(report, *finding, problem.left, "flattened here");
    relate_evidence(record, report, *finding, problem);
    report.relate_calls(*finding, problem.calls);
    if (auto fix = fix_constructor(record, problem, "in_features")) finding->fixes.push_back(std::move(*fix));
  });
  report_problems(record, report, ProblemKind::layer_input, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/layer-input",
    .severity = Severity::error,
    .summary = "a layer is given a tensor whose size or number of dimensions it cannot take",
    .why =
        "A layer is built for one number of input features. What arrives after convolutions and a flatten is a product that is "
        "easily miscounted; PyTorch raises only when the first batch gets there.",
    .wrong = "x = self.pool(self.conv2(x))   # [N, 32, 5, 5]\n"
             "x = torch.flatten(x, 1)        # 32×5×5 = 800\n"
             "x = self.fc1(x)                # nn.Linear(400, 120)\n",
    .right = "x = torch.flatten(x, 1)        # 800\n"
             "x = self.fc1(x)                # nn.Linear(800, 120)\n",
    .silent = "Images whose size is not known; lazy layers; a layer under an `if` on the shape.",
    .fix =
        "Sets in_features, in_channels or num_features to the size that arrives; offers to move channels that come last.",
    .fix_kind = FixKind::always_right,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::layer_input
