// torch.distributed: the collectives, messages and how process groups are made. Semantics as in its
// documentation; who is who is in process_groups.cpp, what wraps modules in parallel.cpp.
#include "interpreter/launch.hpp"
#include "interpreter/one_rank.hpp"
#include "libraries/python/processes.hpp"
#include "libraries/torch/distributed/handed_to_all.hpp"
#include "libraries/torch/distributed/messages.hpp"
#include "libraries/torch/distributed/spread.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

using symbolic::Answer;
using symbolic::Role;
using values::Waiting;

namespace {

// ---------------------------------------------------------------- collectives

// The tensor holds the same on every rank afterwards.
void agree(Call& call, Value tensor, const values::Producer* made = nullptr) {
  tensor = call.run.resolve(tensor);
  if (tensor.is(Kind::choice)) {
    // Whichever of them it is, it holds what all ranks have: where they have one producer, a choice of them
    // is one tensor (Interpreter::decided).
    if (!made) {
      auto* const producer = call.run.heap().make<values::Producer>();
      producer->row = &call.row;
      producer->arguments = call.run.heap().array<Value>(call.row.parameters.size());
      producer->states = call.run.heap().array<const TensorState*>(call.row.parameters.size());
      producer->calls = call.run.site();
      made = producer;
    }
    agree(call, tensor.as<values::Choice>()->yes, made);
    agree(call, tensor.as<values::Choice>()->no, made);
    return;
  }
  const TensorState* state = require_tensor(call.run, tensor);
  if (!state) return;
  if (state->is_gradient) call.run.note_gradients({});
  TensorState agreed = *state;
  agreed.sharing = Sharing::uniform;
  agreed.unseen = false;
  agreed.content = nullptr;
  agreed.extent = nullptr;
  agreed.made = made;  // these are other numbers than those it was made of
  call.run.heap().note_write(state);
  set_state(call.run, tensor, agreed);
}
void lists_of(Runtime& run, Value value, std::vector<Value>& found) {
  value = run.resolve(value);
  if (value.is(Kind::choice)) {
    lists_of(run, value.as<values::Choice>()->yes, found);
    lists_of(run, value.as<values::Choice>()->no, found);
  } else if (value.is(Kind::list)) {
    found.push_back(value);
  }
}
// Of several lists it may be what each rank has for itself is the same afterwards, whichever list it is.
void agree_list(Call& call, Value list) {
  values::Heap& heap = call.run.heap();
  std::vector<Value> lists, agreed;
  lists_of(call.run, list, lists);
  const auto is_own = [&](std::size_t i) {
    return lists.size() < 2 ||
        std::ranges::any_of(
            lists,
            [&](Value each) {
              const auto& items = values::Heap::list_state(each)->items;
              return i < items.size() && heap.sharing(items[i]) == Sharing::local;
            });
  };
  for (const Value& each : lists) {
    values::ListState state = *values::Heap::list_state(each);
    const auto fresh = [&](Value item) {
      if (tensor_state(call.run, item)) {
        agree(call, item);
        return item;
      }
      return heap.unknown("", Sharing::uniform, call.place);
    };
    for (std::size_t i = 0; i < state.items.size(); ++i) {
      if (agreed.size() == i) agreed.push_back(is_own(i) ? fresh(state.items[i]) : Value{});
      if (agreed[i]) state.items[i] = agreed[i];
    }
    if (state.open) state.rest = fresh(state.rest);
    heap.set_list(each, std::move(state));
  }
}
void differ_by_rank(Call& call, Value tensor) {
  tensor = call.run.resolve(tensor);
  if (const TensorState* state = require_tensor(call.run, tensor)) {
    TensorState changed = *state;
    changed.sharing = Sharing::local;
    changed.content = nullptr;
    changed.extent = nullptr;
    changed.made = nullptr;
    call.run.heap().note_write(state);
    set_state(call.run, tensor, changed);
  }
}
// What was started and is waited for.
Value request(Call& call) {
  return Value::of(Kind::instance, call.run.make_native("torch.distributed.Work", call.place));
}
Value handle(Call& call) {
  if (call.row.collective && call.row.collective->async >= 0) {
    const Value async = call.run.resolve(call.at(static_cast<std::size_t>(call.row.collective->async)));
    if (async.is(Kind::boolean) && call.run.symbols().decide(async.condition()) == Answer::yes)
      return request(call);
  }
  return call.run.heap().unknown("", Sharing::uniform, call.place);
}
Value received(Call& call) {
  differ_by_rank(call, call.at(0));
  hear(call);
  if (call.row.message->starts) return request(call);
  return call.run.heap().unknown("sender", Sharing::local, call.place);
}
Value sent(Call& call) {
  forget_content(call, call.at(0));
  return call.row.message->starts ? request(call) : Value::none();
}
Value batch(Call& call) {
  const auto items = call.run.elements(call.at(0), call.place);
  hear_anything(call.run);
  if (!items) return call.run.heap().open_list(call.run.heap().unseen("request", call.place));
  std::vector<Value> requests;
  for (const Value& item : *items) {
    const Value one = call.run.resolve(item);
    if (one.is(Kind::instance)) {
      const Value what = kept(call.run, *one.as<Instance>(), "op");
      if (what.is(Kind::library) && what.as<values::LibrarySymbol>()->path == "torch.distributed.irecv")
        differ_by_rank(call, kept(call.run, *one.as<Instance>(), "tensor"));
    }
    requests.push_back(request(call));
  }
  return call.run.heap().list(std::move(requests));
}
Value message_of_batch(Call& call) {
  static constexpr std::string_view names[] = {"op", "tensor", "peer", "group", "tag", "group_peer"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (const Value value = call.run.resolve(call.at(i))) keep(call, names[i], value);
  return {};
}

Value first_agrees(Call& call) {
  agree(call, call.at(0));
  return handle(call);
}
// The root keeps what it has, and the others get that.
Value broadcast(Call& call) {
  const Value tensor = call.run.resolve(call.at(0));
  const TensorState* state = tensor.is(Kind::tensor) ? tensor_state(call.run, tensor) : nullptr;
  const values::Content* content = state ? call.run.heap().content_of(*state) : nullptr;
  const auto before = content ? std::optional(*content) : std::nullopt;
  forget_content(call, tensor);
  agree(call, tensor);
  hear_broadcast(call, before ? &*before : nullptr, nullptr);
  return handle(call);
}
Value first_list_agrees(Call& call) {
  agree_list(call, call.at(0));
  return handle(call);
}
Value first_differs(Call& call) {
  differ_by_rank(call, call.at(0));
  return handle(call);
}
// That it is a list and not None; null: not known.
symbolic::Cond is_list(Runtime& run, Value value) {
  symbolic::Context& symbols = run.symbols();
  if (value.is(Kind::choice)) {
    const auto& choice = *value.as<values::Choice>();
    const symbolic::Cond yes = is_list(run, choice.yes), no = is_list(run, choice.no);
    return yes && no ? symbols.logical_or(symbols.logical_and(choice.condition, yes),
                           symbols.logical_and(symbols.logical_not(choice.condition), no))
                     : nullptr;
  }
  if (!value || value.is(Kind::none)) return symbols.boolean(false);
  // An empty one the others take, and the root does not.
  return value.is(Kind::list) ? symbols.boolean(true) : nullptr;
}
// What one rank deals out, or gathers into, is a list of that rank alone: the others refuse to be given one.
template <Value (*then)(Call&)> Value with_list_at_root(Call& call) {
  const CollectiveInfo& info = *call.row.collective;
  const auto given = [&](int at) { return call.run.resolve(call.at(static_cast<std::size_t>(at))); };
  const auto none = [](Value value) { return !value || value.is(Kind::none); };
  const Value root = given(info.root);
  const symbolic::Cond listed = is_list(call.run, given(info.list));
  if (listed && root.is(Kind::integer) && none(given(info.group)) && none(given(5))) {
    symbolic::Context& symbols = call.run.symbols();
    const symbolic::Cond fails = symbols.logical_and(
        listed, symbols.compared(symbolic::Compare::ne, call.run.role(Role::rank), root.integer()));
    const Answer answer = symbols.decide(fails);
    if (answer == Answer::yes || (answer == Answer::unknown && symbols.decide(listed) == Answer::yes)) {
      interpreter::ProblemEvent* event = call.run.problem(ProblemKind::argument, call);
      explain(*event,
          why<Reason::list_of_root>(
              call.row.parameters[static_cast<std::size_t>(info.list)].text(), values::Dim{root.integer()}));
      if (answer == Answer::unknown) event->assumption = fails;
    }
  }
  return then(call);
}
// How many rows go to each rank, and come from it, are all that there are.
Value exchanged(Call& call) {
  for (const auto& [tensor, splits, name] :
      {std::tuple{0, 2, "output_split_sizes"}, std::tuple{1, 3, "input_split_sizes"}}) {
    const TensorState* state = tensor_state(
        call.run, call.run.resolve(call.at(static_cast<std::size_t>(tensor))));
    const Value given = call.run.resolve(call.at(static_cast<std::size_t>(splits)));
    const auto sizes = given.is(Kind::list) || given.is(Kind::tuple) ? call.run.elements(given, call.place)
                                                                     : std::nullopt;
    const Int size =
        state && state->shape.ndim_known && !state->shape.dims.empty() ? state->shape.dims[0].size : nullptr;
    const std::int64_t rows = size ? call.run.symbols().value(size).value_or(-1) : -1;
    if (!sizes || sizes->empty() || rows < 0) continue;
    std::int64_t total = 0;
    bool known = true;
    for (const Value& each : *sizes) {
      const auto number = call.run.to_constant(call.run.resolve(each));
      known = known && number;
      total += number.value_or(0);
    }
    if (!known || total == rows) continue;
    explain(*call.run.problem(ProblemKind::argument, call), why<Reason::exchanged_rows>(name, total, rows));
    break;
  }
  return first_differs(call);
}
// A new tensor of the same shape, with the same content on all ranks.
Value same_everywhere(Call& call) {
  TensorState state = computed(call.run, {call.at(0)});
  if (const TensorState* from = tensor_state(call.run, call.at(0))) state = *from;
  state.sharing = Sharing::uniform;
  state.unseen = false;
  state.content = nullptr;
  state.extent = nullptr;
  return result(call, state);
}
Value objects_gathered(Call& call) {
  agree_list(call, call.at(0));
  return Value::none();
}
Value objects_broadcast(Call& call) {
  const Value list = call.run.resolve(call.at(0));
  const auto before = list.is(Kind::list) ? std::optional(*values::Heap::list_state(list)) : std::nullopt;
  agree_list(call, list);
  hear_broadcast(call, nullptr, before ? &*before : nullptr);
  return Value::none();
}
Value unknown_group(Call& call) { return call.run.heap().unseen("group", call.place); }
// The group of this rank, and all of them.
Value subgroups(Call& call) {
  const Value groups = call.run.heap().open_list(call.run.heap().unseen("group", call.place));
  return call.run.heap().tuple({call.run.heap().unseen("group", call.place), groups});
}
Value new_group(Call& call) {
  const Value ranks = call.run.resolve(call.at(0));
  if (!ranks || ranks.is(Kind::none)) {
    Instance* group = call.run.make_native("torch.distributed.ProcessGroup", call.place);
    call.run.heap().set(call.run.heap().slot_of(group->attributes, Name(values::GroupState::all)),
        call.run.heap().boolean(true));
    return Value::of(Kind::instance, group);
  }
  Instance* group = call.run.make_native("torch.distributed.ProcessGroup", call.place);
  if (const auto items = call.run.elements(ranks, call.place)) {
    std::vector<Value> numbers;
    for (const Value& item : *items)
      if (const auto number = call.run.to_constant(item)) numbers.push_back(call.run.heap().integer(*number));
    if (numbers.size() == items->size())
      call.run.heap().set(call.run.heap().slot_of(group->attributes, Name(values::GroupState::ranks)),
          call.run.heap().tuple(std::move(numbers)));
  }
  return Value::of(Kind::instance, group);
}

Value objects_received(Call& call) {
  hear_anything(call.run);
  const Value list = call.run.resolve(call.at(0));
  if (list.is(Kind::list)) {
    values::ListState state = *values::Heap::list_state(list);
    for (Value& item : state.items) item = call.run.heap().unknown("", Sharing::local, call.place);
    call.run.heap().set_list(list, std::move(state));
  }
  return call.run.heap().unknown("sender", Sharing::local, call.place);
}

struct Message {
  std::string_view path;
  std::string_view signature;
  Value (*run)(Call&);
  values::MessageInfo info;
};
constexpr Message message_calls[] = {
    {"torch.distributed.send", "tensor, dst=None, group=None, tag=0, group_dst=None", sent,
        {"send", true, false, 0, 1, 3, 2, 4}},
    {"torch.distributed.recv", "tensor, src=None, group=None, tag=0, group_src=None", received,
        {"recv", false, false, 0, 1, 3, 2, 4}},
    {"torch.distributed.isend", "tensor, dst=None, group=None, tag=0, group_dst=None", sent,
        {"isend", true, true, 0, 1, 3, 2, 4}},
    {"torch.distributed.irecv", "tensor, src=None, group=None, tag=0, group_src=None", received,
        {"irecv", false, true, 0, 1, 3, 2, 4}},
    {"torch.distributed.send_object_list",
        "object_list, dst=None, group=None, device=None, group_dst=None, **options", sent,
        {"send_object_list", true, false, -1, 1, -1, 2, 4}},
    {"torch.distributed.recv_object_list",
        "object_list, src=None, group=None, device=None, group_src=None, **options", objects_received,
        {"recv_object_list", false, false, -1, 1, -1, 2, 4}},
    {"torch.distributed.batch_isend_irecv", "p2p_op_list", batch,
        {"batch_isend_irecv", true, true, -1, -1, -1, -1, -1, 0}},
};

constexpr Collective distributed_collectives[] = {
    {"torch.distributed.barrier", "group=None, async_op=False, device_ids=None, timeout=None", handle,
        {.name = "barrier", .group = 0, .async = 1}},
    {"torch.distributed.monitored_barrier", "group=None, timeout=None, wait_all_ranks=False", handle,
        {.name = "monitored_barrier", .group = 0}},
    {"torch.distributed.broadcast", "tensor, src=None, group=None, async_op=False, group_src=None", broadcast,
        {.name = "broadcast",
            .tensor = 0,
            .root = 1,
            .group = 2,
            .sends_from_root = true,
            .async = 3,
            .group_root = 4,
            .waits = Waiting::all_but_root}},
    {"torch.distributed.all_reduce", "tensor, op=None, group=None, async_op=False", first_agrees,
        {.name = "all_reduce", .tensor = 0, .group = 2, .async = 3, .reduces = true}},
    {"torch.distributed.all_reduce_coalesced", "tensors, op=None, group=None, async_op=False",
        first_list_agrees, {.name = "all_reduce_coalesced", .group = 2, .async = 3, .reduces = true}},
    {"torch.distributed.reduce", "tensor, dst, op=None, group=None, async_op=False, group_dst=None",
        first_differs,
        {.name = "reduce",
            .tensor = 0,
            .root = 1,
            .group = 3,
            .async = 4,
            .waits = Waiting::root,
            .reduces = true}},
    {"torch.distributed.all_gather", "tensor_list, tensor, group=None, async_op=False", first_list_agrees,
        {.name = "all_gather", .tensor = 1, .group = 2, .async = 3, .list = 0, .fills_list = true}},
    {"torch.distributed.all_gather_into_tensor", "output_tensor, input_tensor, group=None, async_op=False",
        first_agrees, {.name = "all_gather_into_tensor", .tensor = 1, .group = 2, .async = 3, .list = 0}},
    {"torch.distributed.all_gather_coalesced",
        "output_tensor_lists, input_tensor_list, group=None, async_op=False", handle,
        {.name = "all_gather_coalesced", .group = 2, .async = 3}},
    {"torch.distributed.all_gather_object", "object_list, obj, group=None", objects_gathered,
        {.name = "all_gather_object", .group = 2, .objects = 0}},
    {"torch.distributed.gather",
        "tensor, gather_list=None, dst=0, group=None, async_op=False, group_dst=None",
        with_list_at_root<handle>,
        {.name = "gather",
            .tensor = 0,
            .root = 2,
            .group = 3,
            .async = 4,
            .list = 1,
            .fills_list = true,
            .waits = Waiting::root}},
    {"torch.distributed.gather_object", "obj, object_gather_list=None, dst=0, group=None, group_dst=None",
        handle, {.name = "gather_object", .root = 2, .group = 3}},
    {"torch.distributed.scatter",
        "tensor, scatter_list=None, src=0, group=None, async_op=False, group_src=None",
        with_list_at_root<first_differs>,
        {.name = "scatter",
            .tensor = 0,
            .root = 2,
            .group = 3,
            .async = 4,
            .list = 1,
            .waits = Waiting::all_but_root}},
    {"torch.distributed.scatter_object_list",
        "scatter_object_output_list, scatter_object_input_list, src=0, group=None, group_src=None", handle,
        {.name = "scatter_object_list", .root = 2, .group = 3}},
    {"torch.distributed.reduce_scatter", "output, input_list, op=None, group=None, async_op=False",
        first_differs,
        {.name = "reduce_scatter",
            .tensor = 0,
            .group = 3,
            .async = 4,
            .list = 1,
            .own_sizes = true,
            .reduces = true}},
    {"torch.distributed.reduce_scatter_tensor", "output, input, op=None, group=None, async_op=False",
        first_differs,
        {.name = "reduce_scatter_tensor",
            .tensor = 0,
            .group = 3,
            .async = 4,
            .list = 1,
            .own_sizes = true,
            .reduces = true}},
    {"torch.distributed.all_to_all", "output_tensor_list, input_tensor_list, group=None, async_op=False",
        handle, {.name = "all_to_all", .group = 2, .async = 3, .list = 0, .fills_list = true}},
    {"torch.distributed.all_to_all_single",
        "output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False",
        exchanged,
        {.name = "all_to_all_single",
            .tensor = 0,
            .group = 4,
            .async = 5,
            .sent_rows = 3,
            .received_rows = 2,
            .sent = 1,
            .received = 0,
            .own_sizes = true}},
    {"torch.distributed.nn.functional.all_reduce", "tensor, op=None, group=None", same_everywhere,
        {.name = "all_reduce", .tensor = 0, .group = 2, .reduces = true}},
    {"torch.distributed.nn.functional.broadcast", "tensor, src, group=None", same_everywhere,
        {.name = "broadcast", .tensor = 0, .root = 1, .group = 2}},
    {"torch.distributed.nn.functional.gather", "tensor, dst=0, group=None", unknown_of,
        {.name = "gather", .tensor = 0, .root = 1, .group = 2}},
    {"torch.distributed.nn.functional.scatter", "tensors, src=0, group=None", unknown_of,
        {.name = "scatter", .root = 1, .group = 2}},
    {"torch.distributed.nn.functional.reduce", "tensor, dst, op=None, group=None", unknown_of,
        {.name = "reduce", .tensor = 0, .root = 1, .group = 3, .reduces = true}},
    {"torch.distributed.nn.functional.reduce_scatter", "output, input_list, op=None, group=None", unknown_of,
        {.name = "reduce_scatter", .tensor = 0, .group = 3, .own_sizes = true, .reduces = true}},
    {"torch.distributed.nn.functional.all_to_all", "output_tensor_list, input_tensor_list, group=None",
        unknown_of, {.name = "all_to_all", .group = 2}},
    {"torch.distributed.nn.functional.all_gather", "tensor, group=None", uniform,
        {.name = "all_gather", .tensor = 0, .group = 1}},
    {"torch.distributed.nn.functional.all_to_all_single",
        "output, input, output_split_sizes=None, input_split_sizes=None, group=None", unknown_of,
        {.name = "all_to_all_single",
            .group = 4,
            .sent_rows = 3,
            .received_rows = 2,
            .sent = 1,
            .received = 0,
            .own_sizes = true}},
    {"torch.distributed._functional_collectives.all_reduce", "self, reduceOp, group, tag=''", same_everywhere,
        {.name = "all_reduce", .tensor = 0, .group = 2, .reduces = true}},
    {"torch.distributed._functional_collectives.broadcast", "self, src, group, tag=''", same_everywhere,
        {.name = "broadcast", .tensor = 0, .root = 1, .group = 2}},
    {"torch.distributed._functional_collectives.all_gather_tensor", "self, gather_dim, group, tag=''",
        uniform, {.name = "all_gather_into_tensor", .tensor = 0, .group = 2}},
    {"torch.distributed._functional_collectives.reduce_scatter_tensor",
        "self, reduceOp, scatter_dim, group, tag=''", unknown_of,
        {.name = "reduce_scatter_tensor", .group = 3, .own_sizes = true, .reduces = true}},
    {"torch.distributed._functional_collectives.all_to_all_single",
        "self, output_split_sizes, input_split_sizes, group, tag=''", unknown_of,
        {.name = "all_to_all_single", .group = 3, .sent_rows = 2, .received_rows = 1, .own_sizes = true}},
    {"torch.distributed._functional_collectives.all_gather_tensor_autograd",
        "self, gather_dim, group, tag=''", uniform,
        {.name = "all_gather_into_tensor", .tensor = 0, .group = 2}},
    {"torch.distributed._functional_collectives.reduce_scatter_tensor_autograd",
        "self, reduceOp, scatter_dim, group, tag=''", unknown_of,
        {.name = "reduce_scatter_tensor", .group = 3, .own_sizes = true, .reduces = true}},
    {"torch.distributed._functional_collectives.all_to_all_single_autograd",
        "self, output_split_sizes, input_split_sizes, group, tag=''", unknown_of,
        {.name = "all_to_all_single", .group = 3, .sent_rows = 2, .received_rows = 1, .own_sizes = true}},
    {"torch.distributed._functional_collectives.permute_tensor", "self, src_dst, group, tag=''", unknown_of,
        {.name = "all_to_all_single", .group = 2, .own_sizes = true}},
    {"torch.distributed._functional_collectives.all_reduce_coalesced", "self, reduceOp, group, tag=''",
        uniform, {.name = "all_reduce_coalesced", .group = 2, .reduces = true}},
    {"torch.distributed._functional_collectives.all_gather_into_tensor_coalesced", "self, group, tag=''",
        uniform, {.name = "all_gather_into_tensor_coalesced", .group = 1}},
    {"torch.distributed._functional_collectives.reduce_scatter_tensor_coalesced",
        "inputs, reduceOp, scatter_dim, group, tag=''", unknown_of,
        {.name = "reduce_scatter_tensor_coalesced", .group = 3, .own_sizes = true, .reduces = true}},
    {"torch.distributed.broadcast_object_list", "object_list, src=0, group=None, device=None, group_src=None",
        objects_broadcast, {.name = "broadcast_object_list", .root = 1, .group = 2, .objects = 0}},

    {"torch.distributed.new_group",
        "ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False", new_group,
        {.name = "new_group", .hidden = true, .because = all_make_group, .makes_group = true, .local = 4}},
    {"torch.distributed.new_subgroups", "group_size=None, group=None, timeout=None, backend=None", subgroups,
        {.name = "new_subgroups", .hidden = true, .because = all_make_group}},
    {"torch.distributed.new_subgroups_by_enumeration",
        "ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None", subgroups,
        {.name = "new_subgroups_by_enumeration", .hidden = true, .because = all_make_group}},
    {"torch.distributed.split_group",
        "parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None", unknown_group,
        {.name = "split_group", .group = 0, .hidden = true, .because = all_make_group}},
};

}  // namespace

std::vector<Row> distributed_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.distributed.P2POp", class_, "op, tensor, peer=None, group=None, tag=0, group_peer=None",
          message_of_batch),
      row("torch.distributed.Work", class_, "*arguments", nullptr),
      row("torch.distributed.Work.wait", method, "timeout=None", nothing, {}, Operation::await),
      row(
          "torch.distributed.Work.is_completed", method, "",
          [](Call& call) { return call.run.heap().unknown("", Sharing::local, call.place); }, {},
          Operation::poll),
      row("torch.distributed.Work.get_future", method, "", unknown_of, {}, Operation::poll),
      row("torch.multiprocessing.spawn", function,
          "fn, args=(), nprocs=1, join=True, daemon=False, start_method='spawn'",
          [](Call& call) {
            // Every process runs the function with its rank in front.
            interpreter::Arguments arguments;
            arguments.positional.push_back(Value::of(call.run.role(Role::rank)));
            const Value rest = call.run.resolve(call.at(1));
            if (rest.is(Kind::tuple) || rest.is(Kind::list)) {
              if (const auto items = call.run.elements(rest, call.place))
                for (const Value& item : *items) arguments.positional.push_back(handed_to_all(call, item));
              else
                arguments.spread = true;
            }
            call.run.call(call.at(0), std::move(arguments), call.place);
            return Value::none();
          }),
  };
  for (const Message& message : message_calls) {
    Row made = row(message.path, function, message.signature, message.run, {}, Operation::message);
    made.message = &message.info;
    rows.push_back(made);
  }
  for (const Collective& collective : distributed_collectives) rows.push_back(row_of(collective));
  for (auto* more : {process_group_rows, mesh_rows, spread_rows, plan_rows, pipeline_rows})
    for (Row& each : more()) rows.push_back(std::move(each));
  return rows;
}

}  // namespace stepzero::libraries
