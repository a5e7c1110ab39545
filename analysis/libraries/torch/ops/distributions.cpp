// Distributions over actions, latents and noise: what is drawn from them has the shape of their parameters,
// and so have its probability and their entropy. One that is made of tensors keeps a tensor of that shape.
#include "libraries/torch/ops/distributions.hpp"

#include "libraries/table/native.hpp"
#include "libraries/torch/ops/distribution_steps.hpp"
#include "values/kept.hpp"

#include <deque>
#include <string>

namespace stepzero::libraries {

namespace {

constexpr values::KeptKey batch_name = values::LoaderState::batch;

// A tensor of that shape, computed from the operands.
Value of_shape(const Call& call, std::initializer_list<Value> operands, const Shape& shape, Dtype dtype,
    bool with_gradient = true) {
  TensorState state = computed(call.run, operands);
  state.shape = shape;
  state.dtype = dtype;
  state.content = nullptr;
  state.extent = nullptr;
  state.strides.clear();
  state.first.clear();
  state.crossed = nullptr;
  state.scaled_by = nullptr;
  if (!with_gradient) {
    state.requires_grad = values::Known::no;
    state.graph.clear();
  }
  state.sharing = Sharing::local;
  return result(call, std::move(state));
}

const TensorState* batch_of(const Call& call) { return tensor_state(call.run, kept(call, batch_name)); }

// Categorical(probs) or (logits=…): the last dimension is that of the classes.
template <bool over_last> Value by_probability(Call& call) {
  const Value probs = call.run.resolve(call.at(0)), logits = call.run.resolve(call.at(1));
  const Value given = probs && !probs.is(Kind::none) ? probs : logits;
  if (call.spread || !given) return {};
  const TensorState* state = over_last ? require_tensor(call.run, given) : tensor_state(call.run, given);
  if (!state) return {};
  Shape batch = state->shape;
  if (over_last) {
    if (batch.ndim_known && batch.dims.empty()) return {};
    if (!batch.dims.empty()) batch.dims.pop_back();
  }
  keep(call, batch_name, of_shape(call, {given}, batch, state->dtype));
  for (const std::string_view name : {"probs", "logits"})
    keep(call, name, of_shape(call, {given}, state->shape, state->dtype));
  const bool by_probs = probs && !probs.is(Kind::none);
  if (counts_memory(call))
    keep_probabilities(call, by_probs ? probs : Value{}, by_probs ? Value{} : logits, over_last);
  return {};
}

// Normal(loc, scale) and its like: both broadcast.
Value by_two(Call& call) {
  const Value first = call.run.resolve(call.at(0)), second = call.run.resolve(call.at(1));
  const auto is_number = [](const Value& value) { return value.is(Kind::real) || value.is(Kind::integer); };
  const TensorState *a = tensor_state(call.run, first), *b = tensor_state(call.run, second);
  if (call.spread || (!a && !is_number(first)) || (!b && !is_number(second))) return {};
  Shape shape{true, {}};
  Dtype dtype = Dtype::float32;
  if (a && b) {
    const auto both = broadcast(call.run, a->shape, b->shape, nullptr);
    if (!both) return {};
    shape = *both;
    dtype = a->dtype == b->dtype ? a->dtype : Dtype::unknown;
  } else if (const TensorState* one = a ? a : b) {
    shape = one->shape;
    dtype = one->dtype;
  }
  const Value batch = of_shape(call, {first, second}, shape, dtype);
  keep(call, batch_name, batch);
  for (std::size_t i = 0; i < 2; ++i)
    keep(call, call.row.parameters[i].text(), of_shape(call, {call.at(i)}, shape, dtype));
  if (counts_memory(call)) keep_parameters(call, shape);
  return {};
}

// sample(sample_shape): as many of them as are asked for, in front.
template <bool with_gradient, Dtype drawn> Value sample(Call& call) {
  const TensorState* batch = batch_of(call);
  if (!batch) return unknown_of(call);
  Shape shape = batch->shape;
  if (const Value asked = call.run.resolve(call.at(0)); call.spread) {
    shape = {};
  } else if (asked) {
    const auto front = asked.is(Kind::none) ? std::optional(std::vector<Int>())
                                            : sizes(call.run, asked, {}, call.place);
    if (!front) {
      shape.ndim_known = false;
    } else {
      std::vector<Dim> dims;
      dims.reserve(front->size());
      for (const Int size : *front) dims.push_back(known_dim(call.run, size, call.place, "sample_shape"));
      if (shape.ndim_known) shape.dims.insert(shape.dims.begin(), dims.begin(), dims.end());
    }
  }
  const bool is_counted = with_gradient && counts_memory(call);
  const Value drawn_now = of_shape(call, {kept(call, batch_name)}, shape,
      drawn == Dtype::unknown ? batch->dtype : drawn, with_gradient && !is_counted);
  if (!is_counted) return drawn_now;
  const Value made = counted_sample(call, drawn_now);
  return made ? made
              : of_shape(call, {kept(call, batch_name)}, shape, drawn_now.as<values::Tensor>()->now()->dtype);
}
Value log_probability(Call& call) {
  const TensorState *batch = batch_of(call), *value = tensor_state(call.run, call.at(0));
  if (!batch || call.spread) return unknown_of(call);
  if (counts_memory(call))
    if (const Value made = counted_log_probability(call)) return made;
  const auto both = value ? broadcast(call.run, batch->shape, value->shape, nullptr) : std::nullopt;
  return of_shape(call, {kept(call, batch_name), call.at(0)}, both ? *both : Shape{}, batch->dtype);
}
template <Dtype dtype = Dtype::unknown> Value like_batch(Call& call) {
  const TensorState* batch = batch_of(call);
  return batch
      ? of_shape(call, {kept(call, batch_name)}, batch->shape, dtype == Dtype::unknown ? batch->dtype : dtype)
      : unknown_of(call);
}

Value entropy(Call& call) {
  const Value made = counts_memory(call) && batch_of(call) ? counted_entropy(call) : Value{};
  return made ? made : like_batch<>(call);
}

struct Named {
  std::string_view path, signature;
  Value (*make)(Call&);
  Value (*draw)(Call&);
  Value (*draw_with_gradient)(Call&);
  Value (*mode)(Call&) = like_batch<>;
};
constexpr Named distributions[] = {
    {"torch.distributions.Categorical", "probs=None, logits=None, validate_args=None", by_probability<true>,
        sample<false, Dtype::int64>, nullptr, like_batch<Dtype::int64>},
    {"torch.distributions.Bernoulli", "probs=None, logits=None, validate_args=None", by_probability<false>,
        sample<false, Dtype::unknown>, nullptr},
    {"torch.distributions.Normal", "loc, scale, validate_args=None", by_two, sample<false, Dtype::unknown>,
        sample<true, Dtype::unknown>},
    {"torch.distributions.LogNormal", "loc, scale, validate_args=None", by_two, sample<false, Dtype::unknown>,
        sample<true, Dtype::unknown>},
    {"torch.distributions.Laplace", "loc, scale, validate_args=None", by_two, sample<false, Dtype::unknown>,
        sample<true, Dtype::unknown>},
    {"torch.distributions.Gumbel", "loc, scale, validate_args=None", by_two, sample<false, Dtype::unknown>,
        sample<true, Dtype::unknown>},
    {"torch.distributions.Uniform", "low, high, validate_args=None", by_two, sample<false, Dtype::unknown>,
        sample<true, Dtype::unknown>},
    {"torch.distributions.Beta", "concentration1, concentration0, validate_args=None", by_two,
        sample<false, Dtype::unknown>, sample<true, Dtype::unknown>},
    {"torch.distributions.Gamma", "concentration, rate, validate_args=None", by_two,
        sample<false, Dtype::unknown>, sample<true, Dtype::unknown>},
};

std::string_view lasting(std::string text) {
  static std::deque<std::string> texts;  // rows hold views of them as long as the process
  return texts.emplace_back(std::move(text));
}

}  // namespace

std::vector<Row> distribution_rows() {
  using enum RowKind;
  std::vector<Row> rows;
  for (const Named& each : distributions) {
    const auto path = [&](std::string_view member) {
      return lasting(std::string(each.path) + "." + std::string(member));
    };
    rows.push_back(row(each.path, class_, each.signature, each.make));
    rows.push_back(row(path("sample"), method, "sample_shape=None", each.draw));
    if (each.draw_with_gradient)
      rows.push_back(row(path("rsample"), method, "sample_shape=None", each.draw_with_gradient));
    rows.push_back(row(path("log_prob"), method, "value", log_probability));
    rows.push_back(row(path("entropy"), method, "", entropy));
    for (const std::string_view name : {"mean", "stddev", "variance"})
      rows.push_back(row(path(name), property, "", like_batch<>));
    rows.push_back(row(path("mode"), property, "", each.mode));
  }
  return rows;
}

}  // namespace stepzero::libraries
