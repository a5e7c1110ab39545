#include "libraries/torch/ops/joinable.hpp"

#include "libraries/table/names.hpp"
#include "symbolic/supposition.hpp"

#include <algorithm>
#include <span>

namespace stepzero::libraries {

bool lies_in_order(const Op& op, const TensorState& state) {
  return !state.strides.empty() && state.strides == op.strides_in_order(state.shape);
}

namespace {

// The strides of what was cut out of a tensor by slices are those of the whole; its elements are not dense.
std::vector<Int> strides_of_cut(const Op& op, const TensorState& input) {
  const values::Producer* made = input.made;
  if (!made || !made->row || !made->row->path.ends_with(".__getitem__") || made->states.empty() ||
      !made->states[0] || made->arguments.size() < 2)
    return {};
  const TensorState& whole = *made->states[0];
  if (!whole.shape.ndim_known || whole.strides.size() != input.shape.dims.size() ||
      whole.shape.dims.size() != input.shape.dims.size())
    return {};
  const Value index = op.run.resolve(made->arguments[1]);
  std::vector<Value> parts{index};
  if (index.is(Kind::tuple)) parts = index.as<values::Tuple>()->items;
  for (const Value& each : parts) {
    const Value part = op.run.resolve(each);
    if (!part.is(Kind::slice)) return {};
    if (const Value step = op.run.resolve(part.as<values::SliceObject>()->step); step && !step.is(Kind::none))
      return {};
  }
  return whole.strides;
}

// What computes images gives them in the order of their dimensions or, where its input lies so, with the
// channels last.
constexpr std::string_view in_either_order[] = {"conv2d", "Conv2d", "conv_transpose2d", "ConvTranspose2d",
    "max_pool2d", "MaxPool2d", "avg_pool2d", "AvgPool2d", "adaptive_avg_pool2d", "AdaptiveAvgPool2d",
    "batch_norm", "BatchNorm2d"};
constexpr std::string_view element_by_element[] = {"relu", "ReLU", "relu6", "ReLU6", "leaky_relu",
    "LeakyReLU", "gelu", "GELU", "silu", "SiLU", "dropout", "Dropout", "Dropout2d"};
bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The dimensions of a transposed image as they were in it, and the image; empty: it is nothing of the kind.
struct Turned {
  std::vector<std::size_t> order;
  const TensorState* image = nullptr;
};
Turned turned_image(const Op& op, const TensorState& input) {
  Turned turned;
  const std::size_t rank = input.shape.dims.size();
  if (rank != 4) return {};
  for (std::size_t i = 0; i < rank; ++i) turned.order.push_back(i);
  bool moved = false;
  const TensorState* at = &input;
  for (int way = 0; at && at->made && at->strides.empty() && at->shape.dims.size() == rank && way < 12;
      ++way) {
    const values::Producer& made = *at->made;
    const std::string_view name = operator_name(*made.row);
    const auto number = [&](Value value) -> std::optional<std::size_t> {
      value = op.run.resolve(value);
      const auto known = value.is(Kind::integer) ? op.s.value(value.integer()) : std::nullopt;
      const auto size = static_cast<std::int64_t>(rank);
      if (!known || *known >= size || *known < -size) return std::nullopt;
      return static_cast<std::size_t>(*known < 0 ? *known + size : *known);
    };
    std::vector<std::size_t> before;  // by the place in `at`: the place in what it was made of
    before.reserve(rank);
    for (std::size_t i = 0; i < rank; ++i) before.push_back(i);
    if (name == "transpose" && made.arguments.size() > 2) {
      const auto a = number(made.arguments[1]), b = number(made.arguments[2]);
      if (!a || !b) return {};
      std::swap(before[*a], before[*b]);
    } else if (name == "permute") {
      // By the sizes, where each is another.
      const TensorState* from = made.states.empty() ? nullptr : made.states[0];
      if (!from || !from->shape.ndim_known || from->shape.dims.size() != rank) return {};
      for (std::size_t i = 0; i < rank; ++i) {
        std::size_t same = 0;
        for (std::size_t j = 0; j < rank; ++j)
          if (from->shape.dims[j].size == at->shape.dims[i].size) before[i] = j, ++same;
        if (same != 1) return {};
      }
    } else if (is_one_of(in_either_order, name)) {
      turned.image = moved ? at : nullptr;
      return turned;
    } else if (!is_one_of(element_by_element, name)) {
      return {};
    }
    moved = moved || !std::ranges::is_sorted(before);
    std::vector<std::size_t> order;
    order.reserve(turned.order.size());
    for (const std::size_t place : turned.order) order.push_back(before[place]);
    turned.order = std::move(order);
    at = made.states.empty() ? nullptr : made.states[0];
  }
  return {};
}
// Both ways in which the elements of the image may lie, along the dimensions as they are now.
std::vector<std::vector<Int>> strides_of_turned(const Op& op, const TensorState& input) {
  const Turned turned = turned_image(op, input);
  if (!turned.image) return {};
  const Shape& image = turned.image->shape;
  if (!image.ndim_known || image.dims.size() != turned.order.size()) return {};
  std::vector<std::vector<Int>> found;
  for (const std::initializer_list<std::size_t> inside_out :
      {std::initializer_list<std::size_t>{3, 2, 1, 0}, {1, 3, 2, 0}}) {
    std::vector<Int> strides(image.dims.size());
    Int step = op.s.constant(1);
    for (const std::size_t dim : inside_out) {
      if (!image.dims[dim].size) return {};
      strides[dim] = step;
      step = op.s.mul(step, image.dims[dim].size);
    }
    std::vector<Int> now;
    now.reserve(turned.order.size());
    for (const std::size_t place : turned.order) now.push_back(strides[place]);
    found.push_back(std::move(now));
  }
  return found;
}

// view joins only dimensions whose elements follow each other. The elements of a transposed tensor do not:
// where two of its neighbors cannot be joined, the sizes after them have to come out as they are. When that
// is so; null: never, or it is not known.
values::Cond cannot_join(
    Op& op, const std::vector<Dim>& dims, const std::vector<Int>& strides, const Shape& out) {
  symbolic::Supposition supposed(op.s);
  values::Cond when = op.s.boolean(true);
  bool possible = true;
  const auto suppose = [&](values::Cond condition) {
    const Answer known = op.s.decide(condition);
    if (known == Answer::unknown) {
      when = op.s.logical_and(when, condition);
      possible = supposed.assume(condition) && possible;
    } else {
      possible = possible && known == Answer::yes;
    }
  };
  const auto above = [&](Int size, std::int64_t least) {
    return op.s.compared(Compare::gt, size, op.s.constant(least));
  };
  bool fails = false;
  for (std::size_t d = dims.size() - 1; d > 0 && !fails; --d) {
    supposed.retract();
    when = op.s.boolean(true);
    possible = true;
    const Int joined = op.s.mul(strides[d], dims[d].size);
    if (joined == strides[d - 1]) continue;
    suppose(above(dims[d - 1].size, 1));
    suppose(above(dims[d].size, 1));
    // Where the two do not follow each other: apart from equal factors.
    if (const auto more = op.s.exact_quotient(joined, strides[d - 1]))
      suppose(op.s.compared(Compare::ne, *more, op.s.constant(1)));
    else if (const auto less = op.s.exact_quotient(strides[d - 1], joined))
      suppose(op.s.compared(Compare::ne, *less, op.s.constant(1)));
    else
      possible = possible && op.s.compare(Compare::eq, joined, strides[d - 1]) == Answer::no;
    for (const Dim& each : dims) suppose(above(each.size, 0));
    if (!possible) continue;
    const Int after = op.product(std::span(dims).subspan(d));
    fails = after != nullptr;
    Int total = op.s.constant(1);
    for (std::size_t k = out.dims.size() + 1; k-- > 0 && fails;) {
      if (k < out.dims.size()) total = op.s.mul(total, out.dims[k].size);
      fails = op.s.compare(Compare::eq, total, after) == Answer::no;
    }
  }
  supposed.retract();
  return fails ? when : nullptr;
}

}  // namespace

void check_strides(Op& op, const TensorState& input, const Shape& out) {
  const auto& dims = input.shape.dims;
  if (!input.shape.ndim_known || !out.ndim_known) return;
  for (const Dim& d : dims)
    if (!d.size) return;
  for (const Dim& d : out.dims)
    if (!d.size) return;
  const bool turned = !input.strides.empty();
  auto strides = turned ? input.strides : strides_of_cut(op, input);
  std::vector<std::vector<Int>> layouts;
  if (!strides.empty())
    layouts.push_back(std::move(strides));
  else
    layouts = strides_of_turned(op, input);
  if (layouts.empty() || lies_in_order(op, input)) return;
  values::Cond when = op.s.boolean(true);
  for (const std::vector<Int>& each : layouts) {
    const values::Cond one = each.size() == dims.size() ? cannot_join(op, dims, each, out) : nullptr;
    if (!one) return;
    when = op.s.logical_and(when, one);
  }
  op.fail_when(when, ProblemKind::reshape,
      why<Reason::view_apart>(op.name("input"), input.shape, turned || layouts.size() > 1));
  op.suggest_method("reshape");
}

}  // namespace stepzero::libraries
