// The tensors that layers hold, as attributes of the right shape, and what converting a module does to them.
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

// `sizes` by words: a setting, a number, a setting divided by another ("in_channels/groups"), a setting that
// holds one size or several
// ("kernel_size:2", "normalized_shape:*"). Held only where `flag` is set; where it is not the attribute is
// None.
struct Held {
  std::string_view path, name, sizes, flag;
  TensorRole role = TensorRole::parameter;
};
constexpr TensorRole buffer = TensorRole::buffer;

constexpr Held held[] = {
    {"torch.nn.Linear", "weight", "out_features in_features", ""},
    {"torch.nn.Linear", "bias", "out_features", values::ModuleState::bias},
    {"torch.nn.Bilinear", "weight", "out_features in1_features in2_features", ""},
    {"torch.nn.Bilinear", "bias", "out_features", values::ModuleState::bias},
    {"torch.nn.Embedding", "weight", "num_embeddings embedding_dim", ""},
    {"torch.nn.EmbeddingBag", "weight", "num_embeddings embedding_dim", ""},
    {"torch.nn.Conv1d", "weight", "out_channels in_channels/groups kernel_size:1", ""},
    {"torch.nn.Conv1d", "bias", "out_channels", values::ModuleState::bias},
    {"torch.nn.Conv2d", "weight", "out_channels in_channels/groups kernel_size:2", ""},
    {"torch.nn.Conv2d", "bias", "out_channels", values::ModuleState::bias},
    {"torch.nn.Conv3d", "weight", "out_channels in_channels/groups kernel_size:3", ""},
    {"torch.nn.Conv3d", "bias", "out_channels", values::ModuleState::bias},
    {"torch.nn.ConvTranspose1d", "weight", "in_channels out_channels/groups kernel_size:1", ""},
    {"torch.nn.ConvTranspose1d", "bias", "out_channels", values::ModuleState::bias},
    {"torch.nn.ConvTranspose2d", "weight", "in_channels out_channels/groups kernel_size:2", ""},
    {"torch.nn.ConvTranspose2d", "bias", "out_channels", values::ModuleState::bias},
    {"torch.nn.ConvTranspose3d", "weight", "in_channels out_channels/groups kernel_size:3", ""},
    {"torch.nn.ConvTranspose3d", "bias", "out_channels", values::ModuleState::bias},
    {"torch.nn.BatchNorm1d", "weight", "num_features", "affine"},
    {"torch.nn.BatchNorm1d", "bias", "num_features", "affine"},
    {"torch.nn.BatchNorm1d", "running_mean", "num_features", "track_running_stats", buffer},
    {"torch.nn.BatchNorm1d", "running_var", "num_features", "track_running_stats", buffer},
    {"torch.nn.BatchNorm1d", "num_batches_tracked", "", "track_running_stats", buffer},
    {"torch.nn.BatchNorm2d", "weight", "num_features", "affine"},
    {"torch.nn.BatchNorm2d", "bias", "num_features", "affine"},
    {"torch.nn.BatchNorm2d", "running_mean", "num_features", "track_running_stats", buffer},
    {"torch.nn.BatchNorm2d", "running_var", "num_features", "track_running_stats", buffer},
    {"torch.nn.BatchNorm2d", "num_batches_tracked", "", "track_running_stats", buffer},
    {"torch.nn.BatchNorm3d", "weight", "num_features", "affine"},
    {"torch.nn.BatchNorm3d", "bias", "num_features", "affine"},
    {"torch.nn.BatchNorm3d", "running_mean", "num_features", "track_running_stats", buffer},
    {"torch.nn.BatchNorm3d", "running_var", "num_features", "track_running_stats", buffer},
    {"torch.nn.BatchNorm3d", "num_batches_tracked", "", "track_running_stats", buffer},
    {"torch.nn.InstanceNorm1d", "weight", "num_features", "affine"},
    {"torch.nn.InstanceNorm1d", "bias", "num_features", "affine"},
    {"torch.nn.InstanceNorm1d", "running_mean", "num_features", "track_running_stats", buffer},
    {"torch.nn.InstanceNorm1d", "running_var", "num_features", "track_running_stats", buffer},
    {"torch.nn.InstanceNorm1d", "num_batches_tracked", "", "track_running_stats", buffer},
    {"torch.nn.InstanceNorm2d", "weight", "num_features", "affine"},
    {"torch.nn.InstanceNorm2d", "bias", "num_features", "affine"},
    {"torch.nn.InstanceNorm2d", "running_mean", "num_features", "track_running_stats", buffer},
    {"torch.nn.InstanceNorm2d", "running_var", "num_features", "track_running_stats", buffer},
    {"torch.nn.InstanceNorm2d", "num_batches_tracked", "", "track_running_stats", buffer},
    {"torch.nn.InstanceNorm3d", "weight", "num_features", "affine"},
    {"torch.nn.InstanceNorm3d", "bias", "num_features", "affine"},
    {"torch.nn.InstanceNorm3d", "running_mean", "num_features", "track_running_stats", buffer},
    {"torch.nn.InstanceNorm3d", "running_var", "num_features", "track_running_stats", buffer},
    {"torch.nn.InstanceNorm3d", "num_batches_tracked", "", "track_running_stats", buffer},
    {"torch.nn.GroupNorm", "weight", "num_channels", "affine"},
    {"torch.nn.GroupNorm", "bias", "num_channels", "affine"},
    {"torch.nn.LayerNorm", "weight", "normalized_shape:*", "elementwise_affine"},
    {"torch.nn.LayerNorm", "bias", "normalized_shape:*", "elementwise_affine"},
    {"torch.nn.RMSNorm", "weight", "normalized_shape:*", "elementwise_affine"},
    {"torch.nn.PReLU", "weight", "num_parameters", ""},
};

// The sizes that the words mean; unknown ones are null, an unknown number of them makes the rank unknown.
Shape shape_of(Op& op, std::string_view words) {
  Shape shape{true, {}};
  while (!words.empty()) {
    const auto space = words.find(' ');
    std::string_view word = words.substr(0, space);
    words = space == std::string_view::npos ? std::string_view{} : words.substr(space + 1);
    if (const auto slash = word.find('/'); slash != std::string_view::npos) {
      const Dim whole = setting_dim(op, word.substr(0, slash)), by = setting_dim(op, word.substr(slash + 1));
      const auto number = op.value(by);
      shape.dims.push_back(whole.size && number && *number > 0
              ? Dim{op.s.floordiv(whole.size, by.size), whole.origin, nullptr}
              : Dim{});
    } else if (const auto colon = word.find(':'); colon != std::string_view::npos) {
      const std::string_view name = word.substr(0, colon), count = word.substr(colon + 1);
      if (count == "*") {
        const Value value = setting(op, name);
        const bool one = value.is(Kind::integer), several = value.is(Kind::tuple) || value.is(Kind::list);
        const auto sizes = one || several ? libraries::sizes(op.run, value, {}, op.call.place) : std::nullopt;
        if (!sizes) return {};
        for (const Int size : *sizes) shape.dims.push_back(known_dim(op.run, size, op.call.place, name));
      } else {
        const std::size_t axes = static_cast<std::size_t>(count.front() - '0');
        const auto sizes = setting_axes(op, name, axes);
        for (std::size_t i = 0; i < axes; ++i)
          shape.dims.push_back(sizes ? known_dim(op.run, (*sizes)[i], op.call.place, name) : Dim{});
      }
    } else {
      shape.dims.push_back(setting_dim(op, word));
    }
  }
  return shape;
}

// In the run of a class that nobody constructs: is it no module itself, but holds models? Then it sees to
// where they lie, and whoever has it seldom does.
bool is_of_user_of_models(Runtime& run) {
  const interpreter::CallSite* site = run.site();
  while (site && site->outer) site = site->outer;
  const values::Class* cls = site && site->function ? site->function->owner : nullptr;
  return cls &&
      std::ranges::none_of(cls->order, [](const values::Class* each) { return each->open || each->native; });
}

void hold(Op& op, std::string_view name, const Shape& shape, TensorRole role, Dtype dtype) {
  TensorState state;
  state.shape = shape;
  state.dtype = dtype;
  state.sharing = Sharing::local;
  // A parameter is trained until the program freezes it; of a layer that somebody gives it is not known what
  // came before.
  const Value layer = op.run.resolve(op.call.self);
  const bool given = op.run.in_roots() && !(layer.is(Kind::instance) && !layer.as<Instance>()->symbolic);
  if (role == TensorRole::parameter) state.requires_grad = given ? Known::unknown : Known::yes;
  if (state.requires_grad == Known::yes)
    state.grad_writes = trained_for_certain;
  else
    op.run.heap().set_no_grad(state);
  state.graph_complete = true;
  if (const Value device = op.argument("device"))
    state.device = values::device_named(op.run.heap(), device);
  else if (!op.run.of_any_use() || device_around(op.run))
    state.device = default_device(op.run);
  else if (is_of_user_of_models(op.run))
    state.device = values::default_device(
        op.run.heap(), op.run.named_condition(values::DeviceCondition::layers_stay, Sharing::uniform));
  const Value made = op.run.heap().tensor(state, op.call.place);
  auto* tensor = made.as<Tensor>();
  tensor->role = role;
  if (role == TensorRole::parameter) tensor->now()->graph = {tensor};
  op.keep(name, made);
}

// weight_ih_l0, weight_hh_l0, bias_ih_l0… of every layer and direction.
void hold_recurrent(Op& op, std::int64_t gates) {
  const auto layers = op.value(setting_dim(op, "num_layers"));
  const Known both = setting_flag(op, "bidirectional"), bias = setting_flag(op, values::ModuleState::bias);
  const Dim input = setting_dim(op, "input_size"), hidden = setting_dim(op, "hidden_size");
  const bool may_project = op.kept("proj_size") && op.value(setting_dim(op, "proj_size")) != 0;
  const Dim given = may_project ? setting_dim(op, "proj_size") : hidden;
  const auto projects = may_project ? op.value(given) : std::optional<std::int64_t>(0);
  if (!layers || *layers < 1 || *layers > 16 || both == Known::unknown || bias == Known::unknown ||
      !projects || !hidden.size || !given.size)
    return;
  const Dim rows{op.s.mul(op.s.constant(gates), hidden.size), hidden.origin, nullptr};
  const std::int64_t directions = both == Known::yes ? 2 : 1;
  for (std::int64_t layer = 0; layer < *layers; ++layer)
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::string suffix = "_l" + std::to_string(layer) + (direction ? "_reverse" : "");
      const Dim from =
          layer == 0 ? input : Dim{op.s.mul(op.s.constant(directions), given.size), given.origin, nullptr};
      hold(op, "weight_ih" + suffix, {true, {rows, from}}, TensorRole::parameter, made_dtype(op));
      hold(op, "weight_hh" + suffix, {true, {rows, given}}, TensorRole::parameter, made_dtype(op));
      if (bias == Known::yes) {
        hold(op, "bias_ih" + suffix, {true, {rows}}, TensorRole::parameter, made_dtype(op));
        hold(op, "bias_hh" + suffix, {true, {rows}}, TensorRole::parameter, made_dtype(op));
      }
      if (may_project)
        hold(op, "weight_hr" + suffix, {true, {given, hidden}}, TensorRole::parameter, made_dtype(op));
    }
}
void hold_cell(Op& op, std::int64_t gates) {
  const Dim input = setting_dim(op, "input_size"), hidden = setting_dim(op, "hidden_size");
  if (!hidden.size || setting_flag(op, values::ModuleState::bias) == Known::unknown) return;
  const Dim rows{op.s.mul(op.s.constant(gates), hidden.size), hidden.origin, nullptr};
  hold(op, "weight_ih", {true, {rows, input}}, TensorRole::parameter, made_dtype(op));
  hold(op, "weight_hh", {true, {rows, hidden}}, TensorRole::parameter, made_dtype(op));
  if (setting_flag(op, values::ModuleState::bias) == Known::no) return;
  hold(op, "bias_ih", {true, {rows}}, TensorRole::parameter, made_dtype(op));
  hold(op, "bias_hh", {true, {rows}}, TensorRole::parameter, made_dtype(op));
}
void hold_attention(Op& op) {
  const Dim width = setting_dim(op, "embed_dim");
  const Dim of_keys = op.kept("kdim") ? setting_dim(op, "kdim") : width,
            of_values = op.kept("vdim") ? setting_dim(op, "vdim") : width;
  if (!width.size || !of_keys.size || !of_values.size) return;
  const Answer keys_equivalent = op.equal(of_keys, width), values_equivalent = op.equal(of_values, width);
  const Known bias = setting_flag(op, values::ModuleState::bias);
  const bool apart = keys_equivalent == Answer::no || values_equivalent == Answer::no;
  const Known adds = setting_flag(op, "add_bias_kv");
  if ((!apart && (keys_equivalent != Answer::yes || values_equivalent != Answer::yes)) ||
      bias == Known::unknown || adds == Known::unknown)
    return;
  const Dim three{op.s.mul(op.s.constant(3), width.size), width.origin, nullptr};
  const auto hold_weight = [&](std::string_view name, const Dim& rows, const Dim& columns) {
    hold(op, name, {true, {rows, columns}}, TensorRole::parameter, made_dtype(op));
  };
  if (apart) {
    // One weight for each, and none for all three.
    hold_weight("q_proj_weight", width, width);
    hold_weight("k_proj_weight", width, of_keys);
    hold_weight("v_proj_weight", width, of_values);
    op.keep("in_proj_weight", Value::none());
  } else {
    hold_weight("in_proj_weight", three, width);
  }
  if (bias == Known::yes) hold(op, "in_proj_bias", {true, {three}}, TensorRole::parameter, made_dtype(op));
  if (adds == Known::yes) {
    const Dim one = known_dim(op.run, op.s.constant(1), op.call.place, "");
    for (const char* name : {"bias_k", "bias_v"})
      hold(op, name, {true, {one, one, width}}, TensorRole::parameter, made_dtype(op));
  }
  op.keep("out_proj",
      op.run.call(op.run.library_symbol("torch.nn.Linear"),
          {{op.kept("embed_dim"), op.kept("embed_dim"), op.kept(values::ModuleState::bias)}, {}, false},
          op.call.place));
}

// ---------------------------------------------------------------- conversions

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
  const auto is_device = [](Value side) { return side.is(Kind::device) || side.is(Kind::string); };
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
      if (wanted.device) return;
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

void hold_parameters(Op& op) { hold_parameters_of(op, op.call.row.path); }

void hold_parameters_of(Op& op, std::string_view path) {
  const std::string_view name = path.substr(path.rfind('.') + 1);
  if (name == "LSTM") return hold_recurrent(op, 4);
  if (name == "GRU") return hold_recurrent(op, 3);
  if (name == "RNN") return hold_recurrent(op, 1);
  if (name == "LSTMCell") return hold_cell(op, 4);
  if (name == "GRUCell") return hold_cell(op, 3);
  if (name == "RNNCell") return hold_cell(op, 1);
  if (name == "MultiheadAttention") return hold_attention(op);
  if (name == "TransformerEncoderLayer" || name == "TransformerDecoderLayer")
    return hold_block(op, name == "TransformerDecoderLayer");
  if (name == "TransformerEncoder" || name == "TransformerDecoder") return hold_copies(op);
  if (name == "Transformer") return hold_encoder_and_decoder(op);
  bool may_hold = false, is_listed = false;
  for (const Held& one : held) {
    if (one.path != path) continue;
    is_listed = true;
    const Known flag = one.flag.empty() ? Known::yes : setting_flag(op, one.flag);
    if (flag == Known::no ||
        (one.name == "bias" && op.kept(values::ModuleState::bias) &&
            setting_flag(op, values::ModuleState::bias) == Known::no)) {
      op.keep(one.name, Value::none());
      continue;
    }
    may_hold = true;
    // Where it is not known whether there is a weight, there is one to be shown.
    if (flag == Known::yes || (op.run.policy().optional_is_given && one.name == "weight"))
      hold(
          op, one.name, shape_of(op, one.sizes), one.role, one.sizes.empty() ? Dtype::int64 : made_dtype(op));
  }
  if (is_listed && !may_hold) op.keep(values::ContainerState::complete, op.run.heap().boolean(true));
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

std::vector<Row> parameter_rows() {
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
