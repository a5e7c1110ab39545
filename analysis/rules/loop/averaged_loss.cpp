// loop/averaged-loss: a weight for each sample that is computed from the mean of all: the focal loss of a
// loss that was averaged before.
#include "rules/losses.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop::averaged_loss {

using values::code;

namespace {

// exp(-loss): the loss; null if it is something else.
const TensorState* negative_exponent(const TensorState* state) {
  const TensorState* at = source_of(state);
  if (semantics(at) != OpSemantics::exp) return nullptr;
  const TensorState* exponent = input(*at->made);
  return semantics(exponent) == OpSemantics::negate ? source_of(input(*exponent->made)) : nullptr;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::mul)) {
    const TensorState* factors[] = {input(*each.made, 0), input(*each.made, 1)};
    if (!factors[0] || !factors[1]) continue;
    for (const std::size_t side : {0, 1}) {
      const TensorState* loss = source_of(factors[side]);
      if (!loss->made || !loss->shape.ndim_known || !loss->shape.dims.empty() || loss->poisoned) continue;
      const values::LossInfo* by = loss_of(*loss->made);
      if (!by) continue;
      bool raised = false, of_loss = false;
      for (const TensorState* from : ancestors(factors[1 - side])) {
        if (identity(from) == identity(loss)) continue;
        raised = raised || semantics(from) == OpSemantics::power || semantics(from) == OpSemantics::square;
        of_loss = of_loss || identity(negative_exponent(from)) == identity(loss);
      }
      if (!raised || !of_loss || !once(each.made->born)) continue;
      Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
          code(by->name) +
              " has averaged over the batch already, so this weight is one number for all samples, hard and easy alike. Pass " +
              code("reduction=\"none\"") + ", and take the mean of the weighted losses.");
      if (finding) report.relate(*finding, loss->made->born, "the loss is averaged here");
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/averaged-loss",
    .severity = Severity::warning,
    .summary = "a focal weight is computed from a loss that was averaged before",
    .why =
        "A focal loss weighs each sample by `(1 - p) ** gamma`, where `p = exp(-loss)` is the probability of its class. Losses average over the batch unless they are told otherwise: `p` is then one number, and so is the weight. What is left is the plain loss times a factor, which changes no sample's share and only slows the training down.",
    .wrong = "ce = F.cross_entropy(logits, y)\n"
             "loss = (1 - torch.exp(-ce)) ** 2 * ce\n",
    .right = "ce = F.cross_entropy(logits, y, reduction=\"none\")\n"
             "loss = ((1 - torch.exp(-ce)) ** 2 * ce).mean()\n",
    .silent = "Losses of single samples; perplexities and other exponentials that weigh nothing.",
    .fix = "None: the mean has to be taken elsewhere, too.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::averaged_loss
