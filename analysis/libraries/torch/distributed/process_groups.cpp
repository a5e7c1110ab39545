// torch.distributed: who is who in the job and in its process groups. Semantics as in its documentation.
#include "interpreter/launch.hpp"
#include "interpreter/one_rank.hpp"
#include "interpreter/presumed_rank.hpp"
#include "libraries/python/processes.hpp"
#include "libraries/table/class_roles.hpp"
#include "libraries/torch/distributed/spread.hpp"
#include "values/kept_by_packages.hpp"

namespace stepzero::libraries {

using symbolic::Answer;
using symbolic::Role;

namespace {

// With a group that is not the default one, a rank is one of that group.
bool default_group(Value group) { return !group || group.is(Kind::none); }

// The ranks of a group, where they are known: in order, as numbers.
std::optional<std::vector<std::int64_t>> members(Call& call, Value group) {
  group = call.run.resolve(group);
  if (!group.is(Kind::instance)) return std::nullopt;
  const Value ranks = kept(call.run, *group.as<Instance>(), values::GroupState::ranks);
  if (!ranks.is(Kind::tuple)) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Value& item : ranks.as<values::Tuple>()->items)
    numbers.push_back(*call.run.symbols().value(item.integer()));
  return numbers;
}
// The place of the process that runs among the members: -1 outside.
std::optional<std::int64_t> own_place(Call& call, Value group) {
  const auto ranks = members(call, group);
  if (!ranks || !call.run.as_rank()) return std::nullopt;
  for (std::size_t i = 0; i < ranks->size(); ++i)
    if ((*ranks)[i] == call.run.as_rank()->rank) return static_cast<std::int64_t>(i);
  return -1;
}

// Who was told of a rank or a size of the job has a process group: else the call raises.
void has_group(Call& call) {
  if (!call.run.guarded())
    call.run.symbols().assume(call.run.named_condition(group_condition, Sharing::uniform));
}

// What is supposed of a group of which nothing is known, where one rank is run: it is the whole job, or as
// good as that for those who are in it. Empty: of another.
std::string supposed_of(Call& call, Value group) {
  if (!call.run.as_rank() || !group.is(Kind::unknown)) return {};
  const auto& unknown = *group.as<values::Unknown>();
  if (unknown.name.empty()) return {};
  return unknown.default_value.is(Kind::none) ? interpreter::is_default_group(unknown.name)
                                              : interpreter::is_shared_group(unknown.name);
}
// The members of such a group part by their rank among them as those of the job do.
Value rank_among_members(Call& call, Value group) {
  static_cast<void>(call.run.role(Role::rank));  // it was asked for
  const std::string supposed = supposed_of(call, group);
  if (supposed.empty()) return call.run.heap().unseen("group rank", call.place);
  values::Slot& own = call.run.heap().slot_of(
      group.as<values::Unknown>()->attributes, Name(values::UnseenGroupState::own));
  if (!own.value)  // it was always so: no write
    own.value = Value::of(interpreter::presumed_rank(call.run, supposed, Sharing::unseen));
  return own.value;
}
Value rank_of(Call& call, Value group) {
  group = call.run.resolve(group);
  if (default_group(group) ||
      (group.is(Kind::instance) && kept(call.run, *group.as<Instance>(), values::GroupState::all)))
    return Value::of(call.run.role(Role::rank));
  if (const auto place = own_place(call, group)) return call.run.heap().integer(*place);
  return rank_among_members(call, group);
}
Value get_rank(Call& call) {
  has_group(call);
  return rank_of(call, call.at(0));
}
Value own_rank(Call& call) { return rank_of(call, call.self); }
Value get_world_size(Call& call) {
  has_group(call);
  if (default_group(call.run.resolve(call.at(0)))) return Value::of(call.run.role(Role::world_size));
  if (const auto place = own_place(call, call.at(0)))
    return call.run.heap().integer(
        *place < 0 ? -1 : static_cast<std::int64_t>(members(call, call.at(0))->size()));
  if (const std::string supposed = supposed_of(call, call.run.resolve(call.at(0))); !supposed.empty())
    return Value::of(interpreter::presumed_size(call.run, supposed));
  return call.run.heap().unknown("group size", Sharing::uniform, call.place);
}
// group.size(): the same whenever it is asked for.
Value size_of_group(Call& call) {
  const Value group = call.run.resolve(call.self);
  if (const auto ranks = members(call, group); ranks && own_place(call, group) != -1)
    return call.run.heap().integer(static_cast<std::int64_t>(ranks->size()));
  if (!group.is(Kind::instance)) return call.run.heap().unknown("group size", Sharing::uniform, call.place);
  values::Slot& slot = call.run.heap().slot_of(
      group.as<Instance>()->attributes, Name(values::GroupState::size));
  if (!slot.value) {
    const std::string_view name = group.as<Instance>()->name;
    symbolic::AtomInfo info;
    info.name = name.empty() ? "group size" : std::string(name) + ".size()";
    info.lower = 1;
    info.sharing = Sharing::uniform;
    slot.value = Value::of(call.run.symbols().fresh(info));  // it was always so: no write
  }
  return slot.value;
}
// A size of the job that is given holds from there on.
Value init_process_group(Call& call) {
  judge_address(call, call.at(1));
  auto& s = call.run.symbols();
  auto size = call.run.to_constant(call.at(3));
  // Where the program says nothing, the launch does.
  if (const interpreter::Launch* launch = call.run.launch();
      launch && launch->world && size.value_or(-1) == -1 && (!call.at(3) || size)) {
    call.arguments[3] = call.run.heap().integer(*launch->world);
    return Value::none();
  }
  if (size && *size > 0 && !call.run.as_rank() && !call.run.guarded())
    if (const auto given = s.compared(
            symbolic::Compare::eq, call.run.role(Role::world_size), s.constant(*size));
        s.decide(given) == Answer::unknown)
      s.assume(given);
  return Value::none();
}
Value ranks_of_group(Call& call) {
  if (const auto ranks = members(call, call.at(0))) {
    std::vector<Value> items;
    items.reserve(ranks->size());
    for (const std::int64_t rank : *ranks) items.push_back(call.run.heap().integer(rank));
    return call.run.heap().list(std::move(items));
  }
  return call.run.heap().unseen("ranks", call.place);
}
Value global_rank(Call& call) {
  const auto ranks = members(call, call.at(0));
  const auto place = call.run.to_constant(call.at(1));
  if (ranks && place && *place >= 0 && *place < static_cast<std::int64_t>(ranks->size()))
    return call.run.heap().integer((*ranks)[static_cast<std::size_t>(*place)]);
  return call.run.heap().unseen("rank", call.place);
}
Value is_available(Call& call) { return call.run.heap().boolean(true); }
Value is_initialized(Call& call) {
  return Value::of(call.run.named_condition(group_condition, Sharing::uniform));
}
Value reduce_op(Call& call) { return call.run.heap().unknown(call.row.path, Sharing::uniform, call.place); }

}  // namespace

std::vector<Row> process_group_rows() {
  using enum RowKind;
  return {
      row("torch.distributed.get_rank", function, "group=None", get_rank),
      row("torch.distributed.get_world_size", function, "group=None", get_world_size),
      row("torch.distributed.get_node_local_rank", function, "fallback_rank=None",
          role_value<Role::local_rank>),
      row("torch.distributed.is_available", function, "", is_available),
      row("torch.distributed.is_initialized", function, "", is_initialized),
      row("torch.distributed.init_process_group", function,
          "backend=None, init_method=None, timeout=None, world_size=-1, **options", init_process_group, {},
          Operation::group_settings),
      row("torch.distributed.destroy_process_group", function, "group=None", nothing),
      row("torch.distributed._functional_collectives.wait_tensor", function, "tensor", first_argument),
      row("torch.distributed.group.WORLD", constant, "", nothing),
      row("torch.distributed.GroupMember.WORLD", constant, "", nothing),
      row("torch.distributed._get_default_group", function, "", nothing),
      row("torch.distributed.get_process_group_ranks", function, "group", ranks_of_group),
      row("torch.distributed.get_global_rank", function, "group, group_rank", global_rank),
      row("torch.distributed.get_local_rank", function, "group=None", role_value<Role::local_rank>),
      row("torch.distributed.ProcessGroup", class_, "*arguments", nullptr),
      row("torch.distributed.ProcessGroup.size", method, "", size_of_group),
      row("torch.distributed.ProcessGroup.rank", method, "", own_rank),
      row("torch.distributed.ReduceOp.SUM", constant, "", reduce_op),
      row("torch.distributed.ReduceOp.MAX", constant, "", reduce_op),
      row("torch.distributed.ReduceOp.MIN", constant, "", reduce_op),
      row("torch.distributed.ReduceOp.AVG", constant, "", reduce_op),
  };
}

}  // namespace stepzero::libraries
