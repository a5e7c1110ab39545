// shape/matmul: the sizes that a product sums over differ.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/shape/shape_text.hpp"
#include "rules/specialized.hpp"

namespace stepzero::rules::shape::matmul {

using values::ProblemKind;

namespace {

void check(const Record& record, Report& report) {
  visit_problems(record, [&](const ProblemEvent& problem, const interpreter::Root& root) {
    if (!reporting_rule_of(record, problem).empty()) return;
    const auto add = [&](std::string message) -> Finding* {
      const auto severity = qualify(record, problem, root, Severity::error, message);
      return severity ? report.add(*severity, problem.place, problem.calls, message) : nullptr;
    };
    const auto shape = [&](std::size_t i) {
      return problem.states[i] ? values::code(shape_text(record, problem.states[i]->shape))
                               : values::code("?");
    };
    switch (problem.problem) {
    case ProblemKind::inner_dimensions: {
      const std::string left = operand_text(record, problem, 0), right = operand_text(record, problem, 1);
      Finding* finding = add("Cannot multiply " + left + " " + shape(0) + " by " + right + " " + shape(1) +
          ": inner dimensions " + size_words(record, problem.left) + " and " +
          size_words(record, problem.right) + " differ");
      if (!finding) return;
      relate_origin(report, *finding, problem.left, size_words(record, problem.left) + " comes from here");
      relate_origin(report, *finding, problem.right, size_words(record, problem.right) + " comes from here");
      report.relate_calls(*finding, problem.calls);
      for (const std::size_t operand : {std::size_t{1}, std::size_t{0}})
        if (auto fix = fix_transpose(record, problem, operand)) finding->fixes.push_back(std::move(*fix));
      return;
    }
    case ProblemKind::batch_dimensions: {
      add("Cannot multiply " + operand_text(record, problem, 0) + " " + shape(0) + " by " +
          operand_text(record, problem, 1) + " " + shape(1) + ": their leading dimensions do not broadcast");
      return;
    }
    case ProblemKind::ndim: {
      if (problem.self.is(values::Kind::instance)) return;
      std::string name(problem.row->path.substr(problem.row->path.rfind('.') + 1));
      add(values::code(name) + " cannot multiply " + operand_text(record, problem, 0) + " " + shape(0) +
          " by " + operand_text(record, problem, 1) + " " + shape(1) +
          ": `mm` takes two matrices, `bmm` two batches of them, and `matmul` both");
      return;
    }
    case ProblemKind::layer_features: {
      // What a flatten made is told with its arithmetic, by shape/layer-input.
      if (problem.left.factors) return;
      const std::string layer = layer_text(record, problem);
      Finding* finding = add(layer + " expects " + size_words(record, problem.right) + " features, but " +
          operand_text(record, problem, 0) + " has shape " + shape(0) + " with " +
          size_words(record, problem.left) + " features");
      if (!finding) return;
      relate_origin(
          report, *finding, problem.right, "made for " + size_words(record, problem.right) + " here");
      relate_origin(report, *finding, problem.left, size_words(record, problem.left) + " comes from here");
      relate_evidence(record, report, *finding, problem);
      report.relate_calls(*finding, problem.calls);
      if (auto fix = fix_constructor(record, problem, "in_features"))
        finding->fixes.push_back(std::move(*fix));
      if (auto fix = fix_transpose(record, problem, 0)) finding->fixes.push_back(std::move(*fix));
      return;
    }
    default: return;
    }
  });
  report_problems(record, report, ProblemKind::product, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/matmul",
    .severity = Severity::error,
    .summary = "the inner dimensions of a matrix product differ",
    .why =
        "`a @ b` sums over the last dimension of `a` and the last but one of `b`: they have to be the same size. A Linear layer "
        "multiplies its input with a weight of in_features columns. PyTorch raises \"mat1 and mat2 shapes cannot be multiplied\".",
    .wrong = "fc1 = nn.Linear(784, 128)\n"
             "fc2 = nn.Linear(256, 10)\n"
             "y = fc2(fc1(x))  # fc1 gives 128 features, fc2 expects 256\n",
    .right = "fc1 = nn.Linear(784, 128)\n"
             "fc2 = nn.Linear(128, 10)\n"
             "y = fc2(fc1(x))\n",
    .silent =
        "Sizes that are not known, or symbols that may be equal; batches that broadcast; vectors; products inside a try that may "
        "catch the error or a test that expects it.",
    .fix =
        "Sets in_features to the size that arrives, where that is a number. Where the operand fits when its last two dimensions "
        "are swapped, a transpose is offered, too.",
    .fix_kind = FixKind::always_right,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::shape::matmul
