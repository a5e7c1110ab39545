// Operators that join tensors and take them apart.
#include "libraries/torch/ops/views.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- the parts

// Tensors that are joined: those that are known one by one, or any number like one.
struct Parts {
  std::vector<const TensorState*> states;  // null where nothing is known
  bool open = false;                       // there may be more, like the last
  Int count = nullptr;
};

std::string ordinal(std::size_t i) {
  constexpr std::string_view names[] = {"first", "second", "third", "fourth", "fifth", "sixth"};
  return i < 6 ? "the " + std::string(names[i]) : "number " + std::to_string(i + 1);
}

std::optional<Parts> parts_of(Op& op, std::string_view name) {
  const Value given = op.argument(name);
  Parts parts;
  if (given.is(Kind::list) && values::Heap::list_state(given)->open) {
    const auto* state = values::Heap::list_state(given);
    for (const Value& item : state->items) parts.states.push_back(op.tensor(item));
    parts.states.push_back(state->rest ? op.tensor(state->rest) : nullptr);
    parts.open = true;
    parts.count = state->length;
    return parts;
  }
  if (given.is(Kind::unknown) && given.as<values::Unknown>()->element &&
      !given.as<values::Unknown>()->state.value) {
    parts.states.push_back(op.tensor(given.as<values::Unknown>()->element));
    parts.open = true;
    return parts;
  }
  if (const TensorState* whole = op.tensor(given); whole && given.is(Kind::tensor)) {
    // A tensor is taken for the sequence of its parts.
    if (!whole->shape.rank_known || whole->shape.dims.empty()) return std::nullopt;
    TensorState part = *whole;
    part.shape.dims.erase(part.shape.dims.begin());
    parts.states.push_back(op.run.heap().state(part));
    parts.open = true;
    parts.count = whole->shape.dims[0].size;
    return parts;
  }
  if (!given.is(Kind::list) && !given.is(Kind::tuple)) return std::nullopt;
  const auto items = op.run.elements(given, op.call.place);
  if (!items) return std::nullopt;
  // To be shown, one of two tensors is as much of both as is the same.
  const auto one = [&](const Value& item) {
    return op.run.policy().joins_alike ? op.run.heap().one_of_alike(op.run.resolve(item), true) : item;
  };
  for (const Value& item : *items) {
    if (const Value part = op.run.resolve(item);
        part.is(Kind::none) || part.is(Kind::string) || part.is(Kind::integer) || part.is(Kind::real)) {
      op.fail(ProblemKind::argument,
          code(op.title()) + " takes tensors, and " + ordinal(parts.states.size()) + " is " +
              (part.is(Kind::none)            ? "None"
                      : part.is(Kind::string) ? "a string"
                                              : "a number"));
      return std::nullopt;
    }
    parts.states.push_back(op.tensor(one(item)));
  }
  parts.count = op.s.constant(static_cast<std::int64_t>(items->size()));
  return parts;
}

Dtype dtype_of(Op& op, const Parts& parts) {
  Dtype all = Dtype::unknown;
  for (std::size_t i = 0; i < parts.states.size(); ++i) {
    if (!parts.states[i] || parts.states[i]->dtype == Dtype::unknown) return Dtype::unknown;
    all = i == 0 ? parts.states[i]->dtype : promote(all, parts.states[i]->dtype);
  }
  (void)op;
  return all;
}

// cat takes an empty vector anywhere: it adds nothing. Whether a part is one.
Answer is_nothing(const Op& op, const TensorState* part) {
  if (!part || !part->shape.rank_known) return Answer::unknown;
  if (part->shape.dims.size() != 1) return Answer::no;
  return op.equal(part->shape.dims[0], 0);
}

// The shape of all parts joined along `at`. Nullopt after fail().
std::optional<Shape> concatenated(Op& op, const Parts& parts, std::int64_t at, bool skips_nothing = true) {
  std::vector<std::pair<std::size_t, const TensorState*>> shaped;
  bool complete = !parts.open;
  // Where all are vectors, an empty one is a vector like the others.
  if ((at == 0 || at == -1) && !parts.states.empty() &&
      std::all_of(parts.states.begin(), parts.states.end(), [](const TensorState* part) {
        return part && part->shape.rank_known && part->shape.dims.size() == 1;
      }))
    skips_nothing = false;
  std::optional<std::size_t> rank;
  std::size_t first_of_rank = 0;
  for (std::size_t i = 0; i < parts.states.size(); ++i) {
    const TensorState* part = parts.states[i];
    const Answer nothing = skips_nothing ? is_nothing(op, part) : Answer::no;
    if (nothing == Answer::yes) continue;
    if (nothing == Answer::unknown) {
      // Perhaps [0], which has no say.
      if (part && !part->shape.rank_known && part->shape.dims.size() > 1) shaped.push_back({i, part});
      complete = false;
      continue;
    }
    shaped.push_back({i, part});
    if (part->shape.dims.empty() && part->shape.rank_known) {
      op.fail(ProblemKind::concat,
          code(op.title()) + " cannot join tensors without dimensions, and " + ordinal(i) +
              " is one; stack can");
      return std::nullopt;
    }
    if (!part->shape.rank_known) continue;
    if (rank && *rank != part->shape.dims.size()) {
      op.fail(ProblemKind::concat,
          code(op.title()) + " joins tensors of as many dimensions: " + ordinal(first_of_rank) + " is " +
              op.words(parts.states[first_of_rank]->shape) + ", " + ordinal(i) + " " + op.words(part->shape));
      return std::nullopt;
    }
    if (!rank) first_of_rank = i;
    rank = part->shape.dims.size();
  }
  if (shaped.empty()) {
    if (!complete || parts.states.empty()) return Shape{};
    return parts.states.front()->shape;
  }
  if (!rank) {
    // All known from the right only: the joined dimension stands at the same place in each.
    if (at >= 0) return Shape{};
    Shape out = shaped.front().second->shape;
    for (const auto& [i, part] : shaped) {
      const std::size_t shared = std::min(out.dims.size(), part->shape.dims.size());
      Shape both;
      for (std::size_t k = shared; k-- > 0;)
        both.dims.push_back(op.better(from_right(out, k), from_right(part->shape, k)));
      out = both;
    }
    if (static_cast<std::size_t>(-at) <= out.dims.size()) {
      Int total = complete ? op.s.constant(0) : nullptr;
      for (const auto& [i, part] : shaped)
        total = op.add(total, from_right(part->shape, static_cast<std::size_t>(-at - 1)).size);
      out.dims[out.dims.size() - static_cast<std::size_t>(-at)] = total ? op.made(total) : Dim{};
    }
    return out;
  }
  const auto axis = op.axis(at, *rank);
  if (!axis) return std::nullopt;
  Shape out{true, std::vector<Dim>(*rank)};
  Int total = complete && parts.states.size() == shaped.size() ? op.s.constant(0) : nullptr;
  if (complete && parts.states.size() != shaped.size()) total = op.s.constant(0);  // the others add nothing
  std::vector<std::size_t> decided(*rank, 0);
  for (const auto& [i, part] : shaped) {
    for (std::size_t k = 0; k < *rank; ++k) {
      const Dim given = from_right(part->shape, *rank - 1 - k);
      if (k == *axis) {
        total = op.add(total, given.size);
        continue;
      }
      Dim& dim = out.dims[k];
      if (op.equal(dim, given) == Answer::no) {
        op.fail(ProblemKind::concat,
            code(op.title()) + " along dimension " + std::to_string(at) +
                " needs the other sizes to agree: " + ordinal(decided[k]) + " is " +
                op.words(parts.states[decided[k]]->shape) + ", " + ordinal(i) + " " + op.words(part->shape) +
                ", which have " + op.words(dim) + " and " + op.words(given) + " in dimension " +
                std::to_string(k),
            {dim, given});
        return std::nullopt;
      }
      const Dim& chosen = op.better(dim, given);
      if (chosen.size == given.size && dim.size != given.size) decided[k] = i;
      dim = chosen;
    }
  }
  // Any number of parts of one size.
  if (!complete && parts.open && parts.count && parts.states.size() == 1 && shaped.size() == 1)
    if (const Int size = from_right(shaped[0].second->shape, *rank - 1 - *axis).size)
      total = op.s.mul(parts.count, size);
  if (shaped.size() == 1 && parts.states.size() == 1 && !parts.open)
    out.dims[*axis] = from_right(shaped[0].second->shape, *rank - 1 - *axis);
  else
    out.dims[*axis] = total ? op.made(total) : Dim{};
  return out;
}

// What every round of a loop has added to a list is joined: the sizes that differ with the batch have to be
// the same in all rounds.
void watch_rounds(Op& op, const Parts& parts, std::optional<std::size_t> joined) {
  if (!parts.open || parts.states.size() != 1 || !parts.states[0] || !parts.states[0]->shape.rank_known)
    return;
  const auto& dims = parts.states[0]->shape.dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i == joined || !dims[i].size || op.s.sharing(dims[i].size) < symbolic::Sharing::local) continue;
    (void)op.run.call(op.run.library_symbol(values::InternalRow::same_in_all),
        {{Value::of(dims[i].size)}, {}, false}, op.call.place);
  }
}

// The shape of all parts, which have to be alike, with a new dimension at `at`. Nullopt after fail().
std::optional<Shape> stacked(Op& op, const Parts& parts, std::int64_t at) {
  std::optional<Shape> all;
  std::size_t from = 0;
  bool complete = true;
  for (std::size_t i = 0; i < parts.states.size(); ++i) {
    const TensorState* part = parts.states[i];
    if (!part || !part->shape.rank_known) {
      complete = false;
      continue;
    }
    if (!all) {
      all = part->shape;
      from = i;
      continue;
    }
    bool same = all->dims.size() == part->shape.dims.size();
    for (std::size_t k = 0; same && k < all->dims.size(); ++k)
      same = op.equal(all->dims[k], part->shape.dims[k]) != Answer::no;
    if (!same) {
      op.fail(ProblemKind::concat,
          code(op.title()) + " needs tensors of one shape: " + ordinal(from) + " is " +
              op.words(parts.states[from]->shape) + ", " + ordinal(i) + " " + op.words(part->shape));
      return std::nullopt;
    }
    for (std::size_t k = 0; k < all->dims.size(); ++k)
      all->dims[k] = op.better(all->dims[k], part->shape.dims[k]);
  }
  (void)complete;
  if (!all) {
    // Known from the right.
    if (parts.states.empty() || !parts.states[0]) return Shape{};
    Shape out = parts.states[0]->shape;
    if (at == 0) return out;
    if (at > 0 || static_cast<std::size_t>(-at - 1) > out.dims.size()) return Shape{};
    out.dims.insert(
        out.dims.end() - static_cast<std::ptrdiff_t>(-at - 1), parts.count ? op.made(parts.count) : Dim{});
    return out;
  }
  const auto axis = op.axis(at, all->dims.size() + 1);
  if (!axis) return std::nullopt;
  all->dims.insert(
      all->dims.begin() + static_cast<std::ptrdiff_t>(*axis), parts.count ? op.made(parts.count) : Dim{});
  return all;
}

// ---------------------------------------------------------------- joining

bool none_to_join(Op& op, const Parts& parts) {
  if (!parts.states.empty() || parts.open) return false;
  op.fail(ProblemKind::concat, code(op.title()) + " needs at least one tensor, but the list is empty");
  return true;
}

Value cat(Op& op) {
  const auto parts = parts_of(op, "tensors");
  if (!parts || none_to_join(op, *parts)) return op.result({}, Dtype::unknown);
  const auto at = op.integer("dim");
  const auto dtype = dtype_of(op, *parts);
  if (!at) {
    // One of the dimensions is another.
    Shape shape;
    for (const TensorState* part : parts->states)
      if (is_nothing(op, part) == Answer::no && part->shape.rank_known)
        shape = {true, std::vector<Dim>(part->shape.dims.size())};
    return op.result(shape, dtype);
  }
  const auto shape = concatenated(op, *parts, *at);
  if (shape && shape->rank_known)
    watch_rounds(op, *parts,
        static_cast<std::size_t>(*at < 0 ? *at + static_cast<std::int64_t>(shape->dims.size()) : *at));
  return shape ? op.result(*shape, dtype) : op.unknown();
}

Value stack(Op& op) {
  const auto parts = parts_of(op, "tensors");
  if (!parts || none_to_join(op, *parts)) return op.result({}, Dtype::unknown);
  const auto at = op.integer("dim");
  const auto dtype = dtype_of(op, *parts);
  if (!at) return op.result({}, dtype);
  const auto shape = stacked(op, *parts, *at);
  if (shape) watch_rounds(op, *parts, std::nullopt);
  return shape ? op.result(*shape, dtype) : op.unknown();
}

// The parts with at least so many dimensions, as atleast_1d… makes them.
Parts raised(Op& op, const Parts& parts, std::size_t least) {
  Parts out = parts;
  for (const TensorState*& part : out.states) {
    if (!part) continue;
    if (!part->shape.rank_known) {
      if (part->shape.dims.size() < least) part = nullptr;
      continue;
    }
    if (part->shape.dims.size() >= least) continue;
    TensorState more = *part;
    auto& dims = more.shape.dims;
    if (least == 3 && dims.size() == 2)
      dims.push_back(op.dim(1));
    else if (least == 3 && dims.size() == 1)
      dims = {op.dim(1), dims[0], op.dim(1)};
    while (dims.size() < least) dims.insert(dims.begin(), op.dim(1));
    part = op.run.heap().state(more);
  }
  return out;
}

Value stack_rows(Op& op, std::size_t least, std::int64_t at) {
  const auto parts = parts_of(op, "tensors");
  if (!parts || none_to_join(op, *parts)) return op.result({}, Dtype::unknown);
  const auto shape = concatenated(op, raised(op, *parts, least), at);
  return shape ? op.result(*shape, dtype_of(op, *parts)) : op.unknown();
}
Value vstack(Op& op) { return stack_rows(op, 2, 0); }
Value dstack(Op& op) { return stack_rows(op, 3, 2); }
// Vectors are joined at their ends, everything else side by side.
Value hstack(Op& op) {
  const auto parts = parts_of(op, "tensors");
  if (!parts || none_to_join(op, *parts)) return op.result({}, Dtype::unknown);
  const Parts all = raised(op, *parts, 1);
  if (all.states.empty() || !all.states[0] || !all.states[0]->shape.rank_known)
    return op.result({}, dtype_of(op, *parts));
  const auto shape = concatenated(op, all, all.states[0]->shape.dims.size() == 1 ? 0 : 1);
  return shape ? op.result(*shape, dtype_of(op, *parts)) : op.unknown();
}
// Vectors become columns.
Value column_stack(Op& op) {
  const auto parts = parts_of(op, "tensors");
  if (!parts || none_to_join(op, *parts)) return op.result({}, Dtype::unknown);
  Parts all = *parts;
  for (const TensorState*& part : all.states) {
    if (!part) continue;
    if (!part->shape.rank_known) {
      if (part->shape.dims.size() < 2) part = nullptr;
      continue;
    }
    if (part->shape.dims.size() >= 2) continue;
    TensorState more = *part;
    while (more.shape.dims.size() < 2) more.shape.dims.push_back(op.dim(1));
    part = op.run.heap().state(more);
  }
  const auto shape = concatenated(op, all, 1);
  return shape ? op.result(*shape, dtype_of(op, *parts)) : op.unknown();
}

// ---------------------------------------------------------------- taking apart

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
    part = shape.rank_known ? Shape{true, std::vector<Dim>(shape.dims.size())} : Shape{};
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
  if (shape.rank_known && shape.dims.empty()) {
    made = op.fail(ProblemKind::index,
        code(op.title()) + " needs at least one dimension, but " + op.name("input") + " has none");
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
      return op.fail(ProblemKind::argument, "A part of size " + std::to_string(*value) + " is impossible");
    total = op.add(total, size);
  }
  if (total && op.equal(whole, op.dim(total)) == Answer::no)
    return op.fail(ProblemKind::argument,
        "The sizes " + sizes_words(op, sizes) + " add up to " + op.words(op.dim(total)) + ", but " +
            op.name(op.call.row.parameters[0].text()) + " has " + op.words(whole) + " in dimension " +
            std::to_string(op.integer("dim").value_or(0)),
        {whole});
  std::vector<Value> made;
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
    return op.fail(ProblemKind::argument, "Parts of size " + std::to_string(*value) + " are impossible");
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
    for (std::int64_t i = 0; i < *known_count; ++i) parts.push_back(piece(op, shape, *at, op.made(size)));
    if (*known_rest) parts.push_back(piece(op, shape, *at, op.made(rest)));
    return op.tuple(std::move(parts));
  }
  if (known_count && *known_count > 0 && *known_count <= most_pieces &&
      op.s.divides(size, whole.size) == Answer::yes) {
    std::vector<Value> parts;
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
  if (count && *count <= 0)
    return op.fail(
        ProblemKind::argument, "A tensor cannot be divided into " + std::to_string(*count) + " chunks");
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
  if (*count <= 0)
    return op.fail(
        ProblemKind::argument, "A tensor cannot be divided into " + std::to_string(*count) + " parts");
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
  if (!shape.rank_known) return op.run.heap().open_list(op.unknown());
  const std::string_view title = op.title();
  const std::size_t least = title == "hsplit" ? 1 : title == "vsplit" ? 2 : 3;
  if (shape.dims.size() < least)
    return op.fail(ProblemKind::index,
        std::string(title) + " needs at least " + count_of(least, "dimension") + ", but " + op.name("input") +
            " has shape " + op.words(shape));
  const std::size_t at = title == "vsplit" ? 0 : title == "dsplit" ? 2 : shape.dims.size() == 1 ? 0 : 1;
  if (const Value wanted = op.argument("indices_or_sections");
      wanted.is(Kind::integer) && shape.dims[at].size)
    if (op.s.value(wanted.integer()) == 0 ||
        op.s.divides(wanted.integer(), shape.dims[at].size) == Answer::no)
      return op.fail(ProblemKind::argument,
          op.name("input") + " has " + op.words(shape.dims[at]) + " in dimension " + std::to_string(at) +
              ", which " + op.words(op.dim(wanted.integer())) + " equal parts do not divide",
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

constexpr Operator operators[] = {
    {"cat", "tensors, dim=0, *, out=None", "torch torch.concat torch.concatenate", cat, Type::own},
    {"stack", "tensors, dim=0, *, out=None", "torch", stack, Type::own},
    {"hstack", "tensors, *, out=None", "torch", hstack, Type::own},
    {"vstack", "tensors, *, out=None", "torch torch.row_stack", vstack, Type::own},
    {"dstack", "tensors, *, out=None", "torch", dstack, Type::own},
    {"column_stack", "tensors, *, out=None", "torch", column_stack, Type::own},

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

std::vector<Row> join_rows() { return operator_rows(operators); }

}  // namespace stepzero::libraries
