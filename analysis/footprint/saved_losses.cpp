// What losses and distances keep, as recorded from PyTorch 2.13.
#include "footprint/saving_kinds.hpp"
#include "footprint/strides.hpp"

#include <algorithm>

namespace stepzero::footprint {

using values::Kind;

void keep_logs(Keeper& keeper) {
  const TensorState* input = keeper.first();
  if (!input) return keeper.unknown();
  const Int count = elements(keeper.s, input->shape);
  // On a GPU autocast raises not the whole, but the second of its two parts, which gets what the first one
  // made.
  if (const Dtype own = keeper.dtype(*input);
      keeper.device == Device::cuda && keeper.result().cast_by && is_half(own))
    keeper.extra(count, own, "logarithms in half precision");
  keeper.extra(count, keeper.dtype() == Dtype::unknown ? keeper.dtype(*input) : keeper.dtype(),
      "logarithms of the probabilities");
}
// Of scores with one more dimension than usual, or several, a loss puts the target in order first.
void keep_classes(Keeper& keeper) {
  const TensorState *scores = keeper.first(), *target = keeper.tensor("target");
  if (!target) return;
  const bool is_distribution = values::is_floating(keeper.dtype(*target));
  const auto smoothing = keeper.option("label_smoothing") ? keeper.number("label_smoothing")
                                                          : std::optional(0.0);
  const bool smooths = !smoothing || *smoothing > 0;
  const std::size_t rank = scores && scores->shape.ndim_known ? scores->shape.dims.size() : 0;
  if (!is_distribution && (rank == 3 || rank > 4) && !in_order(keeper.graph.record(), *target, keeper.device))
    keeper.extra(elements(keeper.s, target->shape), keeper.dtype(*target), "target in order");
  else if (!is_distribution || !smooths)
    keeper.operand("target");
  else
    keeper.extra(elements(keeper.s, target->shape), keeper.dtype(*target), "smoothed target");
  const TensorState* weight = keeper.tensor("weight");
  if (weight) keeper.keep(*weight);
  if (is_distribution) return;
  if (!smooths) return;
  keeper.extra(elements(keeper.s, target->shape), Dtype::boolean, "what is ignored");
  // A mean divides by how many there are, or by their weights.
  if (const Value reduction = keeper.option("reduction");
      !reduction.is(Kind::string) || reduction.text() == "mean")
    keeper.extra(keeper.s.constant(1), weight ? keeper.dtype() : Dtype::int64, "divisor");
}
void keep_difference(Keeper& keeper) {
  const TensorState *input = keeper.first(), *target = keeper.tensor("target");
  if (!input || !target) return keeper.unknown();
  const Dtype own = keeper.dtype(*input);
  keeper.extra(elements(keeper.s, input->shape),
      keeper.result().cast_by && is_half(own) && keeper.device == Device::cuda ? Dtype::float32 : own,
      "difference");
}
void keep_total(Keeper& keeper) {
  if (const TensorState* target = keeper.tensor("target");
      !target || !values::is_floating(keeper.dtype(*target)))
    keeper.extra(keeper.s.constant(1), keeper.dtype(), "total weight");
}

// As many numbers as the input has.
void keep_another(Keeper& keeper) {
  const TensorState* input = keeper.first();
  if (!input) return keeper.unknown();
  keeper.extra(elements(keeper.s, input->shape), keeper.dtype(*input), "as many as the input");
}

// The target, by which the input is multiplied, or what a logarithm of it stands for. That of a target which
// has a gradient of its own is not followed.
void keep_divergence(Keeper& keeper) {
  const TensorState* target = keeper.tensor("target");
  if (!target || keeper.graph.requires_grad(*target)) return keeper.unknown();
  if (keeper.flag("log_target"))
    keeper.extra(elements(keeper.s, target->shape), keeper.dtype(*target), "exponential of the target");
  else
    keeper.keep(*target);
}

namespace {
Int numbers_in_rows(const Keeper& keeper, const TensorState& of) {
  const auto& dims = of.shape.dims;
  if (!of.shape.ndim_known || dims.empty()) return nullptr;
  return elements(keeper.s, Shape{true, std::vector(dims.begin(), dims.end() - 1)});
}
Int size_along(const Keeper& keeper, const TensorState& of) {
  const auto& dims = of.shape.dims;
  const auto given = keeper.number("dim");
  const auto rank = static_cast<std::int64_t>(of.shape.ndim_known ? dims.size() : 0);
  std::int64_t at = keeper.option("dim") ? (given ? static_cast<std::int64_t>(*given) : rank) : 1;
  if (at < 0) at += rank;
  return at >= 0 && at < rank ? dims[static_cast<std::size_t>(at)].size : nullptr;
}
// The largest of a tensor of integers, where it is known.
Int largest(const Keeper& keeper, const TensorState* of) {
  symbolic::Context& s = keeper.s;
  const values::Content* content = of ? keeper.graph.record().heap.content_of(*of) : nullptr;
  if (content && !content->numbers.empty()) {
    std::int64_t most = 0;
    for (const values::Number& each : content->numbers) {
      const auto known = each.integer ? s.value(each.integer) : std::nullopt;
      if (!known) return nullptr;
      most = std::max(most, *known);
    }
    return s.constant(most);
  }
  // torch.full((B,), 3)
  if (const Value filled = of && of->made ? decided(keeper.graph.record(), argument(*of->made, "fill_value"))
                                          : Value{};
      filled.is(Kind::integer))
    return filled.integer();
  const values::Extent* extent = of ? of->extent : nullptr;
  return extent && extent->low && (extent->low == extent->high || extent->met) && s.value(extent->low)
      ? extent->high
      : nullptr;
}
}  // namespace

// Of connectionist temporal classification: for each step the probability of each place in the target, which
// has a blank around each of its words.
void keep_alignments(Keeper& keeper) {
  const TensorState *logs = keeper.first(), *lengths = keeper.tensor("target_lengths");
  for (const char* what : {"log_probs", "targets"}) keeper.operand(what);
  symbolic::Context& s = keeper.s;
  const Int longest = largest(keeper, lengths);
  if (!logs || !logs->shape.ndim_known || logs->shape.dims.size() != 3 || !longest) return keeper.unknown();
  const Int steps = logs->shape.dims[0].size, batch = logs->shape.dims[1].size;
  const Int places = s.add(s.mul(longest, s.constant(2)), s.constant(1));
  keeper.extra(
      steps && batch ? s.mul(s.mul(steps, batch), places) : nullptr, keeper.dtype(*logs), "alignments");
  keeper.extra(batch, keeper.dtype(*logs), "loss of each");
  if (const Value reduction = keeper.option("reduction");
      !reduction.is(Kind::string) || reduction.text() == "mean")
    keeper.extra(batch, keeper.dtype(*logs), "lengths");
  if (keeper.flag("zero_infinity")) keeper.extra(batch, Dtype::boolean, "which is finite");
}

// A cosine divides both operands by their lengths. For the gradient of one: it, its length as it is and as it
// divides, and the other one divided.
void keep_angle(Keeper& keeper) {
  const auto all = keeper.tensors();
  const bool is_loss = keeper.name.find("mbedding") != std::string_view::npos;
  if (all.size() < 2 || !all[0] || !all[1]) return keeper.unknown();
  symbolic::Context& s = keeper.s;
  const Int rows = is_loss ? numbers_in_rows(keeper, *all[0]) : elements(s, keeper.result().shape);
  const Int length = size_along(keeper, *all[0]);
  const Int numbers = rows && length ? s.mul(rows, length) : nullptr;
  if (is_loss) {
    // Sums of products, and which target each row has.
    for (std::size_t at = 0; at < 2; ++at) keeper.keep(*all[at]);
    for (int i = 0; i < 5; ++i) keeper.extra(rows, keeper.dtype(*all[0]), "sums of rows");
    for (int i = 0; i < 2; ++i) keeper.extra(rows, Dtype::boolean, "which target");
    return;
  }
  for (std::size_t at = 0; at < 2; ++at) {
    if (!keeper.graph.requires_grad(*all[at])) continue;
    keeper.keep(*all[at]);
    keeper.extra(numbers, keeper.dtype(), "the other one divided by its length");
    for (const char* what : {"length", "length that divides"}) keeper.extra(rows, keeper.dtype(), what);
  }
}

// (input - target) ** 2 / var, and log(var).
void keep_variance(Keeper& keeper) {
  const TensorState *input = keeper.first(), *var = keeper.tensor("var");
  if (!input || !var || keeper.flag("full")) return keeper.unknown();
  const Int numbers = elements(keeper.s, input->shape);
  keeper.extra(numbers, keeper.dtype(*input), "difference");
  keeper.extra(elements(keeper.s, var->shape), keeper.dtype(*var), "variance");
  if (keeper.graph.requires_grad(*var)) keeper.extra(numbers, keeper.dtype(*input), "squared difference");
}

void keep_ones_of_targets(Keeper& keeper) {
  const TensorState* input = keeper.first();
  if (!input) return keeper.unknown();
  for (int i = 0; i < 2; ++i) keeper.extra(elements(keeper.s, input->shape), Dtype::boolean, "which target");
}

// Of an anchor to two others: both differences with their lengths, and what is clamped.
void keep_distances(Keeper& keeper) {
  const TensorState* anchor = keeper.first();
  if (!anchor || keeper.flag("swap")) return keeper.unknown();
  const Int numbers = elements(keeper.s, anchor->shape), rows = numbers_in_rows(keeper, *anchor);
  for (int i = 0; i < 2; ++i) {
    keeper.extra(numbers, keeper.dtype(*anchor), "difference");
    keeper.extra(rows, keeper.dtype(*anchor), "length");
  }
  keeper.extra(rows, keeper.dtype(*anchor), "what is clamped");
}

}  // namespace stepzero::footprint
