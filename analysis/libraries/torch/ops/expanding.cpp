// Operators that repeat elements, in memory or to the eye: expand, repeat, broadcast_tensors, atleast_2d.
#include "libraries/torch/ops/operators.hpp"
#include "libraries/torch/ops/views.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// The shape of `from` stretched to `sizes`; -1 keeps a size. Nullopt after fail().
std::optional<Shape> expanded(Op& op, const Shape& from, const Sizes& wanted) {
  const auto fail = [&](interpreter::Refusal refusal, const Dim& because = {}) {
    op.fail(ProblemKind::reshape, std::move(refusal), {because});
    return std::nullopt;
  };
  const std::string input = op.name(op.call.row.parameters[0].text());
  if (wanted.complete && wanted.sizes.size() < from.dims.size())
    return fail(why<Reason::expanded_to_fewer>(input, from, sizes_words(op, wanted.sizes)));
  Shape out{wanted.complete, {}};
  for (std::size_t k = 0; k < wanted.sizes.size(); ++k) {
    const std::size_t after = wanted.sizes.size() - 1 - k;
    const bool is_new = from.ndim_known && after >= from.dims.size();
    const Dim old = from_right(from, after);
    const Int size = wanted.sizes[k];
    const auto value = size ? op.s.value(size) : std::nullopt;
    if (value == -1) {
      if (is_new && wanted.complete) return fail(why<Reason::kept_size>(input, from));
      out.dims.push_back(old);
      continue;
    }
    if (value && *value < -1) return fail(why<Reason::negative_size>(*value));
    const Dim made = size ? op.made(size) : Dim{};
    if (is_new) {
      out.dims.push_back(made);
      continue;
    }
    const Answer was_one = op.equal(old, 1);
    if (size && old.size && old.size != size && was_one == Answer::no && op.equal(old, made) == Answer::no &&
        is_size(op, size))
      return fail(why<Reason::expanded_size>(input, from, old, made), old);
    // A size other than 1 stays what it is.
    if (was_one == Answer::no)
      out.dims.push_back(old);
    else if (was_one == Answer::unknown && old.size && old.size == size)
      out.dims.push_back(old);
    else if (size && is_size(op, size))
      out.dims.push_back(made);
    else if (size && was_one == Answer::yes)
      out.dims.push_back(made);  // -1 would be 1, and nobody writes a name for that
    else
      out.dims.push_back(size && !old.size ? made : Dim{});
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
  const Sizes wanted = sizes_of(other->shape);
  if (!expanded(op, input->shape, wanted)) return op.unknown();
  Shape out = other->shape;
  for (std::size_t i = 0; i < out.dims.size(); ++i)
    if (const Dim old = from_right(input->shape, out.dims.size() - 1 - i);
        !out.dims[i].size && op.equal(old, 1) == Answer::no)
      out.dims[i] = old;
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
    if (!state)
      shape = Shape{};
    else if (!(shape = op.broadcast(*shape, state->shape)))
      return op.unknown();
  }
  std::vector<Value> made;
  for (const Value& part : parts) {
    const TensorState* state = op.tensor(part);
    made.push_back(op.result(*shape, state ? state->dtype : Dtype::unknown));
  }
  return op.tuple(std::move(made));
}

Value repeat(Op& op) {
  const TensorState* input = op.expect("input");
  const auto wanted = input ? wanted_sizes(op, op.call.row.parameters[1].text()) : std::nullopt;
  if (!wanted) return op.unknown();
  std::vector<Int> times = wanted->sizes;
  const Shape& from = input->shape;
  Shape out{from.ndim_known && wanted->complete, {}};
  const bool pads = op.title() == "tile";
  if (wanted->complete && times.size() < from.dims.size()) {
    if (!pads)
      return op.fail(ProblemKind::reshape,
          why<Reason::repeats>(
              op.name("input"), from, code(std::string(op.title()) + sizes_words(op, times)), times.size()));
    times.insert(times.begin(), from.dims.size() - times.size(), op.s.constant(1));
  }
  if (!pads && wanted->complete && !from.ndim_known) out.ndim_known = true;
  const std::size_t rank = from.ndim_known ? std::max(times.size(), from.dims.size()) : times.size();
  for (std::size_t i = 0; i < (wanted->complete ? rank : std::min(rank, times.size())); ++i) {
    const std::size_t after = (wanted->complete ? rank : std::min(rank, times.size())) - 1 - i;
    const Int factor = after < times.size() ? times[times.size() - 1 - after] : op.s.constant(1);
    if (const auto value = factor ? op.s.value(factor) : std::nullopt; value && *value < 0)
      return op.refuse_number("repetitions", op.dim(*value));
    const Dim old = after < from.dims.size() ? from_right(from, after) : from.ndim_known ? one(op) : Dim{};
    if (factor && op.s.value(factor) == 1)
      out.dims.push_back(old);
    else if (factor && old.size)
      out.dims.push_back(op.made(op.s.mul(old.size, factor)));
    else
      out.dims.push_back({});
  }
  return op.result(out);
}

// Of integers that are known; null: they are not.
Int sum_of(Op& op, Value counts) {
  const values::Content* known = op.content(counts);
  if (!known) return nullptr;
  Int sum = op.s.constant(0);
  for (const values::Number& number : known->numbers) {
    if (!number.integer) return nullptr;
    sum = op.s.add(sum, number.integer);
  }
  return sum;
}
Value repeat_interleave(Op& op) {
  const Value times = op.argument("repeats");
  if (!times) {
    // repeat_interleave(counts)
    const TensorState* counts = op.expect("input");
    if (!counts) return op.unknown();
    const Int asked = op.size("output_size");
    const Int total = asked ? asked : sum_of(op, op.argument("input"));
    return op.result({true, {total ? op.made(total) : Dim{}}}, counts->dtype);
  }
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  Int count = times.is(Kind::integer) ? times.integer() : nullptr;
  const TensorState* counts = op.tensor(times);
  if (counts) count = nullptr;
  if (const auto value = count ? op.s.value(count) : std::nullopt; value && *value < 0)
    return op.refuse_number("repetitions", op.dim(*value));
  const Int asked = op.size("output_size");
  const Int total = counts && counts->shape.ndim_known && counts->shape.dims.size() == 1 &&
          op.equal(counts->shape.dims[0], 1) == Answer::no
      ? sum_of(op, times)
      : nullptr;
  if (counts && !total)  // one count for all
    if (const values::Content* one = op.content(times); one && one->numbers.size() == 1)
      count = one->numbers[0].integer;
  const auto repeated = [&](const Dim& old) {
    if (asked) return op.made(asked);
    if (total) return op.made(total);
    return count && old.size ? op.made(op.s.mul(old.size, count)) : Dim{};
  };
  if (!op.argument("dim")) {
    if (!shape.ndim_known) return op.result({true, {Dim{}}}, input->dtype);
    return op.result(
        {true, {repeated(shape.dims.empty() ? one(op) : joined_dim(op, shape.dims))}}, input->dtype);
  }
  const auto at = find_dim(op, shape, "dim");
  if (!at) return op.result({}, input->dtype);
  if (shape.dims.empty()) return op.result({true, {repeated(one(op))}}, input->dtype);
  if (counts && counts->shape.ndim_known && counts->shape.dims.size() == 1 &&
      op.equal(counts->shape.dims[0], shape.dims[*at]) == Answer::no &&
      op.equal(counts->shape.dims[0], 1) == Answer::no)
    return op.fail(ProblemKind::argument,
        interpreter::NotOneEach{op.taker(), "a count", shape.dims[*at], "elements", {}, op.name("repeats"),
            counts->shape.dims[0]},
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
    if (shape.ndim_known) {
      // To the front; the third dimension stands last.
      if (least == 3 && shape.dims.size() == 2)
        shape.dims.push_back(one(op));
      else if (least == 3 && shape.dims.size() == 1)
        shape.dims = {one(op), shape.dims[0], one(op)};
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
    if (value.is(Kind::unknown))
      return op.run.heap().unknown("", op.run.heap().sharing(value), op.call.place);
    const auto known = sizes(op.run, value, {}, op.call.place);
    if (!known) return op.run.heap().unseen("", op.call.place);
    Shape shape{true, {}};
    for (const Int size : *known) shape.dims.push_back(op.dim(size));
    if (!(all = op.broadcast(*all, shape))) return op.run.heap().unseen("", op.call.place);
  }
  std::vector<Value> items;
  items.reserve(all->dims.size());
  for (const Dim& d : all->dims)
    items.push_back(
        d.size ? Value::of(d.size) : op.run.heap().unknown("", values::Sharing::local, op.call.place));
  return op.tuple(std::move(items));
}

constexpr Operator expanding_operators[] = {
    {"expand", "input, size, *more, implicit=False", "method spread torch.expand_copy", expand, Type::input},
    {"broadcast_to", "input, size, *more", "torch method spread", expand, Type::input},
    {"expand_as", "input, other", "method", expand_as, Type::input},
    {"broadcast_tensors", "tensors, *more", "torch", broadcast_tensors, Type::own},
    {"broadcast_shapes", "shapes, *more", "torch", broadcast_shapes, Type::own},
    {"repeat", "input, repeats, *more", "method spread", repeat, Type::input},
    {"tile", "input, dims, *more", "torch method spread", repeat, Type::input},
    {"repeat_interleave", "input, repeats=None, dim=None, *, output_size=None", "torch method",
        repeat_interleave, Type::own},
    {"atleast_1d", "tensors, *more", "torch", at_least_1d, Type::own},
    {"atleast_2d", "tensors, *more", "torch", at_least_2d, Type::own},
    {"atleast_3d", "tensors, *more", "torch", at_least_3d, Type::own},
};

}  // namespace

std::vector<Row> expanding_rows() { return operator_rows(expanding_operators); }

}  // namespace stepzero::libraries
