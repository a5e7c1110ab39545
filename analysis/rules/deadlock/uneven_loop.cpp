// deadlock/uneven-loop: a loop with collectives whose number of iterations depends on the rank. Every
// possible run of two, three and four processes is played (see match.hpp): an error is reported only if each
// run that gets there hangs or fails.
#include "rules/deadlock/fixes.hpp"
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::uneven_loop {

namespace {
void check(const Record&, Report& report) {
  tell(report, Cause::iterations, Severity::error, as_many_iterations);
}
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/uneven-loop",
    .severity = Severity::error,
    .summary = "a loop with collectives that runs different numbers of iterations on different ranks",
    .why =
        "Every iteration of the loop enters collectives, and a rank that runs one iteration more waits in the last one for ranks that "
        "have left. Typical are `range(rank)`, shards of different lengths (`files[rank::world_size]`), and loaders without "
        "`DistributedSampler` or `drop_last`.",
    .wrong = "for part in range(rank + 1):\n"
             "    dist.all_reduce(value)\n",
    .right = "for part in range(world_size):\n"
             "    dist.all_reduce(value)\n",
    .silent =
        "Loops over the same number of iterations on all ranks, also where it is not known; loops without collectives; iterations that "
        "were agreed by a reduction.",
    .fix =
        "Wraps a loop whose only communication is a DDP module's into its `join()` context; passes `drop_last=True` to a loader that then gives all ranks "
        "as many batches; lets the ranks agree on a condition by which they leave. Else: drop the last iterations, or pad the shards.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::uneven_loop
