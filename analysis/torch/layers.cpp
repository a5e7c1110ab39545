// Layers: construction and forward. Native state lies in attributes that start with '$'. What every nn.Module can do, and the
// containers, are in modules.cpp. Semantics as in the documentation of torch.nn.
#include "torch/shapes.hpp"

#include <deque>

namespace stepzero::torch {

using syntax::Name;
using values::Instance;
using values::Kind;

namespace {

Instance& object(const Call& call) { return *call.self.as<Instance>(); }
void keep(Call& call, std::string_view name, Value value) {
  call.run.heap().set(call.run.heap().slot_of(object(call).attributes, Name(name)), value);
}
Value kept(const Call& call, std::string_view name) {
  const values::Slot* slot = object(call).attributes.find(Name(name));
  return slot ? call.run.resolve(slot->value) : Value{};
}

// ---------------------------------------------------------------- layers

TensorState from_layer(const Call& call, Value input) {
  TensorState out = computed(call.run, {input});
  out.requires_grad = Known::yes;
  if (call.self.is(Kind::instance)) out.graph.push_back(call.self.object());
  return out;
}

Value linear_init(Call& call) {
  keep(call, "in_features", call.at(0));
  keep(call, "out_features", call.at(1));
  return {};
}
Value linear_forward(Call& call) {
  Interpreter& run = call.run;
  const Value input = run.resolve(call.at(0));
  TensorState out = from_layer(call, input);
  const TensorState* in = require_tensor(run, input);
  const Int width = run.to_int(kept(call, "in_features"));
  const Int features = run.to_int(kept(call, "out_features"));
  const values::Place made = call.self.object()->born;
  const Dim expected = known_dim(run, width, made, "in_features");
  if (!in || !width) return result(call, out);
  if (in->shape.rank_known && in->shape.dims.empty()) {
    auto* problem = run.problem(values::ProblemKind::rank, call);
    problem->operands = {input};
    problem->states = {in};
    return result(call, out);
  }
  const Dim arrives = from_right(in->shape, 0);
  if (differ(run, arrives, expected)) {
    auto* problem = run.problem(values::ProblemKind::layer_features, call);
    problem->operands = {input};
    problem->states = {in};
    problem->left = arrives;
    problem->right = expected;
  } else if (!arrives.size) {
    // The layer accepts nothing else: from here on the input is known to fit.
    TensorState learned = *in;
    Dim taught = known_dim(run, width, call.place, "input of a layer made for it");
    if (learned.shape.dims.empty()) learned.shape.dims.push_back(taught);
    else learned.shape.dims.back() = taught;
    set_state(run, input, learned);
    in = tensor_state(run, input);
  }
  out.shape = in->shape;
  if (out.shape.dims.empty()) out.shape.dims.emplace_back();
  out.shape.dims.back() = known_dim(run, features, made, "out_features");
  return result(call, out);
}

Value same_shape_forward(Call& call) {
  const Value input = call.run.resolve(call.at(0));
  TensorState out = computed(call.run, {input});
  if (const TensorState* in = tensor_state(call.run, input)) {
    out.shape = in->shape;
    out.dtype = in->dtype;
  } else if (!input.is(Kind::unknown)) {
    return call.run.heap().external("", call.place);
  }
  return result(call, out);
}
Value same_shape_layer_forward(Call& call) {
  const Value input = call.run.resolve(call.at(0));
  TensorState out = from_layer(call, input);
  if (const TensorState* in = tensor_state(call.run, input)) {
    out.shape = in->shape;
    out.dtype = in->dtype;
  }
  return result(call, out);
}
Value unknown_forward(Call& call) {
  return result(call, from_layer(call, call.at(0)));
}
Value opaque_forward(Call& call) {
  Value made = call.run.heap().unknown("", call.run.heap().sharing(call.at(0)), call.place);
  made.as<values::Unknown>()->external = true;
  return made;
}
Value loss_forward(Call& call) {
  TensorState out = computed(call.run, {call.at(0), call.at(1)});
  const Value reduction = kept(call, "$reduction");
  if (!reduction || (reduction.is(Kind::string) && reduction.text() != "none")) out.shape = {true, {}};
  return result(call, out);
}
Value loss_init(Call& call) {
  for (const auto& [name, value] : call.options)
    if (name.text() == "reduction") keep(call, "$reduction", value);
  return {};
}
Value normalized_init(Call& call) {
  keep(call, "$has_buffers", call.run.heap().boolean(true));
  return {};
}
Value embedding_init(Call& call) {
  keep(call, "num_embeddings", call.at(0));
  keep(call, "embedding_dim", call.at(1));
  return {};
}
Value embedding_forward(Call& call) {
  TensorState out = from_layer(call, call.at(0));
  out.dtype = values::Dtype::float32;
  const TensorState* in = tensor_state(call.run, call.at(0));
  const Int width = call.run.to_int(kept(call, "embedding_dim"));
  if (in) out.shape = in->shape;
  out.shape.dims.push_back(width ? known_dim(call.run, width, call.self.object()->born, "embedding_dim") : Dim{});
  return result(call, out);
}
Value flatten_init(Call& call) {
  keep(call, "$start", call.at(0));
  keep(call, "$end", call.at(1));
  return {};
}
Value flatten_forward(Call& call) {
  const Row* found = call.run.library().find("torch.flatten");
  Call inner{call.run, *found, {}, {call.at(0), kept(call, "$start"), kept(call, "$end")}, {}, {}, {true, true, true}, false, call.expr, call.node, call.place};
  return found->run(inner);
}

Value conv2d_init(Call& call) {
  constexpr std::string_view names[] = {"in_channels", "out_channels", "$kernel", "$stride", "$padding", "$dilation"};
  for (std::size_t i = 0; i < std::size(names); ++i) keep(call, names[i], call.at(i));
  return {};
}
// One number or a pair, as an integer for axis `axis`.
Int of_pair(Interpreter& run, Value value, std::size_t axis) {
  value = run.resolve(value);
  if (value.is(Kind::tuple) || value.is(Kind::list)) {
    const auto items = run.elements(value, {});
    if (!items || axis >= items->size()) return nullptr;
    value = run.resolve((*items)[axis]);
  }
  return value.is(Kind::integer) || value.is(Kind::unknown) ? run.to_int(value) : nullptr;
}
Dim window(Call& call, const Dim& size, std::size_t axis, Value stride_value) {
  auto& s = call.run.symbols();
  const Int kernel = of_pair(call.run, kept(call, "$kernel"), axis);
  const Int stride = of_pair(call.run, stride_value, axis);
  const Value padding_value = kept(call, "$padding");
  const Int padding = of_pair(call.run, padding_value, axis);
  const Int dilation = of_pair(call.run, kept(call, "$dilation"), axis);
  if (padding_value.is(Kind::string) && padding_value.text() == "same") return size;
  if (!size.size || !kernel || !stride || !padding || !dilation) return {};
  const Int reach = s.add(s.mul(dilation, s.sub(kernel, s.constant(1))), s.constant(1));
  const Int span = s.sub(s.add(size.size, s.mul(s.constant(2), padding)), reach);
  return known_dim(call.run, s.add(s.floordiv(span, stride), s.constant(1)), call.place, call.row.path);
}
Value conv2d_forward(Call& call) {
  TensorState out = from_layer(call, call.at(0));
  const TensorState* in = tensor_state(call.run, call.at(0));
  if (!in || !in->shape.rank_known || in->shape.dims.size() < 3 || in->shape.dims.size() > 4) return result(call, out);
  out.shape = in->shape;
  const std::size_t rank = out.shape.dims.size();
  const Int channels = call.run.to_int(kept(call, "out_channels"));
  out.shape.dims[rank - 3] = channels ? known_dim(call.run, channels, call.self.object()->born, "out_channels") : Dim{};
  for (std::size_t axis = 0; axis < 2; ++axis)
    out.shape.dims[rank - 2 + axis] = window(call, in->shape.dims[rank - 2 + axis], axis, kept(call, "$stride"));
  return result(call, out);
}
Value pool2d_init(Call& call) {
  constexpr std::string_view names[] = {"$kernel", "$stride", "$padding", "$dilation"};
  for (std::size_t i = 0; i < std::size(names); ++i) keep(call, names[i], call.at(i));
  return {};
}
Value pool2d_forward(Call& call) {
  TensorState out = computed(call.run, {call.at(0)});
  const TensorState* in = tensor_state(call.run, call.at(0));
  if (!in || !in->shape.rank_known || in->shape.dims.size() < 3) return result(call, out);
  out.shape = in->shape;
  const std::size_t rank = out.shape.dims.size();
  Value stride = kept(call, "$stride");
  if (!stride || stride.is(Kind::none)) stride = kept(call, "$kernel");
  for (std::size_t axis = 0; axis < 2; ++axis)
    out.shape.dims[rank - 2 + axis] = window(call, in->shape.dims[rank - 2 + axis], axis, stride);
  return result(call, out);
}

Row row(std::string_view path, RowKind kind, std::string_view signature, Value (*run)(Call&), std::string_view base = {}) {
  Row made;
  made.path = path;
  made.kind = kind;
  made.signature = signature;
  made.run = run;
  made.base = base;
  made.source = "PyTorch documentation of torch.nn";
  return made;
}

} // namespace

std::vector<Row> layer_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.nn.Linear", class_, "in_features, out_features, bias=True, device=None, dtype=None", linear_init, "torch.nn.Module"),
      row("torch.nn.Linear.forward", method, "input", linear_forward),
      row("torch.nn.Conv2d", class_, "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode='zeros'", conv2d_init, "torch.nn.Module"),
      row("torch.nn.Conv2d.forward", method, "input", conv2d_forward),
      row("torch.nn.MaxPool2d", class_, "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False", pool2d_init, "torch.nn.Module"),
      row("torch.nn.MaxPool2d.forward", method, "input", pool2d_forward),
      row("torch.nn.Embedding", class_, "num_embeddings, embedding_dim, padding_idx=None", embedding_init, "torch.nn.Module"),
      row("torch.nn.Embedding.forward", method, "input", embedding_forward),
      row("torch.nn.Flatten", class_, "start_dim=1, end_dim=-1", flatten_init, "torch.nn.Module"),
      row("torch.nn.Flatten.forward", method, "input", flatten_forward),
  };
  struct Family {
    Value (*init)(Call&);
    Value (*forward)(Call&);
    std::vector<std::string_view> classes;
  };
  const Family families[] = {
      {nullptr, same_shape_forward,
       {"torch.nn.ReLU", "torch.nn.GELU", "torch.nn.SiLU", "torch.nn.Tanh", "torch.nn.Sigmoid", "torch.nn.Dropout", "torch.nn.Identity",
        "torch.nn.LeakyReLU", "torch.nn.ELU", "torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softplus", "torch.nn.Hardswish",
        "torch.nn.Mish", "torch.nn.ReLU6", "torch.nn.Dropout2d"}},
      {nullptr, same_shape_layer_forward, {"torch.nn.LayerNorm", "torch.nn.GroupNorm", "torch.nn.RMSNorm", "torch.nn.PReLU"}},
      {normalized_init, same_shape_layer_forward,
       {"torch.nn.BatchNorm1d", "torch.nn.BatchNorm2d", "torch.nn.BatchNorm3d", "torch.nn.SyncBatchNorm"}},
      {nullptr, unknown_forward,
       {"torch.nn.Conv1d", "torch.nn.Conv3d", "torch.nn.ConvTranspose1d", "torch.nn.ConvTranspose2d", "torch.nn.AvgPool2d",
        "torch.nn.AdaptiveAvgPool2d", "torch.nn.Upsample", "torch.nn.Bilinear", "torch.nn.TransformerEncoder",
        "torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoder", "torch.nn.TransformerDecoderLayer", "torch.nn.Transformer"}},
      {nullptr, opaque_forward, {"torch.nn.MultiheadAttention", "torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"}},
      {loss_init, loss_forward,
       {"torch.nn.CrossEntropyLoss", "torch.nn.MSELoss", "torch.nn.L1Loss", "torch.nn.NLLLoss", "torch.nn.BCELoss",
        "torch.nn.BCEWithLogitsLoss", "torch.nn.SmoothL1Loss", "torch.nn.KLDivLoss", "torch.nn.HuberLoss"}},
  };
  static std::deque<std::string> paths;  // texts of the generated rows stay where they are

  for (const Family& family : families)
    for (const std::string_view cls : family.classes) {
      rows.push_back(row(cls, class_, "*arguments, **options", family.init, "torch.nn.Module"));
      paths.push_back(std::string(cls) + ".forward");
      rows.push_back(row(paths.back(), method, "input, target, *more, **options", family.forward));
    }
  return rows;
}

} // namespace stepzero::torch
