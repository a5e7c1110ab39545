// What a loop's body makes of the numbers that the loop gives it: `for i in range(n)`, `for i, block in
// enumerate(blocks)`. Where it asks for no more than elements, sums and comparisons, each of these can be had
// for a number without running the body.
#pragma once

#include "interpreter/interpreter.hpp"

#include <functional>
#include <vector>

namespace stepzero::interpreter {

class IndexUses {
public:
  // `scope`: of the loop. `last`: what the iteration that ran got. The present state is that after it.
  IndexUses(Interpreter& run, const syntax::ForStmt& stmt, const values::Scope& scope, Value last);

  // The names that the loop gives numbers to.
  const std::vector<syntax::Name>& indices() const { return indices_; }
  // Is each use of theirs one that can be had without running the body?
  bool are_known() const { return known_; }
  // Would an iteration that got `item` ask for things that are `alike` to those of the last?
  bool holds(Value item, const std::function<bool(Value, Value)>& equivalent) const;

private:
  // The value of an expression where the loop gave `item`; absent: it is not known.
  Value at(const syntax::Expr& expr, Value item) const;
  Value element(Value of, Value index) const;
  Value given(syntax::Name name, Value item) const;  // what the loop's target gets; absent: it's another name
  bool is_index(const syntax::Expr& expr) const;
  bool asks(const syntax::Expr& expr) const;

  Interpreter& run_;
  const syntax::ForStmt& stmt_;
  const values::Scope& scope_;
  const Value last_;
  std::vector<syntax::Name> indices_;
  std::vector<const syntax::Expr*> uses_;  // the outermost expressions whose values can be had
  std::vector<Value> values_;              // of these, in the last iteration
  bool known_ = true;
};

}  // namespace stepzero::interpreter
