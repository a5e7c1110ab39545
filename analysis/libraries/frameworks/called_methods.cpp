// Read in the sources of Lightning 2.6 and transformers 5.23.
#include "libraries/frameworks/called_methods.hpp"

namespace stepzero::libraries {

std::span<const CalledMethod> called_methods() {
  static constexpr CalledMethod methods[] = {
      {.of = "pytorch_lightning.LightningModule",
          .method = "training_step",
          .returns = true,
          .unless_off = "automatic_optimization",
          .unless_calls = "optimizers",
          .why =
              "Lightning runs the backward and the step of the loss that `training_step` returns, and skips both where it returns nothing: the model is never trained. Return the loss."},
      {.of = "pytorch_lightning.LightningModule",
          .method = "training_step",
          .no_backward = true,
          .unless_off = "automatic_optimization",
          .unless_calls = "optimizers",
          .why =
              "Lightning runs the backward of the loss that `training_step` returns, so this is the second one through the same graph: \"Trying to backward through the graph a second time\". Leave the backward to Lightning, or set `self.automatic_optimization = False`."},
      {.of = "pytorch_lightning.LightningModule",
          .method = "training_step",
          .with_graph = true,
          .unless_off = "automatic_optimization",
          .unless_calls = "optimizers",
          .why =
              "Lightning runs the backward of the loss that `training_step` returns, but this one was computed without a graph: \"element 0 of tensors does not require grad and does not have a grad_fn\". Compute it outside of `no_grad()`, and return it as it is."},
      {.of = "pytorch_lightning.LightningModule",
          .method = "configure_optimizers",
          .first_of = "torch.optim.lr_scheduler.",
          .why =
              "Of two lists that `configure_optimizers` returns, Lightning takes the first for the optimizers and the second for the schedulers, but these are swapped. Return the optimizers first."},
      {.of = "pytorch_lightning.LightningModule",
          .method = "configure_optimizers",
          .one_optimizer = true,
          .unless_off = "automatic_optimization",
          .package = "pytorch-lightning",
          .since = "2",
          .why =
              "Since 2.0 Lightning steps one optimizer by itself, and raises where `configure_optimizers` gives several: \"Training with multiple optimizers is only supported with manual optimization\". Set `self.automatic_optimization = False` and make the steps in `training_step`, or return one optimizer."},
      {.of = "pytorch_lightning.LightningModule",
          .method = "configure_optimizers",
          .follows_metric = "torch.optim.lr_scheduler.ReduceLROnPlateau",
          .unless_off = "automatic_optimization",
          .why =
              "Lightning steps `ReduceLROnPlateau` with a metric that it has to be told, and raises before the first step: \"The lr scheduler dict must include a monitor\". Return the schedule as `{\"scheduler\": scheduler, \"monitor\": \"val_loss\"}`, with the name of a metric that is logged."},
      {.of = "pytorch_lightning.LightningModule",
          .method = "configure_optimizers",
          .counts_batches = "torch.optim.lr_scheduler.",
          .unless_off = "automatic_optimization",
          .why =
              "Lightning steps a schedule once per epoch unless it is told otherwise, and the numbers of this one are batches: the learning rate hardly leaves its start. Return it as `{\"scheduler\": scheduler, \"interval\": \"step\"}`."},
      {.of = "transformers.Trainer",
          .method = "compute_loss",
          .given = "num_items_in_batch",
          .package = "transformers",
          .since = "4.46",
          .why =
              "Since 4.46 the Trainer calls `compute_loss` with `num_items_in_batch=`, which this one does not take: `TypeError` in the first step. Add the parameter `num_items_in_batch=None`."},
  };
  return methods;
}

std::span<const OptimizationByHand> optimizations_by_hand() {
  static constexpr OptimizationByHand frameworks[] = {
      {.of = "pytorch_lightning.LightningModule",
          .method = "training_step",
          .flag = "automatic_optimization",
          .optimizers = "optimizers",
          .backward = "manual_backward"},
  };
  return frameworks;
}

}  // namespace stepzero::libraries
