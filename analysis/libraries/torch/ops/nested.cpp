// Batches of sequences of different lengths in one tensor: torch.nested with the jagged layout. As
// PyTorch 2.13 answers. The dimension after the batch has no number for a size. A tensor of the strided
// layout has sizes where all of its parts agree.
#include "libraries/table/op.hpp"
#include "libraries/table/table.hpp"
#include "libraries/torch/nn/attention.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

bool is_jagged(const Op& op) {
  const Value layout = op.argument("layout");
  return layout.is(Kind::library) && layout.as<values::LibrarySymbol>()->path == "torch.jagged";
}

// All parts as one: they agree in everything but the one dimension that is ragged, which is their first if
// all agree in all.
Value of_parts(Op& op) {
  const std::string_view name = op.call.row.parameters[0].text();
  const auto parts = op.sequence(name);
  if (!parts || parts->empty()) return op.fresh({}, op.dtype("dtype", Dtype::unknown));
  const bool jagged = is_jagged(op);
  Shape shape;
  Dtype dtype = Dtype::unknown;
  std::optional<std::size_t> ragged;  // the dimension in which parts are known to differ
  for (const Value& part : *parts) {
    const TensorState* state = op.tensor(part);
    if (!state || !state->shape.ndim_known || state->shape.dims.empty())
      return op.fresh({}, op.dtype("dtype", Dtype::unknown));
    const auto& dims = state->shape.dims;
    dtype = state->dtype;
    if (!shape.ndim_known) {
      shape.ndim_known = true;
      shape.dims = {op.dim(static_cast<std::int64_t>(parts->size()))};
      shape.dims.insert(shape.dims.end(), dims.begin(), dims.end());
      continue;
    }
    if (dims.size() + 1 != shape.dims.size())
      return op.fail(ProblemKind::concat, why<Reason::nested_dimensions>(shape.dims.size() - 1, dims.size()));
    for (std::size_t i = 0; i < dims.size(); ++i) {
      Dim& all = shape.dims[i + 1];
      if (!jagged) {
        if (i == 0 || op.equal(dims[i], all) != Answer::yes) all = {};
        continue;
      }
      if (op.equal(dims[i], all) == Answer::yes || !op.never_equal(dims[i], all)) continue;
      if (ragged && *ragged != i)
        return op.fail(
            ProblemKind::concat, why<Reason::jagged_sizes>(*ragged, all, dims[i], i), {all, dims[i]});
      ragged = i;
    }
  }
  if (!jagged) {
    shape.dims[1] = {};
  } else {
    // Where none is known to differ, any may of which the parts are not known to agree, and else it is the
    // first.
    const auto agree = [&](std::size_t i) {
      return std::ranges::all_of(*parts, [&](const Value& part) {
        return op.equal(op.tensor(part)->shape.dims[i], shape.dims[i + 1]) == Answer::yes;
      });
    };
    std::vector<bool> open(shape.dims.size() - 1);
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = ragged ? i == *ragged : i == 0 || !agree(i);
    for (std::size_t i = 0; i < open.size(); ++i)
      if (open[i]) shape.dims[i + 1] = {};
  }
  return op.result(shape, op.dtype("dtype", dtype));
}

// as_nested_tensor takes a batch of sequences of one length, too.
Value as_nested(Op& op) {
  const TensorState* whole = op.tensor("ts");
  if (!whole) return of_parts(op);
  Shape shape = is_jagged(op) && whole->shape.ndim_known && whole->shape.dims.size() > 1 ? whole->shape
                                                                                         : Shape{};
  if (shape.ndim_known) shape.dims[1] = {};
  return op.result(shape, op.dtype("dtype", whole->dtype));
}

// [total, D] with the places where sequences begin and end: [sequences, ragged, D].
Value from_jagged(Op& op) {
  const TensorState* values = op.expect("values");
  if (!values) return op.unknown();
  if (!op.given("offsets") && !op.given("lengths") && !op.call.spread)
    return op.fail(ProblemKind::argument, why<Reason::jagged_offsets>());
  if (op.argument("jagged_dim") && op.integer("jagged_dim") != 1) return op.result({}, values->dtype);
  Shape shape;
  const Shape &offsets = op.shape("offsets"), &lengths = op.shape("lengths");
  if (values->shape.ndim_known && !values->shape.dims.empty()) {
    shape.ndim_known = true;
    shape.dims = {Dim{}, Dim{}};
    if (op.tensor("lengths") && lengths.ndim_known && lengths.dims.size() == 1)
      shape.dims[0] = lengths.dims[0];
    else if (op.tensor("offsets") && offsets.ndim_known && offsets.dims.size() == 1 && offsets.dims[0].size)
      shape.dims[0] = op.made(op.s.sub(offsets.dims[0].size, op.s.constant(1)));
    shape.dims.insert(shape.dims.end(), values->shape.dims.begin() + 1, values->shape.dims.end());
  }
  return op.result(shape, values->dtype);
}

// As long as the longest, or as it is told.
Value padded(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (const auto sizes = op.argument("output_size") ? op.sizes("output_size") : std::nullopt) {
    Shape shape{true, {}};
    for (const Int size : *sizes) shape.dims.push_back(size ? op.made(size) : Dim{});
    return op.result(shape, input->dtype);
  }
  Shape shape = op.argument("output_size") ? Shape{} : input->shape;
  if (shape.ndim_known && shape.dims.size() > 1) shape.dims[1] = {};
  return op.result(shape, input->dtype);
}

// The chosen elements of each row: a ragged dimension after the batch.
Value masked_rows(Op& op) {
  const TensorState *input = op.expect("tensor"), *mask = op.expect("mask");
  if (!input || !mask) return op.unknown();
  if (mask->dtype != Dtype::unknown && mask->dtype != Dtype::boolean)
    return op.refuse_dtype(DtypeNeed::mask, "mask");
  if (!op.broadcast(input->shape, mask->shape)) return op.unknown();
  return op.result(Shape{}, input->dtype);
}

constexpr Operator nested_operators[] = {
    {"nested_masked_select", "tensor, mask", "torch.nested.masked_select", masked_rows, Type::own},
    {"nested_tensor",
        "tensor_list, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False",
        "torch.nested.nested_tensor", of_parts, Type::own},
    {"as_nested_tensor", "ts, dtype=None, device=None, layout=None", "torch.nested.as_nested_tensor",
        as_nested, Type::own},
    {"nested_tensor_from_jagged",
        "values, offsets=None, lengths=None, jagged_dim=None, min_seqlen=None, max_seqlen=None",
        "torch.nested.nested_tensor_from_jagged", from_jagged, Type::own},
    {"to_padded_tensor", "input, padding, output_size=None, out=None", "torch.nested.to_padded_tensor method",
        padded, Type::own},
};

}  // namespace

std::vector<Row> nested_rows() { return operator_rows(nested_operators); }

}  // namespace stepzero::libraries
