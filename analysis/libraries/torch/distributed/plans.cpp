// Plans of tensor parallelism: parallelize_module(module, mesh, {"path": style}). What passes through a
// module that is spread so is this rank's part of it, as PyTorch 2.13 answers for layers with weights:
// columns that each rank has some of, rows whose products are summed.
#include "libraries/torch/distributed/spread.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

constexpr std::string_view tensor_parallel = "torch.distributed.tensor.parallel.";

// What a plan does to what goes into a layer, and to what comes out of it.
enum class Layout : std::uint8_t { whole, columns, other };
Layout layout_of(Runtime& run, const Instance& style, std::string_view which, Layout usual) {
  const Value given = kept(run, style, which);
  if (!given || given.is(Kind::none)) return usual;
  const std::string_view how = only_placement(run, given);
  if (how.ends_with(".Replicate")) return Layout::whole;
  const Value dim =
      how.ends_with(".Shard") && given.is(Kind::instance) ? kept(run, *given.as<Instance>(), "dim") : Value{};
  return dim && run.to_constant(dim) == -1 ? Layout::columns : Layout::other;
}
bool is_off(Runtime& run, const Instance& style, std::string_view flag) {
  const Value given = kept(run, style, flag);
  return given && run.symbols().decide(run.truth(given)) != Answer::yes;
}

void add_hook(Runtime& run, Instance& module, std::string_view hooks, std::string_view path) {
  const Value present = kept(run, module, hooks);
  std::vector<Value> items;
  if (present.is(Kind::list)) items = values::Heap::list_state(present)->items;
  items.push_back(run.library_symbol(path));
  keep(run, module, hooks, run.heap().list(std::move(items)));
}

// What the style makes of a layer with weights. `$ranks` keeps how many share it.
void carry_out(Call& call, Value module, Value style, Value mesh) {
  Runtime& run = call.run;
  module = run.resolve(module);
  style = run.resolve(style);
  if (!module.is(Kind::instance)) return;
  Instance& layer = *module.as<Instance>();
  const auto unknown = [&] {
    keep(run, layer, values::GroupState::spread, run.heap().integer(-1));
    add_hook(run, layer, values::ModuleState::pre_hooks, "torch.distributed.tensor.parallel.$open");
    add_hook(run, layer, values::ModuleState::hooks, "torch.distributed.tensor.parallel.$open");
  };
  const Instance* how = style.is(Kind::instance) && style.as<Instance>()->native && !style.as<Instance>()->cls
      ? style.as<Instance>()
      : nullptr;
  const bool linear = !layer.cls && layer.native && layer.native->path == "torch.nn.Linear",
             table = !layer.cls && layer.native && layer.native->path == "torch.nn.Embedding";
  const Int ranks = size_of_mesh(run, mesh);
  const std::string_view name = how
      ? how->native->path.substr(std::min(how->native->path.size(), tensor_parallel.size()))
      : std::string_view{};
  const bool columns = name == "ColwiseParallel", rows = name == "RowwiseParallel";
  if (!how || !ranks || (!columns && !rows) || (!linear && !table)) return unknown();
  const bool stays_spread = is_off(run, *how, "use_local_output");
  keep(run, layer, values::GroupState::ranks, Value::of(ranks));
  keep(run, layer, values::GroupState::group, mesh);
  // The weight of a table has a row for each index, that of a Linear one for each column of its result.
  keep(run, layer, values::GroupState::spread, run.heap().integer(columns == linear ? 0 : 1));
  const Layout in = layout_of(run, *how, "input_layouts", columns ? Layout::whole : Layout::columns);
  const Layout out = layout_of(run, *how, "output_layouts", columns ? Layout::columns : Layout::whole);
  if (in == Layout::other || (table && in != Layout::whole) || (columns && in != Layout::whole))
    return unknown();
  if (stays_spread && (!columns || out != Layout::columns)) return unknown();
  if (in == Layout::columns)
    add_hook(run, layer, values::ModuleState::pre_hooks, "torch.distributed.tensor.parallel.$joined");
  if (rows || out != Layout::columns)
    add_hook(run, layer, values::ModuleState::hooks, "torch.distributed.tensor.parallel.$summed");
  if (stays_spread)
    add_hook(run, layer, values::ModuleState::hooks, "torch.distributed.tensor.parallel.$stays_spread");
  else if (out == Layout::columns)
    add_hook(run, layer, values::ModuleState::hooks, "torch.distributed.tensor.parallel.$parted");
  if (out == Layout::other)
    add_hook(run, layer, values::ModuleState::hooks, "torch.distributed.tensor.parallel.$open");
}

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*')
    return matches(name, pattern.substr(1)) || (!name.empty() && matches(name.substr(1), pattern));
  return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
      matches(name.substr(1), pattern.substr(1));
}
// The modules that a path of a plan names: "layers.*.feed_forward.w1". Without a path: the module itself.
void named(Runtime& run, Value module, std::string_view path, std::vector<Value>& found) {
  module = run.resolve(module);
  if (path.empty()) {
    found.push_back(module);
    return;
  }
  if (!module.is(Kind::instance)) return;
  const auto dot = path.find('.');
  const std::string_view first = path.substr(0, dot),
                         rest = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  for (const Part& part : parts_of(run, *module.as<Instance>()).list)
    if (matches(part.name, first)) named(run, part.module, rest, found);
}

// Of a plan that is not known: any layer may give a part.
void open_layers(Runtime& run, Value module, std::size_t& seen) {
  module = run.resolve(module);
  constexpr std::size_t most = 4096;  // modules of one model
  if (!module.is(Kind::instance) || ++seen > most) return;
  Instance& layer = *module.as<Instance>();
  if (!layer.cls && layer.native &&
      (layer.native->path == "torch.nn.Linear" || layer.native->path == "torch.nn.Embedding")) {
    keep(run, layer, values::GroupState::spread, run.heap().integer(-1));
    add_hook(run, layer, values::ModuleState::pre_hooks, "torch.distributed.tensor.parallel.$open");
    add_hook(run, layer, values::ModuleState::hooks, "torch.distributed.tensor.parallel.$open");
  }
  for (const Part& part : parts_of(run, layer).list) open_layers(run, part.module, seen);
}

Value parallelized(Call& call) {
  const Value plan = call.run.resolve(call.at(2));
  if (plan.is(Kind::instance)) {
    carry_out(call, call.at(0), plan, call.at(1));
  } else if (plan.is(Kind::dict) && !values::Heap::dict_state(plan)->open) {
    for (const auto& [path, style] : std::vector(values::Heap::dict_state(plan)->items)) {
      std::vector<Value> found;
      if (path.is(Kind::string)) named(call.run, call.at(0), path.text(), found);
      for (const Value& module : found) carry_out(call, module, style, call.at(1));
    }
  } else {
    std::size_t seen = 0;
    open_layers(call.run, call.at(0), seen);
  }
  return call.at(0);
}

// distribute_module(module, mesh, partition_fn): the function is called for each module, with its name.
Value distributed_module(Call& call) {
  const Value function = call.run.resolve(call.at(2));
  std::size_t seen = 0;
  constexpr std::size_t most = 1024;  // layers that one plan names
  const auto walk = [&](const auto& self, Value module, const std::string& name) -> void {
    module = call.run.resolve(module);
    if (!module.is(Kind::instance) || ++seen > most) return;
    const auto parts = parts_of(call.run, *module.as<Instance>()).list;
    if (function && !function.is(Kind::none))
      call.run.call(function, {{call.run.heap().string(name), module, call.at(1)}, {}, false}, call.place);
    for (const Part& part : parts)
      self(self, part.module, name.empty() ? std::string(part.name) : name + "." + std::string(part.name));
  };
  walk(walk, call.at(0), {});
  // What goes in may have to be spread, and what comes out may be.
  if (const Value module = call.run.resolve(call.at(0)); module.is(Kind::instance)) {
    add_hook(call.run, *module.as<Instance>(), values::ModuleState::pre_hooks,
        "torch.distributed.tensor.parallel.$open");
    add_hook(call.run, *module.as<Instance>(), values::ModuleState::hooks,
        "torch.distributed.tensor.parallel.$open");
  }
  return call.at(0);
}

// ---------------------------------------------------------------- what goes through a layer

Int ranks_of(Call& call) {
  const Value module = call.run.resolve(call.at(0));
  const Value ranks =
      module.is(Kind::instance) ? kept(call.run, *module.as<Instance>(), values::GroupState::ranks) : Value{};
  return ranks ? call.run.to_int(ranks) : nullptr;
}
// The tensor with its last dimension as `size` makes it.
template <class Size> Value with_columns(Call& call, Value tensor, Size size) {
  const TensorState* state = tensor_state(call.run, call.run.resolve(tensor));
  if (!state) return call.run.heap().unseen("", call.place);
  TensorState made = *state;
  made.content = nullptr;
  made.made = nullptr;
  made.strides.clear();
  made.shape_value = {};
  if (!made.shape.dims.empty()) {
    const Int known = made.shape.dims.back().size ? size(made.shape.dims.back().size) : nullptr;
    made.shape.dims.back() = known ? known_dim(call.run, known, call.place, "ranks") : Dim{};
  }
  return result(call, std::move(made));
}
// What goes in are the columns of this rank: all of them together fit the layer.
Value joined(Call& call) {
  const Value given = call.run.resolve(call.at(1));
  const Int ranks = ranks_of(call);
  if (!given.is(Kind::tuple) || given.as<values::Tuple>()->items.size() != 1)
    return call.run.heap().unseen("", call.place);
  return call.run.heap().tuple({with_columns(call, given.as<values::Tuple>()->items.front(),
      [&](Int size) { return ranks ? call.run.symbols().mul(size, ranks) : nullptr; })});
}
Value parted(Call& call) {
  const Int ranks = ranks_of(call);
  return with_columns(call, call.at(2), [&](Int size) {
    return ranks ? call.run.symbols().exact_quotient(size, ranks).value_or(nullptr) : nullptr;
  });
}
Value summed(Call& call) {
  if (const Value module = call.run.resolve(call.at(0)); module.is(Kind::instance))
    call.arguments[3] = kept(call.run, *module.as<Instance>(), values::GroupState::group);
  return Value::none();
}
Value stays_spread(Call& call) {
  const Value module = call.run.resolve(call.at(0)), results = call.run.resolve(call.at(2));
  const Value mesh =
      module.is(Kind::instance) ? kept(call.run, *module.as<Instance>(), values::GroupState::group) : Value{};
  return mesh ? spread_along_last(call, results, mesh, {}) : call.run.heap().unseen("", call.place);
}
Value open(Call& call) { return call.run.heap().unseen("", call.place); }

constexpr Collective plan_collectives[] = {
    {"torch.distributed.tensor.parallel.parallelize_module",
        "module, device_mesh=None, parallelize_plan=None, **options", parallelized,
        {.name = "parallelize_module",
            .group = 1,
            .hidden = true,
            .because = "the parameters are spread over the ranks of the mesh"}},
    {"torch.distributed.tensor.distribute_module",
        "module, device_mesh=None, partition_fn=None, input_fn=None, output_fn=None", distributed_module,
        {.name = "distribute_module",
            .group = 1,
            .hidden = true,
            .because = "rank 0's parameters are sent to the other ranks of the mesh"}},
    {"torch.distributed.tensor.parallel.$summed", "module, given, results, group=None", summed,
        {.name = "the forward of a tensor-parallel layer",
            .group = 3,
            .hidden = true,
            .because = "what the ranks computed is put together"}},
};

}  // namespace

std::vector<Row> plan_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.distributed.tensor.parallel.$joined", function, "module, given", joined),
      row("torch.distributed.tensor.parallel.$parted", function, "module, given, results", parted),
      row("torch.distributed.tensor.parallel.$stays_spread", function, "module, given, results",
          stays_spread),
      row("torch.distributed.tensor.parallel.$open", function, "module, given, results=None", open),
  };
  for (const std::string_view path : {"torch.distributed.tensor.parallel.ColwiseParallel",
           "torch.distributed.tensor.parallel.RowwiseParallel",
           "torch.distributed.tensor.parallel.SequenceParallel",
           "torch.distributed.tensor.parallel.PrepareModuleInput",
           "torch.distributed.tensor.parallel.PrepareModuleOutput",
           "torch.distributed.tensor.parallel.PrepareModuleInputOutput"})
    rows.push_back(row(path, class_, "**options", keep_options));
  for (const Collective& collective : plan_collectives) rows.push_back(row_of(collective));
  return rows;
}

}  // namespace stepzero::libraries
