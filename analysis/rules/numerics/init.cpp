// numerics/init: weights that start so large that what goes through a few layers explodes.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace stepzero::rules::numerics::init {

using values::Kind;

namespace {

constexpr double most_gain = 5;  // by which a layer may widen what goes through it
constexpr std::size_t few_layers = 2;

std::string text(double number) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.3g", number);
  return buffer.data();
}

void check(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  if (provenance.of_semantics(OpSemantics::filled_normal).empty()) return;
  // The weights of the layers that were run.
  std::unordered_set<const values::Object*> weights, layers;
  for (const Origin& each : provenance.of_semantics(OpSemantics::linear)) {
    if (!each.made->self.is(Kind::instance)) continue;
    const auto* layer = each.made->self.as<values::Instance>();
    if (const values::Slot* slot = layer->attributes.find(values::Name("weight"));
        slot && slot->value.is(Kind::tensor))
      weights.insert(slot->value.object());
    layers.insert(layer);
  }
  if (layers.size() < few_layers) return;
  Once once;
  for (const Origin& each : provenance.of_semantics(OpSemantics::filled_normal)) {
    const Value filled = argument(*each.made, 0);
    const auto std_of = number(record, argument(*each.made, "std"));
    if (!filled.is(Kind::tensor) || !std_of || !weights.contains(filled.object()) ||
        !each.state->shape.ndim_known || each.state->shape.dims.size() != 2)
      continue;
    const auto fan_in = size_of(record, each.state->shape.dims[1]);
    if (!fan_in || *fan_in < 1) continue;
    const double gain = *std_of * std::sqrt(static_cast<double>(*fan_in));
    if (gain < most_gain || *std_of < 0.2 || !once(each.made->born)) continue;
    if (Finding* finding = report.add(Severity::hint, each.made->born, each.made->calls,
            "Weights with a standard deviation of " + text(*std_of) + " over " + std::to_string(*fan_in) +
                " inputs make every output " + text(gain) +
                " times as wide as the inputs, layer after layer. Use " +
                text(1 / std::sqrt(static_cast<double>(*fan_in))) +
                ", which keeps the width, or 0.02, as transformers do."))
      report.relate_calls(*finding, each.made->calls);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "numerics/init",
    .severity = Severity::hint,
    .summary = "weights start far too large",
    .why =
        "A linear layer adds up as many products as it has inputs: with weights of standard deviation s over n inputs its outputs are s·√n times as wide. normal_ has std=1 where nothing "
        "else is said, which for 768 inputs is 28 times, and 28⁴ after four layers: activations saturate, the first loss is in the hundreds, and gradients are inf in half precision.",
    .wrong = "nn.init.normal_(layer.weight)                  # std=1, 768 inputs\n",
    .right = "nn.init.normal_(layer.weight, std=0.02)\n",
    .silent =
        "Embeddings, whose numbers are not added up; layers with few inputs; programs with a single layer; standard deviations that are not known.",
    .fix = "None: the number is your choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::numerics::init
