// Filling tensors in place: with a number, with another tensor, at random; and what else changes a tensor
// itself.
#include "libraries/torch/ops/filling.hpp"

#include "interpreter/record.hpp"
#include "libraries/python/generators.hpp"
#include "libraries/torch/meaning/contents.hpp"
#include "libraries/torch/meaning/history.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::libraries {

Value the_tensor(Op& op) {
  (void)op.expect(op.call.row.parameters[0].text());
  return op.argument(op.call.row.parameters[0].text());
}
namespace {
Value detach_itself(Op& op) {
  if (const TensorState* input = op.expect("input")) {
    TensorState state = *input;
    cut_history(op.run, state, op.call.place, "detach_()");
    set_state(op.run, op.call.at(0), state);
  }
  return op.argument("input");
}
Value set_requires_grad(Op& op) {
  if (op.expect("input")) require_grad(op.run, op.call.at(0), op.flag("requires_grad"));
  return op.argument("input");
}
Value filled(Op& op) {
  const TensorState* value = op.tensor("value");
  if (value && value->shape.ndim_known && !value->shape.dims.empty())
    return op.refuse_shape(ProblemKind::argument, {ShapeNeed::element}, "value");
  return the_tensor(op);
}
Value filled_copy(Op& op) {
  const TensorState* input = op.must_be_tensor("input") ? op.expect("input") : nullptr;
  (void)filled(op);
  return input && !op.failed() ? op.result(input->shape, input->dtype) : op.unknown();
}
// A matrix of any sizes; of more dimensions all are of one size.
Value filled_diagonal(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.ndim_known) return the_tensor(op);
  const auto& dims = input->shape.dims;
  if (dims.size() < 2) return op.refuse_shape(ProblemKind::argument, ShapeNeed::at_least(2), "input");
  if (dims.size() == 2) return the_tensor(op);
  const auto is_other = [&](const Dim& dim) { return op.never_equal(dims.front(), dim); };
  if (std::ranges::none_of(dims, is_other)) return the_tensor(op);
  const std::string equal = dims.size() == 3 ? "[n, n, n]" : "[n, n, …, n]";
  return op.fail(ProblemKind::argument,
      interpreter::WrongLayout{op.taker(), {"[n, m]", equal}, op.name("input"), input->shape});
}
}  // namespace
Value filled_at_random(Op& op) {
  const std::string_view first = op.call.row.parameters[0].text();
  if (const TensorState* input = op.expect(first)) {
    TensorState state = *input;
    state.sharing = drawn_with(op.run, op.argument("generator"));
    state.content = nullptr;
    state.extent = nullptr;
    state.outcome = nullptr;
    state.mean = nullptr;
    set_state(op.run, op.argument(first), state);
  }
  return op.argument(first);
}
namespace {
Value filled_normal(Op& op) {
  if (const auto deviation = op.real("std"); deviation && *deviation < 0) return op.refuse_value("std", 0);
  return filled_at_random(op);
}
Value uniform(Op& op) {
  if (const auto from = op.real("from"), until = op.real("to"); from && until && *from > *until)
    return op.fail(ProblemKind::argument, why<Reason::random_bounds_swapped>());
  return filled_at_random(op);
}
Value bernoulli(Op& op) {
  if (const auto p = op.real("p"); p && (*p < 0 || *p > 1)) return op.refuse_value("p", 0, 1);
  return filled_at_random(op);
}
// What is copied is broadcast to the tensor.
Value copy(Op& op) {
  const TensorState *into = op.expect("input"), *from = op.tensor("src");
  if (!into || !from) return op.argument("input");
  if (into->shape.ndim_known && from->shape.ndim_known) {
    bool fits = from->shape.dims.size() <= into->shape.dims.size();
    for (std::size_t i = 0; fits && i < from->shape.dims.size(); ++i) {
      const Dim have = from_right(from->shape, i), want = from_right(into->shape, i);
      fits = op.equal(have, want) != Answer::no || op.equal(have, 1) != Answer::no;
    }
    if (!fits)
      return op.fail(ProblemKind::broadcast,
          interpreter::DoesNotFit{interpreter::DoesNotFit::Action::copy, op.name("src"), from->shape,
              op.name("input"), into->shape});
  }
  const TensorState both = computed(op.run, {op.argument("input"), op.argument("src")});
  TensorState state = *into;
  state.content = nullptr;
  state.extent = nullptr;
  state.sharing = from->sharing;
  state.unseen = state.unseen || from->unseen;
  state.graph = both.graph;
  state.graph_complete = both.graph_complete;
  state.outcome = nullptr;
  state.mean = nullptr;
  state.is_gradient = state.is_gradient || from->is_gradient;
  if (state.is_gradient) op.run.note_gradient_written(op.argument("input"), op.call.place);
  note_grad_write(op.run, *into, both);
  state.requires_grad = both.requires_grad;
  state.grad_writes = both.grad_writes;
  keep_history(op.run, *into, state);
  set_state(op.run, op.call.at(0), state);
  return op.argument("input");
}

constexpr Operator filling_operators[] = {
    {"detach_", "input", "method", detach_itself, Type::own},
    {"requires_grad_", "input, requires_grad=True", "method", set_requires_grad, Type::own},
    {"share_memory_", "input", "method", the_tensor, Type::own},
    {"zero_", "input", "torch method", the_tensor, Type::own},
    {"fill_", "input, value", "torch method", filled, Type::own},
    {"fill", "input, value", "torch", filled_copy, Type::own},
    {"fill_diagonal_", "input, fill_value, wrap=False", "method", filled_diagonal, Type::own},
    {"copy_", "input, src, non_blocking=False", "method", copy, Type::own},
    {"normal_", "input, mean=0, std=1, *, generator=None", "method", filled_normal, Type::own},
    {"uniform_", "input, from=0, to=1, *, generator=None", "method", uniform, Type::own},
    {"random_", "input, from=0, to=None, *, generator=None", "method", filled_at_random, Type::own},
    {"bernoulli_", "input, p=0.5, *, generator=None", "method", bernoulli, Type::own},
    {"exponential_", "input, lambd=1, *, generator=None", "method", filled_at_random, Type::own},
    {"cauchy_", "input, median=0, sigma=1, *, generator=None", "method", filled_at_random, Type::own},
    {"geometric_", "input, p, *, generator=None", "method", filled_at_random, Type::own},
    {"log_normal_", "input, mean=1, std=2, *, generator=None", "method", filled_at_random, Type::own},
};

}  // namespace

std::vector<Row> filling_rows() { return operator_rows(filling_operators); }

}  // namespace stepzero::libraries
