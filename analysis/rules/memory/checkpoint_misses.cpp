// memory/checkpoint-misses: activation checkpointing that spares nothing.
#include "footprint/advice.hpp"
#include "footprint/text.hpp"
#include "rules/memory/steps.hpp"
#include "rules/training/training.hpp"

namespace stepzero::rules::memory::checkpoint_misses {

using footprint::Account;
using footprint::bytes_text;
using footprint::Region;
using footprint::StepAccount;

namespace {

constexpr std::int64_t fewest_bytes = std::int64_t{1} << 20;

void look(Report& report, const Account& account, const StepAccount& step, Once& once) {
  const std::vector<Region> regions = footprint::regions_of(account, step);
  const std::int64_t saved = account.number(step.saved);
  for (const Region& region : regions) {
    const values::Producer& made = *region.node->made;
    if (!region.known || region.operations == 0) continue;
    if (region.keeps >= fewest_bytes && region.again <= region.keeps) {
      if (!once(made.born)) continue;
      report.add(Severity::information, made.born, made.calls,
          "This checkpoint saves no memory: it keeps its inputs, " + bytes_text(region.keeps) +
              ", and what runs inside would have kept " + bytes_text(region.again) +
              ". The forward is computed twice for nothing. Remove the checkpoint.");
    } else if (regions.size() == 1 && region.again >= fewest_bytes &&
        region.again >= 9 * (saved - region.keeps)) {
      if (!once(made.born)) continue;
      report.add(Severity::information, made.born, made.calls,
          "The whole model is one checkpoint: when the backward runs it again, the " +
              bytes_text(region.again) +
              " that it would have kept are in memory at once, as without the checkpoint. Checkpoint its blocks one by one.");
    }
  }
}

// Before anything is counted: does the program name it?
bool names_checkpoint(const Record& record) {
  const syntax::Module* last = nullptr;
  for (const interpreter::ChunkOf& chunk : record.chunks) {
    if (!chunk.module || chunk.module.get() == last) continue;
    last = chunk.module.get();
    if (last->text->bytes().find("checkpoint") != std::string::npos) return true;
  }
  return false;
}

void check(const Record& record, Report& report) {
  if (!has_steps(record) || !names_checkpoint(record)) return;
  const Account& account = Account::of(record);
  Once once;
  for (const StepAccount* step : steps_on_gpu(account, false)) look(report, account, *step, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/checkpoint-misses",
    .severity = Severity::information,
    .summary = "activation checkpointing that saves no memory",
    .why =
        "`checkpoint(f, x)` keeps x instead of what the operations of f would keep, and runs f again in the backward. It spares the difference, and only as long as the other regions "
        "are not there at the same time. Around everything at once it spares nothing: when the backward begins, the whole forward runs again and keeps all. Around a single activation or a "
        "view it costs more than it spares. Around each block of a model it keeps one tensor for each of them.",
    .wrong = "loss = checkpoint(model, x, use_reentrant=False).mean()\n"
             "loss.backward()\n",
    .right = "for block in model.blocks:\n"
             "    x = checkpoint(block, x, use_reentrant=False)\n"
             "loss = x.mean()\n"
             "loss.backward()\n",
    .silent =
        "Regions that spare something; sizes that are open; less than 1 MiB; regions with operations of which it is not known what they keep; the CPU.",
    .fix = "None: which parts are checkpointed is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::memory::checkpoint_misses
