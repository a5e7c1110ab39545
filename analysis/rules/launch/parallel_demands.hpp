// What Megatron and torchtitan ask of the sizes that a launch hands them: data, read in their sources.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepzero::rules::launch::parallel_sizes {

enum class Trainer : std::uint8_t { megatron, torchtitan };
// multiple: the one is divisible by the product of the others. at_least: it is as large as the other. apart:
// not both are given. together: the one needs the other. gone: it is refused, whatever is given besides.
// exactly: it is the product of the others, of which the second is given.
enum class Asks : std::uint8_t { multiple, exactly, at_least, apart, together, gone };

struct Demand {
  Trainer trainer;
  Asks asks;
  std::string_view
      one;  // an option without its dashes, "option=value" where it has that; "world": the processes
  std::string_view others;  // options: those that are not given count as 1 where the product is asked for
  std::string_view unless;  // beginnings of options that lift the demand
  std::string_view answer;  // what the program ends with
  bool in_every_version = true;
};

// Megatron-LM: validate_args of megatron/training/arguments.py, TransformerConfig and
// num_microbatches_calculator of core 0.14; those marked as of every version are the same in Megatron-LM 2.5
// (2021) and in Megatron-DeepSpeed. torchtitan: ParallelDims, 0.2.
inline constexpr std::string_view uneven =
    "deepspeed pipeline-model-parallel-split-rank pipeline-model-parallel-layout decoder- encoder- account-for- standalone-embedding-stage hybrid- target- spec yaml-cfg heterogeneous";
inline constexpr std::string_view other_sizes =
    "rampup-batch-size decrease-batch-size ds-sequence-parallel-size tensor-parallel-num-weight-shards gtp- encoder-tensor encoder-pipeline step-batch-size yaml-cfg hierarchical";
inline constexpr Demand demands[] = {
    {Trainer::megatron, Asks::multiple, "world", "tensor-model-parallel-size", "yaml-cfg encoder-tensor",
        "world size is not divisible by tensor model parallel size"},
    {Trainer::megatron, Asks::multiple, "world",
        "tensor-model-parallel-size pipeline-model-parallel-size context-parallel-size",
        "yaml-cfg encoder-tensor encoder-pipeline", "world size is not divisible by total_model_size", false},
    {Trainer::megatron, Asks::multiple, "num-attention-heads", "tensor-model-parallel-size",
        "yaml-cfg heterogeneous", "num_attention_heads must be a multiple of tensor_model_parallel_size"},
    {Trainer::megatron, Asks::multiple, "num-attention-heads", "num-key-value-heads", "yaml-cfg",
        "AssertionError"},
    {Trainer::megatron, Asks::multiple, "hidden-size", "num-attention-heads",
        "kv-channels yaml-cfg heterogeneous", "AssertionError"},
    {Trainer::megatron, Asks::multiple, "num-layers", "pipeline-model-parallel-size", uneven,
        "Number of layers should be divisible by the pipeline-model-parallel size"},
    {Trainer::megatron, Asks::multiple, "num-layers",
        "pipeline-model-parallel-size num-layers-per-virtual-pipeline-stage", uneven,
        "number of layers per pipeline stage must be divisible number of layers per virtual pipeline stage",
        false},
    {Trainer::megatron, Asks::multiple, "num-experts", "expert-model-parallel-size", "yaml-cfg",
        "Number of experts should be a multiple of expert model parallel_size"},
    {Trainer::megatron, Asks::multiple, "seq-length", "2 context-parallel-size", "yaml-cfg hybrid-context",
        "seq-length should be a multiple of 2 * context-parallel-size"},
    {Trainer::megatron, Asks::multiple, "global-batch-size", "micro-batch-size", other_sizes,
        "global batch size is not divisible by micro batch size"},
    {Trainer::megatron, Asks::multiple, "global-batch-size", "micro-batch-size data", other_sizes,
        "global batch size is not divisible by micro batch size times data parallel size"},
    {Trainer::megatron, Asks::at_least, "max-position-embeddings", "seq-length", "yaml-cfg",
        "max_position_embeddings must be greater than or equal to seq_length"},
    {Trainer::megatron, Asks::at_least, "lr", "min-lr", "yaml-cfg", "AssertionError"},
    {Trainer::megatron, Asks::apart, "fp16", "bf16", "", "AssertionError"},
    {Trainer::megatron, Asks::apart, "train-samples", "train-iters", "skip-train",
        "expected iteration-based training"},
    {Trainer::megatron, Asks::apart, "lr-decay-samples", "train-iters", "skip-train",
        "expected iteration-based learning rate decay"},
    {Trainer::megatron, Asks::apart, "lr-warmup-samples", "train-iters", "skip-train",
        "expected iteration-based learning rate warmup"},
    {Trainer::megatron, Asks::apart, "lr-decay-iters", "train-samples", "skip-train",
        "expected sample-based learning rate decay"},
    {Trainer::megatron, Asks::apart, "lr-warmup-iters", "train-samples", "skip-train",
        "expected sample-based learning rate warmup"},
    {Trainer::megatron, Asks::together, "expert-model-parallel-size", "num-experts",
        "yaml-cfg use-checkpoint-args", "num_experts must be non None to use expert model parallelism",
        false},
    {Trainer::megatron, Asks::together, "fp16-lm-cross-entropy", "fp16", "yaml-cfg",
        "lm cross entropy in fp16 only support in fp16 mode"},
    {Trainer::megatron, Asks::together, "save", "save-interval", "yaml-cfg skip-train", "AssertionError",
        false},
    {Trainer::megatron, Asks::apart, "recompute-granularity=selective", "recompute-method", "",
        "recompute method is not yet supported for selective recomputing granularity"},
    {Trainer::megatron, Asks::apart, "recompute-activations", "recompute-method", "",
        "recompute method is not yet supported for selective recomputing granularity"},
    {Trainer::megatron, Asks::apart, "recompute-granularity=selective", "recompute-num-layers", "yaml-cfg",
        "recompute_num_layers must be None", false},
    {Trainer::megatron, Asks::together, "recompute-granularity=full", "recompute-method", "yaml-cfg",
        "recompute_method must be \"block\" or \"uniform\"", false},
    {Trainer::megatron, Asks::together, "distribute-saved-activations", "recompute-method", "",
        "for distributed recompute activations to work you need to use a recompute method"},
    {Trainer::megatron, Asks::together, "overlap-param-gather", "overlap-grad-reduce", "yaml-cfg",
        "Must use --overlap-param-gather with --overlap-grad-reduce", false},
    {Trainer::megatron, Asks::together, "tp-comm-overlap", "sequence-parallel", "yaml-cfg",
        "Tensor parallel communication/GEMM overlap can happen only when sequence parallelism is enabled",
        false},
    {Trainer::megatron, Asks::apart, "use-torch-fsdp2", "use-distributed-optimizer", "",
        "--use-torch-fsdp2 is not supported with MCore's distributed optimizer"},
    {Trainer::megatron, Asks::apart, "use-torch-fsdp2", "fp16", "",
        "--use-torch-fsdp2 not supported with fp16 yet"},
    {Trainer::megatron, Asks::apart, "fp4-format", "fp8-format", "",
        "--fp4-format and --fp8-format cannot be used simultaneously"},
    {Trainer::megatron, Asks::gone, "warmup", "lr-warmup-fraction", "",
        "--warmup argument is no longer valid, use --lr-warmup-fraction instead"},
    {Trainer::megatron, Asks::gone, "batch-size", "micro-batch-size", "",
        "--batch-size argument is no longer valid, use --micro-batch-size instead"},
    {Trainer::megatron, Asks::gone, "model-parallel-size", "tensor-model-parallel-size", "",
        "--model-parallel-size is no longer valid, use --tensor-model-parallel-size instead"},
    {Trainer::torchtitan, Asks::multiple, "world",
        "parallelism.data-parallel-replicate-degree parallelism.data-parallel-shard-degree parallelism.context-parallel-degree parallelism.tensor-parallel-degree parallelism.pipeline-parallel-degree",
        "comm.mode", "Invalid parallel dims"},
    {Trainer::torchtitan, Asks::exactly, "world",
        "parallelism.data-parallel-replicate-degree parallelism.data-parallel-shard-degree parallelism.context-parallel-degree parallelism.tensor-parallel-degree parallelism.pipeline-parallel-degree",
        "comm.mode", "Invalid parallel dims"},
};

}  // namespace stepzero::rules::launch::parallel_sizes
