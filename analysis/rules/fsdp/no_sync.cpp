// fsdp/no-sync: gradients are accumulated without communication, and kept whole on each rank.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"

namespace stepzero::rules::fsdp::no_sync {

extern const Rule rule;

namespace {

void check(const Record& record, Report& report) {
  report_problems(
      record, report, values::ProblemKind::truth_of_text, Severity::information, nullptr, rule.id);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/no-sync",
    .severity = Severity::information,
    .summary =
        "gradients are accumulated under `no_sync()` of FullyShardedDataParallel, and kept whole on each rank",
    .why =
        "Under `no_sync()` a backward does not reduce its gradients, so they cannot be sharded: each rank keeps the gradients of all parameters until the last micro-batch, which takes as much memory as "
        "the whole model. \"This likely results in higher memory usage because FSDP will accumulate the full model gradients (instead of gradient shards)\", says PyTorch 2.9. It saves communication where "
        "there is room. Without it, each backward reduces, and the shares add up: accumulation works all the same.",
    .wrong =
        "model = FullyShardedDataParallel(net)\nfor i, x in enumerate(loader):\n    with model.no_sync() if i % 4 != 3 else nullcontext():\n        model(x).sum().backward()\n",
    .right =
        "model = FullyShardedDataParallel(net)\nfor i, x in enumerate(loader):\n    model(x).sum().backward()\n    if i % 4 == 3:\n        optimizer.step()\n        optimizer.zero_grad()\n",
    .silent =
        "DistributedDataParallel, which keeps whole gradients anyway; `ShardingStrategy.NO_SHARD`, and strategies that are not known.",
    .fix = "None: whether there is memory for it is a question of the machine.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::no_sync
