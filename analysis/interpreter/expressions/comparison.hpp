// The comparison of two values, in parts: what is known of both (compare.cpp), what is known of one alone
// (compare_unknown.cpp).
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

inline symbolic::Compare ordering(syntax::CompareOp op) {
  switch (op) {
  case syntax::CompareOp::ne: return symbolic::Compare::ne;
  case syntax::CompareOp::lt: return symbolic::Compare::lt;
  case syntax::CompareOp::le: return symbolic::Compare::le;
  case syntax::CompareOp::gt: return symbolic::Compare::gt;
  case syntax::CompareOp::ge: return symbolic::Compare::ge;
  default: return symbolic::Compare::eq;
  }
}
inline bool is_plain_number(Value value) {
  return value.is(values::Kind::integer) || value.is(values::Kind::real);
}

// Two values, neither of them a choice, and what is asked of them. A part that cannot answer gives no value.
struct Interpreter::Comparison {
  Interpreter& run;
  syntax::CompareOp op;
  Value left, right;
  symbolic::Context& s;
  bool negative;  // `!=`, `is not`, `not in`

  Value result();

private:
  bool is_identity() const { return op == syntax::CompareOp::is || op == syntax::CompareOp::is_not; }
  bool is_equality() const {
    return is_identity() || op == syntax::CompareOp::eq || op == syntax::CompareOp::ne;
  }
  bool is_membership() const { return op == syntax::CompareOp::in || op == syntax::CompareOp::not_in; }
  bool is_order() const { return op <= syntax::CompareOp::ge && !is_equality(); }

  // The answer to the question without its negation.
  Value answer(Cond holds) const { return Value::of(negative ? s.logical_not(holds) : holds); }
  Value answer(bool holds) const { return run.heap().boolean(holds != negative); }
  Value open() const;

  Value of_presumed();
  Value membership();
  Value in_dict();
  Value in_items();
  Value in_named();
  Value equality();
  Value with_itself();
  Value of_instances();
  Value of_lists();
  Value of_dicts();
  Value of_tuples();
  Value with_none();
  Value of_constants();
  Value order();
  Value of_numbers();
  Value of_tensors();
  Value of_unknowns();
  Value asked_of_unknown();
  Value known_by_bounds();
  Value of_bounded() const;
  bool may_be_share(Value value, Value bound) const;
  Int compared_int(Value value);
};

}  // namespace stepzero::interpreter
