#include "footprint/ranks.hpp"

#include "footprint/graph.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <map>

namespace stepzero::footprint {

using values::Kind;

namespace {

constexpr std::int64_t mebibyte = 1 << 20;
// Parameters in a flat one begin at multiples of so many bytes where each keeps its own view.
constexpr std::int64_t alignment = 16;
constexpr std::int64_t most_ranks = 64;  // that are compared

std::optional<std::int64_t> count_of(const Record& record, const Shape& shape) {
  const Int count = elements(record.symbols, shape);
  return count ? record.symbols.value(count) : std::nullopt;
}

bool is_on(const Record& record, const Instance& object, std::string_view name) {
  const Value flag = attribute(record, object, name);
  return flag.is(Kind::boolean) && record.symbols.decide(flag.condition()) == symbolic::Answer::yes;
}

// kept: every rank has all of it, and its gradients are averaged one unit at a time.
enum class Wrap : std::uint8_t { none, replicated, sharded, flat, kept };
constexpr values::KeptKey sharded_marker = values::WrapperState::sharded,
                          strategy = values::WrapperState::sharding_strategy,
                          policy = values::WrapperState::auto_wrap_policy,
                          precision = values::WrapperState::mixed_precision;
bool is_of_strategy(const Record& record, const Instance& wrapper, std::string_view name) {
  const Value given = attribute(record, wrapper, strategy);
  return given.is(Kind::library) && given.as<values::LibrarySymbol>()->path.ends_with(name);
}
Wrap wrap_of(const Record& record, const Instance& module) {
  if (module.attributes.find(syntax::Name(sharded_marker))) return Wrap::sharded;
  if (is_a(module, "torch.nn.parallel.DistributedDataParallel")) return Wrap::replicated;
  if (!is_a(module, "torch.distributed.fsdp.FullyShardedDataParallel")) return Wrap::none;
  return is_of_strategy(record, module, ".NO_SHARD") ? Wrap::kept : Wrap::flat;
}
// How many ranks a mesh has along each of its dimensions; empty: it is not known.
std::vector<Int> sizes_of_mesh(const Record& record, Value mesh) {
  std::vector<Int> made;
  if (!mesh.is(Kind::instance)) return made;
  const Value sizes = attribute(record, *mesh.as<Instance>(), values::MeshState::sizes),
              dims = attribute(record, *mesh.as<Instance>(), values::MeshState::dims);
  if (!sizes.is(Kind::tuple) || !dims.is(Kind::tuple)) return made;
  const auto& all = sizes.as<values::Tuple>()->items;
  for (const Value& each : dims.as<values::Tuple>()->items) {
    if (!each.is(Kind::tuple)) return {};
    Int size = record.symbols.constant(1);
    for (const Value& at : each.as<values::Tuple>()->items) {
      const auto place = at.is(Kind::integer) ? record.symbols.value(at.integer()) : std::nullopt;
      if (!place || *place < 0 || *place >= static_cast<std::int64_t>(all.size())) return {};
      const Value given = decided(record, all[static_cast<std::size_t>(*place)]);
      if (!given.is(Kind::integer)) return {};
      size = record.symbols.mul(size, given.integer());
    }
    made.push_back(size);
  }
  return made;
}

// Of a mesh in one dimension: over how many ranks it spreads. Nullopt: that is not known.
std::optional<std::int64_t> ranks_of_line(const Record& record, Value group) {
  const std::vector<Int> sizes = sizes_of_mesh(record, group);
  const auto ranks = sizes.size() == 1 ? record.symbols.value(sizes.front()) : std::nullopt;
  return ranks && *ranks > 0 ? ranks : std::nullopt;
}
// A mesh of all ranks in one dimension, however many they are.
bool is_whole_line(const Record& record, Value group) {
  return group.is(Kind::instance) && sizes_of_mesh(record, group).size() == 1 &&
      !attribute(record, *group.as<Instance>(), values::MeshState::part);
}
// Is all counted that its settings say of the memory?
bool is_exact(const Record& record, const Instance& wrapper, Wrap wrap) {
  const auto is_given = [&](const Instance& of, std::string_view name) {
    const Value value = attribute(record, of, name);
    return value && !value.is(Kind::none);
  };
  if (wrap == Wrap::replicated) return true;
  const Value marker = attribute(record, wrapper, sharded_marker);
  const Instance& settings = wrap == Wrap::sharded && marker.is(Kind::instance) ? *marker.as<Instance>()
                                                                                : wrapper;
  if (is_given(settings, precision) || is_given(settings, policy)) return false;
  if (const Value group = attribute(record, settings, values::GroupState::group);
      group && !group.is(Kind::none) && !ranks_of_line(record, group) && !is_whole_line(record, group))
    return false;
  return !is_given(settings, strategy) || is_of_strategy(record, settings, ".FULL_SHARD") ||
      is_of_strategy(record, settings, ".SHARD_GRAD_OP") || is_of_strategy(record, settings, ".NO_SHARD");
}

// What is gathered at once: a wrapped module without the wrapped ones in it.
struct Unit {
  const Instance* wrapper = nullptr;
  Wrap wrap = Wrap::none;
  std::vector<Held*> parameters;
  std::int64_t own = 0, whole = 0;  // bytes of the rank, and gathered
};

class Divider {
public:
  Divider(const Record& record, Tree& tree, int world) : record_(record), tree_(tree), world_(world) {}

  std::optional<Division> run() {
    collect();
    if (units_.empty() || !choose_rank()) return std::nullopt;
    Division made;
    made.exact = std::ranges::all_of(
        units_, [&](const Unit& unit) { return is_exact(record_, *unit.wrapper, unit.wrap); });
    made.how = units_.front().wrap == Wrap::replicated ? "DistributedDataParallel"
        : units_.front().wrap == Wrap::sharded         ? "fully_shard"
                                                       : "FullyShardedDataParallel";
    for (Unit& unit : units_) {
      if (unit.wrap == Wrap::replicated    ? !fill_buckets(unit, made)
              : unit.wrap == Wrap::sharded ? !shard(unit)
                                           : !flatten(unit))
        return std::nullopt;
      if (unit.wrap == Wrap::replicated) continue;
      made.shards = true;
      made.units += !unit.parameters.empty();
      made.parameters += unit.own;
      for (const Held* held : unit.parameters)
        if (held->trained != values::Known::no) {
          made.gradients += unit.own;
          made.unreduced = std::max(made.unreduced, unit.whole);
          break;
        }
    }
    if (made.shards) gather(made);
    return made;
  }

private:
  // The modules stand parents first, with their depth.
  void collect() {
    std::vector<std::pair<int, std::size_t>> around;  // depth of a wrapped module, and its unit
    for (Module& module : tree_.modules) {
      while (!around.empty() && around.back().first >= module.depth) around.pop_back();
      if (const Wrap wrap = wrap_of(record_, *module.object); wrap != Wrap::none) {
        around.emplace_back(module.depth, units_.size());
        units_.push_back({module.object, wrap, {}});
      }
      if (around.empty()) continue;
      for (Held& held : module.own)
        if (held.is_parameter) units_[around.back().second].parameters.push_back(&held);
    }
  }

  std::int64_t ranks_of(const Unit& unit) const {
    const Value marker = attribute(record_, *unit.wrapper, sharded_marker);
    const Value group = marker.is(Kind::instance)
        ? attribute(record_, *marker.as<Instance>(), values::GroupState::group)
        : Value{};
    return ranks_of_line(record_, group).value_or(world_);
  }
  // Rows of the first dimension; the last ranks have fewer, and as much memory.
  bool shard(Unit& unit) {
    symbolic::Context& s = record_.symbols;
    for (Held* held : unit.parameters) {
      const auto count = count_of(record_, held->own());
      if (!count || held->own().dims.empty()) return false;
      const std::int64_t ranks = ranks_of(unit);
      const std::int64_t rows = *s.value(held->own().dims[0].size), mine = (rows + ranks - 1) / ranks,
                         each = rows ? *count / rows : 0, width = values::width(held->dtype);
      held->local = held->own();
      held->local->dims[0] = {s.constant(mine), nullptr, nullptr};
      unit.own += mine * each * width * held->copies;
      unit.whole += mine * each * width * ranks * held->copies;
    }
    return true;
  }

  // One vector of all, in equal parts.
  struct Flat {
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;  // of each parameter: where it begins and ends
    std::int64_t chunk = 0, width = 4;
    bool views = false;  // each parameter keeps its own
  };
  std::int64_t parts_of(const Unit& unit) const { return unit.wrap == Wrap::kept ? 1 : world_; }
  std::optional<Flat> flat_of(const Unit& unit) const {
    Flat flat;
    flat.views = is_on(record_, *unit.wrapper, values::WrapperState::use_orig_params);
    std::int64_t end = 0;
    for (const Held* held : unit.parameters) {
      const auto count = count_of(record_, held->own());
      if (!count) return std::nullopt;
      flat.width = std::max(values::width(held->dtype), 1);
      if (const std::int64_t each = alignment / flat.width; flat.views) end = (end + each - 1) / each * each;
      flat.spans.emplace_back(end, end + *count * held->copies);
      end = flat.spans.back().second;
    }
    const std::int64_t parts = parts_of(unit);
    flat.chunk = (end + parts - 1) / parts;
    return flat;
  }
  static std::int64_t part_of(const Flat& flat, std::size_t i, std::int64_t rank) {
    return std::max<std::int64_t>(0,
        std::min((rank + 1) * flat.chunk, flat.spans[i].second) -
            std::max(rank * flat.chunk, flat.spans[i].first));
  }
  // That has the most of the parameters: padding between them belongs to none.
  bool choose_rank() {
    std::vector<std::int64_t> sums(static_cast<std::size_t>(std::min<std::int64_t>(world_, most_ranks)), 0);
    for (const Unit& unit : units_) {
      if (unit.wrap != Wrap::flat) continue;
      const auto flat = flat_of(unit);
      if (!flat) return false;
      for (std::size_t rank = 0; flat->views && rank < sums.size(); ++rank)
        for (std::size_t i = 0; i < flat->spans.size(); ++i)
          sums[rank] += part_of(*flat, i, static_cast<std::int64_t>(rank));
    }
    rank_ = std::ranges::max_element(sums) - sums.begin();
    return true;
  }
  bool flatten(Unit& unit) {
    symbolic::Context& s = record_.symbols;
    const auto flat = flat_of(unit);
    if (!flat) return false;
    for (std::size_t i = 0; i < unit.parameters.size(); ++i) {
      // Without views the parameter is all of the unit.
      const std::int64_t mine = flat->views ? part_of(*flat, i, unit.wrap == Wrap::kept ? 0 : rank_)
          : i == 0                          ? flat->chunk
                                            : 0;
      unit.parameters[i]->local = Shape{true, {{s.constant(mine), nullptr, nullptr}}};
    }
    unit.own = flat->chunk * flat->width;
    if (unit.wrap == Wrap::flat) unit.whole = flat->chunk * flat->width * world_;
    return true;
  }

  // In the order in which gradients come; the first is small, so that sending begins early.
  bool fill_buckets(const Unit& unit, Division& made) {
    std::int64_t limit = mebibyte, filled = 0, cap = 25 * mebibyte;
    if (const Value given = attribute(record_, *unit.wrapper, values::WrapperState::bucket_cap_mb);
        given.is(Kind::integer))
      if (const auto number = record_.symbols.value(given.integer())) cap = *number * mebibyte;
    for (std::size_t i = unit.parameters.size(); i-- > 0;) {
      const Held& held = *unit.parameters[i];
      if (held.trained == values::Known::no) continue;
      const auto count = count_of(record_, held.own());
      if (!count) return false;
      for (std::int64_t copy = 0; copy < held.copies; ++copy) {
        filled += *count * values::width(held.dtype);
        made.buckets += *count * values::width(held.dtype);
        if (filled < limit) continue;
        ++made.bucket_count;
        filled = 0;
        limit = cap;
      }
    }
    made.bucket_count += filled > 0;
    // Then the gradients are views of them.
    if (is_on(record_, *unit.wrapper, values::WrapperState::gradient_as_bucket_view)) made.buckets = 0;
    return true;
  }

  void gather(Division& made) {
    // The outermost stays gathered; of the others the next is on its way while one runs.
    made.gathered = units_.front().whole;
    std::int64_t most = 0;
    for (std::size_t i = 1; i < units_.size(); ++i)
      most = std::max(most, units_[i].whole + (i + 1 < units_.size() ? units_[i + 1].whole : 0));
    made.gathered += most;
  }

  const Record& record_;
  Tree& tree_;
  const std::int64_t world_;
  std::int64_t rank_ = 0;
  std::vector<Unit> units_;
};

}  // namespace

std::optional<Division> division_of(const Record& record, Tree& tree, int world) {
  return Divider(record, tree, world).run();
}

namespace {

// A dimension as the first of so many ranks has it.
bool divide(symbolic::Context& s, Shape& shape, std::int64_t dim, Int ranks) {
  const auto ndim = static_cast<std::int64_t>(shape.dims.size());
  if (dim < 0) dim += ndim;
  if (!shape.ndim_known || !ranks || dim < 0 || dim >= ndim) return false;
  values::Dim& size = shape.dims[static_cast<std::size_t>(dim)];
  if (!size.size) return false;
  size = {s.floordiv(s.add(size.size, s.add(ranks, s.constant(-1))), ranks), nullptr, nullptr};
  return true;
}

// Of a DTensor: its part on the first rank.
std::optional<Shape> part_of(const Record& record, const Producer& made, Shape shape) {
  const std::vector<Int> sizes = sizes_of_mesh(record, decided(record, argument(made, "device_mesh")));
  const Value given = decided(record, argument(made, "placements"));
  if (!given.is(Kind::tuple) || given.as<values::Tuple>()->items.size() != sizes.size()) return std::nullopt;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Value placement = decided(record, given.as<values::Tuple>()->items[i]);
    if (!placement.is(Kind::instance)) return std::nullopt;
    const Instance& how = *placement.as<Instance>();
    if (is_a(how, "torch.distributed.tensor.Replicate")) continue;
    const Value dim = is_a(how, "torch.distributed.tensor.Shard") ? attribute(record, how, "dim") : Value{};
    const auto at = dim.is(Kind::integer) ? record.symbols.value(dim.integer()) : std::nullopt;
    if (!at || !divide(record.symbols, shape, *at, sizes[i])) return std::nullopt;
  }
  return shape;
}

}  // namespace

bool spread_parameters(const Record& record, Tree& tree) {
  symbolic::Context& s = record.symbols;
  bool known = true;
  for (Module& module : tree.modules) {
    const Value dim = attribute(record, *module.object, values::GroupState::spread),
                ranks = attribute(record, *module.object, values::GroupState::ranks);
    const std::int64_t along = dim.is(Kind::integer) ? s.value(dim.integer()).value_or(-1) : -1;
    for (Held& held : module.own) {
      if (!held.is_parameter) continue;
      const Producer* made = held.tensor ? held.tensor->now()->made : nullptr;
      if (made && made->row->path == "torch.distributed.tensor.distribute_tensor") {
        held.local = part_of(record, *made, held.shape);
        known = known && held.local;
      } else if (dim) {
        // A bias goes with the columns.
        if (along == 1 && held.name.ends_with("bias")) continue;
        Shape part = held.shape;
        if (along >= 0 && ranks.is(Kind::integer) && divide(s, part, along, ranks.integer()))
          held.local = std::move(part);
        else
          known = false;
      }
    }
  }
  return known;
}

std::vector<std::size_t> zero_part(const Record& record, const std::vector<Held>& parameters, int world) {
  std::vector<std::pair<std::int64_t, std::size_t>> sorted;
  sorted.reserve(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    sorted.emplace_back(count_of(record, parameters[i].own()).value_or(0), i);
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(world), 0);
  std::vector<std::vector<std::size_t>> parts(static_cast<std::size_t>(world));
  for (const auto& [count, i] : sorted) {
    const auto rank = static_cast<std::size_t>(std::ranges::min_element(sizes) - sizes.begin());
    parts[rank].push_back(i);
    if (parameters[i].trained != values::Known::no) sizes[rank] += count * parameters[i].copies;
  }
  return parts[static_cast<std::size_t>(std::ranges::max_element(sizes) - sizes.begin())];
}

namespace {

// Of the parameters of one unit: all, and the gradients of those that are trained.
struct UnitBytes {
  Wrap wrap = Wrap::none;
  std::int64_t parameters = 0, gradients = 0;
};
std::optional<UnitBytes> bytes_of_unit(const Record& record, const Instance& wrapper) {
  // fully_shard marks the module; what the marker belongs to is the unit.
  const Value marked = attribute(record, wrapper, values::WrapperState::wrapped);
  const Instance& unit = is_module(marked) ? *marked.as<Instance>() : wrapper;
  UnitBytes found{wrap_of(record, unit)};
  const Tree tree = tree_of(record, unit);
  if (found.wrap == Wrap::none || !tree.complete) return std::nullopt;
  int inner = -1;  // the depth of a unit in it
  for (const Module& module : tree.modules) {
    if (inner >= 0 && module.depth <= inner) inner = -1;
    if (inner < 0 && module.object != &unit && wrap_of(record, *module.object) != Wrap::none)
      inner = module.depth;
    if (inner >= 0) continue;
    for (const Held& held : module.own) {
      const auto count = held.is_parameter ? count_of(record, held.shape) : std::optional<std::int64_t>(0);
      if (!count) return std::nullopt;
      const std::int64_t bytes = *count * values::width(held.dtype) * held.copies;
      found.parameters += bytes;
      if (held.trained != values::Known::no) found.gradients += bytes;
    }
  }
  return found;
}
bool gathers(Wrap wrap) { return wrap == Wrap::flat || wrap == Wrap::sharded; }

}  // namespace

std::int64_t moved_by_backward(const Record& record, const Instance& wrapper) {
  const auto unit = bytes_of_unit(record, wrapper);
  return unit ? unit->gradients + (gathers(unit->wrap) ? unit->parameters : 0) : 0;
}

std::int64_t moved_by_forward(const Record& record, const Instance& wrapper) {
  const auto unit = bytes_of_unit(record, wrapper);
  return unit && gathers(unit->wrap) ? unit->parameters : 0;
}

}  // namespace stepzero::footprint
