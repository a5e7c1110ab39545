// The layers that a Transformer's are made of, as parts of them: their tensors have names, can be frozen, and
// are what an optimizer gets.
#include "libraries/table/native.hpp"
#include "libraries/torch/nn/layer.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

namespace {

// A layer of the library inside another one.
Value part(Op& op, std::string_view path, std::vector<Value> sizes,
    std::initializer_list<std::string_view> settings = {}) {
  interpreter::Arguments given{std::move(sizes), {}, false};
  for (const std::string_view name : settings) {
    const bool is_bias = name == "bias";
    if (const Value value = op.kept(is_bias ? values::AttributeKey(values::ModuleState::bias) : name))
      given.keywords.push_back({Name(name), value});
  }
  for (const std::string_view name : {"device", "dtype"})
    if (const Value value = op.kept(name)) given.keywords.push_back({Name(name), value});
  return op.run.call(op.run.library_symbol(path), std::move(given), op.call.place);
}

// Whatever it holds is in its parts.
void hold_no_more(Op& op) { op.keep(values::ContainerState::complete, op.run.heap().boolean(true)); }

}  // namespace

// The parts of a Transformer's layer. That of a decoder attends to a memory, too.
void hold_block(Op& op, bool decodes) {
  const Value width = op.kept("d_model"), hidden = op.kept("dim_feedforward"), heads = op.kept("nhead");
  if (!setting_dim(op, "d_model").size || !setting_dim(op, "dim_feedforward").size || !heads) return;
  for (const std::string_view name : {"self_attn", "multihead_attn"})
    if (decodes || name == "self_attn")
      op.keep(
          name, part(op, "torch.nn.MultiheadAttention", {width, heads}, {"dropout", "bias", "batch_first"}));
  op.keep("linear1", part(op, "torch.nn.Linear", {width, hidden}, {"bias"}));
  op.keep("linear2", part(op, "torch.nn.Linear", {hidden, width}, {"bias"}));
  for (const std::string_view name : {"norm1", "norm2", "norm3"})
    if (decodes || name != "norm3") op.keep(name, part(op, "torch.nn.LayerNorm", {width}, {"bias"}));
  hold_no_more(op);
}

// Copies of one layer, as many as are known.
void hold_copies(Op& op) {
  constexpr std::int64_t most = 64;  // layers of which each gets modules of its own
  const Value layer = op.kept(values::ModuleState::layer);
  const auto count = op.value(setting_dim(op, "num_layers"));
  if (!layer.is(Kind::instance) || layer.as<Instance>()->symbolic || !count || *count < 1 || *count > most)
    return;
  std::vector<Value> copies;
  copies.reserve(static_cast<std::size_t>(*count));
  for (std::int64_t i = 0; i < *count; ++i)
    copies.push_back(
        op.run.call(op.run.library_symbol("copy.deepcopy"), {{layer}, {}, false}, op.call.place));
  op.keep("layers", part(op, "torch.nn.ModuleList", {op.run.heap().list(std::move(copies))}));
  hold_no_more(op);
}

// An encoder and a decoder, each with a norm after it.
void hold_encoder_and_decoder(Op& op) {
  if (op.kept("custom_encoder") || op.kept("custom_decoder") || !setting_dim(op, "d_model").size) return;
  for (const bool decodes : {false, true}) {
    const Value layers = decodes ? op.kept("num_decoder_layers") : op.kept("num_encoder_layers");
    if (!layers) return;
    const Value layer = part(op,
        decodes ? "torch.nn.TransformerDecoderLayer" : "torch.nn.TransformerEncoderLayer",
        {op.kept("d_model")},
        {"nhead", "dim_feedforward", "dropout", "activation", "batch_first", "norm_first", "bias"});
    const Value norm = part(op, "torch.nn.LayerNorm", {op.kept("d_model")}, {"bias"});
    op.keep(std::string_view(decodes ? "decoder" : "encoder"),
        op.run.call(
            op.run.library_symbol(decodes ? "torch.nn.TransformerDecoder" : "torch.nn.TransformerEncoder"),
            {{layer, layers, norm}, {}, false}, op.call.place));
  }
  hold_no_more(op);
}

}  // namespace stepzero::libraries
