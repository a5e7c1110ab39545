// attention/masked-rows: a triangular mask hides all that one of the positions could attend to.
#include "libraries/torch/meaning/op_form.hpp"
#include "rules/attention/masks.hpp"
#include "rules/attention/scores.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::rules::attention::masked_rows {

namespace {

using symbolic::Answer;

bool is_square(const Record& record, const values::Shape& shape) {
  if (!shape.ndim_known || shape.dims.size() < 2) return false;
  const symbolic::Int height = shape.dims[shape.dims.size() - 2].size, width = shape.dims.back().size;
  const auto holds = [&](symbolic::Compare how, symbolic::Int a, symbolic::Int b) {
    return record.symbols.compare(how, a, b) == Answer::yes;
  };
  return height && width && holds(symbolic::Compare::eq, height, width);
}

// What the scores are filled with before the softmax, where that hides a triangle.
struct Hidden {
  const Producer* filled;
  Triangle where;
  bool with_infinity;
};
std::optional<Hidden> hidden_in(const Record& record, const Producer& softmax) {
  const TensorState* at = input(softmax);
  for (int way = 0; at && at->made && way < 8; ++way) {
    const Producer& made = *at->made;
    if (libraries::form_of(*made.row) == libraries::OpForm::by_mask && made.arguments.size() > 2) {
      const TensorState* mask = input(made, 1);
      const auto value = number(record, made.arguments[2]);
      const auto where = mask && is_square(record, mask->shape) ? triangle(record, mask) : std::nullopt;
      if (where && value && *value <= -1e4) return Hidden{&made, *where, std::isinf(*value)};
    }
    switch (semantics(made)) {
    case OpSemantics::same:
    case OpSemantics::masked:
    case OpSemantics::rearranged:
    case OpSemantics::mul:
    case OpSemantics::div: at = input(made); break;
    default: return std::nullopt;
    }
  }
  return std::nullopt;
}

// What stands above the diagonal is left: the future, and for the last position nothing. Or what stands below
// it: the past, and for the first nothing, which only infinity cannot bear.
bool hides_a_row(const Record& record, const Hidden& hidden) {
  if (hidden.where.lower) return hidden.where.diagonal >= 0;
  return hidden.where.diagonal <= 0 && hidden.with_infinity && !program_says(record, Says::looking_for_nan);
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::softmax)) {
    const auto over = dimensions(record, *each.made);
    if (!over || over->size() != 1 || !each.state->shape.ndim_known ||
        over->front() + 1 != each.state->shape.dims.size())
      continue;
    const auto hidden = hidden_in(record, *each.made);
    if (!hidden || !hides_a_row(record, *hidden) || !once(hidden->filled->born)) continue;
    const bool first = !hidden->where.lower;
    Finding* finding = report.add(Severity::warning, hidden->filled->born, hidden->filled->calls,
        std::string("This hides each position itself and all ") +
            (first ? "after it: the first position has nothing left"
                   : "before it, and leaves what comes after: the last position has nothing left") +
            (hidden->with_infinity ? ", and its softmax is NaN" : "") +
            (first ? ". Begin the triangle above the diagonal, with `diagonal=1`: a causal mask leaves a position itself."
                   : ". Fill where the lower triangle is 0: a causal mask hides what comes after."));
    if (finding) report.relate(*finding, hidden->where.made->born, "the triangle is made here");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "attention/masked-rows",
    .severity = Severity::warning,
    .summary = "a triangular mask hides the past instead of the future, or all of a row",
    .why =
        "`tril(ones)` is 1 where a position may look: at itself and what came before. Filled with -inf where it is 1, the scores keep only what comes after. The loss of a language model falls at once, since it sees the token that it is to predict, and the last row is -inf throughout: NaN. A mask of `triu(ones)` without `diagonal=1` hides a position from itself as well, and its first row is NaN.",
    .wrong = "mask = torch.tril(torch.ones(t, t))\n"
             "weights = scores.masked_fill(mask == 1, float(\"-inf\")).softmax(dim=-1)\n",
    .right = "mask = torch.tril(torch.ones(t, t))\n"
             "weights = scores.masked_fill(mask == 0, float(\"-inf\")).softmax(dim=-1)\n",
    .silent =
        "Strict masks of finite numbers, which hide a position from itself, too, and those of programs that look for NaN; masks that are not square; masks that are combined with others.",
    .fix = "None: the comparison or the triangle may be the wrong way around.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::attention::masked_rows
