// numerics/unstable: formulas that are right on paper and overflow, or divide by 0, in floating point.
#include "rules/name_hints.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::numerics::unstable {

using values::code;

using values::Known;

namespace {

// "torch.log(F.softmax(x, dim=-1))" and "F.softmax(x, dim=-1).log()" as one call.
std::optional<Fix> one_call(const Record& record, const Producer& log, const Producer& softmax) {
  if (!record.in_file(log.born) || !record.in_file(softmax.born)) return std::nullopt;
  const auto outer = record.span(log.born), inner = record.span(softmax.born);
  if (inner.begin < outer.begin || inner.end > outer.end) return std::nullopt;
  const std::string_view whole = record.text(log.born), part = record.text(softmax.born);
  const std::string_view before = whole.substr(0, inner.begin - outer.begin),
                         after = whole.substr(inner.end - outer.begin);
  if (!((before.ends_with("log(") && after == ")" && before.find('(') == before.size() - 1) ||
          (before.empty() && after == ".log()")))
    return std::nullopt;
  const auto at = part.rfind("softmax(");
  if (at == std::string_view::npos || part.find("softmax(") != at || (at > 0 && part[at - 1] == '_'))
    return std::nullopt;
  std::string text(part);
  text.insert(at, "log_");
  return Fix{"Use log_softmax", true, {{{record.chunk(log.born).path, outer}, text}}};
}

constexpr int most_operations = 16;  // that are looked back through

// Does it only move, repeat or leave out numbers?
bool carries(OpSemantics by) {
  return by == OpSemantics::same || by == OpSemantics::rearranged || by == OpSemantics::reordered ||
      by == OpSemantics::repeated || by == OpSemantics::masked || by == OpSemantics::picked ||
      by == OpSemantics::split || by == OpSemantics::chunked || by == OpSemantics::joined;
}
// Vectors of length 1, by normalize or by a division by their norm.
bool of_unit_rows(const TensorState* state, int depth = 0) {
  if (!state || !state->made || depth > most_operations) return false;
  const OpSemantics by = semantics(state);
  if (by == OpSemantics::unit_rows) return true;
  if (by == OpSemantics::div) return semantics(source_of(input(*state->made, 1))) == OpSemantics::norm;
  return carries(by) && of_unit_rows(input(*state->made), depth + 1);
}
// Does the program make rows that may hold zeros alone: padding, what a mask or a relu leaves? What a layer
// computes with a weight is never 0 in all its places.
bool may_have_rows_of_zeros(const TensorState* state, int depth = 0) {
  if (!state || !state->made || depth > most_operations) return false;
  const OpSemantics by = semantics(state);
  const auto from = inputs(*state->made);
  switch (by) {
  case OpSemantics::masked:
  case OpSemantics::padded:
  case OpSemantics::not_negative:
  case OpSemantics::one_hot:
  case OpSemantics::where: return true;
  case OpSemantics::mul:
    return std::ranges::any_of(from, [&](const TensorState* each) {
      return each &&
          (each->dtype == values::Dtype::boolean || may_have_rows_of_zeros(each, depth + 1) ||
              (each->requires_grad == Known::no && each->shape.ndim_known));
    });
  case OpSemantics::sum:
  case OpSemantics::mean:
  case OpSemantics::largest: return may_have_rows_of_zeros(input(*state->made), depth + 1);
  default: return carries(by) && may_have_rows_of_zeros(input(*state->made), depth + 1);
  }
}
// Numbers whose exponentials are far from the largest float: cosines, over any temperature that is in use.
bool stays_small(const Record& record, const TensorState* state, int depth = 0) {
  constexpr double least_temperature = 1.0 / 80;
  if (!state || !state->made || depth > most_operations) return false;
  const OpSemantics by = semantics(state);
  if (by == OpSemantics::within_one || by == OpSemantics::sigmoid || by == OpSemantics::softmax ||
      by == OpSemantics::cosine || by == OpSemantics::sine || by == OpSemantics::unit_rows)
    return true;
  const auto from = inputs(*state->made);
  if (by == OpSemantics::product) return from.size() == 2 && of_unit_rows(from[0]) && of_unit_rows(from[1]);
  if (by == OpSemantics::div) {
    const auto temperature = number(record, argument(*state->made, "other"));
    return (!temperature || *temperature >= least_temperature) &&
        stays_small(record, input(*state->made), depth + 1);
  }
  if (by == OpSemantics::mul)
    return !from.empty() &&
        std::all_of(from.begin(), from.end(),
            [&](const TensorState* each) { return stays_small(record, each, depth + 1); }) &&
        from.size() == 2;
  return carries(by) && stays_small(record, input(*state->made), depth + 1);
}

// Differences of all pairs of the rows of one tensor: those of a row with itself are 0.
bool are_pairs_of_one(const TensorState* difference) {
  if (semantics(difference) != OpSemantics::sub || inputs(*difference->made).size() != 2) return false;
  const TensorState *one = input(*difference->made, 0), *other = input(*difference->made, 1);
  return one && other && identity(one) != identity(other) && semantics(one) == OpSemantics::rearranged &&
      semantics(other) == OpSemantics::rearranged && identity(source_of(one)) == identity(source_of(other));
}

void find_roots_of_zeros(const Record& record, Report& report, Once& once) {
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::sqrt)) {
    if (each.state->requires_grad != Known::yes) continue;
    const TensorState* from = input(*each.made);
    if (!from || !from->made) continue;
    const OpSemantics by = semantics(from);
    const auto least = by == OpSemantics::bounded ? number(record, argument(*from->made, "min"))
                                                  : std::nullopt;
    std::string zeros;
    if (by == OpSemantics::not_negative || (by == OpSemantics::bounded && least && *least == 0)) {
      zeros = code(text_of(record, *from->made)) + " makes zeros";
    } else if (by == OpSemantics::sum) {
      const TensorState* squares = input(*from->made);
      if (!squares || !squares->made) continue;
      const bool squared = semantics(squares) == OpSemantics::square ||
          (semantics(squares) == OpSemantics::power &&
              number(record, argument(*squares->made, "exponent")) == 2);
      if (squared && are_pairs_of_one(input(*squares->made)))
        zeros = "the distance of each row from itself is 0";
    }
    if (zeros.empty() || !once(each.made->born)) continue;
    report.add(Severity::warning, each.made->born, each.made->calls,
        "The gradient of a square root is inf at 0, and " + zeros +
            ": what flows back from there is nan. Add a small number under the root.");
  }
}

// where(x > 0, x.sqrt(), 0): the gradient goes through the root of those that were not chosen as well, and
// 0 times inf is nan.
void find_unchosen(const Record& record, Report& report, Once& once) {
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::where)) {
    const TensorState* condition = input(*each.made, 0);
    if (semantics(condition) != OpSemantics::ordered || each.state->requires_grad == Known::no) continue;
    const void* compared = identity(source_of(input(*condition->made)));
    for (std::size_t side = 1; side <= 2; ++side) {
      const TensorState* chosen = input(*each.made, side);
      const OpSemantics by = semantics(chosen);
      if ((by != OpSemantics::sqrt && by != OpSemantics::log && by != OpSemantics::inverse_sqrt) ||
          chosen->requires_grad != Known::yes || !compared ||
          identity(source_of(input(*chosen->made))) != compared || !once(each.made->born))
        continue;
      Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
          "`where` leaves out the values of " + code(text_of(record, *chosen->made)) +
              ", but their gradient flows all the same: inf times 0 is nan. Choose what goes into it instead, so that it is never 0.");
      if (finding) report.relate(*finding, chosen->made->born, "its gradient is inf at 0");
    }
  }
}

void check(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  Once once;
  for (const Origin& each : provenance.of_semantics(OpSemantics::log)) {
    const TensorState* from = input(*each.made);
    for (int way = 0; from && semantics(from) == OpSemantics::same && way < 4; ++way)
      from = input(*from->made);
    if (semantics(from) != OpSemantics::softmax || !once(each.made->born)) continue;
    if (Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
            "The logarithm of a softmax is -inf, and its gradient nan, as soon as a probability rounds to 0: a difference of 104 between two numbers is enough in float32, of 17 in "
            "float16. Use `log_softmax`, which computes the same without the detour.")) {
      report.relate(*finding, from->made->born, "the softmax");
      if (auto fix = one_call(record, *each.made, *from->made)) finding->fixes.push_back(std::move(*fix));
      report.relate_calls(*finding, each.made->calls);
    }
  }
  // exp(x) / exp(x).sum()
  for (const Origin& each : provenance.of_semantics(OpSemantics::div)) {
    const TensorState *above = source_of(input(*each.made, 0)), *below = source_of(input(*each.made, 1));
    if (semantics(above) != OpSemantics::exp || semantics(below) != OpSemantics::sum ||
        source_of(input(*below->made)) != above)
      continue;
    const TensorState* exponent = input(*above->made);
    if (!exponent) continue;
    // What was computed in a way that is not known may have been shifted there; the program may call it the
    // logarithms of probabilities.
    const Value exponents = argument(*above->made, "input");
    if (exponents.is(values::Kind::unknown) && exponents.as<values::Unknown>()->name.empty()) continue;
    const std::string_view text = record.text(above->made->born);
    if (says(text, Says::log_probability)) continue;
    // Numbers that the program itself writes down, and small enough.
    constexpr double least_overflow = 11;
    if (exponent->content &&
        std::all_of(exponent->content->numbers.begin(), exponent->content->numbers.end(),
            [](const values::Number& one) { return !one.integer && one.high < least_overflow; }))
      continue;
    if (stays_small(record, exponent)) continue;
    const auto all = ancestors(exponent);
    // What came from one place or another may have been shifted in both.
    if (std::any_of(
            all.begin(), all.end(), [](const TensorState* state) { return !state->made && !state->unseen; }))
      continue;
    // Numbers that nothing but the program decides, as weights that fade.
    if (std::all_of(all.begin(), all.end(), [](const TensorState* state) {
          return state->made &&
              (semantics(state) == OpSemantics::spaced || semantics(state) == OpSemantics::count_up ||
                  !inputs(*state->made).empty());
        }))
      continue;
    // Something was taken off first: the largest, most often. Or it was turned negative, as a distance is.
    const bool shifted = std::any_of(all.begin(),
        all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), 12)),
        [](const TensorState* state) {
          return semantics(state) == OpSemantics::sub || semantics(state) == OpSemantics::negate ||
              semantics(state) == OpSemantics::bounded || semantics(state) == OpSemantics::log_softmax ||
              semantics(state) == OpSemantics::not_negative || semantics(state) == OpSemantics::square ||
              semantics(state) == OpSemantics::power;
        });
    if (shifted || !once(each.made->born)) continue;
    if (Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
            "This is a softmax that overflows: exp gives inf above 88 in float32 and above 11 in float16, and inf / inf is nan. Use `torch.softmax`, which subtracts the largest number first."))
      report.relate(*finding, above->made->born, "exp is taken here");
  }
  find_roots_of_zeros(record, report, once);
  find_unchosen(record, report, once);
  for (const Origin& each : provenance.of_semantics(OpSemantics::div)) {
    const TensorState *above = input(*each.made, 0), *below = input(*each.made, 1);
    if (!above || semantics(below) != OpSemantics::norm || each.state->requires_grad != Known::yes) continue;
    if (input(*below->made) != above || !may_have_rows_of_zeros(above) || !once(each.made->born)) continue;
    report.add(Severity::hint, each.made->born, each.made->calls,
        "A row of zeros, such as padding, is divided by a norm of 0 and becomes nan. Use `F.normalize`, which keeps the norm from 0.");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "numerics/unstable",
    .severity = Severity::warning,
    .summary = "a formula that overflows or divides by zero in floating point",
    .why =
        "log(softmax(x)) is -inf where a probability rounds to 0. exp(x) / exp(x).sum() is nan once x passes 88. The gradient of sqrt is inf at 0, and 0 · inf is nan: of all distances in a batch those of each row from itself are 0, and `where` chooses values, not gradients. A vector divided by its "
        "norm is nan where the vector is 0. Each of these runs for hours before the first such number comes along; PyTorch has a function that computes the same safely.",
    .wrong = "loss = -torch.log(F.softmax(logits, dim=-1)).gather(1, y)\n",
    .right = "loss = -F.log_softmax(logits, dim=-1).gather(1, y)\n",
    .silent =
        "An epsilon inside the logarithm or the root; exponents from which something was taken off or that are clamped, or that are called log-probabilities; roots of what has no gradient; norms of what a layer computes with a weight; norms that are clamped or have "
        "something added.",
    .fix =
        "log of a softmax becomes log_softmax, where both stand in one expression. The others need a decision.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::numerics::unstable
