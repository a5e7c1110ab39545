#include "rules/list.hpp"

#include "rules/memory/steps.hpp"

#include <array>

namespace stepzero::rules {

std::string_view name(Severity severity) {
  constexpr std::string_view names[] = {"error", "warning", "information", "hint"};
  return names[static_cast<int>(severity)];
}

std::span<const Rule> rules() {
  static const std::array all = {
      // sorted by id
      // clang-format off
      backward_in_autocast,
      clip_before_unscale,
      deprecated_amp,
      double_unscale,
      fp16_without_scaler,
      manual_half,
      missing_update,
      new_scaler,
      scaler_with_bf16,
      unsafe_op,
      unscaled_backward,
      unscaled_step,
      update_order,

      head_dims,
      latent_sum,
      masked_rows,
      rope,
      rope_scaling,
      attention_scale,

      constant_penalty,
      in_place_leaf,
      non_scalar_backward,
      numpy_of_history,
      overwritten,

      call_arguments,
      framework_method,
      call_no_attribute,
      call_no_key,
      call_no_result,

      all_ranks,
      incomplete,
      kept_state,
      checkpoint_keys,
      map_location,
      not_atomic,
      weights_only,

      accelerate_configuration,
      bool_argument,
      checkpointing,
      effective_batch,
      lightning_trainer,
      missing_key,
      precision_mismatch,
      torchtitan_configuration,
      training_arguments_rule,
      undeclared_argument,

      drop_last,
      exhausted_iterator,
      data_leak,
      worker_copies,

      collective_order,
      early_exit,
      group_creation,
      local_condition,
      not_in_group,
      rank_guarded_collective,
      root_mismatch,
      shape_or_dtype,
      skipped_in_except,
      slow_rank,
      undefined_on_rank,
      uneven_loop,
      unmatched_p2p,
      unset_key,
      unwaited,

      batch_size,
      deepspeed_engine,
      hf_mismatch,
      invalid_value,
      deepspeed_precision,
      unknown_key,
      zero_options,

      fsdp_activation_checkpointing,
      fsdp_clip_grad_norm,
      fsdp_gradient_scaler,
      fsdp_ignored_modules,
      fsdp_invalid_argument,
      fsdp_mixed_requires_grad,
      fsdp_no_sync,
      fsdp_one_unit,
      fsdp_optimizer_before_wrap,
      fsdp_unsynchronized_load,

      code_mismatch,
      deprecated_launcher,
      environment,
      launch_parallel_sizes,
      rendezvous,
      unrecognized_argument,
      launch_world_size,

      accumulation_step,
      clip_after_step,
      detached_loss,
      double_softmax,
      eval_mode,
      grad_in_eval,
      learning_rate,
      manual_optimization,
      missing_backward,
      missing_clip,
      missing_step,
      missing_zero_grad,
      rebound_parameter,
      scheduler_order,
      set_epoch,
      swapped_loss,
      target_history,
      unregistered_layers,
      unshifted_targets,
      wrong_parameters,
      zero_grad_order,

      checkpoint_misses,
      eval_graph,
      fragmentation,
      frozen_in_optimizer,
      grad_held,
      gradients_of_frozen,
      hooks_pile_up,
      kept_outputs,
      logits,
      retain_graph_flag,
      retained_graph,
      too_large,

      balance_loss,
      expert_count,
      half_softmax,
      no_balance_loss,
      moe_topk,

      epsilon,
      init,
      softmax_axis,
      unstable,

      accelerator,
      own_split,
      split_dim,
      unreduced_gradients,
      unused_parameters,
      world_size,
      wrapped_attribute,

      dataloader,
      file_per_sample,
      growing_cat,
      host_sync_in_loop,
      host_transfer_in_loop,
      python_loop,
      sampler,

      annotation,
      assertion,
      batch_mismatch,
      broadcast,
      concat,
      device_mismatch,
      dtype_mismatch,
      empty_slice,
      index_out_of_range,
      invalid_argument,
      last_of_batch,
      layer_input,
      loss_target,
      matmul,
      mixed_axes,
      reshape,
      suspicious_broadcast,
      unpack,
      // clang-format on
  };
  return all;
}

const Rule* find_rule(std::string_view id) {
  for (const Rule& rule : rules())
    if (rule.id == id) return &rule;
  return nullptr;
}

std::string page(const Rule& rule) {
  const auto language = [](std::string_view code) {
    return code.starts_with('{') ? "json" : code.starts_with("#!") ? "bash" : "python";
  };
  const auto fenced = [&](std::string_view code) {
    return "```" + std::string(language(code)) + "\n" + std::string(code) +
        (code.ends_with('\n') ? "" : "\n") + "```\n\n";
  };
  std::string text = "# " + std::string(rule.id) + "\n\n" + "*" + std::string(name(rule.severity)) +
      "*: " + std::string(rule.summary) + ".\n\n";
  text += "## Why\n\n" + std::string(rule.why) + "\n\n";
  text += "## Wrong\n\n" + fenced(rule.wrong);
  text += "## Right\n\n" + fenced(rule.right);
  text += "## Silent\n\n" + std::string(rule.silent) + "\n\n";
  text += "## Fix\n\n" + std::string(rule.fix) + "\n\n";
  text += "## Suppress\n\nPut `# stepzero: ignore[" + std::string(rule.id) +
      "]` at the end of the line, or `# stepzero: ignore-file[" + std::string(rule.id) +
      "]` in the first lines of the file.\n";
  return text;
}

}  // namespace stepzero::rules
