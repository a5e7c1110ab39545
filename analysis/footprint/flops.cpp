// Floating-point operations of products, as torch.utils.flop_counter counts them: two for each multiplication
// and addition.
#include "footprint/saving.hpp"

#include "footprint/saving_table.hpp"
#include "libraries/table/names.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace stepzero::footprint {

using values::Kind;

namespace {

Int last_size(const TensorState* state, std::size_t from_right = 0) {
  return state && state->shape.ndim_known && state->shape.dims.size() > from_right
      ? state->shape.dims[state->shape.dims.size() - 1 - from_right].size
      : nullptr;
}
const TensorState* weight_of(const Graph& graph, const Producer& made) {
  if (const TensorState* given = operand(made, "weight")) return given;
  const Instance* layer = layer_of(made);
  const Value own = layer ? attribute(graph.record(), *layer, "weight") : Value{};
  return own.is(Kind::tensor) ? own.as<values::Tensor>()->now() : nullptr;
}

// Of two operands: one multiplication for each combination of all indices. Null: not known.
Int combinations_of_einsum(const Graph& graph, const Producer& made) {
  symbolic::Context& s = graph.record().symbols;
  const Value equation = decided(graph.record(), argument(made, "equation"));
  std::vector<const TensorState*> operands;
  for (const auto* list : {&made.states, &made.listed})
    for (const TensorState* each : *list)
      if (each) operands.push_back(each);
  if (!equation.is(Kind::string) || operands.size() != 2) return nullptr;
  const std::string_view text = equation.text();
  std::map<char, Int> sizes;
  std::size_t at = 0, axis = 0;
  for (const char c : text.substr(0, text.find("->"))) {
    if (c == ' ') continue;
    if (c == ',') {
      ++at, axis = 0;
      continue;
    }
    if (!std::isalpha(static_cast<unsigned char>(c)) || at > 1 || !operands[at]->shape.ndim_known ||
        axis >= operands[at]->shape.dims.size())
      return nullptr;
    const Int size = operands[at]->shape.dims[axis++].size;
    if (!size) return nullptr;
    if (Int& known = sizes[c]; !known || s.value(known) == 1) known = size;
  }
  Int all = s.constant(1);
  for (const auto& [letter, size] : sizes) all = s.mul(all, size);
  return all;
}

// What is multiplied by what.
enum class Product : std::uint8_t {
  none,
  linear,         // each row of the first operand with a matrix
  added_product,  // the same of the second operand, beside what is added
  einsum,
  convolution,
  transposed_convolution,
  fused_attention,
  multihead,  // attention with its projections
  layer,      // of a transformer
  layers,
  recurrent,
  not_told_apart,  // products whose factors are not told apart here
};
struct NamedProduct {
  std::string_view name;
  Product product;
};
constexpr NamedProduct products[] = {
    {"linear", Product::linear},
    {"Linear", Product::linear},
    {"NonDynamicallyQuantizableLinear", Product::linear},
    {"matmul", Product::linear},
    {"mm", Product::linear},
    {"bmm", Product::linear},
    {"einsum", Product::einsum},
    {"addmm", Product::added_product},
    {"baddbmm", Product::added_product},
    {"conv1d", Product::convolution},
    {"conv2d", Product::convolution},
    {"conv3d", Product::convolution},
    {"Conv1d", Product::convolution},
    {"Conv2d", Product::convolution},
    {"Conv3d", Product::convolution},
    {"LazyConv1d", Product::convolution},
    {"LazyConv2d", Product::convolution},
    {"LazyConv3d", Product::convolution},
    {"conv_transpose1d", Product::transposed_convolution},
    {"conv_transpose2d", Product::transposed_convolution},
    {"conv_transpose3d", Product::transposed_convolution},
    {"ConvTranspose1d", Product::transposed_convolution},
    {"ConvTranspose2d", Product::transposed_convolution},
    {"ConvTranspose3d", Product::transposed_convolution},
    {"LazyConvTranspose1d", Product::transposed_convolution},
    {"LazyConvTranspose2d", Product::transposed_convolution},
    {"LazyConvTranspose3d", Product::transposed_convolution},
    {"scaled_dot_product_attention", Product::fused_attention},
    {"MultiheadAttention", Product::multihead},
    {"TransformerEncoder", Product::layers},
    {"TransformerDecoder", Product::layers},
    {"TransformerEncoderLayer", Product::layer},
    {"TransformerDecoderLayer", Product::layer},
    {"RNN", Product::recurrent},
    {"GRU", Product::recurrent},
    {"LSTM", Product::recurrent},
    {"Transformer", Product::not_told_apart},
    {"LSTMCell", Product::not_told_apart},
    {"GRUCell", Product::not_told_apart},
    {"RNNCell", Product::not_told_apart},
    {"bilinear", Product::not_told_apart},
    {"Bilinear", Product::not_told_apart},
};
Product product_of(const Producer& made) {
  if (is_own_function(made)) return Product::not_told_apart;
  const auto found = std::ranges::find(products, libraries::operator_name(*made.row), &NamedProduct::name);
  return found == std::end(products) ? Product::none : found->product;
}

}  // namespace

Int forward_flops(const Graph& graph, const Node& node, bool& unknown) {
  const Producer& made = *node.made;
  symbolic::Context& s = graph.record().symbols;
  const Product product = product_of(made);
  const TensorState* first = made.states.empty() ? nullptr : made.states[0];
  if (product == Product::not_told_apart) unknown = true;
  if (unknown || node.results.empty() || (!first && product != Product::einsum)) return nullptr;
  const Int results = elements(s, node.results[0]->shape);
  const auto twice = [&](Int count, Int inner) -> Int {
    if (!count || !inner) {
      unknown = true;
      return nullptr;
    }
    return s.mul(s.constant(2), s.mul(count, inner));
  };
  if (product == Product::linear) return twice(results, last_size(first));
  if (product == Product::einsum) return twice(combinations_of_einsum(graph, made), s.constant(1));
  if (product == Product::added_product)
    return twice(results, last_size(made.states.size() > 1 ? made.states[1] : nullptr));
  if (product == Product::convolution || product == Product::transposed_convolution) {
    const TensorState* weight = weight_of(graph, made);
    const Int all = weight ? elements(s, weight->shape) : nullptr,
              rows = weight && weight->shape.ndim_known ? weight->shape.dims[0].size : nullptr;
    const Int inner = all && rows ? s.exact_quotient(all, rows).value_or(nullptr) : nullptr;
    return twice(product == Product::transposed_convolution ? elements(s, first->shape) : results, inner);
  }
  if (product == Product::fused_attention) {
    const Int queries = elements(s, first->shape), keys = last_size(operand(made, "key"), 1);
    const Int scores = twice(queries, keys), values = twice(results, keys);
    return scores && values ? s.add(scores, values) : nullptr;
  }
  const Instance* layer = layer_of(made);
  const auto size = [&](const Instance* of, std::string_view option) -> Int {
    const Value value = of ? attribute(graph.record(), *of, option) : Value{};
    return value.is(Kind::integer) ? value.integer() : nullptr;
  };
  const auto flag = [&](const Instance* of, std::string_view option) {
    const Value value = of ? attribute(graph.record(), *of, option) : Value{};
    return value.is(Kind::boolean) && s.decide(value.condition()) == symbolic::Answer::yes;
  };
  const auto sum = [&](Int a, Int b) { return a && b ? s.add(a, b) : nullptr; };
  const auto times = [&](Int a, std::int64_t by) { return a ? s.mul(a, s.constant(by)) : nullptr; };
  // An attention with its projections, of tensors as a layer gets them.
  const auto attention = [&](const TensorState* query, const TensorState* key, const TensorState* value,
                             Int width, bool batch_first) -> Int {
    const bool batched = query && query->shape.dims.size() == 3;
    const Int from = query ? elements(s, query->shape) : nullptr,
              to = key ? elements(s, key->shape) : nullptr;
    const Int keys = last_size(key, batched && !batch_first ? 2 : 1);
    const Int projected = twice(
                  sum(times(from, 2), sum(to, value ? elements(s, value->shape) : nullptr)), width),
              scores = times(twice(from, keys), 2);
    return sum(projected, scores);
  };
  if (product == Product::multihead)
    return attention(first, operand(made, "key"), operand(made, "value"), size(layer, "embed_dim"),
        flag(layer, "batch_first"));
  if (product == Product::layer || product == Product::layers) {
    const Value inner = layer ? attribute(graph.record(), *layer, values::ModuleState::layer) : Value{};
    const Instance* block = inner.is(Kind::instance) ? inner.as<Instance>() : layer;
    const Int width = size(block, "d_model"),
              layers = product == Product::layer ? s.constant(1) : size(layer, "num_layers");
    const TensorState* memory = operand(made, "memory");
    Int each = attention(first, first, first, width, flag(block, "batch_first"));
    if (memory) each = sum(each, attention(first, memory, memory, width, flag(block, "batch_first")));
    each = sum(each, times(twice(elements(s, first->shape), size(block, "dim_feedforward")), 2));
    return each && layers ? s.mul(each, layers) : nullptr;
  }
  if (product == Product::recurrent) {
    const std::string_view name = libraries::operator_name(*made.row);
    const Int hidden = size(layer, "hidden_size"), layers = size(layer, "num_layers"),
              width = last_size(first);
    const std::int64_t count = layers ? s.value(layers).value_or(0) : 0;
    Shape tokens = first->shape;
    if (!tokens.ndim_known || tokens.dims.empty() || !hidden || count < 1) {
      unknown = true;
      return nullptr;
    }
    tokens.dims.pop_back();
    const std::int64_t gates = name == "LSTM" ? 4
        : name == "GRU"                       ? 3
                                              : 1,
                       ways = flag(layer, "bidirectional") ? 2 : 1;
    Int all = s.constant(0);
    for (std::int64_t i = 0; all && i < count && i < 64; ++i) {
      const Int from = i == 0 ? width : s.mul(hidden, s.constant(ways));
      all = sum(all,
          times(
              twice(elements(s, tokens), from ? s.mul(hidden, s.add(from, hidden)) : nullptr), gates * ways));
    }
    return all;
  }
  return nullptr;
}

Int backward_flops(const Graph& graph, const Node& node, Int forward, bool& unknown) {
  const Producer& made = *node.made;
  symbolic::Context& s = graph.record().symbols;
  if (node.results.empty() || !graph.requires_grad(*node.results[0])) return nullptr;
  if (is_own_function(made)) unknown = true;
  if (!forward) return nullptr;
  const Product product = product_of(made);
  // A fused attention: four products, and the scores again. With a mask there may be no such kernel, and the
  // scores are kept.
  if (product == Product::fused_attention && operand(made, "attn_mask")) {
    unknown = true;
    return s.mul(forward, s.constant(2));
  }
  const Value dropout = decided(graph.record(), argument(made, "dropout_p"));
  const bool drops = dropout && !(dropout.is(Kind::real) && dropout.real() == 0) &&
      !(dropout.is(Kind::integer) && s.value(dropout.integer()) == 0);
  if (product == Product::fused_attention && graph.device() == Device::cpu && drops)
    return s.mul(forward, s.constant(2));
  if (product == Product::fused_attention) return s.floordiv(s.mul(forward, s.constant(5)), s.constant(2));
  std::int64_t factors = 0;
  const auto add = [&](const TensorState* each) { factors += each && graph.requires_grad(*each); };
  const Instance* layer = layer_of(made);
  if (const TensorState* weight = weight_of(graph, made)) {
    add(made.states.empty() ? nullptr : made.states[0]);
    add(weight);
  } else if (layer) {
    // Made of several products, of which the first may not hand a gradient on: nor do those of a first state.
    if (product != Product::recurrent) add(made.states.empty() ? nullptr : made.states[0]);
    ++factors;
    unknown = true;
  } else {
    for (const auto* list : {&made.states, &made.listed})
      for (const TensorState* each : *list) add(each);
    // What is added to the product is no factor.
    if (product == Product::added_product && !made.states.empty() && made.states[0] &&
        graph.requires_grad(*made.states[0]))
      --factors;
    if (factors > 2) unknown = true;
  }
  return factors > 0 ? s.mul(forward, s.constant(std::min<std::int64_t>(factors, 2))) : nullptr;
}

libraries::Column flops_column() { return libraries::column_of("floating-point operations", products); }

}  // namespace stepzero::footprint
