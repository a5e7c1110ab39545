// numerics/softmax-twice: a softmax of probabilities that a softmax made, along the same dimension.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::numerics::softmax_twice {

using values::code;

namespace {

// Counted from the right, so that a view of the leading dimensions leaves it; nullopt if it is not known.
std::optional<std::int64_t> dimension(const Record& record, const Producer& made) {
  Value dim = argument(made, "dim");
  if (!dim && made.self.is(values::Kind::instance))
    dim = made.self.as<values::Instance>()->attributes.value(values::Name("dim"));
  const auto at = number(record, dim);
  if (!at || *at < 0) return at ? std::optional(static_cast<std::int64_t>(*at)) : std::nullopt;
  const TensorState* of = input(made);
  if (!of || !of->shape.ndim_known) return std::nullopt;
  return static_cast<std::int64_t>(*at) - static_cast<std::int64_t>(of->shape.dims.size());
}

// The softmax that gave these numbers.
const Producer* softmax_before(const TensorState* state) {
  constexpr int longest_way = 6;  // operations between the two
  for (int way = 0; state && state->made && way < longest_way; ++way) {
    const OpSemantics by = semantics(state);
    if (by == OpSemantics::softmax) return state->made;
    if (by != OpSemantics::same && by != OpSemantics::rearranged) return nullptr;
    state = input(*state->made);
  }
  return nullptr;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const OpSemantics by : {OpSemantics::softmax, OpSemantics::log_softmax})
    for (const Origin& each : Provenance::of(record).of_semantics(by)) {
      const TensorState* of = input(*each.made);
      const Producer* before = softmax_before(of);
      const auto along = before ? dimension(record, *each.made) : std::nullopt;
      if (!along || dimension(record, *before) != along || before->born == each.made->born ||
          !once(each.made->born))
        continue;
      const std::string_view name = Provenance::of(record).name_of(of);
      Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
          (name.empty() ? std::string("The input of this softmax") : code(name)) +
              " holds probabilities that a softmax made: a second softmax makes them nearly equal, whatever the scores are. Pass the scores, or leave out one of the two.");
      if (finding) report.relate(*finding, before->born, "the first softmax");
    }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "numerics/softmax-twice",
    .severity = Severity::warning,
    .summary = "a softmax of probabilities that a softmax made",
    .why =
        "Probabilities lie between 0 and 1, so their exponentials differ by a factor of e at most: of two classes with 0.99 and 0.01 a second softmax makes 0.73 and 0.27, and of a thousand classes it makes a thousandth each. The loss hardly falls, and a balance loss sees balanced experts.",
    .wrong = "probabilities = F.softmax(router(x), dim=-1)\n"
             "load = torch.softmax(probabilities, dim=-1).mean(0)\n",
    .right = "probabilities = F.softmax(router(x), dim=-1)\n"
             "load = probabilities.mean(0)\n",
    .silent =
        "A softmax of sums, products or masks of probabilities, or along another dimension; losses that compute a softmax themselves, of which `loop/double-softmax` speaks.",
    .fix = "None: either softmax may be the one too many.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::numerics::softmax_twice
