// Products over several dimensions, of several tensors, or of all pairs of points: tensordot, einsum, kron,
// chains, cdist.
#include "libraries/torch/ops/products.hpp"

#include <algorithm>
#include <map>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- several dimensions

// tensordot(a, b, 2): the last two of a with the first two of b. tensordot(a, b, ([0], [1])): these.
Value tensordot(Op& op) {
  for (const std::string_view name : {"input", "b"})
    if (!op.must_be_tensor(name)) return op.unknown();
  const TensorState *a = op.expect("input"), *b = op.expect("b");
  if (!a || !b || !a->shape.ndim_known || !b->shape.ndim_known) return op.unknown();
  const Shape x = a->shape, y = b->shape;
  const Dtype dtype = product_dtype(op, op.argument("input"), op.argument("b"));
  std::vector<std::size_t> over_a, over_b;
  if (const auto count = op.integer("dims")) {
    if (*count < 0)
      return op.fail(
          ProblemKind::product, interpreter::OutOfRange{op.taker(), "dims", 0, {}, false, op.dim(*count)});
    const auto n = static_cast<std::size_t>(*count);
    if (n > x.dims.size() || n > y.dims.size())
      return op.fail(ProblemKind::product, why<Reason::contracted_dimensions>(n, x, y));
    for (std::size_t i = 0; i < n; ++i) {
      over_a.push_back(x.dims.size() - n + i);
      over_b.push_back(i);
    }
  } else {
    const auto pair = op.sequence("dims");
    if (!pair || pair->size() != 2) return op.result({}, dtype);
    for (std::size_t side = 0; side < 2; ++side) {
      std::vector<Value> items{(*pair)[side]};
      if (const Value list = op.run.resolve((*pair)[side]); list.is(Kind::list) || list.is(Kind::tuple)) {
        const auto each = op.run.elements(list, op.call.place);
        if (!each) return op.result({}, dtype);
        items = *each;
      }
      for (const Value& item : items) {
        const auto at = op.run.to_constant(item);
        const auto axis = at ? op.axis(*at, (side ? y : x).dims.size()) : std::nullopt;
        if (op.failed()) return op.unknown();
        if (!axis) return op.result({}, dtype);
        (side ? over_b : over_a).push_back(*axis);
      }
    }
    if (over_a.size() != over_b.size())
      return op.fail(ProblemKind::product, why<Reason::contracted_pairs>(over_a.size(), over_b.size()));
  }
  for (std::size_t i = 0; i < over_a.size(); ++i) {
    const Dim left = dim_at(x, over_a[i]), right = dim_at(y, over_b[i]);
    if (op.equal(left, right) == Answer::no && op.equal(left, 1) == Answer::no &&
        op.equal(right, 1) == Answer::no) {
      refuse_inner(op, op.argument("input"), op.argument("b"), left, right);
      return op.unknown();
    }
  }
  Shape shape{true, {}};
  for (std::size_t i = 0; i < x.dims.size(); ++i)
    if (std::find(over_a.begin(), over_a.end(), i) == over_a.end()) shape.dims.push_back(x.dims[i]);
  for (std::size_t i = 0; i < y.dims.size(); ++i)
    if (std::find(over_b.begin(), over_b.end(), i) == over_b.end()) shape.dims.push_back(y.dims[i]);
  return op.result(shape, dtype);
}
Value kron(Op& op) {
  for (const std::string_view name : {"input", "other"})
    if (!op.must_be_tensor(name)) return op.unknown();
  const TensorState *a = op.expect("input"), *b = op.expect("other");
  if (!a || !b || !a->shape.ndim_known || !b->shape.ndim_known) return op.unknown();
  Shape shape{true, {}};
  for (std::size_t i = std::max(a->shape.dims.size(), b->shape.dims.size()); i-- > 0;) {
    const Int left = i < a->shape.dims.size() ? from_right(a->shape, i).size : op.s.constant(1);
    const Int right = i < b->shape.dims.size() ? from_right(b->shape, i).size : op.s.constant(1);
    shape.dims.push_back(op.made(op.mul(left, right)));
  }
  return op.result(shape);
}
// One product after the other; vectors may stand at the ends.
Value chain(Op& op) {
  std::vector<Value> parts = op.call.rest;
  if (const auto list = op.sequence("tensors"))
    parts = *list;
  else if (op.argument("tensors"))
    return op.unknown();
  if (parts.empty()) return op.unknown();
  const bool vectors = op.title() == "multi_dot";
  if (vectors && parts.size() < 2) return op.fail(ProblemKind::product, why<Reason::chain_of_one>());
  Dim rows{}, last{};
  bool first_is_vector = false, last_is_vector = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TensorState* state = require_tensor(op.run, parts[i]);
    if (!state || !state->shape.ndim_known) return op.unknown();
    const auto& dims = state->shape.dims;
    const bool end = vectors && (i == 0 || i + 1 == parts.size());
    if (dims.size() != 2 && !(end && dims.size() == 1))
      return op.fail(ProblemKind::product,
          interpreter::WrongShape{
              op.taker(), {ShapeNeed::matrices}, "tensor " + std::to_string(i), state->shape});
    const Dim inner_dim = dims[0];
    if (i == 0) {
      first_is_vector = dims.size() == 1;
      rows = dims[0];
    } else if (!op.must_equal(last, inner_dim)) {
      refuse_inner(op, parts[i - 1], parts[i], last, inner_dim);
      return op.unknown();
    }
    last = dims.back();
    last_is_vector = i > 0 && dims.size() == 1;
  }
  Shape shape{true, {}};
  if (!first_is_vector) shape.dims.push_back(rows);
  if (!last_is_vector) shape.dims.push_back(last);
  const TensorState* first = op.tensor(parts[0]);
  return op.result(shape, first->dtype);
}
// Distances between the rows of both.
Value cdist(Op& op) {
  for (const std::string_view name : {"input", "other"})
    if (!op.must_be_tensor(name)) return op.unknown();
  const TensorState *a = op.expect("input"), *b = op.expect("other");
  if (!a || !b) return op.unknown();
  for (const std::string_view name : {"input", "other"})
    if (const Shape& shape = op.shape(name); shape.ndim_known && shape.dims.size() < 2)
      return op.fail(ProblemKind::product,
          interpreter::WrongShape{op.taker(), ShapeNeed::at_least(2), op.name(name), shape});
  if (const auto p = op.real("p"); p && *p < 0) return op.refuse_value("p", 0);
  const Shape x = a->shape, y = b->shape;
  const Dim left = from_right(x, 0), right = from_right(y, 0);
  if (!op.must_equal(left, right))
    return op.fail(ProblemKind::product,
        interpreter::SizesApart{
            "their last dimension", {op.name("input"), x}, {op.name("other"), y}, left, right},
        {left, right});
  if (!x.ndim_known || !y.ndim_known) return op.unknown();
  const auto batch = op.broadcast(
      {true, {x.dims.begin(), x.dims.end() - 2}}, {true, {y.dims.begin(), y.dims.end() - 2}});
  if (!batch) return op.unknown();
  Shape shape = *batch;
  shape.dims.push_back(from_right(x, 1));
  shape.dims.push_back(from_right(y, 1));
  return op.result(shape);
}
Value pdist(Op& op) {
  if (!must_have_rank(op, "input", 2)) return op.unknown();
  const Dim rows = dim_at(op.shape("input"), 0);
  const Int pairs = rows.size
      ? op.s.floordiv(op.s.mul(rows.size, op.s.sub(rows.size, op.s.constant(1))), op.s.constant(2))
      : nullptr;
  return op.result({true, {op.made(pairs)}});
}
Value bilinear(Op& op) {
  const TensorState *a = op.expect("input1"), *b = op.expect("input2");
  if (!a || !b || !must_have_rank(op, "weight", 3)) return op.unknown();
  const Shape w = op.shape("weight");
  const std::pair<std::string_view, std::size_t> sides[] = {{"input1", 1}, {"input2", 2}};
  for (const auto& [name, at] : sides) {
    const Dim have = from_right(op.shape(name), 0), want = dim_at(w, at);
    if (!op.must_equal(have, want))
      return op.fail(ProblemKind::product,
          why<Reason::bilinear_weight>(w, op.name(name), op.shape(name), have, want), {have, want});
  }
  Shape shape = op.shape("input1");
  if (shape.dims.empty()) return op.result(shape.ndim_known ? Shape{} : Shape{false, {dim_at(w, 0)}});
  shape.dims.back() = dim_at(w, 0);
  return op.result(shape, a->dtype);
}

// ---------------------------------------------------------------- einsum

struct Term {
  std::string before, after;  // letters in front of the ellipsis and after it
  bool ellipsis = false;
  std::size_t letters() const { return before.size() + after.size(); }
};
std::optional<Term> read_term(std::string_view text) {
  Term term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      if (term.ellipsis || text.substr(i, 3) != "...") return std::nullopt;
      term.ellipsis = true;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      (term.ellipsis ? term.after : term.before) += c;
    } else {
      return std::nullopt;
    }
  }
  return term;
}
// One call of einsum: the equation is read, each operand is held against its letters, and the result has the
// sizes of its own.
class Einsum {
public:
  explicit Einsum(Op& call) : op(call), operands(call.call.rest) {}
  Value result();

private:
  bool unpack_operands();
  bool read_operands();
  bool read_result();
  bool meet_operand(std::size_t i);
  bool meet_letters(std::size_t i, const Shape& shape);
  bool meet_ellipsis(const Term& term, const Shape& shape);
  bool meet(char letter, const Dim& dim, std::size_t operand);
  Shape learned(std::size_t i, const TensorState& state);
  bool put(const std::string& letters);
  bool refuse(interpreter::Refusal refusal, std::initializer_list<Dim> about = {}) {
    op.fail(ProblemKind::product, std::move(refusal), about);
    return false;
  }

  struct Met {
    Dim dim;
    std::size_t operand;
  };

  Op& op;
  std::vector<Value> operands;
  std::string equation = {}, text = {};  // as it is written, and without blanks
  std::vector<Term> terms = {};
  Term out = {};
  std::map<char, Met> sizes = {};
  std::map<char, int> times = {};
  Shape ellipsis{true, {}};
  bool any_ellipsis = false;
  Dtype dtype = Dtype::unknown;
  Shape shape{true, {}};
  std::map<char, int> seen = {};  // in the result
};

Value Einsum::result() {
  if (!unpack_operands()) return op.unknown();
  const auto given = op.text("equation");
  if (!given) return op.unknown();
  text = equation = *given;
  std::erase(text, ' ');
  if (!read_operands()) return op.unknown();
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (!meet_operand(i)) return op.unknown();
  if (!read_result() || !put(out.before)) return op.unknown();
  if (out.ellipsis && !ellipsis.ndim_known)
    shape = {};
  else if (out.ellipsis)
    shape.dims.insert(shape.dims.end(), ellipsis.dims.begin(), ellipsis.dims.end());
  return put(out.after) ? op.result(shape, dtype) : op.unknown();
}

// They may be given as one list, too.
bool Einsum::unpack_operands() {
  if (operands.size() != 1) return true;
  const Value only = op.run.resolve(operands[0]);
  if (!only.is(Kind::list) && !only.is(Kind::tuple)) return true;
  const auto items = op.run.elements(only, op.call.place);
  if (items) operands = *items;
  return items.has_value();
}

bool Einsum::read_operands() {
  std::string_view left = std::string_view(text).substr(0, text.find("->"));
  while (true) {
    const auto comma = left.find(',');
    const auto term = read_term(left.substr(0, comma));
    if (!term) return refuse(why<Reason::formula_unread>(equation));
    terms.push_back(*term);
    if (comma == std::string_view::npos) break;
    left = left.substr(comma + 1);
  }
  if (terms.size() == operands.size()) return true;
  return refuse(why<Reason::formula_operands>(equation, terms.size(), operands.size()));
}

// Without an arrow the result has the letters that stand once, in alphabetical order, after the ellipsis.
bool Einsum::read_result() {
  if (const auto arrow = text.find("->"); arrow != std::string::npos) {
    const auto term = read_term(std::string_view(text).substr(arrow + 2));
    if (!term) return refuse(why<Reason::formula_unread>(equation));
    out = *term;
    return true;
  }
  out.ellipsis = any_ellipsis;
  for (const auto& [letter, count] : times)
    if (count == 1) out.after += letter;
  if (!out.ellipsis) std::swap(out.before, out.after);
  return true;
}

bool Einsum::meet_operand(std::size_t i) {
  const Term& term = terms[i];
  for (const std::string& part : {term.before, term.after})
    for (const char letter : part) ++times[letter];
  const TensorState* state = require_tensor(op.run, operands[i]);
  if (!state) {
    any_ellipsis = any_ellipsis || term.ellipsis;
    if (term.ellipsis) ellipsis = {};
    dtype = Dtype::unknown;
    return true;
  }
  dtype = i == 0 ? state->dtype : dtype == state->dtype ? dtype : Dtype::unknown;
  const std::size_t count = state->shape.dims.size();
  if (count > term.letters() ? !term.ellipsis : state->shape.ndim_known && count < term.letters())
    return refuse(why<Reason::formula_dimensions>(equation, term.letters(), i, state->shape));
  const Shape known = !state->shape.ndim_known && !term.ellipsis ? learned(i, *state) : state->shape;
  return meet_letters(i, known) && (!term.ellipsis || meet_ellipsis(term, known));
}

// It has as many dimensions as the equation has letters for it.
Shape Einsum::learned(std::size_t i, const TensorState& state) {
  Shape whole{true, std::vector<Dim>(terms[i].letters())};
  std::copy(state.shape.dims.begin(), state.shape.dims.end(),
      whole.dims.end() - static_cast<std::ptrdiff_t>(state.shape.dims.size()));
  if (!op.run.guarded()) {
    TensorState sure = state;
    sure.shape = whole;
    sure.shape_value = {};
    set_state(op.run, operands[i], sure);
  }
  return whole;
}

bool Einsum::meet_letters(std::size_t i, const Shape& known) {
  const Term& term = terms[i];
  for (std::size_t k = 0; k < term.before.size(); ++k)
    if (!meet(term.before[k], dim_at(known, k), i)) return false;
  for (std::size_t k = 0; k < term.after.size(); ++k)
    if (!meet(term.after[term.after.size() - 1 - k], from_right(known, k), i)) return false;
  return true;
}

bool Einsum::meet_ellipsis(const Term& term, const Shape& known) {
  any_ellipsis = true;
  if (!known.ndim_known || !ellipsis.ndim_known) {
    ellipsis = {};
    return true;
  }
  const Shape rest{true,
      {known.dims.begin() + static_cast<std::ptrdiff_t>(term.before.size()),
          known.dims.end() - static_cast<std::ptrdiff_t>(term.after.size())}};
  const auto both = op.broadcast(ellipsis, rest);
  if (both) ellipsis = *both;
  return both.has_value();
}

// False after refusing: the letter already stands for another size.
bool Einsum::meet(char letter, const Dim& dim, std::size_t operand) {
  auto [it, inserted] = sizes.try_emplace(letter, Met{dim, operand});
  if (inserted || !dim.size) return true;
  Dim& known = it->second.dim;
  const bool of_same = it->second.operand == operand;
  if (!known.size || (is_one(op, known) && !of_same)) {
    it->second = {dim, operand};
    return true;
  }
  if (is_one(op, dim) && !of_same) return true;
  if (op.equal(known, dim) == Answer::no &&
      (of_same || (op.equal(known, 1) == Answer::no && op.equal(dim, 1) == Answer::no))) {
    const auto shape_of = [&](std::size_t i) {
      const TensorState* state = op.tensor(operands[i]);
      return state ? state->shape : Shape{};
    };
    return refuse(why<Reason::formula_sizes>(equation, std::string(1, letter), it->second.operand,
                      shape_of(it->second.operand), known, operand, shape_of(operand), dim),
        {known, dim});
  }
  known = op.better(known, dim);
  return true;
}

bool Einsum::put(const std::string& letters) {
  for (const char letter : letters) {
    const bool is_known = times.contains(letter);
    if (!is_known || ++seen[letter] > 1)
      return refuse(why<Reason::formula_result>(equation, std::string(1, letter), is_known));
    const auto it = sizes.find(letter);
    shape.dims.push_back(it == sizes.end() ? Dim{} : it->second.dim);
  }
  return true;
}

Value einsum(Op& op) { return Einsum(op).result(); }

constexpr Operator contraction_operators[] = {
    {"einsum", "equation, *operands", "torch torch.functional.einsum", einsum, Type::own},
    {"tensordot", "input, b, dims=2, out=None", "torch torch.functional.tensordot", tensordot, Type::own},
    {"kron", "input, other, *, out=None", "torch method", kron},
    {"chain_matmul", "*matrices, out=None", "torch torch.functional.chain_matmul", chain, Type::own},
    {"multi_dot", "tensors, *, out=None", "linalg", chain, Type::own},
    {"cdist", "input, other, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary'",
        "torch torch.functional.cdist", cdist},
    {"pdist", "input, p=2.0", "torch F", pdist},
    {"bilinear", "input1, input2, weight, bias=None", "F torch", bilinear, Type::input},
};

}  // namespace

std::vector<Row> contraction_rows() { return operator_rows(contraction_operators); }

}  // namespace stepzero::libraries
