#include "libraries/torch/ops/tensor_data.hpp"

#include "libraries/numpy/arrays.hpp"
#include "libraries/torch/ops/nested_data.hpp"
#include "values/devices.hpp"
#include "values/numbers.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// Of a list of tensors each becomes one number.
bool holds_numbers(Op& op, Value data) {
  data = op.run.resolve(data);
  const auto items = data.is(Kind::list) || data.is(Kind::tuple) ? op.run.elements(data, op.call.place)
                                                                 : std::nullopt;
  if (!items) return true;
  for (const Value& item : *items) {
    const TensorState* state = op.tensor(op.run.resolve(item));
    if (!state || state->maybe_array || !state->shape.ndim_known) continue;
    if (std::ranges::none_of(
            state->shape.dims, [&](const Dim& dim) { return op.equal(dim, 1) == Answer::no; }))
      continue;
    op.fail(ProblemKind::argument, why<Reason::list_of_tensors>(code(op.title()), state->shape));
    return false;
  }
  return true;
}

// A copy of a tensor lies where that does; numbers, lists and arrays are on the CPU. What may be either lies
// nobody knows where.
void lie_where_data_does(Op& op, Value data, TensorState& made) {
  if (op.argument("device")) return;
  data = op.run.resolve(data);
  const TensorState* given = op.tensor(data);
  const bool may_be_tensor = data.is(Kind::unknown) && !values::is_number(data);
  if (given && !given->maybe_array)
    made.device = given->device;
  else if (given || (may_be_tensor && !array_state(op.run, data)))
    made.device = nullptr;
}

}  // namespace

Value tensor_of(Op& op, Value data, Dtype otherwise) {
  if (!holds_numbers(op, data)) return op.unknown();
  const NestedLists nested = nesting_of(op, data);
  if (nested.ragged && nested.shape_known) {
    return op.fail(ProblemKind::argument, why<Reason::ragged_lists>(op.taker()));
  }
  Dtype dtype = nested.dtype_known ? nested.dtype == Dtype::unknown ? op.run.default_dtype() : nested.dtype
                                   : Dtype::unknown;
  if (otherwise != Dtype::unknown) dtype = otherwise;
  Shape shape;
  const bool whole = nested.shape_known && (!nested.deeper || nested.flat);
  if (whole) {
    shape.ndim_known = true;
    for (const Int size : nested.sizes) shape.dims.push_back(op.made(size));
  }
  TensorState state = *op.tensor(op.fresh(shape, op.dtype("dtype", dtype)));
  if (nested.shape_known && !whole)
    for (const Int size : nested.sizes) state.first.push_back(op.made(size));
  const TensorState* array = array_state(op.run, data);
  state.sharing = array ? array->sharing : op.run.heap().sharing(data);
  state.unseen = array ? array->unseen : op.run.heap().is_unseen(data);
  lie_where_data_does(op, data, state);
  return result(op.call, std::move(state));
}

namespace {

// A number among the data that was read from a tensor, as a tensor among them is.
const values::Unknown* read_number(Op& op, Value data, int depth = 0) {
  constexpr int deepest_list = 3;             // with so many items each, as below: one number is enough
  constexpr std::size_t most_looked_at = 64;  // of a list: the others are made the same way
  data = op.run.resolve(data);
  if (const TensorState* state = op.tensor(data); state && state->requires_grad == Known::yes) {
    auto* number = op.run.heap().unknown("", Sharing::unseen, op.call.place).as<values::Unknown>();
    number->is_number = true;
    return number;
  }
  if (data.is(Kind::unknown))
    return data.as<values::Unknown>()->is_number ? data.as<values::Unknown>() : nullptr;
  if (depth > deepest_list || (!data.is(Kind::list) && !data.is(Kind::tuple))) return nullptr;
  const auto& items = data.is(Kind::list) ? values::Heap::list_state(data)->items
                                          : data.as<values::Tuple>()->items;
  for (std::size_t i = 0; i < items.size() && i < most_looked_at; ++i)
    if (const auto* found = read_number(op, items[i], depth + 1)) return found;
  return data.is(Kind::list) && values::Heap::list_state(data)->rest
      ? read_number(op, values::Heap::list_state(data)->rest, depth + 1)
      : nullptr;
}
// What was read from tensors has lost its history, whatever the new tensor requires: the number itself is all
// that is in its graph.
Value tensor(Op& op) {
  const Value made = tensor_of(op, op.argument("data"), Dtype::unknown);
  const TensorState* now = op.tensor(made);
  const values::Unknown* number = now ? read_number(op, op.argument("data")) : nullptr;
  if (!number) return made;
  TensorState state = *now;
  auto* origin = op.run.heap().make<values::Origin>();
  // What was computed from several numbers stands nowhere.
  origin->place = number->born.span.begin < number->born.span.end ? number->born : op.call.place;
  origin->what = number->born == op.call.place ? "tensor()" : "item()";
  state.cut = origin;
  if (state.requires_grad != Known::no) state.graph = {number};
  set_state(op.run, made, state);
  return made;
}
// The tensor itself, where it is one.
Value as_tensor(Op& op) {
  const Value data = op.argument("data");
  const TensorState* state = op.tensor(data);
  if (!state) {
    // NumPy arrays keep their dtype, and are nothing that is known.
    if (data.is(Kind::unknown)) {
      const Value made = op.fresh({}, op.dtype("dtype", Dtype::unknown));
      TensorState given = *op.tensor(made);
      given.requires_grad = Known::unknown;
      given.graph_complete = false;
      lie_where_data_does(op, data, given);
      set_state(op.run, made, given);
      return made;
    }
    return tensor_of(op, data, Dtype::unknown);
  }
  TensorState same_state = *state;
  same_state.dtype = op.dtype("dtype", state->dtype);
  const Value device = op.argument("device");
  if (device) same_state.device = values::device_named(op.run.heap(), device);
  return result(op.call, std::move(same_state));
}
Value from_array(Op& op) {
  const Value data = op.argument("ndarray");
  const TensorState* array = array_state(op.run, data);
  TensorState state = *op.tensor(
      op.fresh(array ? array->shape : Shape{}, array ? array->dtype : Dtype::unknown));
  state.sharing = array ? array->sharing : op.run.heap().sharing(data);
  state.unseen = array ? array->unseen : op.run.heap().is_unseen(data);
  return result(op.call, std::move(state));
}

constexpr Operator data_operators[] = {
    {"tensor", "data, *, dtype=None, device=None, requires_grad=False, pin_memory=False", "torch", tensor,
        Type::own},
    {"as_tensor", "data, dtype=None, device=None", "torch", as_tensor, Type::own},
    {"asarray", "data, *, dtype=None, device=None, copy=None, requires_grad=False", "torch", as_tensor,
        Type::own},
    {"from_numpy", "ndarray", "torch", from_array, Type::own},
    {"from_dlpack", "ndarray", "torch torch.utils.dlpack.from_dlpack", from_array, Type::own},
    {"frombuffer", "ndarray, *, dtype, count=-1, offset=0, requires_grad=False", "torch", from_array,
        Type::own},
};

}  // namespace

std::vector<Row> tensor_data_rows() { return operator_rows(data_operators); }

}  // namespace stepzero::libraries
