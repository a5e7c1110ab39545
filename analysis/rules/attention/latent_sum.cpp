// attention/latent-sum: outputs of several latent attentions over the same input that are only added.
#include "rules/attention/scores.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules::attention::latent_sum {

using symbolic::Answer;

namespace {

// The output of a latent attention: its projection, the input, and whether that was compressed on the way.
struct Branch {
  std::unordered_set<const void*> all;
  bool attends = false, compresses = false;
};
Branch branch_of(const Record& record, const TensorState* output) {
  Branch branch;
  std::vector<const TensorState*> open{output};
  while (!open.empty() && branch.all.size() < values::most_operations) {
    const TensorState* at = open.back();
    open.pop_back();
    if (!branch.all.insert(identity(at)).second || !at->made) continue;
    const OpSemantics by = semantics(at);
    branch.attends = branch.attends || by == OpSemantics::softmax || by == OpSemantics::attended;
    // Beyond a projection that compresses lies the input.
    if (by == OpSemantics::linear) {
      const TensorState* from = input(*at->made);
      if (from && from->shape.ndim_known && !from->shape.dims.empty() && at->shape.ndim_known &&
          !at->shape.dims.empty() && from->shape.dims.back().size && at->shape.dims.back().size &&
          record.symbols.compare(symbolic::Compare::lt, at->shape.dims.back().size,
              from->shape.dims.back().size) == Answer::yes &&
          at != output)
        branch.compresses = true;
    }
    for (const TensorState* source : inputs(*at->made)) open.push_back(source);
  }
  return branch;
}

// The projections among what is added up: the residual stands between them.
void projections(const TensorState* sum, std::vector<const TensorState*>& found, int depth = 0) {
  if (!sum || depth > values::deepest_search) return;
  const TensorState* at = source_of(sum);
  if (semantics(at) == OpSemantics::linear) found.push_back(at);
  if (semantics(at) != OpSemantics::add || !at->made) return;
  projections(input(*at->made, 0), found, depth + 1);
  projections(input(*at->made, 1), found, depth + 1);
}

// Are they the outputs of two latent attentions beside each other, over the same input?
bool are_latent_of_one(const Record& record, const TensorState* a, const TensorState* b) {
  if (a == b) return false;
  const Branch one = branch_of(record, a), other = branch_of(record, b);
  if (one.all.contains(identity(b)) || other.all.contains(identity(a)) || !one.attends || !other.attends ||
      !one.compresses || !other.compresses)
    return false;
  return std::any_of(
      one.all.begin(), one.all.end(), [&](const void* state) { return other.all.contains(state); });
}

void check(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  if (provenance.of_semantics(OpSemantics::softmax).empty() &&
      provenance.of_semantics(OpSemantics::attended).empty())
    return;
  Once once;
  for (const Origin& each : provenance.of_semantics(OpSemantics::add)) {
    std::vector<const TensorState*> left, right;
    projections(input(*each.made, 0), left);
    projections(input(*each.made, 1), right);
    if (left.empty() || right.empty() || !once(each.made->born)) continue;
    const bool merely_added = std::any_of(left.begin(), left.end(), [&](const TensorState* a) {
      return std::any_of(
          right.begin(), right.end(), [&](const TensorState* b) { return are_latent_of_one(record, a, b); });
    });
    if (!merely_added) continue;
    report.add(Severity::hint, each.made->born, each.made->calls,
        "The outputs of two latent attentions are only added: one can cancel out the other. Give each a gate, or concatenate "
        "them before one output projection.");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "attention/latent-sum",
    .severity = Severity::hint,
    .summary = "outputs of several latent attentions are only added",
    .why =
        "Each latent attention compresses the same input in its own way. Added up, their outputs share one space without anything that tells them apart, and the model has to learn not "
        "to let them cancel. A learned gate, or one output projection over both, is what is usually meant.",
    .wrong = "output = self.attention1(x) + self.attention2(x)\n",
    .right = "gate = torch.sigmoid(self.gate(x))\n"
             "output = gate * self.attention1(x) + (1 - gate) * self.attention2(x)\n",
    .silent =
        "Residual connections; attention beside a feed-forward layer; attentions one after the other; sums that are weighed or gated; attentions that do not compress.",
    .fix = "None: decide how to combine them.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::attention::latent_sum
