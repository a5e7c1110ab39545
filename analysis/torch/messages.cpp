#include "torch/messages.hpp"

#include <algorithm>

namespace stepzero::torch {

using interpreter::Told;

namespace {

const values::Content* content_of(Interpreter& run, const Told::Sent& sent) {
  std::vector<values::Number> numbers;
  for (const std::int64_t whole : sent.whole) numbers.push_back({run.symbols().constant(whole)});
  for (const double real : sent.real) numbers.push_back({nullptr, real, real});
  return run.heap().content(sent.dtype, sent.is_scalar, std::move(numbers));
}

} // namespace

void settle_content(Call& call, Value tensor) {
  tensor = call.run.resolve(tensor);
  const TensorState* state = tensor.is(Kind::tensor) ? tensor_state(call.run, tensor) : nullptr;
  if (!state || !state->content || !call.run.as_rank() || call.run.heap().content_of(*state)) return;
  TensorState settled = *state;
  settled.content = nullptr;
  settled.extent = nullptr;
  set_state(call.run, tensor, settled);
}

void hear_anything(Interpreter& run) {
  if (Instance* heard = run.heard()) keep(run, *heard, Told::lost, run.heap().boolean(true));
}

void hear(Call& call) {
  Interpreter& run = call.run;
  Instance* heard = run.heard();
  if (!heard) return;
  const values::MessageInfo& info = *call.row.message;
  const auto argument = [&](int at) { return at >= 0 ? run.resolve(call.at(static_cast<std::size_t>(at))) : Value{}; };
  const auto given = [](Value value) { return value && !value.is(Kind::none); };
  const Value tag_value = argument(info.tag);
  const auto sender = run.to_constant(argument(info.peer)), tag = given(tag_value) ? run.to_constant(tag_value) : 0;
  const Told& told = *run.as_rank()->told;
  // Of whatever sender, or in a group: nothing that follows is followed.
  if (!sender || !tag || *sender < 0 || *sender >= static_cast<std::int64_t>(told.all.size()) || given(argument(info.group)) || given(argument(info.group_peer)) || run.guarded() || call.spread)
    return hear_anything(run);
  if (const Value lost = kept(run, *heard, Told::lost); !lost.is(Kind::boolean) || run.symbols().decide(lost.condition()) != symbolic::Answer::no) return;
  const Told::Channel channel{static_cast<int>(*sender), *tag};
  const auto found = told.sent.find(channel);
  const std::size_t all = found == told.sent.end() ? 0 : found->second.size();
  std::size_t before = 0;
  if (found != told.sent.end()) {
    const auto number = run.to_constant(kept(run, *heard, Told::counter(channel)));
    if (!number) return;
    before = static_cast<std::size_t>(*number);
    keep(run, *heard, Told::counter(channel), run.heap().integer(*number + 1));
  }
  if (before >= all) {
    if (told.all[static_cast<std::size_t>(channel.first)] && !info.starts) run.exit_process();
    return;
  }
  const auto& sent = found->second[before];
  const Value tensor = run.resolve(call.at(0));
  const TensorState* state = tensor.is(Kind::tensor) ? tensor_state(run, tensor) : nullptr;
  if (!sent || info.starts || !state || state->dtype != sent->dtype) return;
  TensorState filled = *state;
  filled.content = content_of(run, *sent);
  set_state(run, tensor, filled);
}

} // namespace stepzero::torch
