// attention/masked-rows: a triangular mask hides all that one of the positions could attend to.
#include "libraries/table/op.hpp"
#include "rules/attention/scores.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::rules {

namespace {

using symbolic::Answer;

// Which part of a square is true: on and below the diagonal, or on and above it.
struct Triangle {
  bool lower = true;
  std::int64_t diagonal = 0;
  const Producer* made = nullptr;
};

Triangle inverse(Triangle of) { return {!of.lower, of.lower ? of.diagonal + 1 : of.diagonal - 1, of.made}; }

std::optional<double> filled_with(const Record& record, const Producer& made) {
  const std::string_view name = libraries::last_part(made.row->path);
  if (name == "ones") return 1;
  if (name != "full") return std::nullopt;
  const Value value = argument(made, "fill_value");
  if (value.is(values::Kind::boolean))
    return record.symbols.decide(value.condition()) == Answer::yes ? std::optional(1.0) : std::nullopt;
  return number(record, value);
}

// Does a subscript of it leave what begins at the corner: `mask[:t, :t]`?
bool is_corner(const Record& record, const Producer& made) {
  const Value index = made.arguments.size() > 1 ? made.arguments[1] : Value{};
  const auto none = [](Value value) { return !value || value.is(values::Kind::none); };
  const auto from_start = [&](const Value& each) {
    if (each.is(values::Kind::none) || each.is(values::Kind::ellipsis)) return true;
    if (!each.is(values::Kind::slice)) return false;
    const auto& slice = *each.as<values::SliceObject>();
    return (none(slice.lower) || record.number(slice.lower) == 0) && none(slice.step);
  };
  return index.is(values::Kind::tuple) && std::ranges::all_of(index.as<values::Tuple>()->items, from_start);
}

// The triangle that the mask is true in, if it is one.
std::optional<Triangle> triangle(const Record& record, const TensorState* mask, int depth = 0) {
  if (!mask || !mask->made || depth > 10) return std::nullopt;
  const Producer& made = *mask->made;
  const std::string_view name = libraries::last_part(made.row->path);
  const TensorState* from = input(made);
  if (name == "tril" || name == "triu") {
    const Value shift = argument(made, "diagonal");
    const auto diagonal = shift ? number(record, shift) : std::optional(0.0);
    const TensorState* full = from ? behind(from, false) : nullptr;
    if (!diagonal || !full || !full->made || filled_with(record, *full->made) != 1.0) return std::nullopt;
    return Triangle{name == "tril", static_cast<std::int64_t>(*diagonal), &made};
  }
  const OpSemantics by = semantics(made);
  if (by == OpSemantics::same || by == OpSemantics::rearranged || name == "expand" || name == "bool" ||
      (by == OpSemantics::picked && is_corner(record, made)))
    return triangle(record, from, depth + 1);
  const bool negates = name == "logical_not" || name == "bitwise_not";
  if (by != OpSemantics::equals && !negates) return std::nullopt;
  const auto found = triangle(record, from, depth + 1);
  if (!found || negates) return found ? std::optional(inverse(*found)) : std::nullopt;
  const auto other = made.arguments.size() > 1 ? number(record, made.arguments[1]) : std::nullopt;
  if (!other || (*other != 0 && *other != 1)) return std::nullopt;
  return (name == "eq") == (*other == 1) ? *found : inverse(*found);
}

bool is_square(const Record& record, const values::Shape& shape) {
  if (!shape.rank_known || shape.dims.size() < 2) return false;
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
    const std::string_view name = libraries::last_part(made.row->path);
    if (name.starts_with("masked_fill") && made.arguments.size() > 2) {
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

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::softmax)) {
    const auto over = dimensions(record, *each.made);
    if (!over || over->size() != 1 || !each.state->shape.rank_known ||
        over->front() + 1 != each.state->shape.dims.size())
      continue;
    const auto hidden = hidden_in(record, *each.made);
    // What stands above the diagonal is left: the future, and for the last position nothing.
    if (!hidden || !hidden->where.lower || hidden->where.diagonal < 0 || !once(hidden->filled->born))
      continue;
    Finding* finding = report.add(Severity::warning, hidden->filled->born, hidden->filled->calls,
        std::string(
            "This hides each position itself and all before it, and leaves what comes after: the last position has nothing left") +
            (hidden->with_infinity ? ", and its softmax is NaN" : "") +
            ". A causal mask hides what comes after: fill where the lower triangle is 0.");
    if (finding) report.relate(*finding, hidden->where.made->born, "the triangle is made here");
  }
}

}  // namespace

extern constexpr Rule masked_rows = complete({
    .id = "attention/masked-rows",
    .severity = Severity::warning,
    .summary = "a triangular mask hides the past instead of the future",
    .why =
        "`tril(ones)` is 1 where a position may look: at itself and what came before. Filled with -inf where it is 1, the scores keep only what comes after. The loss of a language model falls at once, since it sees the token that it is to predict, and the last row is -inf throughout: NaN.",
    .wrong = "mask = torch.tril(torch.ones(t, t))\n"
             "weights = scores.masked_fill(mask == 1, float(\"-inf\")).softmax(dim=-1)\n",
    .right = "mask = torch.tril(torch.ones(t, t))\n"
             "weights = scores.masked_fill(mask == 0, float(\"-inf\")).softmax(dim=-1)\n",
    .silent =
        "Strict masks, which hide a position from itself, too; masks that are not square; masks that are combined with others.",
    .fix = "None: the comparison or the triangle may be what is the wrong way round.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules
