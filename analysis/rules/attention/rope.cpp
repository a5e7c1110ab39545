// attention/rope: rotary positions whose tables do not fit, or whose frequencies cannot be meant.
#include "rules/attention/scores.hpp"
#include "rules/digits.hpp"
#include "rules/rule.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/shape/shape_text.hpp"
#include "rules/specialized.hpp"
#include "rules/training/training.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stepzero::rules::attention::rope {

namespace {

// theta ** (arange(0, dim, 2) / dim): the frequencies of a rotary embedding.
struct Frequencies {
  const TensorState* state = nullptr;
  const Producer* made = nullptr;
  double theta = 0;
  std::optional<double> dim;  // up to which the exponents count
};

std::optional<Frequencies> frequencies_of(const Record& record, const TensorState* state) {
  if (semantics(state) != OpSemantics::power) return std::nullopt;
  const Producer& made = *state->made;
  const auto theta = made.arguments.empty() ? std::nullopt : number(record, made.arguments[0]);
  if (!theta || input(made, 0)) return std::nullopt;
  // The exponents, every other number from 0.
  const TensorState* at = input(made, 1);
  for (int way = 0; at && way < 8; ++way) {
    if (semantics(at) == OpSemantics::count_up) {
      const Producer& range = *at->made;
      const auto start = number(record, argument(range, "start")),
                 end = number(record, argument(range, "end")), step = number(record, argument(range, "step"));
      if (!step || *step != 2 || !end || (start && *start != 0)) return std::nullopt;
      return Frequencies{state, &made, *theta, *end};
    }
    const OpSemantics by = semantics(at);
    if (by != OpSemantics::same && by != OpSemantics::div && by != OpSemantics::mul &&
        by != OpSemantics::negate && by != OpSemantics::picked && by != OpSemantics::rearranged)
      return std::nullopt;
    const auto from = inputs(*at->made);
    at = from.size() == 1 || (by == OpSemantics::picked && !from.empty()) ? from.front() : nullptr;
  }
  return std::nullopt;
}

// Is the code part of the setup, before there is data: of a constructor, of the module itself, or of a
// function that takes no tensors?
bool is_setup(const Record& record, const interpreter::CallSite* calls) {
  const interpreter::CallSite* const inner = calls;
  for (; calls; calls = calls->outer)
    if (calls->function && calls->function->name.text() == "__init__") return true;
  if (!inner) return true;
  if (inner->outer || !inner->function || !inner->function->stmt) return false;
  const values::Function& function = *inner->function;
  return std::none_of(record.facts.begin(), record.facts.end(), [&](const interpreter::Fact& fact) {
    return fact.role == interpreter::Fact::Role::parameter && fact.tensor &&
        fact.place.chunk == function.chunk && fact.place.span.begin >= function.stmt->span.begin &&
        fact.place.span.end <= function.stmt->span.end;
  });
}

// The number of positions that a table of the frequencies is made for.
std::optional<double> positions(const Record& record, const Frequencies& of, const Producer*& where) {
  const Provenance& provenance = Provenance::of(record);
  for (const OpSemantics by : {OpSemantics::outer, OpSemantics::product, OpSemantics::mul})
    for (const Origin& each : provenance.of_semantics(by)) {
      const auto factors = inputs(*each.made);
      if (factors.size() != 2 || !is_setup(record, each.made->calls)) continue;
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        const TensorState* counted = source_of(factors[i]);
        while (semantics(counted) == OpSemantics::picked) counted = source_of(input(*counted->made));
        if (semantics(counted) != OpSemantics::count_up) continue;
        // arange(end)
        auto end = number(record, argument(*counted->made, "end"));
        if (!end) end = number(record, argument(*counted->made, "start"));
        const auto step = number(record, argument(*counted->made, "step"));
        if (!end || (step && *step != 1) || !comes_from(factors[1 - i], of.state)) continue;
        where = each.made;
        return end;
      }
    }
  return std::nullopt;
}

// Is the table for an odd number of columns cut down to them?
bool is_cut(const Record& record, const Frequencies& frequencies) {
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::picked)) {
    const TensorState* from = input(*each.made);
    const auto columns = [&](const TensorState* state) {
      return state && state->shape.ndim_known && !state->shape.dims.empty()
          ? size_of(record, state->shape.dims.back())
          : std::nullopt;
    };
    const auto left = columns(each.state), before = columns(from);
    if (left && before && static_cast<double>(*left) == *frequencies.dim && *before == *left + 1 &&
        comes_from(from, frequencies.state))
      return true;
  }
  return false;
}

void check(const Record& record, Report& report) {
  report_specialized(record, report, "attention/rope", [&](const ProblemEvent& problem) {
    return "The table of rotary angles does not fit the tensor that it rotates. " + text_of(record, problem);
  });

  const Provenance& provenance = Provenance::of(record);
  if (provenance.of_semantics(OpSemantics::power).empty()) return;
  Once once;
  std::vector<Frequencies> all;
  for (const Origin& each : provenance.of_semantics(OpSemantics::power))
    if (const auto found = frequencies_of(record, each.state)) all.push_back(*found);
  for (const Frequencies& each : all) {
    if (each.theta <= 0 && once(each.made->born))
      report.add(Severity::warning, each.made->born, each.made->calls,
          "The base of the rotary frequencies is " + in_digits(each.theta) +
              ": its powers are 0, inf or nan, and so is every angle. Use a positive base, such as 10000.");
    if (each.dim && *each.dim > 1 && std::fmod(*each.dim, 2) == 1 && !is_cut(record, each) &&
        once(each.made->born))
      report.add(Severity::warning, each.made->born, each.made->calls,
          "The rotary dimension is " + in_digits(*each.dim) +
              ", which is odd: each rotation takes a pair of numbers, and the " +
              in_digits((*each.dim + 1) / 2) + " frequencies make " + in_digits(*each.dim + 1) +
              " columns. Make it even.");
    if (each.theta >= 5e5 && each.dim && *each.dim >= 4) {
      const Producer* table = nullptr;
      const auto context = positions(record, each, table);
      // Shorter ones are toys.
      if (context && *context >= 512 && *context <= 4096 && once(each.made->born)) {
        const double slowest = std::pow(each.theta, -(*each.dim - 2) / *each.dim);
        const double turns = *context * slowest / (2 * std::numbers::pi);
        int still = 0;
        for (int i = 0; i < *each.dim / 2; ++i)
          if (*context * std::pow(each.theta, -2.0 * i / *each.dim) / (2 * std::numbers::pi) < 0.1) ++still;
        if (Finding* finding = report.add(Severity::hint, each.made->born, each.made->calls,
                "With a base of " + in_digits(each.theta) + " and " + in_digits(*context) +
                    " positions the slowest frequency turns " + in_digits(std::round(turns * 1e5) / 1e5) +
                    " of a circle, and " + std::to_string(still) + " of " + in_digits(*each.dim / 2) +
                    " less than a tenth: they say almost nothing about positions. Use a smaller base, such as the usual 10000: bases that large are for long contexts."))
          report.relate(
              *finding, table->born, "a table for " + in_digits(*context) + " positions is made here");
      }
    }
  }

  // Queries and keys that are turned by different angles.
  const auto base_of = [&](const TensorState* state) -> const Frequencies* {
    const Frequencies* found = nullptr;
    for (const TensorState* each : since_projection(state))
      for (const Frequencies& of : all) {
        if (identity(of.state) != identity(each)) continue;
        if (found && found->theta != of.theta) return nullptr;
        found = &of;
      }
    return found;
  };
  const auto compare = [&](const TensorState* queries, const TensorState* keys, const Producer& product) {
    const Frequencies *of_queries = queries ? base_of(queries) : nullptr,
                      *of_keys = keys ? base_of(keys) : nullptr;
    if (!of_queries || !of_keys || of_queries->theta == of_keys->theta || !once(product.born)) return;
    if (Finding* finding = report.add(Severity::warning, product.born, product.calls,
            "Queries are rotated with a base of " + in_digits(of_queries->theta) + " and keys with one of " +
                in_digits(of_keys->theta) +
                ": their products no longer depend on the distance of two positions alone. Rotate both with one base.")) {
      report.relate(*finding, of_queries->made->born, "the frequencies of the queries");
      report.relate(*finding, of_keys->made->born, "the frequencies of the keys");
    }
  };
  for (const Attention& attention : attentions(record))
    compare(attention.queries, attention.keys, *attention.product);
  for (const Origin& each : provenance.of_semantics(OpSemantics::attended))
    compare(input(*each.made, 0), input(*each.made, 1), *each.made);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "attention/rope",
    .severity = Severity::error,
    .summary = "rotary positions do not fit what they turn",
    .why =
        "A rotary embedding turns pairs of numbers of each head: the table has half as many angles as the head has numbers, or as many if it holds them twice, "
        "and at least as many rows as there are positions. A table that is too short or too narrow fails where it is multiplied. A base that is 0 or negative gives no "
        "angles, an odd dimension no pairs, and different bases for queries and keys no distances.",
    .wrong = "cos, sin = rope_tables(max_positions=512, dim=64)\n"
             "q = q * cos[:T] + rotate_half(q) * sin[:T]      # T = 1024\n",
    .right = "cos, sin = rope_tables(max_positions=4096, dim=64)\n",
    .silent =
        "Any positive base by itself: 1e4, 1.5e5, 5e5, 1e6 and 5e6 are all right in real models. A large base with a short context of its own is a hint only. "
        "Several tables in one model, as Gemma 3 has for local and global layers. Sizes that are not known.",
    .fix = "None: decide which of the numbers is meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::attention::rope
