// Padding, and windows as columns: F.pad and the layers that pad, Unfold, Fold.
#include "libraries/torch/nn/layer.hpp"

namespace stepzero::libraries {

namespace {

// How a refusal is told: a layer was made for other inputs; a function was given the wrong arguments.
ProblemKind refusal(const Op& op) {
  return op.call.self.is(Kind::instance) ? ProblemKind::layer_input : ProblemKind::argument;
}

// ---------------------------------------------------------------- padding

// Pairs of numbers from the last dimension on; null where they are not known.
Value padded(Op& op, std::span<const Int> pads, std::string_view mode) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const Shape& shape = input->shape;
  const std::size_t count = pads.size() / 2;

  if (shape.ndim_known && count > 0 && mode != "constant" &&
      (shape.dims.size() < count + 1 || shape.dims.size() > count + 2))
    return op.fail(refusal(op),
        why<Reason::padded_dimensions>(op.taker(), count, count + 1, count + 2, op.name("input"), shape));
  if (shape.ndim_known && shape.dims.size() < count)
    return op.fail(refusal(op), why<Reason::padded_too_many>(op.taker(), count, op.name("input"), shape));
  std::vector<Dim> last;
  for (std::size_t i = count; i-- > 0;) {
    const Dim size = from_right(shape, i);
    const Int before = pads[2 * i], after = pads[2 * i + 1];
    if (before && after && op.s.value(before) == 0 && op.s.value(after) == 0) {
      last.push_back(size);
      continue;
    }
    if (size.size && (mode == "reflect" || mode == "circular"))
      for (const Int by : {before, after})
        if (by && op.s.compare(mode == "reflect" ? Compare::ge : Compare::gt, by, size.size) == Answer::yes)
          return op.fail(refusal(op),
              why<Reason::mirrored>(op.taker(), op.dim(by), size, op.name("input"), shape), {size});
    const Int made = op.add(size.size, op.add(before, after));
    if (less_than(op, made, 0))
      return op.fail(
          refusal(op), why<Reason::size_left>(op.taker(), op.dim(made), op.name("input"), shape), {size});
    last.push_back(made ? op.made(made) : Dim{});
  }
  return op.result(with_last(shape, last));
}
template <std::size_t spatial> Value pad_layer(Op& op) {
  const Value given = op.kept("padding");
  const std::string_view cls = op.title();
  const std::string_view mode = cls.find("Reflection") != std::string_view::npos ? "reflect"
      : cls.find("Replication") != std::string_view::npos                        ? "replicate"
      : cls.find("Circular") != std::string_view::npos                           ? "circular"
                                                                                 : "constant";
  std::vector<Int> pads(2 * spatial);
  if (given.is(Kind::integer))
    pads.assign(2 * spatial, given.integer());
  else if (given.is(Kind::tuple) || given.is(Kind::list)) {
    const auto items = libraries::sizes(op.run, given, {}, op.call.place);
    if (items && items->size() == 2 * spatial)
      pads = *items;
    else if (items && mode != "constant")
      return op.refuse_count(ProblemKind::argument, items->size(), "number", 2 * spatial, "side");
    else if (items && items->size() % 2 == 0)
      pads = *items;
    else if (!items)
      return op.unknown();
  }
  return padded(op, pads, mode);
}
Value pad(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const auto given = op.sequence("pad");
  if (!given)
    return op.result(
        input->shape.ndim_known ? Shape{true, std::vector<Dim>(input->shape.dims.size())} : Shape{});
  if (given->size() % 2 != 0)
    return op.fail(ProblemKind::argument, why<Reason::pad_sizes>(given->size(), given->size() == 1));
  std::vector<Int> pads;
  for (const Value& item : *given) {
    const Value by = op.run.resolve(item);
    pads.push_back(by.is(Kind::integer) || by.is(Kind::unknown) ? op.run.to_int(by) : nullptr);
  }
  return padded(op, pads, op.text("mode").value_or("constant"));
}

// ---------------------------------------------------------------- windows as columns

// Windows, the distances in them and between them are at least 1. False after fail().
bool has_steps(Op& op) {
  for (const std::string_view name : {"kernel_size", "dilation", "stride"})
    if (const auto found = setting_axes(op, name, 2))
      for (const Int size : *found)
        if (size && less_than(op, size, 1)) {
          op.raising("RuntimeError").refuse_value(name, 1, {}, op.dim(size));
          return false;
        }
  return true;
}
// How many places a window has along each axis.
std::optional<std::vector<Int>> places(Op& op, std::span<const Dim> sizes, std::span<const Int> kernel) {
  const auto dilation = setting_axes(op, "dilation", 2), padding = setting_axes(op, "padding", 2),
             stride = setting_axes(op, "stride", 2);
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
  if (!input || !has_steps(op)) return op.unknown();
  const Shape shape = input->shape;
  if (!shape.ndim_known) return op.unknown();
  const auto kernel = setting_axes(op, "kernel_size", 2);
  Dim columns, length;
  const Dim channels = from_right(shape, 2), sizes[] = {from_right(shape, 1), from_right(shape, 0)};
  if (kernel) {
    if (channels.size) columns = op.made(op.s.mul(channels.size, op.s.mul((*kernel)[0], (*kernel)[1])));
    if (const auto found = places(op, sizes, *kernel)) {
      for (const Int size : *found)
        if (less_than(op, size, 1))
          return op.fail(refusal(op),
              why<Reason::window_fits>(
                  op.taker(), op.dim((*kernel)[0]), op.dim((*kernel)[1]), op.name("input"), shape));
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
  if (!input || !has_steps(op)) return op.unknown();
  const Shape shape = input->shape;
  if (!shape.ndim_known) return op.unknown();
  const auto kernel = setting_axes(op, "kernel_size", 2), wanted = setting_axes(op, "output_size", 2);
  Dim channels, height, width;
  if (wanted) {
    height = op.made((*wanted)[0]);
    width = op.made((*wanted)[1]);
  }
  const Dim columns = from_right(shape, 1), length = from_right(shape, 0);
  const Int area = kernel ? op.s.mul((*kernel)[0], (*kernel)[1]) : nullptr;
  if (area && columns.size && op.s.value(area) != 0) {
    if (op.s.divides(area, columns.size) == Answer::no)
      return op.fail(refusal(op),
          why<Reason::fold_windows>(op.taker(), op.dim(area), columns, op.name("input"), shape), {columns});
    const auto exact = op.s.exact_quotient(columns.size, area);
    channels = op.made(exact ? *exact : op.s.floordiv(columns.size, area));
  }
  if (kernel && wanted) {
    const Dim sizes[] = {height, width};
    if (const auto found = places(op, sizes, *kernel)) {
      const Dim total = op.dim(op.s.mul((*found)[0], (*found)[1]));
      if (op.equal(total, length) == Answer::no)
        return op.fail(refusal(op),
            why<Reason::fold_count>(
                op.taker(), op.dim((*found)[0]), op.dim((*found)[1]), total, op.name("input"), shape, length),
            {length});
    }
  }
  Shape out{true, {channels, height, width}};
  if (shape.dims.size() == 3) out.dims.insert(out.dims.begin(), shape.dims[0]);
  return op.result(out);
}

// ---------------------------------------------------------------- rows

#define WINDOWS "kernel_size, dilation=1, padding=0, stride=1"

constexpr Layer window_layers[] = {
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
    {"torch.nn.Unfold", WINDOWS, nullptr, "input", unfold, Type::input, false},
    {"torch.nn.Fold", "output_size, " WINDOWS, nullptr, "input", fold, Type::input, false},
};

constexpr Operator window_operators[] = {
    {"pad", "input, pad, mode='constant', value=None", "F", pad, Type::input},
    {"constant_pad_nd", "input, pad, value=0", "torch", pad, Type::input},
    {"unfold", "input, " WINDOWS, "F", unfold, Type::input},
    {"fold", "input, output_size, " WINDOWS, "F", fold, Type::input},
};

}  // namespace

std::vector<Row> window_rows() { return rows_of(window_layers, window_operators); }

}  // namespace stepzero::libraries
