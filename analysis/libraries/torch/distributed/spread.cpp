// Tensors that are spread over a mesh of ranks: shapes are those of the whole, each rank has a part. As
// PyTorch 2.13 answers.
#include "libraries/torch/distributed/spread.hpp"

#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::libraries {

using symbolic::Answer;

namespace {

constexpr std::string_view spread_by = "torch.distributed.tensor.distribute_tensor";
constexpr std::string_view shard = "torch.distributed.tensor.Shard",
                           replicate = "torch.distributed.tensor.Replicate";

// ---------------------------------------------------------------- placements

// How a tensor is spread along a dimension of the mesh. Two that were made alike are equal: by identity
// nothing is known of them.
Value placement_without_dimension(Call& call) {
  if (call.self.is(Kind::instance)) object(call).symbolic = object(call).open = true;
  return {};
}
Value placement(Call& call) {
  if (const Value dim = call.run.resolve(call.at(0))) keep(call, "dim", dim);
  return placement_without_dimension(call);
}
std::vector<Value> placements_of(Runtime& run, Value placements) {
  placements = run.resolve(placements);
  if (placements.is(Kind::tuple)) return placements.as<values::Tuple>()->items;
  if (placements.is(Kind::list) && !values::Heap::list_state(placements)->open)
    return values::Heap::list_state(placements)->items;
  return {};
}
std::string_view class_of(Runtime& run, Value placement) {
  placement = run.resolve(placement);
  const Instance* instance = placement.is(Kind::instance) ? placement.as<Instance>() : nullptr;
  return instance && !instance->cls && instance->native ? instance->native->path : std::string_view{};
}

// ---------------------------------------------------------------- tensors

// Where a tensor comes from what spreads it the text says whether the ranks have parts of it.
std::optional<bool> is_sharded(Call& call) {
  const TensorState* state = tensor_state(call.run, call.self);
  if (!state || !is_spread(*state)) return std::nullopt;
  const auto& arguments = state->made->arguments;
  const Value mesh = call.run.resolve(arguments[1]);
  const Value spreads =
      mesh.is(Kind::instance) ? kept(call.run, *mesh.as<Instance>(), values::MeshState::spreads) : Value{};
  if (!spreads.is(Kind::boolean)) return std::nullopt;
  if (call.run.symbols().decide(spreads.condition()) == Answer::no) return false;
  const std::string_view how = only_placement(call.run, arguments[2]);
  if (how == shard) return true;
  if (how == replicate) return false;
  return std::nullopt;
}

// A tensor that is spread so, from here on.
Value spread(Call& call, TensorState state, Value tensor, Value mesh, Value placements) {
  auto* made = call.run.heap().make<values::Producer>();
  made->born = call.place;
  made->row = table().find(spread_by);
  const auto arguments = call.run.heap().array<Value>(made->row->parameters.size());
  const auto states = call.run.heap().array<const TensorState*>(arguments.size());
  arguments[0] = call.run.resolve(tensor);
  arguments[1] = call.run.resolve(mesh);
  arguments[2] = call.run.resolve(placements);
  // As the list is now.
  if (arguments[2].is(Kind::list))
    arguments[2] = values::Heap::list_state(arguments[2])->open
        ? Value{}
        : call.run.heap().tuple(values::Heap::list_state(arguments[2])->items);
  states[0] = tensor_state(call.run, arguments[0]);
  made->arguments = arguments;
  made->states = states;
  made->calls = call.run.site();
  state.made = made;
  state.content = nullptr;
  state.extent = nullptr;
  return result(call, state);
}

// A tensor that is spread over the ranks, as one that each of them has.
TensorState whole_state(Call& call) {
  TensorState state = computed(call.run, {call.self});
  if (const TensorState* from = tensor_state(call.run, call.self)) {
    state.shape = from->shape;
    state.dtype = from->dtype;
  }
  state.content = nullptr;
  state.extent = nullptr;
  return state;
}
// One placement for each dimension of the mesh, and of the tensor's own dimensions. False after a problem was
// told.
bool placements_fit(Call& call, const TensorState& tensor, Value mesh, Value given) {
  const auto refuse = [&](interpreter::Refusal refusal) {
    explain(*call.run.problem(ProblemKind::argument, call), std::move(refusal));
    return false;
  };
  const std::vector<Value> placements = placements_of(call.run, given);
  const auto dims = dimensions_of_mesh(call.run, mesh);
  if (dims && !placements.empty() && placements.size() != *dims)
    return refuse(why<Reason::placements_count>(*dims, placements.size()));
  for (const Value& placement : placements) {
    if (class_of(call.run, placement) != shard || !tensor.shape.ndim_known) continue;
    const Value dim = kept(call.run, *call.run.resolve(placement).as<Instance>(), "dim");
    const auto at = dim ? call.run.to_constant(dim) : std::nullopt;
    const auto rank = static_cast<std::int64_t>(tensor.shape.dims.size());
    if (at && (*at >= rank || *at < -rank))
      return refuse(why<Reason::placement_dimension>(*at, tensor.shape.dims.size()));
  }
  return true;
}
Value full_tensor(Call& call) {
  if (const auto sharded = is_sharded(call)) call.arguments[1] = call.run.heap().boolean(*sharded);
  return result(call, whole_state(call));
}
// From shards to shards nothing is sent where the dimension stays.
Value redistributed(Call& call) {
  if (const auto sharded = is_sharded(call);
      sharded && (!*sharded || only_placement(call.run, call.at(1)) == replicate))
    call.arguments[3] = call.run.heap().boolean(*sharded);
  const TensorState* from = tensor_state(call.run, call.self);
  if (!from || !is_spread(*from) || !call.run.resolve(call.at(1)) ||
      call.run.resolve(call.at(1)).is(Kind::none))
    return result(call, whole_state(call));
  const Value mesh = call.run.resolve(call.at(0));
  if (!placements_fit(
          call, *from, mesh && !mesh.is(Kind::none) ? mesh : from->made->arguments[1], call.at(1)))
    return unknown_of(call);
  return spread(call, whole_state(call), call.self,
      mesh && !mesh.is(Kind::none) ? mesh : from->made->arguments[1], call.at(1));
}
// What is spread has the shape of the whole. Its content is sent by one rank, unless that is None: then each
// rank has it.
Value distributed_tensor(Call& call) {
  const Value source = call.run.resolve(call.at(3));
  call.arguments[4] = call.run.heap().boolean(!call.given[3] || source.is(Kind::integer));
  const TensorState* from = tensor_state(call.run, call.at(0));
  if (!from || !placements_fit(call, *from, call.at(1), call.at(2))) return unknown_of(call);
  TensorState state = computed(call.run, {call.at(0)});
  state.shape = from->shape;
  state.dtype = from->dtype;
  return spread(call, std::move(state), call.at(0), call.at(1), call.at(2));
}
// DTensor.from_local(tensor, device_mesh, placements): the parts of all ranks together.
Value from_local(Call& call) {
  const TensorState* part = tensor_state(call.run, call.at(0));
  if (!part || call.spread || call.given[4]) return unknown_of(call);
  const std::vector<Value> placements = placements_of(call.run, call.at(2));
  const Value given = call.run.resolve(call.at(2));
  const bool copies = !given || given.is(Kind::none);
  const Int ranks = size_of_mesh(call.run, call.at(1));
  if (!copies && (placements.size() != 1 || !ranks || !part->shape.ndim_known)) return unknown_of(call);
  TensorState state = *part;
  state.strides.clear();
  if (!copies && class_of(call.run, placements.front()) == shard) {
    const Value dim = kept(call.run, *call.run.resolve(placements.front()).as<Instance>(), "dim");
    const auto at = dim ? dim_index(call.run, dim, part->shape) : std::nullopt;
    if (!at) return unknown_of(call);
    Dim& size = state.shape.dims[*at];
    size = size.size
        ? known_dim(call.run, call.run.symbols().mul(size.size, ranks), call.place, call.row.path)
        : Dim{};
  } else if (!copies && class_of(call.run, placements.front()).empty()) {
    return unknown_of(call);
  }
  return spread(call, std::move(state), call.at(0), call.at(1), call.at(2));
}
// torch.distributed.tensor.zeros(8, 6, device_mesh=mesh, placements=[Shard(0)])
Value spread_new(Call& call) {
  const auto shape = call.rest.empty() || call.spread
      ? std::nullopt
      : sizes(call.run, call.rest.front(), {call.rest.begin() + 1, call.rest.end()}, call.place);
  TensorState state = computed(call.run, std::span<const Value>{});
  state.dtype = to_dtype(call.run.resolve(call.at(0)));
  if (!call.given[0]) state.dtype = call.run.default_dtype();
  if (shape) {
    state.shape.ndim_known = true;
    for (const Int size : *shape)
      state.shape.dims.push_back(size ? known_dim(call.run, size, call.place, call.row.path) : Dim{});
  }
  return spread(call, std::move(state), Value{}, call.at(1), call.at(2));
}

// Is it known to be no tensor that is spread? Made here from nothing else.
bool is_plain(const TensorState& state) {
  if (!state.made || !state.made->row || state.made->row->operation != values::Operation::created ||
      !state.shape.ndim_known)
    return false;
  return std::ranges::none_of(state.made->states, [](const TensorState* from) { return from; });
}
// Inside of these a plain tensor is taken for copies: any, or the targets of a loss.
constexpr std::string_view takes_plain_tensors[] = {
    "torch.distributed.tensor.experimental.implicit_replication",
    "torch.distributed.tensor.parallel.loss_parallel"};
bool replicates_around(Runtime& run) {
  for (const interpreter::Around* around = run.around(); around; around = around->outer) {
    const Value manager = run.resolve(around->manager);
    if (!manager.is(Kind::instance) || !manager.as<Instance>()->native ||
        std::ranges::find(takes_plain_tensors, manager.as<Instance>()->native->path) !=
            std::end(takes_plain_tensors))
      return true;
  }
  return false;
}

// Inside, each buffer is this rank's part of the sequence, along the dimension that is named for it.
Value context_parallel(Call& call) {
  const auto elements = [&](Value list) {
    list = call.run.resolve(list);
    return list.is(Kind::list) || list.is(Kind::tuple) ? call.run.elements(list, call.place) : std::nullopt;
  };
  const auto buffers = elements(call.at(1)), dims = elements(call.at(2));
  if (buffers && dims && buffers->size() != dims->size()) {
    explain(*call.run.problem(ProblemKind::argument, call),
        why<Reason::buffer_dimensions>(buffers->size(), dims->size()));
    return {};
  }
  for (std::size_t i = 0; buffers && i < buffers->size(); ++i) {
    const Value buffer = call.run.resolve((*buffers)[i]);
    const TensorState* state = tensor_state(call.run, buffer);
    if (!state) continue;
    const auto at = dims ? dim_index(call.run, (*dims)[i], state->shape) : std::nullopt;
    TensorState part = *state;
    if (at)
      part.shape.dims[*at] = {};
    else
      part.shape = {};
    part.content = nullptr;
    part.strides.clear();
    set_state(call.run, buffer, part);
  }
  return {};
}

constexpr Collective spread_collectives[] = {
    {spread_by, "tensor, device_mesh=None, placements=None, *, src_data_rank=0, sends=None",
        distributed_tensor,
        {.name = "distribute_tensor",
            .group = 1,
            .hidden = true,
            .because = "rank 0's content is sent to the other ranks of the mesh",
            .only_if = 4}},
    {"torch.Tensor.full_tensor", "*, grad_placements=None, sharded=None", full_tensor,
        {.name = "full_tensor",
            .hidden = true,
            .because = "the shards of all ranks are gathered",
            .when = values::When::parted,
            .only_if = 1},
        RowKind::method},
    {"torch.Tensor.redistribute",
        "device_mesh=None, placements=None, *, async_op=False, sharded=None, **options", redistributed,
        {.name = "redistribute",
            .hidden = true,
            .because = "the ranks exchange their shards",
            .when = values::When::parted,
            .only_if = 3},
        RowKind::method},
};

}  // namespace

std::string_view only_placement(Runtime& run, Value placements) {
  placements = run.resolve(placements);
  if (placements.is(Kind::instance)) return class_of(run, placements);
  const auto items = placements_of(run, placements);
  return items.size() == 1 ? class_of(run, items.front()) : std::string_view{};
}
bool is_spread(const TensorState& state) {
  return state.made && state.made->row && state.made->row->path == spread_by;
}

Value spread_along_last(Call& call, Value tensor, Value mesh, Value placement) {
  const TensorState* state = tensor_state(call.run, tensor);
  if (!state) return call.run.heap().unseen("", call.place);
  if (!call.run.resolve(placement).is(Kind::instance)) {
    Instance* last = call.run.make_native(shard, call.place);
    keep(call.run, *last, "dim", call.run.heap().integer(-1));
    placement = Value::of(Kind::instance, last);
  }
  return spread(call, *state, tensor, mesh, call.run.heap().tuple({placement}));
}

Shape local_shape(Runtime& run, const TensorState& state) {
  Shape unknown = state.shape.ndim_known ? Shape{true, std::vector<Dim>(state.shape.dims.size())} : Shape{};
  if (!is_spread(state) || !state.shape.ndim_known) return unknown;
  const Int ranks = size_of_mesh(run, state.made->arguments[1]);
  const auto placements = placements_of(run, state.made->arguments[2]);
  const std::string_view how = placements.size() == 1 ? class_of(run, placements.front())
                                                      : std::string_view{};
  if (how == replicate) return state.shape;
  if (how != shard || !ranks) return unknown;
  const Value dim = kept(run, *run.resolve(placements.front()).as<Instance>(), "dim");
  const auto at = dim ? dim_index(run, dim, state.shape) : std::nullopt;
  if (!at) return unknown;
  Shape part = state.shape;
  const auto size = part.dims[*at].size ? run.symbols().exact_quotient(part.dims[*at].size, ranks)
                                        : std::nullopt;
  part.dims[*at] = size ? Dim{*size, nullptr, nullptr} : Dim{};
  return part;
}

bool all_spread_or_none(Op& op) {
  const TensorState *whole = nullptr, *plain = nullptr;
  Value plain_value;
  for (const Value& value : op.tensors()) {
    const TensorState* state = op.tensor(value);
    if (!state) continue;
    if (is_spread(*state))
      whole = state;
    else if (!plain && is_plain(*state) && std::ranges::any_of(state->shape.dims, [&](const Dim& dim) {
               return op.value(dim).value_or(1) > 1;
             })) {
      plain = state;
      plain_value = value;
    }
  }
  if (!whole || !plain || replicates_around(op.run)) return true;
  op.fail(ProblemKind::argument, why<Reason::mixed_with_spread>(plain->shape));
  if (whole->made->born) op.told()->evidence.emplace_back(whole->made->born, "spread here");
  return false;
}

std::vector<Row> spread_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.distributed.tensor.Shard", class_, "dim=None", placement),
      row("torch.distributed.tensor.Replicate", class_, "", placement_without_dimension),
      row("torch.distributed.tensor.Partial", class_, "reduce_op=None", placement_without_dimension),
      row("torch.distributed.tensor.DTensor.from_local", function,
          "local_tensor, device_mesh=None, placements=None, *, run_check=False, shape=None, stride=None, grad_placements=None",
          from_local),
      row("torch.distributed.tensor.experimental.implicit_replication", class_, "", nullptr, "torch.context"),
      row("torch.distributed.tensor.parallel.loss_parallel", class_, "", nullptr, "torch.context"),
      row("torch.distributed.tensor.experimental.context_parallel", class_,
          "mesh, *, buffers=None, buffer_seq_dims=None, no_restore_buffers=None", context_parallel,
          "torch.context"),
  };
  for (const std::string_view path :
      {"torch.distributed.tensor.zeros", "torch.distributed.tensor.ones", "torch.distributed.tensor.empty",
          "torch.distributed.tensor.rand", "torch.distributed.tensor.randn"})
    rows.push_back(
        row(path, function, "*size, dtype=None, device_mesh=None, placements=None, **options", spread_new));
  for (const Collective& collective : spread_collectives) rows.push_back(row_of(collective));
  return rows;
}

}  // namespace stepzero::libraries
