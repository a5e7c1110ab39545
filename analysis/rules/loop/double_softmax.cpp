// loop/double-softmax: a loss function is given probabilities where it takes scores, or scores where it takes logarithms of probabilities.
#include "rules/list.hpp"
#include "rules/loop/training.hpp"

namespace stepzero::rules {

using namespace interpreter;
using values::Operation;
using values::Outcome;

namespace {

std::string_view text(Outcome outcome) {
  switch (outcome) {
  case Outcome::softmax: return "softmax";
  case Outcome::sigmoid: return "sigmoid";
  default: return "log_softmax";
  }
}

// NLLLoss of scores, or of probabilities: the loss that takes scores is cross_entropy.
void offer_cross_entropy(const Record& record, const Report& report, const OperationEvent& event, Finding& finding) {
  if (!event.expr || !record.in_file(event.place)) return;
  const Place function{event.place.chunk, event.expr->function->span};
  const std::string written(record.text(function));
  const auto dot = written.rfind('.');
  if (dot == std::string::npos || written.substr(dot + 1) != "nll_loss") return;
  Fix fix;
  fix.title = "Use cross_entropy";
  fix.preferred = true;
  fix.edits.push_back({report.location(function), written.substr(0, dot + 1) + "cross_entropy"});
  finding.fixes.push_back(std::move(fix));
}

void look_at(const Record& record, Report& report, const OperationEvent& event) {
  const values::LossInfo& loss = *event.row->loss;
  const values::TensorState* input = event.argument_state(0);
  if (!input || !input->outcome || input->blamed) return;
  const Outcome outcome = input->outcome->outcome;
  const std::string name(loss.name), what(input->outcome->what);
  std::string message;
  if (loss.repeats != Outcome::none && outcome == loss.repeats)
    message = "`" + name + "` computes the " + std::string(text(outcome)) + " itself, but is given the output of " + what +
              ": applied twice it flattens the gradients, and the loss cannot come near 0. Give it the scores.";
  else if (loss.takes == Outcome::log_softmax && outcome == Outcome::scores)
    message = "`" + name + "` takes logarithms of probabilities, but is given scores, the output of " + what + ": the loss falls without bound and says nothing. Use `cross_entropy`, or apply `log_softmax` first.";
  else if (loss.takes == Outcome::log_softmax && outcome == Outcome::softmax)
    message = "`" + name + "` takes logarithms of probabilities, but is given probabilities, the output of " + what + ". Use `log_softmax`.";
  else return;
  Finding* finding = report.add(Severity::warning, event.place, event.calls, message);
  if (!finding) return;
  report.relate(*finding, input->outcome->place, "computed by " + what + " here");
  if (loss.takes == Outcome::log_softmax && outcome == Outcome::scores) offer_cross_entropy(record, report, event, *finding);
}

void check(const Record& record, Report& report) {
  Once once;
  visit_roots(record, [&](const Event& event) {
    if (event.kind != EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    if (operation.row->operation == Operation::loss && operation.row->loss && once(operation.place)) look_at(record, report, operation);
  });
}

} // namespace

constexpr Rule double_softmax = complete({
    .id = "loop/double-softmax",
    .severity = Severity::warning,
    .summary = "probabilities are given to a loss that takes scores, or scores to one that takes log-probabilities",
    .why = "`cross_entropy` computes `log_softmax` of its input, and `binary_cross_entropy_with_logits` its sigmoid. Given probabilities they squash "
           "them again: the loss runs, its gradients are small, and it cannot come near 0 (measured: of 10 classes not below 1.46; "
           "the first gradient is 0.047 instead of 0.434, the accuracy after 300 steps 0.344 instead of 1.0). `nll_loss` takes logarithms of probabilities; given raw scores "
           "it rewards their growth, and falls without bound (measured: to -82900000 after 200 steps).",
    .wrong = "probabilities = torch.softmax(model(x), dim=1)\n"
             "loss = F.cross_entropy(probabilities, y)\n",
    .right = "loss = F.cross_entropy(model(x), y)\n",
    .silent = "`log_softmax` before `cross_entropy`, which changes nothing; targets that are probabilities; a softmax of attention, behind which layers "
              "follow; tensors of which it is not known what was done to them last.",
    .fix = "Replaces `nll_loss` of scores by `cross_entropy`. Where a softmax is to go is to be decided: others may use its probabilities.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

} // namespace stepzero::rules
