// moe/half-softmax: a router's softmax in half precision.
#include "rules/moe/balance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"

namespace stepzero::rules::moe::half_softmax {

using values::Dtype;

namespace {

// "F.softmax(x, dim=-1)" with dtype=torch.float32, where the text shows where it goes.
std::optional<Fix> in_float(const Record& record, const Producer& softmax) {
  const std::string_view text = record.text(softmax.born);
  if (text.empty() || !text.ends_with(')') || text.find("dtype") != std::string_view::npos ||
      text.find("softmax(") == std::string_view::npos)
    return std::nullopt;
  if (!record.in_file(softmax.born) || values::Value(argument(softmax, "dtype")).is(values::Kind::dtype))
    return std::nullopt;
  const auto span = record.span(softmax.born);
  const std::size_t open = text.rfind("softmax(");
  const bool empty = text.substr(open + 8) == ")";
  return Fix{"Compute the softmax in float32", false,
      {{{record.chunk(softmax.born).path, {span.end - 1, span.end - 1}},
          empty ? "dtype=torch.float32" : ", dtype=torch.float32"}}};
}

void check(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  if (provenance.of_semantics(OpSemantics::chosen).empty() &&
      provenance.of_semantics(OpSemantics::place_of_largest).empty())
    return;
  Once once;
  const auto tell = [&](const TensorState* state, const Producer* choice) {
    const Producer& softmax = *state->made;
    // The sum is computed in the type that was asked for.
    const TensorState* from = input(softmax);
    if ((state->dtype != Dtype::float16 && state->dtype != Dtype::bfloat16) || !from ||
        from->dtype != state->dtype || !once(softmax.born))
      return;
    Finding* finding = report.add(Severity::hint, softmax.born, softmax.calls,
        "The router's softmax is computed in " + std::string(values::name(state->dtype)) +
            ", which cannot tell close probabilities of many experts apart. "
            "Keep the router in float32: a few columns cost nothing.");
    if (!finding) return;
    report.relate(*finding, choice->born, "the experts are chosen here");
    if (auto fix = in_float(record, softmax)) finding->fixes.push_back(std::move(*fix));
  };
  for (const Routing& routing : routings(record)) {
    for (const TensorState* at = routing.scores.last; at && at->made && at != routing.scores.logits;
        at = input(*at->made))
      if (semantics(at) == OpSemantics::softmax) tell(at, routing.choice);
    // Softmax over the chosen ones.
    for (const Origin& each : provenance.of_semantics(OpSemantics::softmax)) {
      const TensorState* from = source_of(input(*each.made));
      if (from && from->made == nullptr) continue;
      if (from && semantics(from) == OpSemantics::chosen && from->made->part == 0 &&
          from->made->born == routing.choice->born)
        tell(each.state, routing.choice);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "moe/half-softmax",
    .severity = Severity::hint,
    .summary = "a router's softmax is computed in half precision",
    .why =
        "bfloat16 has 8 bits of precision: probabilities near 1/64 are told apart in steps of 0.00006, and two experts whose scores are close get "
        "the same one. The choice between them is then made by their order, and the gradient of the balancing loss is coarse. Every well-known "
        "mixture of experts computes the router's softmax in float32.",
    .wrong = "model = MoE().bfloat16()\n"
             "probs = F.softmax(self.router(x), dim=-1)\n",
    .right = "probs = F.softmax(self.router(x), dim=-1, dtype=torch.float32)\n",
    .silent =
        "A type that is not known, such as under autocast, which computes softmax in float32. Softmaxes that choose no experts.",
    .fix =
        "Adds dtype=torch.float32 to the softmax. The result is then float32: it is converted where the experts' outputs are weighed.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::moe::half_softmax
