// deadlock/not-in-group: a collective without `group=` that is entered by the members of a smaller group
// only. Every possible run of two, three and four processes is played (see match.hpp): an error is reported
// only if each run that gets there hangs or fails.
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::not_in_group {

namespace {
void check(const Record&, Report& report) {
  tell(report, Cause::other_group, Severity::error);
  tell(report, Cause::outsider, Severity::information);
}
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/not-in-group",
    .severity = Severity::error,
    .summary = "a collective of all ranks that only the members of a smaller group enter",
    .why =
        "Without `group=` a collective runs on all ranks. Entered by the members of a smaller group only, typically under `if "
        "rank in members`, it waits for the others forever. The other way around, a rank that calls a collective of a group that it "
        "is not in gets a warning from PyTorch, and its tensor stays as it was: that is told as information.",
    .wrong = "leaders = dist.new_group([0, 2])\n"
             "if rank in (0, 2):\n"
             "    dist.all_reduce(grad)\n",
    .right = "leaders = dist.new_group([0, 2])\n"
             "if rank in (0, 2):\n"
             "    dist.all_reduce(grad, group=leaders)\n",
    .silent = "Members of a group that enter its collectives; collectives of a group that is not known.",
    .fix = "None: pass the group that is meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::not_in_group
