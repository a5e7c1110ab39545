#include "footprint/saving_table.hpp"

#include <algorithm>
#include <unordered_map>

namespace stepzero::footprint {

namespace {

constexpr Keeping saving_table[] = {
    // Products.
    {"linear Linear NonDynamicallyQuantizableLinear LazyLinear", "rows_of_input<weight weight<input"},
    {"matmul mm bmm mv dot inner outer vdot spmm tensordot kron", "operands"},
    {"chain_matmul multi_dot", "chain"},
    {"einsum", "contracted"},
    {"bilinear Bilinear", "operands"},
    {"addmm", "mat1<mat2 mat2<mat1"},
    {"baddbmm addbmm", "batch1<batch2 batch2<batch1"},
    {"addmv", "mat<vec vec<mat"},
    {"addr", "vec1<vec2 vec2<vec1"},
    {"conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
     "LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d",
        "convolved"},
    {"scaled_dot_product_attention", "attention"},
    {"MultiheadAttention", "multihead"},
    {"LSTM GRU RNN", "recurrent"},
    {"LSTMCell GRUCell RNNCell", "cell"},
    {"TransformerEncoderLayer TransformerEncoder TransformerDecoderLayer TransformerDecoder Transformer",
        "built"},
    // Norms.
    {"BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d batch_norm",
        "input weight channels"},
    {"LayerNorm layer_norm native_layer_norm", "input weight rows"},
    {"RMSNorm rms_norm", "row"},
    {"GroupNorm group_norm", "input weight groups"},
    {"InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d instance_norm",
        "input instances"},
    {"LocalResponseNorm local_response_norm", "across"},
    {"CrossMapLRN2d", "input copy"},
    {"renorm", "input"},
    {"normalize", "input lengths lengths"},
    // Element by element.
    {"relu ReLU sigmoid Sigmoid tanh Tanh exp sqrt rsqrt reciprocal softmax log_softmax Softmax LogSoftmax Softmin softmin Softmax2d threshold Threshold expm1 exp2 tan cholesky inv",
        "result"},
    {"gelu GELU silu SiLU mish Mish hardswish Hardswish hardsigmoid Hardsigmoid softplus Softplus log log2 log10 log1p sin cos abs square erf erfc nan_to_num "
     "sinh cosh asin acos atan asinh acosh atanh hardtanh Hardtanh relu6 ReLU6 hardshrink Hardshrink softshrink Softshrink lgamma digamma logit erfinv sinc entr i0 i0e",
        "input"},
    {"clamp clamp_min clamp_max", "input min max"},
    {"elu ELU celu CELU selu SELU leaky_relu LeakyReLU matrix_exp", "either"},
    {"logsigmoid LogSigmoid", "input copy"},
    {"glu GLU", "input"},
    {"tanhshrink Tanhshrink", "copy"},
    {"softsign Softsign", "input copy"},
    {"prelu PReLU", "input weight"},
    {"rrelu RReLU", "input copy"},
    {"pow float_power", "power"},
    {"mul", "input<other other<input"},
    {"div", "input<other other"},
    {"addcmul", "tensor1<tensor2 tensor2<tensor1"},
    {"addcdiv", "tensor1<tensor2 tensor2"},
    {"lerp", "weight input<weight end<weight"},
    {"add sub rsub neg positive clone round floor ceil trunc sign sgn frac heaviside", ""},
    {"maximum minimum fmax fmin", "input other"},
    {"hypot", "input other result"},
    {"atan2 logaddexp logaddexp2 xlogy", "input other"},
    {"remainder fmod", ""},
    {"where", "condition"},
    {"masked_fill", "mask"},
    {"masked_select", "input mask"},
    {"masked_scatter", "mask"},
    {"tril triu diag diagflat diag_embed", ""},
    {"complex", ""},
    {"empty_like zeros_like ones_like full_like rand_like randn_like randint_like new_empty new_zeros new_ones new_full new_tensor",
        ""},
    {"polar", "result"},
    {"view_as_complex view_as_real real imag conj angle", ""},
    {"dropout Dropout", "noise"},
    {"dropout1d dropout2d dropout3d Dropout1d Dropout2d Dropout3d", "feature_noise"},
    {"alpha_dropout AlphaDropout", "copy"},
    {"feature_alpha_dropout FeatureAlphaDropout", "feature_noise"},
    // Reductions.
    {"sum mean nansum cumsum trace diff sum_to_size", ""},
    {"var var_mean", "input"},
    {"std std_mean", "input result"},
    {"norm vector_norm", "either result"},
    {"dist", "input other result"},
    {"logsumexp logcumsumexp", "input result"},
    {"prod cumprod", "input result"},
    {"amax amin", "input result"},
    {"max min median mode kthvalue aminmax", "extreme"},
    {"cummax cummin", "input indices"},
    {"topk sort msort", "indices"},
    {"quantile", "quantile"},
    // Indices.
    {"embedding Embedding", "input"},
    {"embedding_bag EmbeddingBag", "bags"},
    {"__getitem__", "index"},
    {"gather take_along_dim take", "input index"},
    {"index_select index_fill scatter scatter_add index_put", "index"},
    {"scatter_reduce", "input index src result"},
    {"index_add index_copy", "index source<source"},
    {"repeat_interleave", ""},
    {"one_hot argmax argmin argsort eq ne lt le gt ge isnan isinf isfinite isclose nonzero bincount searchsorted bucketize",
        ""},
    {"bool byte char short int long logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_xor bitwise_not any all",
        ""},
    {"cat stack hstack vstack dstack column_stack repeat tile roll flip rot90 constant_pad_nd ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d ConstantPad3d meshgrid",
        ""},
    {"pad", "padded"},
    {"ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d",
        "input"},
    {"CircularPad1d CircularPad2d CircularPad3d", ""},
    {"contiguous to type type_as float double half bfloat16 cuda cpu", ""},
    {"view view_as reshape reshape_as flatten Flatten unflatten Unflatten ravel unsqueeze squeeze transpose t T H mT mH adjoint permute movedim expand expand_as broadcast_to "
     "split unsafe_split split_with_sizes chunk tensor_split hsplit vsplit dsplit unbind select narrow diagonal Identity detach data rearrange reduce as_strided",
        ""},
    {"fill_ zero_ copy_ normal_ uniform_ requires_grad_ detach_", ""},
    {"pixel_shuffle pixel_unshuffle PixelShuffle PixelUnshuffle channel_shuffle ChannelShuffle unfold fold Unfold Fold",
        ""},
    // Pooling and resizing.
    {"max_pool1d max_pool2d max_pool3d MaxPool1d MaxPool2d MaxPool3d max_pool2d_with_indices fractional_max_pool2d FractionalMaxPool2d",
        "input indices"},
    {"adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d",
        "input indices"},
    {"avg_pool1d avg_pool2d avg_pool3d AvgPool1d AvgPool2d AvgPool3d", "input"},
    {"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d",
        "unless_mean"},
    {"lp_pool1d lp_pool2d lp_pool3d LPPool1d LPPool2d LPPool3d", "powers"},
    {"interpolate upsample upsample_nearest upsample_bilinear Upsample UpsamplingNearest2d UpsamplingBilinear2d",
        ""},
    {"grid_sample", "input grid"},
    {"affine_grid", ""},
    // Losses.
    {"cross_entropy CrossEntropyLoss", "logs classes total"},
    {"nll_loss NLLLoss NLLLoss2d", "input classes total"},
    {"mse_loss smooth_l1_loss huber_loss MSELoss SmoothL1Loss HuberLoss", "input target"},
    {"l1_loss L1Loss", "difference"},
    {"binary_cross_entropy BCELoss binary_cross_entropy_with_logits BCEWithLogitsLoss",
        "input target weight pos_weight"},
    {"kl_div KLDivLoss", "divergence"},
    {"soft_margin_loss SoftMarginLoss", "input target"},
    {"hinge_embedding_loss HingeEmbeddingLoss", "another ones_of_targets"},
    {"multi_margin_loss MultiMarginLoss", "input target"},
    {"multilabel_margin_loss MultiLabelMarginLoss", "input target another"},
    {"multilabel_soft_margin_loss MultiLabelSoftMarginLoss", "input target another another another another"},
    {"gaussian_nll_loss GaussianNLLLoss", "variance"},
    {"poisson_nll_loss PoissonNLLLoss", "another target"},
    {"ctc_loss CTCLoss", "alignments"},
    {"cosine_similarity CosineSimilarity cosine_embedding_loss CosineEmbeddingLoss", "angle"},
    {"pairwise_distance PairwiseDistance", "another result"},
    {"cdist pdist", "operands result"},
    {"margin_ranking_loss MarginRankingLoss", "another target"},
    {"triplet_margin_loss TripletMarginLoss", "distances"},
    {"gumbel_softmax", "drawn"},
    {"cross", "operands"},
    {"rfft rfft2 rfftn", "input"},
    {"fft ifft", "if_real"},
    {"fft2 ifft2 fftn ifftn irfft irfft2 irfftn fftshift ifftshift", ""},
    // Of matrices.
    {"det", "either factors result"},
    {"slogdet", "either factors sign"},
    {"logdet", "either factors sign is_negative"},
    {"solve", "either factors result"},
    {"pinv pinverse", "either result"},
    {"eigh eigvalsh", "eigenvectors"},
    {"svd svdvals", "singular"},
    {"qr", "orthogonal"},
    {"stft", "frames"},
    // Computed again in the backward.
    {"checkpoint", "region"},
};

constexpr Temporaries temporaries[] = {
    {" sqrt sin abs softmax Softmax Softmin softmin Softmax2d tanhshrink Tanhshrink prelu PReLU cross_entropy CrossEntropyLoss l1_loss L1Loss kl_div KLDivLoss var std "},
    {" rsqrt cos square pow reciprocal ", Temporaries::Of::input, 2},
    {" normalize softsign Softsign ", Temporaries::Of::input, 3},
    {" erf ", Temporaries::Of::input, 4},
    {" mul ", Temporaries::Of::spread_factor},
    {" div ", Temporaries::Of::divisor, 2},
    {" scaled_dot_product_attention ", Temporaries::Of::query},
    {" TransformerEncoderLayer TransformerEncoder TransformerDecoderLayer TransformerDecoder Transformer ",
        Temporaries::Of::hidden},
};

constexpr std::string_view lowered =
    " linear Linear NonDynamicallyQuantizableLinear matmul mm bmm mv addmm addmv addr baddbmm addbmm chain_matmul multi_dot einsum scaled_dot_product_attention prelu PReLU "
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LSTM GRU RNN LSTMCell GRUCell RNNCell MultiheadAttention ";
// Of autocast on CUDA; on the CPU it raises the losses and few others.
constexpr std::string_view raised =
    " softmax log_softmax Softmax LogSoftmax LayerNorm layer_norm GroupNorm group_norm norm cross_entropy CrossEntropyLoss nll_loss NLLLoss mse_loss MSELoss l1_loss L1Loss "
    "smooth_l1_loss SmoothL1Loss kl_div KLDivLoss binary_cross_entropy_with_logits BCEWithLogitsLoss exp expm1 log log10 log2 log1p pow prod reciprocal rsqrt sinh cosh tan acos asin "
    "cumprod cumsum sum dist softplus Softplus huber_loss HuberLoss cosine_similarity CosineSimilarity cdist cosine_embedding_loss poisson_nll_loss ";
constexpr std::string_view raised_on_cpu =
    " cross_entropy CrossEntropyLoss nll_loss NLLLoss mse_loss MSELoss l1_loss L1Loss smooth_l1_loss SmoothL1Loss kl_div KLDivLoss huber_loss HuberLoss "
    "binary_cross_entropy binary_cross_entropy_with_logits BCEWithLogitsLoss prod quantile cosine_embedding_loss poisson_nll_loss grid_sample cumprod cdist ";

constexpr std::string_view of_input =
    " BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm batch_norm InstanceNorm1d InstanceNorm2d InstanceNorm3d instance_norm RMSNorm rms_norm ";

bool lists(std::string_view words, std::string_view name) {
  for (std::size_t at = words.find(name); at != std::string_view::npos; at = words.find(name, at + 1))
    if ((at == 0 || words[at - 1] == ' ') &&
        (at + name.size() == words.size() || words[at + name.size()] == ' '))
      return true;
  return false;
}

}  // namespace

std::optional<std::string_view> keeping_of(std::string_view operator_name) {
  static const auto known = [] {
    std::unordered_map<std::string_view, std::string_view> made;
    for (const Keeping& line : saving_table)
      for (std::string_view rest = line.names; !rest.empty();) {
        const auto space = rest.find(' ');
        made.emplace(rest.substr(0, space), line.keeps);
        rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
      }
    return made;
  }();
  if (operator_name.ends_with('_') && !operator_name.ends_with("__") && !known.contains(operator_name))
    operator_name.remove_suffix(1);
  const auto found = known.find(operator_name);
  return found != known.end() ? std::optional(found->second) : std::nullopt;
}

const Temporaries* temporaries_of(std::string_view operator_name) {
  const auto found = std::ranges::find_if(
      temporaries, [&](const Temporaries& line) { return lists(line.names, operator_name); });
  return found == std::end(temporaries) ? nullptr : found;
}

Casts casts_of(std::string_view operator_name, Device device) {
  if (lists(lowered, operator_name)) return Casts::lower;
  if (lists(device == Device::cpu ? raised_on_cpu : raised, operator_name)) return Casts::higher;
  return lists(of_input, operator_name) ? Casts::of_input : Casts::none;
}

std::vector<libraries::Column> columns() {
  const auto split = [](libraries::Column& column, std::string_view words) {
    while (!words.empty()) {
      const auto space = std::min(words.find(' '), words.size());
      if (space > 0) column.operators.push_back(words.substr(0, space));
      words.remove_prefix(std::min(space + 1, words.size()));
    }
  };
  libraries::Column keeps{"kept for backward", {}}, takes{"temporaries of backward", {}};
  for (const Keeping& line : saving_table) split(keeps, line.names);
  for (const Temporaries& line : temporaries) split(takes, line.names);
  std::vector<libraries::Column> all{keeps, takes, view_column(), flops_column()};
  for (const auto& [says, words] :
      {std::pair{"lower under autocast", lowered}, std::pair{"float32 under autocast", raised},
          std::pair{"float32 under autocast on the CPU", raised_on_cpu},
          std::pair{"the input's type under autocast", of_input}})
    split(all.emplace_back(libraries::Column{says, {}}), words);
  return all;
}

}  // namespace stepzero::footprint
