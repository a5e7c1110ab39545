// Layers and functions that change the sizes of images and sequences: interpolation, padding, unfolding into
// windows.
#include "libraries/torch/nn/layer.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- interpolation

// A factor times a size: whole factors exactly, others only of numbers.
Dim scaled(Op& op, const Dim& size, Value factor) {
  factor = op.run.resolve(factor);
  if (!size.size) return {};
  std::optional<double> number;
  if (factor.is(Kind::real))
    number = factor.real();
  else if (factor.is(Kind::integer)) {
    if (const auto known = op.s.value(factor.integer()))
      number = static_cast<double>(*known);
    else
      return op.made(op.s.mul(size.size, factor.integer()));
  }
  if (!number || !std::isfinite(*number) || std::abs(*number) > 1e6) return {};
  if (*number == std::floor(*number))
    return op.made(op.s.mul(size.size, op.s.constant(static_cast<std::int64_t>(*number))));
  if (const auto known = op.value(size))
    return op.made(
        op.s.constant(static_cast<std::int64_t>(std::floor(static_cast<double>(*known) * *number))));
  const double inverse = 1 / *number;
  if (inverse == std::floor(inverse))
    return op.made(op.s.floordiv(size.size, op.s.constant(static_cast<std::int64_t>(inverse))));
  return {};
}

Value interpolate(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const Shape shape = input->shape;
  const Value size = setting(op, "size"), factor = setting(op, "scale_factor");
  const auto mode = setting_text(op, "mode");
  const auto surely = [](Value value) {
    return value && !value.is(Kind::unknown) && !value.is(Kind::choice);
  };
  if (surely(size) && surely(factor))
    return op.fail(ProblemKind::argument, why<Reason::size_and_scale>(op.taker()));
  if (!size && !factor && (!op.call.self.is(Kind::instance) || !op.call.self.as<Instance>()->cls))
    return op.fail(ProblemKind::argument, why<Reason::no_size_or_scale>(op.taker()));
  if (!shape.ndim_known) return op.result({});
  const std::size_t rank = shape.dims.size();
  if (rank < 3 || rank > 5)
    return op.refuse_shape(ProblemKind::layer_input, ShapeNeed::between(3, 5), "input");
  if (mode) {
    const std::size_t wants = *mode == "linear"     ? 3
        : *mode == "bilinear" || *mode == "bicubic" ? 4
        : *mode == "trilinear"                      ? 5
                                                    : 0;
    if (wants && rank != wants)
      return op.fail(ProblemKind::layer_input,
          why<Reason::mode_dimensions>(op.taker(), *mode, wants, op.name("input"), shape));
    constexpr std::string_view modes[] = {
        "nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear"};
    if (std::find(std::begin(modes), std::end(modes), *mode) == std::end(modes))
      return op.fail(ProblemKind::argument,
          interpreter::NoSuchOption{
              op.taker(), "mode", {std::begin(modes), std::end(modes)}, std::string(*mode)});
  }
  const std::size_t spatial = rank - 2;
  std::vector<Dim> last(spatial);
  if (size) {
    if (size.is(Kind::tuple) || size.is(Kind::list)) {
      const auto items = op.run.elements(size, op.call.place);
      if (items && items->size() != spatial)
        return op.fail(ProblemKind::argument,
            interpreter::NotOneEach{op.taker(), "a size", op.dim(static_cast<std::int64_t>(spatial)),
                "spatial dimensions", {op.name("input"), shape}, {},
                op.dim(static_cast<std::int64_t>(items->size()))});
      for (std::size_t i = 0; items && i < spatial; ++i)
        if (const Int each = op.run.to_int((*items)[i])) last[i] = op.made(each);
    } else if (size.is(Kind::integer)) {
      for (Dim& dim : last) dim = op.made(size.integer());
    }
  } else if (factor.is(Kind::tuple) || factor.is(Kind::list)) {
    const auto items = op.run.elements(factor, op.call.place);
    if (items && items->size() != spatial)
      return op.fail(ProblemKind::argument,
          interpreter::NotOneEach{op.taker(), "a factor", op.dim(static_cast<std::int64_t>(spatial)),
              "spatial dimensions", {op.name("input"), shape}, {},
              op.dim(static_cast<std::int64_t>(items->size()))});
    for (std::size_t i = 0; items && i < spatial; ++i) last[i] = scaled(op, shape.dims[i + 2], (*items)[i]);
  } else if (factor) {
    for (std::size_t i = 0; i < spatial; ++i) last[i] = scaled(op, shape.dims[i + 2], factor);
  }
  return op.result(with_last(shape, last));
}

// ---------------------------------------------------------------- rows

constexpr std::string_view sampled =
    "input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, antialias=False";

constexpr Layer resizing_layers[] = {
    {"torch.nn.Upsample",
        "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None",
        nullptr, "input", interpolate, Type::input, false},
    {"torch.nn.UpsamplingNearest2d", "size=None, scale_factor=None", nullptr, "input", interpolate,
        Type::input, false},
    {"torch.nn.UpsamplingBilinear2d", "size=None, scale_factor=None", nullptr, "input", interpolate,
        Type::input, false},
};
constexpr Operator resizing_operators[] = {
    {"interpolate", sampled, "F", interpolate, Type::input},
    {"upsample", "input, size=None, scale_factor=None, mode='nearest', align_corners=None", "F", interpolate,
        Type::input},
    {"upsample_nearest", "input, size=None, scale_factor=None", "F", interpolate, Type::input},
    {"upsample_bilinear", "input, size=None, scale_factor=None", "F", interpolate, Type::input},
};

}  // namespace

std::vector<Row> resizing_rows() { return rows_of(resizing_layers, resizing_operators); }

}  // namespace stepzero::libraries
