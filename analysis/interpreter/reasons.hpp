// The reasons of interpreter/refusals.hpp, each with how many parts its words have. A new one gets its words
// in rules/shape/reason_texts_*.cpp.
#pragma once

#include "interpreter/refusals.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

// clang-format off
// Of Python, as the interpreter runs it, and of its library.
#define STEPZERO_PYTHON_REASONS(reason) \
  reason(range_of_text, 1) reason(default_of_get, 3) reason(item_beyond, 3) reason(no_self, 1) \
  reason(argument_twice, 2) reason(missing_arguments, 3) reason(no_field, 2) reason(other_field, 3) \
  reason(missing_field, 2) reason(no_constructor, 1) reason(not_callable, 2) reason(method_items, 1) \
  reason(attribute_of_display, 4) reason(attribute_of_object, 4) reason(other_attribute, 5) \
  reason(assigned_before_init, 2) reason(parameter_replaced, 5) reason(truth_of_many, 2) \
  reason(unbound_name, 1) reason(annotated, 3) reason(not_declared, 1) reason(declared_otherwise, 2) \
  reason(part_of_command, 2) reason(port_of_store, 1) reason(port_of_group, 1) \
  reason(variable_kind, 3) reason(port_of_variable, 1) reason(bool_of_text, 1) \
  reason(flag_always_on, 1)
// Of arguments of trainers and of configurations.
#define STEPZERO_FRAMEWORK_REASONS(reason) \
  reason(two_configurations, 1) reason(no_configuration, 0) reason(former_of_lightning, 1) \
  reason(renamed_by_lightning, 2) reason(not_of_lightning, 1) reason(other_of_lightning, 2) \
  reason(former_strategy, 1) reason(renamed_strategy, 2) reason(not_known_to_lightning, 3) \
  reason(other_known_to_lightning, 3) reason(lightning_share, 1) reason(lightning_end, 1) \
  reason(lightning_number, 2) reason(barebones, 1) reason(interval_across_epochs, 0) \
  reason(interpolated_key, 2) reason(key_to_give, 2) reason(configuration_key, 3) \
  reason(other_configuration_key, 4) reason(not_of_trainer, 1) reason(other_of_trainer, 2) \
  reason(of_file, 2) reason(other_than_configured, 5) reason(unused_keys, 2) reason(besides, 2) \
  reason(former_choice, 2) reason(not_among_choices, 3) reason(other_choice, 3) \
  reason(number_as_text, 2) reason(former_name_and_choice, 5) reason(former_name, 2) \
  reason(renamed, 3) reason(no_training_argument, 1) reason(other_training_argument, 2) \
  reason(both_on, 3) reason(best_of_strategies, 4) reason(best_of_steps, 2) \
  reason(schedule_of_evaluation, 1) reason(trainer_prefetch, 0) reason(warmup_beyond_end, 2) \
  reason(cache_switched_off, 0) reason(other_sharding, 2) reason(sharding_without_blanks, 1) \
  reason(no_sharding, 2)
// Of operators on tensors.
#define STEPZERO_OPERATOR_REASONS(reason) \
  reason(pattern_without_arrow, 1) reason(pattern_operands, 3) reason(pattern_axes, 3) \
  reason(pattern_size_twice, 4) reason(pattern_right_only, 2) reason(packed_dimensions, 3) \
  reason(packed_sizes, 3) reason(pattern_dimensions, 3) reason(pattern_nested, 1) \
  reason(pattern_not_opened, 1) reason(pattern_two_ellipses, 1) reason(pattern_sign, 2) \
  reason(pattern_size_zero, 1) reason(pattern_name, 2) reason(pattern_twice, 2) \
  reason(pattern_not_closed, 1) reason(pattern_left_only, 2) reason(pattern_number_left, 2) \
  reason(pattern_new, 2) reason(pattern_number_right, 2) reason(pattern_ellipsis_in_parentheses, 1) \
  reason(pattern_ellipsis_right, 1) reason(pattern_ellipsis_left, 1) reason(pattern_size_of_none, 2) \
  reason(pattern_two_open, 4) reason(pattern_other_size, 4) reason(pattern_not_divided, 4) \
  reason(pattern_two_arrows, 1) reason(pattern_impossible_size, 3) reason(pattern_left_side, 4) \
  reason(numpy_of_gradient, 1) reason(numpy_of_device, 2) reason(array_of_gradient, 1) \
  reason(gradient_of_dtype, 1) reason(indices_dtype, 1) reason(crossed, 6) reason(loss_repeats, 4) \
  reason(number_of_each_sample, 5) reason(met_by_other_name, 7) reason(rotated_plane, 0) \
  reason(diagonal_same, 2) reason(diagonal_dimensions, 0) reason(windows_of_number, 2) \
  reason(windows_of_size, 2) reason(contracted_dimensions, 3) reason(contracted_pairs, 2) \
  reason(chain_of_one, 0) reason(bilinear_weight, 5) reason(formula_unread, 1) \
  reason(formula_operands, 3) reason(formula_dimensions, 4) reason(formula_sizes, 8) \
  reason(formula_result, 3) reason(random_bounds, 2) reason(range_endless, 3) \
  reason(range_of_zero, 0) reason(range_to_infinity, 0) reason(range_step_cut, 0) \
  reason(range_away, 0) reason(steps_whole, 1) reason(bound_shape, 3) reason(permuted_order, 1) \
  reason(list_of_tensors, 2) reason(ragged_lists, 1) reason(negative_sizes, 1) \
  reason(expanded_to_fewer, 3) reason(kept_size, 2) reason(negative_size, 1) reason(expanded_size, 4) \
  reason(repeats, 4) reason(empty_signal, 3) reason(no_transform, 1) reason(window_length, 3) \
  reason(signal_length, 2) reason(spectrum_kind, 2) reason(spectrum_shape, 2) \
  reason(index_may_be_beyond, 6) reason(index_beyond, 6) reason(index_dimensions, 4) \
  reason(index_reach, 5) reason(class_beyond, 3) reason(class_negative, 2) \
  reason(source_of_each_index, 4) reason(source_size, 5) reason(narrowed, 5) reason(index_dtype, 1) \
  reason(too_many_indices, 4) reason(mask_size, 6) reason(indices_apart, 2) \
  reason(subscript_may_be_beyond, 4) reason(index_device, 3) reason(part_of_index_device, 2) \
  reason(view_apart, 3) reason(join_of_number, 2) reason(join_sizes, 9) reason(empty_join, 1) \
  reason(join_of_tensor, 2) reason(norm_orders, 1) reason(singular_values, 4) \
  reason(least_squares, 3) reason(tensor_inverse, 3) reason(nested_dimensions, 2) \
  reason(jagged_sizes, 4) reason(jagged_offsets, 0) reason(norm_dimensions, 1) \
  reason(norm_of_matrices, 2) reason(norm_operand, 2) reason(negated_bool, 2) \
  reason(subtracted_bool, 1) reason(half_overflow, 2) reason(no_bounds, 1) reason(inner_sizes, 6) \
  reason(product_broadcast, 3) reason(cross_coordinates, 3) reason(cross_no_coordinates, 1) \
  reason(meta_copied, 1) reason(random_bounds_swapped, 0) reason(empty_dimension, 3) \
  reason(empty_tensor, 2) reason(hash_mode, 1) reason(summed_shape, 2) reason(samples_joined, 7) \
  reason(two_inferred, 1) reason(view_size, 5) reason(view_zero, 3) reason(view_multiple, 5) \
  reason(flattened_none, 3) reason(unflattened_sizes, 4) reason(gradient_elements, 4) \
  reason(dimension_of_number, 2) reason(slice_after_end, 2) reason(slice_before_start, 2) \
  reason(element_of, 2) reason(element, 1) reason(largest_count, 5) reason(sparse_product, 7) \
  reason(sparse_values, 3) reason(sparse_sizes, 5) reason(sparse_size, 2) reason(split_sizes, 5) \
  reason(equal_parts, 4) reason(variables, 3) reason(no_operator_of, 4) reason(no_operator, 2) \
  reason(unpack_at_least, 2) reason(unpack_number, 0) reason(unpack_parts, 2) \
  reason(unpack_values, 3) reason(permuted_dimensions, 6) reason(window_dtype, 2) \
  reason(window_center, 1) reason(no_coefficients, 1)
// Of layers and losses.
#define STEPZERO_LAYER_REASONS(reason) \
  reason(odd_halves, 4) reason(zero_alpha, 0) reason(bounds_swapped, 0) reason(mask_shape, 4) \
  reason(two_masks, 0) reason(dtypes_of_attention, 3) reason(mask_of_ends, 4) \
  reason(mask_of_scores, 3) reason(shared_heads, 4) reason(target_column, 6) \
  reason(target_probabilities, 5) reason(probabilities_dtype, 4) reason(target_shape, 8) \
  reason(class_weights, 5) reason(class_outside, 6) reason(class_may_be_outside, 5) \
  reason(input_of_wide_weight, 4) reason(ignored_of_probabilities, 2) reason(class_count, 4) \
  reason(same_padding_made, 1) reason(window_over, 7) reason(output_padding, 3) reason(size_made, 4) \
  reason(same_padding, 2) reason(no_channels, 1) reason(weight_dimensions, 4) \
  reason(bias_channels, 4) reason(block_mask_size, 4) reason(score_function, 1) \
  reason(mask_method, 0) reason(mask_function, 1) reason(no_gain, 2) reason(bilinear_features, 6) \
  reason(padding_index, 2) reason(embedding_weight, 2) reason(row_may_be_beyond, 4) \
  reason(offsets_given, 3) reason(offsets_missing, 3) reason(unflattened, 6) \
  reason(size_not_divisible, 5) reason(loss_exponent, 1) reason(loss_weight, 3) reason(no_forward, 0) \
  reason(no_normalized_shape, 1) reason(normalized_shape_short, 4) reason(normalized_size, 5) \
  reason(normalized_shape, 4) reason(normalized_weight, 3) reason(parameters_on_meta, 0) \
  reason(pool_padding, 3) reason(pool_window, 5) reason(zero_divisor, 1) reason(no_output_size, 1) \
  reason(output_size_or_ratio, 1) reason(fractional_windows, 6) reason(state_shape, 6) \
  reason(state_tensor, 2) reason(state_count, 3) reason(projection_size, 2) reason(lengths_order, 1) \
  reason(size_and_scale, 1) reason(no_size_or_scale, 1) reason(mode_dimensions, 5) \
  reason(bicubic_dimensions, 2) reason(grid_batch, 2) reason(grid_points, 3) \
  reason(nothing_to_sample, 2) reason(affine_size, 1) reason(affine_matrices, 6) \
  reason(padded_dimensions, 6) reason(padded_too_many, 4) reason(mirrored, 5) reason(size_left, 4) \
  reason(pad_sizes, 2) reason(window_fits, 5) reason(fold_windows, 5) reason(fold_count, 7)
// Of models, data, optimizers, gradients and processes.
#define STEPZERO_TRAINING_REASONS(reason) \
  reason(prefetch_without_workers, 0) reason(persistent_without_workers, 0) \
  reason(samples_of_sizes, 2) reason(sample_of_none, 0) reason(tensors_by_name, 1) \
  reason(samples_apart, 2) reason(split_lengths, 3) reason(list_of_root, 2) reason(exchanged_rows, 3) \
  reason(mesh_names, 2) reason(mesh_name_twice, 1) reason(mesh_nameless, 0) reason(mesh_dimension, 2) \
  reason(sharded_no_sync, 0) reason(wrapped_on_cpu, 0) reason(moved_after_wrapping, 0) \
  reason(data_parallel_on_cpu, 0) reason(sharded_on_cpu, 0) reason(no_such_stage, 2) \
  reason(microbatches_few, 3) \
  reason(batch_for_microbatches, 2) reason(split_of_module, 2) reason(placements_count, 2) \
  reason(placement_dimension, 2) reason(buffer_dimensions, 2) reason(mixed_with_spread, 1) \
  reason(attribute_inside, 6) reason(attribute_of_wrapper, 6) reason(result_overwritten, 1) \
  reason(operand_overwritten, 1) reason(leaf_written, 3) reason(backward_of_batch, 0) \
  reason(backward_of_many, 1) reason(module_index, 3) reason(module_index_up_to, 2) \
  reason(batches_apart, 7) reason(state_of_wrapped, 2) reason(state_for_wrapped, 2) \
  reason(state_unexpected, 1) reason(state_missing, 1) reason(shape_in_state, 3) \
  reason(mapped_sizes, 2) reason(gradient_of_many, 1) reason(tangents_count, 2) \
  reason(tangent_shape, 3) reason(vector_size, 2) reason(criterion_devices, 2) \
  reason(device_operands, 2) reason(input_of_moved_model, 3) reason(input_left, 3) \
  reason(device_inputs, 4) reason(input_of_left_model, 3) reason(gradients_returned, 2) \
  reason(gradient_not_required, 0) reason(setting_between, 5) reason(setting_above, 4) \
  reason(setting_at_least, 4) \
  reason(setting_text_of_yaml, 5) reason(setting_text, 3) reason(nesterov_momentum, 2) \
  reason(nesterov_dampening, 2) reason(settings_exclusive, 3) reason(parameters_tensor, 1) \
  reason(parameters_module, 1) reason(matrices_only, 2) reason(leaves_only, 1) reason(one_group, 2) \
  reason(groups_share, 3) reason(capturable_on_cpu, 0) reason(state_left, 2) reason(no_parameters, 1) \
  reason(cycle_without_steps, 0) reason(scheduler_of_module, 0)
// clang-format on

namespace stepzero::interpreter {

enum class Reason : std::uint16_t {
#define STEPZERO_NAME(name, count) name,
  STEPZERO_PYTHON_REASONS(STEPZERO_NAME) STEPZERO_FRAMEWORK_REASONS(STEPZERO_NAME) STEPZERO_OPERATOR_REASONS(
      STEPZERO_NAME) STEPZERO_LAYER_REASONS(STEPZERO_NAME) STEPZERO_TRAINING_REASONS(STEPZERO_NAME)
#undef STEPZERO_NAME
};

inline constexpr std::uint8_t parts_of_reasons[] = {
#define STEPZERO_COUNT(name, count) count,
    STEPZERO_PYTHON_REASONS(STEPZERO_COUNT) STEPZERO_FRAMEWORK_REASONS(STEPZERO_COUNT)
        STEPZERO_OPERATOR_REASONS(STEPZERO_COUNT) STEPZERO_LAYER_REASONS(STEPZERO_COUNT)
            STEPZERO_TRAINING_REASONS(STEPZERO_COUNT)
#undef STEPZERO_COUNT
};
constexpr std::size_t parts_of(Reason reason) { return parts_of_reasons[static_cast<std::size_t>(reason)]; }

template <class Given> Part part_of(Given&& given) {
  using Plain = std::remove_cvref_t<Given>;
  if constexpr (std::is_same_v<Plain, bool>)
    return given;
  else if constexpr (std::is_integral_v<Plain>)
    return static_cast<std::int64_t>(given);
  else if constexpr (std::is_same_v<Plain, Refusal>)
    return std::make_shared<const RefusalBox>(std::forward<Given>(given));
  else if constexpr (std::is_convertible_v<Given&&, std::string_view>)
    return std::string(std::string_view(given));
  else
    return std::forward<Given>(given);
}

template <Reason reason, class... Given> Refusal why(Given&&... given) {
  static_assert(sizeof...(Given) == parts_of(reason));
  return Stated{reason, {part_of(std::forward<Given>(given))...}};
}

}  // namespace stepzero::interpreter
