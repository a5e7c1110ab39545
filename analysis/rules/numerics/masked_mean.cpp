// numerics/masked-mean: a mean over the positions of a mask that is divided by the positions of the whole
// batch.
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::numerics::masked_mean {

namespace {

// Back through what leaves a count as it is, but for a bound from below: `.clamp(min=1)`, `+ 1e-9`.
const TensorState* count_of(const Record& record, const TensorState* state) {
  constexpr int most_between = 6;  // operations from the sum to the division
  for (int i = 0; state && state->made && i < most_between; ++i) {
    const Producer& made = *state->made;
    switch (semantics(made)) {
    case OpSemantics::same:
    case OpSemantics::rearranged:
    case OpSemantics::bounded: state = input(made); break;
    case OpSemantics::add:
      if (!number(record, made.arguments.size() > 1 ? made.arguments[1] : Value{})) return state;
      state = input(made);
      break;
    default: return state;
    }
  }
  return state;
}

// What is added up, where all of it is.
const TensorState* added_up(const Record& record, const TensorState* count) {
  if (!count || !count->made || semantics(*count->made) != OpSemantics::sum) return nullptr;
  const TensorState* all = input(*count->made);
  const auto over = dimensions(record, *count->made);
  return all && all->shape.ndim_known && over && over->size() == all->shape.dims.size() ? all : nullptr;
}

// Is it the mask, in another shape perhaps?
bool is_mask_of(const TensorState* state, const TensorState* mask) {
  return state && state->requires_grad == values::Known::no && comes_from(state, source_of(mask));
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::div)) {
    const TensorState *sum = count_of(record, input(*each.made, 0)),
                      *count = count_of(record, input(*each.made, 1));
    const TensorState* mask = added_up(record, count);
    // One number for each sample may be added up over the batch later: a loss by the number of all tokens.
    constexpr std::size_t features = 2;  // dimensions of what is left: [batch, features]
    if (!mask || mask->shape.dims.size() < 2 || !sum || !sum->made ||
        semantics(*sum->made) != OpSemantics::sum || !sum->shape.ndim_known ||
        sum->shape.dims.size() < features)
      continue;
    const auto over = dimensions(record, *sum->made);
    const TensorState* weighted = source_of(input(*sum->made), false);
    if (!over || over->empty() || std::ranges::find(*over, 0U) != over->end() || !weighted ||
        !weighted->made || semantics(*weighted->made) != OpSemantics::mul ||
        (!is_mask_of(input(*weighted->made, 0), mask) && !is_mask_of(input(*weighted->made, 1), mask)) ||
        !once(each.made->born))
      continue;
    Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
        "The sum of each sample is divided by the number of positions of the whole batch: the mean of a sample depends on how many others come with it. Count along the same "
        "dimension that is summed, with `keepdim=True` where it is broadcast.");
    if (finding) report.relate(*finding, count->made->born, "all positions of the batch are counted here");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "numerics/masked-mean",
    .severity = Severity::warning,
    .summary = "a masked mean of each sample is divided by the count of the whole batch",
    .why =
        "`mask.sum()` without a dimension counts the positions of all samples. The pooled vectors come out smaller by about the size of the batch, another batch "
        "size gives other features, and a model that was trained with 32 samples sees vectors that are 32 times as long when it is asked for one.",
    .wrong = "pooled = (hidden * mask.unsqueeze(-1)).sum(1) / mask.sum()\n",
    .right = "pooled = (hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)\n",
    .silent =
        "Sums over the batch as well, such as a loss by the number of all tokens; sums of each sample that leave one number, which may be added up later; counts that are "
        "not of the mask that the sum is weighted by.",
    .fix = "None: which dimension is meant, and whether it is kept, is not known.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::numerics::masked_mean
