// Layers and functions that change the sizes of images and sequences: interpolation, padding, unfolding into windows.
#include "torch/layer.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::torch {

using symbolic::Answer;
using symbolic::Compare;
using values::Kind;
using values::ProblemKind;

namespace {

// ---------------------------------------------------------------- interpolation

// A factor times a size: whole factors exactly, others only of numbers.
Dim scaled(Op& op, const Dim& size, Value factor) {
  factor = op.run.resolve(factor);
  if (!size.size) return {};
  std::optional<double> number;
  if (factor.is(Kind::real)) number = factor.real();
  else if (factor.is(Kind::integer)) {
    if (const auto known = op.s.value(factor.integer())) number = static_cast<double>(*known);
    else return op.made(op.s.mul(size.size, factor.integer()));
  }
  if (!number || !std::isfinite(*number) || std::abs(*number) > 1e6) return {};
  if (*number == std::floor(*number)) return op.made(op.s.mul(size.size, op.s.constant(static_cast<std::int64_t>(*number))));
  if (const auto known = op.value(size)) return op.made(op.s.constant(static_cast<std::int64_t>(std::floor(static_cast<double>(*known) * *number))));
  const double inverse = 1 / *number;
  if (inverse == std::floor(inverse)) return op.made(op.s.floordiv(size.size, op.s.constant(static_cast<std::int64_t>(inverse))));
  return {};
}

Value interpolate(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const Shape shape = input->shape;
  const Value size = setting(op, "size"), factor = setting(op, "scale_factor");
  const auto mode = setting_text(op, "mode");
  const auto surely = [](Value value) { return value && !value.is(Kind::unknown) && !value.is(Kind::choice); };
  if (surely(size) && surely(factor))
    return op.fail(ProblemKind::argument, called(op) + " takes a size or a scale_factor, not both");
  if (!size && !factor && (!op.call.self.is(Kind::instance) || !op.call.self.as<values::Instance>()->cls))
    return op.fail(ProblemKind::argument, called(op) + " takes a size or a scale_factor, and neither is given");
  if (!shape.rank_known) return op.result({});
  const std::size_t rank = shape.dims.size();
  if (rank < 3 || rank > 5)
    return op.fail(ProblemKind::layer_input, called(op) + " takes 3 to 5 dimensions, [N, C, …], and " + op.name("input") + " is " + op.words(shape));
  if (mode) {
    const std::size_t wants = *mode == "linear" ? 3 : *mode == "bilinear" || *mode == "bicubic" ? 4 : *mode == "trilinear" ? 5 : 0;
    if (wants && rank != wants)
      return op.fail(ProblemKind::layer_input, called(op) + " with mode='" + std::string(*mode) + "' takes " + std::to_string(wants) + " dimensions, and " + op.name("input") + " is " + op.words(shape));
    constexpr std::string_view modes[] = {"nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear"};
    if (std::find(std::begin(modes), std::end(modes), *mode) == std::end(modes))
      return op.fail(ProblemKind::argument, called(op) + " has no mode '" + std::string(*mode) + "'");
  }
  const std::size_t spatial = rank - 2;
  std::vector<Dim> last(spatial);
  if (size) {
    if (size.is(Kind::tuple) || size.is(Kind::list)) {
      const auto items = op.run.elements(size, op.call.place);
      if (items && items->size() != spatial)
        return op.fail(ProblemKind::argument, called(op) + " needs a size for each of the " + count_of(spatial, "spatial dimension") + " of " + op.name("input") + " " + op.words(shape) +
                                                  ", and " + std::to_string(items->size()) + " are given");
      for (std::size_t i = 0; items && i < spatial; ++i)
        if (const Int each = op.run.to_int((*items)[i])) last[i] = op.made(each);
    } else if (size.is(Kind::integer)) {
      for (Dim& dim : last) dim = op.made(size.integer());
    }
  } else if (factor.is(Kind::tuple) || factor.is(Kind::list)) {
    const auto items = op.run.elements(factor, op.call.place);
    if (items && items->size() != spatial)
      return op.fail(ProblemKind::argument, called(op) + " needs a factor for each of the " + count_of(spatial, "spatial dimension") + " of " + op.name("input") + " " + op.words(shape) +
                                                ", and " + std::to_string(items->size()) + " are given");
    for (std::size_t i = 0; items && i < spatial; ++i) last[i] = scaled(op, shape.dims[i + 2], (*items)[i]);
  } else if (factor) {
    for (std::size_t i = 0; i < spatial; ++i) last[i] = scaled(op, shape.dims[i + 2], factor);
  }
  return op.result(with_last(shape, last));
}

// ---------------------------------------------------------------- padding

// Pairs of numbers from the last dimension on.
Value padded(Op& op, std::span<const Int> pads, std::string_view mode) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const std::size_t count = pads.size() / 2;
  if (shape.rank_known && mode != "constant" && (shape.dims.size() < count + 1 || shape.dims.size() > count + 2))
    return op.fail(ProblemKind::layer_input, called(op) + " pads " + count_of(count, "dimension") + " of " +
                                                 std::to_string(count + 1) + " or " + std::to_string(count + 2) + ", and " + op.name("input") + " is " + op.words(shape));
  if (shape.rank_known && shape.dims.size() < count)
    return op.fail(ProblemKind::layer_input, called(op) + " pads " + count_of(count, "dimension") + ", and " + op.name("input") + " is " + op.words(shape));
  std::vector<Dim> last;
  for (std::size_t i = count; i-- > 0;) {
    const Dim size = from_right(shape, i);
    if (!size.size || !pads[2 * i] || !pads[2 * i + 1]) {
      last.emplace_back();
      continue;
    }
    if (mode == "reflect" || mode == "circular")
      for (const Int by : {pads[2 * i], pads[2 * i + 1]})
        if (op.s.compare(mode == "reflect" ? Compare::ge : Compare::gt, by, size.size) == Answer::yes)
          return op.fail(ProblemKind::layer_input, called(op) + " mirrors " + op.words(op.dim(by)) + " values of a dimension of " + op.words(size) + ": " + op.name("input") + " is " + op.words(shape), {size});
    const Int made = op.s.add(size.size, op.s.add(pads[2 * i], pads[2 * i + 1]));
    if (less_than(op, made, 0))
      return op.fail(ProblemKind::layer_input, called(op) + " would leave a size of " + op.words(op.dim(made)) + ": " + op.name("input") + " is " + op.words(shape), {size});
    last.push_back(op.made(made));
  }
  return op.result(with_last(shape, last));
}
template <std::size_t spatial> Value pad_layer(Op& op) {
  const Value given = op.kept("padding");
  const std::string_view cls = op.title();
  const std::string_view mode = cls.find("Reflection") != std::string_view::npos ? "reflect" : cls.find("Replication") != std::string_view::npos ? "replicate"
                                : cls.find("Circular") != std::string_view::npos                                                                  ? "circular"
                                                                                                                                                  : "constant";
  std::vector<Int> pads(2 * spatial);
  if (given.is(Kind::integer)) pads.assign(2 * spatial, given.integer());
  else if (given.is(Kind::tuple) || given.is(Kind::list)) {
    const auto items = torch::sizes(op.run, given, {}, op.call.place);
    if (items && items->size() == 2 * spatial) pads = *items;
    else if (items && mode != "constant")
      return op.fail(ProblemKind::argument, called(op) + " takes " + std::to_string(2 * spatial) + " numbers, and " + std::to_string(items->size()) + " are given");
    else if (items && items->size() % 2 == 0) pads = *items;
    else if (!items) return op.unknown();
  }
  return padded(op, pads, mode);
}
// ---------------------------------------------------------------- windows as columns

// How many places a window has along each axis.
std::optional<std::vector<Int>> places(Op& op, std::span<const Dim> sizes, std::span<const Int> kernel) {
  const auto dilation = setting_axes(op, "dilation", 2), padding = setting_axes(op, "padding", 2), stride = setting_axes(op, "stride", 2);
  if (!dilation || !padding || !stride) return std::nullopt;
  auto& s = op.s;
  std::vector<Int> found;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!sizes[i].size) return std::nullopt;
    const Int reach = s.add(s.mul((*dilation)[i], s.sub(kernel[i], s.constant(1))), s.constant(1));
    const Int span = s.sub(s.add(sizes[i].size, s.mul(s.constant(2), (*padding)[i])), reach);
    found.push_back(s.add(s.floordiv(span, (*stride)[i]), s.constant(1)));
  }
  return found;
}
Value unfold(Op& op) {
  constexpr std::size_t ranks[] = {3, 4};
  const TensorState* input = ranked_input(op, "input", ranks);
  if (!input) return op.unknown();
  const Shape shape = input->shape;
  if (!shape.rank_known) return op.unknown();
  const auto kernel = setting_axes(op, "kernel_size", 2);
  Dim columns, length;
  const Dim channels = from_right(shape, 2), sizes[] = {from_right(shape, 1), from_right(shape, 0)};
  if (kernel) {
    if (channels.size) columns = op.made(op.s.mul(channels.size, op.s.mul((*kernel)[0], (*kernel)[1])));
    if (const auto found = places(op, sizes, *kernel)) {
      for (const Int size : *found)
        if (less_than(op, size, 1))
          return op.fail(ProblemKind::layer_input, called(op) + " has a window of " + op.words(op.dim((*kernel)[0])) + "×" + op.words(op.dim((*kernel)[1])) + " that does not fit into " +
                                                       op.name("input") + " " + op.words(shape));
      length = op.made(op.s.mul((*found)[0], (*found)[1]));
    }
  }
  Shape out{true, {columns, length}};
  if (shape.dims.size() == 4) out.dims.insert(out.dims.begin(), shape.dims[0]);
  return op.result(out);
}
Value fold(Op& op) {
  constexpr std::size_t ranks[] = {2, 3};
  const TensorState* input = ranked_input(op, "input", ranks);
  if (!input) return op.unknown();
  const Shape shape = input->shape;
  if (!shape.rank_known) return op.unknown();
  const auto kernel = setting_axes(op, "kernel_size", 2), wanted = setting_axes(op, "output_size", 2);
  Dim channels, height, width;
  if (wanted) {
    height = op.made((*wanted)[0]);
    width = op.made((*wanted)[1]);
  }
  const Dim columns = from_right(shape, 1), length = from_right(shape, 0);
  if (kernel && columns.size) {
    const Int area = op.s.mul((*kernel)[0], (*kernel)[1]);
    if (op.s.divides(area, columns.size) == Answer::no)
      return op.fail(ProblemKind::layer_input, called(op) + " makes windows of " + op.words(op.dim(area)) + ", which does not divide " + op.words(columns) + ": " + op.name("input") + " is " + op.words(shape), {columns});
    const auto exact = op.s.exact_quotient(columns.size, area);
    channels = op.made(exact ? *exact : op.s.floordiv(columns.size, area));
  }
  if (kernel && wanted) {
    const Dim sizes[] = {height, width};
    if (const auto found = places(op, sizes, *kernel)) {
      const Dim total = op.dim(op.s.mul((*found)[0], (*found)[1]));
      if (op.equal(total, length) == Answer::no)
        return op.fail(ProblemKind::layer_input, called(op) + " needs " + op.words(op.dim((*found)[0])) + "×" + op.words(op.dim((*found)[1])) + " = " + op.words(total) + " windows, and " +
                                                     op.name("input") + " " + op.words(shape) + " has " + op.words(length),
                       {length});
    }
  }
  Shape out{true, {channels, height, width}};
  if (shape.dims.size() == 3) out.dims.insert(out.dims.begin(), shape.dims[0]);
  return op.result(out);
}

constexpr std::string_view sampled = "input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, antialias=False";
constexpr std::string_view windows = "kernel_size, dilation=1, padding=0, stride=1";

constexpr Layer layers[] = {
    {"torch.nn.Upsample", "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None", nullptr, "input", interpolate, Type::input, false},
    {"torch.nn.UpsamplingNearest2d", "size=None, scale_factor=None", nullptr, "input", interpolate, Type::input, false},
    {"torch.nn.UpsamplingBilinear2d", "size=None, scale_factor=None", nullptr, "input", interpolate, Type::input, false},
    {"torch.nn.ZeroPad1d", "padding", nullptr, "input", pad_layer<1>, Type::input, false},
    {"torch.nn.ZeroPad2d", "padding", nullptr, "input", pad_layer<2>, Type::input, false},
    {"torch.nn.ZeroPad3d", "padding", nullptr, "input", pad_layer<3>, Type::input, false},
    {"torch.nn.ConstantPad1d", "padding, value", nullptr, "input", pad_layer<1>, Type::input, false},
    {"torch.nn.ConstantPad2d", "padding, value", nullptr, "input", pad_layer<2>, Type::input, false},
    {"torch.nn.ConstantPad3d", "padding, value", nullptr, "input", pad_layer<3>, Type::input, false},
    {"torch.nn.ReflectionPad1d", "padding", nullptr, "input", pad_layer<1>, Type::input, false},
    {"torch.nn.ReflectionPad2d", "padding", nullptr, "input", pad_layer<2>, Type::input, false},
    {"torch.nn.ReflectionPad3d", "padding", nullptr, "input", pad_layer<3>, Type::input, false},
    {"torch.nn.ReplicationPad1d", "padding", nullptr, "input", pad_layer<1>, Type::input, false},
    {"torch.nn.ReplicationPad2d", "padding", nullptr, "input", pad_layer<2>, Type::input, false},
    {"torch.nn.ReplicationPad3d", "padding", nullptr, "input", pad_layer<3>, Type::input, false},
    {"torch.nn.CircularPad1d", "padding", nullptr, "input", pad_layer<1>, Type::input, false},
    {"torch.nn.CircularPad2d", "padding", nullptr, "input", pad_layer<2>, Type::input, false},
    {"torch.nn.CircularPad3d", "padding", nullptr, "input", pad_layer<3>, Type::input, false},
    {"torch.nn.Unfold", windows, nullptr, "input", unfold, Type::input, false},
    {"torch.nn.Fold", "output_size, kernel_size, dilation=1, padding=0, stride=1", nullptr, "input", fold, Type::input, false},
};
constexpr Operator operators[] = {
    {"interpolate", sampled, "F", interpolate, Type::input},
    {"upsample", "input, size=None, scale_factor=None, mode='nearest', align_corners=None", "F", interpolate, Type::input},
    {"upsample_nearest", "input, size=None, scale_factor=None", "F", interpolate, Type::input},
    {"upsample_bilinear", "input, size=None, scale_factor=None", "F", interpolate, Type::input},
};

} // namespace

std::vector<Row> resizing_rows() { return rows_of(layers, operators); }

} // namespace stepzero::torch
