// Padding, and windows as columns: F.pad, F.unfold, F.fold.
#include "torch/views.hpp"

namespace stepzero::torch {

using symbolic::Answer;
using symbolic::Compare;
using values::Kind;
using values::ProblemKind;

namespace {

Value pad(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const Value given = op.argument("pad");
  const auto known = given.is(Kind::tuple) || given.is(Kind::list) ? op.run.elements(given, op.call.place) : std::nullopt;
  if (!known) return op.result(shape.rank_known ? Shape{true, std::vector<Dim>(shape.dims.size())} : Shape{}, input->dtype);
  if (known->size() % 2 != 0)
    return op.fail(ProblemKind::argument, "pad takes pairs of sizes, from the last dimension on, and " + plural(static_cast<std::int64_t>(known->size()), "size") + " are given");
  const std::size_t padded = known->size() / 2;
  if (shape.rank_known && padded > shape.dims.size())
    return op.fail(ProblemKind::argument, op.name("input") + " is " + op.words(shape) + ", and " + plural(static_cast<std::int64_t>(padded), "dimension") + " are to be padded");
  const auto mode = op.text("mode");
  if (mode && *mode != "constant" && shape.rank_known && padded > 0 && shape.dims.size() != padded + 1 && shape.dims.size() != padded + 2)
    return op.fail(ProblemKind::argument, "pad in mode '" + std::string(*mode) + "' takes tensors of " + std::to_string(padded + 1) + " or " + std::to_string(padded + 2) +
                                              " dimensions for " + plural(static_cast<std::int64_t>(known->size()), "size") + ", and " + op.name("input") + " is " + op.words(shape));
  if (shape.dims.size() < padded) shape.dims.insert(shape.dims.begin(), padded - shape.dims.size(), Dim{});
  for (std::size_t i = 0; i < padded; ++i) {
    Dim& d = shape.dims[shape.dims.size() - 1 - i];
    const Value left = op.run.resolve((*known)[2 * i]), right = op.run.resolve((*known)[2 * i + 1]);
    const Int a = left.is(Kind::integer) || left.is(Kind::unknown) ? op.run.to_int(left) : nullptr;
    const Int b = right.is(Kind::integer) || right.is(Kind::unknown) ? op.run.to_int(right) : nullptr;
    if (a && b && op.s.value(a) == 0 && op.s.value(b) == 0) continue;
    const Int total = op.add(op.add(d.size, a), b);
    if (total && op.s.compare(Compare::lt, total, op.s.constant(0)) == Answer::yes)
      return op.fail(ProblemKind::argument, "Padding of " + op.words(op.dim(a)) + " and " + op.words(op.dim(b)) + " leaves nothing of a dimension of size " + op.words(d), {d});
    if (mode == "reflect" && d.size)
      for (const Int side : {a, b})
        if (side && op.s.compare(Compare::ge, side, d.size) == Answer::yes)
          return op.fail(ProblemKind::argument, "Padding of " + op.words(op.dim(side)) + " cannot reflect a dimension of size " + op.words(d), {d});
    d = total ? op.made(total) : Dim{};
  }
  return op.result(shape, input->dtype);
}

// How many windows fit along one axis: floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
Int windows(Op& op, Int size, Int kernel, Int dilation, Int padding, Int stride) {
  if (!size || !kernel || !dilation || !padding || !stride) return nullptr;
  const Int one = op.s.constant(1);
  const Int reach = op.s.mul(dilation, op.s.sub(kernel, one));
  const Int room = op.s.sub(op.s.sub(op.s.add(size, op.s.mul(op.s.constant(2), padding)), reach), one);
  return op.s.add(op.s.floordiv(room, stride), one);
}
struct Windows {
  std::vector<Int> kernel, dilation, padding, stride;
};
std::optional<Windows> window_arguments(Op& op) {
  const auto kernel = op.per_axis(op.argument("kernel_size"), 2), dilation = op.per_axis(op.argument("dilation"), 2), padding = op.per_axis(op.argument("padding"), 2),
             stride = op.per_axis(op.argument("stride"), 2);
  if (!kernel || !dilation || !padding || !stride) return std::nullopt;
  return Windows{*kernel, *dilation, *padding, *stride};
}

// [N, C, H, W] to [N, C·kernel, windows]
Value unfold_windows(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.rank_known) return op.unknown();
  const auto& dims = input->shape.dims;
  if (dims.size() != 4 && dims.size() != 3)
    return op.fail(ProblemKind::layer_input, "unfold takes images [N, C, H, W], and " + op.name("input") + " is " + op.words(input->shape));
  Shape out{true, {}};
  if (dims.size() == 4) out.dims.push_back(dims[0]);
  const auto how = window_arguments(op);
  if (!how) {
    out.dims.resize(out.dims.size() + 2);
    return op.result(out, input->dtype);
  }
  const Int area = op.mul(how->kernel[0], how->kernel[1]);
  const Int features = op.mul(dims[dims.size() - 3].size, area);
  Int count = op.s.constant(1);
  for (std::size_t i = 0; i < 2; ++i) {
    const Int along = windows(op, dims[dims.size() - 2 + i].size, how->kernel[i], how->dilation[i], how->padding[i], how->stride[i]);
    if (along && op.s.compare(Compare::le, along, op.s.constant(0)) == Answer::yes)
      return op.fail(ProblemKind::argument, "Windows of " + op.words(op.dim(how->kernel[i])) + " do not fit into " + op.words(dims[dims.size() - 2 + i]), {dims[dims.size() - 2 + i]});
    count = op.mul(count, along);
  }
  out.dims.push_back(features ? op.made(features) : Dim{});
  out.dims.push_back(count ? op.made(count) : Dim{});
  return op.result(out, input->dtype);
}
// [N, C·kernel, windows] to [N, C, H, W]
Value fold_windows(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.rank_known) return op.unknown();
  const auto& dims = input->shape.dims;
  if (dims.size() != 3 && dims.size() != 2)
    return op.fail(ProblemKind::layer_input, "fold takes [N, C·kernel, windows], and " + op.name("input") + " is " + op.words(input->shape));
  Shape out{true, {}};
  if (dims.size() == 3) out.dims.push_back(dims[0]);
  const auto how = window_arguments(op);
  const auto size = op.per_axis(op.argument("output_size"), 2);
  Int channels = nullptr;
  if (how) {
    const Int area = op.mul(how->kernel[0], how->kernel[1]);
    const Dim& features = dims[dims.size() - 2];
    if (area && features.size && op.s.value(area) != 0) {
      if (op.s.divides(area, features.size) == Answer::no)
        return op.fail(ProblemKind::argument, op.words(features) + " features are not divisible by the " + op.words(op.dim(area)) + " elements of a window", {features});
      const auto exact = op.s.exact_quotient(features.size, area);
      channels = exact ? *exact : op.s.floordiv(features.size, area);
    }
    if (size) {
      Int count = op.s.constant(1);
      for (std::size_t i = 0; i < 2; ++i) count = op.mul(count, windows(op, (*size)[i], how->kernel[i], how->dilation[i], how->padding[i], how->stride[i]));
      if (count && op.equal(dims.back(), op.dim(count)) == Answer::no)
        return op.fail(ProblemKind::argument, op.name("input") + " has " + op.words(dims.back()) + " windows, and " + sizes_words(op, *size) + " takes " + op.words(op.dim(count)),
                       {dims.back()});
    }
  }
  out.dims.push_back(channels ? op.made(channels) : Dim{});
  for (std::size_t i = 0; i < 2; ++i) out.dims.push_back(size ? op.made((*size)[i]) : Dim{});
  return op.result(out, input->dtype);
}

constexpr Operator operators[] = {
    {"pad", "input, pad, mode='constant', value=None", "F", pad, Type::own},
    {"unfold", "input, kernel_size, dilation=1, padding=0, stride=1", "F", unfold_windows, Type::own},
    {"fold", "input, output_size, kernel_size, dilation=1, padding=0, stride=1", "F", fold_windows, Type::own},
};

} // namespace

std::vector<Row> window_rows() { return operator_rows(operators); }

} // namespace stepzero::torch
