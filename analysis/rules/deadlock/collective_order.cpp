// deadlock/collective-order: two ranks that enter the collectives of a group in different orders, or
// different ones on two sides of a branch. Every possible run of two, three and four processes is played (see
// match.hpp): an error is reported only if each run that gets there hangs or fails.
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::collective_order {

namespace {
void check(const Record&, Report& report) { tell(report, Cause::order, Severity::error); }
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/collective-order",
    .severity = Severity::error,
    .summary = "ranks enter collectives of one group in different orders",
    .why =
        "The ranks of a group have to enter the same collectives in the same order: the first call of one rank meets the first "
        "call of the others, whatever they are. An all_reduce that meets a broadcast hangs, fails, or hands out garbage.",
    .wrong = "if rank == 0:\n"
             "    dist.broadcast(weights, src=0)\n"
             "    dist.all_reduce(loss)\n"
             "else:\n"
             "    dist.all_reduce(loss)\n"
             "    dist.broadcast(weights, src=0)\n",
    .right = "dist.broadcast(weights, src=0)\n"
             "dist.all_reduce(loss)\n",
    .silent =
        "Both sides of a branch with the same sequence; collectives of different groups whose members are not the same; a guard"
        " and its opposite, one after the other, that meet each other.",
    .fix = "None: which of the orders is meant is yours to decide.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::collective_order
