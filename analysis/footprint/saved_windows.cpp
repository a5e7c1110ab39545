// What operators keep that slide over their input, or gather parts of it.
#include "footprint/saving_kinds.hpp"

#include <cmath>

namespace stepzero::footprint {

using values::Kind;

namespace {

// The setting's value for one of so many axes: a number for all, or one for each.
Int of_axis(const Keeper& keeper, std::string_view name, std::size_t axis, std::int64_t otherwise) {
  Value value = keeper.option(name);
  if (value.is(Kind::tuple) || value.is(Kind::list)) {
    const auto& items = value.is(Kind::tuple) ? value.as<values::Tuple>()->items
                                              : values::Heap::list_state(value)->items;
    if (axis >= items.size()) return items.size() == 1 ? of_axis(keeper, name, 0, otherwise) : nullptr;
    value = decided(keeper.graph.record(), items[axis]);
  }
  return value.is(Kind::integer) ? value.integer() : value ? nullptr : keeper.s.constant(otherwise);
}

// The input's shape with what a layer puts around it; nullopt: the convolution does that itself.
std::optional<Shape> padded_shape(const Keeper& keeper, const TensorState& input, std::size_t axes) {
  symbolic::Context& s = keeper.s;
  const Value mode = keeper.option("padding_mode"), padding = keeper.option("padding");
  const bool by_itself = !mode.is(Kind::string) || mode.text() == "zeros";
  const bool same = padding.is(Kind::string) && padding.text() == "same";
  if (by_itself && !same) return std::nullopt;
  Shape shape = input.shape;
  bool is_odd = false, any = false;
  for (std::size_t i = 0; i < axes; ++i) {
    values::Dim& dim = shape.dims[shape.dims.size() - axes + i];
    Int around = nullptr;
    if (same) {
      const Int kernel = of_axis(keeper, "kernel_size", i, 1), dilation = of_axis(keeper, "dilation", i, 1);
      around = kernel && dilation ? s.mul(dilation, s.sub(kernel, s.constant(1))) : nullptr;
      const auto known = around ? s.value(around) : std::nullopt;
      is_odd = is_odd || !known || *known % 2 != 0;
    } else if (!padding.is(Kind::string)) {
      const Int each = of_axis(keeper, "padding", i, 0);
      around = each ? s.mul(each, s.constant(2)) : nullptr;
    } else {
      around = s.constant(0);
    }
    any = any || !around || s.value(around) != 0;
    dim.size = dim.size && around ? s.add(dim.size, around) : nullptr;
  }
  // As much on both sides is what the kernel can do.
  if (by_itself && !is_odd) return std::nullopt;
  return any ? std::optional(shape) : std::nullopt;
}

}  // namespace

void keep_convolved(Keeper& keeper) {
  const TensorState* input = keeper.tensor("input");
  if (!input) return keeper.unknown();
  const std::size_t axes = keeper.name.find("1d") != std::string_view::npos ? 1
      : keeper.name.find("2d") != std::string_view::npos                    ? 2
                                                                            : 3;
  const auto padded = input->shape.ndim_known && input->shape.dims.size() > axes
      ? padded_shape(keeper, *input, axes)
      : std::nullopt;
  if (!padded) {
    keeper.operand("input");
  } else {
    // What reflects or repeats is asked for its size; all of it is copied.
    const Value mode = keeper.option("padding_mode");
    if (mode.is(Kind::string) && (mode.text() == "reflect" || mode.text() == "replicate") &&
        keeper.graph.requires_grad(*input))
      keeper.keep_as_is(*input);
    keeper.extra(elements(keeper.s, *padded), keeper.dtype(), "padded input");
  }
  keeper.operand("weight");
}

// Local response normalization: an average over neighboring channels of the squares, a power of it, and a
// division.
void keep_across_channels(Keeper& keeper) {
  const TensorState* input = keeper.first();
  const Int size = keeper.size("size");
  if (!input || !input->shape.ndim_known || input->shape.dims.size() < 2 || !size) return keeper.unknown();
  symbolic::Context& s = keeper.s;
  keeper.operand("input");
  Shape padded = input->shape;
  Int& channels = padded.dims[1].size;
  channels = channels ? s.add(channels, s.sub(size, s.constant(1))) : nullptr;
  keeper.extra(elements(s, padded), keeper.dtype(), "padded squares");
  for (const char* what : {"averages", "divisor"})
    keeper.extra(elements(s, input->shape), keeper.dtype(), what);
}

// Pooling by a norm: an average of powers, and of each average its sign, its size, their product and what a
// root is taken of.
void keep_powers(Keeper& keeper) {
  const TensorState* input = keeper.first();
  const auto norm = keeper.number("norm_type");
  if (!input || !norm || std::isinf(*norm)) return keeper.unknown();
  keeper.operand("input");
  keeper.extra(elements(keeper.s, input->shape), keeper.dtype(*input), "powers");
  for (const char* what : {"averages", "signs", "sizes", "sums"})
    keeper.extra(elements(keeper.s, keeper.result().shape), keeper.dtype(), what);
}

// Bags of embeddings: their indices, where each bag begins, how large it is, and for an average to which bag
// each index belongs; of a maximum which row each number came from.
void keep_bags(Keeper& keeper) {
  const bool is_layer = keeper.name == "EmbeddingBag";
  const TensorState *rows = keeper.tensor("input"), *offsets = keeper.tensor("offsets");
  if (!rows) return keeper.unknown();
  symbolic::Context& s = keeper.s;
  const Int numbers = elements(s, rows->shape);
  const bool is_matrix = rows->shape.ndim_known && rows->shape.dims.size() == 2;
  const Int bags = is_matrix                                                    ? rows->shape.dims[0].size
      : offsets && offsets->shape.ndim_known && offsets->shape.dims.size() == 1 ? offsets->shape.dims[0].size
                                                                                : nullptr;
  const Value mode = keeper.option("mode");
  const std::string_view how = mode.is(Kind::string) ? mode.text() : std::string_view("mean");
  if (is_layer && keeper.option("per_sample_weights")) keeper.unknown();
  if (keeper.tensor("per_sample_weights")) keeper.unknown();
  keeper.keep(*rows);
  if (offsets && !is_matrix)
    keeper.keep(*offsets);
  else
    keeper.extra(bags, Dtype::int64, "where each bag begins");
  keeper.extra(bags, Dtype::int64, "sizes of the bags");
  if (how != "sum" || keeper.device == Device::cuda)
    keeper.extra(numbers ? s.add(numbers, s.constant(1)) : nullptr, Dtype::int64, "bag of each index");
  keeper.extra(how == "max" ? elements(s, keeper.result().shape) : bags, Dtype::int64, "largest rows");
}

}  // namespace stepzero::footprint
