// Finding rows: signatures read once, old homes and re-exports resolved, names that programs give to ranks.
#include "libraries/table/table.hpp"

#include "libraries/frameworks/kernels.hpp"
#include "libraries/table/names.hpp"
#include "libraries/torch/ops/distributions.hpp"
#include "libraries/torch/ops/products.hpp"
#include "libraries/torch/optim/autograd.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace stepzero::libraries {

namespace {

struct Prefix {
  std::string_view from, to;
};

// Homes that re-export another's names. The longest match wins.
constexpr std::array prefixes = {
    Prefix{"torch.distributed.distributed_c10d.", "torch.distributed."},
    Prefix{"torch.nn.parallel.distributed.", "torch.nn.parallel."},
    Prefix{"torch.cuda.amp.grad_scaler.", "torch.cuda.amp."},
    Prefix{"torch.cuda.amp.autocast_mode.", "torch.cuda.amp."},
    Prefix{"torch.distributed.fsdp.fully_sharded_data_parallel.", "torch.distributed.fsdp."},
    Prefix{"torch.nn.functional.", "torch.nn.functional."},
    Prefix{"torch.optim.adamw.", "torch.optim."},
    Prefix{"torch.optim.adam.", "torch.optim."},
    Prefix{"torch.optim.sgd.", "torch.optim."},
    Prefix{"torch.optim.adadelta.", "torch.optim."},
    Prefix{"torch.optim.adagrad.", "torch.optim."},
    Prefix{"torch.optim.adamax.", "torch.optim."},
    Prefix{"torch.optim.asgd.", "torch.optim."},
    Prefix{"torch.optim.lbfgs.", "torch.optim."},
    Prefix{"torch.optim.nadam.", "torch.optim."},
    Prefix{"torch.optim.optimizer.", "torch.optim."},
    Prefix{"torch.optim.radam.", "torch.optim."},
    Prefix{"torch.optim.rmsprop.", "torch.optim."},
    Prefix{"torch.optim.rprop.", "torch.optim."},
    Prefix{"torch.optim.sparse_adam.", "torch.optim."},
    Prefix{"torch.utils.data.dataset.", "torch.utils.data."},
    Prefix{"torch.utils.data.sampler.", "torch.utils.data."},
    Prefix{"torch.amp.autocast_mode.", "torch.amp."},
    Prefix{"torch.amp.grad_scaler.", "torch.amp."},
    Prefix{"torch.autograd.grad_mode.", "torch."},
    Prefix{"torch.nn.parallel.data_parallel.", "torch.nn.parallel."},
    Prefix{"functorch.", "torch.func."},
    Prefix{"torch.nn.utils.clip_grad.", "torch.nn.utils."},
    Prefix{"torch.nn.utils.convert_parameters.", "torch.nn.utils."},
    Prefix{"torch.nn.modules.linear.", "torch.nn."},
    Prefix{"torch.nn.modules.container.", "torch.nn."},
    Prefix{"torch.nn.modules.module.", "torch.nn."},
    Prefix{"torch.nn.modules.", "torch.nn."},
    Prefix{"torch.distributed.nn.functional.", "torch.distributed.nn.functional."},
    Prefix{"torch.distributed.nn.", "torch.distributed.nn.functional."},
    Prefix{"torch.distributed._tensor.", "torch.distributed.tensor."},
    Prefix{"torch.distributed._composable.fsdp.fully_shard.", "torch.distributed.fsdp."},
    Prefix{"torch.distributed._composable.fsdp.", "torch.distributed.fsdp."},
    Prefix{"torch.distributed.checkpoint.state_dict_saver.", "torch.distributed.checkpoint."},
    Prefix{"torch.distributed.checkpoint.state_dict_loader.", "torch.distributed.checkpoint."},
    Prefix{"deepspeed.comm.comm.", "torch.distributed."},
    Prefix{"deepspeed.comm.", "torch.distributed."},
    Prefix{"deepspeed.runtime.engine.", "deepspeed."},
    Prefix{"lightning.pytorch.", "pytorch_lightning."},
    Prefix{"pytorch_lightning.trainer.trainer.", "pytorch_lightning."},
    Prefix{"pytorch_lightning.utilities.rank_zero.", "pytorch_lightning.utilities."},
    Prefix{"lightning_fabric.utilities.rank_zero.", "pytorch_lightning.utilities."},
    Prefix{"lightning.fabric.utilities.rank_zero.", "pytorch_lightning.utilities."},
    Prefix{"lightning_utilities.core.rank_zero.", "pytorch_lightning.utilities."},
    Prefix{"lightning.fabric.", "lightning_fabric."},
    Prefix{"lightning.", "pytorch_lightning."},
    Prefix{"torchmetrics.aggregation.", "torchmetrics."},
    Prefix{"torchmetrics.audio.", "torchmetrics."},
    Prefix{"torchmetrics.classification.", "torchmetrics."},
    Prefix{"torchmetrics.clustering.", "torchmetrics."},
    Prefix{"torchmetrics.detection.", "torchmetrics."},
    Prefix{"torchmetrics.image.", "torchmetrics."},
    Prefix{"torchmetrics.nominal.", "torchmetrics."},
    Prefix{"torchmetrics.regression.", "torchmetrics."},
    Prefix{"torchmetrics.retrieval.", "torchmetrics."},
    Prefix{"torchmetrics.segmentation.", "torchmetrics."},
    Prefix{"torchmetrics.text.", "torchmetrics."},
    Prefix{"accelerate.accelerator.", "accelerate."},
    Prefix{"accelerate.state.", "accelerate."},
};

struct Alias {
  std::string_view from, to;
};
constexpr std::array aliases = {
    Alias{"torch.autocast", "torch.amp.autocast"},
    Alias{"torch.vmap", "torch.func.vmap"},
    Alias{"torch.nn.utils.stateless.functional_call", "torch.func.functional_call"},
    Alias{"torch.distributed.fsdp.FSDP", "torch.distributed.fsdp.FullyShardedDataParallel"},
    Alias{"torch.nn.DataParallel", "torch.nn.parallel.DataParallel"},
    Alias{"torch.distributed._all_gather_base", "torch.distributed.all_gather_into_tensor"},
    Alias{"torch.distributed._reduce_scatter_base", "torch.distributed.reduce_scatter_tensor"},
    Alias{"torch.distributed.tensor.init_device_mesh", "torch.distributed.device_mesh.init_device_mesh"},
    Alias{"torch.distributed.init_device_mesh", "torch.distributed.device_mesh.init_device_mesh"},
    Alias{"torch.distributed.tensor.DeviceMesh", "torch.distributed.device_mesh.DeviceMesh"},
    Alias{"torch.distributed.DeviceMesh", "torch.distributed.device_mesh.DeviceMesh"},
    Alias{"deepspeed.comm.init_distributed", "deepspeed.init_distributed"},
    Alias{"torch.distributed.nn.functional", "torch.distributed.nn.functional"},
    Alias{"lightning.pytorch", "pytorch_lightning"},
    Alias{"lightning.fabric", "lightning_fabric"},
    Alias{"lightning.Fabric", "lightning_fabric.Fabric"},
    Alias{"lightning_fabric.fabric.Fabric", "lightning_fabric.Fabric"},
    Alias{"torch.tensor.Tensor", "torch.Tensor"},
    Alias{"pytorch_lightning.trainer.Trainer", "pytorch_lightning.Trainer"},
    Alias{"typing.OrderedDict", "collections.OrderedDict"},
    Alias{"typing.Mapping", "collections.abc.Mapping"},
    Alias{"typing.Sequence", "collections.abc.Sequence"},
    Alias{"typing.MutableMapping", "collections.abc.MutableMapping"},
    Alias{"torch.autograd.function.Function", "torch.autograd.Function"},
    Alias{"torch.utils.tensorboard.writer.SummaryWriter", "torch.utils.tensorboard.SummaryWriter"},
    Alias{"tensorboardX.SummaryWriter", "torch.utils.tensorboard.SummaryWriter"},
    Alias{"torch.distributions.categorical.Categorical", "torch.distributions.Categorical"},
    Alias{"torch.distributions.normal.Normal", "torch.distributions.Normal"},
    Alias{"torch.distributions.bernoulli.Bernoulli", "torch.distributions.Bernoulli"},
    Alias{"torch.distributions.uniform.Uniform", "torch.distributions.Uniform"},
    Alias{"torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"},
    Alias{"torch.nn.parameter.Parameter", "torch.nn.Parameter"},
    Alias{"torch.nn.parameter.Buffer", "torch.nn.Buffer"},
    Alias{"typing_extensions.NamedTuple", "typing.NamedTuple"},
};

// Libraries whose names are never looked for among the files of the program. The first ones are Python's own.
constexpr std::array<std::string_view, 92> libraries = {
    "os", "sys", "math", "time", "random", "functools", "contextlib", "dataclasses", "typing", "abc", "collections", "itertools",
    "argparse", "logging", "enum", "copy", "json", "re", "pathlib", "datetime", "subprocess", "signal", "socket", "threading",
    "warnings", "builtins", "unittest", "shutil", "gc", "operator", "types", "inspect", "importlib", "pickle", "io", "string", "glob",
    "tempfile", "traceback", "uuid", "hashlib", "platform", "numbers", "statistics", "bisect", "heapq", "csv", "struct", "zipfile",
    "tarfile", "urllib", "multiprocessing", "concurrent", "asyncio", "queue", "weakref", "textwrap", "pprint", "decimal", "fractions",
    "configparser", "getpass", "ast", "__future__", "torch",
    // These may be missing.
    "numpy", "pytest", "accelerate", "deepspeed", "pytorch_lightning", "lightning", "lightning_fabric", "lightning_utilities",
    "torchmetrics", "tqdm", "einops", "grouped_gemm", "bitsandbytes", "lion_pytorch", "typing_extensions", "scipy", "PIL", "cv2",
    "sklearn", "tokenizers", "sentencepiece", "yaml", "omegaconf", "hydra", "functorch", "wandb", "tensorboardX",
};
constexpr std::size_t always_there_count = 65;

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
// numpy.random.seed, accelerate and transformers' set_seed, Lightning's seed_everything, and what programs call their own.
constexpr std::array<std::string_view, 8> seeding_names = {"seed", "set_seed", "seed_everything", "manual_seed_all", "set_random_seed", "setup_seed", "seed_all", "init_seeds"};

// Method names that only one library class has: a call of them tells what an unknown object is.
constexpr std::array method_names = {
    // Of what is called so: that alone could be another's.
    MethodName{"accelerator.wait_for_everyone", "accelerate.Accelerator.wait_for_everyone"},
    MethodName{"accelerator.gather", "accelerate.Accelerator.gather"},
    MethodName{"accelerator.gather_for_metrics", "accelerate.Accelerator.gather_for_metrics"},
    MethodName{"accelerator.reduce", "accelerate.Accelerator.reduce"},
    MethodName{"accelerator.pad_across_processes", "accelerate.Accelerator.pad_across_processes"},
    MethodName{"accelerator.main_process_first", "accelerate.Accelerator.main_process_first"},
    MethodName{"accelerator.local_main_process_first", "accelerate.Accelerator.local_main_process_first"},
    MethodName{"accelerator.check_trigger", "accelerate.Accelerator.check_trigger"},
    MethodName{"set_epoch", "torch.utils.data.distributed.DistributedSampler.set_epoch"},  // other samplers, loaders and sets take it as well
    MethodName{"zero_grad", "torch.optim.Optimizer.zero_grad"},  // modules have it as well, and it does the same
    MethodName{"backward", "torch.Tensor.backward"},
    MethodName{"state_dict", "torch.nn.Module.state_dict"},
    MethodName{"parameters", "torch.nn.Module.parameters"},
    MethodName{"load_state_dict", "torch.nn.Module.load_state_dict"},
    MethodName{"grad", "torch.Tensor.grad"},
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

// Of what has a shape, only tensors have these: arrays and data frames do not. `ndim` means the same of all of them.
constexpr std::string_view only_tensors_have[] = {
    "add_", "addcdiv", "addcmul", "addmm", "amax", "amin", "argwhere", "as_strided", "backward", "baddbmm", "bernoulli_", "bfloat16",
    "bmm", "bool", "ceil", "chunk", "clamp", "clamp_", "clamp_min", "copy_", "cos", "cpu", "cuda", "dim", "div_", "double",
    "element_size", "exp", "expand", "expand_as", "fill_", "flip", "float", "floor", "gather", "get_device", "grad_fn", "half",
    "index_add", "index_add_", "index_copy_", "index_fill_", "index_select", "is_contiguous", "is_cuda", "is_floating_point", "is_leaf",
    "isfinite", "kthvalue", "lerp", "log", "log1p", "log2", "log_softmax", "logical_and", "logical_not", "logical_or", "logsumexp",
    "long", "masked_fill", "masked_fill_", "masked_scatter", "masked_select", "matmul", "maximum", "minimum", "mm", "movedim", "mul_",
    "multinomial", "narrow", "ndim", "ndimension", "new", "new_empty", "new_full", "new_ones", "new_tensor", "new_zeros", "norm",
    "normal_", "numel", "permute", "pin_memory", "reciprocal", "register_hook", "relu", "relu_", "repeat_interleave", "requires_grad",
    "requires_grad_", "retain_grad", "rsqrt", "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "share_memory_",
    "sigmoid", "sign", "sin", "softmax", "split", "split_with_sizes", "sqrt", "squeeze_", "stride", "sub_", "tan", "tanh",
    "tensor_split", "topk", "tril", "tril_", "triu", "triu_", "type", "type_as", "unbind", "unflatten", "unfold", "uniform_",
    "unsqueeze_", "view_as", "zero_",
};

values::Constant constant(std::string_view text) {
  values::Constant made;
  if (text == "None") made.kind = values::Kind::none;
  else if (text == "True" || text == "False") {
    made.kind = values::Kind::boolean;
    made.integer = text == "True";
  } else if (text.size() >= 2 && text.front() == '\'') {
    made.kind = values::Kind::string;
    made.text = text.substr(1, text.size() - 2);
  } else if (text.find('.') != std::string_view::npos || text.find('e') != std::string_view::npos) {
    made.kind = values::Kind::real;
    made.real = std::strtod(std::string(text).c_str(), nullptr);
  } else if (std::from_chars(text.data(), text.data() + text.size(), made.integer).ec == std::errc{}) {
    made.kind = values::Kind::integer;
  }
  return made;
}

void read_signature(Row& row) {
  std::string_view rest = row.signature;
  bool by_place = true;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    if (part.starts_with("**")) row.takes_options = true;
    else if (part.starts_with("*")) {
      row.takes_rest = part.size() > 1;
      by_place = false;
    } else if (!part.empty()) {
      const auto equals = part.find('=');
      row.parameters.emplace_back(part.substr(0, equals));
      row.positional += by_place;
      row.defaults.push_back(equals == std::string_view::npos ? values::Constant{} : constant(part.substr(equals + 1)));
    }
  }
}

} // namespace

Row row(std::string_view path, RowKind kind, std::string_view signature, Value (*run)(Call&), std::string_view base, Operation operation) {
  Row made;
  made.path = path;
  made.kind = kind;
  made.signature = signature;
  made.run = run;
  made.base = base;
  made.operation = operation;
  return made;
}

std::vector<Row> rows_of_families(std::span<const Family> families) {
  std::vector<Row> rows;
  for (const Family& family : families)
    for (Row& made : family.rows()) {
      if (made.source.empty()) made.source = family.source;
      made.pure = made.pure || family.pure;
      made.one_device = made.one_device || (family.one_device && made.op);
      rows.push_back(std::move(made));
    }
  return rows;
}

Table::Table() {
  constexpr std::string_view torch = "PyTorch documentation of torch and torch.Tensor", python = "Python's library reference";
  constexpr Family families[] = {
      {nn_rows, {}},  // each of its families has its own
      {pointwise_rows, torch, false, true}, {creation_rows, torch}, {grid_rows, torch},
      {reduction_rows, torch}, {masked_rows, "PyTorch documentation of torch.masked"}, {sampling_rows, torch, false, true},
      {sparse_rows, "PyTorch documentation of torch.sparse", false, true},
      {transform_rows, "PyTorch documentation of torch.func and torch.nn.utils"}, {sorting_rows, torch}, {running_rows, torch}, {statistics_rows, torch},
      {product_rows, torch, false, true}, {contraction_rows, torch, false, true},
      {reshaping_rows, torch}, {transposing_rows, torch}, {expanding_rows, torch}, {arrangement_rows, torch}, {join_rows, torch, false, true},
      {indexing_rows, torch}, {gathering_rows, torch}, {size_rows, torch},
      {linalg_rows, "PyTorch documentation of torch.linalg"},
      {fft_rows, "PyTorch documentation of torch.fft and torch.signal"},
      {property_rows, "PyTorch documentation of torch, torch.Tensor and torch.nn.init"},
      {einops_rows, "einops documentation"},
      {grouped_gemm_rows, "source of grouped_gemm"},
      {kernel_rows, "sources of flash_attn and xformers"},
      {configuration_rows, "documentation of transformers"},
      {mapping_rows, python, true},
      {limit_rows, torch},
      {package_rows, "sources of transformers and huggingface_hub"},
      {python_rows, "Python and torchrun documentation"},
      // What fails says so itself, or answers with an unknown.
      {python_number_rows, python, true}, {python_iteration_rows, python, true}, {python_object_rows, python, true}, {python_tool_rows, python, true}, {expression_rows, python, true}, {generator_rows, python, true}, {path_rows, python, true},
      {array_rows, "NumPy reference"},
      {module_rows, "PyTorch documentation of torch.nn.Module"},
      {distribution_rows, "PyTorch documentation of torch.distributions"},
      {autograd_rows, "PyTorch documentation of torch.autograd and torch.utils.checkpoint"},
      {container_rows, "PyTorch documentation of torch.nn.Sequential, ModuleList and ModuleDict"},
      {training_rows, "PyTorch documentation of torch.optim, torch.amp and torch.utils.data"},
      {data_file_rows, "documentation of Python, PyYAML and OmegaConf"},
      {hydra_rows, "Hydra 1.3"},
      {file_rows, "documentation of PyTorch, Python, scikit-learn and tokenizers"},
      {distributed_rows, "PyTorch documentation of torch.distributed"},
      {parallel_rows, "PyTorch documentation of torch.nn.parallel, torch.distributed.fsdp, .optim and .checkpoint"},
      {wrapped_name_rows, "the attributes of torch.nn.parallel's wrappers in PyTorch 2.13"},
      {framework_rows, "sources of accelerate, DeepSpeed, Lightning, torchmetrics, transformers"},
  };
  rows_ = rows_of_families(families);
  for (Row& made : rows_) {
    read_signature(made);
    by_path_.emplace(made.path, &made);  // no path comes twice
  }
  for (Row& made : rows_)
    if (!made.base.empty()) made.base_row = find(made.base);
  give_roles(rows_);
  share_roles(rows_);
}

const interpreter::TypeNames& Table::types() const {
  static constexpr interpreter::TypeNames names{"torch.", "torch.nn.", "torch.nn.Module", "forward", "torch.Tensor", "torch.nn.Parameter", "torch.Size", "torch.dtype", "torch.device", "torch.context"};
  return names;
}

// Where PyTorch's layers are written. A program that asks for them step by step, `torch.nn.modules.conv.Conv2d`, comes to the class by way of
// "torch.nn.conv".
constexpr std::array<std::string_view, 22> homes_of_layers = {
    "activation", "adaptive", "batchnorm", "channelshuffle", "container", "conv", "distance", "dropout", "flatten", "fold", "instancenorm",
    "linear", "loss", "module", "normalization", "padding", "pixelshuffle", "pooling", "rnn", "sparse", "transformer", "upsampling",
};

std::string Table::canonical(std::string_view path) const {
  if (constexpr std::string_view layers = "torch.nn."; path.starts_with(layers)) {
    const std::string_view tail = path.substr(layers.size());
    const auto dot = tail.find('.');
    if (dot != std::string_view::npos && std::find(homes_of_layers.begin(), homes_of_layers.end(), tail.substr(0, dot)) != homes_of_layers.end()) return std::string(layers) + std::string(tail.substr(dot + 1));
  }
  for (const Alias& alias : aliases)
    if (path == alias.from) return std::string(alias.to);
  for (const Prefix& prefix : prefixes)
    if (path.starts_with(prefix.from) && path.size() > prefix.from.size()) {
      const std::string_view tail = path.substr(prefix.from.size());
      // torch.nn.modules.linear.Linear: what stands between the package and the class is a home, too. A home alone keeps its name, of which
      // the class's is asked next.
      const auto dot = tail.rfind('.');
      const bool in_nn = prefix.from == "torch.nn.modules.";
      if (in_nn && dot == std::string_view::npos && tail.front() >= 'a' && tail.front() <= 'z') return std::string(path);
      std::string moved = std::string(prefix.to) + std::string(in_nn && dot != std::string_view::npos ? tail.substr(dot + 1) : tail);
      for (const Alias& alias : aliases)
        if (moved == alias.from) return std::string(alias.to);
      return moved;
    }
  return std::string(path);
}

const Row* Table::find(std::string_view path) const {
  const auto it = by_path_.find(path);
  return it == by_path_.end() ? nullptr : it->second;
}

bool Table::knows(std::string_view top_level) const {
  for (const std::string_view name : libraries)
    if (name == top_level) return true;
  return false;
}

// Libraries of models: ordinary PyTorch code, and small enough to run what a program uses of them.
bool Table::reads(std::string_view top_level) const {
  constexpr std::string_view read[] = {"torchvision", "timm", "torchaudio", "vit_pytorch", "x_transformers", "efficientnet_pytorch",
                                       "segmentation_models_pytorch", "fvcore", "rotary_embedding_torch", "transformers"};
  return std::find(std::begin(read), std::end(read), top_level) != std::end(read);
}

bool Table::always_there(std::string_view top_level) const {
  for (std::size_t i = 0; i < always_there_count; ++i)
    if (libraries[i] == top_level) return true;
  return false;
}

std::vector<syntax::Name> Table::members(std::string_view module_path) const {
  std::vector<syntax::Name> names;
  const std::string prefix = std::string(module_path) + ".";
  for (const Row& row : rows_)
    if (row.path.starts_with(prefix) && row.path.find('.', prefix.size()) == std::string_view::npos)
      names.emplace_back(row.path.substr(prefix.size()));
  return names;
}

std::optional<interpreter::Presumption> Table::presume(std::string_view name) const {
  while (name.starts_with('_')) name.remove_prefix(1);
  for (const RankName& known : rank_names)
    if (known.name == name) return known.meaning;
  if (name == "scaler" || name == "grad_scaler") return interpreter::Presumption{Role::none, false, "torch.amp.GradScaler"};
  if (name == "optimizer" || name == "optim" || name == "opt" || name.ends_with("_optimizer") || name.ends_with("_optim") ||
      name.starts_with("optimizer_") || name.starts_with("optim_") || name.starts_with("opt_"))
    return interpreter::Presumption{Role::none, false, "torch.optim.Optimizer"};
  return std::nullopt;
}

bool Table::seeds(std::string_view function) const { return std::find(seeding_names.begin(), seeding_names.end(), function) != seeding_names.end(); }

bool Table::exhausts(std::string_view text) const { return text.find("out of memory") != std::string_view::npos; }

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

const Table& table() {
  static const Table one;
  return one;
}

} // namespace stepzero::libraries
