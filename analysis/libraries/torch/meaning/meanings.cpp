// What operators mean beside their shape: one row for each operator of which readers ask more. Columns that
// were recorded from PyTorch in bulk have tables of their own (README.md).
#include "libraries/torch/meaning/meanings.hpp"

#include "libraries/table/columns.hpp"
#include "libraries/table/names.hpp"

#include <string>
#include <unordered_map>

namespace stepzero::libraries {

namespace {

using A = OpSemantics;
using M = MemoryOf;
using O = OutcomeEffect;
using C = ColumnRole;
using G = GradientWrite;
using F = OpForm;

struct NamedMeaning {
  std::string_view name;  // the operator's own; of a layer that of its class
  OperatorMeaning means;
};
constexpr NamedMeaning rows[] = {
    {"to",
        {.algebra = A::same,
            .memory = M::cast,
            .elementwise = true,
            .outcome = O::keeps,
            .column = C::keeps}},
    {"float",
        {.algebra = A::same,
            .memory = M::cast,
            .elementwise = true,
            .outcome = O::keeps,
            .column = C::keeps}},
    {"double",
        {.algebra = A::same,
            .memory = M::cast,
            .elementwise = true,
            .outcome = O::keeps,
            .column = C::keeps}},
    {"half", {.algebra = A::same, .memory = M::cast, .elementwise = true}},
    {"bfloat16", {.algebra = A::same, .memory = M::cast, .elementwise = true}},
    {"long", {.algebra = A::same, .memory = M::cast, .column = C::keeps}},
    {"int", {.algebra = A::same, .memory = M::cast, .column = C::keeps}},
    {"type", {.algebra = A::same, .memory = M::cast, .elementwise = true, .column = C::keeps}},
    {"type_as", {.algebra = A::same, .memory = M::cast, .elementwise = true}},
    {"contiguous", {.algebra = A::same, .memory = M::contiguous, .outcome = O::keeps}},
    {"clone", {.algebra = A::same, .elementwise = true, .outcome = O::keeps}},
    {"cuda", {.algebra = A::same, .memory = M::cast}},
    {"cpu", {.algebra = A::same, .memory = M::cast, .outcome = O::keeps, .column = C::keeps}},
    {"positive", {.algebra = A::same, .memory = M::same}},
    {"Identity", {.algebra = A::same, .memory = M::same, .outcome = O::keeps}},
    {"dropout", {.algebra = A::same, .memory = M::dropout, .elementwise = true}},
    {"Dropout", {.algebra = A::same, .memory = M::dropout, .elementwise = true}},
    {"view", {.algebra = A::rearranged, .memory = M::view, .outcome = O::keeps}},
    {"view_as", {.algebra = A::rearranged, .memory = M::view, .outcome = O::keeps}},
    {"reshape", {.algebra = A::rearranged, .memory = M::reshape, .outcome = O::keeps}},
    {"reshape_as", {.algebra = A::rearranged, .memory = M::reshape}},
    {"flatten", {.algebra = A::rearranged, .memory = M::reshape, .outcome = O::keeps}},
    {"Flatten", {.algebra = A::rearranged, .memory = M::reshape, .outcome = O::keeps}},
    {"unflatten", {.algebra = A::rearranged, .memory = M::view}},
    {"Unflatten", {.algebra = A::rearranged, .memory = M::view}},
    {"squeeze", {.algebra = A::rearranged, .memory = M::view, .outcome = O::keeps}},
    {"unsqueeze", {.algebra = A::rearranged, .memory = M::view, .outcome = O::keeps}},
    {"flip", {.algebra = A::reordered}},
    {"fliplr", {.algebra = A::reordered}},
    {"flipud", {.algebra = A::reordered}},
    {"roll", {.algebra = A::reordered, .form = F::rolled}},
    {"transpose", {.algebra = A::reordered, .memory = M::view, .outcome = O::keeps, .form = F::swaps_given}},
    {"permute", {.algebra = A::reordered, .memory = M::view, .outcome = O::keeps}},
    {"movedim", {.algebra = A::reordered, .memory = M::view, .outcome = O::keeps}},
    {"t", {.algebra = A::reordered, .memory = M::view, .outcome = O::keeps, .form = F::swaps_both}},
    {"T", {.algebra = A::reordered, .memory = M::view, .form = F::swaps_both}},
    {"mT", {.algebra = A::reordered, .memory = M::view, .form = F::swaps_last}},
    {"rearrange", {.algebra = A::reordered, .memory = M::rearranged}},
    {"view_as_complex", {.algebra = A::rearranged, .memory = M::view}},
    {"view_as_real", {.algebra = A::rearranged, .memory = M::view}},
    {"detach", {.algebra = A::detached, .memory = M::view, .column = C::keeps}},
    {"detach_", {.memory = M::same, .gradient = G::cut}},
    {"data", {.algebra = A::detached, .memory = M::view}},
    {"copy_", {.algebra = A::copied}},
    {"lerp", {.algebra = A::interpolated, .elementwise = true}},
    {"masked_fill", {.algebra = A::masked, .elementwise = true, .form = F::by_mask}},
    {"tril", {.algebra = A::masked, .form = F::lower_triangle}},
    {"triu", {.algebra = A::masked, .form = F::upper_triangle}},
    {"expand", {.algebra = A::repeated, .memory = M::view, .form = F::expanded}},
    {"expand_as", {.algebra = A::repeated, .memory = M::view}},
    {"pad", {.algebra = A::padded}},
    {"repeat", {.algebra = A::repeated}},
    {"repeat_interleave", {.algebra = A::repeated}},
    {"tile", {.algebra = A::repeated}},
    {"add", {.algebra = A::add, .elementwise = true, .outcome = O::adds, .column = C::begins}},
    {"sub", {.algebra = A::sub, .elementwise = true, .outcome = O::adds, .column = C::begins}},
    {"mul", {.algebra = A::mul, .elementwise = true, .column = C::begins, .gradient = G::less}},
    {"div", {.algebra = A::div, .elementwise = true, .column = C::begins, .gradient = G::less}},
    {"pow", {.algebra = A::power, .elementwise = true, .column = C::keeps}},
    {"neg", {.algebra = A::negate, .elementwise = true, .column = C::keeps}},
    {"sum", {.algebra = A::sum, .column = C::ends}},
    {"mean", {.algebra = A::mean, .column = C::ends}},
    {"max", {.algebra = A::largest, .column = C::keeps}},
    {"min", {.column = C::keeps}},
    {"amax", {.algebra = A::largest}},
    {"softmax", {.algebra = A::softmax, .outcome = O::softmax}},
    {"Softmax", {.algebra = A::softmax, .outcome = O::softmax}},
    {"log_softmax", {.algebra = A::log_softmax, .outcome = O::log_softmax}},
    {"LogSoftmax", {.algebra = A::log_softmax, .outcome = O::log_softmax}},
    {"sigmoid", {.algebra = A::sigmoid, .elementwise = true, .outcome = O::sigmoid}},
    {"Sigmoid", {.algebra = A::sigmoid, .elementwise = true, .outcome = O::sigmoid}},
    {"log", {.algebra = A::log, .elementwise = true, .outcome = O::log}},
    {"log2", {.algebra = A::log, .elementwise = true}},
    {"log10", {.algebra = A::log, .elementwise = true}},
    {"exp", {.algebra = A::exp, .elementwise = true, .column = C::keeps}},
    {"sqrt", {.algebra = A::sqrt, .elementwise = true, .column = C::keeps}},
    {"rsqrt", {.algebra = A::inverse_sqrt, .elementwise = true}},
    {"square", {.algebra = A::square, .elementwise = true, .column = C::keeps}},
    {"abs", {.algebra = A::not_negative, .elementwise = true, .column = C::keeps}},
    {"relu", {.algebra = A::not_negative, .elementwise = true}},
    {"ReLU", {.algebra = A::not_negative, .elementwise = true}},
    {"clamp", {.algebra = A::bounded, .elementwise = true, .column = C::keeps, .gradient = G::limited}},
    {"clamp_min", {.algebra = A::bounded, .elementwise = true, .gradient = G::limited}},
    {"linear", {.algebra = A::linear, .outcome = O::scores}},
    {"Linear", {.algebra = A::linear, .outcome = O::scores}},
    {"matmul", {.algebra = A::product}},
    {"bmm", {.algebra = A::product}},
    {"mm", {.algebra = A::product}},
    {"einsum", {.algebra = A::product, .form = F::by_pattern}},
    {"baddbmm", {.algebra = A::product, .form = F::added_to}},
    {"outer", {.algebra = A::outer}},
    {"norm", {.algebra = A::norm}},
    {"vector_norm", {.algebra = A::norm}},
    {"layer_norm", {.algebra = A::normalized}},
    {"LayerNorm", {.algebra = A::normalized}},
    {"rms_norm", {.algebra = A::normalized}},
    {"RMSNorm", {.algebra = A::normalized}},
    {"group_norm", {.algebra = A::normalized}},
    {"GroupNorm", {.algebra = A::normalized}},
    {"topk", {.algebra = A::chosen}},
    {"argmax", {.algebra = A::place_of_largest}},
    {"one_hot", {.algebra = A::one_hot}},
    {"bincount", {.algebra = A::count}},
    {"histc", {.algebra = A::count}},
    {"eq", {.algebra = A::equals, .column = C::begins, .form = F::equal}},
    {"ne", {.algebra = A::equals, .column = C::begins, .form = F::unequal}},
    {"lt", {.algebra = A::ordered, .form = F::less}},
    {"le", {.algebra = A::ordered, .form = F::less}},
    {"gt", {.algebra = A::ordered, .form = F::greater}},
    {"ge", {.algebra = A::ordered, .form = F::greater}},
    {"where", {.algebra = A::where, .elementwise = true}},
    {"nonzero", {.algebra = A::where}},
    {"__getitem__", {.algebra = A::picked, .memory = M::subscript, .outcome = O::keeps}},
    {"gather", {.algebra = A::picked}},
    {"index_select", {.algebra = A::picked, .outcome = O::keeps}},
    {"take_along_dim", {.algebra = A::picked}},
    {"split", {.algebra = A::split, .memory = M::view}},
    {"split_with_sizes", {.algebra = A::split, .memory = M::view}},
    {"chunk", {.algebra = A::chunked, .memory = M::view}},
    {"tensor_split", {.algebra = A::chunked, .memory = M::view}},
    {"cat", {.algebra = A::joined}},
    {"tensor", {.algebra = A::built}},
    {"stack", {.algebra = A::joined}},
    {"cos", {.algebra = A::cosine, .elementwise = true}},
    {"sin", {.algebra = A::sine, .elementwise = true}},
    {"polar", {.algebra = A::polar}},
    {"arange", {.algebra = A::count_up}},
    {"linspace", {.algebra = A::spaced}},
    {"normal_", {.algebra = A::filled_normal}},
    {"randn", {.algebra = A::noise}},
    {"randn_like", {.algebra = A::noise, .elementwise = true}},
    {"scaled_dot_product_attention", {.algebra = A::attended}},
    {"normalize", {.algebra = A::unit_rows}},
    {"tanh", {.algebra = A::within_one, .elementwise = true}},
    {"Tanh", {.algebra = A::within_one, .elementwise = true}},
    {"cosine_similarity", {.algebra = A::within_one}},
    {"CosineSimilarity", {.algebra = A::within_one}},
    {"H", {.memory = M::view}},
    {"mH", {.memory = M::view}},
    {"adjoint", {.memory = M::view}},
    {"broadcast_to", {.memory = M::view}},
    {"unsafe_split", {.memory = M::view}},
    {"hsplit", {.memory = M::view}},
    {"vsplit", {.memory = M::view}},
    {"dsplit", {.memory = M::view}},
    {"unbind", {.memory = M::view}},
    {"select", {.memory = M::view, .outcome = O::keeps}},
    {"narrow", {.memory = M::view, .outcome = O::keeps}},
    {"diagonal", {.memory = M::view}},
    {"real", {.memory = M::view}},
    {"imag", {.memory = M::view}},
    {"requires_grad_", {.memory = M::same, .gradient = G::cut}},
    {"resolve_conj", {.memory = M::same}},
    {"resolve_neg", {.memory = M::same}},
    {"atleast_1d", {.memory = M::view}},
    {"atleast_2d", {.memory = M::view}},
    {"atleast_3d", {.memory = M::view}},
    {"pin_memory", {.memory = M::same}},
    {"as_strided", {.memory = M::view}},
    {"ravel", {.memory = M::reshape}},
    {"short", {.memory = M::cast}},
    {"char", {.memory = M::cast}},
    {"byte", {.memory = M::cast}},
    {"bool", {.memory = M::cast, .form = F::boolean}},
    {"Dropout1d", {.memory = M::dropout}},
    {"dropout1d", {.memory = M::dropout}},
    {"Dropout2d", {.memory = M::dropout}},
    {"dropout2d", {.memory = M::dropout}},
    {"Dropout3d", {.memory = M::dropout}},
    {"dropout3d", {.memory = M::dropout}},
    {"AlphaDropout", {.memory = M::dropout}},
    {"alpha_dropout", {.memory = M::dropout}},
    {"FeatureAlphaDropout", {.memory = M::dropout}},
    {"feature_alpha_dropout", {.memory = M::dropout}},
    {"expm1", {.elementwise = true}},
    {"exp2", {.elementwise = true}},
    {"reciprocal", {.elementwise = true}},
    {"gelu", {.elementwise = true}},
    {"GELU", {.elementwise = true}},
    {"silu", {.elementwise = true}},
    {"SiLU", {.elementwise = true}},
    {"mish", {.elementwise = true}},
    {"Mish", {.elementwise = true}},
    {"hardswish", {.elementwise = true}},
    {"Hardswish", {.elementwise = true}},
    {"hardsigmoid", {.elementwise = true}},
    {"Hardsigmoid", {.elementwise = true}},
    {"softplus", {.elementwise = true}},
    {"Softplus", {.elementwise = true}},
    {"log1p", {.elementwise = true}},
    {"erf", {.elementwise = true}},
    {"clamp_max", {.elementwise = true, .gradient = G::limited}},
    {"hardtanh", {.elementwise = true}},
    {"Hardtanh", {.elementwise = true}},
    {"relu6", {.elementwise = true}},
    {"ReLU6", {.elementwise = true}},
    {"elu", {.elementwise = true}},
    {"ELU", {.elementwise = true}},
    {"celu", {.elementwise = true}},
    {"CELU", {.elementwise = true}},
    {"selu", {.elementwise = true}},
    {"SELU", {.elementwise = true}},
    {"leaky_relu", {.elementwise = true}},
    {"LeakyReLU", {.elementwise = true}},
    {"rsub", {.elementwise = true, .column = C::begins}},
    {"addcmul", {.elementwise = true}},
    {"addcdiv", {.elementwise = true}},
    {"maximum", {.elementwise = true, .column = C::keeps}},
    {"minimum", {.elementwise = true, .column = C::keeps}},
    {"zeros_like", {.elementwise = true}},
    {"ones_like", {.elementwise = true}},
    {"empty_like", {.elementwise = true}},
    {"full_like", {.elementwise = true}},
    {"rand_like", {.elementwise = true}},
    {"Softmax2d", {.outcome = O::softmax}},
    {"logsigmoid", {.outcome = O::log_sigmoid}},
    {"LogSigmoid", {.outcome = O::log_sigmoid}},
    {"Bilinear", {.outcome = O::scores}},
    {"Conv1d", {.outcome = O::scores}},
    {"Conv2d", {.outcome = O::scores}},
    {"Conv3d", {.outcome = O::scores}},
    {"ConvTranspose2d", {.outcome = O::scores}},
    {"masked_select", {.outcome = O::keeps}},
    {"cross_entropy", {.outcome = O::loss}},
    {"CrossEntropyLoss", {.outcome = O::loss}},
    {"nll_loss", {.outcome = O::loss}},
    {"NLLLoss", {.outcome = O::loss}},
    {"mse_loss", {.outcome = O::loss, .column = C::loss}},
    {"MSELoss", {.outcome = O::loss, .column = C::loss}},
    {"l1_loss", {.outcome = O::loss, .column = C::loss}},
    {"L1Loss", {.outcome = O::loss, .column = C::loss}},
    {"smooth_l1_loss", {.outcome = O::loss, .column = C::loss}},
    {"SmoothL1Loss", {.outcome = O::loss, .column = C::loss}},
    {"huber_loss", {.outcome = O::loss, .column = C::loss}},
    {"HuberLoss", {.outcome = O::loss, .column = C::loss}},
    {"BCELoss", {.outcome = O::loss}},
    {"BCEWithLogitsLoss", {.outcome = O::loss}},
    {"binary_cross_entropy", {.outcome = O::loss}},
    {"binary_cross_entropy_with_logits", {.outcome = O::loss}},
    {"kl_div", {.outcome = O::loss, .form = F::divergence}},
    {"KLDivLoss", {.outcome = O::loss, .form = F::divergence}},
    {"cosine_embedding_loss", {.outcome = O::loss}},
    {"CosineEmbeddingLoss", {.outcome = O::loss}},
    {"triplet_margin_loss", {.outcome = O::loss}},
    {"TripletMarginLoss", {.outcome = O::loss}},
    {"ctc_loss", {.outcome = O::loss}},
    {"CTCLoss", {.outcome = O::loss}},
    {"logical_not", {.form = F::inverted}},
    {"bitwise_not", {.form = F::inverted}},
    {"ones", {.form = F::ones}},
    {"full", {.form = F::filled}},
    {"embedding", {.form = F::looked_up}},
    {"Embedding", {.form = F::looked_up}},
    {"addmm", {.form = F::added_to}},
    {"nan_to_num", {.gradient = G::less}},
    {"zero_", {.gradient = G::nothing}},
};

}  // namespace

const OperatorMeaning& meaning_of(std::string_view operator_name) {
  static const auto known = [] {
    std::unordered_map<std::string_view, const OperatorMeaning*> made;
    for (const NamedMeaning& each : rows) made.emplace(each.name, &each.means);
    return made;
  }();
  static constexpr OperatorMeaning none;
  const auto found = known.find(operator_name);
  return found == known.end() ? none : *found->second;
}

namespace {
// Of a row's operator, or of the one whose form writes into its tensor.
template <class Column> Column column_of_row(const values::Row& row, Column OperatorMeaning::* column) {
  if (!row.op) return Column::none;
  std::string_view name = operator_name(row);
  if (const Column found = meaning_of(name).*column; found != Column::none) return found;
  if (!name.ends_with('_') || name.ends_with("__")) return Column::none;
  name.remove_suffix(1);
  return meaning_of(name).*column;
}
}  // namespace

OpSemantics semantics_of(const values::Row& row) { return column_of_row(row, &OperatorMeaning::algebra); }
OpForm form_of(const values::Row& row) { return column_of_row(row, &OperatorMeaning::form); }

GradientWrite gradient_write_of(std::string_view method) {
  const values::Row* row = table().find("torch.Tensor." + std::string(method));
  return row ? gradient_write_of(*row) : GradientWrite::other;
}
ColumnRole column_role_of(std::string_view operator_name) { return meaning_of(operator_name).column; }
OutcomeEffect outcome_effect_of(std::string_view operator_name) { return meaning_of(operator_name).outcome; }
GradientWrite gradient_write_of(const values::Row& row) { return meaning_of(operator_name(row)).gradient; }

Column meaning_column() { return column_of("meaning", rows); }

}  // namespace stepzero::libraries
