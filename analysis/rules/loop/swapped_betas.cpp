// loop/swapped-betas: an optimizer of the Adam kind averages gradients for longer than their squares.
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/numbers.hpp"

#include <array>
#include <cstdio>

namespace stepzero::rules::loop::swapped_betas {

using values::Kind;

namespace {

std::optional<std::pair<double, double>> betas_of(const Record& record, const OperationEvent& made) {
  for (std::size_t i = 0; i < made.row->parameters.size() && i < made.arguments.size(); ++i) {
    const Value given = made.arguments[i];
    if (made.row->parameters[i].text() != "betas" || !given.is(Kind::tuple)) continue;
    const auto& items = given.as<values::Tuple>()->items;
    if (items.size() != 2) return std::nullopt;
    const auto first = values::number_by_default(record.symbols, items[0]),
               second = values::number_by_default(record.symbols, items[1]);
    if (first && second) return std::pair(*first, *second);
  }
  return std::nullopt;
}

void check(const Record& record, Report& report) {
  // Gradients are averaged over some ten steps, their squares over hundreds.
  constexpr double least_long = 0.98, most_short = 0.95;
  Once once;
  visit_operations(record, with_operation(values::Operation::optimizer_made), [&](const OperationEvent& made) {
    const auto betas = betas_of(record, made);
    if (!betas || betas->first < least_long || betas->second > most_short || !once(made.place)) return;
    std::array<char, 64> text;
    const int length = std::snprintf(text.data(), text.size(), "%g and %g", betas->first, betas->second);
    report.add(Severity::warning, made.place, made.calls,
        "`betas` are " + std::string(text.data(), static_cast<std::size_t>(length)) +
            ": gradients are averaged for longer than their squares, which divides old gradients by the size of the newest. Swap the two.");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/swapped-betas",
    .severity = Severity::warning,
    .summary = "the two decay rates of an optimizer of the Adam kind stand in the wrong order",
    .why =
        "Adam averages gradients with the first rate, 0.9, over some ten steps, and their squares with the second, 0.999, over a thousand. The other way round, a step goes where the gradients of a thousand steps ago pointed, and its length follows the last few batches: the loss jumps, and a smaller learning rate seems to help.",
    .wrong = "optimizer = torch.optim.AdamW(model.parameters(), betas=(0.999, 0.9))\n",
    .right = "optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.999))\n",
    .silent =
        "Rates that are near each other; a first rate of 0 or 0.5, as adversarial networks have it; rates that are not known.",
    .fix = "None: the rates may stand elsewhere, in a configuration.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::swapped_betas
