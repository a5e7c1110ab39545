// deadlock/undefined-on-rank: a name that is assigned on some ranks only, and used by others. Told where the
// program, run as one process of a small world runs it (see match.hpp), comes to a name of its function that
// has no value there.
#include "rules/deadlock/fixes.hpp"
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::undefined_on_rank {

namespace {
void check(const Record&, Report& report) { tell(report, Cause::name, Severity::warning, buffer_for_others); }
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/undefined-on-rank",
    .severity = Severity::warning,
    .summary = "a name that only some ranks assign is used by others",
    .why =
        "A tensor that only rank 0 makes does not exist on the other ranks. Where they pass it to a broadcast, to receive into, "
        "Python raises `UnboundLocalError` there, and rank 0 waits in the collective.",
    .wrong = "if rank == 0:\n"
             "    loss = torch.tensor([evaluate()])\n"
             "dist.broadcast(loss, src=0)\n",
    .right = "if rank == 0:\n"
             "    loss = torch.tensor([evaluate()])\n"
             "else:\n"
             "    loss = torch.zeros(1)  # a buffer to receive into\n"
             "dist.broadcast(loss, src=0)\n",
    .silent =
        "Names that are used by the ranks only that assign them; names that may be assigned in a loop or on a path that is not known.",
    .fix =
        "Gives the other ranks a buffer of the same shape and dtype, where they are known: right for what is then received into it.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::undefined_on_rank
