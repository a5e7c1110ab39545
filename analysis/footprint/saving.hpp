// What autograd keeps of an operation until its backward: a table by operator, and its evaluation for one
// operation of a run.
#pragma once

#include "footprint/graph.hpp"

namespace stepzero::footprint {

struct Saved {
  Storage storage;
  Bytes bytes;
  std::string_view what;       // "input", "result", "mask"…
  const Held* held = nullptr;  // a parameter or buffer, which takes no memory of its own
};

struct Saving {
  std::vector<Saved> kept;
  bool known = true;  // else nothing is known of the operator, and what it keeps is more than this
};
Saving saved_by(const Graph& graph, const Node& node, Device device);

// What its backward makes besides gradients and frees when it is done.
Bytes temporaries_of_backward(const Graph& graph, const Node& node, Device device);

// One line of the table, for tests: what the operator keeps; nullopt: nothing is known.
std::optional<std::string_view> saving_rule(std::string_view operator_name);

// A product of a chain: its sides are matrices of the chain, or null: what another product gives.
struct ChainProduct {
  std::int64_t rows, inner, columns;
  const TensorState *left, *right;
  bool left_requires_grad, right_requires_grad;
};
// In the order in which they run, the cheapest one; nullopt: not known.
std::optional<std::vector<ChainProduct>> products_of_chain(const Graph& graph, const Producer& made);

// Floating-point operations of the forward, as torch.utils.flop_counter counts them; null where it counts
// none, or a size is not known.
Int forward_flops(const Graph& graph, const Node& node, bool& unknown);
// … and of the backward, by those of the forward: as many for each factor that has a gradient.
Int backward_flops(const Graph& graph, const Node& node, Int forward, bool& unknown);

}  // namespace stepzero::footprint
