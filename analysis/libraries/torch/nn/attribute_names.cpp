// Names of attributes that nn.Module and the layers of torch.nn have, though nothing else is known of them here.
#include "libraries/torch/nn/modules.hpp"

namespace stepzero::libraries {

namespace {
// What modules have besides, in any version of PyTorch: a name that is none of these, and was not given by the program, is missing.
constexpr std::string_view other_names[] = {
    "torch.nn.Module._backward_hooks", "torch.nn.Module._backward_pre_hooks", "torch.nn.Module._call_impl",
    "torch.nn.Module._compiled_call_impl", "torch.nn.Module._forward_hooks", "torch.nn.Module._forward_hooks_always_called",
    "torch.nn.Module._forward_hooks_with_kwargs", "torch.nn.Module._forward_pre_hooks", "torch.nn.Module._forward_pre_hooks_with_kwargs",
    "torch.nn.Module._get_abs_string_index", "torch.nn.Module._get_backward_hooks", "torch.nn.Module._get_backward_pre_hooks",
    "torch.nn.Module._get_item_by_idx", "torch.nn.Module._get_name", "torch.nn.Module._is_full_backward_hook",
    "torch.nn.Module._load_from_state_dict", "torch.nn.Module._maybe_warn_non_full_backward_hook", "torch.nn.Module._named_members",
    "torch.nn.Module._non_persistent_buffers_set", "torch.nn.Module._replicate_for_data_parallel", "torch.nn.Module._save_to_state_dict",
    "torch.nn.Module._slow_forward", "torch.nn.Module._version", "torch.nn.Module._wrapped_call_impl", "torch.nn.Module.T_destination",
    "torch.nn.Module.call_super_init", "torch.nn.Module.compile", "torch.nn.Module.dump_patches", "torch.nn.Module.extra_repr",
    "torch.nn.Module.get_extra_state", "torch.nn.Module.ipu", "torch.nn.Module.mtia", "torch.nn.Module.register_full_backward_pre_hook",
    "torch.nn.Module.set_extra_state", "torch.nn.Module.set_submodule", "torch.nn.Module.xpu",
};
// What layers of the library have, one or the other, in any version: a layer has none of the names that no layer has.
constexpr std::string_view layer_names[] = {
    "torch.nn.$any.activation", "torch.nn.$any.activation_relu_or_gelu", "torch.nn.$any.add_zero_attn", "torch.nn.$any.affine",
    "torch.nn.$any.align_corners", "torch.nn.$any.all_weights", "torch.nn.$any.alpha", "torch.nn.$any.append", "torch.nn.$any.approximate",
    "torch.nn.$any.batch_first", "torch.nn.$any.beta", "torch.nn.$any.bias", "torch.nn.$any.bias_hh", "torch.nn.$any.bias_ih",
    "torch.nn.$any.bias_k", "torch.nn.$any.bias_v", "torch.nn.$any.bidirectional", "torch.nn.$any.blank", "torch.nn.$any.ceil_mode",
    "torch.nn.$any.check_forward_args", "torch.nn.$any.check_hidden_size", "torch.nn.$any.check_input", "torch.nn.$any.clear",
    "torch.nn.$any.convert_sync_batchnorm", "torch.nn.$any.copy", "torch.nn.$any.count_include_pad", "torch.nn.$any.cutoffs",
    "torch.nn.$any.d_model", "torch.nn.$any.decoder", "torch.nn.$any.delta", "torch.nn.$any.device", "torch.nn.$any.device_ids",
    "torch.nn.$any.device_type", "torch.nn.$any.dilation", "torch.nn.$any.dim", "torch.nn.$any.distance_function",
    "torch.nn.$any.div_value", "torch.nn.$any.divisor_override", "torch.nn.$any.downscale_factor", "torch.nn.$any.dropout",
    "torch.nn.$any.dropout1", "torch.nn.$any.dropout2", "torch.nn.$any.dropout3", "torch.nn.$any.dtype",
    "torch.nn.$any.elementwise_affine", "torch.nn.$any.embed_dim", "torch.nn.$any.embedding_dim", "torch.nn.$any.enable_nested_tensor",
    "torch.nn.$any.encoder", "torch.nn.$any.end_dim", "torch.nn.$any.eps", "torch.nn.$any.extend", "torch.nn.$any.extra_repr",
    "torch.nn.$any.find_unused_parameters", "torch.nn.$any.flatten_parameters", "torch.nn.$any.fold", "torch.nn.$any.forward",
    "torch.nn.$any.from_pretrained", "torch.nn.$any.fromkeys", "torch.nn.$any.full", "torch.nn.$any.gather",
    "torch.nn.$any.generate_square_subsequent_mask", "torch.nn.$any.get", "torch.nn.$any.get_expected_cell_size",
    "torch.nn.$any.get_expected_hidden_size", "torch.nn.$any.gradient_as_bucket_view", "torch.nn.$any.groups",
    "torch.nn.$any.has_uninitialized_params", "torch.nn.$any.head", "torch.nn.$any.head_bias", "torch.nn.$any.head_dim",
    "torch.nn.$any.head_size", "torch.nn.$any.hidden_size", "torch.nn.$any.ignore_index", "torch.nn.$any.in1_features",
    "torch.nn.$any.in2_features", "torch.nn.$any.in_channels", "torch.nn.$any.in_features", "torch.nn.$any.in_proj_bias",
    "torch.nn.$any.in_proj_weight", "torch.nn.$any.include_last_offset", "torch.nn.$any.inf", "torch.nn.$any.initialize_parameters",
    "torch.nn.$any.inplace", "torch.nn.$any.input_size", "torch.nn.$any.insert", "torch.nn.$any.interpolation", "torch.nn.$any.items",
    "torch.nn.$any.join", "torch.nn.$any.k", "torch.nn.$any.k_proj_weight", "torch.nn.$any.kdim", "torch.nn.$any.keepdim",
    "torch.nn.$any.kernel_size", "torch.nn.$any.keys", "torch.nn.$any.label_smoothing", "torch.nn.$any.lambd", "torch.nn.$any.layers",
    "torch.nn.$any.linear1", "torch.nn.$any.linear2", "torch.nn.$any.log_input", "torch.nn.$any.log_prob", "torch.nn.$any.log_target",
    "torch.nn.$any.lower", "torch.nn.$any.margin", "torch.nn.$any.mask_check", "torch.nn.$any.max_norm", "torch.nn.$any.max_val",
    "torch.nn.$any.merge_masks", "torch.nn.$any.min_val", "torch.nn.$any.mode", "torch.nn.$any.module", "torch.nn.$any.momentum",
    "torch.nn.$any.multihead_attn", "torch.nn.$any.n_classes", "torch.nn.$any.n_clusters", "torch.nn.$any.name", "torch.nn.$any.nhead",
    "torch.nn.$any.no_sync", "torch.nn.$any.nonlinearity", "torch.nn.$any.norm", "torch.nn.$any.norm1", "torch.nn.$any.norm2",
    "torch.nn.$any.norm3", "torch.nn.$any.norm_first", "torch.nn.$any.norm_type", "torch.nn.$any.normalized_shape",
    "torch.nn.$any.num_batches_tracked", "torch.nn.$any.num_channels", "torch.nn.$any.num_embeddings", "torch.nn.$any.num_features",
    "torch.nn.$any.num_groups", "torch.nn.$any.num_heads", "torch.nn.$any.num_layers", "torch.nn.$any.num_parameters",
    "torch.nn.$any.out_channels", "torch.nn.$any.out_features", "torch.nn.$any.out_proj", "torch.nn.$any.output_device",
    "torch.nn.$any.output_padding", "torch.nn.$any.output_ratio", "torch.nn.$any.output_size", "torch.nn.$any.p", "torch.nn.$any.padding",
    "torch.nn.$any.padding_idx", "torch.nn.$any.padding_mode", "torch.nn.$any.parametrizations", "torch.nn.$any.permute_hidden",
    "torch.nn.$any.pop", "torch.nn.$any.popitem", "torch.nn.$any.pos_weight", "torch.nn.$any.predict", "torch.nn.$any.process_group",
    "torch.nn.$any.proj_size", "torch.nn.$any.q_proj_weight", "torch.nn.$any.recompute_scale_factor", "torch.nn.$any.reduction",
    "torch.nn.$any.register_comm_hook", "torch.nn.$any.replicate", "torch.nn.$any.require_backward_grad_sync",
    "torch.nn.$any.require_forward_param_sync", "torch.nn.$any.reset_parameters", "torch.nn.$any.reset_running_stats",
    "torch.nn.$any.return_indices", "torch.nn.$any.running_mean", "torch.nn.$any.running_var", "torch.nn.$any.scale_factor",
    "torch.nn.$any.scale_grad_by_freq", "torch.nn.$any.scatter", "torch.nn.$any.self_attn", "torch.nn.$any.setdefault",
    "torch.nn.$any.shortlist_size", "torch.nn.$any.size", "torch.nn.$any.sparse", "torch.nn.$any.src_device_obj",
    "torch.nn.$any.start_dim", "torch.nn.$any.static_graph", "torch.nn.$any.stride", "torch.nn.$any.swap", "torch.nn.$any.tail",
    "torch.nn.$any.threshold", "torch.nn.$any.track_running_stats", "torch.nn.$any.transposed", "torch.nn.$any.unflatten",
    "torch.nn.$any.unflattened_size", "torch.nn.$any.update", "torch.nn.$any.upper", "torch.nn.$any.upscale_factor",
    "torch.nn.$any.v_proj_weight", "torch.nn.$any.value", "torch.nn.$any.values", "torch.nn.$any.vdim", "torch.nn.$any.weight",
    "torch.nn.$any.weight_g", "torch.nn.$any.weight_hh", "torch.nn.$any.weight_ih", "torch.nn.$any.weight_orig", "torch.nn.$any.weight_u",
    "torch.nn.$any.weight_v", "torch.nn.$any.will_sync_module_buffers", "torch.nn.$any.with_module", "torch.nn.$any.zero_infinity",
};
} // namespace

std::span<const std::string_view> other_names_of_modules() { return other_names; }
std::span<const std::string_view> names_of_layers() { return layer_names; }

} // namespace stepzero::libraries
