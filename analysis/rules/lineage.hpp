// Where tensors came from: the operations behind them, as the run left them (values::Made), and what follows from that in algebra.
// What several rules of models ask; says nothing to the user.
#pragma once

#include "libraries/torch/meaning/sense.hpp"
#include "rules/report.hpp"

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stepzero::rules {

using libraries::Sense;
using values::Dim;
using values::Made;
using values::TensorState;
using values::Value;

// A tensor, and the operation that it came from.
struct Origin {
  const TensorState* state = nullptr;
  const Made* made = nullptr;
};

class Lineage {
public:
  // Found out once for a record.
  static const Lineage& of(const Record& record);
  explicit Lineage(const Record& record);

  // Every tensor that the record shows and that came from an operation, and those that they came from; each once, in a fixed order.
  const std::vector<Origin>& all() const { return all_; }
  // Those whose operation has the sense.
  const std::vector<Origin>& of_sense(Sense sense) const;
  // The names that the program gives to the tensor; empty if it has none.
  std::string_view name_of(const TensorState* state) const;

private:
  std::vector<Origin> all_;
  std::map<Sense, std::vector<Origin>> by_sense_;
  std::unordered_map<const void*, std::string_view> names_;
};

// The same for all states of a tensor that came from one operation: what is learned of it later makes another state.
inline const void* identity(const TensorState* state) { return state && state->made ? static_cast<const void*>(state->made) : state; }
Sense sense(const TensorState* state);                                // of the operation that it came from
inline Sense sense(const Made& made) { return libraries::sense_of(*made.row); }
Value argument(const Made& made, std::string_view name);              // absent if there is none
// The tensor among the arguments at that place; null if it is none.
const TensorState* input(const Made& made, std::size_t index = 0);
// All tensors that went in.
std::vector<const TensorState*> inputs(const Made& made);
std::optional<double> number(const Record& record, Value value);      // a Python number, or a tensor of one element that is known
std::optional<std::int64_t> size_of(const Record& record, const Dim& dim);
// The dimensions that the argument names, counted from the left; nullopt if they are not known. Not given: all of them.
std::optional<std::vector<std::size_t>> dimensions(const Record& record, const Made& made, std::string_view name = "dim");
// Back through operations that only move or convert the numbers, as far as `moves` allows.
const TensorState* behind(const TensorState* state, bool moves = true);
// Is it computed from the other, over any operations, as far as is known?
bool comes_from(const TensorState* state, const TensorState* source);
// All tensors that it is computed from, itself first.
std::vector<const TensorState*> ancestors(const TensorState* state);
// Calls it by the name that the program gives it, or by the text of the expression.
std::string text_of(const Record& record, const Made& made);

// The scores of a router: what was projected to so many columns, behind softmax, sigmoid or a bias. Null if it is nothing of the kind.
struct Scores {
  const TensorState* logits = nullptr;   // as the projection made them
  const TensorState* last = nullptr;     // what is chosen from
  const Made* weight = nullptr;          // the projection
  bool biased = false;                   // something that is no constant was added: balanced by hand
};
std::optional<Scores> scores_of(const TensorState* chosen_from);

} // namespace stepzero::rules
