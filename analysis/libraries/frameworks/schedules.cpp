// Schedules of learning rates that packages make. transformers has functions that give a LambdaLR (its
// optimization.py); warmup_scheduler 0.3 a scheduler that warms up for another, which it steps itself;
// pytorch_warmup 0.2 objects that dampen the rate around the step of a scheduler. Read in their sources.
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
  // Its own step takes the epoch first, and counts on, as those of PyTorch do.
  constexpr std::string_view gradual = "warmup_scheduler.GradualWarmupScheduler";
  for (const std::string_view path :
      {gradual, std::string_view("warmup_scheduler.scheduler.GradualWarmupScheduler")})
    rows.push_back(row(path, RowKind::class_, "optimizer, multiplier, total_epoch, after_scheduler=None",
        of_optimizer, "torch.optim.lr_scheduler.LRScheduler", Operation::scheduler_made));
#define WARMUP "pytorch_warmup.BaseWarmup"
  rows.push_back(row(WARMUP, RowKind::class_, "optimizer, warmup_params, last_step=-1", nullptr));
  rows.push_back(row(WARMUP ".dampen", RowKind::method, "step=None", nothing));
  rows.push_back(row(WARMUP ".dampening", RowKind::method, "", context));
  rows.push_back(row(WARMUP ".state_dict", RowKind::method, "", nullptr, {}, Operation::state_taken));
  rows.push_back(
      row(WARMUP ".load_state_dict", RowKind::method, "state_dict", nothing, {}, Operation::state_put));
  for (const auto& [path, signature] :
      {std::pair{"pytorch_warmup.LinearWarmup", "optimizer, warmup_period, last_step=-1"},
          std::pair{"pytorch_warmup.ExponentialWarmup", "optimizer, warmup_period, last_step=-1"},
          std::pair{"pytorch_warmup.UntunedLinearWarmup", "optimizer, last_step=-1"},
          std::pair{"pytorch_warmup.UntunedExponentialWarmup", "optimizer, last_step=-1"},
          std::pair{"pytorch_warmup.RAdamWarmup", "optimizer, last_step=-1"}})
    rows.push_back(row(path, RowKind::class_, signature, nullptr, WARMUP));
#undef WARMUP
  return rows;
}

}  // namespace stepzero::libraries
