// Floating-point operations of products, as torch.utils.flop_counter counts them: two for each multiplication
// and addition.
#include "footprint/saving.hpp"

#include "libraries/table/names.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::footprint {

using values::Kind;

namespace {

Int last_size(const TensorState* state, std::size_t from_right = 0) {
  return state && state->shape.rank_known && state->shape.dims.size() > from_right
      ? state->shape.dims[state->shape.dims.size() - 1 - from_right].size
      : nullptr;
}
const TensorState* weight_of(const Graph& graph, const Producer& made) {
  if (const TensorState* given = operand(made, "weight")) return given;
  const Instance* layer = layer_of(made);
  const Value own = layer ? attribute(graph.record(), *layer, "weight") : Value{};
  return own.is(Kind::tensor) ? own.as<values::Tensor>()->now() : nullptr;
}

}  // namespace

Int forward_flops(const Graph& graph, const Node& node, bool& unknown) {
  const Producer& made = *node.made;
  symbolic::Context& s = graph.record().symbols;
  const std::string_view name = libraries::operator_name(*made.row);
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  const TensorState* first = made.states.empty() ? nullptr : made.states[0];
  // Products whose factors are not told apart here.
  if (is({"Transformer", "einsum", "LSTMCell", "GRUCell", "RNNCell", "bilinear", "Bilinear"})) unknown = true;
  if (unknown || node.results.empty() || !first) return nullptr;
  const Int results = elements(s, node.results[0]->shape);
  const auto twice = [&](Int count, Int inner) -> Int {
    if (!count || !inner) {
      unknown = true;
      return nullptr;
    }
    return s.mul(s.constant(2), s.mul(count, inner));
  };
  if (is({"linear", "Linear", "matmul", "mm", "bmm", "NonDynamicallyQuantizableLinear"}))
    return twice(results, last_size(first));
  if (is({"addmm", "baddbmm"}))
    return twice(results, last_size(made.states.size() > 1 ? made.states[1] : nullptr));
  const bool transposed = name.find("ranspose") != std::string_view::npos;
  if ((name.starts_with("conv") || name.starts_with("Conv") || name.starts_with("LazyConv")) &&
      name.ends_with("d")) {
    const TensorState* weight = weight_of(graph, made);
    const Int all = weight ? elements(s, weight->shape) : nullptr,
              rows = weight && weight->shape.rank_known ? weight->shape.dims[0].size : nullptr;
    const Int inner = all && rows ? s.exact_quotient(all, rows).value_or(nullptr) : nullptr;
    return twice(transposed ? elements(s, first->shape) : results, inner);
  }
  if (name == "scaled_dot_product_attention") {
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
  const auto attention = [&](const TensorState* query, const TensorState* key, Int width,
                             bool batch_first) -> Int {
    const bool batched = query && query->shape.dims.size() == 3;
    const Int from = query ? elements(s, query->shape) : nullptr,
              to = key ? elements(s, key->shape) : nullptr;
    const Int keys = last_size(key, batched && !batch_first ? 2 : 1);
    const Int projected = twice(sum(times(from, 2), times(to, 2)), width),
              scores = times(twice(from, keys), 2);
    return sum(projected, scores);
  };
  if (name == "MultiheadAttention")
    return attention(first, operand(made, "key"), size(layer, "embed_dim"), flag(layer, "batch_first"));
  if (is({"TransformerEncoder", "TransformerEncoderLayer", "TransformerDecoder",
          "TransformerDecoderLayer"})) {
    const Value inner = layer ? attribute(graph.record(), *layer, values::ModuleState::layer) : Value{};
    const Instance* block = inner.is(Kind::instance) ? inner.as<Instance>() : layer;
    const Int width = size(block, "d_model"),
              layers = name.ends_with("Layer") ? s.constant(1) : size(layer, "num_layers");
    const TensorState* memory = operand(made, "memory");
    Int each = attention(first, first, width, flag(block, "batch_first"));
    if (memory) each = sum(each, attention(first, memory, width, flag(block, "batch_first")));
    each = sum(each, times(twice(elements(s, first->shape), size(block, "dim_feedforward")), 2));
    return each && layers ? s.mul(each, layers) : nullptr;
  }
  if (is({"LSTM", "GRU", "RNN"})) {
    const Int hidden = size(layer, "hidden_size"), layers = size(layer, "num_layers"),
              width = last_size(first);
    const std::int64_t count = layers ? s.value(layers).value_or(0) : 0;
    Shape tokens = first->shape;
    if (!tokens.rank_known || tokens.dims.empty() || !hidden || count < 1) {
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

}  // namespace stepzero::footprint
