#include "footprint/strides.hpp"

#include "footprint/rearranged.hpp"
#include "footprint/saving_table.hpp"
#include "libraries/table/columns.hpp"
#include "libraries/table/names.hpp"
#include "libraries/torch/meaning/meanings.hpp"
#include "values/limits.hpp"
#include "values/strides.hpp"

#include <algorithm>
#include <memory>
#include <typeindex>
#include <unordered_map>

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

// After x[2, 1:, None, ...].
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

// What was found out: where results are added to what they came from, each is asked for on many ways.
using FoundStrides = std::unordered_map<const TensorState*, std::vector<Int>>;
struct KnownStrides {
  mutable FoundStrides on_cpu, on_gpu;  // of tensors that somebody asked about
};

// What is asked of every tensor on the way.
struct Asked {
  const Record& record;
  Device device;
  FoundStrides& known;   // of all questions
  FoundStrides& on_way;  // of this one: how far it goes back is limited
};
std::vector<Int> find(const Asked& asked, const TensorState& state, int depth);

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
  std::vector<Int> in_order = values::strides_in_order(s, shape);
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
std::vector<Int> of_operands(const Asked& asked, const TensorState& state, int depth) {
  symbolic::Context& s = asked.record.symbols;
  const std::size_t rank = state.shape.dims.size();
  std::vector<std::vector<Int>> operands;
  for (const TensorState* each : state.made->states) {
    if (!each || !each->shape.ndim_known || each->shape.dims.size() > rank) continue;
    const std::vector<Int> strides = find(asked, *each, depth + 1);
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

std::vector<Int> strides_through_view(const Asked& asked, const TensorState& state, int depth);

// Of scaled_dot_product_attention. What a fused kernel gives lies as the query does, but for the one of
// float32 on a GPU, where the heads of a place lie together; what is put together of products lies in order.
std::vector<Int> of_attention(const Asked& asked, const TensorState& state, int depth) {
  symbolic::Context& s = asked.record.symbols;
  const bool is_half = state.dtype == Dtype::float16 || state.dtype == Dtype::bfloat16;
  if (asked.device == Device::cuda && !is_half) return swapped(s, state.shape, 1, 2);
  if (asked.device == Device::cpu) {
    const Value dropout = decided(asked.record, argument(*state.made, "dropout_p"));
    const bool drops = dropout && !dropout.is(Kind::none) &&
        !(dropout.is(Kind::real) && dropout.real() == 0) &&
        !(dropout.is(Kind::integer) && s.value(dropout.integer()) == 0);
    if (drops) return values::strides_in_order(s, state.shape);
  }
  const TensorState* query = operand(*state.made, "query");
  const std::vector<Int> strides = query ? find(asked, *query, depth + 1) : std::vector<Int>{};
  return strides.size() == 4 ? dense_as(s, state.shape, {strides}) : swapped(s, state.shape, 1, 2);
}

std::vector<Int> found_anew(const Asked& asked, const TensorState& state, int depth) {
  const Record& record = asked.record;
  if (!state.shape.ndim_known) return {};
  if (!state.strides.empty() && state.strides.size() == state.shape.dims.size()) return state.strides;
  if (state.made && state.shape.dims.size() == 4 && depth <= values::deepest_source &&
      libraries::operator_name(*state.made->row) == "scaled_dot_product_attention")
    return of_attention(asked, state, depth);
  if (state.made && state.shape.dims.size() == 3 && state.made->part == 0 && is_recurrent(*state.made) &&
      setting_is_on(record, *state.made, "batch_first"))
    return swapped(record.symbols, state.shape, 0, 1);
  if (!state.made || depth > values::deepest_source)
    return values::strides_in_order(record.symbols, state.shape);
  if (shares_memory(record, *state.made, &state, asked.device))
    return strides_through_view(asked, state, depth);
  return libraries::meaning_of(libraries::operator_name(*state.made->row)).elementwise
      ? of_operands(asked, state, depth)
      : values::strides_in_order(record.symbols, state.shape);
}

std::vector<Int> find(const Asked& asked, const TensorState& state, int depth) {
  for (const FoundStrides* found : {&asked.known, &asked.on_way})
    if (const auto at = found->find(&state); at != found->end()) return at->second;
  return asked.on_way[&state] = found_anew(asked, state, depth);
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

// Numbers that are given as one tuple, or one after the other.
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

// A view, and the strides of what it is taken of.
struct View {
  const Record& record;
  const Producer& made;
  const TensorState& from;
  const TensorState& state;
  std::vector<Int> strides;
  std::size_t rank() const { return strides.size(); }
};

std::vector<Int> same(View& view) { return view.strides; }
std::vector<Int> without_one(View& view) {
  const Value dim = argument(view.made, "dim");
  const auto at = dim ? axis(view.record, dim, view.rank()) : std::optional<std::size_t>(0);
  if (!at) return {};
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(*at));
  return view.strides;
}
std::vector<Int> transposed(View& view) {
  const auto dim = [&](std::size_t i) {
    return axis(view.record, i < view.made.arguments.size() ? view.made.arguments[i] : Value{}, view.rank());
  };
  const auto a = dim(1), b = dim(2);
  if (!a || !b) return {};
  std::swap(view.strides[*a], view.strides[*b]);
  return view.strides;
}
std::vector<Int> with_last_two_swapped(View& view) {
  if (view.rank() < 2) return {};
  std::swap(view.strides[view.rank() - 1], view.strides[view.rank() - 2]);
  return view.strides;
}
// `x.T` turns all dimensions around.
std::vector<Int> turned_around(View& view) {
  return view.rank() > 2 ? std::vector<Int>{} : with_last_two_swapped(view);
}
std::vector<Int> expanded(View& view) {
  return repeated(view.record.symbols, view.from.shape, view.strides, view.state.shape);
}
std::vector<Int> in_given_order(View& view) {
  std::vector<Int> made = permuted(view.record, view.strides,
      given_numbers(view.record, argument(view.made, "dims"), argument(view.made, "more")));
  return made.size() == view.rank() ? made : std::vector<Int>{};
}
std::vector<Int> with_one_more(View& view) {
  symbolic::Context& s = view.record.symbols;
  const auto at = axis(view.record, argument(view.made, "dim"), view.rank() + 1);
  if (!at) return {};
  const Int size = *at < view.rank() ? view.from.shape.dims[*at].size : nullptr;
  view.strides.insert(view.strides.begin() + static_cast<std::ptrdiff_t>(*at),
      size ? s.mul(view.strides[*at], size) : s.constant(1));
  return view.strides;
}
std::vector<Int> without_ones(View& view) {
  std::vector<Int> left;
  const auto at = axis(view.record, argument(view.made, "dim"), view.rank());
  for (std::size_t i = 0; i < view.rank(); ++i)
    if (at ? i != *at || view.state.shape.dims.size() == view.rank()
           : !view.from.shape.dims[i].size || view.record.symbols.value(view.from.shape.dims[i].size) != 1)
      left.push_back(view.strides[i]);
  return left.size() == view.state.shape.dims.size() ? left : std::vector<Int>{};
}
std::vector<Int> as_pairs(View& view) {
  symbolic::Context& s = view.record.symbols;
  for (Int& each : view.strides) each = s.mul(each, s.constant(2));
  view.strides.push_back(s.constant(1));
  return view.strides;
}
std::vector<Int> subscripted(View& view) {
  std::vector<Int> left = picked(view.record, view.strides, argument(view.made, "index"));
  return left.size() == view.state.shape.dims.size() ? left : std::vector<Int>{};
}
std::vector<Int> reshaped(View& view) {
  return strides_of_view(view.record.symbols, view.from.shape, view.strides, view.state.shape)
      .value_or(std::vector<Int>{});
}
std::vector<Int> rearranged(View& view) {
  const Value pattern = decided(view.record, argument(view.made, "pattern"));
  if (!pattern.is(Kind::string)) return {};
  return strides_of_rearranged(
      view.record.symbols, pattern.text(), view.from.shape, view.strides, view.state.shape)
      .value_or(std::vector<Int>{});
}

// How each operator that makes views lays its result over the tensor; of the others nothing is known.
struct NamedView {
  std::string_view name;
  std::vector<Int> (*strides)(View&);
};
constexpr NamedView views[] = {
    {"split", same},
    {"unsafe_split", same},
    {"split_with_sizes", same},
    {"chunk", same},
    {"tensor_split", same},
    {"narrow", same},
    {"detach", same},
    {"data", same},
    {"unbind", without_one},
    {"select", without_one},
    {"transpose", transposed},
    {"t", with_last_two_swapped},
    {"mT", with_last_two_swapped},
    {"T", turned_around},
    {"expand", expanded},
    {"expand_as", expanded},
    {"broadcast_to", expanded},
    {"permute", in_given_order},
    {"unsqueeze", with_one_more},
    {"squeeze", without_ones},
    {"view_as_real", as_pairs},
    {"__getitem__", subscripted},
    {"view", reshaped},
    {"view_as", reshaped},
    {"reshape", reshaped},
    {"reshape_as", reshaped},
    {"flatten", reshaped},
    {"unflatten", reshaped},
    {"Flatten", reshaped},
    {"Unflatten", reshaped},
    {"ravel", reshaped},
    {"rearrange", rearranged},
};

// What hands on what it was given, or writes over it.
bool hands_on(const Producer& made, std::string_view name) {
  const libraries::OperatorMeaning& means = libraries::meaning_of(name);
  return means.elementwise || made.row->variant != values::Variant::plain ||
      means.memory == libraries::MemoryOf::same || means.memory == libraries::MemoryOf::cast ||
      means.memory == libraries::MemoryOf::contiguous;
}

std::vector<Int> strides_through_view(const Asked& asked, const TensorState& state, int depth) {
  const Producer& made = *state.made;
  const std::string_view name = libraries::operator_name(*made.row);
  View view{asked.record, made, *made.states[0], state, find(asked, *made.states[0], depth + 1)};
  if (view.rank() != view.from.shape.dims.size()) return {};
  if (const auto found = std::ranges::find(views, name, &NamedView::name); found != std::end(views))
    return found->strides(view);
  return hands_on(made, name) ? view.strides : std::vector<Int>{};
}

}  // namespace

std::vector<Int> strides_of(const Record& record, const TensorState& state, Device device) {
  auto& kept = record.derived[std::type_index(typeid(KnownStrides))];
  if (!kept) kept = std::make_shared<const KnownStrides>();
  const auto& all = *static_cast<const KnownStrides*>(kept.get());
  FoundStrides &known = device == Device::cuda ? all.on_gpu : all.on_cpu, on_way;
  const std::vector<Int> strides = find({record, device, known, on_way}, state, 0);
  known.emplace(&state, strides);
  return strides;
}

std::optional<std::vector<Int>> strides_of_view(
    symbolic::Context& s, const Shape& from, const std::vector<Int>& strides, const Shape& as) {
  if (strides.size() != from.dims.size() || !from.ndim_known || !as.ndim_known) return std::vector<Int>{};
  std::vector<Int> made(as.dims.size());
  // Runs of dimensions that follow each other, from the last; each covers some of the new ones.
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

bool has_rows(const Record& record, const TensorState& state, Device device) {
  const std::vector<Int> strides = strides_of(record, state, device);
  const auto step = strides.empty() || !strides.back() ? std::nullopt : record.symbols.value(strides.back());
  return !step || *step == 1;
}

bool in_order(const Record& record, const TensorState& state, Device device) {
  if (!state.shape.ndim_known) return true;
  const std::vector<Int> strides = strides_of(record, state, device);
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

bool is_rearranged_view(
    const Record& record, const Producer& made, const TensorState& result, Device device) {
  const Value pattern = decided(record, argument(made, "pattern"));
  const TensorState& from = *made.states[0];
  return pattern.is(Kind::string) && result.shape.ndim_known &&
      strides_of_rearranged(
          record.symbols, pattern.text(), from.shape, strides_of(record, from, device), result.shape)
          .has_value();
}

bool can_be_viewed(const Record& record, const TensorState& from, const Shape& as, Device device) {
  return strides_of_view(record.symbols, from.shape, strides_of(record, from, device), as).has_value();
}

libraries::Column view_column() { return libraries::column_of("strides of its view", views); }

}  // namespace stepzero::footprint
