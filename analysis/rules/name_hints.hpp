// What programs call things. A name is a hint and no proof: a rule that has nothing else reports a warning at
// most, and says that it goes by the name. All words that rules look for in names stand in one table.
#pragma once

#include "syntax/walk.hpp"

#include <cstdint>
#include <string_view>

namespace stepzero::rules {

enum class Says : std::uint8_t {
  evaluation,           // a function that evaluates: `validate_epoch`
  renewing_statistics,  // asks a model in training mode on purpose: `update_bn`, `calibrate`
  evaluation_data,      // a file, a variable: `data/val_set.txt`, `test_loader`
  training_data,
  prediction,  // what a loss compares
  target,
  plainly_target,  // … and never what a model gave, as `y` may be
  compared,        // … by the name that PyTorch gives the parameter of its losses; elsewhere it is anything
  one_rank,        // the number of a process, or the first of them: `is_main_process`
  many_ranks,      // whether there are several: `args.distributed`
  balance,         // a term that keeps experts busy
  schedule,        // of the learning rate: `lr_scheduler`
  scheduling,      // what has to do with one: `build_scheduler`, `sched_args`
  noise,           // … and not one of a diffusion's noise
  loader,
  training,       // what has to do with training, in an expression or a function's name: `train_one_epoch`
  other_data,     // an expression that has to do with other data: `val_loader`
  epoch,          // the number of one
  loss,           // what has to do with a loss
  criterion,      // what computes a loss, by the name of the object: `criterion`, `loss_fn`
  computes_loss,  // a call of what computes one, or of what it is computed from
  optimizer,      // `optimizer`, `optim_g`, `opt`
  one_of_optimizers,   // `opt_g`, `gen_opt`
  found_in_gradients,  // what a loop finds out about them before it steps: `grads_finite`, `skip_step`
  device,              // a parameter that names one: `device`, `target_device`
  holding,             // what holds the items that it is given: `tuple`, `dict`
  passing_on,          // what gives the items of an iterable on: `enumerate`, `tqdm`
  wrapping,            // a model, and may move what it is given: `DataParallel`, `prepare`
  giving_samples,      // a function that does, or makes batches of them: `__getitem__`, `collate_fn`
  moving,              // what may bring something to a device: `to`, `prepare_batch_on_device`
  to_device,           // a value that names one: `device`, `local_rank`
  head_size,           // a field of a configuration: `head_dim`
  // Of code that the run does not reach, or whose operands it does not see: what is called, or asked.
  counting,            // a plain count of iterations: `range`
  measuring,           // the length of data: `len`
  taking_next,         // `next(batches)`
  iterating,           // what gives each element once, from the first on: `iter`, `enumerate`
  making_iterator,     // `iter` alone
  gradients_off,       // `torch.no_grad`, `torch.set_grad_enabled`
  taking_numbers,      // what comes out has no gradient: `item`, `numpy`
  choosing_token,      // of scores: `argmax`, `multinomial`
  bounding,            // numbers: `min`, `clamp`
  joining,             // `torch.cat`
  scoring,             // `log_prob`
  log_probability,     // what holds the logarithm of one: `logp`
  asking_mode,         // what differs between training and evaluation: `self.training`, `F.dropout`
  in_training,         // `model.training`
  setting_mode,        // a helper: `set_eval_mode`
  keeping_mode,        // a decorator that leaves the mode of a model alone
  asking_gradient,     // `requires_grad`
  seeding,             // random numbers
  clipping,            // gradients: `clip_grad_norm_`
  asking_workers,      // which worker of a loader runs: `get_worker_info`
  random_or_workers,   // what differs between the workers of a loader: `random`, `worker_id`
  gradient,            // an attribute: `grad`, `main_grad`
  loss_value,          // a variable that holds one: `loss`, `g_loss`, `loss2`
  only_reading,        // what is given a loss and runs no backward: `print`, `append`
  making_backward,     // `backward`, `manual_backward`
  stepping,            // an optimizer or a schedule
  clearing,            // gradients: `zero_grad`
  scaling_by,          // what is given an optimizer to scale, or to step by a scaler: `scaler.step`
  inside_optimizer,    // an attribute of a wrapper that is the optimizer inside: `optim`
  of_optimizer,        // an attribute of one that is read or called, and steps nothing: `param_groups`
  leaving_optimizer,   // what is given one, and leaves the step to the program: `unscale_`, `prepare`
  stepping_nothing,    // a class whose methods step no optimizer: `Module`
  loss_output,         // an attribute of what a model gives: `loss`
  reading_number,      // of a tensor: `item`
  noting,              // what is given a loss and keeps or writes it: `append`, `log`
  collecting,          // `append`
  putting,             // one thing into a container: `append`, `insert`
  extending,           // … or all of another: `extend`
  emptying,            // `clear`
  taking_out,          // `pop`
  making_container,    // `list`, `deque`
  giving_items,        // of a dictionary: `values`, `items`
  keeping_order,       // of what it is given, all of it: `reversed`, `zip`
  opening,             // a file: `open`
  asking_existence,    // whether a file is there: `os.path.exists`
  giving_rows,         // of a file, all of them: `readlines`, `csv.reader`
  starting_processes,  // how processes are started: `set_start_method`
  casting,             // a method that takes a type: `type`
  old_type,            // one that says the device as well: `torch.cuda.FloatTensor`
  of_loader,           // the attribute of a loader that is its data: `dataset`
  to_accelerator,      // a method that moves there: `cuda`
  to_given,            // … to what it is given: `to`
  to_host,             // … back: `cpu`
  combining_ranks,     // of what the ranks have: `all_reduce`, `gather_for_metrics`
  checkpointing,       // activations: `checkpoint`
  giving_seed,         // to the generators of all: `manual_seed`, `seed_everything`
  keeping_generator,   // the state of one is asked for: `get_rng_state`
  asking_determinism,  // algorithms that give the same numbers each time: `use_deterministic_algorithms`
  // Of the text of a condition or an error.
  processes,  // how many there are: `world_size`
  layout,     // how a program parts them: `tensor_parallel`
  experts,
  // Of the text of a whole program, as it is written: such words only keep a rule silent (`program_says`).
  counting_on_node,     // the GPUs of a node, or its processes: `LOCAL_RANK`, `device_count`
  parting_ranks,        // into groups that may share a batch: `tensor_parallel`, `new_group`
  accumulating,         // `with accelerator.accumulate(model):`
  loading_to_device,    // loaders that bring batches to a device: FFCV, DALI, torchtext, and what prefetches
  filling_environment,  // many variables at once, or those whose names are put together
  leaving_out_targets,  // of a loss: `-100`, `ignore_index`, a collator that writes them
  resizing_embeddings,  // for the tokens that there are: `resize_token_embeddings`
  looking_for_nan,      // `nan_to_num`, `isnan`
  master_address,       // the variable that the ranks find each other by
  master_port,
};

// In whatever case it is written.
bool says(std::string_view name, Says what);
// Is a word of those for a whole program in the text, in the case that it is written in?
bool text_says(std::string_view text, Says what);

// Does any name in it say so: of a variable, an attribute, a keyword, or of what is called?
bool names(const syntax::Expr& expr, Says what);
bool names(const syntax::Stmt& stmt, Says what);
// Is it an attribute whose name says so: `p.grad`?
bool is_attribute(const syntax::Expr& expr, Says what);
// Does it call anything whose last name says so: `argmax` of `scores.argmax(-1)`?
bool calls(const syntax::Expr& expr, Says what);
bool calls(const syntax::Stmt& stmt, Says what);
// What a loop goes over in the end: the loader of `enumerate(tqdm(loader))`.
const syntax::Expr* iterated_in(const syntax::Expr* iterable);

}  // namespace stepzero::rules
