// What operators that rearrange dimensions share: naming a dimension of a shape that may be known from the
// right only.
#pragma once

#include "libraries/table/op.hpp"

namespace stepzero::libraries {

// Where in `shape.dims` the dimension is that `at` names. Of a shape whose rank is not known only the last
// dimensions can be named, by negative numbers; dimensions that must exist then are added to it. Nullopt if
// it cannot be said or, after fail(), if there is none.
std::optional<std::size_t> find_dim(Op& op, Shape& shape, std::int64_t at);
// The same for the argument of that name.
std::optional<std::size_t> find_dim(Op& op, Shape& shape, std::string_view argument);

// Sizes that were asked for: those that are not known are null. If an unknown number of them was spread in
// front, only the last ones are known.
struct Sizes {
  bool complete = true;
  std::vector<Int> sizes;
};
std::optional<Sizes> wanted_sizes(Op& op, std::string_view name);
Sizes sizes_of(const Shape& shape);
// A shape that this call made.
Shape shape_of(Op& op, std::span<const Int> sizes);

std::string sizes_words(const Op& op, std::span<const Int> sizes);  // "(-1, 256)"
// Known never to be negative?
bool is_size(const Op& op, Int size);
// One dimension for all of the given ones; it remembers what it was multiplied from.
Dim joined_dim(Op& op, std::span<const Dim> dims);
// The smaller and larger of two sizes by what is known on this path; null if one is.
Int smaller(const Op& op, Int a, Int b);
Int larger(const Op& op, Int a, Int b);
// A dimension after x[lower:upper:step]; the step is known not to turn it around.
// `written`: the slice in the text, if it stands there.
Dim slice_of(Op& op, const Dim& dim, const values::SliceObject& slice, const syntax::Expr* written = nullptr);
// A tensor that holds one integer, as that integer where it is known; other values as they are.
Value as_index(Op& op, Value value);

}  // namespace stepzero::libraries
