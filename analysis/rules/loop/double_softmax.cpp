// loop/double-softmax: a loss function is given probabilities where it takes scores, or scores where it takes
// logarithms of probabilities.
#include "rules/losses.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::loop::double_softmax {

using namespace interpreter;
using values::Outcome;

namespace {

std::string_view text(Outcome outcome) {
  switch (outcome) {
  case Outcome::softmax: return "softmax";
  case Outcome::sigmoid: return "sigmoid";
  default: return "log_softmax";
  }
}

// The call of the function by its name becomes one of the function that takes scores.
void offer_scores(const Record& record, const Report& report, const OperationEvent& event, Finding& finding) {
  if (!event.expr || !record.in_file(event.place)) return;
  const Place function{event.place.chunk, event.expr->function->span};
  const std::string written(record.text(function));
  const auto dot = written.rfind('.');
  const values::LossInfo& loss = *event.row->loss;
  if (loss.scores_function.empty() || dot == std::string::npos || written.substr(dot + 1) != loss.name)
    return;
  Fix fix;
  fix.title = "Use " + std::string(loss.scores_function);
  fix.preferred = true;
  fix.edits.push_back(
      {report.location(function), written.substr(0, dot + 1) + std::string(loss.scores_function)});
  finding.fixes.push_back(std::move(fix));
}

void look_at(const Record& record, Report& report, const OperationEvent& event) {
  const values::LossInfo& loss = *event.row->loss;
  const values::TensorState* input = event.argument_state(0);
  if (!input || !input->outcome || input->poisoned) return;
  const Outcome outcome = input->outcome->outcome;
  const std::string name(loss.name), what = values::code(input->outcome->what);
  const auto use = [&] {
    const bool is_module = event.row->kind == values::RowKind::method;
    return "Use `" + std::string(is_module ? loss.scores_class : loss.scores_function) + "`, or apply ";
  };
  const bool logarithms = loss.takes == Outcome::log_softmax, scores = outcome == Outcome::scores;
  const std::string head = "`" + name +
      (logarithms ? "` takes logarithms of probabilities, but is given "
                  : "` takes probabilities, but is given ");
  std::string message;
  if (loss.repeats != Outcome::none && outcome == loss.repeats)
    message = "`" + name + "` computes the " + std::string(text(outcome)) +
        " itself, but is given the output of " + what +
        ": applied twice it flattens the gradients, and the loss cannot come near 0. Give it the scores.";
  else if (logarithms && scores)
    message = head + "scores, the output of " + what + ": the loss falls without bound and says nothing. " +
        (loss.scores_class.empty() ? "Apply " : use()) + "`log_softmax` first.";
  else if (logarithms && (outcome == Outcome::softmax || outcome == Outcome::sigmoid))
    message = head + "probabilities, the output of " + what + ". Use `log_softmax`.";
  else if (loss.takes == Outcome::sigmoid && scores)
    message = head + "scores, the output of " + what +
        ": it raises \"all elements of input should be between 0 and 1\" as soon as one is not. " + use() +
        "`sigmoid` first.";
  else if (loss.takes == Outcome::sigmoid &&
      (outcome == Outcome::log_softmax || outcome == Outcome::log_sigmoid))
    message = head + "their logarithms, the output of " + what +
        ": these are below 0, and it raises \"all elements of input should be between 0 and 1\". Apply `exp` first.";
  else
    return;
  Finding* finding = report.add(Severity::warning, event.place, event.calls, message);
  if (!finding) return;
  report.relate(*finding, input->outcome->place, "computed by " + what + " here");
  if (scores) offer_scores(record, report, event, *finding);
}

// A target that is logarithms where probabilities are taken, or the reverse.
void look_at_target(const Record& record, Report& report, const OperationEvent& event) {
  const values::LossInfo& loss = *event.row->loss;
  const values::TensorState* target = event.argument_state(1);
  if (loss.logarithmic_target.empty() || !target || !target->outcome || target->poisoned) return;
  const Value option = loss_option(event, loss.logarithmic_target);
  const auto is_set = !option            ? symbolic::Answer::no
      : option.is(values::Kind::boolean) ? record.symbols.decide(option.condition())
                                         : symbolic::Answer::unknown;
  const Outcome outcome = target->outcome->outcome;
  const bool logarithms = outcome == Outcome::log_softmax || outcome == Outcome::log_sigmoid,
             probabilities = outcome == Outcome::softmax || outcome == Outcome::sigmoid;
  const std::string head = "`" + std::string(loss.name) + "` takes a target of ",
                    what = ", the output of " + values::code(target->outcome->what) + ". ",
                    set = std::string(loss.logarithmic_target) + "=";
  Finding* finding = nullptr;
  if (logarithms && is_set == symbolic::Answer::no)
    finding = report.add(Severity::warning, event.place, event.calls,
        head + "probabilities, but is given their logarithms" + what + "Pass `" + set + "True`.");
  else if (probabilities && is_set == symbolic::Answer::yes)
    finding = report.add(Severity::warning, event.place, event.calls,
        head + "logarithms with `" + set + "True`, but is given probabilities" + what + "Remove `" + set +
            "True`.");
  if (finding)
    report.relate(
        *finding, target->outcome->place, "computed by " + values::code(target->outcome->what) + " here");
}

void check(const Record& record, Report& report) {
  Once once;
  const auto is_loss = [](const values::Row& row) { return row.loss != nullptr; };
  visit_operations(record, is_loss, [&](const OperationEvent& operation) {
    if (!once(operation.place)) return;
    look_at(record, report, operation);
    look_at_target(record, report, operation);
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/double-softmax",
    .severity = Severity::warning,
    .summary =
        "a loss that takes scores is given probabilities, or one that takes probabilities or their logarithms something else",
    .why =
        "`cross_entropy` computes `log_softmax` of its input, and `binary_cross_entropy_with_logits` its sigmoid. Given probabilities they squash "
        "them again: the loss runs, its gradients are small, and it cannot come near 0 (measured: of 10 classes not below 1.46; "
        "the first gradient is 0.047 instead of 0.434, the accuracy after 300 steps 0.344 instead of 1.0). `nll_loss` takes logarithms of probabilities; given raw scores "
        "it rewards their growth, and falls without bound (measured: to -82900000 after 200 steps). `kl_div` takes logarithms, too: given probabilities it measures "
        "nothing, and its target is probabilities, unless `log_target=True`. `BCELoss` takes probabilities, and raises as soon as a score is not between 0 and 1.",
    .wrong = "probabilities = torch.softmax(model(x), dim=1)\n"
             "loss = F.cross_entropy(probabilities, y)\n",
    .right = "loss = F.cross_entropy(model(x), y)\n",
    .silent =
        "`log_softmax` before `cross_entropy`, which changes nothing; targets that are probabilities; a softmax of attention, after which layers "
        "follow; tensors of which it is not known what was done to them last.",
    .fix =
        "Replaces `nll_loss` of scores by `cross_entropy`, and `binary_cross_entropy` by `binary_cross_entropy_with_logits`. Which softmax to remove is your decision: other code may use its probabilities.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::loop::double_softmax
