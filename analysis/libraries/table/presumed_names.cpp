// What names alone say, where nothing else is known: names of ranks, of optimizers, of functions that seed,
// and methods that only one class of a library has. What is presumed so may be something else, and whoever
// asks leaves that open.
#include "libraries/table/table.hpp"

#include <algorithm>
#include <array>

namespace stepzero::libraries {

namespace {

struct RankName {
  std::string_view name;
  interpreter::Presumption meaning;
};
using symbolic::Role;
// What programs call the rank, in parameters, attributes and configuration fields.
constexpr std::array rank_names = {
    RankName{"rank", {Role::rank, false}},
    RankName{"global_rank", {Role::rank, false}},
    RankName{"world_rank", {Role::rank, false}},
    RankName{"dist_rank", {Role::rank, false}},
    RankName{"ddp_rank", {Role::rank, false}},
    RankName{"local_rank", {Role::local_rank, false}},
    RankName{"ddp_local_rank", {Role::local_rank, false}},
    RankName{"node_rank", {Role::node_rank, false}},
    RankName{"world_size", {Role::world_size, false}},
    RankName{"ddp_world_size", {Role::world_size, false}},
    RankName{"is_main_process", {Role::none, true}},
    RankName{"is_main", {Role::none, true}},
    RankName{"is_main_rank", {Role::none, true}},
    RankName{"is_master", {Role::none, true}},
    RankName{"is_master_process", {Role::none, true}},
    RankName{"master_process", {Role::none, true}},
    RankName{"main_process", {Role::none, true}},
    RankName{"is_rank_zero", {Role::none, true}},
    RankName{"is_rank_0", {Role::none, true}},
    RankName{"is_rank0", {Role::none, true}},
    RankName{"is_global_zero", {Role::none, true}},
    RankName{"is_chief", {Role::none, true}},
    RankName{"is_world_process_zero", {Role::none, true}},
    RankName{"process_index", {Role::rank, false}},
    RankName{"local_process_index", {Role::local_rank, false}},
    // The parts of a pipeline that a process runs.
    RankName{"stage_id", {Role::none, false, {}, true}},
    RankName{"stage_ids", {Role::none, false, {}, true}},
    RankName{"stage_idx", {Role::none, false, {}, true}},
    RankName{"stage_index", {Role::none, false, {}, true}},
    RankName{"pipeline_stage", {Role::none, false, {}, true}},
    RankName{"pp_stage", {Role::none, false, {}, true}},
};

struct MethodName {
  std::string_view name, path;
};
// numpy.random.seed, accelerate and transformers' set_seed, Lightning's seed_everything, and what programs
// call their own.
constexpr std::array<std::string_view, 8> seeding_names = {"seed", "set_seed", "seed_everything",
    "manual_seed_all", "set_random_seed", "setup_seed", "seed_all", "init_seeds"};

// Method names that only one library class has: a call of them tells what an unknown object is.
constexpr std::array method_names = {
    // Of what is called so: that alone could be another's.
    MethodName{"accelerator.wait_for_everyone", "accelerate.Accelerator.wait_for_everyone"},
    MethodName{"accelerator.gather", "accelerate.Accelerator.gather"},
    MethodName{"accelerator.gather_for_metrics", "accelerate.Accelerator.gather_for_metrics"},
    MethodName{"accelerator.pad_across_processes", "accelerate.Accelerator.pad_across_processes"},
    MethodName{"accelerator.reduce", "accelerate.Accelerator.reduce"},
    MethodName{"fabric.barrier", "lightning_fabric.Fabric.barrier"},
    MethodName{"fabric.all_gather", "lightning_fabric.Fabric.all_gather"},
    MethodName{"fabric.all_reduce", "lightning_fabric.Fabric.all_reduce"},
    MethodName{"fabric.broadcast", "lightning_fabric.Fabric.broadcast"},
    MethodName{"strategy.barrier", "pytorch_lightning.Strategy.barrier"},
    MethodName{"strategy.broadcast", "pytorch_lightning.Strategy.broadcast"},
    MethodName{"acc.wait_for_everyone", "accelerate.Accelerator.wait_for_everyone"},
    MethodName{"acc.gather_for_metrics", "accelerate.Accelerator.gather_for_metrics"},
    MethodName{"accel.wait_for_everyone", "accelerate.Accelerator.wait_for_everyone"},
    MethodName{"accel.gather_for_metrics", "accelerate.Accelerator.gather_for_metrics"},
    MethodName{"accelerator.main_process_first", "accelerate.Accelerator.main_process_first"},
    MethodName{"accelerator.local_main_process_first", "accelerate.Accelerator.local_main_process_first"},
    MethodName{"accelerator.check_trigger", "accelerate.Accelerator.check_trigger"},
    MethodName{"set_epoch",
        "torch.utils.data.distributed.DistributedSampler.set_epoch"},  // other samplers, loaders and sets
                                                                       // take it as well
    MethodName{
        "zero_grad", "torch.optim.Optimizer.zero_grad"},  // modules have it as well, and it does the same
    MethodName{"backward", "torch.Tensor.backward"},
    MethodName{"state_dict", "torch.nn.Module.state_dict"},
    MethodName{"parameters", "torch.nn.Module.parameters"},
    MethodName{"named_parameters", "torch.nn.Module.named_parameters"},
    MethodName{"load_state_dict", "torch.nn.Module.load_state_dict"},
    MethodName{"grad", "torch.Tensor.grad"},
    MethodName{"is_cuda", "torch.Tensor.is_cuda"},
    MethodName{"item", "torch.Tensor.item"},
    MethodName{"wait", "torch.distributed.Work.wait"},
    MethodName{"full_tensor", "torch.Tensor.full_tensor"},
    MethodName{"shape", "torch.Tensor.shape"},
    MethodName{"view", "torch.Tensor.view"},
    MethodName{"unsqueeze", "torch.Tensor.unsqueeze"},
    MethodName{"permute", "torch.Tensor.permute"},
    MethodName{"contiguous", "torch.Tensor.contiguous"},
    MethodName{"masked_fill", "torch.Tensor.masked_fill"},
    MethodName{"size", "torch.Tensor.size"},
    MethodName{"detach", "torch.Tensor.detach"},
    MethodName{"bmm", "torch.Tensor.bmm"},
    MethodName{"softmax", "torch.Tensor.softmax"},
    MethodName{"mT", "torch.Tensor.mT"},
    MethodName{"new_zeros", "torch.Tensor.new_zeros"},
    MethodName{"new_ones", "torch.Tensor.new_ones"},
    MethodName{"new_full", "torch.Tensor.new_full"},
    MethodName{"new_empty", "torch.Tensor.new_empty"},
    MethodName{"new_tensor", "torch.Tensor.new_tensor"},
    MethodName{"type_as", "torch.Tensor.type_as"},
    MethodName{"view_as", "torch.Tensor.view_as"},
    MethodName{"expand_as", "torch.Tensor.expand_as"},
    MethodName{"index_select", "torch.Tensor.index_select"},
    MethodName{"masked_fill_", "torch.Tensor.masked_fill_"},
    MethodName{"masked_select", "torch.Tensor.masked_select"},
    MethodName{"repeat_interleave", "torch.Tensor.repeat_interleave"},
    MethodName{"log_softmax", "torch.Tensor.log_softmax"},
    MethodName{"logsumexp", "torch.Tensor.logsumexp"},
    MethodName{"addmm", "torch.Tensor.addmm"},
    MethodName{"baddbmm", "torch.Tensor.baddbmm"},
    MethodName{"triu", "torch.Tensor.triu"},
    MethodName{"tril", "torch.Tensor.tril"},
    MethodName{"numel", "torch.Tensor.numel"},
    MethodName{"sigmoid", "torch.Tensor.sigmoid"},
    MethodName{"relu", "torch.Tensor.relu"},
    MethodName{"clamp", "torch.Tensor.clamp"},
    MethodName{"clamp_", "torch.Tensor.clamp_"},
    MethodName{"unsqueeze_", "torch.Tensor.unsqueeze_"},
    MethodName{"detach_", "torch.Tensor.detach_"},
    MethodName{"zero_", "torch.Tensor.zero_"},
    MethodName{"mul_", "torch.Tensor.mul_"},
    MethodName{"add_", "torch.Tensor.add_"},
    MethodName{"div_", "torch.Tensor.div_"},
    MethodName{"normal_", "torch.Tensor.normal_"},
    MethodName{"uniform_", "torch.Tensor.uniform_"},
    MethodName{"is_floating_point", "torch.Tensor.is_floating_point"},
    MethodName{"element_size", "torch.Tensor.element_size"},
    MethodName{"zero_grad", "torch.optim.Optimizer.zero_grad"},
    MethodName{"add_histogram", "torch.utils.tensorboard.SummaryWriter.add_histogram"},
    MethodName{"add_scalar", "torch.utils.tensorboard.SummaryWriter.add_scalar"},
    MethodName{"add_scalars", "torch.utils.tensorboard.SummaryWriter.add_scalars"},
    MethodName{"unscale_", "torch.amp.GradScaler.unscale_"},
    // With a keyword that only its method takes: NumPy's arrays say `axis` and `keepdims`.
    MethodName{"flatten start_dim", "torch.Tensor.flatten"},
    MethodName{"sum dim", "torch.Tensor.sum"},
    MethodName{"mean dim", "torch.Tensor.mean"},
    MethodName{"std dim", "torch.Tensor.std"},
    MethodName{"var dim", "torch.Tensor.var"},
    MethodName{"max dim", "torch.Tensor.max"},
    MethodName{"min dim", "torch.Tensor.min"},
    MethodName{"argmax dim", "torch.Tensor.argmax"},
    MethodName{"argmin dim", "torch.Tensor.argmin"},
    MethodName{"prod dim", "torch.Tensor.prod"},
    MethodName{"cumsum dim", "torch.Tensor.cumsum"},
    MethodName{"norm dim", "torch.Tensor.norm"},
    MethodName{"all dim", "torch.Tensor.all"},
    MethodName{"any dim", "torch.Tensor.any"},
    MethodName{"squeeze dim", "torch.Tensor.squeeze"},
    MethodName{"unflatten dim", "torch.Tensor.unflatten"},
    MethodName{"topk dim", "torch.Tensor.topk"},
    MethodName{"chunk dim", "torch.Tensor.chunk"},
    MethodName{"split dim", "torch.Tensor.split"},
    MethodName{"sort dim", "torch.Tensor.sort"},
    MethodName{"median dim", "torch.Tensor.median"},
    MethodName{"amax dim", "torch.Tensor.amax"},
    MethodName{"amin dim", "torch.Tensor.amin"},
    MethodName{"sum keepdim", "torch.Tensor.sum"},
    MethodName{"mean keepdim", "torch.Tensor.mean"},
    MethodName{"std keepdim", "torch.Tensor.std"},
    MethodName{"var keepdim", "torch.Tensor.var"},
    // With so many numbers, which arrays do not take, or only where they have more than two dimensions.
    MethodName{"flatten(1)", "torch.Tensor.flatten"},
    MethodName{"flatten(2)", "torch.Tensor.flatten"},
    MethodName{"repeat(3)", "torch.Tensor.repeat"},
    MethodName{"repeat(4)", "torch.Tensor.repeat"},
    MethodName{"repeat(5)", "torch.Tensor.repeat"},
    MethodName{"expand(2)", "torch.Tensor.expand"},
    MethodName{"expand(3)", "torch.Tensor.expand"},
    MethodName{"expand(4)", "torch.Tensor.expand"},
    MethodName{"expand(5)", "torch.Tensor.expand"},
    MethodName{"transpose(2) beyond matrices", "torch.Tensor.transpose"},
    // Of tensors and of arrays, with the same shape: where one of them is known to be there.
    MethodName{"both reshape", "torch.Tensor.reshape"},
    MethodName{"both sum", "torch.Tensor.sum"},
    MethodName{"both mean", "torch.Tensor.mean"},
    MethodName{"both squeeze", "torch.Tensor.squeeze"},
    MethodName{"both swapaxes", "torch.Tensor.swapaxes"},
    MethodName{"flatten end_dim", "torch.Tensor.flatten"},
    MethodName{"all keepdim", "torch.Tensor.all"},
    MethodName{"any keepdim", "torch.Tensor.any"},
    MethodName{"argmax keepdim", "torch.Tensor.argmax"},
    MethodName{"argmin keepdim", "torch.Tensor.argmin"},
    MethodName{"amax keepdim", "torch.Tensor.amax"},
    MethodName{"amin keepdim", "torch.Tensor.amin"},
    MethodName{"logsumexp keepdim", "torch.Tensor.logsumexp"},
    MethodName{"max keepdim", "torch.Tensor.max"},
    MethodName{"mean keepdim", "torch.Tensor.mean"},
    MethodName{"median keepdim", "torch.Tensor.median"},
    MethodName{"min keepdim", "torch.Tensor.min"},
    MethodName{"norm keepdim", "torch.Tensor.norm"},
    MethodName{"prod keepdim", "torch.Tensor.prod"},
    MethodName{"std keepdim", "torch.Tensor.std"},
    MethodName{"sum keepdim", "torch.Tensor.sum"},
    MethodName{"var keepdim", "torch.Tensor.var"},
    MethodName{"assertRaises", "unittest.TestCase.assertRaises"},
    MethodName{"assertRaisesRegex", "unittest.TestCase.assertRaisesRegex"},
};

// Of what has a shape, only tensors have these: arrays and data frames do not. `ndim` means the same of all
// of them.
constexpr std::string_view only_tensors_have[] = {
    "add_",
    "addcdiv",
    "addcmul",
    "addmm",
    "amax",
    "amin",
    "argwhere",
    "as_strided",
    "backward",
    "baddbmm",
    "bernoulli_",
    "bfloat16",
    "bmm",
    "bool",
    "ceil",
    "chunk",
    "clamp",
    "clamp_",
    "clamp_min",
    "copy_",
    "cos",
    "cpu",
    "cuda",
    "dim",
    "div_",
    "double",
    "element_size",
    "exp",
    "expand",
    "expand_as",
    "fill_",
    "flip",
    "float",
    "floor",
    "gather",
    "get_device",
    "grad_fn",
    "half",
    "index_add",
    "index_add_",
    "index_copy_",
    "index_fill_",
    "index_select",
    "is_contiguous",
    "is_cuda",
    "is_floating_point",
    "is_leaf",
    "isfinite",
    "kthvalue",
    "lerp",
    "log",
    "log1p",
    "log2",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logsumexp",
    "long",
    "masked_fill",
    "masked_fill_",
    "masked_scatter",
    "masked_select",
    "matmul",
    "maximum",
    "minimum",
    "mm",
    "movedim",
    "mul_",
    "multinomial",
    "narrow",
    "ndim",
    "ndimension",
    "new",
    "new_empty",
    "new_full",
    "new_ones",
    "new_tensor",
    "new_zeros",
    "norm",
    "normal_",
    "numel",
    "permute",
    "pin_memory",
    "reciprocal",
    "register_hook",
    "relu",
    "relu_",
    "repeat_interleave",
    "requires_grad",
    "requires_grad_",
    "retain_grad",
    "rsqrt",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "scatter_reduce",
    "share_memory_",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "split",
    "split_with_sizes",
    "sqrt",
    "squeeze_",
    "stride",
    "sub_",
    "tan",
    "tanh",
    "tensor_split",
    "topk",
    "tril",
    "tril_",
    "triu",
    "triu_",
    "type",
    "type_as",
    "unbind",
    "unflatten",
    "unfold",
    "uniform_",
    "unsqueeze_",
    "view_as",
    "zero_",
};

}  // namespace

std::optional<interpreter::Presumption> Table::presume(std::string_view name) const {
  while (name.starts_with('_')) name.remove_prefix(1);
  // What is called: `get_rank()`, `is_main_process()`. What it is called on says more of other objects.
  const bool is_call = name.ends_with("()");
  if (is_call) {
    name.remove_suffix(2);
    if (name.starts_with("get_")) name.remove_prefix(4);
  }
  for (const RankName& known : rank_names)
    if (known.name == name) return known.meaning;
  if (is_call) return std::nullopt;
  if (name == "scaler" || name == "grad_scaler")
    return interpreter::Presumption{Role::none, false, "torch.amp.GradScaler"};
  // `scheduler_inner_optimizer` is the scheduler of one.
  const bool is_scheduler = name.find("sched") != std::string_view::npos;
  if (is_scheduler) return std::nullopt;
  if (name == "optimizer" || name == "optim" || name == "opt" || name.ends_with("_optimizer") ||
      name.ends_with("_optim") || name.starts_with("optimizer_") || name.starts_with("optim_") ||
      name.starts_with("opt_"))
    return interpreter::Presumption{Role::none, false, "torch.optim.Optimizer"};
  return std::nullopt;
}

bool Table::seeds(std::string_view function) const {
  return std::find(seeding_names.begin(), seeding_names.end(), function) != seeding_names.end();
}

std::string_view Table::presume_method(std::string_view name) const {
  for (const MethodName& known : method_names)
    if (known.name == name) return known.path;
  return {};
}

bool Table::only_of_tensors(std::string_view method) const {
  for (const std::string_view known : only_tensors_have)
    if (known == method) return true;
  return false;
}

}  // namespace stepzero::libraries
