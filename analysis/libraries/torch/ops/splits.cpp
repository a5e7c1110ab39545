#include "libraries/torch/ops/splits.hpp"

#include "libraries/torch/ops/views.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// A list of the pieces, where it is known how many there are; else any number of the last.
constexpr std::int64_t most_pieces = 64;

Value piece(Op& op, const Shape& shape, std::size_t at, const Dim& size) {
  Shape part = shape;
  part.dims[at] = size;
  return op.result(part, op.result_type(Type::input));
}
Value pieces_unknown(Op& op, const Shape& shape, std::optional<std::size_t> at, Int count = nullptr) {
  Shape part = shape;
  if (at)
    part.dims[*at] = Dim{};
  else
    part = shape.ndim_known ? Shape{true, std::vector<Dim>(shape.dims.size())} : Shape{};
  return op.run.heap().open_list(op.result(part, op.result_type(Type::input)), count);
}

// The size of the first is known; how many follow, and how large the last is, are not.
Value pieces_from(Op& op, const Shape& shape, std::size_t at, Int first) {
  const Value all = pieces_unknown(op, shape, at);
  if (first) values::Heap::list_state(all)->items.push_back(piece(op, shape, at, op.made(first)));
  return all;
}

// The dimension that is divided up; nullopt (with `made` set) where nothing more can be said.
std::optional<std::size_t> divided(Op& op, Shape& shape, Value& made) {
  const TensorState* input = op.expect(op.call.row.parameters[0].text());
  if (!input) {
    made = op.run.heap().open_list(op.unknown());
    return std::nullopt;
  }
  shape = input->shape;
  if (shape.ndim_known && shape.dims.empty()) {
    made = op.refuse_shape(ProblemKind::index, ShapeNeed::at_least(1), "input");
    return std::nullopt;
  }
  const auto at = find_dim(op, shape, "dim");
  if (op.failed())
    made = op.unknown();
  else if (!at)
    made = pieces_unknown(op, shape, std::nullopt);
  return at;
}

Value split_by(Op& op, const Shape& shape, std::size_t at, const std::vector<Int>& sizes) {
  const Dim whole = shape.dims[at];
  Int total = op.s.constant(0);
  for (const Int size : sizes) {
    if (const auto value = size ? op.s.value(size) : std::nullopt; value && *value < 0)
      return op.refuse_number({}, op.dim(*value));
    total = op.add(total, size);
  }
  if (total && op.equal(whole, op.dim(total)) == Answer::no)
    return op.fail(ProblemKind::argument,
        why<Reason::split_sizes>(code(sizes_words(op, sizes)), op.dim(total),
            op.name(op.call.row.parameters[0].text()), whole, op.integer("dim").value_or(0)),
        {whole});
  std::vector<Value> made;
  made.reserve(sizes.size());
  for (const Int size : sizes) made.push_back(piece(op, shape, at, size ? op.made(size) : Dim{}));
  return op.tuple(std::move(made));
}

Value split(Op& op) {
  Shape shape;
  Value made;
  const auto at = divided(op, shape, made);
  if (!at) return made;
  const std::string_view parameter = op.call.row.parameters[1].text();
  const Value wanted = op.argument(parameter);
  if (wanted.is(Kind::list) || wanted.is(Kind::tuple)) {
    const auto sizes = wanted_sizes(op, parameter);
    if (!sizes || !sizes->complete) return pieces_unknown(op, shape, at);
    return split_by(op, shape, *at, sizes->sizes);
  }
  // What was used as a number is one.
  const Int size = wanted.is(Kind::integer) ? wanted.integer()
      : wanted.is(Kind::unknown)            ? wanted.as<values::Unknown>()->integer
                                            : nullptr;
  const Dim whole = shape.dims[*at];
  if (!size) return pieces_unknown(op, shape, at);
  if (const auto value = op.s.value(size);
      value && (*value < 0 || (*value == 0 && op.equal(whole, 0) == Answer::no)))
    return op.refuse_number({}, op.dim(*value));
  if (!whole.size) return pieces_unknown(op, shape, at);
  if (op.s.value(size) == 0) return op.tuple({piece(op, shape, *at, op.dim(std::int64_t{0}))});
  // n parts and what is left
  if (whole.size == size) return op.tuple({piece(op, shape, *at, whole)});
  const Int rest = op.s.mod(whole.size, size), count = op.s.floordiv(whole.size, size);
  if (op.s.compare(Compare::ge, size, whole.size) == Answer::yes &&
      op.s.compare(Compare::gt, size, op.s.constant(0)) == Answer::yes)
    return op.tuple({piece(op, shape, *at, whole)});
  const auto known_rest = op.s.value(rest), known_count = op.s.value(count);
  if (known_count && known_rest && *known_count > 0 && *known_count <= most_pieces) {
    std::vector<Value> parts;
    parts.reserve(static_cast<std::size_t>(*known_count) + 1);
    for (std::int64_t i = 0; i < *known_count; ++i) parts.push_back(piece(op, shape, *at, op.made(size)));
    if (*known_rest) parts.push_back(piece(op, shape, *at, op.made(rest)));
    return op.tuple(std::move(parts));
  }
  if (known_count && *known_count > 0 && *known_count <= most_pieces &&
      op.s.divides(size, whole.size) == Answer::yes) {
    std::vector<Value> parts;
    parts.reserve(static_cast<std::size_t>(*known_count) + 1);
    for (std::int64_t i = 0; i < *known_count; ++i) parts.push_back(piece(op, shape, *at, op.made(size)));
    return op.tuple(std::move(parts));
  }
  // A half each: a program that takes two has an even number.
  for (std::int64_t parts = 2; op.run.policy().operands_fit && parts <= 4; ++parts)
    if (op.s.floordiv(whole.size, op.s.constant(parts)) == size) {
      std::vector<Value> made_parts(static_cast<std::size_t>(parts));
      for (Value& part : made_parts) part = piece(op, shape, *at, op.made(size));
      return op.tuple(std::move(made_parts));
    }
  if (op.s.divides(size, whole.size) == Answer::yes)
    // Of nothing there is one part, of size 0.
    return op.run.heap().open_list(
        piece(op, shape, *at, op.made(smaller(op, size, whole.size))), known_count == 0 ? nullptr : count);
  return pieces_from(op, shape, *at, is_size(op, size) ? smaller(op, size, whole.size) : nullptr);
}

Value split_with_sizes(Op& op) { return split(op); }

// chunk(n): parts of the size rounded up, perhaps fewer than n.
Value chunk(Op& op) {
  Shape shape;
  Value made;
  const auto at = divided(op, shape, made);
  if (!at) return made;
  const Int chunks = op.size("chunks");
  const auto count = chunks ? op.s.value(chunks) : std::nullopt;
  if (count && *count <= 0) return op.refuse_number("chunks", op.dim(*count));
  const Dim whole = shape.dims[*at];
  if (!chunks) return pieces_unknown(op, shape, at);
  if (!whole.size) {
    // As many as were asked for, unless there are too few elements.
    return pieces_unknown(op, shape, at);
  }
  if (op.s.divides(chunks, whole.size) == Answer::yes) {
    const auto exact = op.s.exact_quotient(whole.size, chunks);
    const Dim part = op.made(exact ? *exact : op.s.floordiv(whole.size, chunks));
    if (count && *count <= most_pieces) {
      std::vector<Value> parts(static_cast<std::size_t>(*count));
      for (Value& one_part : parts) one_part = piece(op, shape, *at, part);
      return op.tuple(std::move(parts));
    }
    return op.run.heap().open_list(piece(op, shape, *at, part), chunks);
  }
  const auto length = op.s.value(whole.size);
  if (count && length && *count <= most_pieces) {
    const std::int64_t size = (*length + *count - 1) / *count;
    std::vector<Value> parts;
    for (std::int64_t from = 0; from < *length; from += size)
      parts.push_back(piece(op, shape, *at, op.made(op.s.constant(std::min(size, *length - from)))));
    return op.tuple(std::move(parts));
  }
  return pieces_from(op, shape, *at,
      count ? op.s.floordiv(op.s.add(whole.size, op.s.constant(*count - 1)), chunks) : nullptr);
}

// Parts that differ by at most one, or that end at the given indices.
std::optional<std::vector<std::int64_t>> integers_of(Op& op, const values::Content& content) {
  std::vector<std::int64_t> found;
  for (const values::Number& number : content.numbers) {
    const auto value = number.integer ? op.s.value(number.integer) : std::nullopt;
    if (!value) return std::nullopt;
    found.push_back(*value);
  }
  return found;
}
Value tensor_split_at(Op& op, const Shape& shape, std::size_t at) {
  const std::string_view parameter = op.call.row.parameters[1].text();
  const Value wanted = op.argument(parameter);
  const Dim whole = shape.dims[at];
  const auto length = op.value(whole);
  const values::Content* listed = op.tensor(wanted) ? op.content(wanted) : nullptr;
  if (wanted.is(Kind::list) || wanted.is(Kind::tuple) || (listed && !listed->is_scalar)) {
    const auto ends = listed ? integers_of(op, *listed) : op.integers(parameter);
    if (!ends) return pieces_unknown(op, shape, at);
    std::vector<Value> parts;
    std::int64_t from = 0;
    for (std::size_t i = 0; i <= ends->size(); ++i) {
      Dim part;
      if (length) {
        const std::int64_t end = i < ends->size() ? (*ends)[i] : *length;
        const auto clamped = [&](std::int64_t bound) {
          return std::clamp<std::int64_t>(bound < 0 ? bound + *length : bound, 0, *length);
        };
        part = op.made(op.s.constant(std::max<std::int64_t>(0, clamped(end) - clamped(from))));
        from = end;
      }
      parts.push_back(piece(op, shape, at, part));
    }
    return op.tuple(std::move(parts));
  }
  const Int parts_asked = wanted.is(Kind::integer) ? wanted.integer()
      : listed && listed->numbers.size() == 1      ? listed->numbers[0].integer
                                                   : nullptr;
  const auto count = parts_asked ? op.s.value(parts_asked) : std::nullopt;
  if (!count) return pieces_unknown(op, shape, at);
  if (*count <= 0) return op.refuse_number("parts", op.dim(*count));
  if (*count > most_pieces) return pieces_unknown(op, shape, at, op.s.constant(*count));
  std::vector<Value> parts;
  const Int number = op.s.constant(*count);
  const bool even = whole.size && op.s.divides(number, whole.size) == Answer::yes;
  for (std::int64_t i = 0; i < *count; ++i) {
    Dim part;
    if (length)
      part = op.made(op.s.constant(*length / *count + (i < *length % *count ? 1 : 0)));
    else if (even)
      part = op.made(op.s.floordiv(whole.size, number));
    parts.push_back(piece(op, shape, at, part));
  }
  return op.tuple(std::move(parts));
}
Value tensor_split(Op& op) {
  Shape shape;
  Value made;
  const auto at = divided(op, shape, made);
  return at ? tensor_split_at(op, shape, *at) : made;
}
// hsplit, vsplit, dsplit: along a fixed dimension, into equal parts where a number is given.
Value split_along(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.run.heap().open_list(op.unknown());
  Shape shape = input->shape;
  if (!shape.ndim_known) return op.run.heap().open_list(op.unknown());
  const std::string_view title = op.title();
  const std::size_t least = title == "hsplit" ? 1 : title == "vsplit" ? 2 : 3;
  if (shape.dims.size() < least)
    return op.refuse_shape(ProblemKind::index, ShapeNeed::at_least(static_cast<int>(least)), "input");
  const std::size_t at = title == "vsplit" ? 0 : title == "dsplit" ? 2 : shape.dims.size() == 1 ? 0 : 1;
  if (const Value wanted = op.argument("indices_or_sections");
      wanted.is(Kind::integer) && shape.dims[at].size)
    if (op.s.value(wanted.integer()) == 0 ||
        op.s.divides(wanted.integer(), shape.dims[at].size) == Answer::no)
      return op.fail(ProblemKind::argument,
          why<Reason::equal_parts>(op.name("input"), shape.dims[at], at, op.dim(wanted.integer())),
          {shape.dims[at]});
  return tensor_split_at(op, shape, at);
}

Value unbind(Op& op) {
  Shape shape;
  Value made;
  const auto at = divided(op, shape, made);
  if (!at) return made;
  const Dim whole = shape.dims[*at];
  shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(*at));
  const auto count = op.value(whole);
  if (count && *count <= most_pieces) {
    std::vector<Value> parts(static_cast<std::size_t>(*count));
    for (Value& part : parts) part = op.result(shape, op.result_type(Type::input));
    return op.tuple(std::move(parts));
  }
  return op.run.heap().open_list(op.result(shape, op.result_type(Type::input)), whole.size);
}

constexpr Operator split_operators[] = {
    {"split", "input, split_size, dim=0", "method", split, Type::own},
    {"unsafe_split", "input, split_size, dim=0", "torch method", split, Type::own},
    {"split", "tensor, split_size_or_sections, dim=0", "torch", split, Type::own},
    {"split_with_sizes", "input, split_sizes, dim=0",
        "torch method torch.split_with_sizes_copy torch.unsafe_split_with_sizes torch.Tensor.unsafe_split_with_sizes",
        split_with_sizes, Type::own},
    {"chunk", "input, chunks, dim=0", "torch method torch.unsafe_chunk torch.Tensor.unsafe_chunk", chunk,
        Type::own},
    {"tensor_split", "input, indices_or_sections, dim=0", "torch method", tensor_split, Type::own},
    {"hsplit", "input, indices_or_sections", "torch method", split_along, Type::own},
    {"vsplit", "input, indices_or_sections", "torch method", split_along, Type::own},
    {"dsplit", "input, indices_or_sections", "torch method", split_along, Type::own},
    {"unbind", "input, dim=0", "torch method torch.unbind_copy", unbind, Type::own},
};

}  // namespace

std::vector<Row> split_rows() { return operator_rows(split_operators); }

}  // namespace stepzero::libraries
