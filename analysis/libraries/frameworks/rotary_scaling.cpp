// As transformers 5.23 reads them.
#include "libraries/frameworks/rotary_scaling.hpp"

namespace stepzero::libraries {

namespace {

constexpr RotaryScaling known_scalings[] = {
    {"default"},
    {"linear", "factor"},
    {"dynamic", "factor", "original_max_position_embeddings alpha"},
    {"yarn", "factor",
        "attention_factor beta_fast beta_slow original_max_position_embeddings mscale mscale_all_dim truncate"},
    {"longrope", "short_factor long_factor",
        "factor attention_factor original_max_position_embeddings short_mscale long_mscale",
        /*reaches_product=*/false},
    {"proportional", "", "factor"},
    // The factor slows the slowest frequencies only: real models have contexts beyond the product.
    {"llama3", "factor original_max_position_embeddings low_freq_factor high_freq_factor", "",
        /*reaches_product=*/false},
    {.name = "su", .has_keys = false},
    {.name = "mrope", .has_keys = false},
};

}  // namespace

std::span<const RotaryScaling> rotary_scalings() { return known_scalings; }

}  // namespace stepzero::libraries
