// Gradients that a program asks for, as the operations that compute them: with `create_graph=True` a backward
// goes through these, too.
#pragma once

#include "footprint/graph.hpp"

#include <deque>
#include <map>

namespace stepzero::footprint {

class Gradients {
public:
  static Gradients& of(const Record& record);
  // The asked tensor as its operations make it; null: one of them is not known.
  const TensorState* followed(const Graph& graph, const TensorState& asked);
  // Of one that is not followed: the operation whose gradient is not known; null: what was asked for.
  const Producer* lost(const Graph& graph, const TensorState& asked);

  // Of an operation of a backward: what the forward made.
  const TensorState* forward_of(const Producer& made) const {
    const auto found = forwards_.find(&made);
    return found == forwards_.end() ? nullptr : found->second;
  }

private:
  struct Call {
    std::unordered_map<const void*, const TensorState*> of;  // by what it is the gradient of
    const Producer* lost = nullptr;
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, const void*, const void*, Device>;
  friend class GradientBuilder;
  const Call& call_of(const Graph& graph, const TensorState& asked);

  std::map<Key, Call> calls_;
  // Operations that the program does not write.
  std::deque<TensorState> states_;
  std::deque<Producer> made_;
  std::deque<std::vector<const TensorState*>> inputs_;
  std::unordered_map<const Producer*, const TensorState*> forwards_;
};

inline bool is_asked_gradient(const TensorState& state) {
  return state.made && state.made->row->operation == values::Operation::gradient_asked;
}
// The tensor, or the one in a list of one; null: there are others.
const TensorState* only_tensor(const Record& record, Value given);
// Of an operation that only backwards have: what it keeps for its own; nullopt: it is another one.
std::optional<std::string_view> keeping_of_gradient(const Producer& made);
// Of a convolution's input or weight: its operands are the gradient, the input and the weight.
bool is_gradient_of_convolution(const Producer& made, bool transposed);

}  // namespace stepzero::footprint
