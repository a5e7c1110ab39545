// Parameters and buffers that the program makes itself: nn.Parameter, nn.Buffer, register_buffer.
#include "libraries/torch/nn/modules.hpp"

#include "interpreter/calls/noted_at.hpp"
#include "libraries/torch/nn/states.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

namespace {

Value parameter(Call& call) {
  if (const Value data = call.run.resolve(call.at(0)); data.is(Kind::choice))
    return call.run.over_choices(
        data,
        [&](Value side) {
          Call one = call;
          one.arguments[0] = side;
          return parameter(one);
        },
        call.place);
  TensorState state = computed(call.run, {call.at(0)});
  if (const TensorState* from = tensor_state(call.run, call.at(0))) state = *from;
  const Value wanted = call.run.resolve(call.at(1));
  state.requires_grad = !wanted           ? Known::yes
      : call.run.to_constant(wanted) == 1 ? Known::yes
      : call.run.to_constant(wanted) == 0 ? Known::no
                                          : Known::unknown;
  if (state.requires_grad == Known::yes) state.grad_writes = trained_for_certain;
  // Of a class that nobody constructs here, somebody else may move the module.
  if (call.run.of_any_use()) state.device = nullptr;
  const Value made = result(call, state);
  made.as<Tensor>()->role = values::TensorRole::parameter;
  TensorState with_source = state;
  with_source.graph = {made.object()};
  with_source.graph_complete = true;
  set_state(call.run, made, with_source);
  return made;
}
Value made_buffer(Call& call) {
  TensorState state = computed(call.run, {call.at(0)});
  if (const TensorState* from = tensor_state(call.run, call.at(0))) state = *from;
  if (call.run.of_any_use()) state.device = nullptr;
  if (call.run.symbols().decide(call.run.truth(call.at(1))) != Answer::yes)
    call.run.named_condition(interpreter::noted_at(transient_buffer, call.place), Sharing::uniform);
  const Value made = result(call, state);
  made.as<Tensor>()->role = values::TensorRole::buffer;
  return made;
}
// Of one of several tensors each may be the buffer.
void become_buffer(Runtime& run, Value value) {
  value = run.resolve(value);
  if (value.is(Kind::choice)) {
    become_buffer(run, value.as<values::Choice>()->yes);
    become_buffer(run, value.as<values::Choice>()->no);
    return;
  }
  if (!value.is(Kind::tensor)) return;
  value.as<Tensor>()->role = values::TensorRole::buffer;
  // Of a class that nobody constructs here, somebody else may move the module.
  if (const TensorState* state = run.of_any_use() ? tensor_state(run, value) : nullptr;
      state && state->device) {
    TensorState moved = *state;
    moved.device = nullptr;
    set_state(run, value, moved);
  }
}
Value register_buffer(Call& call) {
  const Value name = call.run.resolve(call.at(0));
  if (name.is(Kind::string)) call.run.set_attribute(call.self, Name(name.text()), call.at(1));
  become_buffer(call.run, call.at(1));
  keep(call, values::ModuleState::has_buffers, call.run.heap().boolean(true));
  // What is not saved with the module.
  if (name.is(Kind::string) && call.at(2) &&
      call.run.symbols().decide(call.run.truth(call.at(2))) != Answer::yes) {
    Value transient = kept(call, values::ModuleState::transient);
    if (!transient.is(Kind::list))
      keep(call, values::ModuleState::transient, transient = call.run.heap().list({}));
    values::ListState state = *values::Heap::list_state(transient);
    state.items.push_back(name);
    call.run.heap().set_list(transient, std::move(state));
  }
  return Value::none();
}

}  // namespace

std::vector<Row> tensor_rows() {
  using enum RowKind;
  return {
      row("torch.nn.Module.register_buffer", method, "name, tensor, persistent=True", register_buffer),
      row("torch.nn.Buffer", function, "data=None, *, persistent=True", made_buffer),
      row("torch.nn.Parameter", function, "data=None, requires_grad=True", parameter),
      row("torch.nn.parameter.Parameter", function, "data=None, requires_grad=True", parameter),
  };
}

}  // namespace stepzero::libraries
