// What converting a module does to the tensors that it holds: to(), cuda(), half()… and weights that are
// computed from others.
#include "interpreter/calls/unseen.hpp"
#include "interpreter/record.hpp"
#include "libraries/table/native.hpp"
#include "libraries/torch/meaning/devices.hpp"
#include "libraries/torch/nn/layer.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::libraries {

using values::TensorRole;

namespace {

// What `.to(…)` and its like ask for.
struct Conversion {
  bool changes_dtype = false, changes_device = false;
  Dtype dtype = Dtype::unknown;
  const values::Device* device = nullptr;
  bool copies = true;           // to_empty() makes other tensors, without numbers
  bool copies_nothing = false;  // found: a tensor of the meta device was to be copied to another
};
// The tensors that a library's layer was given, such as the weight of a loss, are its buffers: it moves its
// own, the program's stay.
void adopt_tensors(Runtime& run, Instance& module) {
  const auto entries = module.attributes.entries();
  for (const auto& [name, slot] : entries) {
    const Value given = run.resolve(slot->value);
    if (!given.is(Kind::tensor) || given.as<Tensor>()->role != TensorRole::plain ||
        values::is_kept(name.text()))
      continue;
    const Value own = run.heap().tensor(*given.as<Tensor>()->now(), given.object()->born);
    own.as<Tensor>()->role = TensorRole::buffer;
    run.heap().set(run.heap().slot_of(module.attributes, name), own);
  }
}
bool is_collection(Value value) {
  return value.is(Kind::list) || value.is(Kind::tuple) || value.is(Kind::dict);
}
void convert(Runtime& run, Value value, Conversion& wanted, std::unordered_set<const values::Object*>& seen,
    bool certain, int depth) {
  value = run.resolve(value);
  if (depth > values::deepest_module) return;
  switch (value.kind) {
  case Kind::instance: {
    if (!seen.insert(value.object()).second) return;
    auto& module = *value.as<Instance>();
    // With a base that is not seen it may be a module, and is moved with the others then.
    if (!run.is_a(value, "torch.nn.Module")) {
      if (!module.cls || !module.cls->open) return;
      certain = false;
    }
    if (wanted.changes_dtype)
      run.heap().set(run.heap().slot_of(module.attributes, Name(values::ModuleState::dtype)),
          Value::of(certain ? wanted.dtype : Dtype::unknown));
    if (!module.cls && wanted.changes_device) adopt_tensors(run, module);
    const auto entries = module.attributes.entries();
    // What the program keeps in a list of its own is no part of the module, unless it may be registered as
    // well.
    const bool all_registered = module.cls && parts_of(run, module).complete &&
        !run.find_in_order(module.cls->order, Name("_apply")).is(Kind::function);
    for (const auto& [name, slot] : entries) {
      if (!slot->value || name.text() == values::ModuleState::layer ||
          name.text() == values::OptimizerState::of)
        continue;
      const bool own_list = module.cls && !values::is_kept(name.text()) &&
          is_collection(run.resolve(slot->value));
      if (own_list && all_registered) continue;
      convert(run, slot->value, wanted, seen, certain && !own_list, depth + 1);
    }
    if (const values::Slot* layer = module.attributes.find(Name(values::ModuleState::layer));
        layer && layer->value)
      convert(run, layer->value, wanted, seen, false, depth + 1);
    return;
  }
  case Kind::tensor: {
    const auto* tensor = value.as<Tensor>();
    if (tensor->role == TensorRole::plain || !seen.insert(value.object()).second) return;
    TensorState state = *tensor->now();
    if (wanted.changes_dtype && (values::is_floating(state.dtype) || state.dtype == Dtype::unknown))
      state.dtype = certain ? wanted.dtype : Dtype::unknown;
    if (wanted.changes_device) {
      wanted.copies_nothing = wanted.copies_nothing ||
          (certain && wanted.copies && wanted.device && !is_meta(*wanted.device) && state.device &&
              is_meta(*state.device));
      state.device = certain ? wanted.device : nullptr;
    }
    set_state(run, value, state);
    return;
  }
  case Kind::list: {
    const auto* state = values::Heap::list_state(value);
    for (const Value& item : std::vector(state->items)) convert(run, item, wanted, seen, certain, depth + 1);
    if (state->open && state->rest) convert(run, state->rest, wanted, seen, false, depth + 1);
    return;
  }
  case Kind::tuple:
    for (const Value& item : value.as<values::Tuple>()->items)
      convert(run, item, wanted, seen, false, depth + 1);
    return;
  case Kind::dict: {
    const auto items = values::Heap::dict_state(value)->items;
    for (const auto& [key, item] : items) convert(run, item, wanted, seen, certain, depth + 1);
    return;
  }
  case Kind::choice:
    convert(run, value.as<values::Choice>()->yes, wanted, seen, certain, depth + 1);
    convert(run, value.as<values::Choice>()->no, wanted, seen, certain, depth + 1);
    return;
  case Kind::unknown:
    if (wanted.changes_device) interpreter::note_moved_with_whole(run.heap(), value);
    return;
  default: return;
  }
}
Value converted(Call& call, Conversion wanted) {
  std::unordered_set<const values::Object*> seen;
  convert(call.run, call.self, wanted, seen, true, 0);
  if (wanted.copies_nothing)
    explain(*call.run.problem(ProblemKind::device, call), why<Reason::parameters_on_meta>());
  return call.self;
}
template <Dtype dtype> Value to_dtype_of(Call& call) {
  return converted(call, {true, false, dtype, nullptr});
}
template <bool copies> Value to(Call& call) {
  Conversion wanted;
  wanted.copies = copies;
  // A text of which only the beginning is known, as of `f"cuda:{rank}"`, can name nothing but a device.
  const auto is_text = [](Value side) { return !interpreter::beginning_of(side).empty(); };
  const auto is_device = [&](Value given) {
    const Value side = call.run.resolve(given);
    return side.is(Kind::device) || side.is(Kind::string) || side.is(Kind::integer) || is_text(side);
  };
  // Where memory is counted, and nothing is told of mistakes, it is taken for what it nearly always is.
  const bool counted = call.run.record().conditions.contains(values::RecordCondition::counted);
  const auto look = [&](Value value) {
    value = call.run.resolve(value);
    switch (value.kind) {
    case Kind::choice:
      // One of two devices leaves the dtype as it is.
      wanted.changes_device = true;
      wanted.device = values::device_named(call.run.heap(), value);
      if (wanted.device || counted ||
          (is_device(value.as<values::Choice>()->yes) && is_device(value.as<values::Choice>()->no)))
        return;
      wanted.changes_dtype = true;
      wanted.dtype = Dtype::unknown;
      return;
    case Kind::dtype:
      wanted.changes_dtype = true;
      wanted.dtype = to_dtype(value);
      return;
    case Kind::string:
    case Kind::device:
      wanted.changes_device = true;
      wanted.device = value.is(Kind::device) ? value.as<values::Device>()
                                             : call.run.heap().device(value.text()).as<values::Device>();
      return;
    case Kind::boolean:
    case Kind::none:
    case Kind::absent: return;
    case Kind::integer: {
      const auto number = call.run.to_constant(value);
      wanted.changes_device = true;
      wanted.device = number ? call.run.heap().device("cuda:" + std::to_string(*number)).as<values::Device>()
                             : nullptr;
      return;
    }
    case Kind::tensor:
      wanted = {true, true, value.as<Tensor>()->now()->dtype, value.as<Tensor>()->now()->device, copies};
      return;
    default:
      // A device or a dtype; by its name it is nearly always a device, but nobody knows.
      wanted.changes_device = true;
      wanted.device = values::device_named(call.run.heap(), value);
      if (!wanted.device) wanted.device = interpreter::presumed_device(call.run, value);
      if (wanted.device || is_text(value)) return;
      if (value.is(Kind::unknown)) {
        const std::string_view name = value.as<values::Unknown>()->name;
        if (counted || name.find("dev") != std::string_view::npos ||
            name.find("rank") != std::string_view::npos)
          return;
      }
      wanted.changes_dtype = true;
      wanted.dtype = Dtype::unknown;
    }
  };
  for (const Value& argument : call.arguments) look(argument);
  for (const Value& argument : call.rest) look(argument);
  for (const auto& [name, value] : call.options)
    if (name.text() == "device" || name.text() == "dtype" || name.text() == "tensor") look(value);
  if (call.spread) wanted = {true, true, Dtype::unknown, nullptr, copies};
  return converted(call, wanted);
}
Value to_cuda(Call& call) {
  return converted(call, {false, true, Dtype::unknown, call.run.heap().device("cuda").as<values::Device>()});
}
Value to_cpu(Call& call) {
  return converted(call, {false, true, Dtype::unknown, call.run.heap().device("cpu").as<values::Device>()});
}

}  // namespace

void lose_devices(Runtime& run, Value module) {
  std::unordered_set<const values::Object*> seen;
  Conversion anywhere{.changes_device = true};
  convert(run, module, anywhere, seen, false, 0);
}

namespace {
// Notes that the layer's weight is computed from others, and how.
template <const values::KeptKey& how> Value computes_weight(Call& call) {
  const Value module = call.run.resolve(call.at(0));
  if (!module.is(Kind::instance)) return module;
  auto& layer = *module.as<Instance>();
  const Value name = call.run.resolve(call.at(1)), given = call.run.resolve(call.arguments.back());
  const bool is_usual = how != values::ReparametrizedState::otherwise && name.is(Kind::string) &&
      name.text() == "weight";
  const bool turned = call.run.is_a(module, "torch.nn.ConvTranspose1d") ||
      call.run.is_a(module, "torch.nn.ConvTranspose2d") || call.run.is_a(module, "torch.nn.ConvTranspose3d");
  const std::int64_t usual = how != values::ReparametrizedState::by_spectrum ? -1 : turned ? 1 : 0;
  if (is_usual && given.is(Kind::integer))
    keep(call.run, layer, how, given);
  else if (is_usual && (!given || given.is(Kind::none)))
    keep(call.run, layer, how, Value::of(call.run.symbols().constant(usual)));
  else
    keep(call.run, layer, values::ReparametrizedState::otherwise, call.run.heap().boolean(true));
  return module;
}
Value holds_weight(Call& call) {
  const Value module = call.run.resolve(call.at(0));
  using State = values::ReparametrizedState;
  if (module.is(Kind::instance))
    for (const std::string_view how : {State::by_length, State::by_spectrum, State::otherwise})
      if (kept(call.run, *module.as<Instance>(), how))
        keep(call.run, *module.as<Instance>(), how, Value::none());
  return module;
}
}  // namespace

std::vector<Row> conversion_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.nn.Module.to", method, "*arguments, **options", to<true>),
      row("torch.nn.Module.type", method, "*arguments, **options", to<true>),
      row("torch.nn.Module.to_empty", method, "*, device, recurse=True", to<false>),
      row("torch.nn.Module.$out_of_sight", method, "", out_of_sight),
      row("torch.nn.Module.$may_be_frozen", method, "", may_be_frozen),
      row("torch.nn.Module.$may_lie_on_gpu", method, "", may_lie_on_gpu),
      row("torch.nn.Module.$in_float16", method, "", to_dtype_of<Dtype::float16>),
      row("torch.nn.Module.$in_bfloat16", method, "", to_dtype_of<Dtype::bfloat16>),
      row("torch.nn.Module.half", method, "", to_dtype_of<Dtype::float16>),
      row("torch.nn.Module.float", method, "", to_dtype_of<Dtype::float32>),
      row("torch.nn.Module.double", method, "", to_dtype_of<Dtype::float64>),
      row("torch.nn.Module.bfloat16", method, "", to_dtype_of<Dtype::bfloat16>),
      row("torch.nn.Module.cuda", method, "device=None", to_cuda),
      row("torch.nn.Module.cpu", method, "", to_cpu),
  };
  // Their weights are computed from others, in the same shapes; the module stays the same object.
  using State = values::ReparametrizedState;
  const std::tuple<std::string_view, std::string_view, Value (*)(Call&)> computed[] = {
      {"torch.nn.utils.weight_norm", "module, name='weight', dim=0", computes_weight<State::by_length>},
      {"torch.nn.utils.parametrizations.weight_norm", "module, name='weight', dim=0",
          computes_weight<State::by_length>},
      {"torch.nn.utils.spectral_norm", "module, name='weight', n_power_iterations=1, eps=1e-12, dim=None",
          computes_weight<State::by_spectrum>},
      {"torch.nn.utils.parametrizations.spectral_norm",
          "module, name='weight', n_power_iterations=1, eps=1e-12, dim=None",
          computes_weight<State::by_spectrum>},
      {"torch.nn.utils.parametrizations.orthogonal", "module, *more, **options",
          computes_weight<State::otherwise>},
      {"torch.nn.utils.parametrize.register_parametrization", "module, *more, **options",
          computes_weight<State::otherwise>},
      {"torch.nn.utils.remove_weight_norm", "module, *more, **options", holds_weight},
      {"torch.nn.utils.remove_spectral_norm", "module, *more, **options", holds_weight},
      {"torch.nn.utils.parametrize.remove_parametrizations", "module, *more, **options", holds_weight},
      {"torch.nn.utils.fuse_conv_bn_eval", "module, *more, **options", first_argument},
  };
  for (const auto& [path, signature, run] : computed) rows.push_back(row(path, function, signature, run));
  return rows;
}

}  // namespace stepzero::libraries
