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
    if (!call.expr) return std::nullopt;
    // What stands behind the last `*` is given by place, last.
    std::size_t plain = 0;
    const auto& written = call.expr->arguments;
    while (plain < written.size() && written[written.size() - 1 - plain]->kind != syntax::ExprKind::starred) ++plain;
    if (plain == written.size()) return std::nullopt;  // `**options`
    std::vector<Value> placed;
    for (std::size_t i = static_cast<std::size_t>(at); i < call.row.positional && i < call.arguments.size(); ++i)
      if (call.given[i]) placed.push_back(call.arguments[i]);
    placed.insert(placed.end(), call.rest.begin(), call.rest.end());
    if (plain > placed.size()) return std::nullopt;
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

Value reshape_to(Op& op, std::string_view name) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const auto wanted = wanted_sizes(op, name);
  if (!wanted) return op.unknown();
  const auto shape = reshaped(op, input->shape, *wanted);
  return shape ? op.result(*shape) : op.unknown();
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
    return op.result(shape);
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
  return op.result(shape);
}

Value transpose_2d(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (!shape.rank_known) return op.unknown();
  if (shape.dims.size() > 2)
    return op.fail(ProblemKind::index, "t takes tensors of at most 2 dimensions, and " + op.name("input") + " is " + op.words(shape));
  std::reverse(shape.dims.begin(), shape.dims.end());
  return op.result(shape);
}
Value transpose_all(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.rank_known) return op.unknown();
  Shape shape = input->shape;
  std::reverse(shape.dims.begin(), shape.dims.end());
  return op.result(shape);
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
  return op.result(shape);
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
  }
  return op.result(out);
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

// ---------------------------------------------------------------- the same shape, in another order or with other values

Value same(Op& op) {
  const TensorState* input = op.expect(op.call.row.parameters[0].text());
  return input ? op.result(input->shape) : op.unknown();
}
// One or several dims have to exist.
Value flip(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->shape.rank_known) (void)op.axes("dims", input->shape.dims.size());
  return op.failed() ? op.unknown() : op.result(input->shape);
}
Value flip_sides(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const std::size_t least = op.title() == "fliplr" ? 2 : 1;
  if (input->shape.rank_known && input->shape.dims.size() < least)
    return op.fail(ProblemKind::index, std::string(op.title()) + " needs at least " + plural(static_cast<std::int64_t>(least), "dimension") + ", and " +
                                           op.name("input") + " is " + op.words(input->shape));
  return op.result(input->shape);
}
Value roll(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const auto shifts = op.integers("shifts");
  if (const Value dims = op.argument("dims"); dims && shifts) {
    if (const auto at = op.integers("dims"); at && !at->empty()) {
      if (at->size() != shifts->size())
        return op.fail(ProblemKind::argument, "roll has " + plural(static_cast<std::int64_t>(shifts->size()), "shift") + " and " +
                                                  plural(static_cast<std::int64_t>(at->size()), "dimension"));
      if (input->shape.rank_known && !input->shape.dims.empty())
        for (const std::int64_t one_of : *at)
          if (!op.axis(one_of, input->shape.dims.size())) return op.unknown();
    }
  }
  return op.result(input->shape);
}
Value rot90(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const auto times = op.integer("k");
  std::vector<std::int64_t> plane{0, 1};
  if (op.argument("dims")) {
    const auto asked = op.integers("dims");
    if (!asked || asked->size() != 2) return op.unknown();
    plane = *asked;
  }
  if (!shape.rank_known) return op.unknown();
  if (shape.dims.size() < 2)
    return op.fail(ProblemKind::index, "rot90 needs at least 2 dimensions, and " + op.name("input") + " is " + op.words(shape));
  const auto a = op.axis(plane[0], shape.dims.size()), b = op.axis(plane[1], shape.dims.size());
  if (!a || !b) return op.unknown();
  if (*a == *b) return op.fail(ProblemKind::argument, "rot90 turns a plane of two different dimensions");
  if (!times) {
    shape.dims[*a] = shape.dims[*b] = Dim{};
  } else if (*times % 2 != 0) {
    std::swap(shape.dims[*a], shape.dims[*b]);
  }
  return op.result(shape);
}
Value triangle(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->shape.rank_known && input->shape.dims.size() < 2)
    return op.fail(ProblemKind::index, std::string(op.title()) + " needs at least 2 dimensions, and " + op.name("input") + " is " + op.words(input->shape));
  return op.result(input->shape);
}

// ---------------------------------------------------------------- diagonals

// The length of the diagonal that lies `offset` above the main one.
Int diagonal_length(Op& op, Int rows, Int columns, std::int64_t offset) {
  if (!rows || !columns) return nullptr;
  if (offset > 0) columns = op.s.sub(columns, op.s.constant(offset));
  else rows = op.s.sub(rows, op.s.constant(-offset));
  return larger(op, smaller(op, rows, columns), op.s.constant(0));
}
Value diagonal_of(Op& op, const TensorState* input, std::int64_t first, std::int64_t second) {
  Shape shape = input->shape;
  const auto offset = op.argument("offset") ? op.integer("offset") : op.argument("diagonal") ? op.integer("diagonal") : std::optional<std::int64_t>(0);
  if (!shape.rank_known) return op.unknown();
  const auto a = op.axis(first, shape.dims.size());
  const auto b = a ? op.axis(second, shape.dims.size()) : std::nullopt;
  if (!a || !b) return op.unknown();
  if (*a == *b)
    return op.fail(ProblemKind::argument, "A diagonal runs through two different dimensions, and " + std::to_string(first) + " and " + std::to_string(second) + " are the same");
  const Int length = offset ? diagonal_length(op, shape.dims[*a].size, shape.dims[*b].size, *offset) : nullptr;
  shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(std::max(*a, *b)));
  shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(std::min(*a, *b)));
  shape.dims.push_back(length ? op.made(length) : Dim{});
  return op.result(shape);
}
Value diagonal(Op& op) {
  const TensorState* input = op.expect("input");
  const auto first = op.integer("dim1"), second = op.integer("dim2");
  if (!input || !first || !second) return op.unknown();
  return diagonal_of(op, input, *first, *second);
}
Value diag_embed(Op& op) {
  const TensorState* input = op.expect("input");
  const auto first = op.integer("dim1"), second = op.integer("dim2"), offset = op.integer("offset");
  if (!input || !input->shape.rank_known || !first || !second) return op.unknown();
  Shape shape = input->shape;
  if (shape.dims.empty()) return op.unknown();
  const auto a = op.axis(*first, shape.dims.size() + 1);
  const auto b = a ? op.axis(*second, shape.dims.size() + 1) : std::nullopt;
  if (!a || !b) return op.unknown();
  if (*a == *b) return op.fail(ProblemKind::argument, "A diagonal runs through two different dimensions");
  const Int length = shape.dims.back().size;
  const Dim side = length && offset ? op.made(op.s.add(length, op.s.constant(std::abs(*offset)))) : Dim{};
  shape.dims.pop_back();
  for (const std::size_t at : {std::min(*a, *b), std::max(*a, *b)}) shape.dims.insert(shape.dims.begin() + static_cast<std::ptrdiff_t>(at), side);
  return op.result(shape);
}
// A vector becomes a matrix, a matrix its diagonal.
Value diag(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.rank_known) return op.unknown();
  const auto& dims = input->shape.dims;
  const auto offset = op.integer("diagonal");
  if (dims.size() == 1) {
    const Dim side = offset && dims[0].size ? op.made(op.s.add(dims[0].size, op.s.constant(std::abs(*offset)))) : Dim{};
    return op.result({true, {side, side}});
  }
  if (dims.size() == 2) return diagonal_of(op, input, 0, 1);
  return op.fail(ProblemKind::index, "diag takes a vector or a matrix, and " + op.name("input") + " is " + op.words(input->shape));
}
Value diagflat(Op& op) {
  const TensorState* input = op.expect("input");
  const auto offset = op.integer("offset");
  if (!input) return op.unknown();
  const Int total = input->shape.rank_known ? op.product(input->shape.dims) : nullptr;
  const Dim side = total && offset ? op.made(op.s.add(total, op.s.constant(std::abs(*offset)))) : Dim{};
  return op.result({true, {side, side}});
}
Value trace_of(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->shape.rank_known && input->shape.dims.size() != 2)
    return op.fail(ProblemKind::index, "trace takes a matrix, and " + op.name("input") + " is " + op.words(input->shape));
  const bool sums = input->dtype != values::Dtype::unknown && !values::is_floating(input->dtype) && input->dtype != values::Dtype::complex64 &&
                    input->dtype != values::Dtype::complex128;
  return op.result({true, {}}, sums ? values::Dtype::int64 : input->dtype);
}

// ---------------------------------------------------------------- windows and pixels

Value unfold(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const Int size = op.size("size"), step = op.size("step");
  if (shape.rank_known && shape.dims.empty()) return op.unknown();
  const auto at = find_dim(op, shape, "dimension");
  if (!at) return op.unknown();
  Dim& length = shape.dims[*at];
  if (size && length.size && op.s.compare(Compare::gt, size, length.size) == Answer::yes)
    return op.fail(ProblemKind::argument, "Windows of " + op.words(op.dim(size)) + " do not fit into a dimension of size " + op.words(length), {length});
  if (step && op.s.compare(Compare::le, step, op.s.constant(0)) == Answer::yes)
    return op.fail(ProblemKind::argument, "The step between windows is " + op.words(op.dim(step)) + " and has to be positive");
  length = size && step && length.size ? op.made(op.s.add(op.s.floordiv(op.s.sub(length.size, size), step), op.s.constant(1))) : Dim{};
  shape.dims.push_back(size ? op.made(size) : Dim{});
  return op.result(shape);
}

// as_strided(size, stride)
Value as_strided(Op& op) {
  const auto wanted = wanted_sizes(op, "size");
  if (!wanted || !wanted->complete) return op.unknown();
  if (const auto strides = op.sizes("stride"); strides && strides->size() != wanted->sizes.size())
    return op.fail(ProblemKind::argument, "as_strided has " + plural(static_cast<std::int64_t>(wanted->sizes.size()), "size") + " and " +
                                              plural(static_cast<std::int64_t>(strides->size()), "stride"));
  Shape shape{true, {}};
  for (const Int size : wanted->sizes) shape.dims.push_back(size ? op.made(size) : Dim{});
  return op.result(shape);
}

// PixelShuffle's arithmetic on [*, C, H, W].
Value pixel_shuffle(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const bool shuffles = op.title() == "pixel_shuffle";
  const Int factor = op.size(op.call.row.parameters[1].text());
  if (shape.rank_known && shape.dims.size() < 3)
    return op.fail(ProblemKind::layer_input, std::string(op.title()) + " takes an image of 3 or more dimensions, and " + op.name("input") + " is " + op.words(shape));
  while (shape.dims.size() < 3) shape.dims.insert(shape.dims.begin(), Dim{});
  Dim *channels = &shape.dims[shape.dims.size() - 3], *height = channels + 1, *width_dim = channels + 2;
  const Int square = op.mul(factor, factor);
  const auto divided = [&](Dim& d, Int by, std::string_view what) {
    if (!d.size || !by) {
      d = {};
      return true;
    }
    if (op.s.value(by) == 0) return true;
    if (op.s.divides(by, d.size) == Answer::no) {
      op.fail(ProblemKind::argument, "The " + std::string(what) + " of " + op.name("input") + " is " + op.words(d) + " and has to be divisible by " + op.words(op.dim(by)), {d});
      return false;
    }
    const auto exact = op.s.exact_quotient(d.size, by);
    d = op.made(exact ? *exact : op.s.floordiv(d.size, by));
    return true;
  };
  const auto multiplied = [&](Dim& d, Int by) { d = d.size && by ? op.made(op.s.mul(d.size, by)) : Dim{}; };
  if (shuffles) {
    if (!divided(*channels, square, "number of channels")) return op.unknown();
    multiplied(*height, factor);
    multiplied(*width_dim, factor);
  } else {
    multiplied(*channels, square);
    if (!divided(*height, factor, "height") || !divided(*width_dim, factor, "width")) return op.unknown();
  }
  return op.result(shape);
}
Value channel_shuffle(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->shape.rank_known && input->shape.dims.size() > 2) {
    const Int groups = op.size("groups");
    const Dim& channels = input->shape.dims[1];
    if (groups && channels.size && op.s.value(groups) != 0 && op.s.divides(groups, channels.size) == Answer::no)
      return op.fail(ProblemKind::argument, op.words(channels) + " channels cannot be divided into " + op.words(op.dim(groups)) + " groups", {channels});
  }
  return op.result(input->shape);
}

// ---------------------------------------------------------------- in-place changes of the own shape

Value resize(Op& op) {
  const TensorState* input = op.expect("input");
  const auto wanted = input ? wanted_sizes(op, op.call.row.parameters[1].text()) : std::nullopt;
  if (!wanted || !wanted->complete) return op.unknown();
  Shape shape{true, {}};
  for (const Int size : wanted->sizes) shape.dims.push_back(size ? op.made(size) : Dim{});
  return op.result(shape);
}
Value set(Op& op) {
  const TensorState* source = op.tensor("source");
  if (!source || op.argument("size")) return op.unknown();
  return op.result(source->shape, source->dtype);
}

constexpr Operator operators[] = {
    {"reshape", "input, shape, *more", "torch method spread", reshape, Type::input},
    {"view", "input, size=None, *more, dtype=None", "method spread", view, Type::input},
    {"view_as", "input, other", "method", reshape_as, Type::input},
    {"reshape_as", "input, other", "method", reshape_as, Type::input},
    {"flatten", "input, start_dim=0, end_dim=-1, out_dim=None", "torch method", flatten, Type::input},
    {"ravel", "input", "torch method", ravel, Type::input},
    {"unflatten", "input, dim, sizes, *more, names=None", "torch method", unflatten, Type::input},
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

    {"contiguous", "input, memory_format=None", "method", same, Type::input},
    {"flip", "input, dims, *more", "torch method", flip, Type::input},
    {"fliplr", "input", "torch method", flip_sides, Type::input},
    {"flipud", "input", "torch method", flip_sides, Type::input},
    {"roll", "input, shifts, dims=None", "torch method", roll, Type::input},
    {"rot90", "input, k=1, dims=None", "torch method", rot90, Type::input},
    {"tril", "input, diagonal=0, *, out=None", "torch method in_place", triangle, Type::input},
    {"triu", "input, diagonal=0, *, out=None", "torch method in_place", triangle, Type::input},
    {"diagonal", "input, offset=0, dim1=0, dim2=1", "torch method", diagonal, Type::input},
    {"linalg.diagonal", "input, *, offset=0, dim1=-2, dim2=-1", "torch.linalg.diagonal", diagonal, Type::input},
    {"diag", "input, diagonal=0, *, out=None", "torch method", diag, Type::input},
    {"diag_embed", "input, offset=0, dim1=-2, dim2=-1", "torch method", diag_embed, Type::input},
    {"diagflat", "input, offset=0", "torch method", diagflat, Type::input},
    {"trace", "input", "torch method", trace_of, Type::own},

    {"unfold", "input, dimension, size, step", "method", unfold, Type::input},
    {"as_strided", "input, size, stride, storage_offset=None", "torch method in_shape", as_strided, Type::input},
    {"pixel_shuffle", "input, upscale_factor", "torch F", pixel_shuffle, Type::input},
    {"pixel_unshuffle", "input, downscale_factor", "torch F", pixel_shuffle, Type::input},
    {"channel_shuffle", "input, groups", "torch", channel_shuffle, Type::input},
    {"resize", "input, size, *more, memory_format=None", "in_shape", resize, Type::input},
    {"resize_as", "input, the_template, memory_format=None", "in_shape", [](Op& op) { 
       const TensorState* other = op.tensor("the_template");
       return other ? op.result(other->shape, op.result_type(Type::input)) : op.unknown();
     }, Type::input},
    {"set", "input, source=None, storage_offset=0, size=None, stride=None", "in_shape", set, Type::own},
};

} // namespace

std::vector<Row> view_rows() { return operator_rows(operators); }

} // namespace stepzero::torch
