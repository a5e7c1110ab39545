#include "libraries/torch/ops/default_types.hpp"

#include "libraries/torch/ops/operators.hpp"
#include "values/devices.hpp"

namespace stepzero::libraries {

namespace {

Value set_default_device(Call& call) {
  call.run.set_default_device();
  return Value::none();
}
// torch.DoubleTensor, or its name: a dtype and a device.
Value set_default_tensor_type(Call& call) {
  call.run.set_default_device();
  const Value type = call.run.resolve(call.at(0));
  const std::string_view name = type.is(Kind::string) ? type.text()
      : type.is(Kind::library)                        ? type.as<values::LibrarySymbol>()->path
                                                      : std::string_view{};
  const std::string_view last = name.substr(name.rfind('.') + 1);
  Dtype dtype = to_dtype(type);
  for (const auto& [called, meant] :
      {std::pair<std::string_view, Dtype>{"FloatTensor", Dtype::float32}, {"DoubleTensor", Dtype::float64},
          {"HalfTensor", Dtype::float16}, {"BFloat16Tensor", Dtype::bfloat16}})
    if (last == called) dtype = meant;
  call.run.set_default_dtype(dtype == Dtype::unknown ? call.run.heap().unseen("") : Value::of(dtype));
  return Value::none();
}
Value set_default_dtype(Call& call) {
  const Value dtype = call.run.resolve(call.at(0));
  call.run.set_default_dtype(dtype.is(Kind::dtype) ? dtype : call.run.heap().unseen(""));
  return Value::none();
}

}  // namespace

std::vector<Row> default_type_rows() {
  std::vector<Row> rows;
  rows.push_back(libraries::row("torch.set_default_device", RowKind::function, "device", set_default_device));
  rows.push_back(
      libraries::row("torch.set_default_tensor_type", RowKind::function, "t", set_default_tensor_type));
  rows.push_back(libraries::row("torch.set_default_dtype", RowKind::function, "d", set_default_dtype));
  return rows;
}

}  // namespace stepzero::libraries
