// Events that no call of a row leaves: what an iteration keeps for the next ones, what is read and picked.
#pragma once

#include "interpreter/run_part.hpp"

#include <string_view>

namespace stepzero::interpreter {

class NotedEvents : private RunPart {
public:
  explicit NotedEvents(Interpreter& run) : RunPart(run) {}

  bool in_loop() const;  // does a statement's loop run, here or in a caller?
  bool matters(const interpreter::Call& call) const;
  // An operation that no call of the program makes: what the row says happens there.
  OperationEvent* record_implied(
      std::string_view row, Value self, std::vector<Value> arguments, Value result, Place where);

  // `target = target + operand` is about to happen; without an operand, it has happened.
  void note_assigned(const syntax::Expr& target, Value operand, Place where);
  // As if the attribute of a tensor were assigned to. Null in a run whose events nobody reads.
  OperationEvent* note_tensor_set(std::string_view attribute, Value of, Place where);
  // A tensor with a graph is about to be added to what lies in the slot; without a tensor, it has been.
  void note_kept(const values::Slot& slot, Value added, Place where);
  // At the end of an iteration. What some iterations begin anew is marked by a third argument.
  void record_kept(const LoopTarget& target);
  // What an iteration leaves in a variable is, in the next one, a tensor of an earlier iteration.
  void mark_earlier(Value value, int depth = 0);
  void mark_earlier(values::Mark since);
  // A tensor is printed, formatted or becomes a number.
  void record_read(Value value, Place where);
  void record_part(values::Unknown& whole, Value key, Value part, Place where);
  void record_picked(Value tensor, Value index, Place where);
  void record_window(Value data, Value index, Place where);
};

}  // namespace stepzero::interpreter
