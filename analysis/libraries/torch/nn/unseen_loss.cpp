// Criteria and models that are not seen: what is given to them together lies on one device.
#include "interpreter/calls/unseen.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/meaning/devices.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

namespace stepzero::libraries {

namespace {
// Where it lies, as far as its making says; with `by_others`, or the other parts of its batch.
const values::Device* place_of(Runtime& run, Value value, bool by_others = true, int depth = 0) {
  value = run.resolve(value);
  if (value.is(Kind::choice) && depth < values::most_choices) {
    const auto* choice = value.as<values::Choice>();
    return values::choose_gpu(run.heap(), choice->condition, run.symbols().logical_not(choice->condition),
        place_of(run, choice->yes, by_others, depth + 1), place_of(run, choice->no, by_others, depth + 1));
  }
  if (const TensorState* state = tensor_state(run, value); state && state->device) return state->device;
  // `[each.cuda() for each in targets]`: where all of them lie.
  if (value.is(Kind::tuple) && depth < values::most_choices) {
    const values::Device* common = nullptr;
    for (const Value& part : value.as<values::Tuple>()->items) {
      const values::Device* lies = place_of(run, part, by_others, depth + 1);
      if (!lies || (common && !values::is_same_device(lies, common))) return nullptr;
      common = lies;
    }
    return common;
  }
  const values::Unknown* unknown = unseen_behind(run, value);
  if (!unknown) return nullptr;
  const values::Device* device = interpreter::lies_on(*unknown);
  return device || !by_others ? device : interpreter::left_on(*unknown);
}
}  // namespace

// A criterion that is not seen compares the two, and for that they lie on one device.
Value compared_by_unseen(Call& call) {
  const values::Device *input = place_of(call.run, call.at(0)), *target = place_of(call.run, call.at(1));
  if (!input || !target) return Value::none();
  Op op(call);
  const Op::Apart apart = op.devices_apart(*input, *target);
  if (apart.one.empty()) return Value::none();

  // What a function of such a name does with them is not seen.
  if (apart.when)
    op.fail_when(apart.when, ProblemKind::device, why<Reason::criterion_devices>(apart.one, apart.other));
  return Value::none();
}

// The output of a model that is not seen and a part of its batch that was not moved: `output - target`. That
// it is a sum of tensors is not known.
Value combined_unseen(Call& call) {
  const values::Device *left = place_of(call.run, call.at(0)), *right = place_of(call.run, call.at(1));
  if (!left || !right) return Value::none();
  Op op(call);
  const Op::Apart apart = op.devices_apart(*left, *right);
  if (apart.one.empty()) return Value::none();
  const symbolic::Cond tensors = call.run.named_condition(
      values::DeviceCondition::both_tensors, Sharing::uniform);
  op.fail_when(apart.when ? call.run.symbols().logical_and(apart.when, tensors) : tensors,
      ProblemKind::device, why<Reason::device_operands>(code(apart.one), code(apart.other)));
  return Value::none();
}

// What is said of input `i` that lies apart from where the model was moved, or other parts of its batch; the
// model may move it itself.
static bool tell_left(Call& call, std::size_t i, const values::Device& other, bool of_model) {
  const values::Device* left = place_of(call.run, call.rest[i]);
  if (!left) return false;
  Op op(call);
  const Op::Apart apart = op.devices_apart(other, *left);
  if (apart.one.empty()) return false;
  const symbolic::Cond stay = call.run.named_condition(
      values::DeviceCondition::inputs_stay, Sharing::uniform);
  op.fail_when(apart.when ? call.run.symbols().logical_and(apart.when, stay) : stay, ProblemKind::device,
      of_model ? why<Reason::input_of_moved_model>(apart.one, i + 1, apart.other)
               : why<Reason::input_left>(i + 1, apart.other, apart.one));
  return true;
}
// None of what it is given was moved: the model was, or other parts of the batch were.
static bool left_to_unseen(Call& call) {
  const values::Device* model =
      call.self.is(Kind::unknown) ? interpreter::module_on(*call.self.as<values::Unknown>()) : nullptr;
  if (model)
    for (const Value& input : call.rest) {
      const values::Device* device = place_of(call.run, input);
      if (device && Op(call).devices_apart(*model, *device).one.empty()) return false;
    }
  for (std::size_t i = 0; i < call.rest.size(); ++i) {
    const Value value = call.run.resolve(call.rest[i]);
    const values::Device* other =
        model || !value.is(Kind::unknown) ? model : interpreter::left_by(*value.as<values::Unknown>());
    if (other && tell_left(call, i, *other, model)) return true;
  }
  return false;
}

// Its input was moved, and nothing moves the model, which unseen code has built and was told no device. Of a
// part of another object (`self.backbone(x)`) nobody knows: it is moved with that.
static bool tell_left_model(Call& call, std::size_t input, const values::Device& there) {
  if (!call.self.is(Kind::unknown) || !interpreter::is_made_anywhere(*call.self.as<values::Unknown>()))
    return false;
  const std::string_view text = call.run.record().text(call.place);
  if (text.substr(0, text.find('(')).find('.') != std::string_view::npos) return false;
  const values::Device* host = values::default_device(
      call.run.heap(), call.run.named_condition(values::DeviceCondition::builder_leaves, Sharing::uniform));
  if (!host) return false;
  Op op(call);
  const Op::Apart apart = op.devices_apart(there, *host);
  if (apart.one.empty() || !apart.when) return false;
  op.fail_when(
      apart.when, ProblemKind::device, why<Reason::input_of_left_model>(input + 1, apart.one, apart.other));
  return true;
}

// Where it was left: by what the other parts of its batch say, or by how it was made. Of that it is certain
// for floating numbers alone, unless they are known to have no dimensions: lengths and ids may be wanted on
// the CPU. Null: not known.
static const values::Device* left_behind(Call& call, Value value) {
  const TensorState* state = tensor_state(call.run, value);
  const bool is_placed = state && state->device;
  if (is_placed && (!state->shape.dims.empty() || !state->shape.ndim_known) &&
      values::is_floating(state->dtype))
    return state->device;
  const values::Unknown* unknown = unseen_behind(call.run, value);
  if (!unknown) return nullptr;
  const values::Device* device = interpreter::lies_on(*unknown);
  if (!device) return interpreter::left_on(*unknown);
  if (is_placed) return nullptr;
  return interpreter::computed_on(*unknown) ? nullptr : device;  // nobody moved it
}

// Is a GPU among the devices that it may be?
static bool may_be_on_gpu(Runtime& run, const values::Device& device) {
  return std::ranges::any_of(values::possible_devices(run.symbols(), device), [](const auto& one) {
    return !values::is_reserved(one.text) && !one.text.starts_with("cpu") && one.text != "meta";
  });
}

// A model that is not seen is given parts of a batch of which some were moved and one was not. It may move
// them itself, or want it so: lengths stay on the CPU.
Value given_to_unseen(Call& call) {
  // A wrapper moves what it hands on.
  if (call.self.is(Kind::unknown) &&
      call.self.as<values::Unknown>()->attributes.value(syntax::Name(values::WrapperState::wrapped)))
    return Value::none();
  const auto moved_to = [&](Value value) { return place_of(call.run, value, false); };
  const bool model_moved = call.self.is(Kind::unknown) &&
      interpreter::module_on(*call.self.as<values::Unknown>());
  if (model_moved && left_to_unseen(call)) return Value::none();
  std::size_t there = call.rest.size();
  for (std::size_t i = call.rest.size(); i-- > 0;)
    if (const values::Device* device = moved_to(call.rest[i]); device && may_be_on_gpu(call.run, *device))
      there = i;
  if (there == call.rest.size()) {
    // Of what was moved on one way alone, the batch does not say on which.
    const bool chosen = std::ranges::any_of(call.rest, [&](Value input) {
      const values::Device* device = moved_to(input);
      return device && !values::is_cpu(device);
    });
    if (!model_moved && !chosen) left_to_unseen(call);
    return Value::none();
  }
  if (!model_moved && tell_left_model(call, there, *moved_to(call.rest[there]))) return Value::none();
  for (std::size_t i = 0; i < call.rest.size(); ++i) {
    const Value value = call.run.resolve(call.rest[i]);
    const values::Device* left = left_behind(call, value);
    if (!left) continue;
    Op op(call);
    const Op::Apart apart = op.devices_apart(*moved_to(call.rest[there]), *left);
    if (apart.one.empty()) continue;
    const symbolic::Cond stay = call.run.named_condition(
        values::DeviceCondition::inputs_stay, Sharing::uniform);
    op.fail_when(apart.when ? call.run.symbols().logical_and(apart.when, stay) : stay, ProblemKind::device,
        why<Reason::device_inputs>(there + 1, code(apart.one), i + 1, code(apart.other)));
    break;
  }
  return Value::none();
}

}  // namespace stepzero::libraries
