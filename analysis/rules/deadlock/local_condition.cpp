// deadlock/local-condition: a collective that each rank enters or skips by data of its own. Told where the
// possible runs of two processes (see match.hpp) have one that hangs because such a condition came out
// differently.
#include "rules/deadlock/fixes.hpp"
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::local_condition {

namespace {
void check(const Record&, Report& report) { tell(report, Cause::local, Severity::warning, agree_first); }
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/local-condition",
    .severity = Severity::warning,
    .summary = "a collective under a condition that depends on data of each rank",
    .why =
        "A loss that is not finite, a threshold, the clock or a random number differs from rank to rank. Where it decides whether a "
        "collective is entered, sooner or later one rank enters it and another does not, and the job hangs: often after hours.",
    .wrong = "if torch.isnan(loss):\n"
             "    continue\n"
             "loss.backward()\n"
             "for p in model.parameters():\n"
             "    dist.all_reduce(p.grad)\n",
    .right = "bad = torch.isnan(loss).float()\n"
             "dist.all_reduce(bad, op=dist.ReduceOp.MAX)\n"
             "if bad.item():\n"
             "    continue\n",
    .silent =
        "Conditions on values that were reduced, broadcast or gathered; configuration, epochs and steps; conditions that come from "
        "code that was not seen; both sides with the same collectives.",
    .fix =
        "Lets the ranks agree first: an all_reduce of what decides before the `if`, so that all do it where one does. Whether you mean any, "
        "all or the mean is yours to decide.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::local_condition
