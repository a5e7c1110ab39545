// deadlock/unwaited: communication that is started and never waited for. Told of programs that are seen wholly, where no
// possible run of a small world (see match.hpp) waits for it.
#include "rules/list.hpp"
#include "rules/match.hpp"

namespace stepzero::rules {

namespace {
void check(const Record& record, Report& report) { tell(record, report, Cause::request, Severity::warning); }
} // namespace

constexpr Rule unwaited = complete({
    .id = "deadlock/unwaited",
    .severity = Severity::warning,
    .summary = "communication that is started and never waited for",
    .why = "`isend`, `irecv` and collectives with `async_op=True` return at once, while the tensor is still being sent or filled. Until "
           "`wait()` has returned, what is read from it may be old, and what is written to it may be sent instead.",
    .wrong = "work = dist.all_reduce(total, async_op=True)\n"
             "mean = total.item() / world_size  # may be read before the sum is there\n",
    .right = "work = dist.all_reduce(total, async_op=True)\n"
             "work.wait()\n"
             "mean = total.item() / world_size\n",
    .silent = "Requests that are waited for anywhere, also in a list; functions whose callers are not seen; programs with a wait() whose "
              "request is not known, and those that poll.",
    .fix = "None: where to wait is yours to decide. The later, the more work overlaps with the communication.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
