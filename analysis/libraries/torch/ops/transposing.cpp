// Operators that add, drop and exchange dimensions: unsqueeze, squeeze, transpose, permute.
#include "libraries/torch/ops/operators.hpp"
#include "libraries/torch/ops/views.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- dimensions of size 1

Value unsqueeze(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const auto at = op.integer("dim");
  if (!at) return op.unknown();
  if (shape.ndim_known) {
    const auto place = op.axis(*at, shape.dims.size() + 1);
    if (!place) return op.unknown();
    shape.dims.insert(shape.dims.begin() + static_cast<std::ptrdiff_t>(*place), one(op));
    // How far apart the only one is from its neighbors does not matter: as if they lay in order.
    std::vector<Int> strides = input->strides;
    if (strides.size() + 1 == shape.dims.size())
      strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(*place),
          *place < strides.size() ? op.s.mul(strides[*place], shape.dims[*place + 1].size)
                                  : op.s.constant(1));
    return op.laid_out(op.result(shape), std::move(strides));
  }
  if (*at == 0) {  // in front of whatever is known
    const Value made = op.result(shape);
    if (const TensorState* state = op.tensor(made)) {
      TensorState known = *state;
      known.first = input->first;
      known.first.insert(known.first.begin(), one(op));
      set_state(op.run, made, known);
    }
    return made;
  }
  if (*at > 0) {
    // It stands at `at` at the latest.
    if (*at > 64) return op.unknown();
    shape.dims.erase(
        shape.dims.begin(), shape.dims.begin() + std::min(*at, static_cast<std::int64_t>(shape.dims.size())));
    const Value made = op.result(shape);
    if (const TensorState* state = op.tensor(made)) {
      TensorState known = *state;
      known.first.assign(input->first.begin(),
          input->first.begin() + std::min(*at, static_cast<std::int64_t>(input->first.size())));
      known.first.resize(static_cast<std::size_t>(*at));
      known.first.push_back(one(op));
      set_state(op.run, made, known);
    }
    return made;
  }
  const auto after = static_cast<std::size_t>(-*at - 1);
  if (after > 64) return op.unknown();
  if (shape.dims.size() < after) shape.dims.insert(shape.dims.begin(), after - shape.dims.size(), Dim{});
  shape.dims.insert(shape.dims.end() - static_cast<std::ptrdiff_t>(after), one(op));
  return op.result(shape);
}

Value squeeze(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  std::vector<bool> chosen(shape.dims.size(), true);
  if (op.argument("dim")) {
    const auto dims = op.integers("dim");
    if (!dims) return op.unknown();
    if (shape.ndim_known && shape.dims.empty()) {
      for (const std::int64_t at : *dims)
        if (!op.axis(at, 0)) return op.unknown();
      return op.result(shape);
    }
    std::vector<std::size_t> from_end;
    for (const std::int64_t at : *dims) {
      // The one dimension that a tensor may be without.
      if (!shape.ndim_known && at == -1 && shape.dims.empty()) return op.unknown();
      const auto place = find_dim(op, shape, at);
      if (!place) return op.unknown();
      from_end.push_back(shape.dims.size() - *place);
    }
    chosen.assign(shape.dims.size(), false);
    for (const std::size_t place : from_end) chosen[shape.dims.size() - place] = true;
  } else if (!shape.ndim_known) {
    // What was not known to be there may go as well.
    chosen.assign(shape.dims.size(), true);
  }
  // After the last dimension of which it is not known whether it goes, all is known.
  Shape out{shape.ndim_known, {}};
  for (std::size_t i = shape.dims.size(); i-- > 0;) {
    const Answer goes = chosen[i] ? op.equal(shape.dims[i], 1) : Answer::no;
    if (goes == Answer::unknown) {
      out.ndim_known = false;
      break;
    }
    if (goes == Answer::no) out.dims.insert(out.dims.begin(), shape.dims[i]);
  }
  return op.result(out);
}

// ---------------------------------------------------------------- order

Value transpose(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const std::string_view first = op.call.row.parameters[1].text(), second = op.call.row.parameters[2].text();
  const auto at_first = op.integer(first), at_second = op.integer(second);
  if (!at_first || !at_second) return op.unknown();
  if (!shape.ndim_known && *at_first == *at_second) return op.result(shape);
  if (!shape.ndim_known) {
    // It has as many dimensions as the two need.
    const auto needed = [](std::int64_t at) { return static_cast<std::size_t>(at < 0 ? -at : at + 1); };
    const std::size_t least = std::max(needed(*at_first), needed(*at_second));
    constexpr std::size_t most_dimensions = 8;  // that a program names
    if (shape.dims.size() < least && least <= most_dimensions) {
      shape.dims.insert(shape.dims.begin(), least - shape.dims.size(), Dim{});
      op.learn("input", shape);
    }
    // Counted from the left, they may be among the last or not.
    if ((*at_first >= 0 || *at_second >= 0) && least <= most_dimensions)
      return op.result(Shape{false, std::vector<Dim>(least)});
  }
  const auto a = find_dim(op, shape, *at_first);
  if (op.failed()) return op.unknown();
  const auto before = shape.dims.size();
  const auto b = find_dim(op, shape, *at_second);
  if (!a || !b) return op.unknown();
  const std::size_t moved_a = *a + (shape.dims.size() - before);
  if (!shape.dims.empty()) std::swap(shape.dims[moved_a], shape.dims[*b]);
  std::vector<Int> strides = input->strides;
  if (strides.size() == shape.dims.size() && !strides.empty()) std::swap(strides[moved_a], strides[*b]);
  return op.laid_out(op.result(shape), std::move(strides));
}

Value transpose_all(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.ndim_known) return op.unknown();
  Shape shape = input->shape;
  std::reverse(shape.dims.begin(), shape.dims.end());
  return op.laid_out(op.result(shape), {input->strides.rbegin(), input->strides.rend()});
}
Value transpose_2d(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (!shape.ndim_known) return op.unknown();
  if (shape.dims.size() > 2) return op.refuse_shape(ProblemKind::index, ShapeNeed::at_most(2), "input");
  return transpose_all(op);
}
// x.H: of a matrix
Value transpose_matrix(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.ndim_known) return op.unknown();
  if (input->shape.dims.size() != 2 && !input->shape.dims.empty())
    return op.fail(ProblemKind::index,
        interpreter::WrongShape{code("H"), {ShapeNeed::matrix}, op.name("input"), input->shape});
  return transpose_all(op);
}
// x.mT, x.mH, adjoint
Value transpose_last(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (shape.ndim_known && shape.dims.size() < 2)
    return shape.dims.empty() ? op.unknown()
                              : op.refuse_shape(ProblemKind::index, ShapeNeed::at_least(2), "input");
  while (shape.dims.size() < 2) shape.dims.insert(shape.dims.begin(), Dim{});
  std::swap(shape.dims[shape.dims.size() - 1], shape.dims[shape.dims.size() - 2]);
  std::vector<Int> strides = input->strides;
  if (strides.size() >= 2) std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return op.laid_out(op.result(shape), std::move(strides));
}

Value permute(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const auto wanted = wanted_sizes(op, "dims");
  if (!wanted || !wanted->complete) return op.unknown();
  const std::size_t rank = wanted->sizes.size();
  Shape shape = input->shape;
  if (shape.ndim_known ? shape.dims.size() != rank : shape.dims.size() > rank)
    return op.fail(ProblemKind::reshape,
        why<Reason::permuted_dimensions>(op.name("input"), shape, shape.ndim_known, shape.dims.size(),
            code(std::string(op.title()) + sizes_words(op, wanted->sizes)), rank));
  if (!shape.ndim_known) {
    // It has as many dimensions as are put in order.
    shape.ndim_known = true;
    shape.dims.insert(shape.dims.begin(), rank - shape.dims.size(), Dim{});
    op.learn("input", shape);
  }
  Shape out{true, {}};
  std::vector<Int> strides;
  std::vector<bool> taken(rank, false);
  for (const Int size : wanted->sizes) {
    const auto at = size ? op.s.value(size) : std::nullopt;
    if (!at) {
      out.dims.push_back({});
      continue;
    }
    const auto place = op.axis(*at, rank);
    if (!place) return op.unknown();
    if (taken[*place])
      return op.fail(
          ProblemKind::reshape, interpreter::DimensionTwice{*at, code(sizes_words(op, wanted->sizes))});
    taken[*place] = true;
    out.dims.push_back(shape.dims[*place]);
    if (*place < input->strides.size()) strides.push_back(input->strides[*place]);
  }
  return op.laid_out(op.result(out), std::move(strides));
}

Value movedim(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.ndim_known) return op.unknown();
  const std::size_t rank = input->shape.dims.size();
  const auto from = op.axes("source", rank);
  const auto to = from ? op.axes("destination", rank) : std::nullopt;
  if (!from || !to) return op.unknown();
  if (from->size() != to->size())
    return op.refuse_count(ProblemKind::argument, to->size(), "destination", from->size(), "source");
  if (rank == 0) return op.result(input->shape);
  std::vector<std::ptrdiff_t> order(rank, -1);
  std::vector<bool> used(rank, false);
  for (std::size_t i = 0; i < from->size(); ++i) {
    order[(*to)[i]] = static_cast<std::ptrdiff_t>((*from)[i]);
    used[(*from)[i]] = true;
  }
  std::size_t next = 0;
  for (std::ptrdiff_t& place : order) {
    if (place >= 0) continue;
    while (used[next]) ++next;
    place = static_cast<std::ptrdiff_t>(next++);
  }
  Shape out{true, {}};
  for (const std::ptrdiff_t place : order)
    out.dims.push_back(input->shape.dims[static_cast<std::size_t>(place)]);
  return op.result(out);
}

constexpr Operator transposing_operators[] = {
    {"unsqueeze", "input, dim", "torch method in_shape torch.unsqueeze_copy", unsqueeze, Type::input},
    {"squeeze", "input, dim=None", "torch method in_shape torch.squeeze_copy", squeeze, Type::input},
    {"transpose", "input, dim0, dim1", "torch method in_shape torch.transpose_copy", transpose, Type::input},
    {"transpose", "input, axis0, axis1",
        "torch.swapaxes torch.swapaxes_ torch.Tensor.swapaxes torch.Tensor.swapaxes_ reshapes", transpose,
        Type::input},
    {"transpose", "input, dim0, dim1",
        "torch.swapdims torch.swapdims_ torch.Tensor.swapdims torch.Tensor.swapdims_ reshapes", transpose,
        Type::input},
    {"t", "input", "torch method in_shape torch.t_copy", transpose_2d, Type::input},
    {"T", "input", "property", transpose_all, Type::input},
    {"H", "input", "property", transpose_matrix, Type::input},
    {"mT", "input", "property", transpose_last, Type::input},
    {"mH", "input", "property", transpose_last, Type::input},
    {"adjoint", "input", "torch method", transpose_last, Type::input},
    {"permute", "input, dims, *more", "torch method spread torch.permute_copy", permute, Type::input},
    {"movedim", "input, source, destination", "torch method torch.moveaxis torch.Tensor.moveaxis", movedim,
        Type::input},
};

}  // namespace

std::vector<Row> transposing_rows() { return operator_rows(transposing_operators); }

}  // namespace stepzero::libraries
