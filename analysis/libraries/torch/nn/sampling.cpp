// Images read at the points of a grid, and the grids of affine maps.
#include "libraries/table/names.hpp"
#include "libraries/torch/ops/operators.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

bool among(std::string_view word, std::initializer_list<std::string_view> known) {
  return std::find(known.begin(), known.end(), word) != known.end();
}

// input [N, C, H, W] at grid [N, h, w, 2]: [N, C, h, w]. With a third spatial dimension the points have three
// coordinates.
Value grid_sample(Op& op) {
  const TensorState *input = op.expect("input"), *grid = op.expect("grid");
  if (!input || !grid) return op.unknown();
  const auto refuse = [&](interpreter::Refusal refusal, std::initializer_list<Dim> because = {}) {
    return op.fail(ProblemKind::argument, std::move(refusal), because);
  };
  const Shape &x = input->shape, &g = grid->shape;
  if (const auto mode = op.text("mode"); mode && !among(*mode, {"bilinear", "nearest", "bicubic"}))
    return op.refuse_option("mode", {"bilinear", "nearest", "bicubic"}, *mode);
  if (const auto mode = op.text("padding_mode"); mode && !among(*mode, {"zeros", "border", "reflection"}))
    return op.refuse_option("padding_mode", {"zeros", "border", "reflection"}, *mode);
  if (x.ndim_known && x.dims.size() != 4 && x.dims.size() != 5)
    return refuse(
        interpreter::WrongLayout{op.taker(), {"[N, C, H, W]", "[N, C, D, H, W]"}, op.name("input"), x});
  if (x.ndim_known && g.ndim_known && x.dims.size() != g.dims.size())
    return refuse(interpreter::ShapesApart{
        interpreter::ShapesApart::dimensions, op.taker(), {{op.name("input"), x}, {op.name("grid"), g}}});
  if (x.ndim_known && x.dims.size() == 5 && op.text("mode") == "bicubic")
    return refuse(why<Reason::bicubic_dimensions>(op.name("input"), x));
  if (is_integral(input->dtype)) return op.refuse_dtype(DtypeNeed::floats, "input");
  if (input->dtype != Dtype::unknown && grid->dtype != Dtype::unknown && input->dtype != grid->dtype &&
      !op.run.casting())
    return op.refuse_dtypes("input", "grid");
  const std::size_t rank = x.ndim_known ? x.dims.size() : g.ndim_known ? g.dims.size() : 0;
  if (rank != 4 && rank != 5) return op.result({}, input->dtype);
  if (x.ndim_known && g.ndim_known && op.equal(x.dims[0], g.dims[0]) == Answer::no)
    return refuse(why<Reason::grid_batch>(x, g), {x.dims[0], g.dims[0]});
  if (g.ndim_known && op.equal(g.dims.back(), static_cast<std::int64_t>(rank - 2)) == Answer::no)
    return refuse(why<Reason::grid_points>(rank - 2, op.name("grid"), g), {g.dims.back()});
  for (std::size_t i = 2; x.ndim_known && i < rank; ++i)
    if (op.value(x.dims[i]) == 0) return refuse(why<Reason::nothing_to_sample>(op.name("input"), x));
  Shape out{true, std::vector<Dim>(rank)};
  if (x.ndim_known)
    out.dims[0] = g.ndim_known ? op.better(x.dims[0], g.dims[0]) : x.dims[0];
  else
    out.dims[0] = g.dims[0];
  if (x.ndim_known) out.dims[1] = x.dims[1];
  for (std::size_t i = 2; g.ndim_known && i < rank; ++i) out.dims[i] = g.dims[i - 1];
  return op.result(out, input->dtype);
}

// theta [N, 2, 3] and size (N, C, H, W): [N, H, W, 2].
Value affine_grid(Op& op) {
  const TensorState* theta = op.expect("theta");
  // A sequence, of which nothing may be known.
  const auto size = op.argument("size").is(values::Kind::unknown) ? std::nullopt : op.sizes("size");
  if (!theta) return op.unknown();
  if (is_integral(theta->dtype)) return op.refuse_dtype(DtypeNeed::floats, "theta");
  if (!size) return op.result({}, theta->dtype);
  const std::size_t rank = size->size();
  Shape wanted{true, {}};
  for (const Int each : *size) wanted.dims.push_back(each ? op.made(each) : Dim{});
  if (rank != 4 && rank != 5) return op.fail(ProblemKind::argument, why<Reason::affine_size>(wanted));
  const auto spatial = static_cast<std::int64_t>(rank - 2);
  const Shape& t = theta->shape;
  if (t.ndim_known &&
      (t.dims.size() != 3 || op.equal(t.dims[1], spatial) == Answer::no ||
          op.equal(t.dims[2], spatial + 1) == Answer::no ||
          op.equal(t.dims[0], wanted.dims[0]) == Answer::no))
    return op.fail(ProblemKind::argument,
        why<Reason::affine_matrices>(wanted.dims[0], spatial, spatial + 1, wanted, op.name("theta"), t));
  Shape out{true, {wanted.dims[0]}};
  for (std::size_t i = 2; i < rank; ++i) out.dims.push_back(wanted.dims[i]);
  out.dims.push_back(op.dim(spatial));
  return op.result(out, theta->dtype);
}

constexpr Operator sampling_operators[] = {
    {"grid_sample", "input, grid, mode='bilinear', padding_mode='zeros', align_corners=None", "F",
        grid_sample, Type::own},
    {"grid_sampler", "input, grid, interpolation_mode, padding_mode, align_corners", "torch", grid_sample,
        Type::own},
    {"grid_sampler_2d", "input, grid, interpolation_mode, padding_mode, align_corners", "torch", grid_sample,
        Type::own},
    {"grid_sampler_3d", "input, grid, interpolation_mode, padding_mode, align_corners", "torch", grid_sample,
        Type::own},
    {"affine_grid", "theta, size, align_corners=None", "F", affine_grid, Type::own},
};

}  // namespace

std::vector<Row> sampling_rows() { return operator_rows(sampling_operators); }

}  // namespace stepzero::libraries
