// What programs call things. A name is a hint and no proof: a rule that has nothing else reports a warning at
// most, and says that it goes by the name. All words that rules look for in names stand in one table.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepzero::rules {

enum class Says : std::uint8_t {
  evaluation,       // a function that evaluates: `validate_epoch`
  evaluation_data,  // a file, a variable: `data/val_set.txt`, `test_loader`
  training_data,
  prediction,  // what a loss compares
  target,
  compared,    // … by the name that PyTorch gives the parameter of its losses; elsewhere it is anything
  one_rank,    // the number of a process, or the first of them: `is_main_process`
  many_ranks,  // whether there are several: `args.distributed`
  balance,     // a term that keeps experts busy
  schedule,    // of the learning rate: `lr_scheduler`
  scheduling,  // what has to do with one: `build_scheduler`, `sched_args`
  noise,       // … and not one of a diffusion's noise
  loader,
  training,       // what has to do with training, in an expression or a function's name: `train_one_epoch`
  other_data,     // an expression that has to do with other data: `val_loader`
  epoch,          // the number of one
  loss,           // what has to do with a loss
  computes_loss,  // a call of what computes one, or of what it is computed from
  optimizer,      // `optimizer`, `optim_g`, `opt`
  one_of_optimizers,   // `opt_g`, `gen_opt`
  found_in_gradients,  // what a loop finds out about them before it steps: `grads_finite`, `skip_step`
  device,              // a parameter that names one: `device`, `target_device`
  moving,              // what may bring something to a device: `to`, `prepare_batch_on_device`
};

// In whatever case it is written.
bool says(std::string_view name, Says what);

}  // namespace stepzero::rules
