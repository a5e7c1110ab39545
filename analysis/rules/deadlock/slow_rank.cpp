// deadlock/slow-rank: ranks that wait for the long work of another until their time limit is over. Told where
// it follows from how long the work takes and the limit of the process group (see slow_work.hpp).
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::slow_rank {

namespace {
void check(const Record&, Report& report) { tell(report, Cause::slow, Severity::information); }
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/slow-rank",
    .severity = Severity::information,
    .summary = "ranks wait for the long work of another",
    .why =
        "A rank that waits in a collective gives up when the time limit of its process group is over: ten minutes with NCCL, thirty "
        "with gloo, if `timeout` says nothing else. A download, or the preparation of a data set, on rank 0 alone can take longer: "
        "then the job ends, though nothing hangs.",
    .wrong = "dist.init_process_group(\"nccl\", timeout=timedelta(seconds=30))\n"
             "if rank == 0:\n"
             "    snapshot_download(name)\n"
             "dist.barrier()  # the others wait here\n",
    .right = "dist.init_process_group(\"nccl\", timeout=timedelta(hours=2))\n"
             "if rank == 0:\n"
             "    snapshot_download(name)\n"
             "dist.barrier()\n",
    .silent =
        "Groups whose timeout was raised; work that is known to be short; work of all ranks; work after the last collective.",
    .fix =
        "None: pass a longer `timeout` to init_process_group or new_group, or let the other ranks wait for a file.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::slow_rank
