// launch/environment: what another process is handed is no text, or no port.
#include "interpreter/calls/noted_at.hpp"

#include "rules/launch/program_environment.hpp"
#include "rules/launch/program_rendezvous.hpp"
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"
#include "rules/shape/refusal_text.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules::launch::environment {

namespace {

// Is it a rank that the program reads from the environment, where it is text?
bool is_read_as_text(const Record& record, const ProblemEvent& problem) {
  using symbolic::Role;
  if (problem.operands.empty() || !problem.operands[0].is(values::Kind::integer)) return false;
  return std::ranges::any_of(std::initializer_list<Role>{Role::rank, Role::local_rank, Role::node_rank,
                                 Role::world_size, Role::local_world_size},
      [&](Role role) {
        const auto n = static_cast<int>(role);
        return problem.operands[0].integer() == record.roles[n] &&
            interpreter::is_noted(record, values::RecordCondition::read + std::to_string(n));
      });
}

void check(const Record& record, Report& report) {
  launch::check_program_environment(record, report);
  visit_problems(record, [&](const ProblemEvent& problem, const interpreter::Root& root) {
    if (problem.problem != values::ProblemKind::process_text || is_read_as_text(record, problem) ||
        launch::is_of_meeting(problem))
      return;
    std::string message = rules::text_of(record, problem);
    const auto given = qualify(record, problem, root, Severity::error, message);
    if (Finding* finding = given ? report.add(*given, problem.place, problem.calls, message) : nullptr)
      report.relate_calls(*finding, problem.calls);
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "launch/environment",
    .severity = Severity::error,
    .summary = "an environment variable that nothing reads, or a value that is not allowed",
    .why =
        "The environment and the words of a command are text. Python refuses anything else: \"str expected, not int\" from `os.environ`, "
        "\"expected str, bytes or os.PathLike object, not int\" from subprocess. A port above 65535 does not exist, and the ranks never "
        "meet. A misspelled `NCCL_SOCKET_IFNAM` is set without a word, and read by nobody; so is what is set after the process group was made.",
    .wrong = "os.environ[\"MASTER_PORT\"] = 29500\n",
    .right = "os.environ[\"MASTER_PORT\"] = \"29500\"\n",
    .silent =
        "Values that are not known; parameters that are called `rank` or `world_size` in functions that nobody calls, which may be "
        "given as text.",
    .fix =
        "Renames a variable that PyTorch has renamed, and offers the known name that is nearest; of a value, what was meant cannot be seen.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::launch::environment
