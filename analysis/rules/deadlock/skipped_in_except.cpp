// deadlock/skipped-in-except: an exception of one rank that makes it skip a collective, or enter one alone. Told where the runs
// of small worlds (see match.hpp) have a rank whose try ends otherwise than that of the others.
#include "rules/list.hpp"
#include "rules/deadlock/match.hpp"

namespace stepzero::rules {

namespace {
void check(const Record& record, Report& report) { tell(record, report, Cause::handler, Severity::warning); }
} // namespace

constexpr Rule skipped_in_except = complete({
    .id = "deadlock/skipped-in-except",
    .severity = Severity::warning,
    .summary = "an exception of one rank makes it skip a collective, or enter one alone",
    .why = "Exceptions are raised by one rank: its batch is corrupt, its memory is full. A handler that goes on has skipped the collectives "
           "of the try, in which the other ranks wait; a collective in the handler is entered by that rank alone.",
    .wrong = "try:\n"
             "    loss = train_step(batch)\n"
             "except RuntimeError:\n"
             "    dist.all_reduce(failed)  # only the rank that failed gets here\n",
    .right = "failed = torch.zeros(1)\n"
             "try:\n"
             "    loss = train_step(batch)\n"
             "except RuntimeError:\n"
             "    failed += 1\n"
             "dist.all_reduce(failed)\n",
    .silent = "A try without collectives in it and in its handlers; a handler that raises again or ends the process; exceptions that every rank "
              "has (imports, configuration).",
    .fix = "None: let every rank enter the collective behind the try, with a flag that tells who failed.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
