#include "interpreter/expressions/ambiguous_truth.hpp"

#include "interpreter/reasons.hpp"

#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::interpreter {

namespace {
constexpr int most_steps = 6;  // back along what a tensor was computed from

// `x == y` of a tensor and something unknown is False where that is a tuple.
bool may_be_no_tensor(const values::TensorState& state, int steps = most_steps) {
  if (!state.made || steps == 0) return !state.made && state.unseen;
  for (std::size_t i = 0; i < state.made->arguments.size(); ++i) {
    const values::TensorState* operand = i < state.made->states.size() ? state.made->states[i] : nullptr;
    if (operand ? may_be_no_tensor(*operand, steps - 1) : state.made->arguments[i].is(values::Kind::unknown))
      return true;
  }
  return false;
}
}  // namespace

Value asked_for_truth(Interpreter& run, Value value, Place where) {
  const Value found = run.resolve(value);
  if (!found.is(values::Kind::tensor)) return value;
  const values::TensorState& state = *found.as<values::Tensor>()->now();
  // What only looks like a tensor may have a truth of its own.
  if (!state.shape.ndim_known || state.maybe_array || state.unseen || state.poisoned ||
      may_be_no_tensor(state))
    return value;
  auto& s = run.symbols();
  const bool ambiguous = std::ranges::any_of(state.shape.dims, [&](const values::Dim& dim) {
    return dim.size && !s.varies(dim.size) &&
        s.compare(symbolic::Compare::eq, dim.size, s.constant(1)) == symbolic::Answer::no;
  });
  if (!ambiguous) return value;
  const std::string_view text = run.record().text(where);
  explain(*run.problem_at(values::ProblemKind::argument, where, nullptr),
      why<Reason::truth_of_many>(
          values::is_quotable(text) ? values::code(text) : std::string("This tensor"), state.shape));
  // The same is not told of what else they are compared with.
  for (const Value& operand : state.made ? state.made->arguments : std::span<const Value>())
    if (operand.is(values::Kind::tensor)) {
      values::TensorState poisoned = *operand.as<values::Tensor>()->now();
      poisoned.poisoned = true;
      run.heap().set(
          operand.as<values::Tensor>()->state, Value::of(values::Kind::state, run.heap().state(poisoned)));
    }
  return value;
}

}  // namespace stepzero::interpreter
