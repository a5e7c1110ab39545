// What a tensor is the outcome of, as far as losses care: scores of a layer, probabilities, their logarithms.
// And which losses are means.
#include "libraries/table/op.hpp"

#include <algorithm>

namespace stepzero::libraries {

using values::Kind;
using values::Outcome;

namespace {

Outcome outcome_of(OutcomeEffect trace) {
  switch (trace) {
  case OutcomeEffect::softmax: return Outcome::softmax;
  case OutcomeEffect::log_softmax: return Outcome::log_softmax;
  case OutcomeEffect::sigmoid: return Outcome::sigmoid;
  case OutcomeEffect::log_sigmoid: return Outcome::log_sigmoid;
  case OutcomeEffect::scores: return Outcome::scores;
  default: return Outcome::none;
  }
}

Value reduction_of(const Op& op) {
  const Value given = op.argument("reduction");
  return given ? given : op.kept("reduction");
}
// The old way to ask for a sum: `size_average=False`.
bool may_add_up(const Op& op) {
  const Value given = op.argument("size_average"),
              said = op.run.resolve(given ? given : op.kept("size_average"));
  return said && !said.is(Kind::none) && op.s.decide(op.run.truth(said)) != symbolic::Answer::yes;
}

}  // namespace

void watch_outcome(Op& op, OutcomeEffect trace, Value made) {
  const TensorState* now = op.tensor(made);
  if (!now || op.call.row.parameters.empty()) return;
  const TensorState* from = op.tensor(op.call.row.parameters[0].text());
  TensorState state = *now;
  const auto mark = [&](Outcome outcome, std::string_view what) {
    auto* kept = op.run.heap().make<values::OutcomeOf>();
    kept->outcome = outcome;
    kept->place = op.call.place;
    kept->what = what;
    state.outcome = kept;
  };
  switch (trace) {
  case OutcomeEffect::none: return;
  case OutcomeEffect::keeps:
    if (!from) return;
    state.outcome = from->outcome;
    state.mean = from->mean;
    break;
  case OutcomeEffect::log:
    if (!from || !from->outcome ||
        (from->outcome->outcome != Outcome::softmax && from->outcome->outcome != Outcome::sigmoid))
      return;
    mark(
        from->outcome->outcome == Outcome::softmax ? Outcome::log_softmax : Outcome::log_sigmoid, op.title());
    break;
  case OutcomeEffect::adds:
    for (const Value& value : op.tensors())
      if (const TensorState* part = op.tensor(value); part && part->mean && !state.mean)
        state.mean = part->mean;
    if (!state.mean) return;
    break;
  case OutcomeEffect::loss: {
    const Value reduction = reduction_of(op);
    if (!reduction.is(Kind::string) || reduction.text() != "mean" || may_add_up(op) ||
        !state.shape.ndim_known || !state.shape.dims.empty())
      return;
    auto* origin = op.run.heap().make<values::Origin>();
    origin->place = op.call.place;
    origin->what = op.title();
    state.mean = origin;
    break;
  }
  default: mark(outcome_of(trace), op.title()); break;
  }
  set_state(op.run, made, state);
}

}  // namespace stepzero::libraries
