// deadlock/early-exit: a way out (return, continue, break, raise) that only some ranks take, in front of a
// collective that the others enter. Every possible run of two, three and four processes is played (see
// match.hpp): an error is reported only if each run that gets there hangs or fails.
#include "rules/deadlock/fixes.hpp"
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::early_exit {

namespace {
void check(const Record&, Report& report) { tell(report, Cause::exit, Severity::error, leave_together); }
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/early-exit",
    .severity = Severity::error,
    .summary = "some ranks leave before a collective that the others enter",
    .why =
        "A rank that has left the function, the iteration or the loop does not reach the collectives after it, and every other "
        "rank of the group waits there until the time limit. Often the exit is a harmless-looking guard: `if rank != 0: return`"
        " in a helper that ends in a barrier, or a `break` that only the first rank decides.",
    .wrong = "def save(rank, state):\n"
             "    if rank != 0:\n"
             "        return\n"
             "    torch.save(state, \"last.pt\")\n"
             "    dist.barrier()  # the other ranks have returned\n",
    .right = "def save(rank, state):\n"
             "    if rank == 0:\n"
             "        torch.save(state, \"last.pt\")\n"
             "    dist.barrier()\n",
    .silent =
        "An exit that all ranks take together (configuration, epoch, a value that was broadcast or reduced); an exit after the"
        " last collective; an exit before which the rank entered the same collectives as the others; programs that end on "
        "the spare ranks.",
    .fix =
        "Lets the ranks that leave enter a barrier first, if that is all that they miss; or lets the ranks agree first, by an all_reduce "
        "of what decides, so that all leave where one does. Which of them you mean is yours to decide.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::early_exit
