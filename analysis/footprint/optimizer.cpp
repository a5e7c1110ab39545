#include "footprint/optimizer.hpp"

#include "footprint/ranks.hpp"
#include "footprint/saving_kinds.hpp"
#include "footprint/zero.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::footprint {

using values::Kind;

namespace {

constexpr int never = -1;  // it steps one parameter after the other, wherever they are

// Of each class: `copies` numbers for each number of a parameter, and `counters` of 4 bytes for each
// parameter, as found in torch/optim of PyTorch 2.13. What it makes while it steps: `at_once` numbers for
// each number of all its parameters, where it steps them at once, as it does on a GPU; else `in_turn` for
// each number of the one that it steps: as measured with torch.cuda.memory_stats of PyTorch 2.11
// (tests/footprint), and 0 for the classes that are not PyTorch's.
struct Kept {
  std::string_view type;
  int copies;
  int counters;
  int at_once, in_turn;
  std::string_view if_set = {};  // one more copy where this argument is set
  std::string_view if_set_too = {};
  Width width = Width::of_parameter;
  std::string_view needs = {};         // of copies and counters: none without it
  std::string_view temporary_if = {};  // one more number while it steps where this argument is set
  bool grows = false;                  // it keeps more than that: a history, or what depends on the numbers
  bool of_frozen = false;              // of frozen parameters, too: it makes its state when it is made
  int once = 0;                        // bytes for all parameters together
};
constexpr Kept optimizer_table[] = {
    {"SGD", 1, 0, 0, 0, {}, {}, Width::of_parameter, "momentum", "weight_decay"},
    {"Adam", 2, 1, 1, 3, "amsgrad"},
    {"AdamW", 2, 1, 1, 3, "amsgrad"},
    {"NAdam", 2, 2, 1, 3, {}, {}, Width::of_parameter, {}, "weight_decay"},
    {"RAdam", 2, 1, 1, 2},
    {"Adamax", 2, 1, 1, 1},
    {"SparseAdam", 2, 0, 0, 0},
    {"Adagrad", 1, 1, 2, 2, {}, {}, Width::of_parameter, {}, {}, false, true},
    {"Adadelta", 2, 1, 2, 3},
    {"Adafactor", 1, 1, never, 3, {}, {}, Width::factored},
    {"Muon", 1, 0, never, 3},
    {"RMSprop", 1, 1, 1, 2, "momentum", "centered"},
    {"Rprop", 2, 1, 1, 3},
    {"ASGD", 1, 3, 1, 0},
    {"Lion", 1, 0, 0, 0},
    // Its direction and the last gradient; of each iteration, up to `history_size`, two more.
    {"LBFGS", 2, 0, never, 0, {}, {}, Width::of_parameter, {}, {}, true},
    {"FusedAdam", 2, 0, 0, 0, {}, {}, Width::float32},
    {"FusedLAMB", 2, 0, 0, 0, {}, {}, Width::float32},
};

// Of the classes of other packages, as found in their source (libraries/torch/optim/packages.cpp names the
// releases): their steps are numbers of Python.
struct KeptByPackage {
  std::string_view package;  // the beginning of the path
  Kept kept;
};
constexpr KeptByPackage of_packages[] = {
    {"transformers.", {"AdamW", 2, 0, never, 3}},
    {"transformers.", {"Adafactor", 1, 0, never, 3, "beta1", {}, Width::factored}},
    {"pytorch_transformers.", {"AdamW", 2, 0, never, 3}},
    {"pytorch_pretrained_bert.", {"BertAdam", 2, 0, never, 3}},
    // With master weights, a copy of each parameter in float32.
    {"apex.optimizers.", {"FusedAdam", 2, 0, 0, 0, "master_weights", {}, Width::float32}},
    {"apex.optimizers.", {"FusedLAMB", 2, 0, 0, 0}},
    {"apex.optimizers.", {"FusedSGD", 1, 0, 0, 0, {}, {}, Width::of_parameter, "momentum"}},
    {"apex.optimizers.", {"FusedAdagrad", 1, 0, 0, 0}},
    {"deepspeed.ops.", {"FusedAdam", 2, 0, 0, 0}},
    {"deepspeed.ops.", {"FusedLamb", 2, 0, 0, 0}},
    {"deepspeed.ops.", {"FusedLion", 1, 0, 0, 0}},
    {"torch_optimizer.", {"A2GradExp", 2, 0, never, 0}},
    {"torch_optimizer.", {"A2GradInc", 2, 0, never, 0}},
    {"torch_optimizer.", {"A2GradUni", 2, 0, never, 0}},
    {"torch_optimizer.", {"AccSGD", 1, 0, never, 0}},
    {"torch_optimizer.", {"AdaBelief", 2, 0, never, 0, "amsgrad"}},
    {"torch_optimizer.", {"AdaBound", 2, 0, never, 0, "amsbound"}},
    {"torch_optimizer.", {"AdaMod", 3, 0, never, 0}},
    {"torch_optimizer.", {"AdamP", 2, 0, never, 0}},
    {"torch_optimizer.", {"Apollo", 3, 0, never, 0}},
    {"torch_optimizer.", {"DiffGrad", 3, 0, never, 0}},
    {"torch_optimizer.", {"LARS", 1, 0, never, 0, {}, {}, Width::of_parameter, "momentum"}},
    // Numbers for each parameter that is not zero, too.
    {"torch_optimizer.", {"Lamb", 2, 0, never, 0, {}, {}, Width::of_parameter, {}, {}, true}},
    {"torch_optimizer.", {"NovoGrad", 1, 1, never, 0, "amsgrad"}},
    {"torch_optimizer.", {"QHAdam", 2, 0, never, 0}},
    {"torch_optimizer.", {"QHM", 1, 0, never, 0}},
    {"torch_optimizer.", {"RAdam", 2, 0, never, 0, {}, {}, Width::float32}},
    {"torch_optimizer.", {"Ranger", 3, 0, never, 0}},
    {"torch_optimizer.", {"RangerQH", 3, 0, never, 0}},
    {"torch_optimizer.", {"RangerVA", 4, 0, never, 0}},
    {"torch_optimizer.", {"SGDP", 1, 0, never, 0}},
    {"torch_optimizer.", {"SGDW", 1, 0, never, 0, {}, {}, Width::of_parameter, "momentum"}},
    {"torch_optimizer.", {"Yogi", 2, 0, never, 0}},
    {"adabelief_pytorch.", {"AdaBelief", 2, 0, never, 0, "amsgrad"}},
    {"adamp.", {"AdamP", 2, 0, never, 0}},
    {"adamp.", {"SGDP", 1, 0, never, 0}},
    {"lion_pytorch.", {"Lion", 1, 0, never, 0}},
    // A count of steps, in 8 bytes; without momentum not where each parameter began.
    {"madgrad.", {"MADGRAD", 2, 0, never, 0, "momentum", {}, Width::of_parameter, {}, {}, false, false, 8}},
    {"madgrad.", {"MirrorMADGRAD", 2, 0, never, 0, {}, {}, Width::of_parameter, {}, {}, false, false, 8}},
    // Where each parameter began, too, if it is not zero.
    {"prodigyopt.", {"Prodigy", 3, 0, never, 0, {}, {}, Width::of_parameter, {}, {}, true}},
    {"pytorch_ranger.", {"Ranger", 3, 0, never, 0}},
    {"pytorch_ranger.", {"RangerQH", 3, 0, never, 0}},
    {"pytorch_ranger.", {"RangerVA", 4, 0, never, 0}},
    {"schedulefree.", {"AdamWScheduleFree", 2, 0, never, 0}},
    {"schedulefree.", {"RAdamScheduleFree", 2, 0, never, 0}},
    {"schedulefree.", {"SGDScheduleFree", 1, 0, never, 0}},
};

// Of the kinds of bitsandbytes, each of which comes in 32 and 8 bits, and some paged: the copies, and numbers
// for each parameter. As version 0.50 has it: in 8 bits a copy has a byte for each number and a float32 for
// each block of 256, and all of them share a map from codes to values for the first copies and one for the
// last; parameters of fewer than 4096 numbers stay in float32.
struct KindOfBitsandbytes {
  std::string_view name;
  int copies;
  int counters = 0;
};
constexpr KindOfBitsandbytes of_bitsandbytes[] = {{"Adam", 2}, {"AdamW", 2}, {"LAMB", 2, 1}, {"AdEMAMix", 3},
    {"Lion", 1}, {"SGD", 1}, {"RMSprop", 1}, {"Adagrad", 1}, {"LARS", 1, 1}};
constexpr std::int64_t bytes_of_map = 4 * 256;
constexpr std::string_view bitsandbytes = "bitsandbytes.", paged = "Paged", in_8_bits = "8bit",
                           in_32_bits = "32bit";
constexpr std::int64_t
    fewest_in_bytes = 4096,
    numbers_of_block = 256;  // smaller tensors stay in 32 bits (min_8bit_size); blocks have one scale each

// Of the kinds of torchao (0.17, torchao/optim/adam.py), two copies each: the numbers of a byte, the numbers
// of the block that has one float32 as its scale, and the float32 numbers of the map from codes to values.
// Smaller parameters, and those of another length than whole blocks, stay as they are.
struct KindOfTorchao {
  std::string_view ends;
  std::int64_t in_byte, of_block, of_map;
};
constexpr KindOfTorchao of_torchao[] = {{"8bit", 1, 256, 256}, {"4bit", 2, 128, 16}, {"Fp8", 1, 256, 0}};
constexpr std::string_view torchao = "torchao.";

void gather(const Record& record, Value value, Optimizer& into, int depth) {
  value = decided(record, value);
  if (depth > values::deepest_data) {
    into.complete = false;
    return;
  }
  const auto each = [&](const std::vector<Value>& items) {
    for (const Value& item : items) gather(record, item, into, depth + 1);
  };
  switch (value.kind) {
  case Kind::tensor: {
    const auto* tensor = value.as<values::Tensor>();
    const TensorState& now = *tensor->now();
    into.tensors.push_back(
        {"", tensor, nullptr, now.shape, now.dtype, true, record.heap.requires_grad(now), 1});
    return;
  }
  case Kind::tuple:
    // Of named parameters.
    if (const auto& items = value.as<values::Tuple>()->items; items.size() == 2 && items[0].is(Kind::string))
      gather(record, items[1], into, depth + 1);
    else
      each(items);
    return;
  case Kind::list:
  case Kind::iterator: {
    const auto* state = values::Heap::list_state(value);
    if (!state || state->open) into.complete = false;
    if (state) each(state->items);
    return;
  }
  case Kind::dict:
    if (const auto* state = values::Heap::dict_state(value)) {
      const std::size_t first = into.tensors.size();
      for (const auto& [key, item] : state->items)
        if (key.is(Kind::string) && key.text() == "params") gather(record, item, into, depth + 1);
      for (std::size_t i = first; i < into.tensors.size(); ++i) into.tensors[i].group = value;
      if (state->open) into.complete = false;
    }
    return;
  case Kind::instance: {
    const Value of = attribute(record, *value.as<Instance>(), values::OptimizerState::of);
    const Value module = is_module(value) ? value : of;
    if (!is_module(module)) break;
    const Tree tree = tree_of(record, *module.as<Instance>());
    for (const Module& part : tree.modules)
      for (const Held& held : part.own)
        if (held.is_parameter) into.tensors.push_back(held);
    if (!tree.complete) into.complete = false;
    return;
  }
  default: break;
  }
  into.complete = false;
}

// Of the parameters of that group, which may have settings of its own.
bool is_set(
    const Record& record, const interpreter::OperationEvent& made, Value group, std::string_view name) {
  Value value = argument_of(record, made, name);
  if (const auto* own = group.is(Kind::dict) ? values::Heap::dict_state(group) : nullptr)
    for (const auto& [key, item] : own->items)
      if (key.is(Kind::string) && key.text() == name) value = decided(record, item);
  if (value.is(Kind::boolean)) return record.symbols.decide(value.condition()) == symbolic::Answer::yes;
  if (value.is(Kind::real)) return value.real() != 0;
  if (value.is(Kind::integer)) return record.symbols.value(value.integer()) != 0;
  return value.is(Kind::unknown);
}

// Of the class of that path, as it was made. Nothing: it is not known.
std::optional<Kept> kept_by(const Record& record, const interpreter::OperationEvent& made,
    std::string_view type, std::string_view path) {
  if (path.starts_with(torchao)) return Kept{type, 2, 1, 0, 0, "amsgrad", {}, Width::of_block};
  if (!path.starts_with(bitsandbytes)) {
    for (const KeptByPackage& each : of_packages)
      if (path.starts_with(each.package) && each.kept.type == type) return each.kept;
    const bool is_known_by_name = path.starts_with("torch.") || path.starts_with("deepspeed.");
    const auto found = is_known_by_name ? std::ranges::find(optimizer_table, type, &Kept::type)
                                        : std::end(optimizer_table);
    return found == std::end(optimizer_table) ? std::nullopt : std::optional(*found);
  }
  std::string_view name = type;
  if (name.starts_with(paged)) name.remove_prefix(paged.size());
  Width width = Width::float32;
  if (name.ends_with(in_8_bits))
    width = Width::byte, name.remove_suffix(in_8_bits.size());
  else if (name.ends_with(in_32_bits))
    name.remove_suffix(in_32_bits.size());
  else if (const Value bits = argument_of(record, made, "optim_bits"); bits) {
    const std::int64_t number = record.number(bits).value_or(0);
    if (number != 8 && number != 32) return std::nullopt;
    if (number == 8) width = Width::byte;
  }
  const auto kind = std::ranges::find(of_bitsandbytes, name, &KindOfBitsandbytes::name);
  if (kind == std::end(of_bitsandbytes)) return std::nullopt;
  return Kept{type, kind->copies, kind->counters, 0, 0, {}, {}, width};
}

// What DeepSpeed 0.19 leaves one process, asked on the CPU: the parameters of one group are laid end to end,
// in float32 and padded to twice as many numbers as there are processes, and parted; in stage 3 each of them
// is parted by itself. Without ZeRO only half precision has a copy. Nothing: it is not known so well.
std::optional<std::int64_t> part_of_engine(
    const Record& record, const Kept& kept, const OfEngine& engine, bool by_config, const Optimizer& of) {
  symbolic::Context& s = record.symbols;
  std::int64_t whole = 0, each_parted = 0, count = 0;
  std::optional<Dtype> dtype;
  for (const Held& held : of.tensors) {
    if (held.trained == values::Known::no) continue;
    const Int numbers = elements(s, held.shape);
    const auto known = numbers ? s.value(numbers) : std::nullopt;
    if (!known || held.trained != values::Known::yes || (dtype && *dtype != held.dtype)) return std::nullopt;
    dtype = held.dtype;
    whole += *known * held.copies;
    each_parted += (*known + engine.parts - 1) / engine.parts * held.copies;
    count += held.copies;
  }
  if (!engine.is_plain || !of.complete || !dtype || (*dtype != Dtype::float32 && !is_half(*dtype)))
    return std::nullopt;
  const std::int64_t aligned = 2 * engine.parts,
                     parted = engine.stage == 3 ? each_parted
      : engine.stage >= 1                       ? (whole + aligned - 1) / aligned * aligned / engine.parts
                                                : whole;
  constexpr std::int64_t width = 4;
  const bool has_master = engine.stage >= 1 || is_half(*dtype);
  // Its own kinds count steps without a tensor.
  const std::int64_t counters = by_config ? 0 : kept.counters * (engine.stage >= 1 ? 1 : count);
  return parted * width * (kept.copies + has_master) + counters * width;
}

// Its numbers are float32, and so is a copy of each parameter in half precision. Where it is not known how it
// pads, this is a bound.
void add_part_of_engine(
    const Record& record, const Kept& kept, const OfEngine& engine, bool by_config, Optimizer& into) {
  symbolic::Context& s = record.symbols;
  into.copies = kept.copies;
  into.width = Width::float32;
  Bytes whole;
  for (const Held& held : into.tensors) {
    if (held.trained == values::Known::no) continue;
    const bool has_copy = is_half(held.dtype);
    whole.add(s, bytes_of(s, held.shape, Dtype::float32), (kept.copies + has_copy) * held.copies);
  }
  // It steps one gradient in float32, which all are laid in.
  if (Bytes all; engine.stage >= 1) {
    for (const Held& held : into.tensors)
      if (held.trained == values::Known::yes)
        all.add(s, bytes_of(s, held.shape, Dtype::float32), held.copies);
    if (!all.open()) into.temporary.add(all.number(s, {}) / engine.parts);
  }
  if (const auto exact = part_of_engine(record, kept, engine, by_config, into)) {
    into.state.add(*exact);
    return;
  }
  if (!whole.open()) into.state.add(whole.number(s, {}) / engine.parts);
  into.state.miss();
}

}  // namespace

Bytes state_bytes(const Record& record, const Optimizer& optimizer, const Held& held) {
  symbolic::Context& s = record.symbols;
  Bytes made;
  const Shape& shape = held.own();
  const Int count = elements(s, shape);
  const std::int64_t copies = optimizer.copies * held.copies;
  const std::optional<std::int64_t> known = count ? s.value(count) : std::nullopt;
  switch (optimizer.width) {
  case Width::of_parameter: made.add(s, bytes_of(s, shape, held.dtype), copies); break;
  case Width::float32: made.add(s, bytes_of(s, shape, Dtype::float32), copies); break;
  case Width::byte:
    if (known && *known < fewest_in_bytes) {
      made.add(s, bytes_of(s, shape, Dtype::float32), copies);
      break;
    }
    made.add(s, count, copies);
    made.add(s,
        count
            ? s.mul(s.floordiv(s.add(count, s.constant(numbers_of_block - 1)), s.constant(numbers_of_block)),
                  s.constant(4))
            : nullptr,
        copies);
    break;
  case Width::of_block: {
    const auto kind = std::ranges::find_if(
        of_torchao, [&](const KindOfTorchao& each) { return optimizer.type.ends_with(each.ends); });
    const std::int64_t block = optimizer.block > 0 ? optimizer.block : kind->of_block;
    if (known && *known >= fewest_in_bytes && *known % block == 0)
      made.add(copies * (*known / kind->in_byte + 4 * (*known / block) + 4 * kind->of_map));
    else
      made.add(s, bytes_of(s, shape, held.dtype), copies);
    if (!known) made.miss();
    break;
  }
  case Width::factored:
    if (!shape.ndim_known || shape.dims.size() < 2) {
      made.add(s, bytes_of(s, shape, held.dtype), copies);
      break;
    }
    for (const std::size_t summed : {shape.dims.size() - 1, shape.dims.size() - 2}) {
      Shape rest = shape;
      rest.dims.erase(rest.dims.begin() + static_cast<std::ptrdiff_t>(summed));
      made.add(s, bytes_of(s, rest, held.dtype), held.copies);
    }
    made.add(s, bytes_of(s, shape, held.dtype), (optimizer.copies - 1) * held.copies);
    break;
  }
  // Of a part without numbers there is nothing.
  const Int local = held.local ? elements(s, *held.local) : nullptr;
  if (!local || s.value(local) != 0) made.add(4 * optimizer.counters * held.copies);
  return made;
}

// The tensors that it was given, each once, with the groups and the sizes that this rank has of them.
static void take_tensors(const Record& record, const Instance* object, Value given,
    const std::unordered_map<const values::Tensor*, Shape>& locals, Optimizer& optimizer) {
  const Value taken = object ? attribute(record, *object, values::LoaderState::tensors) : Value{};
  // What was known of a whole module when it was made is less than the module: of layers that PyTorch builds
  // inside only that speaks.
  const Value of = given.is(Kind::instance)
      ? attribute(record, *given.as<Instance>(), values::OptimizerState::of)
      : Value{};
  gather(record,
      !is_module(of) && taken.is(Kind::tuple) && !taken.as<values::Tuple>()->items.empty() ? taken : given,
      optimizer, 0);
  // What was taken then has no groups any more.
  if (Optimizer listed; given.is(Kind::list)) {
    gather(record, given, listed, 0);
    std::unordered_map<const values::Tensor*, Value> groups;
    for (const Held& held : listed.tensors)
      if (held.group) groups.emplace(held.tensor, held.group);
    for (Held& held : optimizer.tensors)
      if (const auto group = groups.find(held.tensor); held.tensor && group != groups.end())
        held.group = group->second;
  }
  std::unordered_set<const values::Tensor*> seen;
  std::erase_if(
      optimizer.tensors, [&](const Held& held) { return held.tensor && !seen.insert(held.tensor).second; });
  for (Held& held : optimizer.tensors)
    if (const auto local = locals.find(held.tensor); held.tensor && local != locals.end())
      held.local = local->second;
}

Optimizer optimizer_of(const Record& record, const interpreter::OperationEvent& made, const Options& options,
    const std::unordered_map<const values::Tensor*, Shape>& locals, const Reach* reach) {
  Optimizer optimizer;
  optimizer.made = &made;
  symbolic::Context& s = record.symbols;
  const auto* object = made.self.is(Kind::instance) ? made.self.as<Instance>() : nullptr;
  const std::string_view path = object && object->native ? object->native->path : made.row->path;
  optimizer.type = std::string(path.substr(path.rfind('.') + 1));
  const Value given = object ? attribute(record, *object, values::OptimizerState::parameters) : Value{};
  take_tensors(record, object, given, locals, optimizer);
  if (optimizer.type == "ZeroRedundancyOptimizer") {
    const Value inner = argument_of(record, made, "optimizer_class");
    if (inner.is(Kind::library))
      optimizer.type = std::string(inner.as<values::LibrarySymbol>()->path.substr(
          inner.as<values::LibrarySymbol>()->path.rfind('.') + 1));
    optimizer.divided = true;
    std::vector<Held> part;
    for (const std::size_t i : zero_part(record, optimizer.tensors, options.world))
      part.push_back(optimizer.tensors[i]);
    optimizer.steps = std::move(part);
  } else {
    optimizer.steps = optimizer.tensors;
  }
  const auto engine = object ? engine_of(record, *object, options.world) : std::nullopt;
  if (engine && path.starts_with("deepspeed."))
    optimizer.type = engine->type.empty() ? "optimizer of DeepSpeed" : engine->type;
  const auto kept = kept_by(record, made, optimizer.type, path);
  optimizer.known = kept.has_value();
  if (engine && kept) {
    // Several groups are padded each by itself.
    const bool has_groups = given.is(Kind::list) &&
        std::ranges::any_of(
            values::Heap::list_state(given)->items, [](const Value& item) { return item.is(Kind::dict); });
    if (has_groups) optimizer.complete = false;
    optimizer.by_engine = true;
    add_part_of_engine(record, *kept, *engine, path.starts_with("deepspeed."), optimizer);
    return optimizer;
  }
  if (!optimizer.known || !optimizer.complete || kept->grows) optimizer.state.miss();
  if (!optimizer.known) return optimizer;
  optimizer.width = kept->width;
  if (const auto block = record.number(argument_of(record, made, "block_size"))) optimizer.block = *block;
  // An optimizer of nothing that is reached is stepped by a backward that is not seen.
  const bool at_once = options.device == Device::cuda && kept->at_once != never &&
      !is_given_off(record, made, "foreach");
  // Of what a group of them has: copies and counters, and numbers that are made while it steps.
  const auto settle = [&](Value group) {
    const auto set = [&](std::string_view name) {
      return !name.empty() && is_set(record, made, group, name);
    };
    const bool has_none = !kept->needs.empty() && !set(kept->needs);
    optimizer.copies = (has_none ? 0 : kept->copies) + set(kept->if_set) + set(kept->if_set_too);
    optimizer.counters = has_none ? 0 : kept->counters;
    return set("fused") ? 0 : (at_once ? kept->at_once : kept->in_turn) + set(kept->temporary_if);
  };
  Bytes largest;
  const Held* before = nullptr;
  const bool restricted = reach &&
      std::ranges::any_of(optimizer.steps, [&](const Held& held) { return reach->holds(held); });
  bool has_maps = false;
  for (const Held& held : optimizer.steps) {
    const int temporaries = settle(held.group);
    const bool is_frozen = held.trained == values::Known::no || (restricted && !reach->holds(held));
    if (is_frozen && !kept->of_frozen) continue;
    if (held.trained == values::Known::unknown && !kept->of_frozen) {
      optimizer.state.miss();
      continue;
    }
    optimizer.state.add(s, state_bytes(record, optimizer, held));
    const Int count = elements(s, held.own());
    const auto known = count ? s.value(count) : std::nullopt;
    has_maps = has_maps || (kept->width == Width::byte && known && *known >= fewest_in_bytes);
    if (is_frozen) continue;
    if (at_once) {
      optimizer.temporary.add(s, bytes_of(s, held.own(), held.dtype), temporaries * held.copies);
      continue;
    }
    // The last ones of the parameter before are let go when there are new ones.
    Bytes one;
    one.add(s, bytes_of(s, held.own(), held.dtype), temporaries > 1 ? temporaries - 1 : temporaries);
    if (held.copies > 1) before = &held;
    if (before && temporaries > 1) one.add(s, bytes_of(s, before->own(), before->dtype));
    before = &held;
    if (one.number(s, options.settings) > largest.number(s, options.settings)) largest = one;
  }
  if (!at_once) optimizer.temporary = largest;
  optimizer.state.add(kept->once + (has_maps ? std::min(kept->copies, 2) * bytes_of_map : 0));
  settle({});
  return optimizer;
}

}  // namespace stepzero::footprint
