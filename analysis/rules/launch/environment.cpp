// launch/environment: what another process is handed is no text, or no port.
#include "rules/list.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules {

namespace {

void check(const Record& record, Report& report) { report_problems(record, report, values::ProblemKind::process_text, Severity::error); }

} // namespace

constexpr Rule environment = complete({
    .id = "launch/environment",
    .severity = Severity::error,
    .summary = "a variable of the environment is none that is read, or its value is none that is allowed",
    .why = "The environment and the words of a command are text. Python refuses anything else: \"str expected, not int\" from `os.environ`, "
           "\"expected str, bytes or os.PathLike object, not int\" from subprocess. A port above 65535 does not exist, and the ranks never "
           "meet. In scripts of the shell a misspelt `NCCL_SOCKET_IFNAM` is set without a word, and read by nobody.",
    .wrong = "os.environ[\"MASTER_PORT\"] = 29500\n",
    .right = "os.environ[\"MASTER_PORT\"] = \"29500\"\n",
    .silent = "Values that are not known; parameters that are called `rank` or `world_size` in functions that nobody calls, which may be "
              "given as text.",
    .fix = "None yet: what was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
