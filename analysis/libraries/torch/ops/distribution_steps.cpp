#include "libraries/torch/ops/distribution_steps.hpp"

#include "interpreter/record.hpp"
#include "libraries/table/op.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stepzero::libraries {

namespace {

class Steps {
public:
  explicit Steps(Call& call) : call_(call) {}

  Value apply(std::string_view path, std::vector<Value> operands) {
    return call_operator(call_.run, path, std::move(operands), call_.node, call_.place);
  }
  Value whole(std::int64_t number) { return Value::of(call_.run.symbols().constant(number)); }
  Value yes() { return Value::of(call_.run.symbols().boolean(true)); }
  Value sub(Value a, Value b) { return apply("torch.sub", {a, b}); }
  Value mul(Value a, Value b) { return apply("torch.mul", {a, b}); }
  Value div(Value a, Value b) { return apply("torch.div", {a, b}); }
  Value neg(Value a) { return apply("torch.neg", {a}); }
  Value log(Value a) { return apply("torch.log", {a}); }
  Value square(Value a) { return apply("torch.pow", {a, whole(2)}); }
  Value between(Value a, double low, double high) {
    return apply("torch.clamp", {a, Value::of(low), Value::of(high)});
  }
  // Each element's loss by itself.
  Value loss(Value logits, Value target) {
    return apply("torch.nn.functional.binary_cross_entropy_with_logits",
        {logits, target, Value::none(), Value::none(), Value::none(), call_.run.heap().string("none")});
  }

private:
  Call& call_;
};

bool has_path(const Call& call, std::string_view of) {
  return call.row.path.starts_with(of) && call.row.path.size() > of.size() && call.row.path[of.size()] == '.';
}
constexpr std::string_view of_classes = "torch.distributions.Categorical",
                           of_two = "torch.distributions.Bernoulli", of_normal = "torch.distributions.Normal";
constexpr double epsilon = 1.1920929e-7;  // of float32
constexpr double lowest = -3.4028235e38;

bool same_dims(Runtime& run, const Shape& a, const Shape& b) {
  return a.ndim_known && b.ndim_known &&
      std::ranges::equal(a.dims, b.dims, [&](const Dim& one, const Dim& other) {
        return one.size && other.size &&
            run.symbols().compare(symbolic::Compare::eq, one.size, other.size) == symbolic::Answer::yes;
      });
}

}  // namespace

bool counts_memory(const Call& call) {
  return call.run.record().conditions.contains(values::RecordCondition::counted);
}

void keep_probabilities(Call& call, Value probs, Value logits, bool over_last) {
  Steps steps(call);
  const Value last = steps.whole(-1);
  if (probs) {
    if (over_last) probs = steps.div(probs, steps.apply("torch.sum", {probs, last, steps.yes()}));
    const Value bounded = steps.between(probs, epsilon, 1 - epsilon);
    logits = steps.log(bounded);
    if (!over_last) logits = steps.sub(logits, steps.apply("torch.log1p", {steps.neg(bounded)}));
  } else {
    if (over_last) logits = steps.sub(logits, steps.apply("torch.logsumexp", {logits, last, steps.yes()}));
    probs = over_last ? steps.apply("torch.softmax", {logits, last}) : steps.apply("torch.sigmoid", {logits});
  }
  keep(call, "probs", probs);
  keep(call, "logits", logits);
}

void keep_parameters(Call& call, const Shape& shape) {
  for (std::size_t i = 0; i < 2; ++i)
    if (const TensorState* state = tensor_state(call.run, call.at(i));
        state && same_dims(call.run, state->shape, shape))
      keep(call, call.row.parameters[i].text(), call.run.resolve(call.at(i)));
}

Value counted_log_probability(Call& call) {
  Steps steps(call);
  const Value value = call.at(0), last = steps.whole(-1);
  const Value logits = kept(call, "logits"), loc = kept(call, "loc"), scale = kept(call, "scale");
  const TensorState* of = tensor_state(call.run, value);
  const TensorState* batch = tensor_state(call.run, kept(call, values::LoaderState::batch));
  if (!of || !batch || !same_dims(call.run, of->shape, batch->shape)) return {};
  if (has_path(call, of_classes) && logits) {
    const Value index = steps.apply("torch.unsqueeze", {steps.apply("torch.Tensor.long", {value}), last});
    return steps.apply("torch.squeeze", {steps.apply("torch.gather", {logits, last, index}), last});
  }
  if (has_path(call, of_two) && logits) return steps.neg(steps.loss(logits, value));
  if (!has_path(call, of_normal) || !loc || !scale) return {};
  const Value spread = steps.square(scale), log_scale = steps.log(scale);
  const Value from = steps.neg(steps.square(steps.sub(value, loc)));
  return steps.sub(steps.sub(steps.div(from, steps.mul(spread, steps.whole(2))), log_scale),
      Value::of(std::log(std::sqrt(2 * std::numbers::pi))));
}

Value counted_entropy(Call& call) {
  Steps steps(call);
  const Value logits = kept(call, "logits"), probs = kept(call, "probs"), scale = kept(call, "scale");
  if (has_path(call, of_classes) && logits && probs) {
    const Value bounded = steps.apply("torch.clamp", {logits, Value::of(lowest)});
    return steps.neg(steps.apply("torch.sum", {steps.mul(bounded, probs), steps.whole(-1)}));
  }
  if (has_path(call, of_two) && logits && probs) return steps.loss(logits, probs);
  if (has_path(call, of_normal) && scale)
    return steps.apply(
        "torch.add", {steps.log(scale), Value::of(0.5 + 0.5 * std::log(2 * std::numbers::pi))});
  return {};
}

Value counted_sample(Call& call, Value noise) {
  Steps steps(call);
  const Value loc = kept(call, "loc"), scale = kept(call, "scale");
  if (!has_path(call, of_normal) || !loc || !scale) return {};
  return steps.apply("torch.add", {loc, steps.mul(noise, scale)});
}

}  // namespace stepzero::libraries
