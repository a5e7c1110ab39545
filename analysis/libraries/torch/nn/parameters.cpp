// The tensors that layers hold, as attributes of the right shape.
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

}  // namespace

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

}  // namespace stepzero::libraries
