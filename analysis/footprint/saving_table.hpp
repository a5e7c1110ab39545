// The data of saving.hpp: what each operator keeps for its backward, from derivatives.yaml of PyTorch 2.13
// and as recorded with torch.autograd.graph.saved_tensors_hooks.
#pragma once

#include "footprint/footprint.hpp"
#include "libraries/table/columns.hpp"

#include <optional>
#include <string_view>

namespace stepzero::footprint {

// Words of `keeps`:
//   input, other, weight…  the argument of that name; `input<other` only where `other` requires a gradient,
//   `input<other|bias` where one of them does result                 what it gave back; `copy`: as many
//   numbers that nobody else holds mask, noise            what a dropout multiplies by: bools on a GPU,
//   numbers on the CPU indices                an int64 for each number of the result rows, groups, channels a
//   mean and a deviation in float32 for each row, group or channel that it normalizes lengths one number for
//   each vector along `dim` lse                    a float32 for each query and head logs, total the
//   logarithms of the probabilities of the input; the sum of the targets' weights either                 the
//   input or, where that is written over, the result difference             of the input and the target
//   upcast                 the input, but under autocast, where the norm is put together from other
//   operators, two copies of it in float32 rows_of_input          the input as a matrix: a copy where it
//   cannot be seen as one
struct Keeping {
  std::string_view names;  // of the operators, by spaces
  std::string_view keeps;
};
// Nullopt: the table does not speak of it.
std::optional<std::string_view> keeping_of(std::string_view operator_name);

// What the operator's backward makes besides gradients and frees when it is done, as measured with
// torch.cuda.memory_stats of PyTorch 2.11.
struct Temporaries {
  enum class Of : std::uint8_t {
    input,          // as large as the input
    spread_factor,  // as large as the result, where the other operand has a gradient and is smaller
    divisor,        // as large as the result, where the other operand has a gradient
    query,          // the query in float32, where a fused kernel runs on a GPU
    hidden,  // of a Transformer's layer: the gradients before and after its activation, which take the place
             // of the layer's own
  };
  std::string_view names;  // of the operators, by spaces
  Of of = Of::input;
  int times = 1;
};
// Null: nothing.
const Temporaries* temporaries_of(std::string_view operator_name);

// What autocast makes of the operator: its operands become half precision, or float32. `of_input`: nothing,
// and the result has the input's type, whatever the weights have.
enum class Casts : std::uint8_t { none, lower, higher, of_input };
Casts casts_of(std::string_view operator_name, Device device);

libraries::Column view_column();   // strides.cpp
libraries::Column flops_column();  // flops.cpp
// The names of all tables of this floor, which tests hold against those of operators.
std::vector<libraries::Column> columns();

}  // namespace stepzero::footprint
