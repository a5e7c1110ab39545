#include "footprint/zero.hpp"

#include "values/kept.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace stepzero::footprint {

using values::EngineState;
using values::Kind;

namespace {

const Instance* engine_that_has(const Record& record, const Instance& object) {
  const Value engine = attribute(record, object, EngineState::engine);
  return engine.is(Kind::instance) ? engine.as<Instance>() : nullptr;
}
std::int64_t stage_of(const Record& record, const Instance& engine) {
  return record.number(attribute(record, engine, EngineState::stage)).value_or(0);
}
Value under(const Record& record, Value dict, std::string_view key) {
  if (dict.is(Kind::dict))
    for (const auto& [name, value] : values::Heap::dict_state(dict)->items)
      if (name.is(Kind::string) && name.text() == key) return decided(record, value);
  return {};
}

// A number of the configuration, which may be written `5e8`. Nullopt: "auto", or not known.
std::optional<std::int64_t> number_under(
    const Record& record, Value dict, std::string_view key, std::int64_t by_default) {
  const Value given = under(record, dict, key);
  if (!given) return by_default;
  return given.is(Kind::real) ? static_cast<std::int64_t>(given.real()) : record.number(given);
}

// What it takes to reduce gradients in, asked on the CPU of DeepSpeed 0.19: numbers of the parameters' type,
// as many as `reduce_bucket_size` says, twice where it communicates while the backward goes on. Nothing is
// known of "auto".
std::int64_t bytes_of_bucket(const Record& record, const Instance& engine, std::int64_t stage, Dtype dtype) {
  constexpr std::int64_t by_default = 500'000'000;
  const Value zero = under(record, attribute(record, engine, EngineState::config), "zero_optimization");
  if (!zero.is(Kind::dict) || values::Heap::dict_state(zero)->open) return 0;
  const auto is = [&](std::string_view name, bool otherwise) {
    const Value flag = under(record, zero, name);
    return flag.is(Kind::boolean) ? record.symbols.decide(flag.condition()) == symbolic::Answer::yes
                                  : otherwise;
  };
  if (!is("contiguous_gradients", true)) return 0;
  return number_under(record, zero, "reduce_bucket_size", by_default).value_or(0) * values::width(dtype) *
      (stage < 3 && is("overlap_comm", false) ? 2 : 1);
}

// What the last stage gathers, asked of DeepSpeed 0.19: small parameters stay. The others are there while
// their layer runs, and stay from the forward to the backward where it uses them again before so many others;
// what is gathered ahead is not counted.
void gather(const Record& record, const Tree& tree, const Instance& engine, int world, Division& made) {
  constexpr std::int64_t small = 100'000, near = 1'000'000'000;
  const Value zero = under(record, attribute(record, engine, EngineState::config), "zero_optimization");
  if (!zero.is(Kind::dict) || values::Heap::dict_state(zero)->open) return;
  const std::int64_t threshold =
      number_under(record, zero, "stage3_param_persistence_threshold", small).value_or(0);
  const auto of_model = number_under(
      record, zero, "stage3_model_persistence_threshold", std::numeric_limits<std::int64_t>::max());
  std::int64_t numbers = 0, persistent = 0, all = 0, largest = 0;
  for (const Module& module : tree.modules) {
    std::int64_t own = 0;
    for (const Held& held : module.own) {
      const Int count = held.is_parameter ? elements(record.symbols, held.shape) : nullptr;
      const std::int64_t each = count ? record.symbols.value(count).value_or(0) : 0,
                         bytes = each * values::width(held.dtype);
      for (std::int64_t copy = 0; each > 0 && copy < held.copies; ++copy) {
        numbers += each;
        if (of_model && each <= threshold && persistent + each <= *of_model / world) {
          persistent += each;
          made.persistent += bytes;
        } else {
          all += bytes;
          own = held.copies > 1 ? std::max(own, bytes) : own + bytes;
        }
      }
    }
    made.units += own > 0;
    largest = std::max(largest, own);
  }
  // The forward and the backward go through all of them.
  const auto reused = number_under(record, zero, "stage3_max_reuse_distance", near);
  made.gathered = reused && 2 * numbers < *reused ? all : largest;
}

}  // namespace

std::optional<Division> division_by_engine(const Record& record, const Tree& tree, int world) {
  const Instance* engine = engine_that_has(record, *tree.modules[0].object);
  const std::int64_t stage = engine ? stage_of(record, *engine) : 0;
  if (stage < 1) return std::nullopt;
  Division made;
  made.how = "ZeRO-" + std::to_string(stage);
  made.shards = true;
  made.exact = false;
  for (const Module& module : tree.modules)
    for (const Held& held : module.own) {
      if (!held.is_parameter) continue;
      const Int count = elements(record.symbols, held.shape);
      const auto known = count ? record.symbols.value(count) : std::nullopt;
      if (!known) return std::nullopt;
      const std::int64_t bytes = *known * values::width(held.dtype) * held.copies;
      made.parameters += bytes;
      if (held.trained != values::Known::no) made.gradients += bytes;
    }
  for (const Module& module : tree.modules)
    if (!module.own.empty()) {
      // Those of the last stage are always there, the others while the backward runs.
      (stage == 3 ? made.buckets : made.unreduced) = bytes_of_bucket(
          record, *engine, stage, module.own.front().dtype);
      break;
    }
  if (stage == 2) made.gradient_parts = world;
  if (stage == 3) {
    gather(record, tree, *engine, world, made);
    made.keeps_gradients = true;
    made.parameters /= world;
  }
  made.gradients /= world;  // after the backward, in the first stage, too
  return made;
}

std::optional<OfEngine> engine_of(const Record& record, const Instance& optimizer, int world) {
  const Instance* engine = engine_that_has(record, optimizer);
  if (!engine) return std::nullopt;
  OfEngine found;
  const Value configured = attribute(record, *engine, EngineState::config);
  if (const Value type = under(record, under(record, configured, "optimizer"), "type"); type.is(Kind::string))
    found.type = std::string(type.text());
  found.stage = stage_of(record, *engine);
  if (found.stage >= 1) found.parts = world;
  const Value zero = under(record, configured, "zero_optimization");
  found.is_plain = configured.is(Kind::dict) && !values::Heap::dict_state(configured)->open &&
      (!zero || (zero.is(Kind::dict) && !values::Heap::dict_state(zero)->open)) &&
      std::ranges::none_of(std::array<std::string_view, 4>{"offload_optimizer", "cpu_offload",
                               "zero_hpz_partition_size", "mics_shard_size"},
          [&](std::string_view key) { return static_cast<bool>(under(record, zero, key)); });
  return found;
}

}  // namespace stepzero::footprint
