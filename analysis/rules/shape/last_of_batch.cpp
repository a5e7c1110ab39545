// shape/last-of-batch: the last sample of a batch is taken for the last step of a sequence.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::shape::last_of_batch {

using values::code;

namespace {

using values::Kind;

// What recurrent layers have, and no others.
constexpr std::string_view order = "batch_first", width = "hidden_size";

// The layer whose outputs for all steps the tensor is, with the steps in front; null: it is none.
const values::Instance* recurrent(const Record& record, const TensorState* state) {
  if (!state || !state->made || !state->made->self.is(Kind::instance) || state->made->part != 0 ||
      !state->shape.ndim_known || state->shape.dims.size() != 3)
    return nullptr;
  const auto* layer = state->made->self.as<values::Instance>();
  const Value first = layer->attributes.value(values::Name(order));
  return first.is(Kind::boolean) && record.symbols.decide(first.condition()) == symbolic::Answer::no &&
          layer->attributes.value(values::Name(width))
      ? layer
      : nullptr;
}

// `outputs[:, -1]`, `outputs[:, -1, :]`
bool takes_last_of_second(const Record& record, Value index) {
  if (!index.is(Kind::tuple)) return false;
  const auto& parts = index.as<values::Tuple>()->items;
  const auto is_all = [](Value part) {
    if (!part.is(Kind::slice)) return false;
    const auto& slice = *part.as<values::SliceObject>();
    const auto none = [](Value value) { return !value || value.is(Kind::none); };
    return none(slice.lower) && none(slice.upper) && none(slice.step);
  };
  return parts.size() >= 2 && is_all(parts[0]) && record.number(parts[1]) == -1 &&
      std::all_of(parts.begin() + 2, parts.end(), is_all);
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::picked)) {
    const TensorState* outputs = input(*each.made);
    const values::Instance* layer = recurrent(record, outputs);
    if (!layer || each.made->arguments.size() < 2 || !takes_last_of_second(record, each.made->arguments[1]) ||
        !once(each.made->born))
      continue;
    Finding* finding = report.add(Severity::warning, each.made->born, each.made->calls,
        "This takes the last sample of the batch and not the last step: without `batch_first=True` the outputs are `[steps, batch, features]`, here " +
            code(values::shape_text(record.symbols, outputs->shape)) +
            ". Pass `batch_first=True` if the batch comes first in the input, or take `[-1]`.");
    if (finding && layer->born) report.relate(*finding, layer->born, "the layer is made here");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/last-of-batch",
    .severity = Severity::warning,
    .summary = "the last sample of a batch is taken for the last step of a sequence",
    .why =
        "A recurrent layer reads `[steps, batch, features]` unless it was made with `batch_first=True`. Given `[batch, steps, features]` it runs along the batch: the samples of a batch become one sequence, and the steps the batch. The shapes fit, and `outputs[:, -1]` gives a row for each sample, of what was computed from the samples before it at the last step.",
    .wrong = "rnn = nn.LSTM(8, 32)\n"
             "outputs, _ = rnn(x)   # x: [batch, steps, 8]\n"
             "score = head(outputs[:, -1])\n",
    .right = "rnn = nn.LSTM(8, 32, batch_first=True)\n"
             "outputs, _ = rnn(x)\n"
             "score = head(outputs[:, -1])\n",
    .silent = "Layers with `batch_first=True`; `outputs[-1]`; other samples than the last one.",
    .fix = "None: whether the batch comes first shows where the data is made.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::shape::last_of_batch
