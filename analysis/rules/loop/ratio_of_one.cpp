// loop/ratio-of-one: a ratio of probabilities that is clipped, whose old ones are the new ones without their
// history.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::loop::ratio_of_one {

namespace {

// Is it the same tensor without its history?
bool is_detached_from(const TensorState* old, const TensorState* fresh) {
  constexpr int longest_way = 4;  // operations that change nothing of the numbers
  for (int way = 0; old && old->made && way < longest_way; ++way) {
    const OpSemantics by = semantics(old);
    if (by != OpSemantics::detached && by != OpSemantics::same) return false;
    old = input(*old->made);
    if (by == OpSemantics::detached && identity(old) == identity(fresh)) return true;
  }
  return false;
}

// The difference of the logarithms, where it is 0 whatever they are.
const Producer* difference_of(const TensorState* ratio) {
  if (semantics(ratio) != OpSemantics::exp) return nullptr;
  const TensorState* difference = input(*ratio->made);
  if (!difference || semantics(difference) != OpSemantics::sub) return nullptr;
  const TensorState *fresh = input(*difference->made, 0), *old = input(*difference->made, 1);
  return fresh && old && is_detached_from(old, fresh) ? difference->made : nullptr;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::bounded)) {
    const TensorState* ratio = input(*each.made);
    const Producer* difference = ratio && ratio->made ? difference_of(ratio) : nullptr;
    if (!difference || !once(difference->born)) continue;
    Finding* finding = report.add(Severity::warning, difference->born, difference->calls,
        "This ratio is always 1: the old logarithms are the new ones, detached, so clipping never acts. Keep the logarithms that the actions were sampled with.");
    if (finding) report.relate(*finding, each.made->born, "the ratio is clipped here");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/ratio-of-one",
    .severity = Severity::warning,
    .summary = "a clipped ratio of probabilities whose old ones are the new ones, detached",
    .why =
        "PPO divides the probability of an action under the present policy by the one that it had when the action was sampled, and clips the quotient so that several epochs over one batch do not go too far. Where the old logarithms are `logp.detach()`, the quotient is 1 in every epoch: nothing is ever clipped, and the policy moves as far as the optimizer takes it. The gradient of the first epoch is right, so the loss looks as it should.",
    .wrong = "logp = policy(obs).log_prob(act)\n"
             "ratio = (logp - logp.detach()).exp()\n"
             "loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()\n",
    .right = "logp = policy(obs).log_prob(act)\n"
             "ratio = (logp - batch.logp).exp()  # of the rollout\n"
             "loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()\n",
    .silent =
        "Ratios that nothing clips, which are the gradient of a single step; old logarithms that are given, or that are detached only where none are kept.",
    .fix = "None: where the old ones are kept is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::ratio_of_one
