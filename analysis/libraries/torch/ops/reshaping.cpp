// Operators that give the same elements in the same order other dimensions: reshape, view, flatten. A view of
// elements that do not lie in order is refused.
#include "libraries/torch/ops/joinable.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "libraries/torch/ops/views.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace stepzero::libraries {

namespace {

// The dims of the result, where they are old ones or products of neighbors, keep what is known of those:
// walked from the left and then from the right, as far as the elements fit together.
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
      constexpr std::size_t most_joined = 8;  // dimensions that `view` makes one: layouts have fewer
      while (k < old.size() && total != made.size && group.size() < most_joined) {
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

// Where shapes are shown: what -1 stands for in a view of a tensor of which not even the rank is known, by
// the tensor's name. Else null.
Int all_but(Op& op, Int others) {
  const std::string_view first = op.call.row.parameters[0].text();
  const syntax::Expr* written = op.run.policy().names_sizes ? op.expression(first) : nullptr;
  if (!written || (written->kind != syntax::ExprKind::name && written->kind != syntax::ExprKind::attribute))
    return nullptr;
  symbolic::AtomInfo info;
  info.name = op.plain_name(first) + ".numel()" +
      (op.s.value(others) == 1 ? ""
                               : "//" +
                  (op.s.is_atom(others) || op.s.value(others) ? op.s.text(others)
                                                              : "(" + op.s.text(others) + ")"));
  info.lower = 0;
  info.sharing = Sharing::local;
  info.stand_in = true;
  return op.s.fresh(info);
}

// view(-1, 400) of images of which each has 576 elements: right for no usual batch, and where it runs rows
// hold parts of several.
void mixes_samples(
    Op& op, const Shape& from, std::span<const Int> sizes, std::ptrdiff_t inferred, Int known) {
  const std::int64_t width = known ? op.s.value(known).value_or(0) : 0;
  if (inferred != 0 || sizes.size() != 2 || from.dims.size() != 4 || width < 2 || op.value(from.dims[0]) ||
      op.run.guarded())
    return;
  const Int rest = op.product(std::span(from.dims).subspan(1));
  const std::int64_t each = rest ? op.s.value(rest).value_or(0) : 0;
  if (each < 2 || width % each == 0 || each % width == 0) return;
  const std::int64_t multiple = width / std::gcd(width, each);
  op.fail_when(
      op.s.compared(Compare::ne, op.s.mod(from.dims[0].size, op.s.constant(multiple)), op.s.constant(0)),
      ProblemKind::reshape,
      why<Reason::samples_joined>(
          op.name(op.call.row.parameters[0].text()), from, each, from.dims[0], op.title(), width, multiple));
}

// The shape of `wanted`, one of whose sizes may be -1, for the elements of `from`.
class Reshape {
public:
  Reshape(Op& call, const Shape& shape, const Sizes& asked)
      : op(call), from(shape), wanted(asked), sizes(asked.sizes),
        total(shape.ndim_known ? call.product(shape.dims) : nullptr) {}
  std::optional<Shape> result();  // nullopt after fail()

private:
  bool find_inferred();
  bool holds_all_elements();
  bool differs_for_certain(Int known) const;
  bool differs_unless_empty(Int known);
  void solve_open_size();
  Int product_without(std::ptrdiff_t skipped) const;
  bool refuse(interpreter::Refusal refusal);
  std::string input() const { return op.name(op.call.row.parameters[0].text()); }
  std::string call() const { return code(std::string(op.title()) + sizes_words(op, sizes)); }

  Op& op;
  const Shape& from;
  const Sizes& wanted;
  std::vector<Int> sizes;
  const Int total;  // of the elements; null where it is not known
  std::ptrdiff_t inferred = -1;
};

std::optional<Shape> Reshape::result() {
  if (!find_inferred()) return std::nullopt;
  if (total && wanted.complete) {
    if (!holds_all_elements()) return std::nullopt;
    solve_open_size();
  } else if (inferred >= 0) {
    const Int known = product_without(inferred);
    sizes[static_cast<std::size_t>(inferred)] = wanted.complete && known ? all_but(op, known) : nullptr;
  }
  Shape out{wanted.complete, {}};
  for (const Int size : sizes) out.dims.push_back(size ? op.made(size) : Dim{});
  if (total && wanted.complete) trace(op, from, out.dims);
  return out;
}

bool Reshape::refuse(interpreter::Refusal refusal) {
  const std::initializer_list<Dim> none = {};
  op.fail(ProblemKind::reshape, std::move(refusal),
      from.dims.empty() ? none : std::initializer_list<Dim>{from.dims.back()});
  // The first of the dimensions before the last that does not stay as it is.
  interpreter::ProblemEvent* told = op.told();
  for (std::size_t i = 0; told && i + 1 < from.dims.size() && i < wanted.sizes.size(); ++i) {
    Dim asked;
    asked.size = wanted.sizes[i];
    if (op.equal(from.dims[i], asked) != Answer::no || op.s.value(asked.size) == -1) continue;
    told->left = from.dims[i];
    told->right = asked;
    break;
  }
  return false;
}

bool Reshape::find_inferred() {
  for (std::size_t i = 0; i < wanted.sizes.size(); ++i) {
    const auto value = wanted.sizes[i] ? op.s.value(wanted.sizes[i]) : std::nullopt;
    if (value && *value < -1) return refuse(why<Reason::negative_size>(*value));
    if (value != -1) continue;
    if (inferred >= 0) return refuse(why<Reason::two_inferred>(code(sizes_words(op, wanted.sizes))));
    inferred = static_cast<std::ptrdiff_t>(i);
  }
  return true;
}

Int Reshape::product_without(std::ptrdiff_t skipped) const {
  Int product = op.s.constant(1);
  for (std::size_t i = 0; i < wanted.sizes.size() && product; ++i)
    if (static_cast<std::ptrdiff_t>(i) != skipped) product = op.mul(product, wanted.sizes[i]);
  return product;
}

bool Reshape::holds_all_elements() {
  const Int known = product_without(inferred);
  if (known && inferred < 0) {
    if (differs_for_certain(known))
      return refuse(why<Reason::view_size>(input(), from, op.dim(total), call(), op.dim(known)));
    if (!op.failed() && differs_unless_empty(known)) return false;
  }
  if (known && inferred >= 0 && op.s.value(known) == 0)
    return refuse(why<Reason::view_zero>(input(), from, op.dim(total)));
  if (known && inferred >= 0 && op.s.divides(known, total) == Answer::no)
    return refuse(why<Reason::view_multiple>(input(), from, op.dim(total), call(), op.dim(known)));
  mixes_samples(op, from, sizes, inferred, known);
  return true;
}

// A size that is not known may be -1.
bool Reshape::differs_for_certain(Int known) const {
  if (op.s.compare(Compare::eq, total, known) != Answer::no) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (is_size(op, sizes[i])) continue;
    const Int others = product_without(static_cast<std::ptrdiff_t>(i));
    if (op.s.value(others) == 0 || op.s.divides(others, total) != Answer::no) return false;
  }
  return true;
}

// Without the sizes that are on both sides: it fails unless one of those is 0.
bool Reshape::differs_unless_empty(Int known) {
  std::vector<Int> before, after = sizes;
  values::Cond when = op.s.boolean(true);
  for (const Dim& dim : from.dims) {
    const auto same = op.s.value(dim.size) ? after.end() : std::find(after.begin(), after.end(), dim.size);
    if (same == after.end()) {
      before.push_back(dim.size);
      continue;
    }
    after.erase(same);
    when = op.s.logical_and(when, op.s.compared(Compare::ne, dim.size, op.s.constant(0)));
  }
  const auto product_of = [&](const std::vector<Int>& all) {
    Int product = op.s.constant(1);
    for (const Int size : all) product = op.s.mul(product, size);
    return product;
  };
  const bool all_sizes = std::ranges::all_of(after, [&](Int size) { return is_size(op, size); });
  if (all_sizes && before.size() < from.dims.size() &&
      op.s.compare(Compare::eq, product_of(before), product_of(after)) == Answer::no)
    op.fail_when(when, ProblemKind::reshape,
        why<Reason::view_size>(input(), from, op.dim(total), call(), op.dim(known)));
  return op.failed();
}

// What one size has to be follows from the others, whatever was written there.
void Reshape::solve_open_size() {
  std::ptrdiff_t open = inferred;
  if (open < 0)
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (!sizes[i] || !is_size(op, sizes[i])) open = open == -1 ? static_cast<std::ptrdiff_t>(i) : -2;
  if (open < 0) return;
  const Int others = product_without(open);
  Int& solved = sizes[static_cast<std::size_t>(open)];
  if (others && open != inferred && solved)
    op.run.note_fit(total, op.s.mul(others, solved), false, op.call.place);
  if (others && op.s.value(others) != 0) {
    if (const auto exact = op.s.exact_quotient(total, others))
      solved = *exact;
    else if (open == inferred || !solved)
      solved = op.s.floordiv(total, others);
  } else if (open == inferred) {
    solved = nullptr;
  }
}

std::optional<Shape> reshaped(Op& op, const Shape& from, const Sizes& wanted) {
  return Reshape(op, from, wanted).result();
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

// view(dtype): the same bytes read as another type.
Value view(Op& op) {
  Value type = op.argument("dtype");
  if (const Value first = op.argument("size"); first.is(Kind::dtype)) type = first;
  if (!type) return reshape_to(op, "size");
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const Dtype wanted = to_dtype(type);
  const int before = values::width(input->dtype),
            after = values::width(type.is(Kind::dtype) ? type.dtype() : wanted);
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
  const Sizes wanted = sizes_of(other->shape);
  const auto shape = reshaped(op, input->shape, wanted);
  if (!shape) return op.unknown();
  Shape out = *shape;
  for (std::size_t i = 0; i < out.dims.size() && i < other->shape.dims.size(); ++i)
    if (other->shape.dims[i].size == out.dims[i].size && other->shape.dims[i].origin && !out.dims[i].factors)
      out.dims[i] = other->shape.dims[i];
  return op.result(out);
}

Value unflatten(Op& op);
Value flatten(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const auto start = op.integer("start_dim"), end = op.integer("end_dim");
  if (!start || !end) return op.unknown();
  Shape shape = input->shape;
  if (shape.ndim_known) {
    const auto first = op.axis(*start, shape.dims.size());
    const auto last = first ? op.axis(*end, shape.dims.size()) : std::nullopt;
    if (!first || !last) return op.unknown();
    if (shape.dims.empty()) return op.result({true, {one(op)}});
    if (*first > *last)
      return op.fail(ProblemKind::index, why<Reason::flattened_none>(*start, *end, shape.dims.size()));
    const auto from = shape.dims.begin() + static_cast<std::ptrdiff_t>(*first),
               to = shape.dims.begin() + static_cast<std::ptrdiff_t>(*last) + 1;
    const Dim all = joined_dim(op, {from, to});
    shape.dims.insert(shape.dims.erase(from, to), all);
    return op.result(shape);
  }
  if (*end >= 0) return op.unknown();
  if (*start >= 0) {
    // Everything after `start` up to the end becomes one dimension.
    if (*end != -1) return op.unknown();
    return op.result({true, std::vector<Dim>(static_cast<std::size_t>(*start) + 1)});
  }
  const auto first = find_dim(op, shape, *start), last = find_dim(op, shape, *end);
  if (!first || !last || *first > *last) return op.unknown();
  const auto from = shape.dims.begin() + static_cast<std::ptrdiff_t>(*first),
             to = shape.dims.begin() + static_cast<std::ptrdiff_t>(*last) + 1;
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
  if (!input->shape.ndim_known) return op.result({true, {Dim{}}});
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
      if (inferred >= 0)
        return op.fail(ProblemKind::reshape, why<Reason::two_inferred>(code(sizes_words(op, wanted->sizes))));
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
      return op.fail(ProblemKind::reshape,
          why<Reason::unflattened_sizes>(
              *op.integer("dim"), op.name("input"), whole, code(sizes_words(op, sizes))),
          {whole});
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
  parts.reserve(sizes.size());
  for (const Int size : sizes) parts.push_back(size ? op.made(size) : Dim{});
  if (!shape.dims.empty()) shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(*at));
  shape.dims.insert(shape.dims.begin() + static_cast<std::ptrdiff_t>(*at), parts.begin(), parts.end());
  return op.result(shape);
}

constexpr Operator reshaping_operators[] = {
    {"reshape", "input, shape, *more", "torch method spread", reshape, Type::input},
    {"view", "input, size=None, *more, dtype=None", "method spread torch.view_copy", view, Type::input},
    {"view_as", "input, other", "method", reshape_as, Type::input},
    {"reshape_as", "input, other", "method", reshape_as, Type::input},
    {"flatten", "input, start_dim=0, end_dim=-1, out_dim=None", "torch method", flatten_in_order,
        Type::input},
    {"ravel", "input", "torch method", ravel, Type::input},
    {"unflatten", "input, dim, sizes, *more, names=None", "torch method", flatten_in_order, Type::input},
};

}  // namespace

std::vector<Row> reshaping_rows() { return operator_rows(reshaping_operators); }

}  // namespace stepzero::libraries
