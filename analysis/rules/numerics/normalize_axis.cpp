// numerics/normalize-axis: vectors that are made of length 1 along another dimension than the one that their
// product sums over.
#include "libraries/torch/meaning/op_form.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::numerics::normalize_axis {

using libraries::OpForm;
using values::code;

namespace {

// What made the operand of length 1, and along which of the operand's dimensions.
struct Unit {
  const Producer* made = nullptr;
  std::size_t axis = 0;
};

// Of what is not known to be otherwise the operands are matrices.
std::size_t ndim_of(const values::Shape& shape) { return shape.ndim_known ? shape.dims.size() : 2; }

// Does it swap the last two dimensions, and nothing else?
bool swaps_last(const Record& record, const Producer& made) {
  const OpForm form = libraries::form_of(*made.row);
  const TensorState* from = input(made);
  if (!from) return false;
  const auto ndim = static_cast<double>(ndim_of(from->shape));
  if (form == OpForm::swaps_last || (form == OpForm::swaps_both && ndim == 2)) return true;
  if (form != OpForm::swaps_given || made.arguments.size() < 3) return false;
  auto one = number(record, made.arguments[1]), other = number(record, made.arguments[2]);
  if (!one || !other) return false;
  for (auto* each : {&one, &other}) **each += **each < 0 ? ndim : 0;
  return std::min(*one, *other) == ndim - 2 && std::max(*one, *other) == ndim - 1;
}

// No tensor, or one without dimensions.
bool is_number(const TensorState* state) {
  return !state || (state->shape.ndim_known && state->shape.dims.empty());
}

// The dimension along which it normalizes, counted from the left.
std::optional<std::size_t> normalized_along(const Record& record, const Producer& made) {
  const Value dim = argument(made, "dim");
  const TensorState* of = input(made);
  const auto at = dim ? number(record, dim) : std::optional(1.0);
  if (!of || !at || (*at < 0 && !of->shape.ndim_known)) return std::nullopt;
  return static_cast<std::size_t>(*at < 0 ? *at + static_cast<double>(of->shape.dims.size()) : *at);
}

std::optional<Unit> unit_of(const Record& record, const TensorState* operand) {
  constexpr int longest_way = 8;  // operations back: what is normalized stands near
  bool swapped = false;
  for (int way = 0; operand && operand->made && way < longest_way; ++way) {
    const Producer& made = *operand->made;
    const std::size_t ndim = ndim_of(operand->shape);
    switch (semantics(made)) {
    case OpSemantics::unit_rows: {
      // Lengths by another norm are shares, which are used otherwise.
      const Value p = argument(made, "p");
      const auto over = normalized_along(record, made);
      if ((p && number(record, p) != 2.0) || !over || *over >= ndim) return std::nullopt;
      std::size_t axis = *over;
      if (swapped && axis + 2 >= ndim) axis = axis + 1 == ndim ? ndim - 2 : ndim - 1;
      return Unit{&made, axis};
    }
    case OpSemantics::same: break;
    case OpSemantics::mul:
    case OpSemantics::div: {
      // By a number, such as a temperature.
      const bool second = is_number(input(made, 1)), first = is_number(input(made, 0));
      if (!second && !first) return std::nullopt;
      operand = input(made, second ? 0 : 1);
      continue;
    }
    case OpSemantics::reordered:
      if (!swaps_last(record, made)) return std::nullopt;
      swapped = !swapped;
      break;
    default: return std::nullopt;
    }
    operand = input(made);
  }
  return std::nullopt;
}

void look_at(const Record& record, Report& report, Once& once, const Producer& product) {
  const TensorState *left = input(product, 0), *right = input(product, 1);
  if (!left || !right || ndim_of(left->shape) < 2 || ndim_of(right->shape) < 2) return;
  const auto first = unit_of(record, left), second = unit_of(record, right);
  if (!first || !second) return;
  const std::size_t ndim = ndim_of(right->shape);
  const std::size_t summed[] = {
      ndim_of(left->shape) - 1, semantics(product) == OpSemantics::linear ? ndim - 1 : ndim - 2};
  for (const auto& [unit, along] : {std::pair(*first, summed[0]), std::pair(*second, summed[1])}) {
    if (unit.axis == along || !once(unit.made->born)) continue;
    const std::size_t own = *normalized_along(record, *unit.made);
    Finding* finding = report.add(Severity::warning, unit.made->born, unit.made->calls,
        "This normalizes vectors along dimension " + std::to_string(own) +
            (own == 0 ? ", over the batch" : "") +
            ", and the product sums over another dimension: its results are not cosines. Normalize along the features: " +
            code("dim=-1") + ".");
    if (finding) report.relate(*finding, product.born, "the product");
  }
}

void check(const Record& record, Report& report) {
  Once once;
  for (const OpSemantics by : {OpSemantics::product, OpSemantics::linear})
    for (const Origin& each : Provenance::of(record).of_semantics(by))
      if (libraries::form_of(*each.made->row) != OpForm::by_pattern)
        look_at(record, report, once, *each.made);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "numerics/normalize-axis",
    .severity = Severity::warning,
    .summary = "vectors are normalized along another dimension than their product sums over",
    .why =
        "`F.normalize` works along dimension 1 unless it is told otherwise. Of embeddings `[B, T, D]` that is the time, with `dim=0` it is the batch: the products are then no cosine similarities, they depend on the other samples, and a temperature or margin that is made for numbers between -1 and 1 does not fit.",
    .wrong = "q = F.normalize(q, dim=0)  # [B, D]\n"
             "k = F.normalize(k, dim=0)\n"
             "logits = q @ k.T / 0.07\n",
    .right = "q = F.normalize(q, dim=-1)\n"
             "k = F.normalize(k, dim=-1)\n"
             "logits = q @ k.T / 0.07\n",
    .silent =
        "Products of which one side alone is normalized, as by the columns of an adjacency matrix; other norms than the second; features that are transposed first, and so attend to each other.",
    .fix = "None: which dimension holds the features is not written down.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::numerics::normalize_axis
