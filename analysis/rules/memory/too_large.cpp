// memory/too-large: a training step takes more memory than the GPU has.
#include "footprint/advice.hpp"
#include "footprint/text.hpp"
#include "rules/memory/steps.hpp"
#include "rules/run_conditions.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/training_loops.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::memory::too_large {

using namespace interpreter;
using footprint::Account;
using footprint::bytes_text;
using footprint::StepAccount;
using values::Operation;

namespace {

// What stands at once when an optimizer has made its first step, whatever the batch is.
struct Certain {
  std::int64_t parameters = 0, gradients = 0, state = 0;
  bool on_device = true;  // all of it is known to lie on a GPU
  bool open = false;      // sizes were taken as they usually are
  std::int64_t sum() const { return parameters + gradients + state; }
};

Certain certain(const Account& account, const StepAccount& step, const footprint::Optimizer& optimizer) {
  Certain made;
  symbolic::Context& s = account.record().symbols;
  const auto reached = account.reached(step);
  std::unordered_set<const values::Tensor*> with_gradient, seen;
  const auto bytes = [&](const footprint::Held& held) {
    footprint::Bytes sum;
    sum.add(s, footprint::bytes_of(s, held.shape, held.dtype), held.copies);
    made.open = made.open || sum.open();
    return account.number(sum);
  };
  for (const footprint::ModelAccount& model : account.models())
    for (const footprint::Module& module : model.tree.modules)
      for (const footprint::Held& held : module.own) {
        if (!held.is_parameter || (held.tensor && !seen.insert(held.tensor).second)) continue;
        made.parameters += bytes(held);
        made.on_device = made.on_device && held.tensor && on_device(held.tensor->now());
        if (!reached.contains(&held)) continue;
        made.gradients += bytes(held);
        if (held.tensor) with_gradient.insert(held.tensor);
      }
  const bool all = std::ranges::all_of(optimizer.tensors, [&](const footprint::Held& held) {
    return held.trained == values::Known::no || (held.tensor && with_gradient.contains(held.tensor));
  });
  if (all && optimizer.known && optimizer.complete) made.state = account.number(optimizer.state);
  return made;
}

std::string parts_text(const Certain& sum, const std::string& optimizer) {
  return "parameters (" + bytes_text(sum.parameters) + ")" +
      (sum.gradients ? ", their gradients (" + bytes_text(sum.gradients) + ")" : "") +
      (sum.state ? " and the state of " + values::code(optimizer) + " (" + bytes_text(sum.state) + ")" : "");
}

// The step of the optimizer after the backward, by the program's own statements.
const TrainingEvent* step_of(
    const Record& record, const StepAccount& step, const footprint::Optimizer& optimizer) {
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    bool after = false;
    for (const TrainingEvent& each : training_root.all) {
      after = after || each.event == step.backward || each.event->place == step.backward->place;
      if (after && stepped_optimizer(*each.event).object() == optimizer.made->self.object() &&
          !each.in_attempt && !each.in_handler && !training_root.handed_over)
        return &each;
    }
  }
  return nullptr;
}

bool tell_certain(const Record& record, Report& report, const Account& account, const StepAccount& step) {
  const RunConditions told = RunConditions::of(record);
  const std::int64_t limit = told.gpu_memory;
  for (const footprint::Optimizer& optimizer : account.optimizers()) {
    const Certain sum = certain(account, step, optimizer);
    const TrainingEvent* at = sum.sum() > limit ? step_of(record, step, optimizer) : nullptr;
    if (!at) continue;
    const bool by_defaults = told.by_defaults || sum.open, proven = sum.on_device && !by_defaults;
    std::string text = "This step does not fit in the " + bytes_text(limit) +
        " of `gpu-memory`, however small the batch is: " + parts_text(sum, optimizer.type) + " alone are " +
        bytes_text(sum.sum());
    text += by_defaults ? ", with the defaults of the program"
        : sum.on_device ? ""
                        : ", when all of it is on one GPU";
    text += ". Shard or offload them, or use a smaller model.";
    if (Finding* finding = report.add(proven ? Severity::error : Severity::warning, at->event->place,
            at->event->calls, std::move(text)))
      report.relate(
          *finding, optimizer.made->place, "the state of " + optimizer.type + " is made by its first step");
    return true;
  }
  return false;
}

void tell_peak(Report& report, const Account& account, const StepAccount& step) {
  const RunConditions told = RunConditions::of(account.record());
  const std::int64_t limit = told.gpu_memory, peak = account.number(step.peak.bytes);
  if (peak <= limit) return;
  std::vector<std::pair<std::int64_t, const footprint::Peak::Part*>> parts;
  parts.reserve(step.peak.parts.size());
  for (const footprint::Peak::Part& part : step.peak.parts)
    parts.push_back({account.number(part.bytes), &part});
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = "A step takes " +
      std::string(step.peak.bytes.at_least() || step.peak.bytes.open() ? "at least " : "") +
      bytes_text(peak) + " in the " + step.peak.moment + ", and `gpu-memory` is " + bytes_text(limit) + ": ";
  for (std::size_t i = 0; i < parts.size() && i < 3; ++i)
    text += (i ? ", " : "") + parts[i].second->what + " " + bytes_text(parts[i].first);
  text += parts.size() > 3 ? ", and more." : ".";
  if (told.by_defaults || step.peak.bytes.open()) text += " This is with the defaults of the program.";
  if (const auto advice = footprint::advice_of(account, step)) {
    std::string said = footprint::advice_text(*advice);
    said[0] = 'A';
    text += " " + said + ".";
  }
  Finding* finding = report.add(
      Severity::warning, step.backward->place, step.backward->calls, std::move(text));
  for (std::size_t i = 0; finding && i < parts.size() && i < 3; ++i)
    if (parts[i].second->place)
      report.relate(*finding, parts[i].second->place, bytes_text(parts[i].first) + " of it");
}

void check(const Record& record, Report& report) {
  if (RunConditions::of(record).gpu_memory == 0 || !has_steps(record)) return;
  const Account& account = Account::of(record);
  if (is_divided(account)) return;
  for (const StepAccount* step : steps_on_gpu(account, true))
    if (!tell_certain(record, report, account, *step)) tell_peak(report, account, *step);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/too-large",
    .severity = Severity::error,
    .summary = "a training step takes more memory than the GPU has",
    .why =
        "\"CUDA out of memory\" comes minutes into a run, or at the first long batch. With the setting `gpu-memory` the sum is made before: parameters, buffers, gradients, the optimizer's "
        "state and what autograd keeps for the backward, all from shapes and types. It is a lower bound, since the caching allocator, the CUDA context and the workspaces of "
        "kernels come on top: what exceeds `gpu-memory` by itself does not fit. Where parameters, gradients and state alone exceed it, no batch size helps. `stepzero memory` prints all of it.",
    .wrong = "# gpu-memory = \"16GB\"\n"
             "model = nn.Sequential(*[nn.Linear(16384, 16384) for _ in range(8)]).cuda()\n"
             "optimizer = torch.optim.AdamW(model.parameters())\n"
             "model(x).mean().backward()\n"
             "optimizer.step()  # 8 GiB each of parameters and gradients, 16 GiB of state\n",
    .right = "model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(8)]).cuda()\n"
             "optimizer = torch.optim.AdamW(model.parameters())\n"
             "model(x).mean().backward()\n"
             "optimizer.step()\n",
    .silent =
        "Programs without the setting `gpu-memory`; models on the CPU, or on several devices; models that FSDP, DeepSpeed or another library divides, and optimizers that ZeRO does: `stepzero memory --world` speaks of those. Sizes that the program leaves open count as 1.",
    .fix =
        "None: what to give up is the user's choice. Where the activations are too large: a smaller batch with as many more steps of accumulation trains on the same effective batch; autocast to bfloat16 halves them; "
        "checkpointing keeps the inputs of the blocks alone, for about a third more time, and the message says what it would spare. Where parameters, gradients and state are too large: an optimizer with 8-bit state, "
        "adapters instead of all weights, or FSDP and ZeRO, which share them out among the GPUs. While you look for the place, leave `torch.compile` off: its first steps hide where the memory goes. "
        "Where the sum fits and CUDA is out of memory all the same, what is free lies in pieces: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::memory::too_large
