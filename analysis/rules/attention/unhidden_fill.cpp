// attention/unhidden-fill: what a mask is to hide from a softmax is filled with a number that hides nothing.
#include "libraries/torch/meaning/op_form.hpp"
#include "rules/attention/scores.hpp"
#include "rules/digits.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::attention::unhidden_fill {

namespace {

// Scores are of the size of 1: what is filled with a number far below takes no share, and -1 may be meant.
constexpr double least_unhidden = -1.0;

// What scores were filled with, and what that became since.
struct Fill {
  const Producer* made = nullptr;
  std::optional<double> value;
};

// What the input of a softmax was filled with on some path, where nothing but a scale and an order came after
// it. `factor`: what it is multiplied by since; nothing where that is not known.
Fill filled_before(
    const Record& record, const TensorState* at, std::optional<double> factor = 1, int between = 0) {
  constexpr int most_between = 8;  // operations and meeting paths from the fill to the softmax
  for (; at && between < most_between; ++between) {
    if (!at->made) {
      if (!at->either) return {};
      const Fill one = filled_before(record, at->either->one, factor, between + 1);
      return one.made ? one : filled_before(record, at->either->other, factor, between + 1);
    }
    const Producer& made = *at->made;
    if (libraries::form_of(*made.row) == libraries::OpForm::by_mask && made.arguments.size() > 2) {
      const auto value = number(record, made.arguments[2]);
      // Of what is not known only 0 stays what it is.
      if (value && *value == 0) return {&made, 0};
      return {&made, value && factor ? std::optional(*value * *factor) : std::nullopt};
    }
    switch (semantics(made)) {
    case OpSemantics::same:
    case OpSemantics::rearranged: at = input(made); break;
    // By a number: a tensor may be 0 where the mask is.
    case OpSemantics::mul:
    case OpSemantics::div: {
      const auto factors = inputs(made);
      if (factors.size() != 1 || made.arguments.size() < 2) return {};
      const bool times = semantics(made) == OpSemantics::mul;
      const auto by = number(record, made.arguments[input(made, 0) ? 1 : 0]);
      if (!times && !input(made, 0)) return {};
      factor = factor && by && *by != 0 ? std::optional(times ? *factor * *by : *factor / *by) : std::nullopt;
      at = factors[0];
      break;
    }
    default: return {};
    }
  }
  return {};
}

void check(const Record& record, Report& report) {
  Once once;
  for (const OpSemantics kind : {OpSemantics::softmax, OpSemantics::log_softmax})
    for (const Origin& each : Provenance::of(record).of_semantics(kind)) {
      const Fill filled = filled_before(record, input(*each.made));
      const auto written = filled.made ? number(record, filled.made->arguments[2]) : std::nullopt;
      if (!filled.value || !written || *filled.value <= least_unhidden || !once(filled.made->born)) continue;
      const std::string text = values::code(in_digits(*written));
      Finding* finding = report.add(Severity::warning, filled.made->born, filled.made->calls,
          "A softmax gives a score of " + text +
              " a share like any other: what the mask is to hide is not hidden. Fill it with `float(\"-inf\")`.");
      if (finding) report.relate(*finding, each.made->born, "this softmax reads the scores");
    }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "attention/unhidden-fill",
    .severity = Severity::warning,
    .summary = "scores are masked with a number that a softmax does not hide",
    .why =
        "A softmax takes `exp` of each score, and `exp(0)` is 1: positions filled with 0, or with 1e-9 where -1e9 is meant, take part like a score of 0 does. Padding and the "
        "future get weight, and the sum of the others is less than 1. After the softmax 0 is right, before it `-inf`.",
    .wrong = "scores = scores.masked_fill(mask == 0, 0)\n"
             "weights = scores.softmax(-1)\n",
    .right = "scores = scores.masked_fill(mask == 0, float(\"-inf\"))\n"
             "weights = scores.softmax(-1)\n",
    .silent =
        "Weights that are masked after the softmax; features that are masked before a layer; numbers that are not known; numbers of -1 and below.",
    .fix = "None: a row with all its positions hidden gives NaN, and what is meant there is not known.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::attention::unhidden_fill
