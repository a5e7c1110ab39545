// What a shape function asks of sizes: equality, axes, broadcasting; and what it learns of its operands.
#include "libraries/table/op.hpp"
#include "libraries/torch/meaning/ranks.hpp"
#include "symbolic/supposition.hpp"

#include <algorithm>

namespace stepzero::libraries {

using symbolic::Answer;
using values::Dtype;
using values::Kind;

Answer Op::equal(const Dim& a, const Dim& b) const {
  if (!a.size || !b.size) return Answer::unknown;
  if (a.size == b.size) return Answer::yes;
  const Answer answer = s.compare(symbolic::Compare::eq, a.size, b.size);
  // Of the layers of a list, what holds of one does not of another.
  return answer == Answer::no && (s.varies(a.size) || s.varies(b.size)) ? Answer::unknown : answer;
}
// 3*(n//4) and 2*(n//4), n//4 and n//2: the same of nothing only, though neither is a multiple of the other.
bool Op::differ_where_positive(Int a, Int b, symbolic::Cond& where) {
  const symbolic::Cond there = s.logical_and(s.compared(symbolic::Compare::gt, a, s.constant(0)),
      s.compared(symbolic::Compare::gt, b, s.constant(0)));
  symbolic::Supposition supposed(s);
  if (!supposed.assume(there) || s.compare(symbolic::Compare::eq, a, b) != Answer::no) return false;
  where = where ? s.logical_and(where, there) : there;
  return true;
}
bool Op::never_equal(const Dim& a, const Dim& b) {
  const Answer answer = equal(a, b);
  if (answer != Answer::unknown || !a.size || !b.size || run.guarded()) return answer == Answer::no;
  if (s.varies(a.size) || s.varies(b.size)) return false;
  Int left = a.size, right = b.size;
  symbolic::Cond positive = nullptr;
  std::vector<Int> atoms;
  s.atoms(a.size, [&](Int atom) { atoms.push_back(atom); });
  // One may be a multiple of the other as a whole: n//4 and 2*(n//4).
  atoms.push_back(a.size);
  atoms.push_back(b.size);
  for (const Int atom : atoms)
    for (int power = 0; power < 4; ++power) {
      const auto rest_left = s.exact_quotient(left, atom),
                 rest_right = rest_left ? s.exact_quotient(right, atom) : std::nullopt;
      if (!rest_right) break;
      left = *rest_left;
      right = *rest_right;
      const symbolic::Cond present = s.compared(symbolic::Compare::gt, atom, s.constant(0));
      positive = positive ? s.logical_and(positive, present) : present;
    }
  if (s.compare(symbolic::Compare::eq, left, right) != Answer::no) {
    // T and max(T - 1, 0): the same of nothing only.
    symbolic::Supposition supposed(s);
    s.atoms(left, [&](Int atom) {
      if (s.lower(atom) != 0 || s.value(atom)) return;
      const symbolic::Cond present = s.compared(symbolic::Compare::gt, atom, s.constant(0));
      positive = positive ? s.logical_and(positive, present) : present;
    });
    if (positive) supposed.assume(positive);
    const bool differ = positive && s.compare(symbolic::Compare::eq, left, right) == Answer::no;
    if (!differ && !differ_where_positive(a.size, b.size, positive)) return false;
  }
  if (!positive) return false;
  unless_ = unless_ ? s.logical_and(unless_, positive) : positive;
  return true;
}
bool Op::must_equal(const Dim& a, const Dim& b) {
  if (never_equal(a, b)) return false;
  if (equal(a, b) == Answer::yes) return true;
  run.note_fit(a.size, b.size, false, call.place);
  if (a.size && b.size && !run.guarded() && !s.varies(a.size) && !s.varies(b.size))
    s.assume(s.compared(symbolic::Compare::eq, a.size, b.size));
  return true;
}
const Dim& Op::better(const Dim& a, const Dim& b) const {
  if (!a.size) return b;
  if (!b.size) return a;
  if (s.has_stand_in(a.size)) return b;
  return !s.value(a.size) && s.value(b.size) ? b : a;
}
Int Op::product(std::span<const Dim> dims) const {
  Int total = s.constant(1);
  for (const Dim& d : dims) {
    if (!d.size) return nullptr;
    total = s.mul(total, d.size);
  }
  return total;
}

std::optional<std::size_t> Op::axis(std::int64_t at, std::size_t rank) {
  const auto range = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  const std::int64_t resolved = at < 0 ? at + range : at;
  if (resolved >= 0 && resolved < range) return static_cast<std::size_t>(resolved);
  raising("IndexError").fail(ProblemKind::index, interpreter::DimensionOutside{at, rank});
  return std::nullopt;
}
std::optional<std::size_t> Op::axis(std::string_view name, std::size_t rank) {
  const Value value = argument(name);
  if (!value.is(Kind::integer)) return std::nullopt;
  const auto at = run.to_constant(value);
  return at ? axis(*at, rank) : std::nullopt;
}
std::optional<std::vector<std::size_t>> Op::axes(std::string_view name, std::size_t rank) {
  const auto given_axes = integers(name);
  if (!given_axes) return std::nullopt;
  std::vector<std::size_t> found;
  for (const std::int64_t at : *given_axes) {
    const auto resolved = axis(at, rank);
    if (!resolved) return std::nullopt;
    if (std::find(found.begin(), found.end(), *resolved) != found.end()) {
      fail(ProblemKind::argument, interpreter::DimensionTwice{at, {}});
      return std::nullopt;
    }
    found.push_back(*resolved);
  }
  return found;
}

std::optional<Shape> Op::broadcast(const Shape& a, const Shape& b) {
  bool impossible = false;
  auto both = libraries::broadcast(run, a, b, &impossible);
  const std::size_t rank = std::min(a.dims.size(), b.dims.size());
  if (!impossible) {
    for (std::size_t i = 0; i < rank; ++i)
      if (const Dim left = from_right(a, i), right = from_right(b, i); equal(left, right) == Answer::unknown)
        run.note_fit(left.size, right.size, true, call.place);
    return both;
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim left = from_right(a, i), right = from_right(b, i);
    if (equal(left, right) != Answer::no || equal(left, 1) != Answer::no || equal(right, 1) != Answer::no)
      continue;
    fail(ProblemKind::broadcast, interpreter::NoBroadcast{a, b, i, left, right}, {left, right});
    break;
  }
  return std::nullopt;
}

void Op::learn(std::string_view name, const Shape& shape) {
  const TensorState* state = expect(name);
  if (!state || run.guarded()) return;
  TensorState learned = *state;
  learned.shape = shape;
  const Value shape_value = state->shape.ndim_known ? Value{} : state->shape_value;
  decide_ndim(run, learned);
  set_state(run, argument(name), learned);
  learn_source(run, shape_value, learned.shape);
  learn_ends(run, shape_value, learned.shape);
}
void Op::learn_last(std::string_view name, std::span<const Dim> dims) {
  const TensorState* state = expect(name);
  if (!state || run.guarded()) return;
  Shape shape = state->shape;
  if (shape.ndim_known && shape.dims.size() < dims.size()) return;
  bool changed = false;
  while (shape.dims.size() < dims.size()) {
    shape.dims.insert(shape.dims.begin(), Dim{});
    changed = true;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    Dim& known = shape.dims[shape.dims.size() - dims.size() + i];
    if ((known.size && !s.has_stand_in(known.size)) || !dims[i].size || known.size == dims[i].size) continue;
    if (known.size) s.assume(s.compared(symbolic::Compare::eq, known.size, dims[i].size));
    known = dims[i];
    changed = true;
  }
  if (changed) learn(name, shape);
}

}  // namespace stepzero::libraries
