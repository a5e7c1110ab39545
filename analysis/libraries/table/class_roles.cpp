#include "libraries/table/class_roles.hpp"

#include <algorithm>
#include <iterator>

namespace stepzero::libraries {

namespace {

struct OfClass {
  std::string_view path;
  ClassRole role;
};
constexpr OfClass class_roles[] = {
    {"torch.nn.Sequential", ClassRole::layers},
    {"torch.nn.ModuleList", ClassRole::layer_list},
    {"torch.nn.ModuleDict", ClassRole::layer_dict},
    {"torch.nn.TransformerEncoder", ClassRole::layer_stack},
    {"torch.nn.TransformerDecoder", ClassRole::layer_stack},
    {"torch.nn.MultiheadAttention", ClassRole::attention},
    {"torch.nn.Transformer", ClassRole::attention},
    {"torch.nn.TransformerEncoderLayer", ClassRole::attention},
    {"torch.nn.TransformerDecoderLayer", ClassRole::attention},
    {"torch.nn.Dropout", ClassRole::drops},
    {"torch.nn.Dropout1d", ClassRole::drops},
    {"torch.nn.Dropout2d", ClassRole::drops},
    {"torch.nn.Dropout3d", ClassRole::drops},
    {"torch.nn.AlphaDropout", ClassRole::drops},
    {"torch.nn.FeatureAlphaDropout", ClassRole::drops},
    {"torch.utils.data.Dataset", ClassRole::samples},
    {"torch.utils.data.IterableDataset", ClassRole::stream},
    {"torch.distributed.Store", ClassRole::store},
    {"torch.distributed.fsdp.FullyShardedDataParallel", ClassRole::shards_model},
    {"torch.amp.GradScaler", ClassRole::scaler},
    {"torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler", ClassRole::shared_scaler},
    {"torch.autograd.set_detect_anomaly", ClassRole::finds_anomaly},
    {"torch.autograd.detect_anomaly", ClassRole::finds_anomaly},
};

struct OfSchedule {
  std::string_view path;
  ScheduleInfo info;
};
// As PyTorch 2.13 and transformers 5.23 compute them.
constexpr OfSchedule schedules[] = {
    {"torch.optim.lr_scheduler.CosineAnnealingLR", {.period = "T_max"}},
    {"transformers.get_linear_schedule_with_warmup", {.stays_at_zero = true}},
    {"transformers.get_cosine_schedule_with_warmup", {.rises_again = true}},
    {"transformers.optimization.get_linear_schedule_with_warmup", {.stays_at_zero = true}},
    {"transformers.optimization.get_cosine_schedule_with_warmup", {.rises_again = true}},
};

struct OfClipping {
  std::string_view path;
  Clipping clipping;
};
constexpr OfClipping clippings[] = {
    {"torch.nn.utils.clip_grad_norm_", Clipping::own_norm},
    {"torch.distributed.fsdp.FullyShardedDataParallel.clip_grad_norm_", Clipping::shared_norm},
    {"accelerate.Accelerator.clip_grad_norm_", Clipping::shared_norm},
};

struct OfBackend {
  std::string_view argument, name;
};
constexpr OfBackend backends_of_gpus[] = {{"nccl", "NCCL"}};

struct OfFramework {
  std::string_view path;
  FrameworkCall call;
};
constexpr OfFramework framework_calls[] = {
    {"torch.distributed.init_process_group", FrameworkCall::makes_group},
    {"accelerate.Accelerator", FrameworkCall::makes_accelerator},
    {"accelerate.Accelerator.accumulate", FrameworkCall::accumulates},
    {"pytorch_lightning.Trainer.fit", FrameworkCall::fits},
    {"transformers.Trainer", FrameworkCall::makes_trainer},
    {"transformers.Seq2SeqTrainer", FrameworkCall::makes_trainer},
    {"deepspeed.initialize", FrameworkCall::makes_engine},
    {"deepspeed.DeepSpeedEngine.backward", FrameworkCall::engine_backward},
    {"deepspeed.DeepSpeedEngine.step", FrameworkCall::engine_step},
    {"deepspeed.DeepSpeedEngine.zero_grad", FrameworkCall::engine_clears},
    {"deepspeed.DeepSpeedEngine.save_16bit_model", FrameworkCall::engine_saves_whole},
    {"deepspeed.DeepSpeedEngine.save_fp16_model", FrameworkCall::engine_saves_whole},
    {"deepspeed.zero.GatheredParameters", FrameworkCall::gathers_parameters},
};

constexpr std::string_view pipeline_step = "torch.distributed.pipelining.$Schedule.step";

constexpr std::string_view may_shard_models[] = {"deepspeed.", "accelerate.", "lightning."};

}  // namespace

ClassRole role_of(const values::LibrarySymbol* cls) {
  for (const values::Row* row = cls ? cls->row : nullptr; row; row = row->base_row)
    if (const auto* found = std::ranges::find(class_roles, row->path, &OfClass::path);
        found != std::end(class_roles))
      return found->role;
  return ClassRole::none;
}

ScheduleInfo schedule_info(const values::Row& made) {
  const auto* found = std::ranges::find(schedules, made.path, &OfSchedule::path);
  return found == std::end(schedules) ? ScheduleInfo{} : found->info;
}

Clipping clipping_of(const values::Row& row) {
  const auto* found = std::ranges::find(clippings, row.path, &OfClipping::path);
  return found == std::end(clippings) ? Clipping::none : found->clipping;
}

FrameworkCall framework_call(const values::Row& row) {
  const auto* found = std::ranges::find(framework_calls, row.path, &OfFramework::path);
  return found == std::end(framework_calls) ? FrameworkCall::none : found->call;
}

bool steps_pipeline(const values::Row& row) { return row.path == pipeline_step; }

bool may_shard(const values::LibrarySymbol* cls) {
  return cls && std::ranges::any_of(may_shard_models, [&](std::string_view package) {
    return cls->path.starts_with(package);
  });
}

symbolic::Answer keeps_gradients(values::Value strategy) {
  if (!strategy.is(values::Kind::library)) return symbolic::Answer::unknown;
  return values::last_name(strategy.as<values::LibrarySymbol>()->path) == "NO_SHARD" ? symbolic::Answer::yes
                                                                                     : symbolic::Answer::no;
}

std::string_view backend_of_gpus(values::Value backend) {
  if (!backend.is(values::Kind::string)) return {};
  const auto* found = std::ranges::find(backends_of_gpus, backend.text(), &OfBackend::argument);
  return found == std::end(backends_of_gpus) ? std::string_view{} : found->name;
}

std::string_view reduction_of(values::Value operation) {
  // The members that have rows are unknowns of those names.
  const std::string_view path = operation.is(values::Kind::library)
      ? std::string_view(operation.as<values::LibrarySymbol>()->path)
      : operation.is(values::Kind::unknown) ? std::string_view(operation.as<values::Unknown>()->name)
                                            : std::string_view{};
  const std::string_view of = path.substr(
      0, path.size() - std::min(path.size(), values::last_name(path).size() + 1));
  return !of.empty() && values::last_name(of) == "ReduceOp" ? values::last_name(path) : std::string_view{};
}

std::vector<std::string_view> names_with_roles() {
  std::vector<std::string_view> names;
  for (const OfClass& each : class_roles) names.push_back(each.path);
  for (const OfSchedule& each : schedules) names.push_back(each.path);
  for (const OfClipping& each : clippings) names.push_back(each.path);
  for (const OfFramework& each : framework_calls) names.push_back(each.path);
  names.push_back(pipeline_step);
  return names;
}

}  // namespace stepzero::libraries
