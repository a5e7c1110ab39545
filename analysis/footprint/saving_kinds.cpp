#include "footprint/saving_kinds.hpp"

#include "footprint/contraction.hpp"
#include "footprint/gradients.hpp"

#include "footprint/reparametrized.hpp"
#include "footprint/strides.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::footprint {

using values::Kind;

const TensorState* Keeper::tensor(std::string_view parameter) const {
  if (const TensorState* given = footprint::operand(made, parameter)) return given;
  const Instance* layer = layer_of(made);
  const Value own = layer ? attribute(graph.record(), *layer, parameter) : Value{};
  return own.is(Kind::tensor) ? own.as<values::Tensor>()->now() : nullptr;
}

std::vector<const TensorState*> Keeper::tensors() const {
  std::vector<const TensorState*> found;
  for (const auto* list : {&made.listed, &made.states})
    for (const TensorState* state : *list)
      if (state && std::ranges::find(found, state) == found.end()) found.push_back(state);
  return found;
}

bool Keeper::any_requires_grad(std::string_view parameters) const {
  while (!parameters.empty()) {
    const auto bar = parameters.find('|');
    const TensorState* state = tensor(parameters.substr(0, bar));
    if (state && graph.requires_grad(*state)) return true;
    parameters = bar == std::string_view::npos ? std::string_view{} : parameters.substr(bar + 1);
  }
  return false;
}

std::optional<double> Keeper::number(std::string_view parameter) const {
  const Value value = option(parameter);
  if (value.is(Kind::real)) return value.real();
  if (value.is(Kind::integer))
    if (const auto known = s.value(value.integer())) return static_cast<double>(*known);
  return std::nullopt;
}
bool Keeper::flag(std::string_view parameter) const {
  const Value value = option(parameter);
  return value.is(Kind::boolean) && s.decide(value.condition()) == symbolic::Answer::yes;
}
Int Keeper::size(std::string_view parameter) const {
  const Value value = option(parameter);
  return value.is(Kind::integer) ? value.integer() : nullptr;
}

void Keeper::extra(Int count, Dtype dtype, std::string_view what) {
  Saved saved{{&made, first_extra + extras_++}, {}, what};
  const int width = values::width(dtype);
  saved.bytes.add(s, count && width ? s.mul(count, s.constant(width)) : nullptr);
  into_.kept.push_back(std::move(saved));
}

void Keeper::keep(const TensorState& state) {
  const Casts casts = casts_of(name, device);
  const Dtype own = dtype(state);
  const bool half = is_half(dtype()), was_half = is_half(own);
  const Held* held = graph.held(state);
  if ((casts == Casts::lower && half && own == Dtype::float32) ||
      (casts == Casts::higher && was_half && dtype() == Dtype::float32)) {
    // Autocast keeps what it made of a parameter for all its uses.
    if (held) {
      Saved saved{
          {held->copies > 1 ? static_cast<const void*>(&made) : held->tensor, static_cast<int>(dtype()) + 1},
          {}, "cast of a parameter"};
      saved.bytes.add(s, bytes_of(s, state.shape, dtype()));
      into_.kept.push_back(std::move(saved));
    } else {
      extra(elements(s, state.shape), dtype(), "cast");
    }
    return;
  }
  keep_as_is(state);
}
void Keeper::keep_as_is(const TensorState& state) {
  const Held* held = graph.held(state);
  Saved saved{graph.storage(state), {}, "input", held};
  if (!held) saved.bytes.add(s, graph.bytes(graph.base(state)));
  into_.kept.push_back(std::move(saved));
}

void Keeper::keep_result(const TensorState& state) {
  Saved saved{graph.storage(state), {}, "result", graph.held(state)};
  saved.bytes.add(s, graph.bytes(graph.base(state)));
  into_.kept.push_back(std::move(saved));
}

void Keeper::operand(std::string_view parameter) {
  const TensorState* state = tensor(parameter);
  if (!state) return;
  // One that is computed in each forward is nobody else's.
  if (const Instance* layer = layer_of(made); layer && parameter == "weight")
    if (const auto computed = computed_weight(graph.record(), *layer)) {
      extra(elements(s, state->shape),
          casts_of(name, device) == Casts::lower && is_half(dtype()) ? dtype() : dtype(*state),
          "computed weight");
      if (!computed->weight) unknown();
      return;
    }
  // What is written over is copied first.
  const bool writes = made.row->variant != values::Variant::plain || flag("inplace");
  if (writes && state == first())
    extra(elements(s, state->shape), dtype(*state), "copy");
  else
    keep(*state);
}

void Keeper::keep_extras(const Saving& of, std::string_view what) {
  if (!of.known) unknown();
  for (const Saved& each : of.kept)
    if (each.storage.part >= first_extra && each.what.starts_with(what)) into_.kept.push_back(each);
}

void Keeper::computing_of_weight() {
  const Instance* layer = layer_of(made);
  const auto computed = layer ? computed_weight(graph.record(), *layer) : std::nullopt;
  if (!computed) return;
  if (!computed->weight) return unknown();
  const TensorState& weight = *computed->weight->now();
  if (!graph.requires_grad(weight)) return;
  if (computed->lengths) extra(elements(s, *computed->lengths), dtype(weight), "lengths of the weight");
  if (!computed->rows) return;
  // In training the vectors go on, and copies are kept.
  if (!is_evaluated(graph.record(), made))
    for (const Int size : {computed->rows, computed->columns}) extra(size, dtype(weight), "singular vector");
  extra(s.constant(1), dtype(weight), "singular value");
}

namespace {

// A product of batches of matrices sees each operand as one row of matrices, as many as the result has. How
// many numbers the copy has that it makes where there is no such view; nullopt: there is one.
std::optional<Int> copied_for_batches(const Keeper& keeper, const TensorState& state) {
  const auto &own = state.shape.dims, &all = keeper.result().shape.dims;
  if (!state.shape.ndim_known || own.size() < 3 || own.size() > all.size()) return std::nullopt;
  symbolic::Context& s = keeper.s;
  const std::vector<Int> strides = strides_of(keeper.graph.record(), state, keeper.device);
  if (strides.size() != own.size()) return std::nullopt;
  Shape spread{true, {}}, rows{true, {}};
  std::vector<Int> steps;
  Int count = s.constant(1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_batch = i + 2 < all.size(), is_own = i + own.size() >= all.size();
    const std::size_t at = i + own.size() - all.size();
    const bool repeats = is_batch && (!is_own || (own[at].size && s.value(own[at].size) == 1));
    spread.dims.push_back(is_batch ? all[i] : own[at]);
    steps.push_back(repeats ? s.constant(0) : strides[at]);
    if (is_batch) count = count && all[i].size ? s.mul(count, all[i].size) : nullptr;
  }
  rows.dims = {{count, nullptr, nullptr}, own[own.size() - 2], own[own.size() - 1]};
  if (strides_of_view(s, spread, steps, rows)) return std::nullopt;
  return elements(s, rows);
}

// Of a product of matrices: those whose factor needs a gradient. Rows of matrices that cannot be seen as one
// are copied.
void keep_operands(Keeper& keeper) {
  const auto all = keeper.tensors();
  const std::size_t batches = keeper.result().shape.ndim_known ? keeper.result().shape.dims.size() : 0;
  for (const TensorState* state : all) {
    const bool wanted = std::ranges::any_of(all, [&](const TensorState* other) {
      return (other != state || all.size() == 1) && keeper.graph.requires_grad(*other);
    });
    if (!wanted) continue;
    if (keeper.name == "matmul" && batches >= 4)
      if (const auto copied = copied_for_batches(keeper, *state)) {
        keeper.extra(*copied, keeper.dtype(), "copy");
        continue;
      }
    keeper.keep(*state);
  }
}

// An operand of a contraction: of the letters, with their sizes, where they lie in memory.
struct Contracted {
  const TensorState* state = nullptr;  // null: what the contraction before gave
  std::string letters;
  std::vector<values::Dim> dims;
  std::vector<Int> strides;
  bool requires_grad = false;
};

// at::einsum multiplies batches of matrices: the letters of both operands that are kept, those of one, and
// those that are summed. An operand that is no view of such a batch is copied, and the copy is kept.
bool is_copied(Keeper& keeper, const Contracted& operand, const Contraction& of, bool is_right) {
  const std::string &own = operand.letters, &other = is_right ? of.left : of.right;
  if (operand.dims.size() != own.size() || operand.strides.size() != own.size()) return false;
  std::string both, alone, summed;
  for (const char letter : of.result)
    if (own.find(letter) != std::string::npos)
      (other.find(letter) != std::string::npos ? both : alone) += letter;
  for (const char letter : own)
    if (of.result.find(letter) == std::string::npos) summed += letter;
  std::ranges::sort(summed);
  Shape from{true, {}}, as{true, {}};
  std::vector<Int> steps;
  if (is_right) std::swap(alone, summed);
  for (const std::string* part : {&both, &alone, &summed}) {
    Int count = keeper.s.constant(1);
    for (const char letter : *part) {
      const std::size_t axis = own.find(letter);
      from.dims.push_back(operand.dims[axis]);
      steps.push_back(operand.strides[axis]);
      const Int size = operand.dims[axis].size;
      count = count && size ? keeper.s.mul(count, size) : nullptr;
    }
    as.dims.push_back({count, nullptr, nullptr});
  }
  return !strides_of_view(keeper.s, from, steps, as).has_value();
}

// What a contraction gives lies in the order of its parts: letters of both, of the left, of the right.
Contracted result_of(Keeper& keeper, const Contracted& left, const Contracted& right, const Contraction& of) {
  Contracted made;
  made.letters = of.result;
  made.requires_grad = left.requires_grad || right.requires_grad;
  for (const char letter : of.result) {
    const std::size_t at = left.letters.find(letter);
    made.dims.push_back(at != std::string::npos ? left.dims[at] : right.dims[right.letters.find(letter)]);
  }
  Int step = keeper.s.constant(1);
  made.strides.resize(made.dims.size());
  for (std::size_t i = made.dims.size(); i-- > 0;) {
    made.strides[i] = step;
    step = step && made.dims[i].size ? keeper.s.mul(step, made.dims[i].size) : nullptr;
  }
  return made;
}

void keep_contracted(Keeper& keeper) {
  const auto all = keeper.tensors();
  const Value given = keeper.option("equation");
  const auto contractions = given.is(Kind::string) ? contractions_of(given.text()) : std::nullopt;
  if (!contractions || contractions->size() + 1 != all.size()) {
    if (all.size() > 2) keeper.unknown();
    return keep_operands(keeper);
  }
  const auto operand = [&](std::size_t i, const std::string& letters) {
    const TensorState& state = *all[i];
    Contracted made{&state, letters, {}, {}, keeper.graph.requires_grad(state)};
    if (state.shape.ndim_known && state.shape.dims.size() == letters.size()) {
      made.dims = state.shape.dims;
      made.strides = strides_of(keeper.graph.record(), state, keeper.device);
    }
    return made;
  };
  Contracted left = operand(0, contractions->front().left);
  for (std::size_t i = 0; i < contractions->size(); ++i) {
    const Contraction& of = (*contractions)[i];
    const Contracted right = operand(i + 1, of.right);
    const auto keep = [&](const Contracted& each, bool is_right) {
      Shape shape{true, each.dims};
      if (!each.state)
        keeper.extra(elements(keeper.s, shape), keeper.dtype(), "between two operands");
      else if (is_copied(keeper, each, of, is_right))
        keeper.extra(elements(keeper.s, each.state->shape), keeper.dtype(), "copy");
      else
        keeper.keep(*each.state);
    };
    if (right.requires_grad) keep(left, false);
    if (left.requires_grad) keep(right, true);
    if (i + 1 == contractions->size()) break;
    if (left.dims.size() != of.left.size() || right.dims.size() != of.right.size()) return keeper.unknown();
    left = result_of(keeper, left, right, of);
  }
}

void keep_result(Keeper& keeper) { keeper.keep_result(keeper.result()); }
void keep_either(Keeper& keeper) {
  if (const TensorState* state = keeper.first()) keeper.keep(*state);
}
void keep_copy(Keeper& keeper) {
  keeper.extra(elements(keeper.s, keeper.result().shape), keeper.dtype(), "copy");
}
void keep_noise(Keeper& keeper) {
  keeper.extra(elements(keeper.s, keeper.result().shape),
      keeper.device == Device::cuda ? Dtype::boolean : keeper.dtype(), "mask");
}
void keep_feature_noise(Keeper& keeper) {
  const Shape& shape = keeper.result().shape;
  const Int count = shape.ndim_known && shape.dims.size() >= 2 && shape.dims[0].size && shape.dims[1].size
      ? keeper.s.mul(shape.dims[0].size, shape.dims[1].size)
      : nullptr;
  keeper.extra(count, keeper.dtype(), "mask");
}
void keep_indices(Keeper& keeper) {
  // Where the program has them they are the second result. No gradient goes through them, so that they need
  // not be among the results here: who takes them has them.
  for (const TensorState* result : keeper.node.results)
    if (result->made->part == 1) return keeper.keep_result(*result);
  if (const TensorState* taken = keeper.graph.other_result(keeper.made, 1)) return keeper.keep_result(*taken);
  keeper.extra(elements(keeper.s, keeper.result().shape), Dtype::int64, "indices");
}

Dtype statistics(const Keeper& keeper) {
  return keeper.dtype() == Dtype::float64 ? Dtype::float64 : Dtype::float32;
}
// On the CPU those of a layer that is half as wide in all its parts are as wide as its numbers.
Dtype statistics_of_layer(const Keeper& keeper) {
  const TensorState* weight = keeper.tensor("weight");
  return keeper.device == Device::cpu && is_half(keeper.dtype()) &&
          (!weight || keeper.dtype(*weight) == keeper.dtype())
      ? keeper.dtype()
      : statistics(keeper);
}
Int leading(Keeper& keeper, std::size_t last) {
  const TensorState* input = keeper.first();
  if (!input || !input->shape.ndim_known || input->shape.dims.size() < last) return nullptr;
  Shape shape = input->shape;
  shape.dims.resize(shape.dims.size() - last);
  return elements(keeper.s, shape);
}
std::size_t normalized(const Keeper& keeper) {
  const Value given = keeper.option("normalized_shape");
  return given.is(Kind::tuple) ? given.as<values::Tuple>()->items.size()
      : given.is(Kind::list)   ? values::Heap::list_state(given)->items.size()
                               : 1;
}
void keep_rows(Keeper& keeper) {
  for (const char* what : {"mean", "deviation"})
    keeper.extra(leading(keeper, normalized(keeper)), statistics_of_layer(keeper), what);
}
void keep_upcast(Keeper& keeper) {
  const TensorState* input = keeper.first();
  if (!input || !keeper.result().cast_by || keeper.device != Device::cuda || !is_half(keeper.dtype(*input)))
    return keeper.operand("input");
  for (const char* what : {"input in float32", "normalized input in float32"})
    keeper.extra(elements(keeper.s, input->shape), Dtype::float32, what);
}
void keep_row(Keeper& keeper) {
  const TensorState* input = keeper.first();
  if (!input) return keeper.unknown();
  const bool by_parts = keeper.device == Device::cpu, reaches_input = keeper.graph.requires_grad(*input);
  if (reaches_input || !by_parts) keep_upcast(keeper);
  keeper.operand("weight");
  // On the CPU it is put together from other operators, and the weight's gradient needs what it multiplies.
  if (by_parts && keeper.tensor("weight"))
    keeper.extra(elements(keeper.s, keeper.result().shape), keeper.dtype(), "normalized");
  if (reaches_input || !by_parts)
    keeper.extra(leading(keeper, normalized(keeper)), statistics(keeper), "deviation");
}
void keep_lengths(Keeper& keeper) {
  const TensorState* input = keeper.first();
  const auto given = keeper.number("dim");
  const auto rank = input && input->shape.ndim_known ? static_cast<std::int64_t>(input->shape.dims.size())
                                                     : 0;
  std::int64_t at = given ? static_cast<std::int64_t>(*given) : rank;
  if (at < 0) at += rank;
  if (at < 0 || at >= rank) return keeper.unknown();
  Shape shape = input->shape;
  shape.dims.erase(shape.dims.begin() + at);
  keeper.extra(elements(keeper.s, shape), keeper.dtype(), "lengths");
}
Int dim(const Keeper& keeper, std::size_t at) {
  const TensorState* input = keeper.first();
  return input && input->shape.ndim_known && input->shape.dims.size() > at ? input->shape.dims[at].size
                                                                           : nullptr;
}
void keep_channels(Keeper& keeper) {
  if (layer_of(keeper.made) ? is_evaluated(keeper.graph.record(), keeper.made) : !keeper.flag("training"))
    return;
  for (const char* what : {"mean", "deviation"})
    keeper.extra(dim(keeper, 1), statistics_of_layer(keeper), what);
}
void keep_groups(Keeper& keeper) {
  const Int rows = dim(keeper, 0), groups = keeper.size("num_groups");
  for (const char* what : {"mean", "deviation"})
    keeper.extra(rows && groups ? keeper.s.mul(rows, groups) : nullptr, statistics_of_layer(keeper), what);
}
void keep_instances(Keeper& keeper) {
  const Int rows = dim(keeper, 0), channels = dim(keeper, 1);
  const Int count = rows && channels ? keeper.s.mul(rows, channels) : nullptr;
  for (const char* what : {"mean", "deviation"}) keeper.extra(count, statistics_of_layer(keeper), what);
  if (keeper.tensor("weight")) keeper.extra(count, keeper.dtype(), "weight for each instance");
  for (const char* what : {"running_mean", "running_var"})
    if (keeper.tensor(what)) keeper.extra(count, keeper.dtype(*keeper.tensor(what)), what);
}
void keep_rows_of_input(Keeper& keeper) {
  if (const TensorState* input = keeper.tensor("input")) keep_as_rows(keeper, *input);
}
void keep_power(Keeper& keeper) {
  const TensorState *base = keeper.tensor("input"), *exponent = keeper.tensor("exponent");
  if (base) keeper.operand("input");
  if (!exponent) return;
  keeper.keep(*exponent);
  if (keeper.graph.requires_grad(*exponent)) keeper.keep_result(keeper.result());
}
void keep_extreme(Keeper& keeper) {
  if (const TensorState* other = keeper.tensor("other")) {
    keeper.operand("input");
    keeper.keep(*other);
  } else if (keeper.option("dim")) {
    keep_indices(keeper);
  } else {
    keeper.operand("input");
    keeper.keep_result(keeper.result());
  }
}
// Of the input along which the quantile lies: where each of its numbers came from, the numbers in order, and
// for each result its two neighbors and the way between them.
void keep_quantile(Keeper& keeper) {
  const TensorState* input = keeper.first();
  const Value way = keeper.option("interpolation");
  if (!input || (way.is(Kind::string) && way.text() != "linear")) return keeper.unknown();
  const Int numbers = elements(keeper.s, input->shape), found = elements(keeper.s, keeper.result().shape);
  keeper.extra(numbers, Dtype::int64, "indices");
  keeper.extra(numbers, keeper.dtype(), "in order");
  for (const char* what : {"index below", "index above"}) keeper.extra(found, Dtype::int64, what);
  keeper.extra(found, keeper.dtype(), "way between");
}
// After reflection and replication the input is asked for its size.
void keep_padded(Keeper& keeper) {
  const Value mode = keeper.option("mode");
  if (mode.is(Kind::string) && (mode.text() == "reflect" || mode.text() == "replicate"))
    keeper.operand("input");
}
// Real numbers are kept, complex ones are not asked for.
void keep_if_real(Keeper& keeper) {
  if (const TensorState* input = keeper.first(); input && values::is_floating(keeper.dtype(*input)))
    keeper.keep(*input);
}
// What is drawn is added in front of a softmax; one-hot numbers take its place in the result only.
void keep_drawn(Keeper& keeper) {
  if (keeper.flag("hard"))
    keep_copy(keeper);
  else
    keep_result(keeper);
}
void keep_index(Keeper& keeper) {
  const auto all = keeper.tensors();
  const TensorState* written = keeper.tensor("values");
  for (const TensorState* state : all)
    if (state != keeper.first() && state != written && state->dtype != Dtype::unknown &&
        !values::is_floating(state->dtype)) {
      if (state->dtype == Dtype::boolean)
        keeper.unknown();  // as many indices as there are true ones
      else
        keeper.keep(*state);
    }
}
void keep_unless_mean(Keeper& keeper) {
  const Shape& shape = keeper.result().shape;
  const std::size_t axes = keeper.name.find("1d") != std::string_view::npos ? 1
      : keeper.name.find("2d") != std::string_view::npos                    ? 2
                                                                            : 3;
  bool mean = shape.ndim_known && shape.dims.size() > axes;
  for (std::size_t i = 0; mean && i < axes; ++i)
    mean = shape.dims[shape.dims.size() - 1 - i].size &&
        keeper.s.value(shape.dims[shape.dims.size() - 1 - i].size) == 1;
  if (!mean) keeper.operand("input");
}
void keep_region(Keeper& keeper) {
  for (const TensorState* state : keeper.made.states)
    if (state) keeper.keep(*state);
}

void keep_own(Keeper& keeper) {
  if (!is_own_function(keeper.made) || keeper.made.arguments.empty()) return keeper.unknown();
  for (const TensorState* state : keeper.made.listed)
    if (state)
      keeper.keep(*state);
    else
      keeper.keep_result(keeper.result());
}

void keep_numbers_of(Keeper& keeper, std::string_view what) {
  const TensorState* forward = Gradients::of(keeper.graph.record()).forward_of(keeper.made);
  if (!forward || !forward->made) return keeper.unknown();
  keeper.keep_extras(saved_by(keeper.graph, Node{forward->made, {forward}, {}, false}, keeper.device), what);
}
// What the forward keeps besides tensors that it was given.
void keep_numbers(Keeper& keeper) { keep_numbers_of(keeper, ""); }
void keep_bools(Keeper& keeper) {
  keeper.extra(elements(keeper.s, keeper.result().shape), Dtype::boolean, "mask");
}
void keep_logarithms(Keeper& keeper) { keep_numbers_of(keeper, "logarithms"); }

constexpr SpecialKind kinds[] = {
    {"numbers", keep_numbers},
    {"logarithms", keep_logarithms},
    {"bools", keep_bools},
    {"own", keep_own},
    {"operands", keep_operands},
    {"contracted", keep_contracted},
    {"result", keep_result},
    {"either", keep_either},
    {"copy", keep_copy},
    {"another", keep_another},
    {"convolved", keep_convolved},
    {"across", keep_across_channels},
    {"bags", keep_bags},
    {"powers", keep_powers},
    {"factors", keep_factors},
    {"sign", keep_sign},
    {"is_negative", keep_is_negative},
    {"eigenvectors", keep_eigenvectors},
    {"singular", keep_singular},
    {"orthogonal", keep_orthogonal},
    {"chain", keep_chain},
    {"frames", keep_frames},
    {"quantile", keep_quantile},
    {"padded", keep_padded},
    {"if_real", keep_if_real},
    {"drawn", keep_drawn},
    {"divergence", keep_divergence},
    {"alignments", keep_alignments},
    {"angle", keep_angle},
    {"variance", keep_variance},
    {"ones_of_targets", keep_ones_of_targets},
    {"distances", keep_distances},
    {"noise", keep_noise},
    {"feature_noise", keep_feature_noise},
    {"indices", keep_indices},
    {"lengths", keep_lengths},
    {"rows", keep_rows},
    {"row", keep_row},
    {"channels", keep_channels},
    {"groups", keep_groups},
    {"instances", keep_instances},
    {"logs", keep_logs},
    {"classes", keep_classes},
    {"difference", keep_difference},
    {"total", keep_total},
    {"rows_of_input", keep_rows_of_input},
    {"power", keep_power},
    {"extreme", keep_extreme},
    {"index", keep_index},
    {"unless_mean", keep_unless_mean},
    {"region", keep_region},
    {"attention", keep_attention},
    {"multihead", keep_multihead},
    {"recurrent", keep_recurrent},
    {"cell", keep_cell},
    {"built", keep_built},
};

}  // namespace

void keep_as_rows(Keeper& keeper, const TensorState& input) {
  const auto& dims = input.shape.dims;
  if (input.shape.ndim_known && dims.size() > 2) {
    Shape rows{true, {}};
    Int count = keeper.s.constant(1);
    for (std::size_t i = 0; i + 1 < dims.size(); ++i)
      count = count && dims[i].size ? keeper.s.mul(count, dims[i].size) : nullptr;
    rows.dims = {{count, nullptr, nullptr}, dims.back()};
    if (!can_be_viewed(keeper.graph.record(), input, rows, keeper.device))
      return keeper.extra(elements(keeper.s, input.shape), keeper.inner_dtype(), "copy");
  }
  keeper.keep(input);
}

std::span<const SpecialKind> special_kinds() { return kinds; }

}  // namespace stepzero::footprint
