// config/effective-batch: what the configuration says of the batch is not what the program trains on.
#include "libraries/table/class_roles.hpp"
#include "rules/config/told_batch.hpp"
#include "rules/deepspeed/program.hpp"
#include "rules/deepspeed/sections.hpp"
#include "rules/rule.hpp"
#include "rules/training/loaders.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules::config::effective_batch {

using values::Kind;

namespace {

// The samples of one micro-batch of each process: as the configuration says, or as the processes of a known
// launch leave them.
struct Micro {
  std::int64_t size = 0;
  std::string said;
};
std::optional<Micro> micro_batch(const Record& record, Value engine, const Node& root) {
  using deepspeed::integer;
  if (const auto micro = integer(root.at("train_micro_batch_size_per_gpu")))
    return Micro{*micro, "`train_micro_batch_size_per_gpu` is " + std::to_string(*micro)};
  const auto whole = integer(root.at("train_batch_size")),
             steps = root.find("gradient_accumulation_steps")
      ? integer(root.at("gradient_accumulation_steps"))
      : std::optional<std::int64_t>(1);
  const Value kept_processes = attribute(engine, values::EngineState::processes);
  const auto processes = kept_processes ? record.number(kept_processes) : std::nullopt;
  if (!whole || !steps || !processes || *steps <= 0 || *processes <= 0 || *whole % (*steps * *processes) != 0)
    return std::nullopt;
  const std::int64_t size = *whole / (*steps * *processes);
  return Micro{size,
      "`train_batch_size` is " + std::to_string(*whole) + ", which leaves " + std::to_string(size) +
          " for each of " + std::to_string(*processes) + (*processes == 1 ? " process" : " processes") +
          (*steps > 1 ? " in each of " + std::to_string(*steps) + " steps of accumulation" : "")};
}

void check(const Record& record, Report& report) {
  told_batch::check(record, report);
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    for (const TrainingEvent& backward : training_root.all) {
      if (libraries::framework_call(*backward.event->row) != libraries::FrameworkCall::engine_backward ||
          backward.loops.empty())
        continue;
      const TrainingLoop loop{&training_root, backward.loops.back(), &backward, &backward, {}};
      const Value engine = backward.event->self;
      const auto root = deepspeed::configuration_of(record, engine);
      if (!root) continue;
      for (const Reading& reading : readings({loop})) {
        const Value batch = argument(*reading.made, "batch_size");
        const auto size = batch ? record.number(batch) : std::nullopt;
        const auto micro = size ? micro_batch(record, engine, *root) : std::nullopt;
        if (!micro || micro->size <= 0 || micro->size == *size || !once(reading.made->place)) continue;
        Finding* finding = report.add(Severity::warning, reading.made->place, reading.made->calls,
            "Each micro-batch has " + std::to_string(*size) +
                " samples, and DeepSpeed's configuration counts " + std::to_string(micro->size) + ": " +
                micro->said +
                ". The learning rate and the logs are then those of another batch. Make them equal.");
        if (finding) report.relate(*finding, backward.event->place, "the engine trains on these batches");
      }
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/effective-batch",
    .severity = Severity::warning,
    .summary = "the configuration counts other batches than the program trains on",
    .why =
        "The batch that a step learns from is the micro-batch times the steps of accumulation times the processes. DeepSpeed computes it from its configuration and never looks at the batches: "
        "a loader with another `batch_size` trains on another effective batch than the learning rate was chosen for, and `train_batch_size`, the throughput in the logs and "
        "`engine.train_batch_size()` say the wrong number. The same holds of a `global_batch_size` in a configuration of the program's own: "
        "a job of fewer processes than it was written for trains on a smaller batch. With Lightning the processes are `devices` × `num_nodes`, with transformers' Trainer those of the launch.",
    .wrong =
        "engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={\"train_micro_batch_size_per_gpu\": 4, \"optimizer\": {\"type\": \"AdamW\"}})\n"
        "loader = DataLoader(data, batch_size=16, shuffle=True)\n",
    .right =
        "engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={\"train_micro_batch_size_per_gpu\": 4, \"optimizer\": {\"type\": \"AdamW\"}})\n"
        "loader = DataLoader(data, batch_size=engine.train_micro_batch_size_per_gpu(), shuffle=True)\n",
    .silent =
        "Loaders that are made with a size that is not known; configurations with \"auto\", or of which the run does not see everything; loops that part their batches themselves. Of a `global_batch_size`: "
        "numbers of processes that no launch says; programs whose processes may share a batch (tensor, pipeline and sequence parallelism, groups of their own); numbers that may count tokens.",
    .fix = "None: which of the numbers was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::script, told_batch::check_launches};

}  // namespace stepzero::rules::config::effective_batch
