// Loops and comprehensions: iteration by iteration where that is known within a budget, else by a fixpoint
// over the body.
#pragma once

#include "interpreter/loops/foreseen_changes.hpp"
#include "interpreter/run_part.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::interpreter {

struct LoopShape;

class LoopRunner : private RunPart {
public:
  explicit LoopRunner(Interpreter& run) : RunPart(run) {}

  Flow run_for(const syntax::ForStmt& stmt);
  Flow run_while(const syntax::WhileStmt& stmt);
  Value run_comprehension(const syntax::ComprehensionExpr& expr);
  // Is an object being made, or a library's code run? There a loop over a range makes layers: it is no loop
  // of training steps.
  bool building() const;
  // Something was stored under a key for the first time: see Fixpoint.
  void note_keyed(const KeyedItem& item);

private:
  // Components that take several steps, each defined in its file.
  struct Comprehension;
  class Fixpoint;
  struct ForLoop;
  struct KnownIterations;
  class StepAllowance;

  // Would the iterations of an unrolled loop after the first `ran` do what the last of these did, since
  // `before`, to other objects? Asked only where no rule looks at the single iteration: in dry runs, for one
  // rank, to show.
  bool rest_is_equivalent(const syntax::ForStmt& stmt, const std::vector<Value>& items, std::size_t ran,
      values::Mark before, const Block& iteration);
  bool skips_equal_iterations() const;
  Flow run_else(
      syntax::Block body, syntax::Block orelse, Flow flow);  // of a loop of which not all rounds are known
  std::optional<Flow> run_known_iterations(const syntax::WhileStmt& stmt, std::vector<Block>& first);
  Flow run_generic_loop(const LoopShape& shape, const std::function<Flow()>& iteration);
  IterationCounts iteration_counts(Int length);
  // How many elements of so many, which are numbered by an atom, fulfill a condition that deals them out in
  // turn; null if it does not.
  Int length_of_share(Int size, Int number, Cond condition);
  bool run_unrolled(
      const syntax::ForStmt& stmt, const std::vector<Value>& items, std::uint64_t budget, Flow& flow);
  Flow run_generator_loop(const syntax::ForStmt& stmt, Value generator);
  Flow run_iteration(LoopTarget& target, const std::function<Flow()>& body, bool loose);
  // The partial order: is everything described by `value` described by `wide`?
  bool covers(Value wide, Value value) const;
  bool covers_state(Value wide, Value value) const;
  Value without_made(Value state, std::uint64_t since);
  Value any_of_wide(Value wide);

  std::vector<KeyedItem> keyed_;  // what was first stored under keys of unknown things, in loops
  ForeseenChanges foreseen_;
  std::uint64_t dry_loops_ = 0;  // so far, loops of which any one iteration was run in a dry run
};

}  // namespace stepzero::interpreter
