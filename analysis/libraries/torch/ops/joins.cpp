// Operators that join tensors.
#include "libraries/table/presumption.hpp"
#include "libraries/torch/ops/splits.hpp"
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
    if (!whole->shape.ndim_known || whole->shape.dims.empty()) return std::nullopt;
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
    return op.run.policy().joins_equivalent ? op.run.heap().one_of_equivalent(op.run.resolve(item), true)
                                            : item;
  };
  for (const Value& item : *items) {
    if (const Value part = op.run.resolve(item);
        part.is(Kind::none) || part.is(Kind::string) || part.is(Kind::integer) || part.is(Kind::real)) {
      op.fail(ProblemKind::argument,
          interpreter::WrongKind{interpreter::WrongKind::Need::tensors,
              part.is(Kind::none)         ? interpreter::WrongKind::Has::none
                  : part.is(Kind::string) ? interpreter::WrongKind::Has::text
                                          : interpreter::WrongKind::Has::number,
              op.taker(), ordinal(parts.states.size()), {}});
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
  if (!part || !part->shape.ndim_known) return Answer::unknown;
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
        return part && part->shape.ndim_known && part->shape.dims.size() == 1;
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
      if (part && !part->shape.ndim_known && part->shape.dims.size() > 1) shaped.push_back({i, part});
      complete = false;
      continue;
    }
    shaped.push_back({i, part});
    if (part->shape.dims.empty() && part->shape.ndim_known) {
      op.fail(ProblemKind::concat, why<Reason::join_of_number>(code(op.title()), ordinal(i)));
      return std::nullopt;
    }
    if (!part->shape.ndim_known) continue;
    if (rank && *rank != part->shape.dims.size()) {
      op.fail(ProblemKind::concat,
          interpreter::ShapesApart{interpreter::ShapesApart::dimensions, op.taker(),
              {{ordinal(first_of_rank), parts.states[first_of_rank]->shape}, {ordinal(i), part->shape}}});
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
            why<Reason::join_sizes>(code(op.title()), at, ordinal(decided[k]),
                parts.states[decided[k]]->shape, ordinal(i), part->shape, dim, given, k),
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
void watch_iterations(Op& op, const Parts& parts, std::optional<std::size_t> joined) {
  if (!parts.open || parts.states.size() != 1 || !parts.states[0] || !parts.states[0]->shape.ndim_known)
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
    if (!part || !part->shape.ndim_known) {
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
          interpreter::ShapesApart{interpreter::ShapesApart::one_shape, op.taker(),
              {{ordinal(from), parts.states[from]->shape}, {ordinal(i), part->shape}}});
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
  if (op.title() == "cat") op.raising("ValueError");
  op.fail(ProblemKind::concat, why<Reason::empty_join>(code(op.title())));
  return true;
}

// A tensor is a sequence of its parts to Python, and not to these.
bool is_given_one_tensor(Op& op) {
  const Value given = op.argument("tensors");
  const TensorState* state = given.is(Kind::tensor) ? op.tensor(given) : nullptr;
  if (!state || state->unseen || state->maybe_array || is_presumed(state)) return false;
  op.raising("TypeError")
      .fail(ProblemKind::argument, why<Reason::join_of_tensor>(code(op.title()), op.name("tensors")));
  return true;
}

Value cat(Op& op) {
  if (is_given_one_tensor(op)) return op.unknown();
  const auto parts = parts_of(op, "tensors");
  if (!parts || none_to_join(op, *parts)) return op.result({}, Dtype::unknown);
  const auto at = op.integer("dim");
  const auto dtype = dtype_of(op, *parts);
  if (!at) {
    // One of the dimensions is another.
    Shape shape;
    for (const TensorState* part : parts->states)
      if (is_nothing(op, part) == Answer::no && part->shape.ndim_known)
        shape = {true, std::vector<Dim>(part->shape.dims.size())};
    return op.result(shape, dtype);
  }
  const auto shape = concatenated(op, *parts, *at);
  if (shape && shape->ndim_known)
    watch_iterations(op, *parts,
        static_cast<std::size_t>(*at < 0 ? *at + static_cast<std::int64_t>(shape->dims.size()) : *at));
  return shape ? op.result(*shape, dtype) : op.unknown();
}

Value stack(Op& op) {
  if (is_given_one_tensor(op)) return op.unknown();
  const auto parts = parts_of(op, "tensors");
  if (!parts || none_to_join(op, *parts)) return op.result({}, Dtype::unknown);
  const auto at = op.integer("dim");
  const auto dtype = dtype_of(op, *parts);
  if (!at) return op.result({}, dtype);
  const auto shape = stacked(op, *parts, *at);
  if (shape) watch_iterations(op, *parts, std::nullopt);
  return shape ? op.result(*shape, dtype) : op.unknown();
}

// The parts with at least so many dimensions, as atleast_1d… makes them.
Parts raised(Op& op, const Parts& parts, std::size_t least) {
  Parts out = parts;
  for (const TensorState*& part : out.states) {
    if (!part) continue;
    if (!part->shape.ndim_known) {
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
  if (all.states.empty() || !all.states[0] || !all.states[0]->shape.ndim_known)
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
    if (!part->shape.ndim_known) {
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

constexpr Operator join_operators[] = {
    {"cat", "tensors, dim=0, *, out=None", "torch torch.concat torch.concatenate", cat, Type::own},
    {"stack", "tensors, dim=0, *, out=None", "torch", stack, Type::own},
    {"hstack", "tensors, *, out=None", "torch", hstack, Type::own},
    {"vstack", "tensors, *, out=None", "torch torch.row_stack", vstack, Type::own},
    {"dstack", "tensors, *, out=None", "torch", dstack, Type::own},
    {"column_stack", "tensors, *, out=None", "torch", column_stack, Type::own},
};

}  // namespace

std::vector<Row> join_rows() {
  std::vector<Row> rows = operator_rows(join_operators);
  for (Row& each : split_rows()) rows.push_back(std::move(each));
  return rows;
}

}  // namespace stepzero::libraries
