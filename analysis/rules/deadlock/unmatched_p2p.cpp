// deadlock/unmatched-p2p: a receive without its send or a send without its receive, and ranks that wait for
// each other in both. Every possible run of two, three and four processes is played (see match.hpp): an error
// is reported only if each run that gets there hangs or fails.
#include "rules/deadlock/fixes.hpp"
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::deadlock::unmatched_p2p {

namespace {
void check(const Record&, Report& report) { tell(report, Cause::message, Severity::error, exchange_at_once); }
}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/unmatched-p2p",
    .severity = Severity::error,
    .summary = "a message that is never sent, never received, or waited for by both sides",
    .why =
        "`recv` waits until its peer sends with the same tag, and `send` may wait until its peer receives: with NCCL always, "
        "with gloo as soon as the message does not fit its buffer. Rings and pipelines in which every rank sends first "
        "therefore hang, at the latest when the tensors grow.",
    .wrong = "dist.send(mine, dst=1 - rank)   # both ranks send first\n"
             "dist.recv(theirs, src=1 - rank)\n",
    .right =
        "operations = [dist.P2POp(dist.isend, mine, 1 - rank), dist.P2POp(dist.irecv, theirs, 1 - rank)]\n"
        "for request in dist.batch_isend_irecv(operations):\n"
        "    request.wait()\n",
    .silent =
        "Rings that alternate by parity, isend or irecv that is waited for later, receives from any source, peers that are not "
        "known, programs made for more ranks than four.",
    .fix =
        "Where both sides send first, or both receive first, in two lines: makes one `batch_isend_irecv` of them, which needs no order, or lets "
        "the lower rank of a pair send first. Else which side is wrong is yours to decide.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::unmatched_p2p
