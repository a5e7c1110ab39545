#include "libraries/torch/meaning/op_semantics.hpp"

#include "interpreter/library.hpp"
#include "libraries/table/columns.hpp"
#include "libraries/table/names.hpp"

#include <string_view>
#include <unordered_map>

namespace stepzero::libraries {

namespace {

struct Named {
  std::string_view name;  // the last part of the path; of a layer its class
  OpSemantics semantics;
};
constexpr Named senses[] = {
    {"to", OpSemantics::same},
    {"float", OpSemantics::same},
    {"double", OpSemantics::same},
    {"half", OpSemantics::same},
    {"bfloat16", OpSemantics::same},
    {"long", OpSemantics::same},
    {"int", OpSemantics::same},
    {"type", OpSemantics::same},
    {"type_as", OpSemantics::same},
    {"contiguous", OpSemantics::same},
    {"clone", OpSemantics::same},
    {"cuda", OpSemantics::same},
    {"cpu", OpSemantics::same},
    {"positive", OpSemantics::same},
    {"Identity", OpSemantics::same},
    {"dropout", OpSemantics::same},
    {"Dropout", OpSemantics::same},
    {"view", OpSemantics::rearranged},
    {"view_as", OpSemantics::rearranged},
    {"reshape", OpSemantics::rearranged},
    {"reshape_as", OpSemantics::rearranged},
    {"flatten", OpSemantics::rearranged},
    {"unflatten", OpSemantics::rearranged},
    {"Flatten", OpSemantics::rearranged},
    {"Unflatten", OpSemantics::rearranged},
    {"squeeze", OpSemantics::rearranged},
    {"unsqueeze", OpSemantics::rearranged},
    {"flip", OpSemantics::reordered},
    {"fliplr", OpSemantics::reordered},
    {"flipud", OpSemantics::reordered},
    {"roll", OpSemantics::reordered},
    {"transpose", OpSemantics::reordered},
    {"permute", OpSemantics::reordered},
    {"movedim", OpSemantics::reordered},
    {"t", OpSemantics::reordered},
    {"T", OpSemantics::reordered},
    {"mT", OpSemantics::reordered},
    {"rearrange", OpSemantics::reordered},
    {"view_as_complex", OpSemantics::rearranged},
    {"view_as_real", OpSemantics::rearranged},
    {"detach", OpSemantics::detached},
    {"data", OpSemantics::detached},
    {"copy_", OpSemantics::copied},
    {"lerp", OpSemantics::interpolated},
    {"masked_fill", OpSemantics::masked},
    {"tril", OpSemantics::masked},
    {"triu", OpSemantics::masked},
    {"expand", OpSemantics::repeated},
    {"expand_as", OpSemantics::repeated},
    {"pad", OpSemantics::padded},
    {"repeat", OpSemantics::repeated},
    {"repeat_interleave", OpSemantics::repeated},
    {"tile", OpSemantics::repeated},
    {"add", OpSemantics::add},
    {"sub", OpSemantics::sub},
    {"mul", OpSemantics::mul},
    {"div", OpSemantics::div},
    {"pow", OpSemantics::power},
    {"neg", OpSemantics::negate},
    {"sum", OpSemantics::sum},
    {"mean", OpSemantics::mean},
    {"max", OpSemantics::largest},
    {"amax", OpSemantics::largest},
    {"softmax", OpSemantics::softmax},
    {"Softmax", OpSemantics::softmax},
    {"log_softmax", OpSemantics::log_softmax},
    {"LogSoftmax", OpSemantics::log_softmax},
    {"sigmoid", OpSemantics::sigmoid},
    {"Sigmoid", OpSemantics::sigmoid},
    {"log", OpSemantics::log},
    {"log2", OpSemantics::log},
    {"log10", OpSemantics::log},
    {"exp", OpSemantics::exp},
    {"sqrt", OpSemantics::sqrt},
    {"rsqrt", OpSemantics::inverse_sqrt},
    {"square", OpSemantics::square},
    {"abs", OpSemantics::not_negative},
    {"relu", OpSemantics::not_negative},
    {"ReLU", OpSemantics::not_negative},
    {"clamp", OpSemantics::bounded},
    {"clamp_min", OpSemantics::bounded},
    {"linear", OpSemantics::linear},
    {"Linear", OpSemantics::linear},
    {"matmul", OpSemantics::product},
    {"bmm", OpSemantics::product},
    {"mm", OpSemantics::product},
    {"einsum", OpSemantics::product},
    {"baddbmm", OpSemantics::product},
    {"outer", OpSemantics::outer},
    {"norm", OpSemantics::norm},
    {"vector_norm", OpSemantics::norm},
    {"layer_norm", OpSemantics::normalized},
    {"LayerNorm", OpSemantics::normalized},
    {"rms_norm", OpSemantics::normalized},
    {"RMSNorm", OpSemantics::normalized},
    {"group_norm", OpSemantics::normalized},
    {"GroupNorm", OpSemantics::normalized},
    {"topk", OpSemantics::chosen},
    {"argmax", OpSemantics::place_of_largest},
    {"one_hot", OpSemantics::one_hot},
    {"bincount", OpSemantics::count},
    {"histc", OpSemantics::count},
    {"eq", OpSemantics::equals},
    {"ne", OpSemantics::equals},
    {"lt", OpSemantics::ordered},
    {"le", OpSemantics::ordered},
    {"gt", OpSemantics::ordered},
    {"ge", OpSemantics::ordered},
    {"where", OpSemantics::where},
    {"nonzero", OpSemantics::where},
    {"__getitem__", OpSemantics::picked},
    {"gather", OpSemantics::picked},
    {"index_select", OpSemantics::picked},
    {"take_along_dim", OpSemantics::picked},
    {"split", OpSemantics::split},
    {"split_with_sizes", OpSemantics::split},
    {"chunk", OpSemantics::chunked},
    {"tensor_split", OpSemantics::chunked},
    {"cat", OpSemantics::joined},
    {"stack", OpSemantics::joined},
    {"cos", OpSemantics::cosine},
    {"sin", OpSemantics::sine},
    {"polar", OpSemantics::polar},
    {"arange", OpSemantics::count_up},
    {"linspace", OpSemantics::spaced},
    {"normal_", OpSemantics::filled_normal},
    {"randn", OpSemantics::noise},
    {"randn_like", OpSemantics::noise},
    {"scaled_dot_product_attention", OpSemantics::attended},
    {"normalize", OpSemantics::unit_rows},
    {"tanh", OpSemantics::within_one},
    {"Tanh", OpSemantics::within_one},
    {"cosine_similarity", OpSemantics::within_one},
    {"CosineSimilarity", OpSemantics::within_one},
};

std::unordered_map<std::string_view, OpSemantics> by_name() {
  std::unordered_map<std::string_view, OpSemantics> found;
  for (const Named& each : senses) found.emplace(each.name, each.semantics);
  return found;
}

}  // namespace

OpSemantics semantics_of(const values::Row& row) {
  static const auto known = by_name();
  if (!row.op) return OpSemantics::none;
  std::string_view name = operator_name(row);
  if (const auto found = known.find(name); found != known.end()) return found->second;
  // The form that writes into its tensor.
  if (name.ends_with('_') && !name.ends_with("__")) {
    name.remove_suffix(1);
    if (const auto found = known.find(name); found != known.end()) return found->second;
  }
  return OpSemantics::none;
}

Column sense_column() { return column_of("sense", senses); }

}  // namespace stepzero::libraries
