// attention/mask-polarity: a boolean mask that hides what it is to show, or the other way round: what True
// means differs between the attention functions.
#include "libraries/table/class_roles.hpp"
#include "libraries/table/op.hpp"
#include "rules/attention/masks.hpp"
#include "rules/digits.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::attention::mask_polarity {

using values::code;

namespace {

bool is_layer_of_attention(Value layer) {
  if (!layer.is(values::Kind::instance)) return false;
  const libraries::ClassRole role = libraries::role_of(layer.as<values::Instance>()->native);
  return role == libraries::ClassRole::attention || role == libraries::ClassRole::layer_stack;
}

// Of a call of attention: the parameter of a mask, and whether True in it shows a position, or hides it.
struct MaskParameter {
  std::size_t at = 0;
  std::string_view name;
  bool shows = false;
  bool over_keys = false;  // one row for each sample: of positions, and of no pair of them
};

std::vector<MaskParameter> masks_of(const Producer& made) {
  std::vector<MaskParameter> found;
  const bool attends = semantics(made) == OpSemantics::attended;
  if (!attends && !is_layer_of_attention(made.self)) return found;
  for (std::size_t i = 0; i < made.row->parameters.size() && i < made.states.size(); ++i) {
    const std::string_view name = made.row->parameters[i].text();
    if (made.states[i] && name.ends_with("mask"))
      found.push_back({i, name, attends, name.ends_with("key_padding_mask")});
  }
  return found;
}

std::string where(const Record& record, const PositionMask& mask) {
  if (!mask.number)
    return mask.inverted ? "where the position is not below the length"
                         : "where the position is below the length";
  const TensorState* of = input(*mask.made);
  const std::string_view name = of ? Provenance::of(record).name_of(of) : std::string_view();
  const std::string text = name.empty() ? std::string("the tokens") : code(name);
  return "where " + text + (mask.inverted ? " are not " : " are ") + in_digits(*mask.number);
}

// All that a triangle leaves.
Triangle outside(Triangle of) { return {!of.lower, of.lower ? of.diagonal + 1 : of.diagonal - 1, of.made}; }
// What comes after each position, with or without itself.
bool sees_future_alone(const Triangle& seen) { return !seen.lower && seen.diagonal >= 0; }
std::string side(const Triangle& of) {
  if (of.lower) return of.diagonal >= 0 ? "on and below the diagonal" : "below the diagonal";
  return of.diagonal > 0 ? "above the diagonal" : "on and above the diagonal";
}
std::string what_is_seen(const Triangle& seen) {
  return seen.diagonal > 0 ? "each position sees only what comes after it, and the last one nothing"
                           : "each position sees only itself and what comes after it";
}

// A mask that is added hides what it makes very low, whatever the function.
void look_at_numbers(const Record& record, Report& report, Once& once, const Producer& made,
    const MaskParameter& parameter, const TensorState* mask) {
  const auto hidden = parameter.over_keys ? std::nullopt : hidden_triangle(record, mask);
  if (!hidden || !sees_future_alone(outside(*hidden)) || !once(made.born)) return;
  Finding* finding = report.add(Severity::warning, made.born, made.calls,
      "This " + code(std::string(parameter.name)) + " hides what lies " + side(*hidden) + ": " +
          what_is_seen(outside(*hidden)) +
          ". Hide what lies above the diagonal, as a causal mask does: `triu(…, diagonal=1)`.");
  if (finding) report.relate(*finding, hidden->made->born, "the triangle is made here");
}

void look_at(const Record& record, Report& report, Once& once, const Producer& made) {
  for (const MaskParameter& each : masks_of(made)) {
    const TensorState* mask = made.states[each.at];
    if (mask->poisoned) continue;
    if (values::is_floating(mask->dtype)) {
      look_at_numbers(record, report, once, made, each, mask);
      continue;
    }
    if (mask->dtype != values::Dtype::boolean) continue;
    const std::string means = code(std::string(each.name)) +
        (each.shows ? " is `True` where a position may be attended to"
                    : " is `True` where a position is hidden");
    std::string told;
    Place where_made;
    if (const auto positions = position_mask(record, mask)) {
      // Of positions that equal a number, or follow a length, nobody attends to these alone.
      const bool of_padding = positions->number ? !positions->inverted : positions->inverted;
      if (of_padding != each.shows) continue;
      told = means + ", and this mask is `True` " + where(record, *positions) +
          (each.shows ? ": only these positions are attended to" : ": only the others are attended to") +
          ". Negate the mask.";
      where_made = positions->made->born;
    } else if (const auto half = triangle(record, mask); half && !each.over_keys) {
      const Triangle seen = each.shows ? *half : outside(*half);
      if (!sees_future_alone(seen)) continue;
      told = means + ", and this mask is `True` " + side(*half) + ": " + what_is_seen(seen) +
          (seen.diagonal > 0   ? ". Negate the mask."
                  : each.shows ? ". Show the lower triangle: `tril(…)`."
                               : ". Hide what lies above the diagonal: `triu(…, diagonal=1)`.");
      where_made = half->made->born;
    }
    if (told.empty() || !once(made.born)) continue;
    Finding* finding = report.add(Severity::warning, made.born, made.calls, told);
    if (finding) report.relate(*finding, where_made, "the mask is made here");
  }
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).all()) look_at(record, report, once, *each.made);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "attention/mask-polarity",
    .severity = Severity::warning,
    .summary = "a boolean mask of attention means the opposite of what the function takes it for",
    .why =
        "In `scaled_dot_product_attention` a boolean `attn_mask` is True where a query may look. In `nn.MultiheadAttention` and the Transformer layers, `attn_mask` and `key_padding_mask` are True where it may not. With the wrong one the model attends to the padding, or to the tokens that it is to predict; shapes and types fit, and nothing fails.",
    .wrong = "mask = (tokens == 0)[:, None, None, :]\n"
             "out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)\n",
    .right = "mask = (tokens != 0)[:, None, None, :]\n"
             "out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)\n",
    .silent =
        "Masks of floats that hide no triangle; masks that are combined with others, or come from code that is not seen; masks of a diagonal alone.",
    .fix = "None: the comparison or the call may be the wrong way around.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::attention::mask_polarity
