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
    {"torch.nn.ModuleList", ClassRole::layers},
    {"torch.nn.TransformerEncoder", ClassRole::layer_stack},
    {"torch.nn.TransformerDecoder", ClassRole::layer_stack},
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

std::vector<std::string_view> names_with_roles() {
  std::vector<std::string_view> names;
  for (const OfClass& each : class_roles) names.push_back(each.path);
  for (const OfSchedule& each : schedules) names.push_back(each.path);
  return names;
}

}  // namespace stepzero::libraries
