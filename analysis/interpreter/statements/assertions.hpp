// Assertions: what holds after them, and those on sizes that never hold.
#pragma once

#include "interpreter/run_part.hpp"

#include <utility>
#include <vector>

namespace stepzero::interpreter {

class Assertions : private RunPart {
public:
  explicit Assertions(Interpreter& run) : RunPart(run) {}

  Flow run_assert(const syntax::AssertStmt& stmt);
  bool in_test() const;  // is the code that runs part of a test, by its name?

private:
  void record_open_assertion(const syntax::AssertStmt& stmt, Cond holds);
  // An assertion on sizes that never holds becomes a problem.
  void judge_assertion(
      const syntax::AssertStmt& stmt, const std::vector<std::pair<const syntax::Expr*, Value>>& values);
};

}  // namespace stepzero::interpreter
