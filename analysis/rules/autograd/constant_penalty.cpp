// autograd/constant-penalty: a penalty on gradients is added to a loss, and the gradients are constants.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/limits.hpp"

#include <unordered_set>

namespace stepzero::rules::autograd::constant_penalty {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// The gradient that a loss is computed from by sums, powers and norms alone: through a product with what else
// is trained it may be a weight, and through layers an input.
const Producer* penalized(const TensorState* state, std::unordered_set<const void*>& seen) {
  if (!state || !state->made || seen.size() > values::most_operations || !seen.insert(identity(state)).second)
    return nullptr;
  const Producer& made = *state->made;
  if (made.row->operation == Operation::gradient_asked) return &made;
  switch (semantics(made)) {
  case OpSemantics::same:
  case OpSemantics::rearranged:
  case OpSemantics::add:
  case OpSemantics::sub:
  case OpSemantics::negate:
  case OpSemantics::sum:
  case OpSemantics::mean:
  case OpSemantics::norm:
  case OpSemantics::square:
  case OpSemantics::sqrt:
  case OpSemantics::power:
  case OpSemantics::not_negative:
  case OpSemantics::joined: break;
  case OpSemantics::mul:
  case OpSemantics::div:
    for (const Value& argument : made.arguments)
      if (argument && argument.is(Kind::tensor) && inputs(made).size() > 1) return nullptr;
    break;
  default: return nullptr;
  }
  for (const TensorState* each : inputs(made))
    if (const Producer* found = penalized(each, seen)) return found;
  return nullptr;
}

void check(const Record& record, Report& report) {
  Once once;
  visit_operations(record, with_operation(Operation::backward), [&](const OperationEvent& backward) {
    std::unordered_set<const void*> seen;
    const Producer* asked = penalized(backward.self_state(), seen);
    const Value graph = asked ? argument(*asked, "create_graph") : Value{};
    const bool constant = asked &&
        (!graph ||
            (graph.is(Kind::boolean) && record.symbols.decide(graph.condition()) == symbolic::Answer::no));
    if (!constant || !once(asked->born)) return;
    Finding* finding = report.add(Severity::warning, asked->born, asked->calls,
        "Without `create_graph=True` these gradients are constants: the penalty that is computed from them changes the value of "
        "the loss but no gradient, so it trains nothing. Pass `create_graph=True`.");
    if (finding) report.relate(*finding, backward.place, "the backward of the loss that it is a part of");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "autograd/constant-penalty",
    .severity = Severity::warning,
    .summary = "a penalty on gradients that `torch.autograd.grad` gives as constants",
    .why =
        "`torch.autograd.grad` gives gradients without a history, unless `create_graph=True` asks for one. A gradient penalty "
        "(WGAN-GP, R1) that is computed from them is a number like any other: the loss shows it, and its backward goes past it.",
    .wrong = "grad, = torch.autograd.grad(critic(x).sum(), x)\n"
             "loss = loss + 10 * ((grad.norm(2, dim=1) - 1) ** 2).mean()\n"
             "loss.backward()\n",
    .right = "grad, = torch.autograd.grad(critic(x).sum(), x, create_graph=True)\n"
             "loss = loss + 10 * ((grad.norm(2, dim=1) - 1) ** 2).mean()\n"
             "loss.backward()\n",
    .silent =
        "Gradients that make an input, as of adversarial examples; weights of other losses that are computed from gradients; a penalty "
        "that is only shown.",
    .fix = "None: a gradient with a history takes more memory, and where it is only shown it needs none.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::autograd::constant_penalty
