// Where tensors came from: the operations after them, as the run left them (values::Producer), and what
// follows from that in algebra. What several rules of models ask; says nothing to the user.
#pragma once

#include "libraries/torch/meaning/op_semantics.hpp"
#include "rules/report.hpp"

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stepzero::rules {

using libraries::OpSemantics;
using values::Dim;
using values::Producer;
using values::TensorState;
using values::Value;

// A tensor, and the operation that it came from.
struct Origin {
  const TensorState* state = nullptr;
  const Producer* made = nullptr;
};

class Provenance {
public:
  // Found out once for a record.
  static const Provenance& of(const Record& record);
  explicit Provenance(const Record& record);

  // Every tensor that the record shows and that came from an operation, and those that they came from; each
  // once, in a fixed order.
  const std::vector<Origin>& all() const { return all_; }
  // Those whose operation has the sense.
  const std::vector<Origin>& of_semantics(OpSemantics semantics) const;
  // The names that the program gives to the tensor; empty if it has none.
  std::string_view name_of(const TensorState* state) const;

private:
  std::vector<Origin> all_;
  std::map<OpSemantics, std::vector<Origin>> by_semantics_;
  std::unordered_map<const void*, std::string_view> names_;
};

// The same for all states of a tensor that came from one operation: what is learned of it later makes another
// state.
inline const void* identity(const TensorState* state) {
  return state && state->made ? static_cast<const void*>(state->made) : state;
}
OpSemantics semantics(const TensorState* state);  // of the operation that it came from
inline OpSemantics semantics(const Producer& made) { return libraries::semantics_of(*made.row); }
Value argument(const Producer& made, std::string_view name);  // absent if there is none
Value argument(const Producer& made, std::size_t index);
// The tensor among the arguments at that place; null if it is none.
const TensorState* input(const Producer& made, std::size_t index = 0);
// All tensors that went in.
std::vector<const TensorState*> inputs(const Producer& made);
std::optional<double> number(
    const Record& record, Value value);  // a Python number, or a tensor of one element that is known
std::optional<std::int64_t> size_of(const Record& record, const Dim& dim);
// The dimensions that the argument names, counted from the left; nullopt if they are not known. Not given:
// all of them.
std::optional<std::vector<std::size_t>> dimensions(
    const Record& record, const Producer& made, std::string_view name = "dim");
// Back through operations that only move or convert the numbers, as far as `moves` allows.
const TensorState* source_of(const TensorState* state, bool moves = true);
// Is it computed from the other, over any operations, as far as is known?
bool comes_from(const TensorState* state, const TensorState* source);
// All tensors that it is computed from, itself first.
std::vector<const TensorState*> ancestors(const TensorState* state);
// Calls it by the name that the program gives it, or by the text of the expression.
std::string text_of(const Record& record, const Producer& made);

// The scores of a router: what was projected to so many columns, after softmax, sigmoid or a bias. Null if
// it is nothing of the kind.
struct Scores {
  const TensorState* logits = nullptr;  // as the projection made them
  const TensorState* last = nullptr;    // what is chosen from
  const Producer* weight = nullptr;     // the projection
  bool biased = false;                  // something that is no constant was added: balanced by hand
};
std::optional<Scores> scores_of(const TensorState* chosen_from);

}  // namespace stepzero::rules
