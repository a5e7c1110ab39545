// Convolutions, plain and transposed, of one to three dimensions: modules and functions.
#include "libraries/torch/nn/layer.hpp"

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- made

template <std::size_t spatial, bool transposed> void make(Op& op) {
  const Dim in = setting_dim(op, "in_channels"), out = setting_dim(op, "out_channels"),
            groups = setting_dim(op, "groups");
  if (!are_positive(op, {"groups"})) return;
  const auto groups_known = op.value(groups);
  if (groups_known && *groups_known > 0)
    for (const auto& [dim, what] : {std::pair{in, "in_channels"}, std::pair{out, "out_channels"}})
      if (dim.size && op.s.divides(groups.size, dim.size) == Answer::no) {
        op.fail(ProblemKind::argument, interpreter::NotDivisible{what, dim, {}, groups, "groups"}, {dim});
        return;
      }
  if (const auto padding = setting_text(op, "padding"); padding && !transposed) {
    if (*padding != "same" && *padding != "valid") {
      op.refuse_option("padding", {"same", "valid", "a number"}, *padding);
      return;
    }
    if (const auto stride = setting_axes(op, "stride", spatial); stride && *padding == "same")
      for (const Int size : *stride)
        if (op.s.compare(Compare::eq, size, op.s.constant(1)) == Answer::no) {
          op.fail(ProblemKind::argument, why<Reason::same_padding_made>(op.dim(size)));
          return;
        }
  }
  if (const auto mode = setting_text(op, "padding_mode"); mode &&
      (transposed ? *mode != "zeros"
                  : *mode != "zeros" && *mode != "reflect" && *mode != "replicate" && *mode != "circular")) {
    if constexpr (transposed)
      op.refuse_option("padding_mode", {"zeros"}, *mode);
    else
      op.refuse_option("padding_mode", {"zeros", "reflect", "replicate", "circular"}, *mode);
  }
}

// ---------------------------------------------------------------- run

struct Window {
  std::optional<std::vector<Int>> kernel, stride, padding, dilation, output_padding;
  bool same = false;
};

// The size after the window along one axis; fails where the window does not fit in.
Dim slide(Op& op, const Dim& size, const Window& w, std::size_t axis) {
  if (w.same) return size;
  if (!size.size || !w.kernel || !w.stride || !w.padding || !w.dilation) return {};
  auto& s = op.s;
  const Int reach = s.add(s.mul((*w.dilation)[axis], s.sub((*w.kernel)[axis], s.constant(1))), s.constant(1));
  const Int padded = s.add(size.size, s.mul(s.constant(2), (*w.padding)[axis]));
  if (less(op, padded, reach)) {
    const bool is_padded = s.value((*w.padding)[axis]) != 0, dilated = s.value((*w.dilation)[axis]) != 1;
    op.fail(ProblemKind::layer_input,
        why<Reason::window_over>(op.taker(), op.dim(reach), dilated, op.dim(padded), is_padded,
            op.name("input"), op.shape("input")),
        {size});
    return {};
  }
  const Int stride = (*w.stride)[axis];
  return op.made(s.add(s.floordiv(s.sub(padded, reach), stride), s.constant(1)));
}

Dim slide_back(Op& op, const Dim& size, const Window& w, std::size_t axis) {
  if (!size.size || !w.kernel || !w.stride || !w.padding || !w.dilation || !w.output_padding) return {};
  auto& s = op.s;
  const Int more = (*w.output_padding)[axis];
  const Int limit = s.max((*w.stride)[axis], (*w.dilation)[axis]);
  if (op.s.compare(Compare::ge, more, limit) == Answer::yes) {
    op.fail(ProblemKind::argument, why<Reason::output_padding>(op.taker(), op.dim(more), op.dim(limit)));
    return {};
  }
  Int out = s.mul(s.sub(size.size, s.constant(1)), (*w.stride)[axis]);
  out = s.sub(out, s.mul(s.constant(2), (*w.padding)[axis]));
  out = s.add(out, s.mul((*w.dilation)[axis], s.sub((*w.kernel)[axis], s.constant(1))));
  out = s.add(s.add(out, more), s.constant(1));
  // An empty result is one, too.
  if (less_than(op, out, 0)) {
    op.fail(ProblemKind::layer_input,
        why<Reason::size_made>(op.taker(), op.dim(out), op.name("input"), op.shape("input")), {size});
    return {};
  }
  return op.made(out);
}

Value convolve(Op& op, std::size_t spatial, bool transposed, const Dim& in, const Dim& out, Window& w) {
  const TensorState* input = spatial_input(op, "input", spatial, in);
  if (!input) return op.unknown();
  const Shape shape = input->shape;
  w.stride = setting_axes(op, "stride", spatial);
  w.dilation = setting_axes(op, "dilation", spatial);
  if (const auto padding = setting_text(op, "padding")) {
    w.same = *padding == "same";
    w.padding = std::vector<Int>(spatial, op.s.constant(0));
  } else {
    w.padding = setting_axes(op, "padding", spatial);
  }
  if (transposed) w.output_padding = setting_axes(op, "output_padding", spatial);
  struct Setting {
    const std::optional<std::vector<Int>>& values;
    std::int64_t least;
    std::string_view name;
  };
  for (const auto& [values, least, name] :
      {Setting{w.kernel, 1, "kernel_size"}, Setting{w.stride, 1, "stride"},
          Setting{w.dilation, 1, "dilation"}, Setting{w.padding, 0, "padding"}})
    for (std::size_t axis = 0; values && axis < spatial; ++axis)
      if (op.s.compare(Compare::lt, (*values)[axis], op.s.constant(least)) == Answer::yes)
        return op.refuse_value(name, static_cast<double>(least), {}, op.dim((*values)[axis]));
  for (std::size_t axis = 0; w.same && w.stride && axis < spatial; ++axis)
    if (op.s.compare(Compare::gt, (*w.stride)[axis], op.s.constant(1)) == Answer::yes)
      return op.fail(ProblemKind::argument, why<Reason::same_padding>(op.taker(), op.dim((*w.stride)[axis])));
  if (op.value(out) == 0) return op.fail(ProblemKind::argument, why<Reason::no_channels>(op.taker()), {out});
  std::vector<Dim> last{out};
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    const Dim size = from_right(shape, spatial - 1 - axis);
    last.push_back(transposed ? slide_back(op, size, w, axis) : slide(op, size, w, axis));
    if (op.failed()) return op.unknown();
  }
  if (transposed && op.argument("output_size")) {
    const auto wanted = op.sizes("output_size");
    const bool whole = wanted && wanted->size() >= spatial;
    for (std::size_t axis = 0; axis < spatial; ++axis)
      last[axis + 1] = whole ? op.made((*wanted)[wanted->size() - spatial + axis]) : Dim{};
  }
  return op.result(with_last(shape, last));
}

template <std::size_t spatial, bool transposed> Value forward(Op& op) {
  if (!fits_weights(op, "input")) return op.unknown();
  Window w;
  w.kernel = setting_axes(op, "kernel_size", spatial);
  Dim in = setting_dim(op, "in_channels"), out = setting_dim(op, "out_channels");
  if (const TensorState* weight = op.tensor(op.kept("weight"))) {
    // Something else was put in its place, or it is the one that was made: both tell.
    if (weight->shape.ndim_known && weight->shape.dims.size() == spatial + 2 &&
        op.value(setting_dim(op, "groups")) == 1) {
      in = op.better(weight->shape.dims[transposed ? 0 : 1], in);
      out = op.better(weight->shape.dims[transposed ? 1 : 0], out);
    }
  }
  return convolve(op, spatial, transposed, in, out, w);
}

constexpr std::string_view usual[] = {"torch.nn.Conv1d", "torch.nn.Conv2d", "torch.nn.Conv3d"};
constexpr std::string_view usual_back[] = {
    "torch.nn.ConvTranspose1d", "torch.nn.ConvTranspose2d", "torch.nn.ConvTranspose3d"};

// A lazy layer has its in_channels from the first input, and from then on its weights.
template <std::size_t spatial, bool transposed> Value forward_lazy(Op& op) {
  if (!op.kept("in_channels")) {
    const TensorState* input = op.expect("input");
    if (input)
      if (const Dim arrives = from_right(input->shape, spatial); arrives.size && !op.run.guarded())
        op.keep("in_channels", Value::of(arrives.size));
  }
  if (op.kept("in_channels") && !op.kept("weight") && !op.run.guarded())
    hold_parameters_of(op, (transposed ? usual_back : usual)[spatial - 1]);
  return forward<spatial, transposed>(op);
}

// weight: [out, in / groups, …] or, transposed, [in, out / groups, …].
template <std::size_t spatial, bool transposed> Value functional(Op& op) {
  const TensorState* weight = op.expect("weight");
  if (!weight) return op.unknown();
  const TensorState* input = op.expect("input");
  if (input && input->dtype != Dtype::unknown && weight->dtype != Dtype::unknown &&
      input->dtype != weight->dtype && !in_autocast(op))
    return op.refuse_dtypes("input", "weight");
  if (const TensorState* bias = op.tensor("bias"); !transposed && bias && input &&
      input->dtype != Dtype::unknown && bias->dtype != Dtype::unknown && input->dtype != bias->dtype &&
      !in_autocast(op))
    return op.refuse_dtypes("input", "bias");
  const Dim groups = setting_dim(op, "groups");
  if (weight->shape.ndim_known && weight->shape.dims.size() != spatial + 2)
    return op.fail(ProblemKind::layer_input,
        why<Reason::weight_dimensions>(code(op.title()), spatial + 2, op.name("weight"), weight->shape));
  Window w;
  Dim in, out;
  if (weight->shape.ndim_known) {
    const auto& dims = weight->shape.dims;
    const Dim per_group{op.mul(dims[1].size, groups.size), dims[1].origin, nullptr};
    in = transposed ? dims[0] : per_group;
    out = transposed ? per_group : dims[0];
    w.kernel.emplace();
    for (std::size_t axis = 0; axis < spatial; ++axis) w.kernel->push_back(dims[axis + 2].size);
    for (const Int size : *w.kernel)
      if (!size) {
        w.kernel.reset();
        break;
      }
  }
  if (const TensorState* bias = op.tensor("bias"); bias && bias->shape.ndim_known &&
      bias->shape.dims.size() == 1 && op.equal(bias->shape.dims[0], out) == Answer::no)
    return op.fail(ProblemKind::layer_input,
        why<Reason::bias_channels>(op.name("bias"), bias->shape, code(op.title()), out), {out});
  return convolve(op, spatial, transposed, in, out, w);
}

// Over time first: input [T, B, in], weight [K, in, out], bias [out].
Value over_time(Op& op) {
  const TensorState *input = op.expect("input"), *weight = op.expect("weight"), *bias = op.expect("bias");
  if (!input || !weight || !bias || !input->shape.ndim_known || !weight->shape.ndim_known)
    return op.unknown();
  for (const auto& [name, state] : {std::pair("input", input), std::pair("weight", weight)})
    if (state->shape.dims.size() != 3)
      return op.fail(ProblemKind::layer_input,
          interpreter::WrongShape{op.taker(), ShapeNeed::exactly(3), op.name(name), state->shape});
  const auto &in = input->shape.dims, &kernel = weight->shape.dims;
  if (op.equal(in[2], kernel[1]) == Answer::no)
    return op.fail(ProblemKind::layer_input,
        interpreter::WrongSize{op.taker(), "channels", kernel[1], op.name("input"), in[2],
            {true, std::vector<Dim>(in.begin(), in.end())}},
        {in[2], kernel[1]});
  const Int padded = op.add(in[0].size, op.mul(op.s.constant(2), op.size("pad")));
  return op.result(
      Shape{true, {op.made(op.add(op.sub(padded, kernel[0].size), op.s.constant(1))), in[1], kernel[2]}});
}

constexpr std::string_view plain_convolution =
    "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode='zeros', device=None, dtype=None";
constexpr std::string_view back =
    "in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros', device=None, dtype=None";
constexpr std::string_view lazy =
    "out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode='zeros', device=None, dtype=None";
constexpr std::string_view lazy_back =
    "out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros', device=None, dtype=None";

constexpr Layer convolution_layers[] = {
    {"torch.nn.Conv1d", plain_convolution, make<1, false>, "input", forward<1, false>},
    {"torch.nn.Conv2d", plain_convolution, make<2, false>, "input", forward<2, false>},
    {"torch.nn.Conv3d", plain_convolution, make<3, false>, "input", forward<3, false>},
    {"torch.nn.ConvTranspose1d", back, make<1, true>, "input, output_size=None", forward<1, true>},
    {"torch.nn.ConvTranspose2d", back, make<2, true>, "input, output_size=None", forward<2, true>},
    {"torch.nn.ConvTranspose3d", back, make<3, true>, "input, output_size=None", forward<3, true>},
    {"torch.nn.LazyConv1d", lazy, make<1, false>, "input", forward_lazy<1, false>},
    {"torch.nn.LazyConv2d", lazy, make<2, false>, "input", forward_lazy<2, false>},
    {"torch.nn.LazyConv3d", lazy, make<3, false>, "input", forward_lazy<3, false>},
    {"torch.nn.LazyConvTranspose1d", lazy_back, make<1, true>, "input, output_size=None",
        forward_lazy<1, true>},
    {"torch.nn.LazyConvTranspose2d", lazy_back, make<2, true>, "input, output_size=None",
        forward_lazy<2, true>},
    {"torch.nn.LazyConvTranspose3d", lazy_back, make<3, true>, "input, output_size=None",
        forward_lazy<3, true>},
};

constexpr std::string_view arguments = "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1";
constexpr std::string_view arguments_back =
    "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1";

constexpr Operator convolution_operators[] = {
    {"conv1d", arguments, "torch F", functional<1, false>, Type::input},
    {"conv2d", arguments, "torch F", functional<2, false>, Type::input},
    {"conv3d", arguments, "torch F", functional<3, false>, Type::input},
    {"conv_transpose1d", arguments_back, "torch F", functional<1, true>, Type::input},
    {"conv_transpose2d", arguments_back, "torch F", functional<2, true>, Type::input},
    {"conv_transpose3d", arguments_back, "torch F", functional<3, true>, Type::input},
    {"conv_tbc", "input, weight, bias, pad=0", "torch F", over_time, Type::input},
};

}  // namespace

std::vector<Row> convolution_rows() { return rows_of(convolution_layers, convolution_operators); }

}  // namespace stepzero::libraries
