// What the operator tables share: reading a value as a tensor, teaching an unknown what it must be,
// broadcasting, results.
#pragma once

#include "libraries/table/table.hpp"

#include <initializer_list>

namespace stepzero::libraries {

using symbolic::Answer;
using symbolic::Compare;
using syntax::Name;
using values::Dim;
using values::Dtype;
using values::Instance;
using values::Int;
using values::Kind;
using values::Known;
using values::ProblemKind;
using values::Shape;
using values::Sharing;
using values::Tensor;
using values::TensorState;

// The tensor that a value is, or that an unknown was found to be; null otherwise.
TensorState* tensor_state(Runtime& run, Value value);
// The same, but an unknown value becomes a tensor: the operation accepts nothing else.
TensorState* require_tensor(Runtime& run, Value value);
// From here on the tensor has this state (an in-place change, or something learned about it).
void set_state(Runtime& run, Value tensor, const TensorState& state);

// Once the rank of a tensor is known: what was found out of its first dimensions goes to its shape.
void decide_ndim(Runtime& run, TensorState& learned);

// An operand's dimension from the right (0 is the last), or null size if it is not known.
Dim from_right(const Shape& shape, std::size_t i);
// Are the sizes known to differ for all values of their symbols?
bool differ(Runtime& run, const Dim& a, const Dim& b);
// Is it what the program makes things of, as `hidden_size` is, and no size of a batch or of a sequence that
// may be 1? Asked to show shapes.
bool is_width(Runtime& run, Int size);
std::optional<Shape> broadcast(Runtime& run, const Shape& a, const Shape& b, bool* impossible = nullptr);

// Nothing that is known of it needs a gradient any more, because of `what`.
void cut_history(Runtime& run, TensorState& state, values::Place place, std::string_view what);
// The tensor, or whatever shares its memory, needs a gradient from here on, or needs none.
void require_grad(Runtime& run, Value tensor, Known wanted);
// Something is written into a tensor: what shares its memory may need a gradient from here on.
void note_grad_write(Runtime& run, const TensorState& into, const TensorState& written);
// Where gradients are not recorded, what is computed needs none; where operators choose their types, it is
// known who had them do so.
void apply_modes(Runtime& run, TensorState& state);

// A new state computed from operands: sharing, graph, device and unseen are theirs together.
TensorState computed(Runtime& run, std::span<const Value> operands);
inline TensorState computed(Runtime& run, std::initializer_list<Value> operands) {
  return computed(run, std::span(operands.begin(), operands.size()));
}
Value result(const Call& call, TensorState state);

// Integers from arguments: `(2, 3)`, `[2, 3]`, `2, 3`; absent where one is not an integer.
std::optional<std::vector<Int>> sizes(
    Runtime& run, Value first, const std::vector<Value>& rest, values::Place place);
Dim known_dim(Runtime& run, Int size, values::Place place, std::string_view what);
// A dimension argument, negative ones resolved against the rank; nullopt if unknown or outside.
std::optional<std::size_t> dim_index(Runtime& run, Value dim, const Shape& shape);

Dtype to_dtype(Value value);

// "2 dimensions", "1 dimension"
std::string count_of(std::size_t count, std::string_view what);

}  // namespace stepzero::libraries
