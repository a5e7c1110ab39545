#include "libraries/torch/ops/norms.hpp"

#include "libraries/torch/ops/operators.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// The operand as floats; null after fail().
const TensorState* float_input(Op& op) {
  const std::string_view first = op.call.row.parameters[0].text();
  if (!op.must_be_tensor(first)) return nullptr;
  const TensorState* input = op.expect(first);
  if (input && is_integral(op.dtype("dtype", input->dtype))) {
    op.refuse_dtype(DtypeNeed::floats, first);
    return nullptr;
  }
  return input;
}
Value norm_over(Op& op, const TensorState& input) {
  const Shape shape = reduced(op, input.shape);
  return op.failed() ? op.unknown() : op.result(shape, op.dtype("dtype", real_part(input.dtype)));
}
Value vector_norm(Op& op) {
  const TensorState* input = float_input(op);
  if (!input) return op.unknown();
  if (op.argument("ord").is(Kind::string))
    return op.fail(ProblemKind::argument,
        interpreter::WrongKind{interpreter::WrongKind::Need::number, interpreter::WrongKind::Has::text,
            op.taker(), code("ord"), std::string(*op.text("ord"))});
  return norm_over(op, *input);
}
// Of one dimension a vector norm, of two a matrix norm; without dim and ord, of all elements.
Value norm_by_order(Op& op) {
  const TensorState* input = float_input(op);
  if (!input) return op.unknown();
  const Value ord = op.argument("ord");
  const auto given = op.argument("dim") ? op.integers("dim") : std::nullopt;
  if (given && given->size() > 2 && op.argument("dim"))
    return op.fail(ProblemKind::argument, why<Reason::norm_dimensions>(given->size()));
  if (ord.is(Kind::string)) {
    if (ord.text() != "fro" && ord.text() != "nuc") return op.refuse_option("p", {"fro", "nuc"}, ord.text());
    const std::size_t over = given ? given->size()
        : op.argument("dim")       ? 2
        : input->shape.ndim_known  ? input->shape.dims.size()
                                   : 2;
    if (over != 2) return op.fail(ProblemKind::argument, why<Reason::norm_of_matrices>(ord.text(), over));
  } else if (ord && !op.argument("dim") && input->shape.ndim_known && input->shape.dims.size() > 2) {
    return op.fail(ProblemKind::argument,
        why<Reason::norm_operand>(op.name(op.call.row.parameters[0].text()), input->shape));
  }
  return norm_over(op, *input);
}

constexpr Operator vector_norm_operators[] = {
    {"norm", "A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None", "linalg", norm_by_order,
        Type::own},
    {"vector_norm", "input, ord=2, dim=None, keepdim=False, *, dtype=None, out=None", "linalg", vector_norm,
        Type::own},
};

}  // namespace

std::vector<Row> vector_norm_rows() { return operator_rows(vector_norm_operators); }

}  // namespace stepzero::libraries
