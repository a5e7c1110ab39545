// config/scheduler-steps: a schedule of the learning rate that warms up for longer than it lasts.
#include "rules/report.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"

namespace stepzero::rules::config::scheduler_steps {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

struct Steps {
  std::int64_t count = 0;
  bool by_default = false;  // what the command line has where nobody says otherwise
};
std::optional<Steps> steps(const Record& record, Value value) {
  bool by_default = value.is(Kind::unknown) && value.as<values::Unknown>()->default_value;
  if (by_default) value = value.as<values::Unknown>()->default_value;
  if (!value.is(Kind::integer)) return std::nullopt;
  auto known = record.symbols.value(value.integer());
  if (const symbolic::AtomInfo* atom = known ? nullptr : record.symbols.atom_info(value.integer()))
    known = atom->usual, by_default = true;
  return known ? std::optional(Steps{*known, by_default}) : std::nullopt;
}

void check(const Record& record, Report& report) {
  Once once;
  visit_roots(record, [&](const Event& each) {
    if (each.kind != EventKind::operation) return;
    const auto& made = static_cast<const OperationEvent&>(each);
    if (made.row->operation != Operation::scheduler_made) return;
    const auto warmup = steps(record, argument(made, "num_warmup_steps")),
               total = steps(record, argument(made, "num_training_steps"));
    if (!warmup || !total || total->count < 1 || warmup->count <= total->count || !once(made.place)) return;
    report.add(Severity::warning, made.place, made.calls,
        std::string(
            warmup->by_default || total->by_default ? "By the defaults of the command line the" : "The") +
            " schedule warms up for " + std::to_string(warmup->count) + " steps and ends after " +
            std::to_string(total->count) +
            ": the learning rate never reaches what the optimizer was given. Warm up for a part of the steps.");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/scheduler-steps",
    .severity = Severity::warning,
    .summary = "a schedule of the learning rate that warms up for longer than it lasts",
    .why =
        "A schedule with a warm-up raises the learning rate from 0 during its first steps and lowers it during the others. Where the warm-up, often a number of a configuration for a longer training, is more "
        "than all steps, the training ends on the way up (asked of transformers 5.23: 2000 steps of warm-up and 1000 in all end at half of the learning rate). Steps are updates of the optimizer: with accumulation they are fewer than batches.",
    .wrong =
        "scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=2000, num_training_steps=1000)\n",
    .right =
        "scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=100, num_training_steps=1000)\n",
    .silent = "Numbers that are not known; schedules of the program's own.",
    .fix = "None: how long to warm up is your decision.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::config::scheduler_steps
