// memory/kept-outputs: an evaluation collects what the model made of every batch where the model runs: the
// GPU holds the outputs of the whole data set in the end. Knows the size of what is known, and goes by names
// for what is not seen.
#include "interpreter/calls/unseen.hpp"
#include "rules/memory/added.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/training_loops.hpp"
#include "values/devices.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::memory::kept_outputs {

using values::code;
using values::Kind;
using values::Known;
using values::Operation;

namespace {

// Numbers for each sample: class scores are few, maps and scores of words are many.
constexpr std::int64_t many = 10'000;

bool is_large(const Record& record, const values::TensorState& state) {
  if (!state.shape.ndim_known || state.shape.dims.size() < 2) return false;
  std::int64_t product = 1;
  bool known = true;
  for (std::size_t i = 1; i < state.shape.dims.size(); ++i) {
    const auto size = state.shape.dims[i].size ? record.symbols.value(state.shape.dims[i].size)
                                               : std::nullopt;
    known = known && size;
    product = std::min<std::int64_t>(product * size.value_or(1), std::int64_t{1} << 40);
  }
  return product >= many || (!known && state.shape.dims.size() > 2);
}

// The output of a model that is not seen, or a part of it that is called its scores.
bool is_output(std::string_view text) {
  const std::string_view part = text.substr(text.rfind('.') + 1);
  return says(part, Says::prediction);
}

// Is a model called in the loop? Other loops go through the parts of one batch.
bool calls_model(const TrainingRoot& training_root, const interpreter::LoopEvent* loop) {
  return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    return each.event->row->operation == Operation::forward && each.in(loop);
  });
}

void look(const Record& record, Report& report, const TrainingRoot& training_root, Once& once) {
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& event = *each.event;
    if (event.row->operation != Operation::kept || !event.place || event.arguments.empty() ||
        each.loops.empty() || !repeats(*each.loops.back()) || each.loops.back()->unrolled ||
        each.in_handler || !event.around || event.around->gradients != Known::no || argument(event, 3))
      continue;
    const auto within = [&](const Turn& turn) {
      return turn.branch->place.chunk == each.loops.back()->place.chunk && each.loops.back()->stmt &&
          each.loops.back()->stmt->span.holds(turn.branch->place.span);
    };
    if (std::ranges::any_of(each.turns, within)) continue;
    const auto added = added_by(record, event);
    if (!added || added->sum) continue;
    const Value value = event.arguments[0];
    const values::TensorState* state = event.argument_state(0);
    if (state && state->shape.ndim_known) {
      if (!on_device(state) || !is_large(record, *state) || !calls_model(training_root, each.loops.back()))
        continue;
    } else if (value.is(Kind::unknown)) {
      const auto& unknown = *value.as<values::Unknown>();
      if (!values::is_accelerator(interpreter::computed_on(unknown)) || !is_output(added->what)) continue;
    } else {
      continue;
    }
    if (!once(event.place)) continue;
    Finding* finding = report.add(Severity::information, event.place, event.calls,
        code(added->into) + " collects " + code(added->what) +
            " of every batch on the GPU, whose memory fills up with the outputs of the whole data set. Keep " +
            code(added->what + ".cpu()") + ", or only what the metric needs.");
    if (!finding) continue;
    report.relate(*finding, each.loops.back()->place, "iteration after iteration");
    if (!record.in_file(event.place) || added->value->kind != syntax::ExprKind::name) continue;
    Fix fix;
    fix.title = "Keep " + added->what + ".cpu()";
    const auto end = added->value->span.end;
    fix.edits.push_back({report.location({event.place.chunk, {end, end}}), ".cpu()"});
    finding->fixes.push_back(std::move(fix));
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const auto* training_roots : {&training.training_roots(), &training.evaluating()})
    for (const TrainingRoot& training_root : *training_roots)
      if (!training_root.root->truncated) look(record, report, training_root, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/kept-outputs",
    .severity = Severity::information,
    .summary = "an evaluation collects the model's outputs on the GPU",
    .why =
        "Under `no_grad()` an output holds no graph, and still its own memory. Segmentation maps of 21 classes at 512 x 512 take 21 MiB for each image in float32: a validation set of 1,500 images does not fit "
        "onto any GPU, and the evaluation ends with \"CUDA out of memory\" long after training began. Scores over a vocabulary are as large.",
    .wrong = "with torch.no_grad():\n"
             "    for x, y in loader:\n"
             "        outputs.append(model(x.cuda()))\n",
    .right = "with torch.no_grad():\n"
             "    for x, y in loader:\n"
             "        outputs.append(model(x.cuda()).cpu())\n",
    .silent =
        "Outputs that are moved to the CPU or reduced (`argmax`, `item`); small ones, such as the scores of a few classes, where their size is known; what is collected under a condition; the CPU.",
    .fix = "Offers `.cpu()`. What follows has to find the other tensors there, too.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::memory::kept_outputs
