// Shape functions that several families of operators share.
#pragma once

#include "libraries/table/op.hpp"

namespace stepzero::libraries {

// The shape of the first argument.
Value same(Op& op);
// The first argument itself, of what changes it in place, or nothing that is known here; and of what fills it
// at random.
Value the_tensor(Op& op);
Value filled_at_random(Op& op);
std::vector<Row> attribute_rows();  // what is set on tensors
// The rows of torch.nn.init.
std::vector<Row> init_rows();
// All operands that are tensors, broadcast; numbers fit everywhere.
Value broadcasting(Op& op);

inline bool is_one(const Op& op, const Dim& dim) { return op.equal(dim, 1) == Answer::yes; }
inline Dim one(const Op& op) { return op.dim(1); }
inline Shape shape_of(std::vector<Dim> dims) { return {true, std::move(dims)}; }
constexpr bool is_complex(Dtype dtype) { return dtype == Dtype::complex64 || dtype == Dtype::complex128; }
constexpr Dtype real_part(Dtype dtype) {
  return dtype == Dtype::complex64 ? Dtype::float32 : dtype == Dtype::complex128 ? Dtype::float64 : dtype;
}
constexpr Dtype complex_part(Dtype dtype) {
  return dtype == Dtype::float32 ? Dtype::complex64
      : dtype == Dtype::float64  ? Dtype::complex128
                                 : Dtype::unknown;
}
// int8 to int64, uint8 and bool
inline bool is_integral(Dtype dtype) {
  return dtype != Dtype::unknown && !values::is_floating(dtype) && !is_complex(dtype);
}
// floats and complex numbers
inline bool is_inexact(Dtype dtype) { return dtype != Dtype::unknown && !is_integral(dtype); }
// bool, and uint8 as in the days before there was bool
constexpr bool is_mask(Dtype dtype) { return dtype == Dtype::boolean || dtype == Dtype::uint8; }
inline Dtype to_floating(Dtype dtype) { return is_integral(dtype) ? Dtype::float32 : dtype; }

// The shape without dimension `axis`, or with 1 in its place.
inline Shape without(const Op& op, Shape shape, std::size_t axis, bool keep) {
  if (axis >= shape.dims.size()) return shape;
  if (keep)
    shape.dims[axis] = op.dim(1);
  else
    shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return shape;
}

// The dimensions that dim= names, in a shape that may be known from the right only: positions among the dims
// that are known; those that lie before them are left out. Nullopt where not all are numbers or, after
// fail(), do not exist.
struct Axes {
  std::vector<std::size_t> known;
  std::size_t before = 0;  // so many lie somewhere before the known dims
};
std::optional<Axes> named_axes(Op& op, const Shape& shape, std::string_view dim);
// The shape after a reduction over dim= (None: over all of them) with keepdim=.
Shape reduced(Op& op, const Shape& shape, std::string_view dim = "dim");
// How many elements of the tensor are not zero: as many as there are. `written`: the expression that it comes
// from; may be null.
Dim count_of_nonzero(Op& op, Value of, const syntax::Expr* written);
// A tensor and the indices of its elements.
Value values_and_indices(Op& op, const Shape& shape, Dtype dtype);

}  // namespace stepzero::libraries
