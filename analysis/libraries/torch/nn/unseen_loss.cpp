// Criteria that are not seen, and are called what programs call them: what they compare lies on one device.
#include "interpreter/calls/unseen.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/devices.hpp"

namespace stepzero::libraries {

namespace {
// Where it lies, as far as its making or the other parts of its batch say.
const values::Device* place_of(Runtime& run, Value value) {
  value = run.resolve(value);
  if (const TensorState* state = tensor_state(run, value); state && state->device) return state->device;
  if (!value.is(Kind::unknown)) return nullptr;
  const auto& unknown = *value.as<values::Unknown>();
  const values::Device* device = interpreter::lies_on(unknown);
  return device ? device : interpreter::left_on(unknown);
}
}  // namespace

// A criterion that is not seen compares the two, and for that they lie on one device.
Value compared_by_unseen(Call& call) {
  const values::Device *input = place_of(call.run, call.at(0)), *target = place_of(call.run, call.at(1));
  if (!input || !target) return Value::none();
  Op op(call);
  const Op::Apart apart = op.devices_apart(*input, *target);
  if (apart.one.empty()) return Value::none();
  const std::string told = "The input of this criterion is on " + code(apart.one) + " and the target is on " +
      code(apart.other);
  // What a function of such a name does with them is not seen.
  if (apart.when) op.fail_when(apart.when, ProblemKind::device, told);
  return Value::none();
}

}  // namespace stepzero::libraries
