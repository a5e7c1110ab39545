#include "interpreter/expressions/rank_questions.hpp"

#include "interpreter/calls/noted_at.hpp"

namespace stepzero::interpreter {

using symbolic::Sharing;

Cond asks_for_rank(Interpreter& run, symbolic::Compare op, Int left, Int right) {
  using symbolic::Compare;
  auto& s = run.symbols();
  const Record& record = run.record();
  const auto is_rank = [&](Int side) {
    return side &&
        (side == record.roles[static_cast<int>(symbolic::Role::rank)] ||
            side == record.roles[static_cast<int>(symbolic::Role::local_rank)]);
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
  const symbolic::Role role = left == record.roles[static_cast<int>(symbolic::Role::rank)]
      ? symbolic::Role::rank
      : symbolic::Role::local_rank;
  // Where the program has a value of its own for it, that question is the same one.
  bool known = false;
  each_noted(
      record, told(role), [&](Cond asked) { known = known || s.decide(asked) == symbolic::Answer::yes; });
  if (known) return s.boolean(there);
  const std::string name = role == symbolic::Role::rank ? "rank" : "local_rank";
  const Cond question = run.named_condition(name + " != -1", Sharing::uniform);
  return there ? question : s.logical_not(question);
}

}  // namespace stepzero::interpreter
