// What a tensor is the outcome of, as far as losses care: scores of a layer, probabilities, their logarithms. And which losses are means.
#include "libraries/table/columns.hpp"
#include "libraries/table/op.hpp"

#include <algorithm>

namespace stepzero::libraries {

using values::Kind;
using values::Outcome;

namespace {

struct Named {
  std::string_view name;
  Trace trace;
};
constexpr Named names[] = {
    {"softmax", Trace::softmax},         {"Softmax", Trace::softmax},         {"Softmax2d", Trace::softmax},
    {"log_softmax", Trace::log_softmax}, {"LogSoftmax", Trace::log_softmax},
    {"sigmoid", Trace::sigmoid},         {"Sigmoid", Trace::sigmoid},
    {"logsigmoid", Trace::log_sigmoid},  {"LogSigmoid", Trace::log_sigmoid},
    {"Linear", Trace::scores},           {"Bilinear", Trace::scores},         {"Conv1d", Trace::scores},
    {"Conv2d", Trace::scores},           {"Conv3d", Trace::scores},           {"ConvTranspose2d", Trace::scores},
    {"linear", Trace::scores},           {"log", Trace::log},
    {"view", Trace::keeps},              {"reshape", Trace::keeps},           {"flatten", Trace::keeps},
    {"squeeze", Trace::keeps},           {"unsqueeze", Trace::keeps},         {"transpose", Trace::keeps},
    {"permute", Trace::keeps},           {"movedim", Trace::keeps},           {"contiguous", Trace::keeps},
    {"clone", Trace::keeps},             {"view_as", Trace::keeps},           {"t", Trace::keeps},
    {"Flatten", Trace::keeps},           {"Identity", Trace::keeps},          {"__getitem__", Trace::keeps},
    {"index_select", Trace::keeps},      {"masked_select", Trace::keeps},     {"select", Trace::keeps},
    {"narrow", Trace::keeps},            {"to", Trace::keeps},                {"float", Trace::keeps},
    {"double", Trace::keeps},            {"cpu", Trace::keeps},
    {"add", Trace::adds},                {"sub", Trace::adds},
    {"cross_entropy", Trace::loss},      {"CrossEntropyLoss", Trace::loss},   {"nll_loss", Trace::loss},
    {"NLLLoss", Trace::loss},            {"mse_loss", Trace::loss},           {"MSELoss", Trace::loss},
    {"l1_loss", Trace::loss},            {"L1Loss", Trace::loss},             {"smooth_l1_loss", Trace::loss},
    {"SmoothL1Loss", Trace::loss},       {"huber_loss", Trace::loss},         {"HuberLoss", Trace::loss},
    {"BCELoss", Trace::loss},            {"BCEWithLogitsLoss", Trace::loss},  {"binary_cross_entropy", Trace::loss},
    {"binary_cross_entropy_with_logits", Trace::loss}, {"kl_div", Trace::loss}, {"KLDivLoss", Trace::loss},
    {"cosine_embedding_loss", Trace::loss}, {"CosineEmbeddingLoss", Trace::loss}, {"triplet_margin_loss", Trace::loss},
    {"TripletMarginLoss", Trace::loss},  {"ctc_loss", Trace::loss},           {"CTCLoss", Trace::loss},
};

Outcome outcome_of(Trace trace) {
  switch (trace) {
  case Trace::softmax: return Outcome::softmax;
  case Trace::log_softmax: return Outcome::log_softmax;
  case Trace::sigmoid: return Outcome::sigmoid;
  case Trace::log_sigmoid: return Outcome::log_sigmoid;
  case Trace::scores: return Outcome::scores;
  default: return Outcome::none;
  }
}

Value reduction_of(const Op& op) {
  const Value given = op.argument("reduction");
  return given ? given : op.kept("reduction");
}

} // namespace

Trace trace_of(std::string_view operator_name) {
  const auto* found = std::find_if(std::begin(names), std::end(names), [&](const Named& known) { return known.name == operator_name; });
  return found == std::end(names) ? Trace::none : found->trace;
}

void watch_outcome(Op& op, Trace trace, Value made) {
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
  case Trace::none: return;
  case Trace::keeps:
    if (!from) return;
    state.outcome = from->outcome;
    state.mean = from->mean;
    break;
  case Trace::log:
    if (!from || !from->outcome || (from->outcome->outcome != Outcome::softmax && from->outcome->outcome != Outcome::sigmoid)) return;
    mark(from->outcome->outcome == Outcome::softmax ? Outcome::log_softmax : Outcome::log_sigmoid, op.title());
    break;
  case Trace::adds:
    for (const Value& value : op.tensors())
      if (const TensorState* part = op.tensor(value); part && part->mean && !state.mean) state.mean = part->mean;
    if (!state.mean) return;
    break;
  case Trace::loss: {
    const Value reduction = reduction_of(op);
    if (!reduction.is(Kind::string) || reduction.text() != "mean" || !state.shape.rank_known || !state.shape.dims.empty()) return;
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

} // namespace stepzero::libraries
