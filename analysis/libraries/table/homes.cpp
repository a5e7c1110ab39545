// One name for each thing: old homes and re-exports of libraries, resolved to the canonical path that rows
// have.
#include "libraries/table/table.hpp"

#include <algorithm>
#include <array>

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
    Prefix{"torch.autograd.anomaly_mode.", "torch.autograd."},
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
    Prefix{"nanotron.distributed.", "torch.distributed."},
    Prefix{"mmengine.dist.dist.", "mmengine.dist."},
    Prefix{"mmengine.dist.utils.", "mmengine.dist."},
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
    Prefix{"torchvision.transforms.transforms.", "torchvision.transforms."},
    Prefix{"torchvision.transforms.autoaugment.", "torchvision.transforms."},
    Prefix{"torchvision.transforms.v2.", "torchvision.transforms."},
    Prefix{"torchvision.datasets.mnist.", "torchvision.datasets."},
    Prefix{"torchvision.datasets.usps.", "torchvision.datasets."},
    Prefix{"torchvision.datasets.cifar.", "torchvision.datasets."},
    Prefix{"torchvision.datasets.svhn.", "torchvision.datasets."},
    Prefix{"torchvision.datasets.stl10.", "torchvision.datasets."},
    Prefix{"torchvision.datasets.eurosat.", "torchvision.datasets."},
    Prefix{"torchvision.datasets.folder.", "torchvision.datasets."},
    Prefix{"torchvision.datasets.imagenet.", "torchvision.datasets."},
    Prefix{"torchvision.datasets.flowers102.", "torchvision.datasets."},
    Prefix{"torchvision.datasets.food101.", "torchvision.datasets."},
    Prefix{"torchvision.datasets.fakedata.", "torchvision.datasets."},
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
    Alias{"nanotron.distributed", "torch.distributed"},
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

// Where PyTorch's layers are written. A program that asks for them step by step,
// `torch.nn.modules.conv.Conv2d`, comes to the class by way of "torch.nn.conv".
constexpr std::array<std::string_view, 22> homes_of_layers = {
    "activation",
    "adaptive",
    "batchnorm",
    "channelshuffle",
    "container",
    "conv",
    "distance",
    "dropout",
    "flatten",
    "fold",
    "instancenorm",
    "linear",
    "loss",
    "module",
    "normalization",
    "padding",
    "pixelshuffle",
    "pooling",
    "rnn",
    "sparse",
    "transformer",
    "upsampling",
};

}  // namespace

std::string Table::canonical(std::string_view path) const {
  if (constexpr std::string_view layers = "torch.nn."; path.starts_with(layers)) {
    const std::string_view tail = path.substr(layers.size());
    const auto dot = tail.find('.');
    if (dot != std::string_view::npos &&
        std::find(homes_of_layers.begin(), homes_of_layers.end(), tail.substr(0, dot)) !=
            homes_of_layers.end())
      return std::string(layers) + std::string(tail.substr(dot + 1));
  }
  for (const Alias& alias : aliases)
    if (path == alias.from) return std::string(alias.to);
  for (const Prefix& prefix : prefixes)
    if (path.starts_with(prefix.from) && path.size() > prefix.from.size()) {
      const std::string_view tail = path.substr(prefix.from.size());
      // torch.nn.modules.linear.Linear: what stands between the package and the class is a home, too. A home
      // alone keeps its name, of which the class's is asked next.
      const auto dot = tail.rfind('.');
      const bool in_nn = prefix.from == "torch.nn.modules.";
      if (in_nn && dot == std::string_view::npos && tail.front() >= 'a' && tail.front() <= 'z')
        return std::string(path);
      std::string moved = std::string(prefix.to) +
          std::string(in_nn && dot != std::string_view::npos ? tail.substr(dot + 1) : tail);
      for (const Alias& alias : aliases)
        if (moved == alias.from) return std::string(alias.to);
      return moved;
    }
  return std::string(path);
}

}  // namespace stepzero::libraries
