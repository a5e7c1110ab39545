// What autocast does with each operator. Recorded from PyTorch 2.13 (CUDA on fake tensors): each call of the
// operator database in float32 and in the lower type, with autocast and without. An operator that is not
// listed may do anything.
#include "libraries/torch/meaning/autocast.hpp"

#include "libraries/table/columns.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

enum class Casts : std::uint8_t {
  unknown,
  lower,  // computes in the region's type
  full,   // computes in float32
  same,   // as outside
  never,  // as outside, on any device: views, and what is told the type
};

struct NamedCasts {
  std::string_view name;  // the last part of the path; of a layer its class
  Casts cpu, cuda;
};

using enum Casts;
constexpr NamedCasts policies[] = {
    {"linear", lower, lower},
    {"Linear", lower, lower},
    {"matmul", lower, lower},
    {"mm", lower, lower},
    {"bmm", lower, lower},
    {"addmm", lower, lower},
    {"addbmm", lower, lower},
    {"baddbmm", lower, lower},
    {"mv", unknown, lower},
    {"addmv", unknown, lower},
    {"addr", unknown, lower},
    {"einsum", lower, lower},
    {"tensordot", lower, lower},
    {"multi_dot", lower, lower},
    {"matrix_power", lower, lower},
    {"vecdot", lower, lower},
    {"prelu", lower, lower},
    {"conv1d", lower, lower},
    {"conv2d", lower, lower},
    {"conv3d", lower, lower},
    {"Conv1d", lower, lower},
    {"Conv2d", lower, lower},
    {"Conv3d", lower, lower},
    {"conv_transpose1d", lower, lower},
    {"conv_transpose2d", lower, lower},
    {"conv_transpose3d", lower, lower},
    {"ConvTranspose1d", lower, lower},
    {"ConvTranspose2d", lower, lower},
    {"ConvTranspose3d", lower, lower},
    {"scaled_dot_product_attention", lower, lower},
    {"prod", full, full},
    {"mse_loss", full, full},
    {"l1_loss", full, full},
    {"smooth_l1_loss", full, full},
    {"huber_loss", full, full},
    {"kl_div", full, full},
    {"nll_loss", full, full},
    {"cross_entropy", full, full},
    {"binary_cross_entropy_with_logits", full, full},
    {"cosine_embedding_loss", full, full},
    {"hinge_embedding_loss", full, full},
    {"margin_ranking_loss", full, full},
    {"poisson_nll_loss", full, full},
    {"soft_margin_loss", full, full},
    {"triplet_margin_loss", full, full},
    {"MSELoss", full, full},
    {"L1Loss", full, full},
    {"SmoothL1Loss", full, full},
    {"HuberLoss", full, full},
    {"KLDivLoss", full, full},
    {"NLLLoss", full, full},
    {"CrossEntropyLoss", full, full},
    {"BCEWithLogitsLoss", full, full},
    {"softmax", same, full},
    {"log_softmax", same, full},
    {"softmin", same, full},
    {"exp", same, full},
    {"expm1", same, full},
    {"log", same, full},
    {"log10", same, full},
    {"log1p", same, full},
    {"log2", same, full},
    {"logsumexp", same, full},
    {"pow", same, full},
    {"square", same, full},
    {"reciprocal", same, full},
    {"rsqrt", same, full},
    {"acos", same, full},
    {"asin", same, full},
    {"cosh", same, full},
    {"sinh", same, full},
    {"tan", same, full},
    {"erfinv", same, full},
    {"cumsum", same, full},
    {"cumprod", same, full},
    {"sum", same, full},
    {"norm", same, full},
    {"dist", same, full},
    {"renorm", same, full},
    {"layer_norm", same, full},
    {"group_norm", same, full},
    {"rms_norm", same, full},
    {"LayerNorm", same, full},
    {"GroupNorm", same, full},
    {"RMSNorm", same, full},
    {"Softmax", same, full},
    {"LogSoftmax", same, full},
    {"BatchNorm1d", same, unknown},
    {"BatchNorm2d", same, unknown},
    {"BatchNorm3d", same, unknown},
    {"batch_norm", same, unknown},
    {"InstanceNorm1d", same, unknown},
    {"InstanceNorm2d", same, unknown},
    {"InstanceNorm3d", same, unknown},
    {"instance_norm", same, unknown},
    {"MultiheadAttention", lower, unknown},
    {"Upsample", same, unknown},
    {"interpolate", same, unknown},
    {"pad", same, unknown},
    {"var", same, unknown},
    {"std", same, unknown},
    {"topk", same, unknown},
    {"roll", same, unknown},
    {"cat", same, unknown},
    {"stack", same, unknown},
    {"where", same, unknown},
    {"ReLU", same, same},
    {"GELU", same, same},
    {"SiLU", same, same},
    {"Sigmoid", same, same},
    {"Tanh", same, same},
    {"Dropout", same, same},
    {"MaxPool2d", same, same},
    {"AvgPool2d", same, same},
    {"AdaptiveAvgPool2d", same, same},
    {"Flatten", never, never},
    {"Embedding", never, never},
    {"embedding", never, never},
    {"normalize", same, full},
    {"softplus", same, full},
    {"cosine_similarity", same, full},
    {"pairwise_distance", same, full},
    {"add", same, same},
    {"sub", same, same},
    {"mul", same, same},
    {"div", same, same},
    {"neg", same, same},
    {"abs", same, same},
    {"relu", same, same},
    {"gelu", same, same},
    {"silu", same, same},
    {"sigmoid", same, same},
    {"tanh", same, same},
    {"dropout", same, same},
    {"sqrt", same, same},
    {"sin", same, same},
    {"cos", same, same},
    {"clamp", same, same},
    {"mean", same, same},
    {"max", same, same},
    {"amax", same, same},
    {"min", same, same},
    {"amin", same, same},
    {"masked_fill", same, same},
    {"T", never, never},
    {"mT", never, never},
    {"t", never, never},
    {"movedim", never, never},
    {"select", never, never},
    {"narrow", never, never},
    {"unbind", never, never},
    {"view_as", never, never},
    {"expand_as", never, never},
    {"view", never, never},
    {"reshape", never, never},
    {"flatten", never, never},
    {"unflatten", never, never},
    {"transpose", never, never},
    {"permute", never, never},
    {"squeeze", never, never},
    {"unsqueeze", never, never},
    {"expand", never, never},
    {"contiguous", never, never},
    {"chunk", never, never},
    {"split", never, never},
    {"index_select", never, never},
    {"gather", never, never},
    {"__getitem__", never, never},
    {"detach", never, never},
    {"clone", never, never},
    {"max_pool2d", same, same},
    {"avg_pool2d", same, same},
    {"adaptive_avg_pool2d", same, same},
    {"to", never, never},
    {"float", never, never},
    {"double", never, never},
    {"half", never, never},
    {"bfloat16", never, never},
};

Casts policy(std::string_view name, bool on_cpu) {
  const auto found = std::find_if(
      std::begin(policies), std::end(policies), [&](const NamedCasts& each) { return each.name == name; });
  return found == std::end(policies) ? Casts::unknown : on_cpu ? found->cpu : found->cuda;
}

// "cpu" or "cuda", where all operands lie there; empty: not known.
std::string_view device_of(const Op& op) {
  std::string_view found;
  for (const Value& each : op.tensors()) {
    const TensorState* state = op.tensor(each);
    const std::string_view text = state && state->device ? state->device->text : std::string_view{};
    const std::string_view kind = text.substr(0, text.find(':'));
    if (kind.empty() || (!found.empty() && kind != found)) return {};
    found = kind;
  }
  return found == "cpu" || found == "cuda" ? found : std::string_view{};
}

Value kept(const Op& op, const values::Instance& region, values::KeptKey name) {
  const values::Slot* slot = region.attributes.find(syntax::Name(name));
  const Value value = slot ? op.run.resolve(slot->value) : Value{};
  return value.is(Kind::none) ? Value{} : value;
}

// The innermost region that is for this device; null: it is not known which it is, if any.
const values::Instance* region_for(const Op& op, std::string_view device) {
  for (const interpreter::Around* around = op.run.around(); around; around = around->outer) {
    const Value manager = op.run.resolve(around->manager);
    if (!manager.is(Kind::instance)) return nullptr;
    const auto* region = manager.as<values::Instance>();
    if (!region->native || !region->native->row ||
        region->native->row->operation != values::Operation::autocast_region)
      continue;
    const Value kind = kept(op, *region, values::ContextState::device_type);
    if (!kind.is(Kind::string)) return nullptr;
    if (kind.text().substr(0, kind.text().find(':')) == device) return region;
  }
  return nullptr;
}

bool may_be_cast(Dtype dtype) {
  return dtype == Dtype::float32 || dtype == Dtype::float16 || dtype == Dtype::bfloat16;
}

}  // namespace

Dtype under_autocast(const Op& op, Dtype plain) {
  if (policy(op.title(), true) == Casts::never) return plain;
  const std::string_view device = device_of(op);
  const values::Instance* region = device.empty() ? nullptr : region_for(op, device);
  if (!region) return Dtype::unknown;
  if (const Value enabled = kept(op, *region, values::ContextState::enabled)) {
    const Answer answer = op.s.decide(op.run.truth(enabled));
    if (answer == Answer::unknown) return Dtype::unknown;
    if (answer == Answer::no) return plain;
  }
  const Value given = kept(op, *region, values::ContextState::dtype);
  Dtype lowered = device == "cpu" ? Dtype::bfloat16 : Dtype::float16;
  if (given) lowered = given.is(Kind::dtype) ? to_dtype(given) : Dtype::unknown;
  if (lowered != Dtype::bfloat16 && lowered != Dtype::float16) return Dtype::unknown;
  const bool may_be = std::ranges::all_of(op.tensors(),
                          [&](Value each) {
                            const TensorState* state = op.tensor(each);
                            return state && state->dtype != Dtype::unknown &&
                                (may_be_cast(state->dtype) || category(state->dtype) < 2);
                          }) &&
      !op.given("dtype");
  switch (policy(op.title(), device == "cpu")) {
  case Casts::lower: return may_be ? lowered : Dtype::unknown;
  case Casts::full: return may_be ? Dtype::float32 : Dtype::unknown;
  case Casts::never:
  case Casts::same: return plain;
  case Casts::unknown: break;
  }
  return Dtype::unknown;
}

Column autocast_column() { return column_of("autocast", policies); }

}  // namespace stepzero::libraries
