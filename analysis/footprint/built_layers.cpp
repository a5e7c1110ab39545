#include "footprint/built_layers.hpp"

#include "values/kept.hpp"
#include "values/limits.hpp"

namespace stepzero::footprint {

using values::Kind;

namespace {

// Sizes of the settings, by the names of the constructor's parameters.
class Settings {
public:
  Settings(const Record& record, const Instance& layer) : record_(record), layer_(layer) {}

  Int size(std::string_view name) const {
    const Value value = attribute(record_, layer_, name);
    return value.is(Kind::integer) ? value.integer() : nullptr;
  }
  bool flag(std::string_view name, bool otherwise) const {
    const Value value = attribute(record_, layer_, name);
    return value.is(Kind::boolean) ? record_.symbols.decide(value.condition()) == symbolic::Answer::yes
                                   : otherwise;
  }

private:
  const Record& record_;
  const Instance& layer_;
};

class Builder {
public:
  Builder(const Record& record, const Instance& layer, std::string path)
      : s_(record.symbols), layer_(layer), path_(std::move(path)) {
    const Value dtype = attribute(record, layer, values::ModuleState::dtype).is(Kind::dtype)
        ? attribute(record, layer, values::ModuleState::dtype)
        : attribute(record, layer, "dtype");
    dtype_ = dtype.is(Kind::dtype) ? dtype.dtype() : Dtype::float32;
  }

  void add(const std::string& name, std::initializer_list<Int> sizes) {
    Shape shape{true, {}};
    for (const Int size : sizes) shape.dims.push_back({size, nullptr, nullptr});
    held.push_back({path_.empty() ? name : path_ + "." + name, nullptr, &layer_, std::move(shape), dtype_,
        true, values::Known::yes, 1});
  }
  void attention(const std::string& name, Int width, bool bias) {
    const Int three = s_.mul(s_.constant(3), width);
    add(name + ".in_proj_weight", {three, width});
    if (bias) add(name + ".in_proj_bias", {three});
    linear(name + ".out_proj", width, width, bias);
  }
  void linear(const std::string& name, Int from, Int to, bool bias) {
    add(name + ".weight", {to, from});
    if (bias) add(name + ".bias", {to});
  }
  void norm(const std::string& name, Int width, bool bias) {
    add(name + ".weight", {width});
    if (bias) add(name + ".bias", {width});
  }
  // A TransformerEncoderLayer, or with attention to a memory a TransformerDecoderLayer.
  void block(const std::string& name, Int width, Int hidden, bool bias, bool decodes) {
    attention(name + "self_attn", width, bias);
    if (decodes) attention(name + "multihead_attn", width, bias);
    linear(name + "linear1", width, hidden, bias);
    linear(name + "linear2", hidden, width, bias);
    for (const char* each : {"norm1", "norm2", "norm3"})
      if (decodes || each != std::string_view("norm3")) norm(name + each, width, bias);
  }

  std::vector<Held> held;

private:
  symbolic::Context& s_;
  const Instance& layer_;
  std::string path_;
  Dtype dtype_;
};

}  // namespace

std::optional<std::vector<Held>> held_by_built_layer(
    const Record& record, const Instance& layer, const std::string& path) {
  // It holds its parts itself where their sizes and their number are known.
  for (const char* own : {"self_attn", "layers", "encoder"})
    if (attribute(record, layer, own).is(Kind::instance)) return std::nullopt;
  const Settings given(record, layer);
  symbolic::Context& s = record.symbols;
  Builder builder(record, layer, path);
  const bool encodes = is_a(layer, "torch.nn.TransformerEncoderLayer"),
             decodes = is_a(layer, "torch.nn.TransformerDecoderLayer");
  if (encodes || decodes) {
    const Int width = given.size("d_model"), hidden = given.size("dim_feedforward");
    if (!width || !hidden) return std::nullopt;
    builder.block("", width, hidden, given.flag(values::ModuleState::bias, true), decodes);
    return std::move(builder.held);
  }
  const bool stack = is_a(layer, "torch.nn.TransformerEncoder"),
             decoder_stack = is_a(layer, "torch.nn.TransformerDecoder");
  if (stack || decoder_stack) {
    const Value one = attribute(record, layer, values::ModuleState::layer);
    const Int layers = given.size("num_layers");
    const auto count = layers ? s.value(layers) : std::nullopt;
    if (!one.is(Kind::instance) || !count || *count < 1 || *count > values::most_stacked) return std::nullopt;
    const Tree inner = tree_of(record, *one.as<Instance>());
    if (!inner.complete) return std::nullopt;
    std::vector<Held> held;
    for (std::int64_t i = 0; i < *count; ++i)
      for (const Module& module : inner.modules)
        for (Held each : module.own) {
          each.name = (path.empty() ? "" : path + ".") + "layers." + std::to_string(i) + "." + each.name;
          each.tensor = nullptr;
          each.module = &layer;
          held.push_back(std::move(each));
        }
    return held;
  }
  if (is_a(layer, "torch.nn.Transformer")) {
    const Int width = given.size("d_model"), hidden = given.size("dim_feedforward");
    const bool bias = given.flag(values::ModuleState::bias, true);
    for (const bool decoding : {false, true}) {
      const Int layers = given.size(decoding ? "num_decoder_layers" : "num_encoder_layers");
      const auto count = layers ? s.value(layers) : std::nullopt;
      if (!width || !hidden || !count || *count > values::most_stacked) return std::nullopt;
      const std::string side = decoding ? "decoder." : "encoder.";
      for (std::int64_t i = 0; i < *count; ++i)
        builder.block(side + "layers." + std::to_string(i) + ".", width, hidden, bias, decoding);
      builder.norm(side + "norm", width, bias);
    }
    return std::move(builder.held);
  }
  return std::nullopt;
}

}  // namespace stepzero::footprint
