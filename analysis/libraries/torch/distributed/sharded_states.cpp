// Semantics as in the documentation of torch.distributed.checkpoint.
#include "libraries/torch/distributed/sharded_states.hpp"

#include "libraries/table/hidden.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/distributed/wrapping.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

namespace stepzero::libraries {

const CollectiveInfo backward_of_fsdp = {.name = "the backward of an FSDP module",
    .hidden = true,
    .because = "it gathers the parameters and scatters the gradients"};

namespace {

// Is the module, or one in it, known to be sharded?
bool is_sharded(Runtime& run, Value module, int depth = 0) {
  module = run.resolve(module);
  if (!module.is(Kind::instance) || depth > values::deepest_search) return false;
  const auto& object = *module.as<Instance>();
  if (object.native && object.native->row && object.native->row->backward == &backward_of_fsdp) return true;
  for (const auto& [name, slot] : std::vector(object.attributes.entries())) {
    if (name.text() == values::WrapperState::sharded) return true;
    const Value part = slot->value;
    if (part.is(Kind::instance) && is_sharded(run, part, depth + 1)) return true;
    if (part.is(Kind::list) && name.text() == values::ContainerState::items)
      for (const Value& item : std::vector<Value>(values::Heap::list_state(part)->items))
        if (is_sharded(run, item, depth + 1)) return true;
  }
  return false;
}
// get_model_state_dict(model, options): what it gathers depends on the options, and on whether there are
// shards; rank 0 may send also what is no shard.
template <int options, int full> Value state_dict_by_options(Call& call) {
  const Value given = call.run.resolve(call.at(options));
  const auto is_set = [&](std::string_view name) {
    const Value set = given.is(Kind::instance) ? kept(call.run, *given.as<Instance>(), name) : Value{};
    return set && call.run.symbols().decide(call.run.truth(set)) == symbolic::Answer::yes;
  };
  const bool sends = call.row.collective->sends_from_root && is_set("broadcast_from_rank0");
  call.arguments[full] = call.run.heap().boolean(sends ||
      ((is_set("full_state_dict") || is_set("broadcast_from_rank0")) && is_sharded(call.run, call.at(0))));
  return call.run.heap().dict({}, true, call.run.heap().unknown("", Sharing::uniform, call.place));
}
template <int options, int full> Value state_dicts_by_options(Call& call) {
  const Value model = state_dict_by_options<options, full>(call);
  return call.run.heap().tuple(
      {model, call.run.heap().dict({}, true, call.run.heap().unknown("", Sharing::uniform, call.place))});
}

constexpr std::string_view one_plan = "the ranks agree on which of them writes or reads what";

constexpr Hidden hidden_states[] = {
    {"torch.distributed.checkpoint.state_dict.get_model_state_dict",
        "model, *, submodules=None, options=None, full=False", state_dict_by_options<2, 3>,
        {.name = "get_model_state_dict", .hidden = true, .because = sharded_state, .only_if = 3},
        RowKind::function},
    {"torch.distributed.checkpoint.state_dict.get_optimizer_state_dict",
        "model, optimizers, *, submodules=None, options=None, full=False", state_dict_by_options<3, 4>,
        {.name = "get_optimizer_state_dict", .hidden = true, .because = sharded_state, .only_if = 4},
        RowKind::function},
    {"torch.distributed.checkpoint.state_dict.set_model_state_dict",
        "model, model_state_dict, *, options=None, full=False", state_dict_by_options<2, 3>,
        {.name = "set_model_state_dict",
            .sends_from_root = true,
            .hidden = true,
            .because = "rank 0 sends the state to the other ranks",
            .only_if = 3},
        RowKind::function},
    {"torch.distributed.checkpoint.state_dict.set_optimizer_state_dict",
        "model, optimizers, optim_state_dict, *, options=None, full=False", state_dict_by_options<3, 4>,
        {.name = "set_optimizer_state_dict",
            .sends_from_root = true,
            .hidden = true,
            .because = "rank 0 sends the state to the other ranks",
            .only_if = 4},
        RowKind::function},

    {"torch.distributed.checkpoint.state_dict.get_state_dict",
        "model, optimizers, *, submodules=None, options=None, full=False", state_dicts_by_options<3, 4>,
        {.name = "get_state_dict", .hidden = true, .because = sharded_state, .only_if = 4},
        RowKind::function},
    {"torch.distributed.checkpoint.state_dict.set_state_dict",
        "model, optimizers, *, model_state_dict, optim_state_dict, options=None, full=False",
        state_dict_by_options<4, 5>,
        {.name = "set_state_dict",
            .sends_from_root = true,
            .hidden = true,
            .because = "rank 0 sends the state to the other ranks",
            .only_if = 5},
        RowKind::function},
    {"torch.distributed.checkpoint.save_state_dict",
        "state_dict, storage_writer, process_group=None, coordinator_rank=0, no_dist=False, planner=None",
        nothing,
        {.name = "torch.distributed.checkpoint.save_state_dict",
            .group = 2,
            .hidden = true,
            .because = one_plan,
            .local = 4},
        RowKind::function},
    {"torch.distributed.checkpoint.load_state_dict",
        "state_dict, storage_reader, process_group=None, coordinator_rank=0, no_dist=False, planner=None",
        nothing,
        {.name = "torch.distributed.checkpoint.load_state_dict",
            .group = 2,
            .hidden = true,
            .because = one_plan,
            .local = 4},
        RowKind::function},

    {"torch.distributed.checkpoint.save",
        "state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, no_dist=False, **options",
        nothing,
        {.name = "torch.distributed.checkpoint.save",
            .group = 4,
            .hidden = true,
            .because = one_plan,
            .local = 5},
        RowKind::function},
    {"torch.distributed.checkpoint.load",
        "state_dict, *, checkpoint_id=None, storage_reader=None, planner=None, process_group=None, no_dist=False, **options",
        nothing,
        {.name = "torch.distributed.checkpoint.load",
            .group = 4,
            .hidden = true,
            .because = one_plan,
            .local = 5},
        RowKind::function},
    {"torch.distributed.checkpoint.async_save",
        "state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, **options",
        unknown_of,
        {.name = "torch.distributed.checkpoint.async_save", .group = 4, .hidden = true, .because = one_plan},
        RowKind::function},
};

}  // namespace

std::vector<Row> sharded_state_rows() {
  std::vector<Row> rows = {
      row("torch.distributed.checkpoint.state_dict.StateDictOptions", RowKind::class_, "**options",
          keep_options),
  };
  add_hidden(rows, hidden_states);
  return rows;
}

}  // namespace stepzero::libraries
