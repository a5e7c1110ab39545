// What an operator means in algebra, for readers that reason about where a tensor came from
// (values::Producer). Which operator means what is a row of meanings.cpp.
#pragma once

#include "values/heap.hpp"

#include <cstdint>

namespace stepzero::libraries {

enum class OpSemantics : std::uint8_t {
  none,
  same,        // the same numbers in the same places: another dtype or device, a copy
  rearranged,  // the same numbers in the same order, in another shape: view, flatten, unsqueeze…
  reordered,   // in another order: transpose, permute…
  detached,    // the same numbers in the same memory, without their history: detach, .data
  copied,      // the numbers of the second, written into the first: copy_
  built,       // of Python's numbers, or of a tensor's without their history: tensor
  masked,      // some of the numbers replaced: masked_fill, triu
  repeated,    // the same numbers, some of them several times: expand, repeat
  padded,      // the same numbers, and one number around them: pad
  add,         // from here on other numbers come out: see computes()
  sub,
  mul,
  div,
  power,
  negate,
  sum,
  mean,
  largest,
  softmax,
  log_softmax,
  sigmoid,
  log,
  exp,
  sqrt,
  inverse_sqrt,
  square,
  not_negative,  // relu, abs: what comes out is 0 in places
  bounded,       // clamp
  linear,        // a weight is applied to the last dimension
  product,       // matmul, bmm, einsum
  outer,
  norm,              // a length: the root of a sum of squares
  normalized,        // a norm layer or function, with an eps of its own
  chosen,            // topk: values and indices
  place_of_largest,  // argmax
  one_hot,
  count,  // of indices
  equals,
  ordered,  // compared: == and !=; <, <=, >, >=
  where,    // the places where something holds, or one of two by a condition
  picked,   // subscript, gather, index_select
  split,    // into parts along a dimension: split
  chunked,  // into so many parts: chunk, tensor_split
  joined,   // cat, stack
  cosine,
  sine,
  polar,
  count_up,       // arange
  spaced,         // linspace
  filled_normal,  // normal_: random numbers of a mean and a standard deviation
  noise,          // randn: random numbers of mean 0 and deviation 1
  attended,       // scaled_dot_product_attention
  unit_rows,      // of length 1: normalize
  interpolated,   // between two tensors, by a weight: lerp
  within_one,     // between -1 and 1: tanh, cosine_similarity
  pooled,         // the largest or the mean of each window
};

// Does it compute other numbers than it was given?
constexpr bool computes(OpSemantics semantics) { return semantics >= OpSemantics::add; }

// Of an operator's row; of a layer's forward, too.
OpSemantics semantics_of(const values::Row& row);

}  // namespace stepzero::libraries
