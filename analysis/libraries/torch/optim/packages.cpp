// Optimizers of other packages. All derive from torch.optim.Optimizer and are stepped and cleared as those of
// PyTorch; versions differ in their settings, of which nothing is said but how the parameters are called.
#include "libraries/torch/optim/optimizers.hpp"

namespace stepzero::libraries {

namespace {

struct Package {
  std::string_view read_from;  // whose source says so
  std::vector<std::string_view> modules;
  std::vector<std::string_view> classes;
  std::string_view signature = "params, *more, **options";
};

constexpr std::string_view of_torchao_256 =
    "params, lr=0.001, betas=None, eps=1e-08, weight_decay=0, amsgrad=False, *, block_size=256, bf16_stochastic_round=False";
constexpr std::string_view of_torchao_128 =
    "params, lr=0.001, betas=None, eps=1e-08, weight_decay=0, amsgrad=False, *, block_size=128, bf16_stochastic_round=False";

constexpr std::string_view has_amsgrad = "params, *more, amsgrad=False, **options";

const std::vector<Package>& packages() {
  static const std::vector<Package> list = {
      // AdamW is one of earlier releases.
      {"transformers 5.23", {"transformers", "transformers.optimization"}, {"AdamW"}},
      {"transformers 5.23", {"transformers", "transformers.optimization"}, {"Adafactor"},
          "params, *more, beta1=None, **options"},
      {"pytorch_transformers 1.2", {"pytorch_transformers"}, {"AdamW"}},
      {"pytorch_pretrained_bert 0.6", {"pytorch_pretrained_bert", "pytorch_pretrained_bert.optimization"},
          {"BertAdam"}},
      {"apex, main of 2026", {"apex.optimizers"},
          {"FusedAdagrad", "FusedLAMB", "FusedMixedPrecisionLamb", "FusedNovoGrad"}},
      {"apex, main of 2026", {"apex.optimizers"}, {"FusedAdam"},
          "params, *more, master_weights=False, **options"},
      {"apex, main of 2026", {"apex.optimizers"}, {"FusedSGD"}, "params, *more, momentum=0, **options"},
      {"deepspeed 0.19", {"deepspeed.ops.adam", "deepspeed.ops.adam.fused_adam"}, {"FusedAdam"}},
      {"deepspeed 0.19", {"deepspeed.ops.lamb"}, {"FusedLamb"}},
      {"deepspeed 0.19", {"deepspeed.ops.lion"}, {"FusedLion"}},
      {"deepspeed 0.19", {"deepspeed.ops.adam", "deepspeed.ops.adam.cpu_adam"}, {"DeepSpeedCPUAdam"},
          "model_params, *more, **options"},
      {"deepspeed 0.19", {"deepspeed.ops.lion"}, {"DeepSpeedCPULion"}, "model_params, *more, **options"},
      {"deepspeed 0.19", {"deepspeed.ops.adagrad"}, {"DeepSpeedCPUAdagrad"},
          "model_params, *more, **options"},
      {"torch_optimizer 0.3", {"torch_optimizer"},
          {"A2GradExp", "A2GradInc", "A2GradUni", "AccSGD", "AdaMod", "Adafactor", "Adahessian", "AdamP",
              "AggMo", "Apollo", "DiffGrad", "Lamb", "Lion", "MADGRAD", "PID", "QHAdam", "QHM", "RAdam",
              "Ranger", "RangerQH", "RangerVA", "SGDP", "SWATS", "Shampoo", "Yogi"}},
      {"torch_optimizer 0.3", {"torch_optimizer"}, {"AdaBelief", "NovoGrad"}, has_amsgrad},
      {"torch_optimizer 0.3", {"torch_optimizer"}, {"AdaBound"}, "params, *more, amsbound=False, **options"},
      {"torch_optimizer 0.3", {"torch_optimizer"}, {"LARS", "SGDW"},
          "params, lr=0.001, momentum=0, *more, **options"},
      {"torchao 0.17", {"torchao.optim"}, {"Adam8bit", "AdamW8bit", "AdamFp8", "AdamWFp8"}, of_torchao_256},
      {"torchao 0.17", {"torchao.optim"}, {"Adam4bit", "AdamW4bit"}, of_torchao_128},
      {"pytorch_ranger 0.1", {"pytorch_ranger"}, {"Ranger", "RangerQH", "RangerVA"}},
      {"lion_pytorch 0.2", {"lion_pytorch"}, {"Lion"}},
      {"adabelief_pytorch 0.2", {"adabelief_pytorch"}, {"AdaBelief"}, has_amsgrad},
      {"adamp 0.3", {"adamp"}, {"AdamP", "SGDP"}},
      {"madgrad 1.3", {"madgrad"}, {"MADGRAD", "MirrorMADGRAD"},
          "params, lr=0.01, momentum=0.9, *more, **options"},
      {"schedulefree 1.4", {"schedulefree"}, {"AdamWScheduleFree", "RAdamScheduleFree", "SGDScheduleFree"}},
      {"prodigyopt 1.1", {"prodigyopt"}, {"Prodigy"}},
  };
  return list;
}

// As bitsandbytes 0.50 names them: each kind with its states as `optim_bits` says, in 8 and in 32 bits, in
// memory of the GPU and, of some, paged.
void add_bitsandbytes(std::vector<PackageOptimizer>& found) {
  const auto add = [&](std::string_view paged, std::string_view kind) {
    for (const std::string_view bits : {"", "8bit", "32bit"})
      found.push_back({"bitsandbytes.optim." + std::string(paged) + std::string(kind) + std::string(bits),
          "params, *more, optim_bits=32, **options"});
  };
  for (const std::string_view kind :
      {"Adam", "AdamW", "Lion", "AdEMAMix", "SGD", "RMSprop", "Adagrad", "LAMB", "LARS"})
    add("", kind);
  for (const std::string_view kind : {"Adam", "AdamW", "Lion", "AdEMAMix"}) add("Paged", kind);
}

}  // namespace

const std::vector<PackageOptimizer>& package_optimizers() {
  static const std::vector<PackageOptimizer> all = [] {
    std::vector<PackageOptimizer> found;
    for (const Package& package : packages())
      for (const std::string_view module : package.modules)
        for (const std::string_view name : package.classes)
          found.push_back({std::string(module) + "." + std::string(name), package.signature});
    add_bitsandbytes(found);
    return found;
  }();
  return all;
}

}  // namespace stepzero::libraries
