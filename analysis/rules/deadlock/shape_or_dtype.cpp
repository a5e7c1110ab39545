// deadlock/shape-or-dtype: tensors of one collective that differ in size or dtype among the ranks, and lists
// that do not have one item for each rank. Every possible run of two, three and four processes is played (see
// match.hpp): an error is reported only if each run that gets there hangs or fails.
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::shape_or_dtype {

namespace {
void check(const Record&, Report& report) { tell(report, Cause::size, Severity::error); }
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/shape-or-dtype",
    .severity = Severity::error,
    .summary = "a collective whose tensors differ in size or dtype among the ranks",
    .why =
        "The ranks of a collective have to pass tensors with the same number of elements and the same dtype, and all_gather, "
        "gather and scatter need a list with one tensor for each rank of the group. gloo fails; NCCL hangs or hands out what "
        "lies after the tensor.",
    .wrong = "parts = [torch.zeros(2) for _ in range(world_size)]\n"
             "dist.all_gather(parts, torch.zeros(2 + rank))\n",
    .right = "sizes = [torch.zeros(1, dtype=torch.long) for _ in range(world_size)]\n"
             "dist.all_gather(sizes, torch.tensor([2 + rank]))\n"
             "longest = max(int(size) for size in sizes)\n"
             "padded = torch.zeros(longest)\n",
    .silent =
        "Sizes that are not known; shapes that differ and hold as many elements where only these count; object collectives, "
        "which carry anything.",
    .fix = "None: pad to the longest, or gather objects.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::shape_or_dtype
