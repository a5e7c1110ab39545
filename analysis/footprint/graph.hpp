// The operations after a loss, in the order in which they ran, and the storages that their tensors lie in:
// views and what is written in place share one.
#pragma once

#include "footprint/modules.hpp"

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stepzero::footprint {

using values::Producer;

// What owns memory: the operation that made the first tensor in it (and which of its results), or a tensor
// that no operation made.
struct Storage {
  const void* owner = nullptr;
  int part = 0;
  friend bool operator==(const Storage&, const Storage&) = default;
};
struct StorageHash {
  std::size_t operator()(const Storage& storage) const {
    return std::hash<const void*>()(storage.owner) * 31 + static_cast<std::size_t>(storage.part);
  }
};

// One operation, whatever number of tensors it made.
struct Node {
  const Producer* made = nullptr;           // of the first of its results that is used
  std::vector<const TensorState*> results;  // those that are used, at their first use
  std::vector<std::size_t> from;            // nodes of the tensors that went in
  bool inside_checkpoint = false;
};

// Where something after the loss is not known: what comes out of the operation, or goes into it. Null: the
// loss itself.
struct Gap {
  const Producer* at = nullptr;
  enum class What : std::uint8_t { origin, operand, history, kept_gradient, length } what = What::origin;
  friend bool operator==(const Gap&, const Gap&) = default;
};

// The same for all states of a tensor that came from one operation.
inline const void* identity(const TensorState* state) {
  return state->made ? static_cast<const void*>(state->made) : state;
}

class Graph {
public:
  // `until`: what the loop or the program computes; gradients are asked of it.
  // `all`: those too that no gradient goes through.
  Graph(const Record& record, const TensorState& loss,
      const std::unordered_map<const void*, const Held*>& held, Device device, bool all = false);

  const std::vector<Node>& nodes() const { return nodes_; }
  bool complete() const { return gaps_.empty(); }  // else something after the loss is not known
  const std::vector<Gap>& gaps() const { return gaps_; }
  const Record& record() const { return record_; }
  Device device() const { return device_; }

  // Under autocast, too, where operators choose the types of their results.
  Dtype dtype(const TensorState& state) const;
  // What the autocast region after the tensor lowers to; unknown: there is no such region.
  Dtype half_of(const TensorState& state) const;
  Int bytes(const TensorState& state) const { return bytes_of(record_.symbols, state.shape, dtype(state)); }

  // After views and writes in place.
  const TensorState& base(const TensorState& state) const;
  Storage storage(const TensorState& state) const;
  // Of a gradient that the program asks for: what its operations make; null: it is none, or one is not known.
  const TensorState* gradient(const TensorState& state) const;
  bool is_held(const TensorState& state) const { return held_.contains(identity(&state)); }
  // The parameter or buffer that it is, itself or seen through a view; null: none.
  const Held* held(const TensorState& state) const;
  // When it was computed: what unseen code may have done since takes no part in its backward.
  static bool requires_grad(const TensorState& state) { return state.requires_grad != values::Known::no; }
  // Of a result of a node: the tensor's own operation, the same for all of the operation's results.
  std::size_t node_of(const TensorState& state) const;  // npos: none
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  // Of the operation, where an operation of the graph was given it; null: none was.
  const TensorState* other_result(const Producer& made, int part) const;

  // By these keys, one for each node; nodes with the same key keep their order. Nothing changes where an
  // operation would come before one whose result it reads.
  void sort_by(const std::vector<std::uint32_t>& keys);

  // The operations of a checkpointed region, in order, its inputs left out.
  std::vector<Node> region(const Node& checkpoint) const;

  // The operations after other tensors that are alive, without those of this graph and those after the
  // tensors of `passed`: what a backward went through keeps nothing.
  std::vector<Node> beside(
      const std::vector<const TensorState*>& alive, const std::vector<const TensorState*>& passed) const;
  // What is not known of those.
  const std::vector<Gap>& gaps_beside() const { return gaps_beside_; }

private:
  using Skips = std::function<bool(const TensorState&)>;
  void note_data();
  void miss(const Producer* at, Gap::What what) const;
  void walk(const TensorState& from, std::vector<Node>& into,
      std::unordered_map<const void*, std::size_t>& places, const Skips& skips) const;

  const Record& record_;
  const std::unordered_map<const void*, const Held*>& held_;
  const Device device_;
  const bool all_;
  mutable std::unordered_map<const void*, Dtype> dtypes_;
  std::vector<Node> nodes_;
  std::unordered_map<const void*, std::size_t> places_;  // by identity
  mutable std::vector<Gap> gaps_, gaps_beside_;
};

Value argument(const Producer& made, std::string_view name);  // absent if there is none
const TensorState* operand(const Producer& made, std::string_view name);
// Of a layer's forward: the layer; null for functions.
inline const Instance* layer_of(const Producer& made) {
  return made.self.is(values::Kind::instance) && made.row->op ? made.self.as<Instance>() : nullptr;
}
// Did the layer not train when it ran? Of a function: is its `training` off?
bool is_evaluated(const Record& record, const Producer& made);
// The setting of a layer, or the argument of a function.
Value setting(const Record& record, const Producer& made, std::string_view name);
// Is the first tensor's memory also the result's: a view, a write in place, an operation that hands on what
// it was given?
bool shares_memory(const Record& record, const Producer& made, const TensorState* result, Device device);
// Does it compute anew what it writes into the memory of what it was given?
bool is_in_place(const Record& record, const Producer& made);
bool is_checkpoint(const Producer& made);
// Does its result require a gradient, and nothing that went in? A backward leaves it one.
bool begins_history(const Node& node);
// Of a function whose backward is the program's own: `listed` is what it keeps.
bool is_own_function(const Producer& made);
// A gradient that may have a history of its own: what its backward keeps is not known.
bool is_kept_gradient(const Record& record, const Producer& made);
// A dropout outside training, or of a probability of 0.
bool is_idle_dropout(const Record& record, const Producer& made);

}  // namespace stepzero::footprint
