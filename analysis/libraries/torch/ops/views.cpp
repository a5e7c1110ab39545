// What operators share that give a tensor's elements another shape. See views.hpp.
#include "libraries/torch/ops/views.hpp"

#include <algorithm>
#include <span>

namespace stepzero::libraries {

std::optional<std::size_t> find_dim(Op& op, Shape& shape, std::int64_t at) {
  if (shape.ndim_known) return op.axis(at, shape.dims.size());
  if (at >= 0 || at < -64) return std::nullopt;
  const auto after = static_cast<std::size_t>(-at);
  if (shape.dims.size() < after) shape.dims.insert(shape.dims.begin(), after - shape.dims.size(), Dim{});
  return shape.dims.size() - after;
}
std::optional<std::size_t> find_dim(Op& op, Shape& shape, std::string_view argument) {
  const auto at = op.integer(argument);
  return at ? find_dim(op, shape, *at) : std::nullopt;
}

namespace {

// An item among sizes: an integer, or something that will have to be one.
Int item_size(Op& op, Value item) {
  item = op.run.resolve(item);
  if (item.is(Kind::unknown)) {
    const Value preset = op.run.resolve(item.as<values::Unknown>()->default_value);
    // A parameter that is -1 unless it is given: the size is whatever is left.
    if (preset.is(Kind::integer))
      if (const auto known = op.s.value(preset.integer()); known && *known < 0) return nullptr;
    return op.run.to_int(item);
  }
  return item.is(Kind::integer) ? item.integer() : nullptr;
}

}  // namespace

Sizes sizes_of(const Shape& shape) {
  Sizes found{shape.ndim_known, {}};
  for (const Dim& d : shape.dims) found.sizes.push_back(d.size);
  return found;
}
Shape shape_of(Op& op, std::span<const Int> sizes) {
  Shape shape{true, {}};
  for (const Int size : sizes) shape.dims.push_back(size ? op.made(size) : Dim{});
  return shape;
}
std::optional<Sizes> wanted_sizes(Op& op, std::string_view name) {
  const Call& call = op.call;
  std::ptrdiff_t at = -1;
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == name) at = static_cast<std::ptrdiff_t>(i);
  if (at < 0) return std::nullopt;
  Sizes found;
  if (call.spread) {
    if (call.after == 0) return std::nullopt;
    std::vector<Value> placed;
    for (std::size_t i = static_cast<std::size_t>(at); i < call.row.positional && i < call.arguments.size();
        ++i)
      if (call.given[i]) placed.push_back(call.arguments[i]);
    placed.insert(placed.end(), call.rest.begin(), call.rest.end());
    const std::size_t plain = std::min(call.after, placed.size());
    found.complete = false;
    for (std::size_t i = placed.size() - plain; i < placed.size(); ++i)
      found.sizes.push_back(item_size(op, placed[i]));
    return found;
  }
  const Value first = op.argument(name);
  std::vector<Value> items;
  if (first.is(Kind::tuple) || first.is(Kind::list)) {
    const auto known = op.run.elements(first, call.place);
    if (!known) return std::nullopt;
    items = *known;
  } else if (first.is(Kind::unknown) && call.rest.empty()) {
    const auto* unknown = first.as<values::Unknown>();
    if (unknown->shape_of) {
      const TensorState* other = op.tensor(unknown->shape_of);
      if (!other) return std::nullopt;
      return sizes_of(other->shape);
    }
    if (unknown->ends_with) {
      found.complete = false;
      for (const Value& item : unknown->ends_with.as<values::Tuple>()->items)
        found.sizes.push_back(item_size(op, item));
      return found;
    }
    // One number, or all of them in a tuple.
    if (!op.run.resolve(unknown->default_value).is(Kind::integer)) return std::nullopt;
    items.push_back(first);
  } else if (first.is(Kind::integer) || op.tensor(first) || (first && !call.rest.empty())) {
    items.push_back(first);
  } else if (first) {
    return std::nullopt;  // it may be a tuple, or a dtype
  } else if (!call.rest.empty()) {
    return std::nullopt;  // None in the first place
  }
  if (static_cast<std::size_t>(at) + 1 >= call.row.positional)
    items.insert(items.end(), call.rest.begin(), call.rest.end());
  for (const Value& item : items) found.sizes.push_back(item_size(op, item));
  return found;
}

std::string sizes_words(const Op& op, std::span<const Int> sizes) {
  std::string text = "(";
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + op.words(op.dim(sizes[i]));
  return text + ")";
}
bool is_size(const Op& op, Int size) {
  const auto low = size ? op.s.lower(size) : std::nullopt;
  return low && *low >= 0;
}

Dim joined_dim(Op& op, std::span<const Dim> dims) {
  if (dims.size() == 1) return dims.front();
  const Int total = op.product(dims);
  if (!total) return {};
  Dim dim = op.made(total);
  auto* factors = op.run.heap().make<values::Factors>();
  for (const Dim& part : dims) {
    if (part.factors)
      factors->sizes.insert(factors->sizes.end(), part.factors->sizes.begin(), part.factors->sizes.end());
    else
      factors->sizes.push_back(part.size);
  }
  dim.factors = factors;
  return dim;
}

Int smaller(const Op& op, Int a, Int b) {
  if (!a || !b) return nullptr;
  if (op.s.compare(Compare::le, a, b) == Answer::yes) return a;
  if (op.s.compare(Compare::le, b, a) == Answer::yes) return b;
  return op.s.min(a, b);
}
Int larger(const Op& op, Int a, Int b) {
  if (!a || !b) return nullptr;
  if (op.s.compare(Compare::ge, a, b) == Answer::yes) return a;
  if (op.s.compare(Compare::ge, b, a) == Answer::yes) return b;
  return op.s.max(a, b);
}

}  // namespace stepzero::libraries
