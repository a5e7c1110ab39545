// What a program asks of a tensor's shape. A size that is not known becomes a symbol of the tensor when it is
// asked for, and is the same from then on, though nothing else may be known of the shape.
#include "interpreter/record.hpp"
#include "libraries/torch/ops/views.hpp"
#include "syntax/text.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// `x.shape[0]`, for whatever the text at the place calls x, or what it is called there; empty if that is not
// short and plain.
std::string size_name(Runtime& run, values::Place place, std::int64_t index) {
  std::string_view text = run.record().text(place);
  std::string_view whole = text;
  for (const std::string_view part : {".shape", ".size("})
    if (const auto at = text.find(part); at != std::string_view::npos) text = text.substr(0, at);
  const auto plain = [](std::string_view candidate) {
    if (candidate.empty() || candidate.size() > values::longest_quote) return false;
    for (const char c : candidate)
      if (!syntax::is_word(c) && c != '.') return false;
    return true;
  };
  if (!plain(text)) return {};
  // The name that is given to it: `*lead, rows = x.shape`.
  return text.size() < whole.size() ? std::string(text) + ".shape[" + std::to_string(index) + "]"
      : text == "_"                 ? std::string()
                                    : std::string(text);
}

Int fresh_size(Runtime& run, Value input, std::string name) {
  symbolic::AtomInfo info;
  info.name = std::move(name);
  info.lower = 0;
  // The sizes of what differs among the ranks may well be the same.
  info.sharing = run.heap().sharing(input) == Sharing::uniform ? Sharing::uniform : Sharing::unseen;
  return run.symbols().fresh(info);
}

// The state of what was asked for its shape: a tensor, or an array.
const TensorState* shaped(Runtime& run, Value input) {
  if (const TensorState* state = tensor_state(run, input)) return state;
  const TensorState* state = require_tensor(run, input);
  if (!state) return nullptr;
  TensorState perhaps = *state;
  perhaps.maybe_array = true;
  set_state(run, input, perhaps);
  return tensor_state(run, input);
}

// The size of one dimension. Null if the input has no shape, or not that dimension.
Int size_at(Runtime& run, Value input, std::int64_t index, values::Place place) {
  const TensorState* state = shaped(run, input);
  if (!state || index > 32 || index < -32) return nullptr;
  const auto rank = static_cast<std::int64_t>(state->shape.dims.size());
  const auto ask = [&](TensorState& named, Dim& dim) {
    if (!dim.size) {
      dim = known_dim(run, fresh_size(run, input, size_name(run, place, index)), place, "shape");
      set_state(run, input, named);
    }
    return dim.size;
  };
  TensorState named = *state;
  if (state->shape.ndim_known) {
    const std::int64_t at = index < 0 ? index + rank : index;
    if (at < 0 || at >= rank) return nullptr;
    return ask(named, named.shape.dims[static_cast<std::size_t>(at)]);
  }
  if (index < 0) {
    const auto after = static_cast<std::size_t>(-index);
    auto& dims = named.shape.dims;
    if (dims.size() < after) dims.insert(dims.begin(), after - dims.size(), Dim{});
    return ask(named, dims[dims.size() - after]);
  }
  if (named.first.size() <= static_cast<std::size_t>(index))
    named.first.resize(static_cast<std::size_t>(index) + 1);
  return ask(named, named.first[static_cast<std::size_t>(index)]);
}

Value unknown_size(Runtime& run, Value input, values::Place place) {
  return run.heap().unknown_from({input}, place);
}

Value whole_shape(Runtime& run, Value input, values::Place place) {
  const TensorState* state = tensor_state(run, input);
  if (!state || !state->shape.ndim_known) {
    if (state && state->shape_value) return state->shape_value;
    // To be shown, what is no tensor, as a group is none, has one size however often it is asked for.
    const Value object = run.resolve(input);
    if (!state && run.policy().names_sizes && object.is(Kind::unknown) &&
        !object.as<values::Unknown>()->name.empty()) {
      values::Slot& kept = run.heap().slot_of(
          object.as<values::Unknown>()->attributes, syntax::Name(values::UnknownState::sizes));
      if (kept.value) return kept.value;
      const Value made = unknown_size(run, input, place);
      made.as<values::Unknown>()->shape_of = object;
      made.as<values::Unknown>()->name = run.heap().keep(
          std::string(object.as<values::Unknown>()->name) + ".size()");
      return kept.value = made;  // it was always so: no write
    }
    const Value made = unknown_size(run, input, place);
    made.as<values::Unknown>()->shape_of = run.resolve(input);
    if (state) state->shape_value = made;
    return made;
  }
  std::vector<Value> items;
  const auto rank = static_cast<std::int64_t>(state->shape.dims.size());
  items.reserve(rank);
  for (std::int64_t i = 0; i < rank; ++i) items.push_back(Value::of(size_at(run, input, i, place)));
  const Value made = run.heap().tuple(std::move(items));
  made.as<values::Tuple>()->shape_of = input;
  return made;
}

Value shape(Op& op) { return whole_shape(op.run, op.call.at(0), op.call.place); }

Value size(Op& op) {
  const Value input = op.call.at(0), dim = op.argument("dim");
  if (!dim) return whole_shape(op.run, input, op.call.place);
  const auto at = op.integer("dim");
  if (!at) return unknown_size(op.run, input, op.call.place);
  if (const TensorState* state = op.tensor(input); state && state->shape.ndim_known &&
      (state->shape.dims.empty() || !op.axis(*at, state->shape.dims.size()))) {
    if (!op.failed())
      (void)op.fail(ProblemKind::index, why<Reason::dimension_of_number>(*at, op.name("input")));
    return unknown_size(op.run, input, op.call.place);
  }
  const Int found = size_at(op.run, input, *at, op.call.place);
  return found ? Value::of(found) : unknown_size(op.run, input, op.call.place);
}

// How many elements.
Value element_count(Op& op) {
  const TensorState* state = op.tensor(op.call.at(0));
  if (!state || !state->shape.ndim_known) return unknown_size(op.run, op.call.at(0), op.call.place);
  const Value all = whole_shape(op.run, op.call.at(0), op.call.place);
  Int total = op.s.constant(1);
  for (const Value& size : all.as<values::Tuple>()->items) total = op.s.mul(total, size.integer());
  return Value::of(total);
}

// How many dimensions: the same number that len(x.shape) is.
Value rank_of_input(Op& op) {
  const Value input = op.call.at(0);
  const TensorState* state = op.tensor(input);
  if (state && state->shape.ndim_known)
    return op.run.heap().integer(static_cast<std::int64_t>(state->shape.dims.size()));
  if (!shaped(op.run, input)) return unknown_size(op.run, input, op.call.place);
  const Value all = whole_shape(op.run, input, op.call.place);
  if (!all.is(Kind::unknown)) return unknown_size(op.run, input, op.call.place);
  values::Slot& slot = op.run.heap().slot_of(
      all.as<values::Unknown>()->attributes, Name(values::UnknownState::len));
  if (!slot.value) {
    symbolic::AtomInfo info;
    info.lower = state ? static_cast<std::int64_t>(std::max(state->shape.dims.size(), state->first.size()))
                       : 0;
    info.sharing = Sharing::uniform;
    slot.value = Value::of(op.s.fresh(info));  // it was always so: no write
  }
  return slot.value;
}

constexpr Operator size_operators[] = {
    {"shape", "input", "property", shape, Type::own},
    {"size", "input, dim=None", "method", size, Type::own},
    {"dim", "input", "method torch.Tensor.ndimension", rank_of_input, Type::own},
    {"ndim", "input", "property", rank_of_input, Type::own},
    {"numel", "input", "torch method torch.Tensor.nelement", element_count, Type::own},
};

}  // namespace

std::vector<Row> size_rows() { return operator_rows(size_operators); }

void decide_ndim(Runtime& run, TensorState& learned) {
  if (!learned.shape.ndim_known) return;
  for (std::size_t i = 0; i < learned.first.size() && i < learned.shape.dims.size(); ++i) {
    const Dim& first = learned.first[i];
    Dim& dim = learned.shape.dims[i];
    if (!first.size) continue;
    if (!dim.size)
      dim = first;
    else if (dim.size != first.size && !run.guarded())
      run.symbols().assume(run.symbols().compared(Compare::eq, dim.size, first.size));
  }
  learned.first.clear();
  learned.shape_value = {};
}

Value Table::part_of_shape(Runtime& run, Value tensor, Value index, values::Place place) const {
  index = run.resolve(index);
  if (const TensorState* state = tensor_state(run, tensor); state && state->shape.ndim_known) {
    Call call{run, *find("torch.Tensor.shape"), {}, {tensor}, {}, {}, {}, false, nullptr, nullptr, place};
    Op op(call);
    if (const auto at = run.to_constant(index); at && !state->shape.dims.empty())
      (void)op.axis(*at, state->shape.dims.size());
    else if (at)
      (void)op.fail(ProblemKind::index, why<Reason::dimension_of_number>(*at, op.name("input")));
    return {};
  }
  if (const auto at = index.is(Kind::integer) ? run.symbols().value(index.integer()) : std::nullopt) {
    const Int size = size_at(run, tensor, *at, place);
    return size ? Value::of(size) : Value{};
  }
  if (!index.is(Kind::slice)) return {};
  const auto* slice = index.as<values::SliceObject>();
  const Value lower = run.resolve(slice->lower), upper = run.resolve(slice->upper);
  if (const Value step = run.resolve(slice->step); step && !step.is(Kind::none)) return {};
  const bool from_start = !lower || lower.is(Kind::none), to_end = !upper || upper.is(Kind::none);
  const auto low = from_start ? std::optional<std::int64_t>(0) : run.to_constant(lower),
             high = to_end ? std::optional<std::int64_t>(0) : run.to_constant(upper);
  // Whoever takes the first two or the last two sizes knows that there are as many.
  if (!low || !high || (*low < 0) != (*high < 0 || to_end) || (to_end && *low >= 0) || *low < -8 || *high > 8)
    return {};
  std::vector<Value> items;
  for (std::int64_t i = *low; i < *high; ++i) {
    const Int size = size_at(run, tensor, i, place);
    if (!size) return {};
    items.push_back(Value::of(size));
  }
  return run.heap().tuple(std::move(items));
}

}  // namespace stepzero::libraries
