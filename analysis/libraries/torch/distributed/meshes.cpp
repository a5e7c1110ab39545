// Meshes of ranks (torch.distributed.device_mesh): their sizes and names, parts of them, and the groups along
// their dimensions. As PyTorch 2.13 answers.
#include "interpreter/one_rank.hpp"
#include "libraries/torch/distributed/spread.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::libraries {

using symbolic::Answer;
using symbolic::Role;

namespace {

constexpr std::string_view mesh_class = "torch.distributed.device_mesh.DeviceMesh";
constexpr values::KeptKey sizes_of_root =
    values::MeshState::sizes;  // of the mesh that it is a part of: all ranks in order, the last dimension
                               // running fastest
constexpr values::KeptKey names_of_dims = values::MeshState::names;  // its own; None where it has none
constexpr values::KeptKey own_dims =
    values::MeshState::dims;  // for each of its dimensions those of the root that it runs over, as a tuple
constexpr values::KeptKey is_part = values::MeshState::part;
constexpr values::KeptKey root_of_part = values::MeshState::root;  // of a part: the mesh that it is a part of
constexpr values::KeptKey has_flattened =
    values::MeshState::flattened;  // dimensions of it were made one, under a name that it knows

// What is known of a mesh. A dimension that was flattened runs over several of the root.
struct Mesh {
  const Instance* object = nullptr;
  std::vector<Value> sizes;  // of the root
  std::vector<std::vector<std::size_t>> dims;
  std::vector<std::string> names;  // of the dims; empty: without names, or not known
  bool named = true;               // not known to be without names
};
std::vector<Value> items_of(Value tuple) {
  return tuple.is(Kind::tuple) ? tuple.as<values::Tuple>()->items : std::vector<Value>{};
}
std::optional<Mesh> known_mesh(Runtime& run, Value value) {
  value = run.resolve(value);
  if (!value.is(Kind::instance) || !run.is_a(value, mesh_class)) return std::nullopt;
  Mesh mesh;
  mesh.object = value.as<Instance>();
  const Value sizes = kept(run, *mesh.object, sizes_of_root), dims = kept(run, *mesh.object, own_dims),
              names = kept(run, *mesh.object, names_of_dims);
  if (!sizes.is(Kind::tuple) || !dims.is(Kind::tuple)) return std::nullopt;
  mesh.sizes = items_of(sizes);
  for (const Value& dim : items_of(dims)) {
    mesh.dims.emplace_back();
    for (const Value& of : items_of(dim))
      mesh.dims.back().push_back(static_cast<std::size_t>(run.to_constant(of).value_or(0)));
  }
  mesh.named = !names.is(Kind::none);
  for (const Value& name : items_of(names)) mesh.names.emplace_back(name.text());
  return mesh;
}

Int size_of(Runtime& run, const Mesh& mesh, const std::vector<std::size_t>& dims) {
  Int total = run.symbols().constant(1);
  for (const std::size_t dim : dims) {
    const Int size = run.to_int(mesh.sizes[dim]);
    total = total && size ? run.symbols().mul(total, size) : nullptr;
  }
  return total;
}
std::vector<std::size_t> all_dims(const Mesh& mesh) {
  std::vector<std::size_t> all;
  for (const auto& each : mesh.dims) all.insert(all.end(), each.begin(), each.end());
  return all;
}
Answer is_one(Runtime& run, Int size) {
  return size
      ? run.symbols().decide(run.symbols().compared(symbolic::Compare::eq, size, run.symbols().constant(1)))
      : Answer::unknown;
}

// The sizes of the root as numbers, where a run is that of one rank, and the rank is one of the mesh: the
// first ranks are.
std::optional<std::vector<std::int64_t>> numbers(Runtime& run, const Mesh& mesh) {
  if (!run.as_rank()) return std::nullopt;
  std::vector<std::int64_t> found;
  std::int64_t total = 1;
  for (const Value& item : mesh.sizes) {
    const auto size = run.to_constant(item);
    if (!size || *size < 1 || *size > run.as_rank()->world) return std::nullopt;
    found.push_back(*size);
    total *= *size;
  }
  return run.as_rank()->rank < total && total <= run.as_rank()->world ? std::optional(found) : std::nullopt;
}
std::vector<std::int64_t> coordinates(const std::vector<std::int64_t>& sizes, std::int64_t rank) {
  std::vector<std::int64_t> found(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0; rank /= sizes[i]) found[i] = rank % sizes[i];
  return found;
}
std::optional<std::int64_t> place_along(
    Runtime& run, const Mesh& mesh, const std::vector<std::size_t>& dims) {
  const auto sizes = numbers(run, mesh);
  if (!sizes) return std::nullopt;
  const auto mine = coordinates(*sizes, run.as_rank()->rank);
  std::int64_t place = 0;
  for (const std::size_t dim : dims) place = place * (*sizes)[dim] + mine[dim];
  return place;
}
// Keeps in `object` which ranks it joins: all, or those that differ from this one in these dimensions alone.
void keep_members(Runtime& run, Instance& object, const Mesh& mesh, const std::vector<std::size_t>& dims) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < mesh.sizes.size(); ++i)
    if (std::ranges::find(dims, i) == dims.end()) others.push_back(i);
  if (is_one(run, size_of(run, mesh, others)) == Answer::yes)
    return keep(run, object, values::GroupState::all, run.heap().boolean(true));
  const auto sizes = numbers(run, mesh);
  if (!sizes) return;
  const auto mine = coordinates(*sizes, run.as_rank()->rank);
  std::vector<Value> members;
  std::int64_t count = 1;
  for (const std::int64_t size : *sizes) count *= size;
  for (std::int64_t rank = 0; rank < count; ++rank) {
    const auto theirs = coordinates(*sizes, rank);
    if (std::ranges::all_of(others, [&](std::size_t dim) { return theirs[dim] == mine[dim]; }))
      members.push_back(run.heap().integer(rank));
  }
  keep(run, object, values::GroupState::ranks, run.heap().tuple(std::move(members)));
}

Value made_mesh(Call& call, const std::vector<Value>& sizes,
    const std::vector<std::vector<std::size_t>>& dims, Value names, bool part) {
  values::Heap& heap = call.run.heap();
  Instance* mesh = call.run.make_native(mesh_class, call.place);
  mesh->open = true;
  std::vector<Value> kept_dims;
  for (const auto& each : dims) {
    std::vector<Value> of;
    of.reserve(each.size());
    for (const std::size_t dim : each) of.push_back(heap.integer(static_cast<std::int64_t>(dim)));
    kept_dims.push_back(heap.tuple(std::move(of)));
  }
  keep(call.run, *mesh, sizes_of_root, heap.tuple(sizes));
  keep(call.run, *mesh, own_dims, heap.tuple(std::move(kept_dims)));
  if (names) keep(call.run, *mesh, names_of_dims, names);
  if (part) keep(call.run, *mesh, is_part, heap.boolean(true));
  const Value made = Value::of(Kind::instance, mesh);
  if (const auto known = known_mesh(call.run, made)) {
    keep_members(call.run, *mesh, *known, all_dims(*known));
    // Whether tensors that are spread along its one dimension are parted at all.
    const Answer alone = dims.size() == 1 ? is_one(call.run, size_of(call.run, *known, dims.front()))
                                          : Answer::unknown;
    const bool over_all = dims.size() == 1 &&
        size_of(call.run, *known, dims.front()) == call.run.role(Role::world_size);
    if (dims.size() == 1 && (over_all || alone != Answer::unknown))
      keep(call.run, *mesh, values::MeshState::spreads, heap.boolean(over_all || alone == Answer::no));
  }
  return made;
}

Value refuse_mesh(Call& call, interpreter::Refusal refusal) {
  explain(*call.run.problem(ProblemKind::argument, call), std::move(refusal));
  return unknown_of(call);
}
std::optional<std::vector<std::string>> texts(Call& call, Value names) {
  names = call.run.resolve(names);
  if (names.is(Kind::string)) return std::vector{std::string(names.text())};
  const auto items = names.is(Kind::tuple) || names.is(Kind::list) ? call.run.elements(names, call.place)
                                                                   : std::nullopt;
  if (!items) return std::nullopt;
  std::vector<std::string> found;
  for (const Value& item : *items) {
    const Value name = call.run.resolve(item);
    if (!name.is(Kind::string)) return std::nullopt;
    found.emplace_back(name.text());
  }
  return found;
}
Value tuple_of(Call& call, const std::vector<std::string>& names) {
  std::vector<Value> items;
  items.reserve(names.size());
  for (const std::string& name : names) items.push_back(call.run.heap().string(name));
  return call.run.heap().tuple(std::move(items));
}

// ---------------------------------------------------------------- making

// init_device_mesh covers all ranks, whatever its shape. Where only one of its dimensions is more than 1 its
// group is that of all ranks: as PyTorch 2.13 does it, none is made, and a rank may make such a mesh alone.
Value device_mesh(Call& call) {
  const Value shape = call.run.resolve(call.at(1)), given = call.run.resolve(call.at(2));
  const auto sizes = shape.is(Kind::tuple) || shape.is(Kind::list) ? call.run.elements(shape, call.place)
                                                                   : std::nullopt;
  const auto names = texts(call, given);
  if (names && sizes && names->size() != sizes->size())
    return refuse_mesh(call, why<Reason::mesh_names>(sizes->size(), names->size()));
  if (names)
    for (std::size_t i = 0; i < names->size(); ++i)
      if (std::ranges::count(*names, (*names)[i]) > 1)
        return refuse_mesh(call, why<Reason::mesh_name_twice>((*names)[i]));
  int several = 0;
  std::vector<Value> resolved;
  std::vector<std::vector<std::size_t>> dims;
  for (const Value& item : sizes.value_or(std::vector<Value>{})) {
    resolved.push_back(call.run.resolve(item));
    dims.push_back({dims.size()});
    several += resolved.back().is(Kind::integer) && is_one(call.run, resolved.back().integer()) == Answer::no;
  }
  call.arguments[3] = call.run.heap().boolean(several > 1);
  if (call.run.as_rank() && sizes) {
    std::int64_t total = 1;
    for (const Value& size : resolved)
      if (total <= call.run.as_rank()->world)
        total *= std::clamp<std::int64_t>(call.run.to_constant(size).value_or(1), 1, 1 << 20);
    if (total > call.run.as_rank()->world) return call.run.raise_builtin("RuntimeError", call.place);
  }
  if (!sizes) {
    Instance* mesh = call.run.make_native(mesh_class, call.place);
    keep(call.run, *mesh, values::GroupState::all, call.run.heap().boolean(true));
    mesh->open = true;
    return Value::of(Kind::instance, mesh);
  }
  return made_mesh(call, resolved, dims,
      names                                ? tuple_of(call, *names)
          : !given || given.is(Kind::none) ? Value::none()
                                           : Value{},
      false);
}
// DeviceMesh.from_group(group, device_type): a mesh of the ranks of a group that is there.
Value mesh_of_group(Call& call) {
  Instance* mesh = call.run.make_native(mesh_class, call.place);
  mesh->open = true;
  const Value group = call.run.resolve(call.at(0));
  keep(call.run, *mesh, values::GroupState::group, group);
  if (group.is(Kind::instance))
    for (const values::KeptKey members : {values::GroupState::all, values::GroupState::ranks})
      if (const Value known = kept(call.run, *group.as<Instance>(), members))
        keep(call.run, *mesh, members, known);
  return Value::of(Kind::instance, mesh);
}

// ---------------------------------------------------------------- parts

// mesh["tp"], mesh["dp", "tp"]
Value part_of_mesh(Call& call) {
  const auto mesh = known_mesh(call.run, call.self);
  const auto wanted = texts(call, call.at(0));
  if (!mesh) return call.run.heap().unseen("mesh", call.place);
  const bool whole = !kept(call, is_part);
  if (whole && !mesh->named) return refuse_mesh(call, why<Reason::mesh_nameless>());
  if (!wanted || mesh->names.size() != mesh->dims.size()) return call.run.heap().unseen("mesh", call.place);
  std::vector<std::vector<std::size_t>> dims;
  for (const std::string& name : *wanted) {
    const auto at = std::ranges::find(mesh->names, name);
    if (at != mesh->names.end()) {
      dims.push_back(mesh->dims[static_cast<std::size_t>(at - mesh->names.begin())]);
      continue;
    }
    // One that was flattened is known to its root by its new name.
    if (!whole || kept(call, has_flattened)) return call.run.heap().unseen("mesh", call.place);
    std::string known;
    for (std::size_t i = 0; i < mesh->names.size(); ++i)
      known += (i == 0 ? "" : i + 1 < mesh->names.size() ? ", " : " and ") + values::code(mesh->names[i]);
    return refuse_mesh(call, why<Reason::mesh_dimension>(name, known));
  }
  const Value part = made_mesh(call, mesh->sizes, dims, tuple_of(call, *wanted), true);
  const Value root = kept(call, root_of_part);
  keep(call.run, *part.as<Instance>(), root_of_part, root ? root : call.self);
  return part;
}
// Its dimensions as one, which the mesh that it is a part of then knows by that name.
Value flattened(Call& call) {
  const auto mesh = known_mesh(call.run, call.self);
  call.run.heap().note_write(nullptr);
  if (call.self.is(Kind::instance)) keep(call, has_flattened, call.run.heap().boolean(true));
  if (const Value root = call.self.is(Kind::instance) ? kept(call, root_of_part) : Value{};
      root.is(Kind::instance))
    keep(call.run, *root.as<Instance>(), has_flattened, call.run.heap().boolean(true));
  if (!mesh) return call.run.heap().unseen("mesh", call.place);
  const auto name = texts(call, call.at(0));
  return made_mesh(call, mesh->sizes, {all_dims(*mesh)}, name ? tuple_of(call, *name) : Value{}, true);
}

// ---------------------------------------------------------------- asking

// The dimensions of the root that one of its own, by number or name, runs over; nullopt: not known.
std::optional<std::vector<std::size_t>> asked_dim(Call& call, const Mesh& mesh) {
  const Value dim = call.run.resolve(call.at(0));
  if (!dim || dim.is(Kind::none))
    return mesh.dims.size() == 1 ? std::optional(mesh.dims.front()) : std::nullopt;
  if (dim.is(Kind::string)) {
    const auto at = std::ranges::find(mesh.names, dim.text());
    return at != mesh.names.end()
        ? std::optional(mesh.dims[static_cast<std::size_t>(at - mesh.names.begin())])
        : std::nullopt;
  }
  const auto at = call.run.to_constant(dim);
  return at && *at >= 0 && static_cast<std::size_t>(*at) < mesh.dims.size()
      ? std::optional(mesh.dims[static_cast<std::size_t>(*at)])
      : std::nullopt;
}
Value group_of_mesh(Call& call) {
  if (call.self.is(Kind::instance))
    if (const Value group = kept(call, values::GroupState::group)) return group;
  const auto mesh = known_mesh(call.run, call.self);
  const auto dims = mesh ? asked_dim(call, *mesh) : std::nullopt;
  if (!dims) return call.run.heap().unseen("mesh", call.place);
  Instance* group = call.run.make_native("torch.distributed.ProcessGroup", call.place);
  keep_members(call.run, *group, *mesh, *dims);
  if (!kept(call.run, *group, values::GroupState::all) && !kept(call.run, *group, values::GroupState::ranks))
    return call.run.heap().unseen("mesh", call.place);
  return Value::of(Kind::instance, group);
}
Value place_in_mesh(Call& call) {
  const Int rank = call.run.role(Role::rank);
  const auto mesh = known_mesh(call.run, call.self);
  const auto dims = mesh ? asked_dim(call, *mesh) : std::nullopt;
  const auto place = dims ? place_along(call.run, *mesh, *dims) : std::nullopt;
  if (place) return call.run.heap().integer(*place);
  // Rows of ranks, the last dimension running fastest.
  std::vector<std::size_t> after;
  for (std::size_t i = dims && dims->size() == 1 ? dims->front() + 1 : 0; mesh && i < mesh->sizes.size(); ++i)
    after.push_back(i);
  const Int own = dims && dims->size() == 1 ? size_of(call.run, *mesh, *dims) : nullptr,
            step = own ? size_of(call.run, *mesh, after) : nullptr;
  auto& s = call.run.symbols();
  if (step && !call.run.as_rank()) return Value::of(s.mod(s.floordiv(rank, step), own));
  return call.run.heap().unknown("local rank of the mesh", Sharing::divergent, call.place);
}
Value mesh_size(Call& call) {
  const auto mesh = known_mesh(call.run, call.self);
  const Value dim = call.run.resolve(call.at(0));
  const auto dims = !mesh          ? std::nullopt
      : !dim || dim.is(Kind::none) ? std::optional(all_dims(*mesh))
                                   : asked_dim(call, *mesh);
  const Int size = dims ? size_of(call.run, *mesh, *dims) : nullptr;
  return size ? Value::of(size) : call.run.heap().unknown("mesh size", Sharing::uniform, call.place);
}
Value mesh_shape(Call& call) {
  const auto mesh = known_mesh(call.run, call.self);
  if (!mesh) return call.run.heap().unknown("mesh shape", Sharing::uniform, call.place);
  std::vector<Value> sizes;
  for (const auto& dims : mesh->dims) {
    const Int size = size_of(call.run, *mesh, dims);
    sizes.push_back(
        size ? Value::of(size) : call.run.heap().unknown("mesh size", Sharing::uniform, call.place));
  }
  return call.run.heap().tuple(std::move(sizes));
}
Value mesh_ndim(Call& call) {
  const auto dims = dimensions_of_mesh(call.run, call.self);
  return dims ? call.run.heap().integer(static_cast<std::int64_t>(*dims))
              : call.run.heap().unknown("mesh dimensions", Sharing::uniform, call.place);
}

constexpr Collective mesh_collectives[] = {
    {mesh_class, "device_type, mesh, *, mesh_dim_names=None, **options", nullptr,
        {.name = "DeviceMesh", .hidden = true, .because = all_make_group}, RowKind::class_},
    {"torch.distributed.device_mesh.init_device_mesh",
        "device_type, mesh_shape, *, mesh_dim_names=None, groups=None, **options", device_mesh,
        {.name = "init_device_mesh", .hidden = true, .because = all_make_group, .only_if = 3}},
};

}  // namespace

std::optional<std::size_t> dimensions_of_mesh(Runtime& run, Value value) {
  const auto mesh = known_mesh(run, value);
  return mesh ? std::optional(mesh->dims.size()) : std::nullopt;
}
Int size_of_mesh(Runtime& run, Value value) {
  const auto mesh = known_mesh(run, value);
  return mesh && mesh->dims.size() == 1 ? size_of(run, *mesh, mesh->dims.front()) : nullptr;
}

std::vector<Row> mesh_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.distributed.device_mesh.DeviceMesh.__getitem__", method, "names", part_of_mesh),
      row("torch.distributed.device_mesh.DeviceMesh._flatten", method, "mesh_dim_name=None, **options",
          flattened),
      row("torch.distributed.device_mesh.DeviceMesh.from_group", function,
          "group, device_type, mesh=None, *, mesh_dim_names=None, **options", mesh_of_group),
      row("torch.distributed.device_mesh.DeviceMesh.get_group", method, "mesh_dim=None", group_of_mesh),
      row("torch.distributed.device_mesh.DeviceMesh.get_local_rank", method, "mesh_dim=None", place_in_mesh),
      row("torch.distributed.device_mesh.DeviceMesh.get_rank", method, "", role_value<Role::rank>),
      row("torch.distributed.device_mesh.DeviceMesh.size", method, "mesh_dim=None", mesh_size),
      row("torch.distributed.device_mesh.DeviceMesh.shape", property, "", mesh_shape),
      row("torch.distributed.device_mesh.DeviceMesh.ndim", property, "", mesh_ndim),
  };
  for (const Collective& collective : mesh_collectives) rows.push_back(row_of(collective));
  return rows;
}

}  // namespace stepzero::libraries
