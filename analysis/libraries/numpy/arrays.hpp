// Arrays of NumPy: what is known of one, and how it is made. An array is an object that keeps its shape and
// type as a tensor's state; a number that was read from an array is such an object without dimensions.
#pragma once

#include "libraries/table/native.hpp"
#include "libraries/table/op.hpp"

namespace stepzero::libraries {

// Null if the value is not known to be an array.
const TensorState* array_state(Runtime& run, Value value);
// What it holds, as a tensor; absent if the value is not known to be an array.
Value held_by_array(Runtime& run, Value value);
// A new array, computed from these; unknown where its number of dimensions is.
Value array_of(Call& call, const Shape& shape, values::Dtype dtype, std::initializer_list<Value> sources = {},
    bool random = false);
// The tensor's numbers as an array.
Value array_of_tensor(Op& op);
// What `dtype=` or astype() names; unknown if that is not known.
values::Dtype array_dtype(Runtime& run, Value value);
// What the argument `dtype` names; `otherwise` where there is none.
values::Dtype dtype_asked(Op& op, values::Dtype otherwise);
// An argument that is a size or several; nullopt if that is not known.
std::optional<Shape> sizes_asked(Op& op, std::string_view name);

// What nested lists of numbers, tensors and arrays hold.
struct NestedData {
  Shape shape;
  values::Dtype dtype = values::Dtype::unknown;
  bool of_numbers = true;  // of Python, alone
};
std::optional<NestedData> nested_data(Op& op, Value data);

// An array of fractions, element by element: np.exp…
Value array_of_fractions(Call& call);
std::vector<Row> array_operator_rows();
std::vector<Row> random_array_rows();

inline constexpr std::string_view array_class = "numpy.ndarray", number_class = "numpy.generic";

}  // namespace stepzero::libraries
