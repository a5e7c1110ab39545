// Iterations of a loop that are run one by one, as long as it is known whether there is another.
#pragma once

#include "interpreter/interpreter.hpp"
#include "interpreter/loops/loop_runner.hpp"

namespace stepzero::interpreter {

struct LoopRunner::KnownIterations {
  enum class Next : std::uint8_t { unknown, none, another };

  Interpreter& run;
  const syntax::Stmt& stmt;
  syntax::Span header;
  syntax::Block orelse;
  std::uint64_t most_steps;

  // Those that were run; where it was not known whether there is another, the last one is not wholly certain.
  std::vector<Block> iterations = {};
  bool ended = false;  // it was known that there is no other

  // Absent, and nothing has happened: something is not known, or it takes too long. `next` asks whether there
  // is another iteration; its events belong to that.
  std::optional<Flow> all(const std::function<Next()>& next, const std::function<Flow()>& body);
};

}  // namespace stepzero::interpreter
