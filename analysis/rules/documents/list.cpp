// The checks of documents, in the order of their rules.
#include "rules/documents/check.hpp"

#include <array>

namespace stepzero::rules {

extern const DocumentCheck accelerate_configuration_check, batch_size_check, launched_batch_check,
    hf_mismatch_check, invalid_value_check, deepspeed_precision_check, unknown_key_check, zero_options_check,
    deprecated_launcher_check, environment_check, code_mismatch_check, lightning_trainer_check, precision_mismatch_check,
    launch_parallel_sizes_check, rendezvous_check, unrecognized_argument_check, launch_world_size_check,
    torchtitan_check, training_arguments_check;

std::span<const DocumentCheck> document_checks() {
  static const std::array all = {accelerate_configuration_check, batch_size_check, launched_batch_check,
      hf_mismatch_check, invalid_value_check, deepspeed_precision_check, unknown_key_check,
      zero_options_check, deprecated_launcher_check, environment_check, code_mismatch_check,
      lightning_trainer_check, precision_mismatch_check, launch_parallel_sizes_check, rendezvous_check, unrecognized_argument_check,
      launch_world_size_check, torchtitan_check, training_arguments_check};
  return all;
}

}  // namespace stepzero::rules
