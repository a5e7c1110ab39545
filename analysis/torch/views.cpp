// Operators that give a tensor's elements another shape: views, and copies that look like them.
#include "torch/views.hpp"

#include <algorithm>

namespace stepzero::torch {

using symbolic::Answer;
using symbolic::Compare;
using values::Kind;
using values::ProblemKind;

// ---------------------------------------------------------------- what views share

std::optional<std::size_t> find_dim(Op& op, Shape& shape, std::int64_t at) {
  if (shape.rank_known) return op.axis(at, shape.dims.size());
  if (at >= 0 || at < -64) return std::nullopt;
  const auto behind = static_cast<std::size_t>(-at);
  if (shape.dims.size() < behind) shape.dims.insert(shape.dims.begin(), behind - shape.dims.size(), Dim{});
  return shape.dims.size() - behind;
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

} // namespace

std::optional<Sizes> wanted_sizes(Op& op, std::string_view name) {
  const Call& call = op.call;
  std::ptrdiff_t at = -1;
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == name) at = static_cast<std::ptrdiff_t>(i);
  if (at < 0) return std::nullopt;
  Sizes found;
  if (call.spread) {
    if (call.behind == 0) return std::nullopt;
    std::vector<Value> placed;
    for (std::size_t i = static_cast<std::size_t>(at); i < call.row.positional && i < call.arguments.size(); ++i)
      if (call.given[i]) placed.push_back(call.arguments[i]);
    placed.insert(placed.end(), call.rest.begin(), call.rest.end());
    const std::size_t plain = std::min(call.behind, placed.size());
    found.complete = false;
    for (std::size_t i = placed.size() - plain; i < placed.size(); ++i) found.sizes.push_back(item_size(op, placed[i]));
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
      found.complete = other->shape.rank_known;
      for (const Dim& d : other->shape.dims) found.sizes.push_back(d.size);
      return found;
    }
    if (unknown->ends_with) {
      found.complete = false;
      for (const Value& item : unknown->ends_with.as<values::Tuple>()->items) found.sizes.push_back(item_size(op, item));
      return found;
    }
    // One number, or all of them in a tuple.
    if (!op.run.resolve(unknown->default_value).is(Kind::integer)) return std::nullopt;
    items.push_back(first);
  } else if (first) {
    items.push_back(first);
  } else if (!call.rest.empty()) {
    return std::nullopt;  // None in the first place
  }
  if (static_cast<std::size_t>(at) + 1 >= call.row.positional) items.insert(items.end(), call.rest.begin(), call.rest.end());
  for (const Value& item : items) found.sizes.push_back(item_size(op, item));
  return found;
}

std::string count_words(const Op& op, Int count) {
  std::string text;
  for (const char c : op.words(op.dim(count))) text += c == '*' ? "×" : std::string(1, c);
  return text;
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
std::string plural(std::int64_t count, std::string_view what) { return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s"); }

Dim joined_dim(Op& op, std::span<const Dim> dims) {
  if (dims.size() == 1) return dims.front();
  const Int total = op.product(dims);
  if (!total) return {};
  Dim dim = op.made(total);
  auto* factors = op.run.heap().make<values::Factors>();
  for (const Dim& part : dims) {
    if (part.factors) factors->sizes.insert(factors->sizes.end(), part.factors->sizes.begin(), part.factors->sizes.end());
    else factors->sizes.push_back(part.size);
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

namespace {

Dim one(Op& op) { return op.dim(1); }
bool is_one(const Op& op, const Dim& d) { return op.equal(d, 1) == Answer::yes; }

// ---------------------------------------------------------------- reshape and view

// The dims of the result, where they are old ones or products of neighbours, keep what is known of those: walked from the left
// and then from the right, as far as the elements fit together.
void trace(Op& op, const Shape& from, std::vector<Dim>& dims) {
  const auto& old = from.dims;
  const auto walk = [&](auto old_at, auto new_at) {
    std::size_t i = 0, k = 0;
    while (i < dims.size() && k < old.size()) {
      Dim& made = dims[new_at(i)];
      if (!made.size || !old[old_at(k)].size) return;
      if (made.size == old[old_at(k)].size) {
        if (old[old_at(k)].origin || old[old_at(k)].factors) made = old[old_at(k)];
        ++i, ++k;
        continue;
      }
      if (is_one(op, made)) {
        ++i;
        continue;
      }
      std::vector<Dim> group;
      Int total = op.s.constant(1);
      while (k < old.size() && total != made.size && group.size() < 8) {
        if (!old[old_at(k)].size) return;
        total = op.s.mul(total, old[old_at(k)].size);
        group.push_back(old[old_at(k++)]);
      }
      if (total != made.size) return;
      if (old_at(0) != 0) std::reverse(group.begin(), group.end());
      if (!made.factors && group.size() > 1) made.factors = joined_dim(op, group).factors;
      ++i;
    }
  };
  walk([](std::size_t i) { return i; }, [](std::size_t i) { return i; });
  if (old.empty() || dims.empty()) return;
  walk([&](std::size_t i) { return old.size() - 1 - i; }, [&](std::size_t i) { return dims.size() - 1 - i; });
}

// The shape of `sizes`, one of which may be -1, for the elements of `from`. Nullopt after fail().
std::optional<Shape> reshaped(Op& op, const Shape& from, const Sizes& wanted) {
  Shape out{wanted.complete, {}};
  const auto fail = [&](const std::string& text) {
    std::initializer_list<Dim> none = {};
    op.fail(ProblemKind::reshape, text, from.dims.empty() ? none : std::initializer_list<Dim>{from.dims.back()});
    return std::nullopt;
  };
  std::ptrdiff_t inferred = -1;
  for (std::size_t i = 0; i < wanted.sizes.size(); ++i) {
    const auto value = wanted.sizes[i] ? op.s.value(wanted.sizes[i]) : std::nullopt;
    if (value && *value < -1) return fail("The size " + std::to_string(*value) + " is negative");
    if (value != -1) continue;
    if (inferred >= 0) return fail("Only one size can be -1, and " + sizes_words(op, wanted.sizes) + " has two");
    inferred = static_cast<std::ptrdiff_t>(i);
  }
  const Int total = from.rank_known ? op.product(from.dims) : nullptr;
  // Of the sizes but that at `skipped`.
  const auto product_without = [&](std::ptrdiff_t skipped) {
    Int product = op.s.constant(1);
    for (std::size_t i = 0; i < wanted.sizes.size() && product; ++i)
      if (static_cast<std::ptrdiff_t>(i) != skipped) product = op.mul(product, wanted.sizes[i]);
    return product;
  };
  std::vector<Int> sizes = wanted.sizes;
  if (total && wanted.complete) {
    const Int known = product_without(inferred);
    const std::string has = op.name(op.call.row.parameters[0].text()) + " is " + op.words(from) + " and has " + count_words(op, total) +
                            (op.s.value(total) == 1 ? " element" : " elements");
    if (known && inferred < 0 && op.s.compare(Compare::eq, total, known) == Answer::no) {
      // A size that is not known may be -1.
      bool certain = true;
      for (std::size_t i = 0; i < sizes.size() && certain; ++i)
        if (!is_size(op, sizes[i])) {
          const Int others = product_without(static_cast<std::ptrdiff_t>(i));
          certain = op.s.value(others) != 0 && op.s.divides(others, total) == Answer::no;
        }
      if (certain)
        return fail(has + "; " + std::string(op.title()) + sizes_words(op, sizes) + " needs " + count_words(op, known));
    }
    if (known && inferred < 0 && !op.failed()) {
      // Without the sizes that are on both sides: it fails unless one of those is 0.
      std::vector<Int> before, after = sizes;
      values::Cond when = op.s.boolean(true);
      for (const Dim& d : from.dims) {
        const auto same = op.s.value(d.size) ? after.end() : std::find(after.begin(), after.end(), d.size);
        if (same == after.end()) {
          before.push_back(d.size);
          continue;
        }
        after.erase(same);
        when = op.s.logical_and(when, op.s.compared(Compare::ne, d.size, op.s.constant(0)));
      }
      const auto product_of = [&](const std::vector<Int>& all) {
        Int product = op.s.constant(1);
        for (const Int size : all) product = op.s.mul(product, size);
        return product;
      };
      const bool all_sizes = std::all_of(after.begin(), after.end(), [&](Int size) { return is_size(op, size); });
      if (all_sizes && before.size() < from.dims.size() && op.s.compare(Compare::eq, product_of(before), product_of(after)) == Answer::no)
        op.fail_when(when, ProblemKind::reshape, has + "; " + std::string(op.title()) + sizes_words(op, sizes) + " needs " + count_words(op, known));
      if (op.failed()) return std::nullopt;
    }
    if (known && inferred >= 0 && op.s.value(known) != 0 && op.s.divides(known, total) == Answer::no)
      return fail(has + "; " + std::string(op.title()) + sizes_words(op, sizes) + " needs a multiple of " + count_words(op, known));
    // What one size has to be follows from the others, whatever was written there.
    std::ptrdiff_t open = inferred;
    if (open < 0)
      for (std::size_t i = 0; i < sizes.size(); ++i)
        if (!sizes[i] || !is_size(op, sizes[i])) open = open == -1 ? static_cast<std::ptrdiff_t>(i) : -2;
    if (open >= 0) {
      const Int others = product_without(open);
      Int& solved = sizes[static_cast<std::size_t>(open)];
      if (others && op.s.value(others) != 0) {
        if (const auto exact = op.s.exact_quotient(total, others)) solved = *exact;
        else if (open == inferred || !solved) solved = op.s.floordiv(total, others);
      } else if (open == inferred) {
        solved = nullptr;
      }
    }
  } else if (inferred >= 0) {
    sizes[static_cast<std::size_t>(inferred)] = nullptr;
  }
  for (const Int size : sizes) out.dims.push_back(size ? op.made(size) : Dim{});
  if (total && wanted.complete) trace(op, from, out.dims);
  return out;
}

bool lies_in_order(const Op& op, const TensorState& state) { return !state.strides.empty() && state.strides == op.strides_in_order(state.shape); }

// view joins only dimensions whose elements follow each other. The elements of a transposed tensor do not: where two of its
// neighbours cannot be joined, the sizes behind them have to come out as they are.
void check_strides(Op& op, const TensorState& input, const Shape& out) {
  const auto& dims = input.shape.dims;
  const auto& strides = input.strides;
  if (strides.size() != dims.size() || strides.empty() || !out.rank_known) return;
  for (const Dim& d : dims)
    if (!d.size) return;
  for (const Dim& d : out.dims)
    if (!d.size) return;
  if (lies_in_order(op, input)) return;
  const auto mark = op.s.mark();
  values::Cond when = op.s.boolean(true);
  bool possible = true;
  const auto suppose = [&](values::Cond condition) {
    const Answer known = op.s.decide(condition);
    if (known == Answer::unknown) {
      when = op.s.logical_and(when, condition);
      possible = op.s.assume(condition) && possible;
    } else {
      possible = possible && known == Answer::yes;
    }
  };
  const auto above = [&](Int size, std::int64_t least) { return op.s.compared(Compare::gt, size, op.s.constant(least)); };
  bool fails = false;
  for (std::size_t d = dims.size() - 1; d > 0 && !fails; --d) {
    op.s.rewind(mark);
    when = op.s.boolean(true);
    possible = true;
    const Int joined = op.s.mul(strides[d], dims[d].size);
    if (joined == strides[d - 1]) continue;
    suppose(above(dims[d - 1].size, 1));
    suppose(above(dims[d].size, 1));
    // Where the two do not follow each other: apart from equal factors.
    if (const auto more = op.s.exact_quotient(joined, strides[d - 1])) suppose(op.s.compared(Compare::ne, *more, op.s.constant(1)));
    else if (const auto less = op.s.exact_quotient(strides[d - 1], joined)) suppose(op.s.compared(Compare::ne, *less, op.s.constant(1)));
    else possible = possible && op.s.compare(Compare::eq, joined, strides[d - 1]) == Answer::no;
    for (const Dim& each : dims) suppose(above(each.size, 0));
    if (!possible) continue;
    const Int behind = op.product(std::span(dims).subspan(d));
    fails = behind != nullptr;
    Int total = op.s.constant(1);
    for (std::size_t k = out.dims.size() + 1; k-- > 0 && fails;) {
      if (k < out.dims.size()) total = op.s.mul(total, out.dims[k].size);
      fails = op.s.compare(Compare::eq, total, behind) == Answer::no;
    }
  }
  op.s.rewind(mark);
  if (!fails) return;
  op.fail_when(when, ProblemKind::reshape, "view cannot join dimensions whose elements do not follow each other in memory, and " + op.name("input") + ", " +
                                               op.words(input.shape) + ", was transposed or permuted: call reshape, or contiguous first");
  op.cure_method("reshape");
}

Value reshape_to(Op& op, std::string_view name) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const auto wanted = wanted_sizes(op, name);
  if (!wanted) return op.unknown();
  const auto shape = reshaped(op, input->shape, *wanted);
  if (!shape) return op.unknown();
  if (op.title() == "view") check_strides(op, *input, *shape);
  const Value made = op.failed() ? op.unknown() : op.result(*shape);
  return lies_in_order(op, *input) ? op.in_order(made) : made;
}
Value reshape(Op& op) { return reshape_to(op, "shape"); }

// Bytes of one element; 0 if the dtype is not known.
int width(values::Dtype dtype) {
  using enum values::Dtype;
  switch (dtype) {
  case float64: case int64: case complex64: return 8;
  case float32: case int32: return 4;
  case float16: case bfloat16: case int16: return 2;
  case int8: case uint8: case boolean: return 1;
  case complex128: return 16;
  case unknown: break;
  }
  return 0;
}

// view(dtype): the same bytes read as another type.
Value view(Op& op) {
  Value type = op.argument("dtype");
  if (const Value first = op.argument("size"); first.is(Kind::dtype)) type = first;
  if (!type) return reshape_to(op, "size");
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const values::Dtype wanted = to_dtype(type);
  const int before = width(input->dtype), after = width(wanted);
  Shape shape = input->shape;
  if (!before || !after) {
    if (!shape.dims.empty()) shape.dims.back() = Dim{};
  } else if (before != after) {
    if (shape.dims.empty()) return op.result(Shape{}, wanted);
    Dim& last = shape.dims.back();
    if (last.size) {
      const Int bytes = op.s.mul(last.size, op.s.constant(before));
      last = op.made(op.s.floordiv(bytes, op.s.constant(after)));
    }
  }
  return op.result(shape, wanted);
}

// view_as, reshape_as
Value reshape_as(Op& op) {
  const TensorState *input = op.expect("input"), *other = op.expect("other");
  if (!input || !other) return op.unknown();
  Sizes wanted{other->shape.rank_known, {}};
  for (const Dim& d : other->shape.dims) wanted.sizes.push_back(d.size);
  const auto shape = reshaped(op, input->shape, wanted);
  if (!shape) return op.unknown();
  Shape out = *shape;
  for (std::size_t i = 0; i < out.dims.size() && i < other->shape.dims.size(); ++i)
    if (other->shape.dims[i].size == out.dims[i].size && other->shape.dims[i].origin && !out.dims[i].factors) out.dims[i] = other->shape.dims[i];
  return op.result(out);
}

Value unflatten(Op& op);
Value flatten(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const auto start = op.integer("start_dim"), end = op.integer("end_dim");
  if (!start || !end) return op.unknown();
  Shape shape = input->shape;
  if (shape.rank_known) {
    const auto first = op.axis(*start, shape.dims.size());
    const auto last = first ? op.axis(*end, shape.dims.size()) : std::nullopt;
    if (!first || !last) return op.unknown();
    if (shape.dims.empty()) return op.result({true, {one(op)}});
    if (*first > *last)
      return op.fail(ProblemKind::index, "Dimensions " + std::to_string(*start) + " to " + std::to_string(*end) + " of a tensor of " +
                                             plural(static_cast<std::int64_t>(shape.dims.size()), "dimension") + " are none: the first lies behind the last");
    const auto from = shape.dims.begin() + static_cast<std::ptrdiff_t>(*first), to = shape.dims.begin() + static_cast<std::ptrdiff_t>(*last) + 1;
    const Dim all = joined_dim(op, {from, to});
    shape.dims.insert(shape.dims.erase(from, to), all);
    return op.result(shape);
  }
  if (*end >= 0) return op.unknown();
  if (*start >= 0) {
    // Everything behind `start` up to the end becomes one dimension.
    if (*end != -1) return op.unknown();
    return op.result({true, std::vector<Dim>(static_cast<std::size_t>(*start) + 1)});
  }
  const auto first = find_dim(op, shape, *start), last = find_dim(op, shape, *end);
  if (!first || !last || *first > *last) return op.unknown();
  const auto from = shape.dims.begin() + static_cast<std::ptrdiff_t>(*first), to = shape.dims.begin() + static_cast<std::ptrdiff_t>(*last) + 1;
  const Dim all = joined_dim(op, {from, to});
  shape.dims.insert(shape.dims.erase(from, to), all);
  return op.result(shape);
}

// A view of what lies in order does so, too.
Value flatten_in_order(Op& op) {
  const TensorState* input = op.expect("input");
  const bool ordered = input && lies_in_order(op, *input);
  const Value made = op.title() == "flatten" ? flatten(op) : unflatten(op);
  return ordered && !op.failed() ? op.in_order(made) : made;
}

Value ravel(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (!input->shape.rank_known) return op.result({true, {Dim{}}});
  if (input->shape.dims.empty()) return op.result({true, {one(op)}});
  return op.result({true, {joined_dim(op, input->shape.dims)}});
}

Value unflatten(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const auto at = find_dim(op, shape, "dim");
  const auto wanted = at ? wanted_sizes(op, "sizes") : std::nullopt;
  if (!wanted || !wanted->complete) return op.unknown();
  const Dim whole = shape.dims.empty() ? Dim{} : shape.dims[*at];
  std::ptrdiff_t inferred = -1;
  Int known = op.s.constant(1);
  for (std::size_t i = 0; i < wanted->sizes.size(); ++i) {
    const Int size = wanted->sizes[i];
    if (size && op.s.value(size) == -1) {
      if (inferred >= 0) return op.fail(ProblemKind::reshape, "Only one size can be -1, and " + sizes_words(op, wanted->sizes) + " has two");
      inferred = static_cast<std::ptrdiff_t>(i);
    } else {
      known = op.mul(known, size);
    }
  }
  std::vector<Int> sizes = wanted->sizes;
  if (whole.size && known) {
    bool all_sizes = true;
    for (const Int size : sizes) all_sizes = all_sizes && (op.s.value(size) == -1 || is_size(op, size));
    const bool fits = inferred < 0 ? op.s.compare(Compare::eq, whole.size, known) != Answer::no
                                   : op.s.value(known) == 0 || op.s.divides(known, whole.size) != Answer::no;
    if (!fits && all_sizes)
      return op.fail(ProblemKind::reshape, "Dimension " + std::to_string(*op.integer("dim")) + " of " + op.name("input") + " has the size " + op.words(whole) +
                                               ", which " + sizes_words(op, sizes) + " cannot divide up", {whole});
  }
  if (inferred >= 0) {
    Int& open = sizes[static_cast<std::size_t>(inferred)];
    open = nullptr;
    if (whole.size && known && op.s.value(known) != 0) {
      const auto exact = op.s.exact_quotient(whole.size, known);
      open = exact ? *exact : op.s.floordiv(whole.size, known);
    }
  }
  std::vector<Dim> parts;
  for (const Int size : sizes) parts.push_back(size ? op.made(size) : Dim{});
  if (!shape.dims.empty()) shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(*at));
  shape.dims.insert(shape.dims.begin() + static_cast<std::ptrdiff_t>(*at), parts.begin(), parts.end());
  return op.result(shape);
}

// ---------------------------------------------------------------- dimensions of size 1

Value unsqueeze(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const auto at = op.integer("dim");
  if (!at) return op.unknown();
  if (shape.rank_known) {
    const auto place = op.axis(*at, shape.dims.size() + 1);
    if (!place) return op.unknown();
    shape.dims.insert(shape.dims.begin() + static_cast<std::ptrdiff_t>(*place), one(op));
    // How far apart the only one is from its neighbours does not matter: as if they lay in order.
    std::vector<Int> strides = input->strides;
    if (strides.size() + 1 == shape.dims.size())
      strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(*place),
                     *place < strides.size() ? op.s.mul(strides[*place], shape.dims[*place + 1].size) : op.s.constant(1));
    return op.laid_out(op.result(shape), std::move(strides));
  }
  if (*at == 0) return op.result(shape);  // in front of whatever is known
  if (*at > 0) {
    // It stands at `at` at the latest.
    if (static_cast<std::size_t>(*at) >= shape.dims.size()) return op.unknown();
    shape.dims.erase(shape.dims.begin(), shape.dims.begin() + *at);
    return op.result(shape);
  }
  const auto behind = static_cast<std::size_t>(-*at - 1);
  if (behind > 64) return op.unknown();
  if (shape.dims.size() < behind) shape.dims.insert(shape.dims.begin(), behind - shape.dims.size(), Dim{});
  shape.dims.insert(shape.dims.end() - static_cast<std::ptrdiff_t>(behind), one(op));
  return op.result(shape);
}

Value squeeze(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  std::vector<bool> chosen(shape.dims.size(), true);
  if (op.argument("dim")) {
    const auto dims = op.integers("dim");
    if (!dims) return op.unknown();
    if (shape.rank_known && shape.dims.empty()) {
      for (const std::int64_t at : *dims)
        if (!op.axis(at, 0)) return op.unknown();
      return op.result(shape);
    }
    std::vector<std::size_t> from_end;
    for (const std::int64_t at : *dims) {
      // The one dimension that a tensor may be without.
      if (!shape.rank_known && at == -1 && shape.dims.empty()) return op.unknown();
      const auto place = find_dim(op, shape, at);
      if (!place) return op.unknown();
      from_end.push_back(shape.dims.size() - *place);
    }
    chosen.assign(shape.dims.size(), false);
    for (const std::size_t place : from_end) chosen[shape.dims.size() - place] = true;
  } else if (!shape.rank_known) {
    // What was not known to be there may go as well.
    chosen.assign(shape.dims.size(), true);
  }
  // Behind the last dimension of which it is not known whether it goes, all is known.
  Shape out{shape.rank_known, {}};
  for (std::size_t i = shape.dims.size(); i-- > 0;) {
    const Answer goes = chosen[i] ? op.equal(shape.dims[i], 1) : Answer::no;
    if (goes == Answer::unknown) {
      out.rank_known = false;
      break;
    }
    if (goes == Answer::no) out.dims.insert(out.dims.begin(), shape.dims[i]);
  }
  return op.result(out);
}

// ---------------------------------------------------------------- order

Value transpose(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const std::string_view first = op.call.row.parameters[1].text(), second = op.call.row.parameters[2].text();
  const auto at_first = op.integer(first), at_second = op.integer(second);
  if (!at_first || !at_second) return op.unknown();
  if (!shape.rank_known && *at_first == *at_second) return op.result(shape);
  const auto a = find_dim(op, shape, *at_first);
  if (op.failed()) return op.unknown();
  const auto before = shape.dims.size();
  const auto b = find_dim(op, shape, *at_second);
  if (!a || !b) return op.unknown();
  const std::size_t moved_a = *a + (shape.dims.size() - before);
  if (!shape.dims.empty()) std::swap(shape.dims[moved_a], shape.dims[*b]);
  std::vector<Int> strides = input->strides;
  if (strides.size() == shape.dims.size() && !strides.empty()) std::swap(strides[moved_a], strides[*b]);
  return op.laid_out(op.result(shape), std::move(strides));
}

Value transpose_all(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.rank_known) return op.unknown();
  Shape shape = input->shape;
  std::reverse(shape.dims.begin(), shape.dims.end());
  return op.laid_out(op.result(shape), {input->strides.rbegin(), input->strides.rend()});
}
Value transpose_2d(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (!shape.rank_known) return op.unknown();
  if (shape.dims.size() > 2)
    return op.fail(ProblemKind::index, "t takes tensors of at most 2 dimensions, and " + op.name("input") + " is " + op.words(shape));
  return transpose_all(op);
}
// x.H: of a matrix
Value transpose_matrix(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.rank_known) return op.unknown();
  if (input->shape.dims.size() != 2 && !input->shape.dims.empty())
    return op.fail(ProblemKind::index, "H is for matrices, and " + op.name("input") + " is " + op.words(input->shape));
  return transpose_all(op);
}
// x.mT, x.mH, adjoint
Value transpose_last(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (shape.rank_known && shape.dims.size() < 2)
    return shape.dims.empty() ? op.unknown()
                              : op.fail(ProblemKind::index, std::string(op.title()) + " needs at least 2 dimensions, and " + op.name("input") + " is " + op.words(shape));
  while (shape.dims.size() < 2) shape.dims.insert(shape.dims.begin(), Dim{});
  std::swap(shape.dims[shape.dims.size() - 1], shape.dims[shape.dims.size() - 2]);
  std::vector<Int> strides = input->strides;
  if (strides.size() >= 2) std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return op.laid_out(op.result(shape), std::move(strides));
}

Value permute(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const auto wanted = wanted_sizes(op, "dims");
  if (!wanted || !wanted->complete) return op.unknown();
  const std::size_t rank = wanted->sizes.size();
  Shape shape = input->shape;
  if (shape.rank_known ? shape.dims.size() != rank : shape.dims.size() > rank)
    return op.fail(ProblemKind::reshape, op.name("input") + " is " + op.words(shape) + " and has " + (shape.rank_known ? "" : "at least ") +
                                             plural(static_cast<std::int64_t>(shape.dims.size()), "dimension") + ", but " + std::string(op.title()) +
                                             sizes_words(op, wanted->sizes) + " orders " + std::to_string(rank));
  if (!shape.rank_known) {
    // It has as many dimensions as are put in order.
    shape.rank_known = true;
    shape.dims.insert(shape.dims.begin(), rank - shape.dims.size(), Dim{});
    op.learn("input", shape);
  }
  Shape out{true, {}};
  std::vector<Int> strides;
  std::vector<bool> taken(rank, false);
  for (const Int size : wanted->sizes) {
    const auto at = size ? op.s.value(size) : std::nullopt;
    if (!at) {
      out.dims.push_back({});
      continue;
    }
    const auto place = op.axis(*at, rank);
    if (!place) return op.unknown();
    if (taken[*place]) return op.fail(ProblemKind::reshape, "Dimension " + std::to_string(*at) + " comes twice in " + sizes_words(op, wanted->sizes));
    taken[*place] = true;
    out.dims.push_back(shape.dims[*place]);
    if (*place < input->strides.size()) strides.push_back(input->strides[*place]);
  }
  return op.laid_out(op.result(out), std::move(strides));
}

Value movedim(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.rank_known) return op.unknown();
  const std::size_t rank = input->shape.dims.size();
  const auto from = op.axes("source", rank);
  const auto to = from ? op.axes("destination", rank) : std::nullopt;
  if (!from || !to) return op.unknown();
  if (from->size() != to->size())
    return op.fail(ProblemKind::argument, "movedim has " + plural(static_cast<std::int64_t>(from->size()), "source") + " and " +
                                              plural(static_cast<std::int64_t>(to->size()), "destination"));
  if (rank == 0) return op.result(input->shape);
  std::vector<std::ptrdiff_t> order(rank, -1);
  std::vector<bool> used(rank, false);
  for (std::size_t i = 0; i < from->size(); ++i) {
    order[(*to)[i]] = static_cast<std::ptrdiff_t>((*from)[i]);
    used[(*from)[i]] = true;
  }
  std::size_t next = 0;
  for (std::ptrdiff_t& place : order) {
    if (place >= 0) continue;
    while (used[next]) ++next;
    place = static_cast<std::ptrdiff_t>(next++);
  }
  Shape out{true, {}};
  for (const std::ptrdiff_t place : order) out.dims.push_back(input->shape.dims[static_cast<std::size_t>(place)]);
  return op.result(out);
}

// ---------------------------------------------------------------- repeating

// The shape of `from` stretched to `sizes`; -1 keeps a size. Nullopt after fail().
std::optional<Shape> expanded(Op& op, const Shape& from, const Sizes& wanted) {
  const auto fail = [&](const std::string& text, const Dim& because = {}) {
    op.fail(ProblemKind::reshape, text, {because});
    return std::nullopt;
  };
  const std::string input = op.name(op.call.row.parameters[0].text());
  if (wanted.complete && wanted.sizes.size() < from.dims.size())
    return fail(input + " is " + op.words(from) + " and cannot be expanded to the fewer dimensions of " + sizes_words(op, wanted.sizes));
  Shape out{wanted.complete, {}};
  for (std::size_t k = 0; k < wanted.sizes.size(); ++k) {
    const std::size_t behind = wanted.sizes.size() - 1 - k;
    const bool is_new = from.rank_known && behind >= from.dims.size();
    const Dim old = from_right(from, behind);
    const Int size = wanted.sizes[k];
    const auto value = size ? op.s.value(size) : std::nullopt;
    if (value == -1) {
      if (is_new && wanted.complete) return fail("-1 keeps the size of a dimension, and " + input + " has none there: it is " + op.words(from));
      out.dims.push_back(old);
      continue;
    }
    if (value && *value < -1) return fail("The size " + std::to_string(*value) + " is negative");
    const Dim made = size ? op.made(size) : Dim{};
    if (is_new) {
      out.dims.push_back(made);
      continue;
    }
    const Answer was_one = op.equal(old, 1);
    if (size && old.size && old.size != size && was_one == Answer::no && op.equal(old, made) == Answer::no && is_size(op, size))
      return fail(input + " is " + op.words(from) + ": its size " + op.words(old) + " cannot be expanded to " + op.words(made), old);
    // A size other than 1 stays what it is.
    if (was_one == Answer::no) out.dims.push_back(old);
    else if (was_one == Answer::unknown && old.size && old.size == size) out.dims.push_back(old);
    else if (size && is_size(op, size)) out.dims.push_back(made);
    else if (size && was_one == Answer::yes) out.dims.push_back(made);  // -1 would be 1, and nobody writes a name for that
    else out.dims.push_back(size && !old.size ? made : Dim{});
  }
  return out;
}

Value expand(Op& op) {
  const TensorState* input = op.expect(op.call.row.parameters[0].text());
  const auto wanted = input ? wanted_sizes(op, op.call.row.parameters[1].text()) : std::nullopt;
  if (!wanted) return op.unknown();
  const auto shape = expanded(op, input->shape, *wanted);
  return shape ? op.result(*shape) : op.unknown();
}
Value expand_as(Op& op) {
  const TensorState *input = op.expect("input"), *other = op.expect("other");
  if (!input || !other) return op.unknown();
  Sizes wanted{other->shape.rank_known, {}};
  for (const Dim& d : other->shape.dims) wanted.sizes.push_back(d.size);
  if (!expanded(op, input->shape, wanted)) return op.unknown();
  Shape out = other->shape;
  for (std::size_t i = 0; i < out.dims.size(); ++i)
    if (const Dim old = from_right(input->shape, out.dims.size() - 1 - i); !out.dims[i].size && op.equal(old, 1) == Answer::no) out.dims[i] = old;
  return op.result(out, op.result_type(Type::input));
}

Value broadcast_tensors(Op& op) {
  std::vector<Value> parts = op.call.rest;
  if (const Value first = op.argument("tensors")) parts.insert(parts.begin(), first);
  if (parts.size() == 1 && (parts[0].is(Kind::list) || parts[0].is(Kind::tuple))) {
    const auto items = op.run.elements(parts[0], op.call.place);
    if (!items) return op.run.heap().open_list(op.unknown());
    parts = *items;
  }
  std::optional<Shape> shape = Shape{true, {}};
  for (const Value& part : parts) {
    const TensorState* state = op.tensor(part);
    if (!state) shape = Shape{};
    else if (!(shape = op.broadcast(*shape, state->shape))) return op.unknown();
  }
  std::vector<Value> made;
  for (const Value& part : parts) {
    const TensorState* state = op.tensor(part);
    made.push_back(op.result(*shape, state ? state->dtype : values::Dtype::unknown));
  }
  return op.tuple(std::move(made));
}

Value repeat(Op& op) {
  const TensorState* input = op.expect("input");
  const auto wanted = input ? wanted_sizes(op, op.call.row.parameters[1].text()) : std::nullopt;
  if (!wanted) return op.unknown();
  std::vector<Int> times = wanted->sizes;
  const Shape& from = input->shape;
  Shape out{from.rank_known && wanted->complete, {}};
  const bool pads = op.title() == "tile";
  if (wanted->complete && times.size() < from.dims.size()) {
    if (!pads)
      return op.fail(ProblemKind::reshape, op.name("input") + " is " + op.words(from) + " and " + std::string(op.title()) + sizes_words(op, times) +
                                               " says only how often " + plural(static_cast<std::int64_t>(times.size()), "dimension") + " shall be repeated");
    times.insert(times.begin(), from.dims.size() - times.size(), op.s.constant(1));
  }
  if (!pads && wanted->complete && !from.rank_known) out.rank_known = true;
  const std::size_t rank = from.rank_known ? std::max(times.size(), from.dims.size()) : times.size();
  for (std::size_t i = 0; i < (wanted->complete ? rank : std::min(rank, times.size())); ++i) {
    const std::size_t behind = (wanted->complete ? rank : std::min(rank, times.size())) - 1 - i;
    const Int factor = behind < times.size() ? times[times.size() - 1 - behind] : op.s.constant(1);
    if (const auto value = factor ? op.s.value(factor) : std::nullopt; value && *value < 0)
      return op.fail(ProblemKind::argument, "Nothing can be repeated " + std::to_string(*value) + " times");
    const Dim old = behind < from.dims.size() ? from_right(from, behind) : from.rank_known ? one(op) : Dim{};
    if (factor && op.s.value(factor) == 1) out.dims.push_back(old);
    else if (factor && old.size) out.dims.push_back(op.made(op.s.mul(old.size, factor)));
    else out.dims.push_back({});
  }
  return op.result(out);
}

Value repeat_interleave(Op& op) {
  const Value times = op.argument("repeats");
  if (!times) {
    // repeat_interleave(counts)
    const TensorState* counts = op.expect("input");
    return counts ? op.result({true, {Dim{}}}) : op.unknown();
  }
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  Int count = times.is(Kind::integer) ? times.integer() : nullptr;
  const TensorState* counts = op.tensor(times);
  if (counts) count = nullptr;
  if (const auto value = count ? op.s.value(count) : std::nullopt; value && *value < 0)
    return op.fail(ProblemKind::argument, "Nothing can be repeated " + std::to_string(*value) + " times");
  const Int asked = op.size("output_size");
  const auto repeated = [&](const Dim& old) {
    if (asked) return op.made(asked);
    return count && old.size ? op.made(op.s.mul(old.size, count)) : Dim{};
  };
  if (!op.argument("dim")) {
    if (!shape.rank_known) return op.result({true, {Dim{}}}, input->dtype);
    return op.result({true, {repeated(shape.dims.empty() ? one(op) : joined_dim(op, shape.dims))}}, input->dtype);
  }
  const auto at = find_dim(op, shape, "dim");
  if (!at) return op.result({}, input->dtype);
  if (shape.dims.empty()) return op.result({true, {repeated(one(op))}}, input->dtype);
  if (counts && counts->shape.rank_known && counts->shape.dims.size() == 1 && op.equal(counts->shape.dims[0], shape.dims[*at]) == Answer::no &&
      op.equal(counts->shape.dims[0], 1) == Answer::no)
    return op.fail(ProblemKind::argument, "There are " + op.words(counts->shape.dims[0]) + " counts for a dimension of size " + op.words(shape.dims[*at]),
                   {shape.dims[*at], counts->shape.dims[0]});
  shape.dims[*at] = repeated(shape.dims[*at]);
  return op.result(shape, input->dtype);
}

Value at_least(Op& op, std::size_t least) {
  std::vector<Value> parts = op.call.rest;
  const Value first = op.argument("tensors");
  const bool many = !parts.empty() || first.is(Kind::list) || first.is(Kind::tuple);
  if (first && parts.empty() && many) {
    const auto items = op.run.elements(first, op.call.place);
    if (!items) return op.run.heap().open_list(op.unknown());
    parts = *items;
  } else if (first) {
    parts.insert(parts.begin(), first);
  }
  std::vector<Value> made;
  for (const Value& part : parts) {
    const TensorState* state = op.tensor(part);
    if (!state) {
      made.push_back(op.unknown());
      continue;
    }
    Shape shape = state->shape;
    if (shape.rank_known) {
      // To the front; the third dimension stands last.
      if (least == 3 && shape.dims.size() == 2) shape.dims.push_back(one(op));
      else if (least == 3 && shape.dims.size() == 1) shape.dims = {one(op), shape.dims[0], one(op)};
      while (shape.dims.size() < least) shape.dims.insert(shape.dims.begin(), one(op));
    } else if (shape.dims.size() < least && least == 3) {
      shape = {};
    }
    made.push_back(op.result(shape, state->dtype));
  }
  return many ? op.tuple(std::move(made)) : made.empty() ? op.unknown() : made.front();
}
Value at_least_1d(Op& op) { return at_least(op, 1); }
Value at_least_2d(Op& op) { return at_least(op, 2); }
Value at_least_3d(Op& op) { return at_least(op, 3); }

Value broadcast_shapes(Op& op) {
  std::vector<Value> parts = op.call.rest;
  if (const Value first = op.argument("shapes")) parts.insert(parts.begin(), first);
  std::optional<Shape> all = Shape{true, {}};
  for (const Value& part : parts) {
    const Value value = op.run.resolve(part);
    if (value.is(Kind::unknown)) return op.run.heap().unknown("", op.run.heap().sharing(value), op.call.place);
    const auto known = sizes(op.run, value, {}, op.call.place);
    if (!known) return op.run.heap().external("", op.call.place);
    Shape shape{true, {}};
    for (const Int size : *known) shape.dims.push_back(op.dim(size));
    if (!(all = op.broadcast(*all, shape))) return op.run.heap().external("", op.call.place);
  }
  std::vector<Value> items;
  for (const Dim& d : all->dims) items.push_back(d.size ? Value::of(d.size) : op.run.heap().unknown("", values::Sharing::local, op.call.place));
  return op.tuple(std::move(items));
}

constexpr Operator operators[] = {
    {"reshape", "input, shape, *more", "torch method spread", reshape, Type::input},
    {"view", "input, size=None, *more, dtype=None", "method spread", view, Type::input},
    {"view_as", "input, other", "method", reshape_as, Type::input},
    {"reshape_as", "input, other", "method", reshape_as, Type::input},
    {"flatten", "input, start_dim=0, end_dim=-1, out_dim=None", "torch method", flatten_in_order, Type::input},
    {"ravel", "input", "torch method", ravel, Type::input},
    {"unflatten", "input, dim, sizes, *more, names=None", "torch method", flatten_in_order, Type::input},
    {"unsqueeze", "input, dim", "torch method in_shape", unsqueeze, Type::input},
    {"squeeze", "input, dim=None", "torch method in_shape", squeeze, Type::input},
    {"transpose", "input, dim0, dim1", "torch method in_shape", transpose, Type::input},
    {"swapaxes", "input, axis0, axis1", "torch method in_shape", transpose, Type::input},
    {"swapdims", "input, dim0, dim1", "torch method in_shape", transpose, Type::input},
    {"t", "input", "torch method in_shape", transpose_2d, Type::input},
    {"T", "input", "property", transpose_all, Type::input},
    {"H", "input", "property", transpose_matrix, Type::input},
    {"mT", "input", "property", transpose_last, Type::input},
    {"mH", "input", "property", transpose_last, Type::input},
    {"adjoint", "input", "torch method", transpose_last, Type::input},
    {"permute", "input, dims, *more", "torch method spread", permute, Type::input},
    {"movedim", "input, source, destination", "torch method torch.moveaxis torch.Tensor.moveaxis", movedim, Type::input},
    {"expand", "input, size, *more, implicit=False", "method spread", expand, Type::input},
    {"broadcast_to", "input, size", "torch method", expand, Type::input},
    {"expand_as", "input, other", "method", expand_as, Type::input},
    {"broadcast_tensors", "tensors, *more", "torch", broadcast_tensors, Type::own},
    {"broadcast_shapes", "shapes, *more", "torch", broadcast_shapes, Type::own},
    {"repeat", "input, repeats, *more", "method spread", repeat, Type::input},
    {"tile", "input, dims, *more", "torch method spread", repeat, Type::input},
    {"repeat_interleave", "input, repeats=None, dim=None, *, output_size=None", "torch method", repeat_interleave, Type::own},
    {"atleast_1d", "tensors, *more", "torch", at_least_1d, Type::own},
    {"atleast_2d", "tensors, *more", "torch", at_least_2d, Type::own},
    {"atleast_3d", "tensors, *more", "torch", at_least_3d, Type::own},
};

} // namespace

std::vector<Row> view_rows() { return operator_rows(operators); }

} // namespace stepzero::torch
