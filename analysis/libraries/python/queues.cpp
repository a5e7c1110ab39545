// Queues of the queue module: what was put in, in order. What other threads do with one makes it open: it was
// handed to code that is not followed.
#include "libraries/table/native.hpp"

namespace stepzero::libraries {

using values::ListKind;

namespace {

// The name that Python itself gives it.
constexpr std::string_view inside = "queue";

Value items(const Call& call) {
  const Value list = kept(call, inside);
  return list.is(Kind::list) ? list : Value{};
}
Value ask(Call& call, Value list, std::string_view method, std::vector<Value> arguments = {}) {
  return call.run.call(
      call.run.attribute(list, Name(method), call.place), {std::move(arguments), {}, false}, call.place);
}

Value make(Call& call) {
  keep(call, inside, call.run.heap().list({}, ListKind::deque));
  return {};
}
Value put(Call& call) {
  if (const Value list = items(call)) ask(call, list, "append", {call.at(0)});
  return Value::none();
}
// Of an empty one it waits for another thread.
bool may_wait(const Value& list) {
  const auto* state = list ? values::Heap::list_state(list) : nullptr;
  return !state || (!state->open && state->items.empty());
}
Value first(Call& call) {
  const Value list = items(call);
  return may_wait(list) ? unknown_of(call) : ask(call, list, "popleft");
}
Value last(Call& call) {
  const Value list = items(call);
  return may_wait(list) ? unknown_of(call) : ask(call, list, "pop");
}
// The smallest, where an order is known.
Value smallest(Call& call) {
  const Value list = items(call);
  if (may_wait(list)) return unknown_of(call);
  values::ListState state = *values::Heap::list_state(list);
  if (!state.open && call.run.sort_values(state.items, {}, false, call.place)) {
    call.run.heap().set_list(list, std::move(state));
    return ask(call, list, "popleft");
  }
  (void)ask(call, list, "popleft");
  return unknown_of(call);
}
Value size(Call& call) {
  const Value list = items(call);
  return list ? call.run.length_of(list, call.place) : unknown_of(call);
}
Value is_empty(Call& call) {
  const Value list = items(call);
  if (!list) return unknown_of(call);
  return call.run.compare(
      syntax::CompareOp::eq, call.run.length_of(list, call.place), Value::of(call.run.symbols().constant(0)));
}

}  // namespace

std::vector<Row> queue_rows() {
  using enum RowKind;
  return {
      row("queue.Queue", class_, "maxsize=0", make),
      row("queue.Queue.put", method, "item, block=True, timeout=None", put),
      row("queue.Queue.put_nowait", method, "item", put),
      row("queue.Queue.get", method, "block=True, timeout=None", first),
      row("queue.Queue.get_nowait", method, "", first),
      row("queue.Queue.qsize", method, "", size),
      row("queue.Queue.empty", method, "", is_empty),
      row("queue.Queue.full", method, "", unknown_of),
      row("queue.Queue.task_done", method, "", nothing),
      row("queue.Queue.join", method, "", nothing),
      row("queue.SimpleQueue", class_, "", make, "queue.Queue"),
      row("queue.LifoQueue", class_, "maxsize=0", make, "queue.Queue"),
      row("queue.LifoQueue.get", method, "block=True, timeout=None", last),
      row("queue.LifoQueue.get_nowait", method, "", last),
      row("queue.PriorityQueue", class_, "maxsize=0", make, "queue.Queue"),
      row("queue.PriorityQueue.get", method, "block=True, timeout=None", smallest),
      row("queue.PriorityQueue.get_nowait", method, "", smallest),
  };
}

}  // namespace stepzero::libraries
