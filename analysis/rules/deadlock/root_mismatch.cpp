// deadlock/root-mismatch: a broadcast, reduce, scatter or gather whose root the ranks disagree in, or whose
// root is not a member of the group. Every possible run of two, three and four processes is played (see
// match.hpp): an error is reported only if each run that gets there hangs or fails.
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::root_mismatch {

namespace {
void check(const Record&, Report& report) { tell(report, Cause::root, Severity::error); }
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/root-mismatch",
    .severity = Severity::error,
    .summary = "src or dst of a collective differs among the ranks or is not a member of the group",
    .why =
        "All ranks have to name the same root: two roots both send and nobody receives, or the others wait for a rank that "
        "waits for them. `src` and `dst` are ranks of the whole job even where a group is given: the first rank of "
        "`new_group([2, 3])` is 2 and not 0.",
    .wrong = "half = dist.new_group([2, 3])\n"
             "if rank in (2, 3):\n"
             "    dist.broadcast(weights, src=0, group=half)\n",
    .right = "half = dist.new_group([2, 3])\n"
             "if rank in (2, 3):\n"
             "    dist.broadcast(weights, src=2, group=half)\n",
    .silent =
        "Roots that are computed and agree on all ranks (`members[0]`, `get_global_rank(group, 0)`), `group_src`, roots that "
        "are not known.",
    .fix =
        "None: which rank holds the data is yours to say. `dist.get_global_rank(group, 0)` is the first of a group.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::root_mismatch
