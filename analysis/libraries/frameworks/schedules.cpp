// The schedules of learning rates that transformers makes: functions that give a LambdaLR. Read in its
// optimization.py.
#include "libraries/frameworks/frameworks.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

namespace {

Value of_optimizer(Call& call) {
  keep(call, values::OptimizerState::optimizer, call.at(0));
  return {};
}

}  // namespace

std::vector<Row> schedule_rows() {
  struct Construction {
    std::string_view path, home, signature;  // its home: where it is written
  };
  std::vector<Row> rows;
  // What they give is a scheduler of its own numbers, so each is taken for a class of schedulers.
  for (const Construction& made :
      {
          Construction{"transformers.get_constant_schedule",
              "transformers.optimization.get_constant_schedule", "optimizer, last_epoch=-1"},
          Construction{"transformers.get_constant_schedule_with_warmup",
              "transformers.optimization.get_constant_schedule_with_warmup",
              "optimizer, num_warmup_steps, last_epoch=-1"},
          Construction{"transformers.get_linear_schedule_with_warmup",
              "transformers.optimization.get_linear_schedule_with_warmup",
              "optimizer, num_warmup_steps, num_training_steps, last_epoch=-1"},
          Construction{"transformers.get_cosine_schedule_with_warmup",
              "transformers.optimization.get_cosine_schedule_with_warmup",
              "optimizer, num_warmup_steps, num_training_steps, num_cycles=0.5, last_epoch=-1"},
          Construction{"transformers.get_cosine_with_hard_restarts_schedule_with_warmup",
              "transformers.optimization.get_cosine_with_hard_restarts_schedule_with_warmup",
              "optimizer, num_warmup_steps, num_training_steps, num_cycles=1, last_epoch=-1"},
          Construction{"transformers.get_polynomial_decay_schedule_with_warmup",
              "transformers.optimization.get_polynomial_decay_schedule_with_warmup",
              "optimizer, num_warmup_steps, num_training_steps, lr_end=1e-7, power=1.0, last_epoch=-1"},
          Construction{"transformers.get_inverse_sqrt_schedule",
              "transformers.optimization.get_inverse_sqrt_schedule",
              "optimizer, num_warmup_steps, timescale=None, last_epoch=-1"},
          Construction{"transformers.get_cosine_with_min_lr_schedule_with_warmup",
              "transformers.optimization.get_cosine_with_min_lr_schedule_with_warmup",
              "optimizer, num_warmup_steps, num_training_steps, num_cycles=0.5, last_epoch=-1, min_lr=None, min_lr_rate=None"},
      })
    for (const std::string_view path : {made.path, made.home})
      rows.push_back(row(path, RowKind::class_, made.signature, of_optimizer,
          "torch.optim.lr_scheduler.LRScheduler", Operation::scheduler_made));
  return rows;
}

}  // namespace stepzero::libraries
