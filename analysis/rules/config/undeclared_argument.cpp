// config/undeclared-argument: a name of the command line that no parser declares.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::config::undeclared_argument {

namespace {

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::undeclared, Severity::error);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/undeclared-argument",
    .severity = Severity::error,
    .summary = "the program reads an argument that its parser does not declare",
    .why =
        "The namespace of `parse_args()` has the names that `add_argument` declared, with underscores for hyphens. Any other raises "
        "`AttributeError` where it is read, which may be hours after the start.",
    .wrong = "parser.add_argument(\"--learning-rate\", type=float)\n"
             "args = parser.parse_args()\n"
             "print(args.lr)\n",
    .right = "parser.add_argument(\"--learning-rate\", type=float)\n"
             "args = parser.parse_args()\n"
             "print(args.learning_rate)\n",
    .silent =
        "Names that the program sets anywhere, or writes as a string; parsers with subparsers, parents or names that are computed; "
        "parsers and namespaces that unseen code was handed; getattr and hasattr.",
    .fix =
        "Writes the name that was probably meant, where there is one: that is a guess, and needs a decision.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::config::undeclared_argument
