#include "interpreter/expressions/rank_questions.hpp"

#include "interpreter/calls/noted_at.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using symbolic::Sharing;

Cond asks_for_rank(Interpreter& run, symbolic::Compare op, Int left, Int right) {
  using symbolic::Compare;
  auto& s = run.symbols();
  const Record& record = run.record();
  const auto is_rank = [&](Int side) {
    return side &&
        (side == record.roles[static_cast<int>(symbolic::Role::rank)] ||
            side == record.roles[static_cast<int>(symbolic::Role::local_rank)] ||
            side == record.roles[static_cast<int>(symbolic::Role::world_size)]);
  };
  if (is_rank(right)) {
    std::swap(left, right);
    op = op == Compare::lt  ? Compare::gt
        : op == Compare::le ? Compare::ge
        : op == Compare::gt ? Compare::lt
        : op == Compare::ge ? Compare::le
                            : op;
  }
  const auto number = is_rank(left) ? s.value(right) : std::nullopt;
  if (!number) return nullptr;
  const bool at_none = *number == -1, above_none = *number == 0;
  const bool there = (at_none && (op == Compare::ne || op == Compare::gt)) ||
      (above_none && op == Compare::ge);
  const bool missing = (at_none && (op == Compare::eq || op == Compare::le)) ||
      (above_none && op == Compare::lt);
  if (!there && !missing) return nullptr;
  const symbolic::Role role = s.atom_info(left)->role;
  // No job has no process: its size is below 0 only where it is still to be found out.
  if (role == symbolic::Role::world_size && !at_none) return nullptr;
  // Where the program has a value of its own for it, that question is the same one.
  bool known = false;
  each_noted(
      record, told(role), [&](Cond asked) { known = known || s.decide(asked) == symbolic::Answer::yes; });
  if (known) return s.boolean(there);
  const Cond question = run.named_condition(s.atom_info(left)->name + " != -1", Sharing::uniform);
  return there ? question : s.logical_not(question);
}

bool is_role(Interpreter& run, values::Value value) {
  if (!value.is(values::Kind::integer)) return false;
  const symbolic::AtomInfo* atom = run.symbols().atom_info(value.integer());
  return atom && atom->role != symbolic::Role::none;
}

Cond asks_for_none(Interpreter& run, const values::Function* function, const syntax::Expr& asked,
    values::Value value, values::Value other) {
  if (!other.is(values::Kind::none) || !is_role(run, value)) return nullptr;
  const bool is_field = asked.kind == syntax::ExprKind::attribute &&
      syntax::as<syntax::AttributeExpr>(asked).object->kind == syntax::ExprKind::name;
  const bool is_parameter = asked.kind == syntax::ExprKind::name && function && function->parameters &&
      std::ranges::any_of(function->parameters->list,
          [&](const syntax::Parameter& each) { return each.name == syntax::as<syntax::NameExpr>(asked).id; });
  if (!is_field && !is_parameter) return nullptr;
  return run.named_condition(run.symbols().atom_info(value.integer())->name + " is None", Sharing::uniform);
}

}  // namespace stepzero::interpreter
