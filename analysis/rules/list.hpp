// Every rule there is, by family.
#pragma once

#include "rules/rule.hpp"

namespace stepzero::rules {

// amp
extern const Rule backward_in_autocast;
extern const Rule clip_before_unscale;
extern const Rule deprecated_amp;
extern const Rule double_unscale;
extern const Rule fp16_without_scaler;
extern const Rule manual_half;
extern const Rule missing_update;
extern const Rule new_scaler;
extern const Rule scaler_with_bf16;
extern const Rule unsafe_op;
extern const Rule unscaled_backward;
extern const Rule unscaled_step;
extern const Rule update_order;

// attention
extern const Rule head_dims;
extern const Rule latent_sum;
extern const Rule rope;
extern const Rule rope_scaling;
extern const Rule attention_scale;
extern const Rule masked_rows;

// autograd
extern const Rule constant_penalty;
extern const Rule in_place_leaf;
extern const Rule non_scalar_backward;
extern const Rule numpy_of_history;
extern const Rule overwritten;

// call
extern const Rule call_arguments;
extern const Rule framework_method;
extern const Rule call_no_attribute;
extern const Rule call_no_key;
extern const Rule call_no_result;

// checkpoint
extern const Rule all_ranks;
extern const Rule incomplete;
extern const Rule checkpoint_keys;
extern const Rule kept_state;
extern const Rule map_location;
extern const Rule not_atomic;
extern const Rule weights_only;

// config
extern const Rule accelerate_configuration;
extern const Rule bool_argument;
extern const Rule checkpointing;
extern const Rule effective_batch;
extern const Rule lightning_trainer;
extern const Rule missing_key;
extern const Rule precision_mismatch;
extern const Rule torchtitan_configuration;
extern const Rule training_arguments_rule;
extern const Rule undeclared_argument;

// data
extern const Rule drop_last;
extern const Rule data_leak;
extern const Rule exhausted_iterator;
extern const Rule worker_copies;

// deadlock
extern const Rule collective_order;
extern const Rule early_exit;
extern const Rule group_creation;
extern const Rule local_condition;
extern const Rule not_in_group;
extern const Rule rank_guarded_collective;
extern const Rule root_mismatch;
extern const Rule shape_or_dtype;
extern const Rule skipped_in_except;
extern const Rule slow_rank;
extern const Rule undefined_on_rank;
extern const Rule uneven_loop;
extern const Rule unmatched_p2p;
extern const Rule unset_key;
extern const Rule unwaited;

// deepspeed
extern const Rule batch_size;
extern const Rule deepspeed_engine;
extern const Rule hf_mismatch;
extern const Rule invalid_value;
extern const Rule deepspeed_precision;
extern const Rule unknown_key;
extern const Rule zero_options;

// fsdp
extern const Rule fsdp_activation_checkpointing;
extern const Rule fsdp_clip_grad_norm;
extern const Rule fsdp_gradient_scaler;
extern const Rule fsdp_ignored_modules;
extern const Rule fsdp_invalid_argument;
extern const Rule fsdp_mixed_requires_grad;
extern const Rule fsdp_no_sync;
extern const Rule fsdp_one_unit;
extern const Rule fsdp_optimizer_before_wrap;
extern const Rule fsdp_unsynchronized_load;

// launch
extern const Rule code_mismatch;
extern const Rule deprecated_launcher;
extern const Rule environment;
extern const Rule launch_parallel_sizes;
extern const Rule rendezvous;
extern const Rule unrecognized_argument;
extern const Rule launch_world_size;

// loop
extern const Rule accumulation_step;
extern const Rule clip_after_step;
extern const Rule detached_loss;
extern const Rule double_softmax;
extern const Rule eval_mode;
extern const Rule grad_in_eval;
extern const Rule learning_rate;
extern const Rule manual_optimization;
extern const Rule missing_backward;
extern const Rule missing_clip;
extern const Rule missing_step;
extern const Rule missing_zero_grad;
extern const Rule rebound_parameter;
extern const Rule scheduler_order;
extern const Rule set_epoch;
extern const Rule swapped_loss;
extern const Rule target_history;
extern const Rule unregistered_layers;
extern const Rule unshifted_targets;
extern const Rule wrong_parameters;
extern const Rule zero_grad_order;

// memory
extern const Rule fragmentation;
extern const Rule hooks_pile_up;
extern const Rule kept_outputs;
extern const Rule grad_held;
extern const Rule retain_graph_flag;
extern const Rule retained_graph;

// moe
extern const Rule balance_loss;
extern const Rule expert_count;
extern const Rule half_softmax;
extern const Rule no_balance_loss;
extern const Rule moe_topk;

// numerics
extern const Rule epsilon;
extern const Rule init;
extern const Rule softmax_axis;
extern const Rule unstable;

// parallel
extern const Rule accelerator;
extern const Rule own_split;
extern const Rule split_dim;
extern const Rule unreduced_gradients;
extern const Rule unused_parameters;
extern const Rule world_size;
extern const Rule wrapped_attribute;

// perf
extern const Rule dataloader;
extern const Rule file_per_sample;
extern const Rule growing_cat;
extern const Rule host_sync_in_loop;
extern const Rule host_transfer_in_loop;
extern const Rule python_loop;
extern const Rule sampler;

// shape
extern const Rule annotation;
extern const Rule assertion;
extern const Rule batch_mismatch;
extern const Rule broadcast;
extern const Rule concat;
extern const Rule device_mismatch;
extern const Rule dtype_mismatch;
extern const Rule empty_slice;
extern const Rule index_out_of_range;
extern const Rule invalid_argument;
extern const Rule last_of_batch;
extern const Rule layer_input;
extern const Rule loss_target;
extern const Rule matmul;
extern const Rule mixed_axes;
extern const Rule reshape;
extern const Rule suspicious_broadcast;
extern const Rule unpack;

}  // namespace stepzero::rules
