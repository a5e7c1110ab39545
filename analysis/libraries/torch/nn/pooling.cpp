// Pooling: max, average, Lp, adaptive, fractional and unpooling, as modules and functions.
#include "libraries/torch/nn/layer.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- windows

struct Pool {
  std::optional<std::vector<Int>> kernel, stride, padding, dilation;
  Known ceil = Known::no;
};

Dim slide(Op& op, const Dim& size, const Pool& pool, std::size_t axis) {
  auto& s = op.s;
  if (!size.size || !pool.kernel || !pool.stride || !pool.padding || !pool.dilation) return {};
  const Int kernel = (*pool.kernel)[axis], stride = (*pool.stride)[axis], padding = (*pool.padding)[axis],
            dilation = (*pool.dilation)[axis];
  struct Setting {
    Int value;
    std::int64_t least;
    std::string_view name;
  };
  for (const auto& [value, least, name] : {Setting{kernel, 1, "kernel"}, Setting{stride, 1, "stride"},
           Setting{dilation, 1, "dilation"}, Setting{padding, 0, "padding"}})
    if (s.compare(Compare::lt, value, s.constant(least)) == Answer::yes) {
      op.refuse_value(name, static_cast<double>(least), {}, op.dim(value));
      return {};
    }
  const Int reach = s.add(s.mul(dilation, s.sub(kernel, s.constant(1))), s.constant(1));
  if (s.compare(Compare::gt, s.mul(s.constant(2), padding), reach) == Answer::yes) {
    op.fail(ProblemKind::argument, why<Reason::pool_padding>(op.taker(), op.dim(padding), op.dim(kernel)));
    return {};
  }
  const Int span = s.sub(s.add(size.size, s.mul(s.constant(2), padding)), reach);
  const bool may_be_short = s.compare(Compare::ge, span, s.constant(0)) != Answer::yes;
  Int out = nullptr;
  if (pool.ceil == Known::no) {
    if (less_than(op, span, 0))
      out = s.constant(0);
    else
      out = s.add(s.floordiv(span, stride), s.constant(1));
  } else if (pool.ceil == Known::yes) {
    out = s.floordiv(s.sub(s.add(span, stride), s.constant(1)), stride);
    // No window starts in the padding after the end.
    const Int last = s.floordiv(s.sub(s.add(size.size, padding), s.constant(1)), stride);
    if (s.compare(Compare::le, out, last) != Answer::yes) out = s.min(out, last);
    out = s.add(out, s.constant(1));
  } else {
    // With or without the rounding: known only where it makes no difference.
    if (s.divides(stride, span) != Answer::yes || may_be_short) return {};
    out = s.add(s.floordiv(span, stride), s.constant(1));
  }
  if (less_than(op, out, 1)) {
    op.fail(ProblemKind::layer_input,
        why<Reason::pool_window>(op.taker(), op.dim(reach),
            op.dim(s.add(size.size, s.mul(s.constant(2), padding))), op.name("input"), op.shape("input")),
        {size});
    return {};
  }
  return op.made(out);
}

// The shape after the pool; nullopt after a failure or if nothing is known of the input.
std::optional<Shape> pooled(Op& op, std::size_t spatial) {
  const TensorState* input = spatial_input(op, "input", spatial, {});
  if (!input) return std::nullopt;
  const Shape shape = input->shape;
  Pool pool;
  pool.kernel = setting_axes(op, "kernel_size", spatial);
  const Value stride = setting(op, "stride");
  pool.stride = !stride || (stride.is(Kind::list) && values::Heap::list_state(stride)->items.empty()) ||
          (stride.is(Kind::tuple) && stride.as<values::Tuple>()->items.empty())
      ? pool.kernel
      : setting_axes(op, "stride", spatial);
  pool.padding = setting(op, "padding") ? setting_axes(op, "padding", spatial)
                                        : std::optional(std::vector<Int>(spatial, op.s.constant(0)));
  pool.dilation = setting(op, "dilation") ? setting_axes(op, "dilation", spatial)
                                          : std::optional(std::vector<Int>(spatial, op.s.constant(1)));
  pool.ceil = setting_flag(op, "ceil_mode");
  std::vector<Dim> last;
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    last.push_back(slide(op, from_right(shape, spatial - 1 - axis), pool, axis));
    if (op.failed()) return std::nullopt;
  }
  return with_last(shape, last);
}

// The values, or the values and where they were.
Value with_indices(Op& op, const std::optional<Shape>& shape, Known indices) {
  if (op.failed()) return op.unknown();
  if (indices == Known::unknown) return op.run.heap().unknown("", Sharing::local, op.call.place);
  const Value made = shape ? op.result(*shape) : op.unknown();
  if (indices == Known::no) return made;
  return op.tuple({made, op.result(shape ? *shape : Shape{}, Dtype::int64)});
}

template <std::size_t spatial> Value max_pool(Op& op) {
  const auto shape = pooled(op, spatial);
  return with_indices(op, shape, setting_flag(op, "return_indices"));
}
template <std::size_t spatial> Value max_pool_with_indices(Op& op) {
  return with_indices(op, pooled(op, spatial), Known::yes);
}
template <std::size_t spatial> Value pool(Op& op) {
  if (const Value divisor = setting(op, "divisor_override");
      divisor.is(Kind::integer) && op.s.value(divisor.integer()) == 0)
    return op.fail(ProblemKind::argument, why<Reason::zero_divisor>(op.taker()));
  const auto shape = pooled(op, spatial);
  return shape ? op.result(*shape) : op.unknown();
}

// ---------------------------------------------------------------- adaptive

template <std::size_t spatial, bool mean = true> Value adaptive(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (!input->shape.ndim_known || input->shape.dims.size() < spatial || !mean || spatial == 1)
    input = spatial_input(op, "input", spatial, {});
  if (!input) return op.unknown();
  const Shape shape = input->shape;
  const Value wanted = setting(op, "output_size");
  std::vector<Value> items(spatial, Value::none());
  bool known = true;
  if (wanted.is(Kind::tuple) || wanted.is(Kind::list)) {
    const auto given = op.run.elements(wanted, op.call.place);
    known = given && (given->size() == spatial || given->size() == 1);
    if (given && given->empty())
      return op.fail(ProblemKind::argument, why<Reason::no_output_size>(op.taker()));
    if (known)
      for (std::size_t axis = 0; axis < spatial; ++axis)
        items[axis] = op.run.resolve((*given)[given->size() == 1 ? 0 : axis]);
  } else if (wanted.is(Kind::integer)) {
    items.assign(spatial, wanted);
  } else {
    const auto sizes = setting_axes(op, "output_size", spatial);
    known = sizes.has_value();
    if (known)
      for (std::size_t axis = 0; axis < spatial; ++axis) items[axis] = Value::of((*sizes)[axis]);
  }
  std::vector<Dim> last(spatial);
  for (std::size_t axis = 0; known && axis < spatial; ++axis) {
    if (const auto size = items[axis].is(Kind::integer) ? op.s.value(items[axis].integer()) : std::nullopt;
        size && *size < 0)
      return op.refuse_number({}, op.dim(*size));
    if (items[axis].is(Kind::none))
      last[axis] = from_right(shape, spatial - 1 - axis);
    else if (const Int size = items[axis].is(Kind::integer) || items[axis].is(Kind::unknown)
            ? op.run.to_int(items[axis])
            : nullptr)
      last[axis] = known_dim(op.run, size, op.born(), "output_size");
  }
  // An average down to one value is a mean: it alone takes any number of leading dimensions.
  const bool to_one = std::all_of(
      last.begin(), last.end(), [&](const Dim& size) { return op.equal(size, 1) != Answer::no; });
  if (!to_one && !spatial_input(op, "input", spatial, {})) return op.unknown();
  return op.result(with_last(shape, last));
}
template <std::size_t spatial> Value adaptive_max(Op& op) {
  const Known indices = setting_flag(op, "return_indices");
  const Value made = adaptive<spatial, false>(op);
  if (op.failed() || indices == Known::no) return made;
  if (indices == Known::unknown) return op.run.heap().unknown("", Sharing::local, op.call.place);
  return op.tuple({made, op.result(op.tensor(made)->shape, Dtype::int64)});
}
template <std::size_t spatial> Value adaptive_with_indices(Op& op) {
  const Value made = adaptive<spatial, false>(op);
  return op.failed() ? made : op.tuple({made, op.result(op.tensor(made)->shape, Dtype::int64)});
}

template <std::size_t spatial> Value fractional(Op& op) {
  const TensorState* input = spatial_input(op, "input", spatial, {});
  const Value size = setting(op, "output_size"), ratio = setting(op, "output_ratio");
  if (!size && !ratio && !op.call.spread)
    return op.fail(ProblemKind::argument, why<Reason::output_size_or_ratio>(op.taker()));
  const auto sizes = size ? setting_axes(op, "output_size", spatial) : std::nullopt;
  const auto kernel = setting_axes(op, "kernel_size", spatial);
  std::vector<Dim> last(spatial);
  for (std::size_t axis = 0; sizes && axis < spatial; ++axis) last[axis] = op.made((*sizes)[axis]);
  if (const auto parts = !size && (ratio.is(Kind::tuple) || ratio.is(Kind::list)) && input
          ? op.run.elements(ratio, op.call.place)
          : std::nullopt;
      parts && parts->size() == spatial)
    for (std::size_t axis = 0; axis < spatial; ++axis) {
      const Value part = op.run.resolve((*parts)[axis]);
      const auto whole = op.value(from_right(input->shape, spatial - 1 - axis));
      if (part.is(Kind::real) && whole)
        last[axis] = op.made(
            op.s.constant(static_cast<std::int64_t>(static_cast<double>(*whole) * part.real())));
    }
  for (std::size_t axis = 0; input && kernel && axis < spatial; ++axis) {
    const Dim whole = from_right(input->shape, spatial - 1 - axis);
    if (whole.size && last[axis].size &&
        op.s.compare(Compare::gt, op.s.sub(op.s.add(last[axis].size, (*kernel)[axis]), op.s.constant(1)),
            whole.size) == Answer::yes)
      return op.fail(ProblemKind::layer_input,
          why<Reason::fractional_windows>(
              op.taker(), last[axis], op.dim((*kernel)[axis]), whole, op.name("input"), input->shape),
          {whole});
  }
  std::optional<Shape> shape;
  if (input) shape = with_last(input->shape, last);
  return with_indices(op, shape, setting_flag(op, "return_indices"));
}

// ---------------------------------------------------------------- unpooling

template <std::size_t spatial> Value unpool(Op& op) {
  const TensorState* input = spatial_input(op, "input", spatial, {});
  if (!input) return op.unknown();
  const Shape shape = input->shape;
  if (const TensorState* indices = op.tensor("indices");
      indices && indices->dtype != Dtype::unknown && indices->dtype != Dtype::int64)
    return op.refuse_dtype(DtypeNeed::int64_index, "indices");
  if (const TensorState* indices = op.tensor("indices"); indices && indices->shape.ndim_known &&
      shape.ndim_known && indices->shape.dims.size() == shape.dims.size())
    for (std::size_t i = 0; i < shape.dims.size(); ++i)
      if (op.equal(indices->shape.dims[i], shape.dims[i]) == Answer::no)
        return op.fail(ProblemKind::layer_input,
            interpreter::ShapesApart{interpreter::ShapesApart::index_of_each, op.taker(),
                {{op.name("input"), shape}, {op.name("indices"), indices->shape}}},
            {shape.dims[i], indices->shape.dims[i]});
  std::vector<Dim> last(spatial);
  if (op.argument("output_size")) {
    const auto wanted = op.sizes("output_size");
    if (wanted && wanted->size() >= spatial)
      for (std::size_t axis = 0; axis < spatial; ++axis)
        last[axis] = op.made((*wanted)[wanted->size() - spatial + axis]);
    return op.result(with_last(shape, last));
  }
  const auto kernel = setting_axes(op, "kernel_size", spatial);
  const auto stride = setting(op, "stride") ? setting_axes(op, "stride", spatial) : kernel;
  const auto padding = setting_axes(op, "padding", spatial);
  for (std::size_t axis = 0; kernel && stride && padding && axis < spatial; ++axis) {
    const Dim size = from_right(shape, spatial - 1 - axis);
    if (!size.size) continue;
    auto& s = op.s;
    last[axis] = op.made(
        s.sub(s.add(s.mul(s.sub(size.size, s.constant(1)), (*stride)[axis]), (*kernel)[axis]),
            s.mul(s.constant(2), (*padding)[axis])));
  }
  return op.result(with_last(shape, last));
}

// ---------------------------------------------------------------- rows

constexpr std::string_view max_made =
    "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False";
constexpr std::string_view average_made =
    "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None";
constexpr std::string_view average_made_1 =
    "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True";
constexpr std::string_view norm_made = "norm_type, kernel_size, stride=None, ceil_mode=False";
constexpr std::string_view fraction_made =
    "kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None";

constexpr Layer pooling_layers[] = {
    {"torch.nn.MaxPool1d", max_made, nullptr, "input", max_pool<1>, Type::input, false},
    {"torch.nn.MaxPool2d", max_made, nullptr, "input", max_pool<2>, Type::input, false},
    {"torch.nn.MaxPool3d", max_made, nullptr, "input", max_pool<3>, Type::input, false},
    {"torch.nn.AvgPool1d", average_made_1, nullptr, "input", pool<1>, Type::input, false},
    {"torch.nn.AvgPool2d", average_made, nullptr, "input", pool<2>, Type::input, false},
    {"torch.nn.AvgPool3d", average_made, nullptr, "input", pool<3>, Type::input, false},
    {"torch.nn.LPPool1d", norm_made, nullptr, "input", pool<1>, Type::floating, false},
    {"torch.nn.LPPool2d", norm_made, nullptr, "input", pool<2>, Type::floating, false},
    {"torch.nn.LPPool3d", norm_made, nullptr, "input", pool<3>, Type::floating, false},
    {"torch.nn.AdaptiveAvgPool1d", "output_size", nullptr, "input", adaptive<1>, Type::input, false},
    {"torch.nn.AdaptiveAvgPool2d", "output_size", nullptr, "input", adaptive<2>, Type::input, false},
    {"torch.nn.AdaptiveAvgPool3d", "output_size", nullptr, "input", adaptive<3>, Type::input, false},
    {"torch.nn.AdaptiveMaxPool1d", "output_size, return_indices=False", nullptr, "input", adaptive_max<1>,
        Type::input, false},
    {"torch.nn.AdaptiveMaxPool2d", "output_size, return_indices=False", nullptr, "input", adaptive_max<2>,
        Type::input, false},
    {"torch.nn.AdaptiveMaxPool3d", "output_size, return_indices=False", nullptr, "input", adaptive_max<3>,
        Type::input, false},
    {"torch.nn.FractionalMaxPool2d", fraction_made, nullptr, "input", fractional<2>, Type::input, false},
    {"torch.nn.FractionalMaxPool3d", fraction_made, nullptr, "input", fractional<3>, Type::input, false},
    {"torch.nn.MaxUnpool1d", "kernel_size, stride=None, padding=0", nullptr,
        "input, indices, output_size=None", unpool<1>, Type::input, false},
    {"torch.nn.MaxUnpool2d", "kernel_size, stride=None, padding=0", nullptr,
        "input, indices, output_size=None", unpool<2>, Type::input, false},
    {"torch.nn.MaxUnpool3d", "kernel_size, stride=None, padding=0", nullptr,
        "input, indices, output_size=None", unpool<3>, Type::input, false},
};

constexpr std::string_view max_F =
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False";
constexpr std::string_view max_torch =
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False";
constexpr std::string_view average_1 =
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True";
constexpr std::string_view average =
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None";
constexpr std::string_view norm = "input, norm_type, kernel_size, stride=None, ceil_mode=False";
constexpr std::string_view fraction =
    "input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None";
constexpr std::string_view unpooled = "input, indices, kernel_size, stride=None, padding=0, output_size=None";

constexpr Operator pooling_operators[] = {
    {"max_pool1d", max_F, "F", max_pool<1>, Type::input},
    {"max_pool2d", max_F, "F", max_pool<2>, Type::input},
    {"max_pool3d", max_F, "F", max_pool<3>, Type::input},
    {"max_pool1d_with_indices", max_F, "F", max_pool_with_indices<1>, Type::input},
    {"max_pool2d_with_indices", max_F, "F", max_pool_with_indices<2>, Type::input},
    {"max_pool3d_with_indices", max_F, "F", max_pool_with_indices<3>, Type::input},
    {"max_pool1d", max_torch, "torch", pool<1>, Type::input},
    {"max_pool2d", max_torch, "torch", pool<2>, Type::input},
    {"max_pool3d", max_torch, "torch", pool<3>, Type::input},
    {"avg_pool1d", average_1, "F torch", pool<1>, Type::input},
    {"avg_pool2d", average, "F", pool<2>, Type::input},
    {"avg_pool3d", average, "F", pool<3>, Type::input},
    {"lp_pool1d", norm, "F", pool<1>, Type::floating},
    {"lp_pool2d", norm, "F", pool<2>, Type::floating},
    {"lp_pool3d", norm, "F", pool<3>, Type::floating},
    {"adaptive_avg_pool1d", "input, output_size", "F torch", adaptive<1>, Type::input},
    {"adaptive_avg_pool2d", "input, output_size", "F", adaptive<2>, Type::input},
    {"adaptive_avg_pool3d", "input, output_size", "F", adaptive<3>, Type::input},
    {"adaptive_max_pool1d", "input, output_size, return_indices=False", "F", adaptive_max<1>, Type::input},
    {"adaptive_max_pool2d", "input, output_size, return_indices=False", "F", adaptive_max<2>, Type::input},
    {"adaptive_max_pool3d", "input, output_size, return_indices=False", "F", adaptive_max<3>, Type::input},
    {"adaptive_max_pool1d", "input, output_size", "torch", adaptive_with_indices<1>, Type::input},
    {"fractional_max_pool2d", fraction, "F", fractional<2>, Type::input},
    {"fractional_max_pool3d", fraction, "F", fractional<3>, Type::input},
    {"max_unpool1d", unpooled, "F", unpool<1>, Type::input},
    {"max_unpool2d", unpooled, "F", unpool<2>, Type::input},
    {"max_unpool3d", unpooled, "F", unpool<3>, Type::input},
};

}  // namespace

std::vector<Row> pooling_rows() { return rows_of(pooling_layers, pooling_operators); }

}  // namespace stepzero::libraries
