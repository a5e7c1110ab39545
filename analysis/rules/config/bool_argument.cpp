// config/bool-argument: an argument of the command line is read with bool.
#include "rules/list.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules {

namespace {

void check(const Record& record, Report& report) { report_problems(record, report, values::ProblemKind::truth_of_text, Severity::warning); }

} // namespace

constexpr Rule bool_argument = complete({
    .id = "config/bool-argument",
    .severity = Severity::warning,
    .summary = "an argument of the command line is read with `type=bool`",
    .why = "argparse calls the type with the text of the argument, and `bool(\"False\")` is true: every text but the empty one is. The "
           "option can never be switched off, and `--amp False` trains with it on, without a word.",
    .wrong = "parser.add_argument(\"--amp\", type=bool, default=True)\n",
    .right = "parser.add_argument(\"--amp\", action=argparse.BooleanOptionalAction, default=True)\n",
    .silent = "Functions of the program that read \"true\" and \"false\"; `store_true` and `store_false`.",
    .fix = "None yet: what was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
