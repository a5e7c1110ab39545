// loop/undetached-advantage: a difference that one loss makes small also weighs another one, with its
// history: a policy gradient trains the critic.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop::undetached_advantage {

using values::Known;
using values::Operation;

namespace {

bool trains(const TensorState* state) { return state && state->requires_grad == Known::yes; }

// `returns - values`: of what is trained and what is not. Null if it is something else.
const TensorState* difference_in(const TensorState* state) {
  const TensorState* from = source_of(state);
  if (!trains(state) || !from || !from->made || semantics(*from->made) != OpSemantics::sub) return nullptr;
  const TensorState *a = input(*from->made, 0), *b = input(*from->made, 1);
  return a && b && trains(a) != trains(b) ? from : nullptr;
}

// Is it made small by a loss of its own: its square, or a loss of its two sides?
bool is_error(const Provenance& provenance, const TensorState& difference) {
  const auto is_of_it = [&](const Origin& each) {
    return identity(source_of(input(*each.made))) == identity(&difference);
  };
  for (const OpSemantics kind : {OpSemantics::power, OpSemantics::square, OpSemantics::not_negative})
    if (std::ranges::any_of(provenance.of_semantics(kind), is_of_it)) return true;
  const auto has = [](const std::vector<const TensorState*>& all, const TensorState* one) {
    return std::ranges::any_of(
        all, [&](const TensorState* each) { return identity(source_of(each)) == identity(source_of(one)); });
  };
  return std::ranges::any_of(provenance.all(), [&](const Origin& each) {
    if (!each.state->mean || !(each.state->mean->place == each.made->born)) return false;
    const auto taken = inputs(*each.made);
    return has(taken, input(*difference.made, 0)) && has(taken, input(*difference.made, 1));
  });
}

void check(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  std::vector<const TensorState*> losses;
  visit_operations(record, [&](const OperationEvent& event) {
    if (event.row->operation == Operation::backward && event.self_state())
      losses.push_back(event.self_state());
  });
  if (losses.empty()) return;
  Once once;
  for (const Origin& each : provenance.of_semantics(OpSemantics::mul))
    for (const std::size_t side : {0U, 1U}) {
      const TensorState* difference = difference_in(input(*each.made, side));
      const TensorState* weighed = input(*each.made, 1 - side);
      if (!difference || !trains(weighed) || comes_from(weighed, difference) ||
          !is_error(provenance, *difference) ||
          std::ranges::none_of(
              losses, [&](const TensorState* loss) { return comes_from(loss, each.state); }) ||
          !once(each.made->born))
        continue;
      std::string what(provenance.name_of(difference));
      if (what.empty()) what = text_of(record, *difference->made);
      Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
          values::code(what) +
              " weighs this loss with its history, so the loss also trains what it was computed from, to make it small or large and not right. Detach it here: " +
              values::code(what + ".detach()") + ".");
      if (finding)
        report.relate(
            *finding, difference->made->born, "the difference, which a loss of its own makes small");
    }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/undetached-advantage",
    .severity = Severity::warning,
    .summary = "an advantage weighs the policy's loss with its history",
    .why =
        "A policy gradient weighs the log probability of each action by how much better it was than expected, `returns - values`. The weight is a number: with its "
        "history the loss of the policy also moves the critic, towards values that make that loss small, against the critic's own loss.",
    .wrong = "advantage = returns - values\n"
             "loss = -(log_probs * advantage).mean() + advantage.pow(2).mean()\n",
    .right = "advantage = returns - values\n"
             "loss = -(log_probs * advantage.detach()).mean() + advantage.pow(2).mean()\n",
    .silent =
        "Differences that no loss of their own makes small; weights that are detached, or that nothing trains; products that no backward goes through.",
    .fix = "None: whether the weight or the difference itself is to be detached is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::undetached_advantage
