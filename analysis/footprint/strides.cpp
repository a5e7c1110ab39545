#include "footprint/strides.hpp"

#include "libraries/table/names.hpp"
#include "values/strides.hpp"

#include <algorithm>

namespace stepzero::footprint {

using values::Kind;

namespace {

std::optional<std::size_t> axis(const Record& record, Value value, std::size_t rank) {
  value = decided(record, value);
  const auto at = value.is(Kind::integer) ? record.symbols.value(value.integer()) : std::nullopt;
  if (!at) return std::nullopt;
  const std::int64_t place = *at < 0 ? *at + static_cast<std::int64_t>(rank) : *at;
  return place >= 0 && place < static_cast<std::int64_t>(rank)
      ? std::optional(static_cast<std::size_t>(place))
      : std::nullopt;
}

// Dense, with two dimensions the other way around.
std::vector<Int> swapped(symbolic::Context& s, Shape shape, std::size_t a, std::size_t b) {
  std::swap(shape.dims[a], shape.dims[b]);
  std::vector<Int> strides = values::strides_in_order(s, shape);
  if (!strides.empty()) std::swap(strides[a], strides[b]);
  return strides;
}

bool is_recurrent(const Producer& made) {
  const std::string_view name = libraries::operator_name(*made.row);
  return name == "LSTM" || name == "GRU" || name == "RNN";
}
bool setting_is_on(const Record& record, const Producer& made, std::string_view name) {
  const Value flag = setting(record, made, name);
  return flag.is(Kind::boolean) && record.symbols.decide(flag.condition()) == symbolic::Answer::yes;
}

// Behind x[2, 1:, None, ...].
std::vector<Int> picked(const Record& record, const std::vector<Int>& strides, Value index) {
  symbolic::Context& s = record.symbols;
  index = decided(record, index);
  const std::vector<Value> items = index.is(Kind::tuple) ? index.as<values::Tuple>()->items
                                                         : std::vector{index};
  std::size_t named = 0;
  for (const Value& item : items)
    named += !decided(record, item).is(Kind::none) && !decided(record, item).is(Kind::ellipsis);
  std::vector<Int> made;
  std::size_t at = 0;
  for (const Value& each : items) {
    const Value item = decided(record, each);
    if (item.is(Kind::none))
      made.push_back(s.constant(1));
    else if (item.is(Kind::ellipsis))
      for (std::size_t left = strides.size() > named ? strides.size() - named : 0;
          left-- > 0 && at < strides.size();)
        made.push_back(strides[at++]);
    else if (at >= strides.size())
      return {};
    else if (item.is(Kind::slice)) {
      const Value step = decided(record, item.as<values::SliceObject>()->step);
      if (step && !step.is(Kind::none) && !step.is(Kind::integer)) return {};
      made.push_back(step.is(Kind::integer) ? s.mul(strides[at], step.integer()) : strides[at]);
      ++at;
    } else
      ++at;
  }
  while (at < strides.size()) made.push_back(strides[at++]);
  return made;
}

std::vector<Int> find(const Record& record, const TensorState& state, int depth);

// Operators that go through their operands element by element: their result lies in memory in the order of
// these.
constexpr std::string_view element_by_element =
    " relu ReLU sigmoid Sigmoid tanh Tanh exp expm1 exp2 sqrt rsqrt reciprocal gelu GELU silu SiLU mish Mish hardswish Hardswish hardsigmoid Hardsigmoid "
    "softplus Softplus log log2 log10 log1p sin cos abs square erf clamp clamp_min clamp_max hardtanh Hardtanh relu6 ReLU6 elu ELU celu CELU selu SELU "
    "leaky_relu LeakyReLU pow mul div add sub rsub neg addcmul addcdiv lerp maximum minimum where masked_fill dropout Dropout "
    "to type type_as float double half bfloat16 clone zeros_like ones_like empty_like full_like rand_like randn_like ";

bool is_element_by_element(std::string_view name) {
  const auto at = element_by_element.find(" " + std::string(name) + " ");
  return at != std::string_view::npos;
}

// Which of two dimensions lies closer together in the operands? As TensorIterator asks: the first operand
// that has an answer. Nullopt: it is not known.
std::optional<bool> lies_closer(symbolic::Context& s, const std::vector<std::vector<Int>>& operands,
    const Shape& shape, std::size_t a, std::size_t b) {
  for (const std::vector<Int>& strides : operands) {
    const Int x = strides[a], y = strides[b];
    if (s.value(x) == 0 || s.value(y) == 0) continue;
    if (x == y) {
      const auto sizes = s.compare(symbolic::Compare::gt, shape.dims[a].size, shape.dims[b].size);
      if (sizes == symbolic::Answer::unknown) return std::nullopt;
      if (sizes == symbolic::Answer::yes) return false;
      continue;
    }
    const auto less = s.compare(symbolic::Compare::lt, x, y);
    if (less == symbolic::Answer::unknown) return std::nullopt;
    return less == symbolic::Answer::yes;
  }
  return a > b;
}

// Dense, from the dimension that lies closest together in the operands to the one that lies farthest apart.
std::vector<Int> dense_as(
    symbolic::Context& s, const Shape& shape, const std::vector<std::vector<Int>>& operands) {
  const std::vector<Int> in_order = values::strides_in_order(s, shape);
  const std::size_t rank = shape.dims.size();
  if (in_order.size() != rank ||
      std::ranges::all_of(operands, [&](const auto& strides) { return strides == in_order; }))
    return in_order;
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  for (std::size_t i = 1; i < rank; ++i)
    for (std::size_t at = i; at > 0; --at) {
      const auto closer = lies_closer(s, operands, shape, order[at], order[at - 1]);
      if (!closer) return in_order;
      if (!*closer) break;
      std::swap(order[at], order[at - 1]);
    }
  std::vector<Int> strides(rank);
  Int step = s.constant(1);
  for (const std::size_t place : order) {
    strides[place] = step;
    step = s.mul(step, shape.dims[place].size);
  }
  return strides;
}

// As the operands of an operator lie that goes through them element by element.
std::vector<Int> of_operands(const Record& record, const TensorState& state, int depth) {
  symbolic::Context& s = record.symbols;
  const std::size_t rank = state.shape.dims.size();
  std::vector<std::vector<Int>> operands;
  for (const TensorState* each : state.made->states) {
    if (!each || !each->shape.rank_known || each->shape.dims.size() > rank) continue;
    const std::vector<Int> strides = find(record, *each, depth + 1);
    if (strides.size() != each->shape.dims.size()) return values::strides_in_order(s, state.shape);
    std::vector<Int> spread(rank - strides.size(), s.constant(0));
    for (std::size_t i = 0; i < strides.size(); ++i) {
      const Int size = each->shape.dims[i].size;
      spread.push_back(size && s.value(size) == 1 ? s.constant(0) : strides[i]);
    }
    operands.push_back(std::move(spread));
  }
  return dense_as(s, state.shape, operands);
}

std::vector<Int> behind_view(const Record& record, const TensorState& state, int depth);

std::vector<Int> find(const Record& record, const TensorState& state, int depth) {
  if (!state.shape.rank_known) return {};
  if (!state.strides.empty() && state.strides.size() == state.shape.dims.size()) return state.strides;
  if (state.made && state.shape.dims.size() == 4 &&
      libraries::operator_name(*state.made->row) == "scaled_dot_product_attention") {
    // The kernel of half precision gives back what lies as the query does.
    const TensorState* query = operand(*state.made, "query");
    if (query && (state.dtype == Dtype::float16 || state.dtype == Dtype::bfloat16))
      if (std::vector<Int> strides = find(record, *query, depth + 1); strides.size() == 4)
        return dense_as(record.symbols, state.shape, {strides});
    return swapped(record.symbols, state.shape, 1, 2);
  }
  if (state.made && state.shape.dims.size() == 3 && state.made->part == 0 && is_recurrent(*state.made) &&
      setting_is_on(record, *state.made, "batch_first"))
    return swapped(record.symbols, state.shape, 0, 1);
  if (!state.made || depth > 16) return values::strides_in_order(record.symbols, state.shape);
  if (shares_memory(record, *state.made, &state)) return behind_view(record, state, depth);
  return is_element_by_element(libraries::operator_name(*state.made->row))
      ? of_operands(record, state, depth)
      : values::strides_in_order(record.symbols, state.shape);
}

// Along dimensions that one element is repeated in, there is no step.
std::vector<Int> repeated(
    symbolic::Context& s, const Shape& from, const std::vector<Int>& strides, const Shape& to) {
  if (to.dims.size() < strides.size()) return {};
  const std::size_t more = to.dims.size() - strides.size();
  std::vector<Int> made(more, s.constant(0));
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const Int before = from.dims[i].size, now = to.dims[more + i].size;
    if (!before || !now) return {};
    made.push_back(before == now ? strides[i] : s.constant(0));
  }
  return made;
}

// Numbers that are given as one tuple, or one behind the other.
std::vector<Value> given_numbers(const Record& record, Value first, Value more) {
  first = decided(record, first);
  if (first.is(Kind::tuple)) return first.as<values::Tuple>()->items;
  if (first.is(Kind::list)) return values::Heap::list_state(first)->items;
  std::vector<Value> all{first};
  more = decided(record, more);
  if (more.is(Kind::tuple))
    all.insert(all.end(), more.as<values::Tuple>()->items.begin(), more.as<values::Tuple>()->items.end());
  return all;
}

std::vector<Int> permuted(
    const Record& record, const std::vector<Int>& strides, const std::vector<Value>& given) {
  std::vector<Int> made;
  for (const Value& each : given) {
    const auto at = axis(record, each, strides.size());
    if (!at) return {};
    made.push_back(strides[*at]);
  }
  return made;
}

std::vector<Int> behind_view(const Record& record, const TensorState& state, int depth) {
  const Producer& made = *state.made;
  const TensorState& from = *made.states[0];
  const std::string_view name = libraries::operator_name(*made.row);
  std::vector<Int> strides = find(record, from, depth + 1);
  const std::size_t rank = from.shape.dims.size();
  if (strides.size() != rank) return {};
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (is({"split", "unsafe_split", "split_with_sizes", "chunk", "tensor_split", "narrow", "detach", "data"}))
    return strides;
  if (is({"unbind", "select"})) {
    const auto at = argument(made, "dim") ? axis(record, argument(made, "dim"), rank)
                                          : std::optional<std::size_t>(0);
    if (!at) return {};
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(*at));
    return strides;
  }
  if (name == "transpose") {
    const auto a = axis(record, made.arguments.size() > 1 ? made.arguments[1] : Value{}, rank),
               b = axis(record, made.arguments.size() > 2 ? made.arguments[2] : Value{}, rank);
    if (!a || !b) return {};
    std::swap(strides[*a], strides[*b]);
    return strides;
  }
  if (is({"t", "T", "mT"}) && rank >= 2) {
    std::swap(strides[rank - 1], strides[rank - 2]);
    return name == "T" && rank > 2 ? std::vector<Int>{} : strides;
  }
  if (is({"expand", "expand_as", "broadcast_to"}))
    return repeated(record.symbols, from.shape, strides, state.shape);
  if (name == "permute") {
    std::vector<Int> made_so = permuted(
        record, strides, given_numbers(record, argument(made, "dims"), argument(made, "more")));
    return made_so.size() == rank ? made_so : std::vector<Int>{};
  }
  if (name == "unsqueeze") {
    const auto at = axis(record, argument(made, "dim"), rank + 1);
    if (!at) return {};
    strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(*at),
        *at < rank && from.shape.dims[*at].size ? record.symbols.mul(strides[*at], from.shape.dims[*at].size)
                                                : record.symbols.constant(1));
    return strides;
  }
  if (name == "squeeze") {
    std::vector<Int> left;
    const auto at = axis(record, argument(made, "dim"), rank);
    for (std::size_t i = 0; i < rank; ++i)
      if (at ? i != *at || state.shape.dims.size() == rank
             : !from.shape.dims[i].size || record.symbols.value(from.shape.dims[i].size) != 1)
        left.push_back(strides[i]);
    return left.size() == state.shape.dims.size() ? left : std::vector<Int>{};
  }
  if (name == "view_as_real") {
    for (Int& each : strides) each = record.symbols.mul(each, record.symbols.constant(2));
    strides.push_back(record.symbols.constant(1));
    return strides;
  }
  if (name == "__getitem__") {
    std::vector<Int> left = picked(record, strides, argument(made, "index"));
    return left.size() == state.shape.dims.size() ? left : std::vector<Int>{};
  }
  if (is({"view", "view_as", "reshape", "reshape_as", "flatten", "unflatten", "Flatten", "Unflatten",
          "ravel"}))
    return strides_of_view(record.symbols, from.shape, strides, state.shape).value_or(std::vector<Int>{});
  return {};
}

}  // namespace

std::vector<Int> strides_of(const Record& record, const TensorState& state) { return find(record, state, 0); }

std::optional<std::vector<Int>> strides_of_view(
    symbolic::Context& s, const Shape& from, const std::vector<Int>& strides, const Shape& as) {
  if (strides.size() != from.dims.size() || !from.rank_known || !as.rank_known) return std::vector<Int>{};
  std::vector<Int> made(as.dims.size());
  // Runs of dimensions that lie behind each other, from the last; each covers some of the new ones.
  std::size_t at = as.dims.size();
  Int base = nullptr, run = s.constant(1);
  for (std::size_t i = from.dims.size(); i-- > 0;) {
    if (!from.dims[i].size) return std::vector<Int>{};
    if (!base) base = strides[i];
    run = s.mul(run, from.dims[i].size);
    if (i > 0 && !from.dims[i - 1].size) return std::vector<Int>{};
    const bool ends = i == 0 || (s.value(from.dims[i - 1].size) != 1 && strides[i - 1] != s.mul(run, base));
    if (!ends) continue;
    Int covered = s.constant(1);
    while (at > 0 && (covered != run || s.value(as.dims[at - 1].size) == 1)) {
      if (!as.dims[at - 1].size) return std::vector<Int>{};
      const Int next = s.mul(covered, as.dims[at - 1].size);
      const auto known = s.value(next), whole = s.value(run);
      if (known && whole && *known > *whole) break;
      made[--at] = s.mul(base, covered);
      covered = next;
    }
    if (covered != run) return std::nullopt;
    base = nullptr;
    run = s.constant(1);
  }
  return made;
}

bool in_order(const Record& record, const TensorState& state) {
  if (!state.shape.rank_known) return true;
  const std::vector<Int> strides = strides_of(record, state);
  if (strides.size() != state.shape.dims.size()) return false;
  symbolic::Context& s = record.symbols;
  Int expected = s.constant(1);
  for (std::size_t i = strides.size(); i-- > 0;) {
    const Int size = state.shape.dims[i].size;
    if (!size) return false;
    if (s.value(size) != 1 && strides[i] != expected) return false;
    expected = s.mul(expected, size);
  }
  return true;
}

bool can_be_viewed(const Record& record, const TensorState& from, const Shape& as) {
  return strides_of_view(record.symbols, from.shape, strides_of(record, from), as).has_value();
}

}  // namespace stepzero::footprint
