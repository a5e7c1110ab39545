// What dtype comes out: torch.result_type's rules (category, then dimensions before 0-d tensors before
// numbers).
#include "libraries/table/op.hpp"
#include "values/numbers.hpp"

#include <algorithm>

namespace stepzero::libraries {

using values::Dtype;
using values::Kind;

int category(Dtype dtype) {
  if (dtype == Dtype::boolean) return 0;
  if (dtype == Dtype::complex64 || dtype == Dtype::complex128) return 3;
  return values::is_floating(dtype) ? 2 : 1;
}

namespace {

Dtype complex_of(Dtype dtype) { return dtype == Dtype::float64 ? Dtype::complex128 : Dtype::complex64; }

struct Operand {
  Dtype dtype;
  Known has_dims;
  bool number;
};

Dtype combine(Dtype higher, Dtype lower) {
  if (lower == Dtype::unknown) return higher;
  if (higher == Dtype::unknown) return lower;
  if (category(higher) >= category(lower)) return higher;
  if (category(lower) == 3 && category(higher) == 2) return complex_of(higher);
  return promote(higher, lower);
}

Dtype result_of(std::span<const Operand> operands, bool maybe_has_dims) {
  Dtype by_class[3] = {Dtype::unknown, Dtype::unknown, Dtype::unknown};
  for (const Operand& operand : operands) {
    if (operand.dtype == Dtype::unknown) return Dtype::unknown;
    const bool has_dims = operand.has_dims == Known::yes ||
        (operand.has_dims == Known::unknown && maybe_has_dims);
    Dtype& best = by_class[operand.number ? 2 : has_dims ? 0 : 1];
    best = best == Dtype::unknown ? operand.dtype : promote(best, operand.dtype);
  }
  return combine(by_class[0], combine(by_class[1], by_class[2]));
}

}  // namespace

Dtype promote(Dtype a, Dtype b) {
  if (a == b || b == Dtype::unknown) return a;
  if (a == Dtype::unknown) return b;
  if (category(a) < category(b)) std::swap(a, b);
  if (category(a) == 3)
    return a == Dtype::complex128 || b == Dtype::complex128 || b == Dtype::float64 ? Dtype::complex128
                                                                                   : Dtype::complex64;
  if (category(a) > category(b)) return a;
  if (category(a) == 2) {
    if (a == Dtype::float64 || b == Dtype::float64) return Dtype::float64;
    return Dtype::float32;  // also of float16 with bfloat16
  }
  constexpr auto rank = [](Dtype dtype) {
    return dtype == Dtype::int64 ? 4
        : dtype == Dtype::int32  ? 3
        : dtype == Dtype::int16  ? 2
        : dtype == Dtype::int8   ? 1
                                 : 0;
  };
  if (rank(a) + rank(b) == 1) return Dtype::int16;  // int8 with uint8
  return rank(a) > rank(b) ? a : b;
}

Dtype Op::result_type(Type type) const {
  if (type == Type::boolean) return Dtype::boolean;
  if (type == Type::int64) return Dtype::int64;
  if (type == Type::own) return Dtype::unknown;
  if (type == Type::input || type == Type::real) {
    const auto& all = tensors();
    const TensorState* first = all.empty() ? nullptr : tensor(all.front());
    if (!first) return Dtype::unknown;
    if (type == Type::input) return first->dtype;
    return first->dtype == Dtype::complex64 ? Dtype::float32
        : first->dtype == Dtype::complex128 ? Dtype::float64
                                            : first->dtype;
  }
  std::vector<Value> operands;
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i) {
    const std::string_view name = call.row.parameters[i].text();
    if (name == "out" || name == "dtype" || name == "device" || !call.given[i]) continue;
    const Value value = run.resolve(call.arguments[i]);
    if (value.is(Kind::list) || value.is(Kind::tuple)) {
      const auto items = run.elements(value, call.place);
      if (!items) return Dtype::unknown;
      operands.insert(operands.end(), items->begin(), items->end());
    } else {
      operands.push_back(value);
    }
  }
  operands.insert(operands.end(), call.rest.begin(), call.rest.end());
  const Dtype found = promoted(operands);
  return type == Type::floating && found != Dtype::unknown && category(found) < 2 ? run.default_dtype()
                                                                                  : found;
}
Dtype Op::promoted(std::initializer_list<std::string_view> names) const {
  std::vector<Value> operands;
  for (const std::string_view name : names)
    if (const Value value = argument(name)) operands.push_back(value);
  return promoted(operands);
}
Dtype Op::promoted(std::span<const Value> values) const {
  std::vector<Operand> operands;
  for (const Value& each : values) {
    const Value value = run.resolve(each);
    if (const TensorState* state = tensor(value)) {
      const Known has_dims = state->shape.ndim_known || !state->shape.dims.empty()
          ? (state->shape.dims.empty() ? Known::no : Known::yes)
          : Known::unknown;
      operands.push_back({state->dtype, has_dims, false});
      continue;
    }
    switch (value.kind) {
    case Kind::boolean:
      operands.push_back(
          {s.form(value.condition()) == symbolic::Context::Form::constant ? Dtype::boolean : Dtype::unknown,
              Known::no, true});
      break;
    case Kind::integer: operands.push_back({Dtype::int64, Known::no, true}); break;
    case Kind::real:
      if (run.default_dtype() == Dtype::unknown) return Dtype::unknown;
      operands.push_back({run.default_dtype(), Known::no, true});
      break;
    case Kind::unknown: {
      const bool real = values::is_float(value);
      operands.push_back({real ? Dtype::float32 : Dtype::unknown, Known::no, values::is_number(value)});
      break;
    }
    case Kind::choice: operands.push_back({Dtype::unknown, Known::no, false}); break;
    default: break;
    }
  }
  // A number that is not known may raise the type only where the tensors are of a lower kind.
  const bool floats = std::any_of(operands.begin(), operands.end(), [](const Operand& o) {
    return !o.number && o.has_dims == Known::yes && o.dtype != Dtype::unknown && category(o.dtype) >= 2;
  });
  if (floats) std::erase_if(operands, [](const Operand& o) { return o.number; });
  const Dtype found = result_of(operands, true);
  return result_of(operands, false) == found ? found : Dtype::unknown;
}

}  // namespace stepzero::libraries
