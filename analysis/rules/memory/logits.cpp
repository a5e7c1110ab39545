// memory/logits: the scores of a large vocabulary, in float32, are most of what stands at the peak.
#include "footprint/text.hpp"
#include "rules/memory/steps.hpp"
#include "rules/provenance.hpp"
#include "rules/run_conditions.hpp"
#include "rules/training/training.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::memory::logits {

using footprint::Account;
using footprint::bytes_text;
using footprint::StepAccount;
using libraries::OpSemantics;
using values::TensorState;

namespace {

constexpr std::int64_t fewest_classes = 8192;  // below these the advice would change little
constexpr std::int64_t fewest_bytes = std::int64_t{1} << 30;

const TensorState* scores_of(const footprint::Node& node) {
  const values::Row& row = *node.made->row;
  const bool softmax_inside = row.loss && row.loss->repeats == values::Outcome::softmax;
  if (!softmax_inside && semantics(*node.made) != OpSemantics::log_softmax) return nullptr;
  return node.made->states.empty() ? nullptr : node.made->states[0];
}

// The bytes of the scores in float32, with the defaults of the program; 0: they are few, or not known.
std::int64_t bytes_in_float32(const Record& record, const TensorState& scores) {
  if (!scores.shape.ndim_known || scores.shape.dims.size() < 2) return 0;
  const auto number = [&](values::Int size) {
    footprint::Bytes sum;
    sum.add(record.symbols, size);
    return sum.at_least() ? 0 : sum.number(record.symbols, {});
  };
  const auto& dims = scores.shape.dims;
  if (std::max(number(dims[1].size), number(dims.back().size)) < fewest_classes) return 0;
  return number(footprint::bytes_of(record.symbols, scores.shape, values::Dtype::float32));
}

// Of what stands at the peak: the loss, its gradient, and the scores in all the types and shapes that they go
// through.
std::int64_t at_peak(
    const Account& account, const StepAccount& step, const footprint::Node& loss, const TensorState& scores) {
  std::vector<Place> places = {loss.made->born};
  for (const TensorState* at = &scores;
      at->made && static_cast<int>(places.size()) < values::deepest_source;) {
    places.push_back(at->made->born);
    const bool same = !at->made->states.empty() && at->made->states[0] &&
        footprint::shares_memory(account.record(), *at->made, at, account.options().device);
    if (!same && semantics(at) != OpSemantics::same) break;
    if (at->made->states.empty() || !at->made->states[0]) break;
    at = at->made->states[0];
  }
  const auto among = [&](Place place) { return std::ranges::find(places, place) != places.end(); };
  if (!among(step.peak.place)) return 0;
  std::int64_t sum = 0;
  for (const footprint::Peak::Part& part : step.peak.parts)
    if (among(part.place)) sum += account.number(part.bytes);
  return sum;
}

// Before anything is counted: is there a loss of so many scores?
bool has_large_loss(const Record& record) {
  for (const TrainingRoot& training_root : Training::of(record).training_roots())
    for (const TrainingEvent& each : training_root.all)
      if (each.event->row->operation == values::Operation::loss)
        for (const TensorState* state : each.event->tensors)
          if (state && bytes_in_float32(record, *state) * 2 >= fewest_bytes) return true;
  return false;
}

void check(const Record& record, Report& report) {
  if (!has_steps(record) || !has_large_loss(record)) return;
  const Account& account = Account::of(record);
  for (const StepAccount* step : steps_on_gpu(account, true)) {
    if (step->peak.bytes.at_least()) continue;
    const bool by_defaults = RunConditions::of(record).by_defaults || step->peak.bytes.open();
    for (const footprint::Node& node : step->graph->nodes()) {
      const TensorState* scores = scores_of(node);
      const std::int64_t alone = scores ? bytes_in_float32(record, *scores) : 0;
      if (alone * 2 < fewest_bytes) continue;
      const std::int64_t sum = at_peak(account, *step, node, *scores),
                         peak = account.number(step->peak.bytes);
      if (sum < fewest_bytes || sum * 5 < peak * 2) continue;
      report.add(Severity::information, node.made->born, node.made->calls,
          "The scores " + values::code(values::shape_text(record.symbols, scores->shape)) + " are " +
              bytes_text(alone) + " in float32. With their copies and gradient they are " + bytes_text(sum) +
              " of the " + bytes_text(peak) + " at the peak of a step" +
              (by_defaults ? ", with the defaults of the program" : "") +
              ". Compute the loss in chunks, or fused with the last layer: then they are never whole.");
      break;
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/logits",
    .severity = Severity::information,
    .summary = "float32 scores of a large vocabulary are most of the memory at the peak",
    .why =
        "`cross_entropy` of scores [tokens, vocabulary] holds them several times at once: as the last layer made them, in float32 (autocast converts them), their logarithms, and their gradient. "
        "With a vocabulary of 128,000 and 16,384 tokens each copy is 7.8 GiB, more than the rest of a small model. A loss of chunks of tokens, each checkpointed together with "
        "the last layer, holds one chunk of them at a time; kernels that fuse both (`LigerFusedLinearCrossEntropyLoss`) do the same.",
    .wrong = "logits = lm_head(hidden)                      # [16384, 128000]\n"
             "loss = F.cross_entropy(logits.float(), labels)\n",
    .right =
        "def loss_of(part, labels):\n"
        "    return F.cross_entropy(lm_head(part).float(), labels, reduction=\"sum\")\n"
        "\n"
        "parts = zip(hidden.chunk(16), labels.chunk(16))\n"
        "loss = sum(checkpoint(loss_of, *part, use_reentrant=False) for part in parts) / labels.numel()\n",
    .silent =
        "Scores of fewer than 8,192 classes; less than 1 GiB of copies, or less than two fifths of the peak; sizes that have no default; the CPU.",
    .fix = "None: how the loss is computed is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::memory::logits
