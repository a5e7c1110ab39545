// What the families of layers share. See layer.hpp.
#include "libraries/torch/nn/layer.hpp"
#include "interpreter/record.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::libraries {

Value setting(const Op& op, std::string_view name) {
  return op.call.self.is(Kind::instance) ? op.kept(name) : op.argument(name);
}

// A program may have put a weight in the place of the layer's own of which not even the dimensions are known.
bool has_unknown_weight(const Op& op) {
  const Value weight = op.kept("weight");
  const TensorState* state = weight ? op.tensor(weight) : nullptr;
  return weight && (!state || !state->shape.ndim_known);
}

Dim setting_dim(const Op& op, std::string_view name) {
  if (has_unknown_weight(op)) return {};
  const Value value = setting(op, name);
  const Int size = value.is(Kind::integer) || value.is(Kind::unknown) ? op.run.to_int(value) : nullptr;
  if (auto* given = size && value.is(Kind::unknown) ? value.as<values::Unknown>() : nullptr;
      given && !given->attributes.find(Name(values::UnknownState::size)))
    op.run.heap().set(op.run.heap().slot_of(given->attributes, Name(values::UnknownState::size)),
        op.run.heap().boolean(true));
  return size ? known_dim(op.run, size, op.born(), name) : Dim{};
}
std::optional<std::string_view> setting_text(const Op& op, std::string_view name) {
  const Value value = setting(op, name);
  return value.is(Kind::string) ? std::optional(value.text()) : std::nullopt;
}
Known setting_flag(const Op& op, std::string_view name) {
  const Value value = setting(op, name);
  if (!value) return Known::no;
  const Answer answer = op.s.decide(op.run.truth(value));
  return answer == Answer::yes ? Known::yes : answer == Answer::no ? Known::no : Known::unknown;
}
std::optional<std::vector<Int>> setting_axes(const Op& op, std::string_view name, std::size_t count) {
  const Value value = setting(op, name);
  // An unknown may be one number or one for each axis; a default that is a number tells.
  if (value.is(Kind::unknown) && value.as<values::Unknown>()->default_value.is(Kind::integer)) {
    const Int one = op.run.to_int(value);
    return one ? std::optional(std::vector<Int>(count, one)) : std::nullopt;
  }
  return value ? op.per_axis(value, count) : std::nullopt;
}

bool less(const Op& op, Int a, Int b) { return a && b && op.s.compare(Compare::lt, a, b) == Answer::yes; }
bool less_than(const Op& op, Int a, std::int64_t b) { return less(op, a, op.s.constant(b)); }

// ---------------------------------------------------------------- dtypes

bool are_positive(Op& op, std::initializer_list<std::string_view> settings) {
  for (const std::string_view name : settings)
    if (const Dim number = setting_dim(op, name); number.size && less_than(op, number.size, 1)) {
      op.refuse_value(name, 1, {}, number);
      return false;
    }
  return true;
}

bool in_autocast(const Op& op) { return op.run.casting(); }

namespace {
Dtype declared_dtype(const Op& op, bool surely) {
  if (const Value changed = op.kept(values::ModuleState::dtype); changed.is(Kind::dtype))
    return to_dtype(changed);
  if (const Value given = op.kept("dtype")) return to_dtype(given);
  // A model that nobody makes here may be converted by whoever makes it.
  if (surely && op.run.of_any_use()) return Dtype::unknown;
  if (!op.run.default_dtype_set()) return Dtype::float32;
  // It is that of the moment in which the weights are made.
  if (op.call.row.kind == RowKind::class_) return op.run.default_dtype();
  const TensorState* weight = op.tensor(op.kept("weight"));
  return weight ? weight->dtype : Dtype::unknown;
}
// A program may have put other numbers in the place of the weights: `layer.weight.data = …`.
Dtype unless_replaced(const Op& op, Dtype declared) {
  const TensorState* weight = op.tensor(op.kept("weight"));
  return weight && weight->dtype != declared ? Dtype::unknown : declared;
}
}  // namespace

Dtype weights_dtype(const Op& op) {
  return op.call.self.is(Kind::instance) ? unless_replaced(op, declared_dtype(op, true)) : Dtype::unknown;
}
Dtype made_dtype(const Op& op) { return unless_replaced(op, declared_dtype(op, false)); }
bool fits_weights(Op& op, std::string_view input) {
  const TensorState* state = op.tensor(input);
  if (!state || state->dtype == Dtype::unknown) return true;
  const Dtype weights = weights_dtype(op);
  if (state->dtype == Dtype::complex64 || state->dtype == Dtype::complex128) {
    if (!values::is_floating(weights)) return true;
    op.fail(ProblemKind::dtype, interpreter::OtherWeights{op.taker(), weights, op.name(input), state->dtype});
    op.suggest_append(input, ".abs()", false);
    return false;
  }
  if (values::is_floating(state->dtype)) {
    if (weights == Dtype::unknown || weights == state->dtype || in_autocast(op) ||
        !values::is_floating(weights))
      return true;
    op.fail(ProblemKind::dtype, interpreter::OtherWeights{op.taker(), weights, op.name(input), state->dtype});
    op.suggest_append(input,
        weights == Dtype::float32       ? ".float()"
            : weights == Dtype::float64 ? ".double()"
            : weights == Dtype::float16 ? ".half()"
                                        : ".bfloat16()",
        weights == Dtype::float32);
    return false;
  }
  if (weights != Dtype::unknown && !values::is_floating(weights)) return true;
  op.fail(ProblemKind::dtype, interpreter::OtherWeights{op.taker(), weights, op.name(input), state->dtype});
  if (weights == Dtype::float32) op.suggest_append(input, ".float()", true);
  return false;
}

bool takes_floats(Op& op, std::string_view input) {
  const TensorState* state = op.tensor(input);
  if (!state || state->dtype == Dtype::unknown || values::is_floating(state->dtype) ||
      state->dtype == Dtype::complex64 || state->dtype == Dtype::complex128)
    return true;
  op.refuse_dtype(DtypeNeed::floats, input);
  // What a loss is given may as well be its target.
  op.suggest_append(input, ".float()", !(op.call.row.loss && input == "input"));
  return false;
}

// ---------------------------------------------------------------- what arrives

const TensorState* take_usual(Op& op, std::string_view name, std::span<const std::string_view> sizes) {
  const TensorState* state = op.expect(name);
  if (!state || !op.run.policy().usual_ndim || op.run.guarded() || state->shape.dims.size() > sizes.size())
    return state;
  if (!state->shape.ndim_known) {
    Shape usual = state->shape;
    usual.ndim_known = true;
    usual.dims.insert(usual.dims.begin(), sizes.size() - usual.dims.size(), Dim{});
    op.learn(name, usual);
    state = op.tensor(name);
  }
  if (state->shape.dims.size() != sizes.size() ||
      std::all_of(
          state->shape.dims.begin(), state->shape.dims.end(), [](const Dim& dim) { return dim.size; }))
    return state;
  Shape named = state->shape;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (!named.dims[i].size && !sizes[i].empty()) named.dims[i].size = op.run.stand_in(sizes[i]);
  op.learn(name, named);
  return op.tensor(name);
}

const TensorState* spatial_input(Op& op, std::string_view name, std::size_t spatial, const Dim& channels) {
  static constexpr std::string_view line[] = {"N", "", "L"}, image[] = {"N", "", "H", "W"},
                                    volume[] = {"N", "", "D", "H", "W"};
  const auto usual = spatial == 1 ? std::span<const std::string_view>(line)
      : spatial == 2              ? std::span<const std::string_view>(image)
                                  : std::span<const std::string_view>(volume);
  const TensorState* state = take_usual(op, name, usual);
  if (!state) return nullptr;
  // With a batch: it takes no more dimensions than that.
  if (!state->shape.ndim_known && state->shape.dims.size() == spatial + 2) {
    Shape whole = state->shape;
    whole.ndim_known = true;
    op.learn(name, whole);
    state = op.tensor(name);
  }
  const Shape& shape = state->shape;
  if (shape.ndim_known ? shape.dims.size() != spatial + 1 && shape.dims.size() != spatial + 2
                       : shape.dims.size() > spatial + 2) {
    std::string form = (channels.size ? op.words(channels) : "C");
    for (const std::string_view axis : {"D", "H", "W"})
      if (spatial == 3 || (spatial == 2 && axis != "D")) form += ", " + std::string(axis);
    if (spatial == 1) form += ", L";
    op.fail(ProblemKind::layer_input,
        interpreter::WrongLayout{op.taker(), {"[N, " + form + "]", "[" + form + "]"}, op.name(name), shape},
        {channels});
    return nullptr;
  }
  const Dim arrives = from_right(shape, spatial);
  if (channels.size && op.never_equal(arrives, channels)) {
    op.fail(ProblemKind::layer_input,
        interpreter::WrongSize{op.taker(), "channels", channels, op.name(name), arrives, shape},
        {channels, arrives});
    // Channels that come last are moved; else the layer was made for others.
    if (spatial == 2 && shape.ndim_known && shape.dims.size() == 4 &&
        op.equal(shape.dims[3], channels) == Answer::yes)
      op.suggest_append(name, ".permute(0, 3, 1, 2)", false,
          "Move the channels of " + op.plain_name(name) + " after the batch");
    else if (const Int groups = op.kept_size("groups"); groups && op.s.value(groups) == 1)
      op.suggest_constructor("in_channels", arrives);
    return nullptr;
  }
  if (!arrives.size) {
    std::vector<Dim> last(spatial + 1);
    last[0] = channels;
    op.learn_last(name, last);
    state = op.tensor(name);
  } else if (channels.size) {
    op.must_equal(arrives, channels);
  }
  return state;
}

const TensorState* ranked_input(Op& op, std::string_view name, std::span<const std::size_t> ranks) {
  const TensorState* state = op.expect(name);
  if (!state) return nullptr;
  const std::size_t size = state->shape.dims.size();
  const bool fits = std::any_of(ranks.begin(), ranks.end(),
      [&](std::size_t rank) { return state->shape.ndim_known ? size == rank : size <= rank; });
  if (fits) return state;
  const auto [least, most] = std::ranges::minmax(ranks);
  op.refuse_shape(
      ProblemKind::layer_input, ShapeNeed::between(static_cast<int>(least), static_cast<int>(most)), name);
  return nullptr;
}

Shape with_last(const Shape& shape, std::span<const Dim> last) {
  Shape made = shape;
  while (!made.ndim_known && made.dims.size() < last.size()) made.dims.insert(made.dims.begin(), Dim{});
  if (made.dims.size() < last.size()) return {};
  std::copy(last.begin(), last.end(), made.dims.end() - static_cast<std::ptrdiff_t>(last.size()));
  return made;
}

// ---------------------------------------------------------------- rows

std::vector<Row> rows_of(std::span<const Layer> layers, std::span<const Operator> operators) {
  std::vector<Row> rows = rows_of_layers(layers);
  for (Row& made : operator_rows(operators)) rows.push_back(std::move(made));
  return rows;
}

std::vector<Row> nn_rows() {
  constexpr std::string_view nn = "PyTorch documentation of torch.nn";
  constexpr Family families[] = {
      {convolution_rows, nn, false, true},
      {pooling_rows, nn},
      {norm_rows, nn, false, true},
      {linear_rows, nn, false, true},
      {activation_rows, nn, false, true},
      {resizing_rows, nn},
      {window_rows, nn},
      {attention_rows, nn, false, true},
      {loss_rows, nn, false, true},
      {recurrent_rows, "PyTorch documentation of torch.nn and torch.nn.utils.rnn", false, true},
      {data_rows, "PyTorch documentation of torch.utils.data"},
      {conversion_rows, "PyTorch documentation of torch.nn.Module and torch.nn.utils"},
  };
  return rows_of_families(families);
}

}  // namespace stepzero::libraries
