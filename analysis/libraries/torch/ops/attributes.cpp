// What is set on tensors (data, grad, requires_grad) and asked of torch itself.
#include "interpreter/record.hpp"
#include "libraries/torch/meaning/history.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "values/kept.hpp"

#include <limits>

namespace stepzero::libraries {

namespace {
// torch.utils.swap_tensors(a, b): each is what the other was.
Value swap_tensors(Call& call) {
  const Value one = call.run.resolve(call.at(0)), other = call.run.resolve(call.at(1));
  const TensorState *first = tensor_state(call.run, one), *second = tensor_state(call.run, other);
  if (!first || !second) {
    call.run.heap().note_write(nullptr);
    return Value::none();
  }
  const TensorState mine = *first, theirs = *second;
  call.run.heap().note_write(first);
  call.run.heap().note_write(second);
  set_state(call.run, one, theirs);
  set_state(call.run, other, mine);
  return Value::none();
}
// x.data = y: x becomes what y is, and shares its memory.
Value set_data(Call& call) {
  const TensorState* into = tensor_state(call.run, call.self);
  if (!into) return Value::none();
  const Value given = call.at(0);
  call.run.heap().note_write(into);
  const TensorState* from = tensor_state(call.run, given);
  TensorState state = *into;
  state.shape = from ? from->shape : Shape{};
  state.dtype = from ? from->dtype : Dtype::unknown;
  // Made beside a module of which it is not known where it lies, it is moved with the module.
  const bool is_part = call.self.is(Kind::tensor) &&
      call.self.as<Tensor>()->role != values::TensorRole::plain;
  state.device = from && (into->device || !is_part) ? from->device : nullptr;
  state.strides = from ? from->strides : std::vector<Int>{};
  state.sharing = symbolic::mix(state.sharing, call.run.heap().sharing(given));
  state.unseen = state.unseen || call.run.heap().is_unseen(given);
  state.content = nullptr;
  state.extent = nullptr;
  state.outcome = nullptr;
  state.mean = nullptr;
  state.shape_value = {};
  set_state(call.run, call.self, state);
  return Value::none();
}
// x.grad: there or not, and as large as what it is of.
Value gradient(Call& call) {
  const Value made = call.run.heap().unknown("", Sharing::unseen, call.place);
  made.as<values::Unknown>()->is_gradient = true;
  made.as<values::Unknown>()->unseen = true;
  const TensorState* of = call.self.is(Kind::tensor) ? call.self.as<Tensor>()->now() : nullptr;
  if (of && of->shape.ndim_known && !call.self.as<Tensor>()->any_of) {
    TensorState as;
    as.shape = of->shape;
    as.dtype = of->dtype;
    call.run.heap()
        .slot_of(made.as<values::Unknown>()->attributes, Name(values::UnknownState::learned))
        .value = call.run.heap().tensor(std::move(as), call.place);
  }
  return made;
}
Value set_requires_grad_of(Call& call) {
  const TensorState* into = tensor_state(call.run, call.self);
  const Answer wanted = call.run.symbols().decide(call.run.truth(call.at(0)));
  if (into)
    require_grad(call.run, call.self,
        wanted == Answer::yes      ? Known::yes
            : wanted == Answer::no ? Known::no
                                   : Known::unknown);
  return Value::none();
}
template <int which> Value constant(Call&) {
  constexpr double pi = 3.141592653589793, e = 2.718281828459045,
                   infinity = std::numeric_limits<double>::infinity();
  return Value::of(which == 0 ? pi
          : which == 1        ? e
          : which == 2        ? infinity
                              : std::numeric_limits<double>::quiet_NaN());
}
// A version that is read is today's, or the oldest that is known: what both answer alike is decided.
Value version(Call& call) {
  values::Heap& heap = call.run.heap();
  return heap.choose(
      call.run.symbols().opaque({}, Sharing::uniform), heap.string("2.13.0"), heap.string("1.13.1"));
}
}  // namespace

std::vector<Row> attribute_rows() {
  std::vector<Row> rows;
  rows.push_back(row("torch.utils.swap_tensors", RowKind::function, "t1, t2", swap_tensors));
  rows.push_back(
      row("torch.Tensor.data.__set__", RowKind::method, "value", set_data, {}, Operation::weights_written));
  rows.push_back(row(
      "torch.Tensor.register_hook", RowKind::method, "hook",
      [](Call& call) { return call.run.heap().unknown("", Sharing::uniform, call.place); }, {},
      Operation::gradient_written));
  rows.push_back(row(
      "torch.Tensor.register_post_accumulate_grad_hook", RowKind::method, "hook",
      [](Call& call) { return call.run.heap().unknown("", Sharing::uniform, call.place); }, {},
      Operation::gradient_written));
  rows.push_back(row("torch.Tensor.grad", RowKind::property, "", gradient));
  rows.push_back(row(
      "torch.Tensor.grad.__set__", RowKind::method, "value", [](Call&) { return Value::none(); }, {},
      Operation::gradient_written));
  rows.push_back(row("torch.Tensor.requires_grad.__set__", RowKind::method, "value", set_requires_grad_of, {},
      Operation::trained_from_here));
  rows.push_back(row("torch.__version__", RowKind::constant, "", version));
  rows.push_back(row("torch.pi", RowKind::constant, "", constant<0>));
  rows.push_back(row("torch.e", RowKind::constant, "", constant<1>));
  rows.push_back(row("torch.inf", RowKind::constant, "", constant<2>));
  rows.push_back(row("torch.nan", RowKind::constant, "", constant<3>));
  return rows;
}

}  // namespace stepzero::libraries
