// Assignments: to names, attributes and items, and to several targets at once.
#pragma once

#include "interpreter/run_part.hpp"

namespace stepzero::interpreter {

class Assignments : private RunPart {
public:
  explicit Assignments(Interpreter& run) : RunPart(run) {}

  void run_assignment(const syntax::Stmt& stmt);
  // `of_comprehension`: a name of one expression.
  void run_assign(const syntax::Expr& target, Value value, bool of_comprehension = false);
  void store_subscript(Value object, Value index, Value value, const syntax::Expr& target);

private:
  struct Assignment;

  void run_unpack(const syntax::Expr& target, syntax::List<const syntax::Expr*> targets, Value value);
  void unpack_choice(const syntax::Expr& target, syntax::List<const syntax::Expr*> targets, Value value);
};

}  // namespace stepzero::interpreter
