// What library names mean to the rules, beside what they do to values: which calls they record, and what
// their numbers stand for.
#include "libraries/table/table.hpp"

namespace stepzero::libraries {

using values::LossInfo;
using values::MovedName;
using values::OptimizerInfo;
using values::Outcome;

std::span<const Meaning> meanings() {
  static constexpr Meaning list[] = {
      {"torch.nn.BCELoss.forward", Operation::refuses_autocast},
      {"torch.nn.functional.binary_cross_entropy", Operation::refuses_autocast},
      {"torch.nn.CrossEntropyLoss.forward", Operation::loss},
      {"torch.nn.functional.cross_entropy", Operation::loss},
      {"torch.nn.NLLLoss.forward", Operation::loss},
      {"torch.nn.functional.nll_loss", Operation::loss},
      {"torch.nn.BCEWithLogitsLoss.forward", Operation::loss},
      {"torch.nn.functional.binary_cross_entropy_with_logits", Operation::loss},
      {"torch.nn.KLDivLoss.forward", Operation::loss},
      {"torch.nn.functional.kl_div", Operation::loss},
      {"torch.nn.CTCLoss.forward", Operation::loss},
      {"torch.nn.functional.ctc_loss", Operation::loss},
      {"torch.utils.data.DataLoader", Operation::loader_made},
      {"torch.utils.data.DataLoader.__iter__", Operation::loader_made},  // read
      {"torch.utils.data.distributed.DistributedSampler", Operation::sampler_made},
      {"torch.utils.data.DistributedSampler", Operation::sampler_made},
      {"torch.utils.data.distributed.DistributedSampler.set_epoch", Operation::set_epoch},
      {"torch.utils.data.DistributedSampler.set_epoch", Operation::set_epoch},
      {"torch.nn.Module.half", Operation::halved},
      {"torch.nn.Module.requires_grad_", Operation::trained_from_here},
      {"torch.Tensor.requires_grad_", Operation::trained_from_here},
      {"torch.Tensor.half", Operation::halved_by_hand},
      {"torch.nn.Module.state_dict", Operation::state_taken},
      {"torch.nn.Module.load_state_dict", Operation::state_put},
      {"torch.utils.data.random_split", Operation::split},
      {"torch.nn.BatchNorm1d.forward", Operation::normalizes_batch},
      {"torch.nn.BatchNorm2d.forward", Operation::normalizes_batch},
      {"torch.nn.BatchNorm3d.forward", Operation::normalizes_batch},
      {"torch.Tensor.view", Operation::viewed},
      {"torch.Tensor.reshape", Operation::viewed},
      {"torch.reshape", Operation::viewed},
      {"torch.Tensor.to", Operation::transfer},
      {"torch.Tensor.cuda", Operation::transfer},
      {"torch.Tensor.cpu", Operation::host_read},
      {"torch.Tensor.item", Operation::host_read},
      {"torch.Tensor.tolist", Operation::host_read},
      {"torch.Tensor.numpy", Operation::host_read},
      {"torch.zeros", Operation::created},
      {"torch.ones", Operation::created},
      {"torch.empty", Operation::created},
      {"torch.full", Operation::created},
      {"torch.rand", Operation::created},
      {"torch.randn", Operation::created},
      {"torch.randint", Operation::created},
      {"torch.arange", Operation::created},
      {"torch.linspace", Operation::created},
      {"torch.eye", Operation::created},
      {"random.randint", Operation::random_number},
      {"random.randrange", Operation::random_number},
      {"numpy.random.randint", Operation::random_number},
  };
  return list;
}

namespace {

struct OfOptimizer {
  std::string_view path;
  OptimizerInfo info;
};

constexpr std::string_view as_large =
    "its steps are about as large as the learning rate, whatever the gradients are. Use a smaller one: 1e-5 to 1e-3 are usual.";

constexpr OfOptimizer known_optimizers[] = {
    {"torch.optim.SGD", {0, {}, 0.5, {}}},
    {"torch.optim.Adam", {0, {}, 0.5, "AdamW"}},
    {"torch.optim.AdamW", {1e-2, as_large, 0.5, {}}},
    {"torch.optim.NAdam", {0, {}, 0.5, {}}},
    {"torch.optim.RAdam", {0, {}, 0.5, {}}},
    {"torch.optim.RMSprop", {0, {}, 0.5, {}}},
};

struct OfLoss {
  std::string_view path;
  LossInfo info;
};
constexpr OfLoss known_losses[] = {
    {"torch.nn.CrossEntropyLoss.forward", {"CrossEntropyLoss", Outcome::scores, Outcome::softmax, true}},
    {"torch.nn.functional.cross_entropy", {"cross_entropy", Outcome::scores, Outcome::softmax, true}},
    {"torch.nn.NLLLoss.forward",
        {"NLLLoss", Outcome::log_softmax, Outcome::none, true, "cross_entropy", "CrossEntropyLoss"}},
    {"torch.nn.functional.nll_loss",
        {"nll_loss", Outcome::log_softmax, Outcome::none, true, "cross_entropy", "CrossEntropyLoss"}},
    {"torch.nn.BCEWithLogitsLoss.forward", {"BCEWithLogitsLoss", Outcome::scores, Outcome::sigmoid}},
    {"torch.nn.functional.binary_cross_entropy_with_logits",
        {"binary_cross_entropy_with_logits", Outcome::scores, Outcome::sigmoid}},
    {"torch.nn.BCELoss.forward",
        {"BCELoss", Outcome::sigmoid, Outcome::none, false, "binary_cross_entropy_with_logits",
            "BCEWithLogitsLoss"}},
    {"torch.nn.functional.binary_cross_entropy",
        {"binary_cross_entropy", Outcome::sigmoid, Outcome::none, false, "binary_cross_entropy_with_logits",
            "BCEWithLogitsLoss"}},
    {"torch.nn.KLDivLoss.forward",
        {"KLDivLoss", Outcome::log_softmax, Outcome::none, false, {}, {}, "log_target"}},
    {"torch.nn.functional.kl_div",
        {"kl_div", Outcome::log_softmax, Outcome::none, false, {}, {}, "log_target"}},
    {"torch.nn.CTCLoss.forward", {"CTCLoss", Outcome::log_softmax, Outcome::none}},
    {"torch.nn.functional.ctc_loss", {"ctc_loss", Outcome::log_softmax, Outcome::none}},
};

struct OfName {
  std::string_view path;
  MovedName name;
};
constexpr OfName moved_names[] = {
    {"torch.cuda.amp.autocast", {"2.4", "torch.amp.autocast", "cuda"}},
    {"torch.cpu.amp.autocast", {"2.4", "torch.amp.autocast", "cpu"}},
    {"torch.cuda.amp.GradScaler", {"2.4", "torch.amp.GradScaler", "cuda"}},
    {"torch.cpu.amp.GradScaler", {"2.4", "torch.amp.GradScaler", "cpu"}},
    {"torch.cuda.amp.custom_fwd", {"2.4", "torch.amp.custom_fwd", "cuda"}},
    {"torch.cuda.amp.custom_bwd", {"2.4", "torch.amp.custom_bwd", "cuda"}},
};

struct OfTransfer {
  std::string_view path;
  values::Moves moves;
};
constexpr OfTransfer known_transfers[] = {
    {"torch.Tensor.to", values::Moves::to_given},
    {"torch.Tensor.cuda", values::Moves::to_accelerator},
    {"torch.Tensor.cpu", values::Moves::to_given},
    {"torch.Tensor.type", values::Moves::to_given},
};

// Layers that do something else in training.
constexpr std::string_view layers_by_mode[] = {
    "torch.nn.Dropout",
    "torch.nn.Dropout1d",
    "torch.nn.Dropout2d",
    "torch.nn.Dropout3d",
    "torch.nn.AlphaDropout",
    "torch.nn.BatchNorm1d",
    "torch.nn.BatchNorm2d",
    "torch.nn.BatchNorm3d",
    "torch.nn.SyncBatchNorm",
};

constexpr std::string_view exploding_layers[] = {
    "torch.nn.RNN",
    "torch.nn.LSTM",
    "torch.nn.GRU",
    "torch.nn.RNNCell",
    "torch.nn.LSTMCell",
    "torch.nn.GRUCell",
    "torch.nn.MultiheadAttention",
    "torch.nn.Transformer",
    "torch.nn.TransformerEncoder",
    "torch.nn.TransformerDecoder",
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.TransformerDecoderLayer",
};

// What is known of their objects is known without their constructors.
constexpr std::string_view classes_by_annotation[] = {
    "accelerate.Accelerator",
    "accelerate.PartialState",
    "deepspeed.DeepSpeedEngine",
    "lightning_fabric.Fabric",
    "pytorch_lightning.Trainer",
    "transformers.Trainer",
    "transformers.TrainerControl",
    "transformers.TrainerState",
    "transformers.TrainingArguments",
    "torch.distributed.fsdp.FullyShardedDataParallel",
};

constexpr std::string_view exhausting_exceptions[] = {
    "torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError"};

}  // namespace

void give_roles(std::span<Row> rows) {
  for (Row& row : rows) {
    for (const Meaning& meaning : meanings())
      if (row.path == meaning.path) row.operation = meaning.operation;
    for (const OfOptimizer& each : known_optimizers)
      if (row.path == each.path) row.optimizer = &each.info;
    for (const OfLoss& each : known_losses)
      if (row.path == each.path) row.loss = &each.info;
    for (const OfName& each : moved_names)
      if (row.path == each.path) row.moved = &each.name;
    for (const OfTransfer& each : known_transfers)
      if (row.path == each.path) row.moves = each.moves;
    for (const std::string_view path : layers_by_mode) row.by_mode = row.by_mode || row.path == path;
    for (const std::string_view path : classes_by_annotation)
      row.by_annotation = row.by_annotation || row.path == path;
    for (const std::string_view path : exhausting_exceptions) row.exhausts = row.exhausts || row.path == path;
    for (const std::string_view path : exploding_layers) row.explodes = row.explodes || row.path == path;
  }
}

}  // namespace stepzero::libraries
