// deadlock/group-creation: `new_group` that some ranks do not call, or that ranks call in different orders or
// with different members. Every possible run of two, three and four processes is played (see match.hpp): an
// error is reported only if each run that gets there hangs or fails.
#include "rules/deadlock/fixes.hpp"
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::group_creation {

namespace {
void check(const Record&, Report& report) {
  tell(report, Cause::making_groups, Severity::error, make_group_on_all);
}
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/group-creation",
    .severity = Severity::error,
    .summary = "a process group that not all ranks make, or not in the same order",
    .why =
        "`new_group` is a collective of the whole job: ranks that will not be members have to call it, too, and all ranks have "
        "to make all groups in the same order. A rank that makes only its own group waits for the others, or gets a group of "
        "the wrong number. Since PyTorch 2.1 the members alone wait for each other, and a group goes by the number of groups that its "
        "rank has made before. Ranks whose groups have the same number and other members then exchange what was meant for "
        "others (PyTorch 2.13: pairs that each made only their own summed with a rank of the other pair); where all members make "
        "a group under the same number, as yet nothing is wrong, and this is a warning.",
    .wrong = "row = rank // 2\n"
             "group = dist.new_group([2 * row, 2 * row + 1])  # each rank makes only its own\n",
    .right = "for row in range(world_size // 2):\n"
             "    ranks = [2 * row, 2 * row + 1]\n"
             "    made = dist.new_group(ranks)\n"
             "    if rank in ranks:\n"
             "        group = made\n",
    .silent =
        "Loops in which every rank makes every group; `use_local_synchronization=True`; members that are not known.",
    .fix =
        "Makes the group outside the guard. Where each rank makes a group of its own, the loop over all groups needs their members, which "
        "only the program knows.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::group_creation
