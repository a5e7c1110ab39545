// checkpoint/all-ranks: every rank writes the same file.
#include "rules/checkpoint/files.hpp"
#include "rules/list.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Sharing;
using values::Kind;

namespace {

// A condition of which nothing is known but its name may well be one of the rank.
bool is_opaque(const Record& record, values::Cond condition) {
  bool opaque = false;
  record.symbols.parts(condition, [](symbolic::Int) {}, [&](values::Cond) { opaque = true; });
  return opaque;
}

void check(const Record& record, Report& report) {
  std::vector<Place> told;
  for (const CheckpointRoot& desk : Files::of(record).desks()) {
    if (desk.handed_over || desk.root->truncated || !desk.parallel) continue;
    for (const FileUse& save : desk.saves) {
      const Path path = path_of(record, save);
      if (!path.value || record.heap.sharing(path.value) != Sharing::uniform ||
          record.heap.is_external(path.value) || path.value.is(Kind::instance))
        continue;
      // What is sharded lies in another file for each rank, or only rank 0 has it.
      if (std::any_of(save.turns.begin(), save.turns.end(),
              [&](const Turn& turn) { return is_opaque(record, turn.branch->condition); }))
        continue;
      if (save.guarded || by_ranks(record, desk, save) != Who::both) continue;
      if (std::find(told.begin(), told.end(), save.event->place) != told.end()) continue;
      told.push_back(save.event->place);
      Finding* finding = report.add(Severity::warning, save.event->place, save.event->calls,
          "Every rank writes this file at the same time, so it may end up as an unreadable mix. Save on rank 0 alone if the ranks hold the same model; where it is sharded, give each rank a file of its own.");
      if (finding) report.relate_calls(*finding, save.event->calls);
    }
  }
}

}  // namespace

constexpr Rule all_ranks = complete({
    .id = "checkpoint/all-ranks",
    .severity = Severity::warning,
    .summary = "every rank writes the same checkpoint",
    .why =
        "Under DistributedDataParallel all ranks run the same program. Without a condition on the rank they all open one path on a shared file system, truncate it and "
        "write: what lies there afterwards may be a mixture that torch.load refuses. It also writes the checkpoint once per GPU.",
    .wrong = "torch.save(model.module.state_dict(), \"model.pt\")\n",
    .right = "if dist.get_rank() == 0:\n"
             "    torch.save(model.module.state_dict(), \"model.pt\")\n",
    .silent =
        "Files named by the rank; saving behind a condition that depends on the rank, or on something that is not known; programs that run on one rank; frameworks "
        "that save by themselves.",
    .fix = "None: which rank saves, and what the others do meanwhile, is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules
