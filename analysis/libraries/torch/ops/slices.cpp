// Slices of a dimension: x[lower:upper:step]. Semantics as PyTorch's, which takes no step below one.
#include "libraries/python/fixed.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "libraries/torch/ops/views.hpp"

namespace stepzero::libraries {

Value as_index(Op& op, Value value) {
  value = op.run.resolve(value);
  const TensorState* state = op.tensor(value);
  if (!state || !is_integral(state->dtype) || state->dtype == Dtype::boolean) return value;
  const values::Content* content = op.content(value);
  if (!content || content->numbers.size() != 1) return value;
  const Value number = op.run.heap().number(*content, 0);
  return number ? number : value;
}

namespace {

// What a bound of a slice means for a dimension of that size; null if it is not known. `absent` where it is
// left out.
Int bound_at(Op& op, Value bound, Int size, Int absent) {
  if (!bound || bound.is(Kind::none)) return absent;
  if (!bound.is(Kind::integer)) return nullptr;
  const Int at = bound.integer(), zero = op.s.constant(0);
  if (op.s.value(at) == 0) return zero;
  const auto low = op.s.lower(at), high = op.s.upper(at);
  if (low && *low >= 0) return smaller(op, at, size);
  if (high && *high < 0) return larger(op, op.add(size, at), zero);
  return nullptr;
}

bool is_literal(const syntax::Expr* expr) {
  if (!expr) return false;
  if (expr->kind == syntax::ExprKind::unary) return is_literal(syntax::as<syntax::UnaryExpr>(*expr).operand);
  return expr->kind == syntax::ExprKind::integer;
}

}  // namespace

Dim slice_of(Op& op, const Dim& dim, const values::SliceObject& slice, const syntax::Expr* written) {
  const Int zero = op.s.constant(0);
  const Value lower = as_index(op, slice.lower), upper = as_index(op, slice.upper),
              step = as_index(op, slice.step);
  const auto left_out = [](const Value& value) { return !value || value.is(Kind::none); };
  Int stride = op.s.constant(1);
  if (!left_out(step)) {
    if (!step.is(Kind::integer)) return {};
    stride = step.integer();
    if (op.s.compare(Compare::le, stride, zero) == Answer::yes) {
      op.raising("ValueError").refuse_value("step", 1, {}, op.dim(stride));
      return {};
    }
  }
  const bool single = op.s.value(stride) == 1;
  if (left_out(lower) && left_out(upper) && single) return dim;

  const auto number = [&](Value value) {
    return value.is(Kind::integer) ? op.s.value(value.integer()) : std::nullopt;
  };
  const auto known = op.value(dim);
  if (known && *known > 0 && written && written->kind == syntax::ExprKind::slice && !op.run.guarded()) {
    const auto& text = syntax::as<syntax::SliceExpr>(*written);
    const auto from = number(lower), to = number(upper);
    // What follows a limit may be nothing; what lies so far after what was computed from constants is
    // hardly meant.
    const bool computed = from && *from > *known && !text.upper && text.lower &&
        text.lower->kind == syntax::ExprKind::binary && is_fixed(op.run, *text.lower, op.call.place);
    // x[n:] of n is the rest, of which there is none.
    const bool rest = from && *from == *known && !text.upper;
    const bool after = computed ||
        (from && *from >= *known && !rest && is_literal(text.lower) &&
            (!text.upper || is_literal(text.upper)) && !(to && *to == *from));
    const bool before = to && *to < -*known && is_literal(text.upper) &&
        (!text.lower || is_literal(text.lower));
    if (after || before)
      op.warn(ProblemKind::empty_slice,
          after ? why<Reason::slice_after_end>(dim, *from) : why<Reason::slice_before_start>(dim, *to),
          {dim});
  }

  const Int low = bound_at(op, lower, dim.size, zero), high = bound_at(op, upper, dim.size, dim.size);
  Int length = nullptr;
  if (left_out(upper) && lower.is(Kind::integer) && dim.size) {
    const Int from = lower.integer();
    const auto least = op.s.lower(from), most = op.s.upper(from);
    // The last n: min(n, size). All of them are all, though -0 is 0.
    if (most && *most < 0)
      length = smaller(op, op.s.negate(from), dim.size);
    else if (op.s.negate(from) == dim.size)
      length = dim.size;
    else if (least && *least >= 0)
      length = larger(op, op.s.sub(dim.size, from), zero);
  }
  if (!length && low && high) {
    length = op.s.compare(Compare::ge, high, low) == Answer::yes ? op.s.sub(high, low)
                                                                 : larger(op, op.s.sub(high, low), zero);
  }
  if (!length) return {};
  if (!single) {
    const auto constant = op.s.value(stride);
    if (!constant) return {};
    length = op.s.floordiv(op.s.add(length, op.s.constant(*constant - 1)), stride);
  }
  if (length == dim.size) return dim;
  return op.made(length, "slice");
}

}  // namespace stepzero::libraries
