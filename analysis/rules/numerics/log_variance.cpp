// numerics/log-variance: noise is scaled with the variance instead of the deviation: exp(logvar) without the
// half. Which of the two a tensor is the logarithm of is told by the divergence that the program computes
// from it.
#include "libraries/table/op.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::numerics::log_variance {

using values::code;

namespace {

// The tensor, whatever was done to its shape.
const void* numbers_of(const TensorState* state) { return identity(source_of(state)); }

// The logarithm that the tensor is the exponential of; null if it is none.
const TensorState* logarithm(const TensorState* state) {
  const TensorState* at = source_of(state);
  return semantics(at) == OpSemantics::exp ? input(*at->made) : nullptr;
}

// The parts of a sum, whatever their signs and factors.
void terms_of(const TensorState* state, std::vector<const TensorState*>& terms, int depth = 0) {
  constexpr int longest_sum = 8;  // sums of sums: a loss has few terms
  const OpSemantics by = semantics(state);
  if (!state || depth > longest_sum) return;
  if (by == OpSemantics::add || by == OpSemantics::sub || by == OpSemantics::negate) {
    for (const TensorState* each : inputs(*state->made)) terms_of(each, terms, depth + 1);
    return;
  }
  terms.push_back(state);
}

bool is_noise(const TensorState* state) {
  const TensorState* at = source_of(state);
  return at && at->made &&
      (semantics(at) == OpSemantics::noise || semantics(at) == OpSemantics::filled_normal);
}

void check(const Record& record, Report& report) {
  const Provenance& all = Provenance::of(record);
  // A Gaussian's divergence is 1 + logvar - mean² - exp(logvar), up to sign and half.
  std::map<const void*, const Producer*> divergences;
  for (const OpSemantics by : {OpSemantics::add, OpSemantics::sub})
    for (const Origin& each : all.of_semantics(by)) {
      std::vector<const TensorState*> terms;
      terms_of(each.state, terms);
      std::set<const void*> plain;
      for (const TensorState* term : terms) plain.insert(numbers_of(term));
      for (const TensorState* term : terms)
        if (const TensorState* of = logarithm(term); of && plain.contains(numbers_of(of)))
          divergences.emplace(numbers_of(of), each.made);
    }
  Once once;
  for (const Origin& each : all.of_semantics(OpSemantics::mul)) {
    const TensorState *one = input(*each.made, 0), *other = input(*each.made, 1);
    for (const auto& [scale, noise] : {std::pair(one, other), std::pair(other, one)}) {
      const TensorState* of = scale && is_noise(noise) ? logarithm(scale) : nullptr;
      const auto divergence = of ? divergences.find(numbers_of(of)) : divergences.end();
      if (divergence == divergences.end()) continue;
      const Producer& made = *source_of(scale)->made;
      if (!once(made.born)) continue;
      std::string name(of->made ? Provenance::of(record).name_of(of) : std::string_view());
      if (name.empty()) name = "logvar";
      Finding* finding = report.add(Severity::warning, made.born, made.calls,
          "The noise is scaled with the variance: the KL divergence takes " + code(name) +
              " for the logarithm of the variance, and the noise needs the standard deviation. Write " +
              code("torch.exp(0.5 * " + name + ")") + ".");
      if (!finding) continue;
      report.relate(*finding, divergence->second->born, "the divergence");
      report.relate(*finding, each.made->born, "the noise is scaled here");
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "numerics/log-variance",
    .severity = Severity::warning,
    .summary = "noise is scaled with exp(logvar), the variance, instead of its root",
    .why =
        "A variational encoder gives the logarithm of a variance. The divergence `1 + logvar - mu² - exp(logvar)` is right for it; a sample is `mu + exp(0.5 * logvar) * eps`. Without the half the samples come from another distribution than the one that the divergence keeps near the prior: the model trains, and what it generates is blurred or noisy.",
    .wrong = "z = mu + torch.exp(logvar) * torch.randn_like(mu)\n"
             "kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum()\n",
    .right = "z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)\n"
             "kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum()\n",
    .silent =
        "Logarithms of deviations, of which the divergence is written with `exp(2 * log_std)`; programs whose divergence is not seen together with the sample.",
    .fix = "None: whether the sample or the divergence is meant otherwise is yours to say.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::numerics::log_variance
