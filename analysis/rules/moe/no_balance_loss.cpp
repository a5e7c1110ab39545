// moe/no-balance-loss: a mixture of experts that is trained without anything that spreads the tokens over
// them.
#include "rules/moe/balance.hpp"
#include "rules/rule.hpp"
#include "rules/specialized.hpp"
#include "rules/training/training.hpp"

#include <algorithm>

namespace stepzero::rules::moe::no_balance_loss {

using values::Known;

namespace {

// Does the loss depend on the router in another way than through the weights of the experts that it chose?
bool balanced(const std::vector<const TensorState*>& in_loss, const Routing& routing) {
  // The router's scores on their way to the choice.
  std::unordered_set<const void*> scores;
  for (const TensorState* at = routing.scores.last; at; at = at->made ? input(*at->made) : nullptr) {
    scores.insert(identity(at));
    if (identity(at) == identity(routing.scores.logits)) break;
  }
  for (const TensorState* state : in_loss) {
    if (!state->made || scores.contains(identity(state))) continue;
    const OpSemantics by = semantics(state);
    // The weights of the chosen experts, also taken from the scores with the chosen indices.
    if (by == OpSemantics::chosen || by == OpSemantics::largest || by == OpSemantics::picked ||
        by == OpSemantics::place_of_largest || by == OpSemantics::one_hot)
      continue;
    for (const TensorState* source : inputs(*state->made))
      if (scores.contains(identity(source))) return true;
  }
  return false;
}

void check(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  if (provenance.of_semantics(OpSemantics::chosen).empty() &&
      provenance.of_semantics(OpSemantics::place_of_largest).empty())
    return;
  const auto losses = differentiated(record);
  if (losses.empty()) return;
  const auto all = routings(record);
  // Where there is a balancing term that the loss leaves out, moe/balance-loss says so.
  std::unordered_set<const void*> left_out;
  for (const Balance& balance : balances(record)) left_out.insert(identity(balance.logits));
  Once once;
  for (const TensorState* loss : losses) {
    const auto in_loss = ancestors(loss);
    std::unordered_set<const void*> known;
    for (const TensorState* state : in_loss) known.insert(identity(state));
    // A part of the loss of which nothing is known may be what balances.
    const bool open = std::any_of(in_loss.begin(), in_loss.end(), [](const TensorState* state) {
      return !state->made && state->shape.ndim_known && state->shape.dims.empty() &&
          state->requires_grad != Known::no;
    });
    if (open) continue;
    for (const Routing& routing : all) {
      if (routing.scores.biased || !known.contains(identity(routing.scores.logits)) ||
          left_out.contains(identity(routing.scores.logits)) ||
          !speaks_of_experts(record, routing.choice->born) || balanced(in_loss, routing) ||
          !once(routing.choice->born))
        continue;
      // The scores between choice and loss that are not followed: nothing is said.
      if (Finding* finding = report.add(Severity::hint, routing.choice->born, routing.choice->calls,
              "These experts are trained without a load-balancing term: nothing keeps the router from sending everything to a few of them. Add a loss on "
              "the share of tokens and the average probability of each expert, or a bias that is moved against the load."))
        report.relate_calls(*finding, routing.choice->calls);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "moe/no-balance-loss",
    .severity = Severity::hint,
    .summary = "a mixture of experts is trained without anything that balances the experts",
    .why =
        "An expert that gets more tokens learns faster, is chosen more often and gets more tokens still. Without a term that works against it the "
        "router collapses to a few experts in the first thousands of steps, and the others are dead weight.",
    .wrong = "weights, chosen = router(x).softmax(-1).topk(2)\n"
             "loss = F.cross_entropy(model(x), y)\n"
             "loss.backward()\n",
    .right = "loss = F.cross_entropy(logits, y) + 0.01 * balance_loss(router_probs, chosen)\n"
             "loss.backward()\n",
    .silent =
        "Any other way from the router to the loss: a balancing term, a z-loss, an entropy. A bias added to the scores before the choice, as "
        "DeepSeek-V3 moves by hand. Losses of which a part is not known. Models that are not trained here.",
    .fix = "None: decide which balancing term is meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::moe::no_balance_loss
