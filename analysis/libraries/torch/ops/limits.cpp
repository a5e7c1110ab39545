// torch.finfo and torch.iinfo: what the numbers of a dtype can be.
#include "libraries/frameworks/kernels.hpp"
#include "libraries/table/native.hpp"

#include <cstdint>
#include <limits>

namespace stepzero::libraries {
namespace {

struct Floats {
  Dtype dtype;
  double max, eps, tiny;
  int bits;
};
constexpr Floats known_floats[] = {
    {Dtype::float64, std::numeric_limits<double>::max(), std::numeric_limits<double>::epsilon(),
        std::numeric_limits<double>::min(), 64},
    {Dtype::float32, std::numeric_limits<float>::max(), std::numeric_limits<float>::epsilon(),
        std::numeric_limits<float>::min(), 32},
    {Dtype::float16, 65504.0, 0.0009765625, 6.103515625e-05, 16},
    {Dtype::bfloat16, 3.3895313892515355e+38, 0.0078125, 1.1754943508222875e-38, 16},
};
Value float_limits(Call& call) {
  const Dtype dtype = to_dtype(call.run.resolve(call.at(0)));
  for (const Floats& known : known_floats) {
    if (known.dtype != dtype) continue;
    keep(call, "max", Value::of(known.max));
    keep(call, "min", Value::of(-known.max));
    keep(call, "eps", Value::of(known.eps));
    keep(call, "tiny", Value::of(known.tiny));
    keep(call, "smallest_normal", Value::of(known.tiny));
    keep(call, "bits", Value::of(call.run.symbols().constant(known.bits)));
  }
  return {};
}

struct Integers {
  Dtype dtype;
  std::int64_t min, max;
  int bits;
};
constexpr Integers integers[] = {
    {Dtype::int64, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), 64},
    {Dtype::int32, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(), 32},
    {Dtype::int16, std::numeric_limits<std::int16_t>::min(), std::numeric_limits<std::int16_t>::max(), 16},
    {Dtype::int8, -128, 127, 8},
    {Dtype::uint8, 0, 255, 8},
};
Value integer_limits(Call& call) {
  const Dtype dtype = to_dtype(call.run.resolve(call.at(0)));
  for (const Integers& known : integers) {
    if (known.dtype != dtype) continue;
    keep(call, "max", Value::of(call.run.symbols().constant(known.max)));
    keep(call, "min", Value::of(call.run.symbols().constant(known.min)));
    keep(call, "bits", Value::of(call.run.symbols().constant(known.bits)));
  }
  return {};
}

}  // namespace

std::vector<values::Row> limit_rows() {
  using enum values::RowKind;
  return {
      row("torch.finfo", class_, "type=None", float_limits),
      row("torch.iinfo", class_, "type", integer_limits),
  };
}

}  // namespace stepzero::libraries
