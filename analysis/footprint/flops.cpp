// Floating-point operations of products, as torch.utils.flop_counter counts them: two for each multiplication
// and addition.
#include "footprint/contraction.hpp"
#include "footprint/gradients.hpp"
#include "footprint/saving.hpp"
#include "footprint/strides.hpp"

#include "footprint/saving_table.hpp"
#include "libraries/table/names.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
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

// One multiplication for each combination of the indices of two operands, one contraction after the other.
// Null: not known.
Int combinations_of_einsum(const Graph& graph, const Producer& made) {
  symbolic::Context& s = graph.record().symbols;
  const Value equation = decided(graph.record(), argument(made, "equation"));
  std::vector<const TensorState*> operands;
  for (const auto* list : {&made.states, &made.listed})
    for (const TensorState* each : *list)
      if (each) operands.push_back(each);
  const auto contractions = equation.is(Kind::string) ? contractions_of(equation.text()) : std::nullopt;
  if (!contractions || contractions->size() + 1 != operands.size()) return nullptr;
  std::map<char, Int> sizes;
  for (std::size_t at = 0; at < operands.size(); ++at) {
    const std::string& letters = at == 0 ? contractions->front().left : (*contractions)[at - 1].right;
    if (!operands[at]->shape.ndim_known || operands[at]->shape.dims.size() != letters.size()) return nullptr;
    for (std::size_t axis = 0; axis < letters.size(); ++axis) {
      const Int size = operands[at]->shape.dims[axis].size;
      if (!size) return nullptr;
      if (Int& known = sizes[letters[axis]]; !known || s.value(known) == 1) known = size;
    }
  }
  Int all = s.constant(0);
  for (const Contraction& each : *contractions) {
    Int one = s.constant(1);
    std::string counted;
    for (const char letter : each.left + each.right)
      if (counted.find(letter) == std::string::npos) one = s.mul(one, sizes[letter]), counted += letter;
    all = s.add(all, one);
  }
  return all;
}

// What is multiplied by what.
enum class Product : std::uint8_t {
  none,
  linear,         // each row of the first operand with a matrix
  added_product,  // the same of the second operand, beside what is added
  einsum,
  chain,
  convolution,
  transposed_convolution,
  fused_attention,
  multihead,  // attention with its projections
  layer,      // of a transformer
  layers,
  transformer,
  recurrent,
  cell,
  not_told_apart,  // products whose factors are not told apart here
  of_backward,     // none, but its backward multiplies
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
    {"Transformer", Product::transformer},
    {"LSTMCell", Product::cell},
    {"GRUCell", Product::cell},
    {"RNNCell", Product::cell},
    {"tensordot", Product::not_told_apart},
    {"chain_matmul", Product::chain},
    {"multi_dot", Product::chain},
    {"bilinear", Product::not_told_apart},
    {"Bilinear", Product::not_told_apart},
    {"affine_grid", Product::of_backward},
    {"inv", Product::of_backward},
    {"pinv", Product::of_backward},
    {"pinverse", Product::of_backward},
    {"det", Product::of_backward},
    {"slogdet", Product::of_backward},
    {"logdet", Product::of_backward},
    {"solve", Product::of_backward},
    {"solve_triangular", Product::of_backward},
    {"lstsq", Product::of_backward},
    {"cholesky", Product::of_backward},
    {"cholesky_solve", Product::of_backward},
    {"qr", Product::of_backward},
    {"svd", Product::of_backward},
    {"svdvals", Product::of_backward},
    {"eigh", Product::of_backward},
    {"eigvalsh", Product::of_backward},
    {"matrix_exp", Product::of_backward},
};
Product product_of(const Producer& made) {
  if (is_own_function(made)) return Product::not_told_apart;
  for (const bool transposed : {false, true})
    if (is_gradient_of_convolution(made, transposed))
      return transposed ? Product::transposed_convolution : Product::convolution;
  const auto found = std::ranges::find(products, libraries::operator_name(*made.row), &NamedProduct::name);
  return found == std::end(products) ? Product::none : found->product;
}

// Of a chain of products: of each, or of the gradients of its two sides.
Int chain_flops(const Graph& graph, const Producer& made, bool backward, bool& unknown) {
  symbolic::Context& s = graph.record().symbols;
  const auto products_inside = products_of_chain(graph, made);
  if (!products_inside) unknown = true;
  Int all = s.constant(0);
  if (products_inside)
    for (const ChainProduct& each : *products_inside)
      all = s.add(all,
          s.constant(2 * each.rows * each.inner * each.columns *
              (backward ? each.left_requires_grad + each.right_requires_grad : 1)));
  return all;
}

// Of layers that are made of several products.
class LayerFlops {
public:
  LayerFlops(const Graph& graph, const Producer& made, bool& unknown)
      : record_(graph.record()), made_(made), layer_(layer_of(made)), s_(record_.symbols), unknown_(unknown),
        trains_(!layer_ || !is_frozen(record_, *layer_)) {}

  Int twice(Int count, Int inner) const {
    if (count && inner) return s_.mul(s_.constant(2), s_.mul(count, inner));
    unknown_ = true;
    return nullptr;
  }

  Int multihead() const {
    const std::int64_t added = flag(layer_, "add_bias_kv") + flag(layer_, "add_zero_attn");
    return attention(made_.states[0], operand(made_, "key"), operand(made_, "value"),
        size(layer_, "embed_dim"), flag(layer_, "batch_first"), added);
  }

  Int blocks(Product product) const {
    const Value inner = layer_ ? attribute(record_, *layer_, values::ModuleState::layer) : Value{};
    const Instance* settings = inner.is(Kind::instance) ? inner.as<Instance>() : layer_;
    const Int layers = product == Product::layer ? s_.constant(1) : size(layer_, "num_layers");
    return times(block(settings, made_.states[0], operand(made_, "memory")), layers);
  }

  Int transformer() const {
    const TensorState *source = made_.states[0], *target = operand(made_, "tgt");
    if (!target) return twice(nullptr, nullptr);
    return sum(times(block(layer_, source, nullptr), size(layer_, "num_encoder_layers")),
        times(block(layer_, target, source), size(layer_, "num_decoder_layers")));
  }

  // Forward, or backward: the gradients of both matrices, of the state that each step hands to the next, and
  // of the input, where `to_input` asks for that of the first layer.
  Int recurrent(std::string_view name, bool backward = false, bool to_input = false) const {
    const Int hidden = size(layer_, "hidden_size"), layers = size(layer_, "num_layers");
    Int projected = size(layer_, "proj_size");
    const std::int64_t count = layers ? s_.value(layers).value_or(0) : 0;
    if (projected && s_.value(projected) == 0) projected = nullptr;
    Shape tokens = made_.states[0]->shape;
    if (!tokens.ndim_known || tokens.dims.empty() || !hidden || count < 1 || count > values::most_stacked)
      return twice(nullptr, nullptr);
    const Int width = tokens.dims.back().size;
    tokens.dims.pop_back();
    const bool later = tokens.dims.size() == 2 && flag(layer_, "batch_first");
    const Int all_rows = elements(s_, tokens),
              steps = tokens.dims.empty() ? nullptr : tokens.dims[later ? 1 : 0].size;
    const Int each_step = all_rows && steps ? s_.exact_quotient(all_rows, steps).value_or(nullptr) : nullptr;
    const std::int64_t ways = flag(layer_, "bidirectional") ? 2 : 1;
    const Int state = projected ? projected : hidden;  // as wide as a step hands it to the next
    Int all = s_.constant(0);
    for (std::int64_t i = 0; all && i < count; ++i) {
      const Int from = i == 0 ? width : s_.mul(state, s_.constant(ways));
      const std::int64_t matrices = gates(name) * ways;
      // The gradients of matrices that are not trained are not computed.
      if (!backward || trains_) all = sum(all, times(step(all_rows, from, hidden, state), matrices));
      if (projected)
        all = sum(all,
            times(twice(all_rows, s_.mul(hidden, state)),
                (!backward        ? 1
                        : trains_ ? 2
                                  : 1) *
                    ways));
      if (!backward) continue;
      // The first step has no state in front of it that is trained.
      all = sum(all,
          times(twice(all_rows && each_step ? s_.sub(all_rows, each_step) : nullptr, s_.mul(state, hidden)),
              matrices));
      if (i > 0 || to_input)
        all = sum(all, times(twice(all_rows, from && hidden ? s_.mul(from, hidden) : nullptr), matrices));
    }
    return all;
  }

  Int cell(std::string_view name, const TensorState& result, bool backward = false, bool to_input = false,
      bool to_state = false) const {
    const Int hidden = last_size(&result), numbers = elements(s_, result.shape);
    const Int rows = hidden && numbers ? s_.exact_quotient(numbers, hidden).value_or(nullptr) : nullptr;
    const Int from = last_size(made_.states[0]);
    Int all = backward && !trains_ ? s_.constant(0) : times(step(rows, from, hidden, hidden), gates(name));
    if (backward && to_input)
      all = sum(all, times(twice(rows, from && hidden ? s_.mul(from, hidden) : nullptr), gates(name)));
    if (backward && to_state)
      all = sum(all, times(twice(rows, hidden ? s_.mul(hidden, hidden) : nullptr), gates(name)));
    return all;
  }

private:
  static std::int64_t gates(std::string_view name) {
    return name.starts_with("LSTM") ? 4 : name.starts_with("GRU") ? 3 : 1;
  }
  // Of one gate: the input and the state, each times a matrix.
  Int step(Int rows, Int from, Int hidden, Int state) const {
    return twice(rows, from && hidden ? s_.mul(hidden, s_.add(from, state)) : nullptr);
  }
  Int size(const Instance* of, std::string_view option) const {
    const Value value = of ? attribute(record_, *of, option) : Value{};
    return value.is(Kind::integer) ? value.integer() : nullptr;
  }
  bool flag(const Instance* of, std::string_view option) const {
    const Value value = of ? attribute(record_, *of, option) : Value{};
    return value.is(Kind::boolean) && s_.decide(value.condition()) == symbolic::Answer::yes;
  }
  Int sum(Int a, Int b) const { return a && b ? s_.add(a, b) : nullptr; }
  Int times(Int a, Int by) const { return a && by ? s_.mul(a, by) : nullptr; }
  Int times(Int a, std::int64_t by) const { return times(a, s_.constant(by)); }

  // An attention with its projections, of tensors as a layer gets them.
  Int attention(const TensorState* query, const TensorState* key, const TensorState* value, Int width,
      bool batch_first, std::int64_t added = 0) const {
    const bool batched = query && query->shape.dims.size() == 3;
    const Int from = query ? elements(s_, query->shape) : nullptr,
              to = key ? elements(s_, key->shape) : nullptr;
    const Int keys = sum(last_size(key, batched && !batch_first ? 2 : 1), s_.constant(added));
    const Int projected = twice(
                  sum(times(from, 2), sum(to, value ? elements(s_, value->shape) : nullptr)), width),
              scores = times(twice(query ? rows_of_width(*query, width) : nullptr, keys), 2);
    return sum(projected, scores);
  }
  Int rows_of_width(const TensorState& query, Int width) const {
    const Int given = last_size(&query);
    return given && given == width ? elements(s_, query.shape) : nullptr;
  }
  Int block(const Instance* settings, const TensorState* query, const TensorState* memory) const {
    const Int width = size(settings, "d_model");
    const bool batch_first = flag(settings, "batch_first");
    Int each = attention(query, query, query, width, batch_first);
    if (memory) each = sum(each, attention(query, memory, memory, width, batch_first));
    return sum(each, times(twice(elements(s_, query->shape), size(settings, "dim_feedforward")), 2));
  }

  const Record& record_;
  const Producer& made_;
  const Instance* layer_;
  symbolic::Context& s_;
  bool& unknown_;
  const bool trains_;
};

}  // namespace

Int forward_flops(const Graph& graph, const Node& node, bool& unknown) {
  const Producer& made = *node.made;
  symbolic::Context& s = graph.record().symbols;
  const Product product = product_of(made);
  const TensorState* first = made.states.empty() ? nullptr : made.states[0];
  if (product == Product::not_told_apart) unknown = true;
  if (unknown || node.results.empty() || (!first && product != Product::einsum && product != Product::chain))
    return nullptr;
  const LayerFlops of_layer(graph, made, unknown);
  const Int results = elements(s, node.results[0]->shape);
  const auto twice = [&](Int count, Int inner) { return of_layer.twice(count, inner); };
  const std::string_view name = libraries::operator_name(*made.row);
  switch (product) {
  case Product::linear: return twice(results, last_size(first));
  case Product::chain: return chain_flops(graph, made, false, unknown);
  case Product::einsum: return twice(combinations_of_einsum(graph, made), s.constant(1));
  case Product::added_product:
    return twice(results, last_size(made.states.size() > 1 ? made.states[1] : nullptr));
  case Product::convolution:
  case Product::transposed_convolution: {
    const TensorState* weight = weight_of(graph, made);
    const Int all = weight ? elements(s, weight->shape) : nullptr,
              rows = weight && weight->shape.ndim_known ? weight->shape.dims[0].size : nullptr;
    const Int inner = all && rows ? s.exact_quotient(all, rows).value_or(nullptr) : nullptr;
    // Of a gradient the first operand is that of the result.
    const bool is_gradient = is_gradient_of_convolution(made, false) ||
        is_gradient_of_convolution(made, true);
    const TensorState* input = is_gradient ? made.states[1] : first;
    return twice(product == Product::transposed_convolution ? elements(s, input->shape)
            : is_gradient                                   ? elements(s, first->shape)
                                                            : results,
        inner);
  }
  case Product::fused_attention: {
    const Int queries = elements(s, first->shape), keys = last_size(operand(made, "key"), 1);
    const Int scores = twice(queries, keys), values = twice(results, keys);
    return scores && values ? s.add(scores, values) : nullptr;
  }
  case Product::multihead: return of_layer.multihead();
  case Product::layer:
  case Product::layers: return of_layer.blocks(product);
  case Product::transformer: return of_layer.transformer();
  case Product::recurrent: return of_layer.recurrent(name);
  case Product::cell: return of_layer.cell(name, *node.results[0]);
  case Product::none:
  case Product::of_backward:
  case Product::not_told_apart: break;
  }
  return nullptr;
}

Int backward_flops(const Graph& graph, const Node& node, Int forward, bool& unknown) {
  const Producer& made = *node.made;
  symbolic::Context& s = graph.record().symbols;
  if (node.results.empty() || !graph.requires_grad(*node.results[0])) return nullptr;
  const Product product = product_of(made);
  if (is_own_function(made) || product == Product::of_backward) unknown = true;
  if (!forward) return nullptr;
  // A fused attention: four products, and the scores again. With a mask there may be no such kernel, and the
  // scores are kept.
  if (product == Product::fused_attention && operand(made, "attn_mask")) {
    unknown = true;
    return s.mul(forward, s.constant(2));
  }
  const Value dropout = decided(graph.record(), argument(made, "dropout_p"));
  const bool drops = dropout && !(dropout.is(Kind::real) && dropout.real() == 0) &&
      !(dropout.is(Kind::integer) && s.value(dropout.integer()) == 0);
  const bool has_heads = made.states[0] && made.states[0]->shape.dims.size() == 4;
  const auto has_rows_of = [&](std::string_view name) {
    const TensorState* each = operand(made, name);
    return !each || has_rows(graph.record(), *each, graph.device());
  };
  if (product == Product::fused_attention &&
      (!has_heads || (graph.device() == Device::cpu && drops) || !has_rows_of("query") ||
          !has_rows_of("key") || !has_rows_of("value")))
    return s.mul(forward, s.constant(2));
  if (product == Product::fused_attention) return s.floordiv(s.mul(forward, s.constant(5)), s.constant(2));
  if (product == Product::chain) return chain_flops(graph, made, true, unknown);
  std::int64_t factors = 0;
  const auto add = [&](const TensorState* each) { factors += each && graph.requires_grad(*each); };
  const Instance* layer = layer_of(made);
  if (layer && (product == Product::recurrent || product == Product::cell)) {
    const std::string_view name = libraries::operator_name(*made.row);
    const auto is_trained = [&](std::size_t i) {
      return i < made.states.size() && made.states[i] && graph.requires_grad(*made.states[i]);
    };
    // A first state that is trained has a gradient, too.
    if (product == Product::recurrent && is_trained(1)) unknown = true;
    const LayerFlops of_layer(graph, made, unknown);
    return product == Product::recurrent
        ? of_layer.recurrent(name, true, is_trained(0))
        : of_layer.cell(name, *node.results[0], true, is_trained(0), is_trained(1));
  }
  if (is_gradient_of_convolution(made, false) || is_gradient_of_convolution(made, true)) {
    // That of the input is a product with the weight, and that of the weight with the input.
    const bool is_of_weight = node.results[0]->shape.dims.size() == made.states[2]->shape.dims.size() &&
        graph.bytes(*node.results[0]) == graph.bytes(*made.states[2]);
    add(made.states[0]);
    add(is_of_weight ? made.states[1] : made.states[2]);
    // They are counted by the shapes of what is slid over what, strides left out.
    unknown = true;
  } else if (const TensorState* weight = weight_of(graph, made)) {
    add(made.states.empty() ? nullptr : made.states[0]);
    add(weight);
  } else if (layer) {
    // Made of several products, of which the first may not hand a gradient on.
    add(made.states.empty() ? nullptr : made.states[0]);
    if (product == Product::multihead && std::ranges::any_of(made.states, [&](const TensorState* each) {
          return each && !graph.requires_grad(*each);
        }))
      factors = 0;
    factors += !is_frozen(graph.record(), *layer);
    unknown = true;
  } else {
    for (const auto* list : {&made.states, &made.listed})
      for (const TensorState* each : *list) add(each);
    // What is added to the product is no factor.
    if (product == Product::added_product && !made.states.empty() && made.states[0] &&
        graph.requires_grad(*made.states[0]))
      --factors;
    const auto given = std::ranges::count_if(made.listed, [](const auto* each) { return each != nullptr; });
    if (product == Product::einsum && given > 2) {
      // Of a chain of products each has two gradients where every operand is trained.
      if (factors < given) factors = std::min<std::int64_t>(factors, 1), unknown = true;
    } else if (factors > 2) {
      unknown = true;
    }
  }
  return factors > 0 ? s.mul(forward, s.constant(std::min<std::int64_t>(factors, 2))) : nullptr;
}

libraries::Column flops_column() { return libraries::column_of("floating-point operations", products); }

}  // namespace stepzero::footprint
