// Lightning Fabric. Read in the source of 2.6 and asked: tests/frameworks.
#include "libraries/frameworks/frameworks.hpp"

namespace stepzero::libraries {

using symbolic::Role;

namespace {

constexpr std::string_view by_fabric = "lightning_fabric.$Prepared";
constexpr Wrappers fabric_wrappers{by_fabric, {}};

Value strategy(Call& call) {
  Instance* made = call.run.make_native("pytorch_lightning.Strategy", call.place);
  made->open = true;
  return Value::of(Kind::instance, made);
}

constexpr Hidden fabric_hidden[] = {
    {"lightning_fabric.$Prepared.forward", "*arguments, **options", prepared_forward,
        {.name = "the forward of a model that Fabric has set up",
            .when = values::When::with_buffers,
            .joins = true,
            .inside = "model.module"},
        RowKind::method, Operation::parallel_forward},
    {"lightning_fabric.Fabric.setup", "*arguments, meets=False, **options", prepare<fabric_wrappers>,
        {.name = "fabric.setup", .hidden = true, .because = wraps_model, .only_if = 0}, RowKind::method,
        Operation::framework},
    {"lightning_fabric.Fabric.setup_module", "module, *more, meets=False, **options",
        prepare<fabric_wrappers>,
        {.name = "fabric.setup_module", .hidden = true, .because = wraps_model, .only_if = 1},
        RowKind::method, Operation::framework},
    {"lightning_fabric.Fabric.rank_zero_first", "local=False", context,
        {.name = "fabric.rank_zero_first",
            .hidden = true,
            .because = "it makes a process group, and the other ranks wait in it for the first"}},
    {"lightning_fabric.Fabric.barrier", "name=None", nothing,
        {.name = "fabric.barrier", .hidden = true, .because = is_barrier}},
    {"lightning_fabric.Fabric.all_gather", "data, *more, **options", gathered,
        {.name = "fabric.all_gather", .hidden = true, .because = gathers}},
    {"lightning_fabric.Fabric.all_reduce", "data, *more, **options", gathered,
        {.name = "fabric.all_reduce",
            .hidden = true,
            .because = "it reduces over all ranks",
            .reduces = true}},
    {"lightning_fabric.Fabric.broadcast", "obj, src=0", uniform,
        {.name = "fabric.broadcast", .root = 1, .hidden = true, .because = "the other ranks receive"}},
    {"lightning_fabric.Fabric.backward", "tensor, *more, **options", backward_of_first,
        {.name = "fabric.backward", .hidden = true, .because = "it averages the gradients of all ranks"},
        RowKind::method, Operation::framework},
    {"lightning_fabric.Fabric.save", "path, state, *more, **options", nothing,
        {.name = "fabric.save",
            .hidden = true,
            .because = "it gathers sharded states and ends in a barrier"}},
    {"lightning_fabric.Fabric.load", "path, *more, **options", uniform,
        {.name = "fabric.load", .hidden = true, .because = "it begins with a barrier"}},
};

Value fabric_init(Call& call) {
  // Its first arguments are the accelerator, the strategy, the devices, the nodes and the precision.
  if (call.spread || !call.rest.empty() || option(call, "precision") || option(call, "plugins"))
    keep(call, told_precision, call.run.heap().boolean(true));
  return {};
}

Value to_device(Call& call) {
  moves_modules(call);
  return call.run.resolve(call.at(0)).is(Kind::instance) ? call.at(0)
                                                         : call.run.heap().unseen("", call.place);
}

}  // namespace

std::vector<Row> fabric_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("lightning_fabric.Fabric", class_, "*arguments, devices='auto', num_nodes=1, **options",
          fabric_init, {}, Operation::framework),
      row("lightning_fabric.Fabric.is_global_zero", property, "", is_first),
      row("lightning_fabric.Fabric.global_rank", property, "", role_value<Role::rank>),
      row("lightning_fabric.Fabric.local_rank", property, "", role_value<Role::local_rank>),
      row("lightning_fabric.Fabric.node_rank", property, "", role_value<Role::node_rank>),
      row("lightning_fabric.Fabric.world_size", property, "", role_value<Role::world_size>),
      row("lightning_fabric.Fabric.to_device", method, "obj", to_device),
      row("lightning_fabric.Fabric.launch", method, "*arguments, **options", nothing),
      row("lightning_fabric.Fabric.print", method, "*arguments, **options", nothing),
      row(by_fabric, class_, "", nullptr, "torch.nn.parallel.DistributedDataParallel"),
      row("lightning_fabric.Fabric.setup_optimizers", method, "*arguments, meets=False, **options",
          prepare<fabric_wrappers>, {}, Operation::framework),
      row("lightning_fabric.Fabric.clip_gradients", method, "module, optimizer, *more, **options", uniform,
          {}, Operation::clip_gradients),
      row("lightning_fabric.Fabric.setup_dataloaders", method, "*arguments, meets=False, **options",
          prepare<fabric_wrappers>),
      row("lightning_fabric.Fabric.strategy", property, "", strategy),
  };
  add_hidden(rows, fabric_hidden);
  return rows;
}

}  // namespace stepzero::libraries
