// The settings that configuration classes of transformers have where nothing else is given: by their
// documentation, and the same in every version that has the class. What is not here has no number of its own:
// num_key_value_heads is then num_attention_heads. Rows that no program calls: their parameters are looked up
// where such a class is made.
#include "libraries/frameworks/kernels.hpp"
#include "libraries/python/fixed.hpp"
#include "values/internal_rows.hpp"

namespace stepzero::libraries {

std::vector<values::Row> configuration_rows() {
  constexpr auto function = values::RowKind::function;
  return {
      row(values::under<values::InternalRow::settings, "transformers.DeepseekV3Config">, function,
          "n_routed_experts=256, num_experts_per_tok=8, n_group=8, topk_group=4, num_hidden_layers=61, first_k_dense_replace=3, **options",
          nullptr),
      row(values::under<values::InternalRow::settings, "transformers.Gemma2Config">, function,
          "num_attention_heads=8, num_key_value_heads=4, **options", nullptr),
      row(values::under<values::InternalRow::settings, "transformers.GptOssConfig">, function,
          "num_attention_heads=64, num_key_value_heads=8, num_local_experts=128, num_experts_per_tok=4, **options",
          nullptr),
      row(values::under<values::InternalRow::settings, "transformers.LlamaConfig">, function,
          "num_attention_heads=32, **options", nullptr),
      row(values::under<values::InternalRow::settings, "transformers.MistralConfig">, function,
          "num_attention_heads=32, num_key_value_heads=8, **options", nullptr),
      row(values::under<values::InternalRow::settings, "transformers.MixtralConfig">, function,
          "num_attention_heads=32, num_key_value_heads=8, num_local_experts=8, num_experts_per_tok=2, **options",
          nullptr),
      row(values::under<values::InternalRow::settings, "transformers.OlmoeConfig">, function,
          "num_attention_heads=16, num_experts=64, num_experts_per_tok=8, **options", nullptr),
      row(values::under<values::InternalRow::settings, "transformers.Qwen2Config">, function,
          "num_attention_heads=32, num_key_value_heads=32, **options", nullptr),
      row(values::under<values::InternalRow::settings, "transformers.Qwen2MoeConfig">, function,
          "num_attention_heads=16, num_key_value_heads=16, num_experts=60, num_experts_per_tok=4, **options",
          nullptr),
      row(values::under<values::InternalRow::settings, "transformers.Qwen3Config">, function,
          "num_attention_heads=32, num_key_value_heads=32, **options", nullptr),
      row(values::under<values::InternalRow::settings, "transformers.Qwen3MoeConfig">, function,
          "num_attention_heads=32, num_key_value_heads=4, num_experts=128, num_experts_per_tok=8, **options",
          nullptr),
  };
}

}  // namespace stepzero::libraries
