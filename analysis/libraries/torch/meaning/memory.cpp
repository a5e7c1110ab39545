#include "libraries/torch/meaning/memory.hpp"

#include "libraries/table/columns.hpp"

#include <unordered_map>
#include <unordered_set>

namespace stepzero::libraries {

namespace {

struct Named {
  std::string_view name;
  MemoryOf memory;
};

using enum MemoryOf;
constexpr Named memories[] = {
    {"view", view},
    {"view_as", view},
    {"unflatten", view},
    {"Unflatten", view},
    {"unsqueeze", view},
    {"squeeze", view},
    {"transpose", view},
    {"t", view},
    {"T", view},
    {"H", view},
    {"mT", view},
    {"mH", view},
    {"adjoint", view},
    {"permute", view},
    {"movedim", view},
    {"expand", view},
    {"broadcast_to", view},
    {"expand_as", view},
    {"split", view},
    {"unsafe_split", view},
    {"split_with_sizes", view},
    {"chunk", view},
    {"tensor_split", view},
    {"hsplit", view},
    {"vsplit", view},
    {"dsplit", view},
    {"unbind", view},
    {"select", view},
    {"narrow", view},
    {"diagonal", view},
    {"detach", view},
    {"data", view},
    {"view_as_complex", view},
    {"view_as_real", view},
    {"real", view},
    {"imag", view},
    {"Identity", view},
    {"detach_", view},
    {"requires_grad_", view},
    {"positive", view},
    {"resolve_conj", view},
    {"resolve_neg", view},
    {"atleast_1d", view},
    {"atleast_2d", view},
    {"atleast_3d", view},
    {"pin_memory", view},
    {"as_strided", view},
    {"flatten", reshape},
    {"Flatten", reshape},
    {"ravel", reshape},
    {"reshape", reshape},
    {"reshape_as", reshape},
    {"to", cast},
    {"type", cast},
    {"type_as", cast},
    {"float", cast},
    {"double", cast},
    {"half", cast},
    {"bfloat16", cast},
    {"long", cast},
    {"int", cast},
    {"short", cast},
    {"char", cast},
    {"byte", cast},
    {"bool", cast},
    {"cuda", cast},
    {"cpu", cast},
    {"Dropout", dropout},
    {"Dropout1d", dropout},
    {"Dropout2d", dropout},
    {"Dropout3d", dropout},
    {"AlphaDropout", dropout},
    {"FeatureAlphaDropout", dropout},
    {"dropout", dropout},
    {"dropout1d", dropout},
    {"dropout2d", dropout},
    {"dropout3d", dropout},
    {"alpha_dropout", dropout},
    {"feature_alpha_dropout", dropout},
};

constexpr std::string_view element_by_element[] = {"relu", "ReLU", "sigmoid", "Sigmoid", "tanh", "Tanh",
    "exp", "expm1", "exp2", "sqrt", "rsqrt", "reciprocal", "gelu", "GELU", "silu", "SiLU", "mish", "Mish",
    "hardswish", "Hardswish", "hardsigmoid", "Hardsigmoid", "softplus", "Softplus", "log", "log2", "log10",
    "log1p", "sin", "cos", "abs", "square", "erf", "clamp", "clamp_min", "clamp_max", "hardtanh", "Hardtanh",
    "relu6", "ReLU6", "elu", "ELU", "celu", "CELU", "selu", "SELU", "leaky_relu", "LeakyReLU", "pow", "mul",
    "div", "add", "sub", "rsub", "neg", "addcmul", "addcdiv", "lerp", "maximum", "minimum", "where",
    "masked_fill", "dropout", "Dropout", "to", "type", "type_as", "float", "double", "half", "bfloat16",
    "clone", "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like"};

}  // namespace

MemoryOf memory_of(std::string_view operator_name) {
  static const auto known = [] {
    std::unordered_map<std::string_view, MemoryOf> made;
    for (const Named& each : memories) made.emplace(each.name, each.memory);
    return made;
  }();
  const auto found = known.find(operator_name);
  return found == known.end() ? own : found->second;
}

bool lies_as_operands(std::string_view operator_name) {
  static const std::unordered_set<std::string_view> known(
      std::begin(element_by_element), std::end(element_by_element));
  return known.contains(operator_name);
}

Column memory_column() { return column_of("the memory of its result", memories); }
Column order_column() { return column_of_names("lies in memory as its operands do", element_by_element); }

}  // namespace stepzero::libraries
