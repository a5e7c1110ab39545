// Layers: construction and forward. Native state lies in attributes that start with '$'. What every nn.Module can do, and the
// containers, are in modules.cpp. Semantics as in the documentation of torch.nn.
#include "torch/shapes.hpp"

#include <algorithm>
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
  std::vector<Row> rows;
  struct Family {
    Value (*init)(Call&);
    Value (*forward)(Call&);
    std::vector<std::string_view> classes;
  };
  const Family families[] = {
      {nullptr, unknown_forward,
       {"torch.nn.TransformerEncoder",
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
