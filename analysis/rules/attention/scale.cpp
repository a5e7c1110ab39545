// attention/scale: scores of attention that are divided by the wrong number.
#include "rules/attention/scores.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"

#include <cmath>

namespace stepzero::rules::attention::scale {

namespace {

bool is(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); }
std::string root_of(std::int64_t n) { return "√" + std::to_string(n); }

// The size of a head of the values: what the probabilities are multiplied with.
std::optional<std::int64_t> value_size(const Record& record, const Attention& attention) {
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::product)) {
    const auto factors = inputs(*each.made);
    if (factors.size() != 2 || identity(factors[0]) == identity(attention.queries)) continue;
    const TensorState* at = factors[0];
    for (int way = 0; at && identity(at) != identity(attention.probabilities) && way < 3 &&
        (semantics(at) == OpSemantics::same || semantics(at) == OpSemantics::masked);
        ++way)
      at = input(*at->made);
    if (identity(at) == identity(attention.probabilities) && factors[1]->shape.ndim_known &&
        !factors[1]->shape.dims.empty())
      return size_of(record, factors[1]->shape.dims.back());
  }
  return std::nullopt;
}

void check(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  if (provenance.of_semantics(OpSemantics::softmax).empty() ||
      provenance.of_semantics(OpSemantics::product).empty())
    return;
  Once once;
  for (const Attention& attention : attentions(record)) {
    if (!attention.scale_known || !attention.scaled || !attention.queries->shape.ndim_known ||
        attention.queries->shape.dims.size() < 3)
      continue;
    const auto& dims = attention.queries->shape.dims;
    const auto head = size_of(record, dims.back());
    if (!head || *head < 2) continue;
    const double scale = attention.scale, size = static_cast<double>(*head);
    if (scale <= 0 || is(scale, 1 / std::sqrt(size))) continue;
    std::string wrong;
    if (is(scale, 1 / size)) wrong = "by " + std::to_string(*head) + ", not by its square root";
    if (wrong.empty() && dims.size() == 4)
      for (const std::size_t at : {std::size_t{1}, std::size_t{2}})
        if (const auto heads = size_of(record, dims[at]);
            heads && *heads > 1 && is(scale, 1 / std::sqrt(size * static_cast<double>(*heads))))
          wrong = "by " + root_of(*head * *heads) + ", the square root of the width of all heads";
    if (wrong.empty())
      if (const auto of_values = value_size(record, attention);
          of_values && *of_values != *head && is(scale, 1 / std::sqrt(static_cast<double>(*of_values))))
        wrong = "by " + root_of(*of_values) + ", the square root of the size of one value head";
    if (wrong.empty() || !once(attention.scaled->born)) continue;
    Finding* finding = report.add(Severity::hint, attention.scaled->born, attention.scaled->calls,
        "The scores are divided " + wrong + ". Queries and keys have " + std::to_string(*head) +
            " numbers for each head, so their products have a standard deviation of " + root_of(*head) +
            ". Divide by that: otherwise the softmax is too flat or too sharp to learn well.");
    if (finding) report.relate(*finding, attention.product->born, "queries meet keys here");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "attention/scale",
    .severity = Severity::hint,
    .summary = "scores of attention are scaled by another number than the root of the head size",
    .why =
        "The product of a query and a key of d numbers each has a standard deviation of √d at the start. Divided by √d the softmax begins soft. Divided by d, by "
        "the root of the whole width or by the root of another head size it is too flat or too sharp, and the attention learns slowly. Latent attention is where it "
        "happens: the size that counts is qk_nope_head_dim + qk_rope_head_dim, not v_head_dim.",
    .wrong = "scores = q @ k.transpose(-2, -1) / self.v_head_dim ** 0.5   # q and k have 192, v has 128\n",
    .right = "scores = q @ k.transpose(-2, -1) / self.qk_head_dim ** 0.5\n",
    .silent =
        "Scales that are none of these numbers: Gemma's query_pre_attn_scalar, yarn's mscale, learned temperatures. Scores without a scale. Sizes that are not "
        "known. Where muP is meant, 1/d is right: suppress it there.",
    .fix = "None: decide where the number comes from.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::attention::scale
