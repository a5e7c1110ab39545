// What a tensor is the outcome of, as far as losses care: scores of a layer, probabilities, their logarithms.
// And which losses are means.
#include "libraries/table/columns.hpp"
#include "libraries/table/op.hpp"

#include <algorithm>

namespace stepzero::libraries {

using values::Kind;
using values::Outcome;

namespace {

struct Named {
  std::string_view name;
  OutcomeEffect trace;
};
constexpr Named names[] = {
    {"softmax", OutcomeEffect::softmax},
    {"Softmax", OutcomeEffect::softmax},
    {"Softmax2d", OutcomeEffect::softmax},
    {"log_softmax", OutcomeEffect::log_softmax},
    {"LogSoftmax", OutcomeEffect::log_softmax},
    {"sigmoid", OutcomeEffect::sigmoid},
    {"Sigmoid", OutcomeEffect::sigmoid},
    {"logsigmoid", OutcomeEffect::log_sigmoid},
    {"LogSigmoid", OutcomeEffect::log_sigmoid},
    {"Linear", OutcomeEffect::scores},
    {"Bilinear", OutcomeEffect::scores},
    {"Conv1d", OutcomeEffect::scores},
    {"Conv2d", OutcomeEffect::scores},
    {"Conv3d", OutcomeEffect::scores},
    {"ConvTranspose2d", OutcomeEffect::scores},
    {"linear", OutcomeEffect::scores},
    {"log", OutcomeEffect::log},
    {"view", OutcomeEffect::keeps},
    {"reshape", OutcomeEffect::keeps},
    {"flatten", OutcomeEffect::keeps},
    {"squeeze", OutcomeEffect::keeps},
    {"unsqueeze", OutcomeEffect::keeps},
    {"transpose", OutcomeEffect::keeps},
    {"permute", OutcomeEffect::keeps},
    {"movedim", OutcomeEffect::keeps},
    {"contiguous", OutcomeEffect::keeps},
    {"clone", OutcomeEffect::keeps},
    {"view_as", OutcomeEffect::keeps},
    {"t", OutcomeEffect::keeps},
    {"Flatten", OutcomeEffect::keeps},
    {"Identity", OutcomeEffect::keeps},
    {"__getitem__", OutcomeEffect::keeps},
    {"index_select", OutcomeEffect::keeps},
    {"masked_select", OutcomeEffect::keeps},
    {"select", OutcomeEffect::keeps},
    {"narrow", OutcomeEffect::keeps},
    {"to", OutcomeEffect::keeps},
    {"float", OutcomeEffect::keeps},
    {"double", OutcomeEffect::keeps},
    {"cpu", OutcomeEffect::keeps},
    {"add", OutcomeEffect::adds},
    {"sub", OutcomeEffect::adds},
    {"cross_entropy", OutcomeEffect::loss},
    {"CrossEntropyLoss", OutcomeEffect::loss},
    {"nll_loss", OutcomeEffect::loss},
    {"NLLLoss", OutcomeEffect::loss},
    {"mse_loss", OutcomeEffect::loss},
    {"MSELoss", OutcomeEffect::loss},
    {"l1_loss", OutcomeEffect::loss},
    {"L1Loss", OutcomeEffect::loss},
    {"smooth_l1_loss", OutcomeEffect::loss},
    {"SmoothL1Loss", OutcomeEffect::loss},
    {"huber_loss", OutcomeEffect::loss},
    {"HuberLoss", OutcomeEffect::loss},
    {"BCELoss", OutcomeEffect::loss},
    {"BCEWithLogitsLoss", OutcomeEffect::loss},
    {"binary_cross_entropy", OutcomeEffect::loss},
    {"binary_cross_entropy_with_logits", OutcomeEffect::loss},
    {"kl_div", OutcomeEffect::loss},
    {"KLDivLoss", OutcomeEffect::loss},
    {"cosine_embedding_loss", OutcomeEffect::loss},
    {"CosineEmbeddingLoss", OutcomeEffect::loss},
    {"triplet_margin_loss", OutcomeEffect::loss},
    {"TripletMarginLoss", OutcomeEffect::loss},
    {"ctc_loss", OutcomeEffect::loss},
    {"CTCLoss", OutcomeEffect::loss},
};

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

}  // namespace

OutcomeEffect outcome_effect_of(std::string_view operator_name) {
  const auto* found = std::find_if(
      std::begin(names), std::end(names), [&](const Named& known) { return known.name == operator_name; });
  return found == std::end(names) ? OutcomeEffect::none : found->trace;
}

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
    if (!reduction.is(Kind::string) || reduction.text() != "mean" || !state.shape.rank_known ||
        !state.shape.dims.empty())
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

Column outcome_column() { return column_of("outcome", names); }

}  // namespace stepzero::libraries
