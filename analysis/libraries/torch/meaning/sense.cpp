#include "libraries/torch/meaning/sense.hpp"

#include "interpreter/library.hpp"
#include "libraries/table/columns.hpp"
#include "libraries/table/names.hpp"

#include <string_view>
#include <unordered_map>

namespace stepzero::libraries {

namespace {

struct Named {
  std::string_view name;  // the last part of the path; of a layer its class
  Sense sense;
};
constexpr Named senses[] = {
    {"to", Sense::same}, {"float", Sense::same}, {"double", Sense::same}, {"half", Sense::same}, {"bfloat16", Sense::same}, {"type", Sense::same},
    {"type_as", Sense::same}, {"contiguous", Sense::same}, {"clone", Sense::same}, {"cuda", Sense::same}, {"cpu", Sense::same}, {"positive", Sense::same},
    {"Identity", Sense::same}, {"dropout", Sense::same}, {"Dropout", Sense::same},
    {"view", Sense::rearranged}, {"view_as", Sense::rearranged}, {"reshape", Sense::rearranged}, {"reshape_as", Sense::rearranged}, {"flatten", Sense::rearranged},
    {"unflatten", Sense::rearranged}, {"Flatten", Sense::rearranged}, {"Unflatten", Sense::rearranged}, {"squeeze", Sense::rearranged},
    {"unsqueeze", Sense::rearranged}, {"flip", Sense::reordered}, {"fliplr", Sense::reordered}, {"flipud", Sense::reordered}, {"roll", Sense::reordered}, {"transpose", Sense::reordered}, {"permute", Sense::reordered}, {"movedim", Sense::reordered},
    {"t", Sense::reordered}, {"T", Sense::reordered}, {"mT", Sense::reordered}, {"rearrange", Sense::reordered}, {"view_as_complex", Sense::rearranged},
    {"view_as_real", Sense::rearranged},
    {"masked_fill", Sense::masked}, {"tril", Sense::masked}, {"triu", Sense::masked},
    {"expand", Sense::repeated}, {"expand_as", Sense::repeated}, {"repeat", Sense::repeated}, {"repeat_interleave", Sense::repeated}, {"tile", Sense::repeated},
    {"add", Sense::add}, {"sub", Sense::sub}, {"mul", Sense::mul}, {"div", Sense::div},
    {"pow", Sense::power}, {"neg", Sense::negate},
    {"sum", Sense::sum}, {"mean", Sense::mean}, {"max", Sense::largest}, {"amax", Sense::largest},
    {"softmax", Sense::softmax}, {"Softmax", Sense::softmax}, {"log_softmax", Sense::log_softmax}, {"LogSoftmax", Sense::log_softmax},
    {"sigmoid", Sense::sigmoid}, {"Sigmoid", Sense::sigmoid}, {"log", Sense::log}, {"log2", Sense::log}, {"log10", Sense::log}, {"exp", Sense::exp},
    {"sqrt", Sense::sqrt}, {"rsqrt", Sense::inverse_sqrt}, {"square", Sense::square}, {"abs", Sense::not_negative}, {"relu", Sense::not_negative},
    {"ReLU", Sense::not_negative}, {"clamp", Sense::bounded}, {"clamp_min", Sense::bounded},
    {"linear", Sense::linear}, {"Linear", Sense::linear},
    {"matmul", Sense::product}, {"bmm", Sense::product}, {"mm", Sense::product}, {"einsum", Sense::product}, {"baddbmm", Sense::product},
    {"outer", Sense::outer}, {"norm", Sense::norm}, {"vector_norm", Sense::norm},
    {"layer_norm", Sense::normalized}, {"LayerNorm", Sense::normalized}, {"rms_norm", Sense::normalized}, {"RMSNorm", Sense::normalized},
    {"group_norm", Sense::normalized}, {"GroupNorm", Sense::normalized},
    {"topk", Sense::chosen}, {"argmax", Sense::place_of_largest}, {"one_hot", Sense::one_hot}, {"bincount", Sense::count}, {"histc", Sense::count},
    {"eq", Sense::equals}, {"ne", Sense::equals}, {"lt", Sense::ordered}, {"le", Sense::ordered}, {"gt", Sense::ordered}, {"ge", Sense::ordered},
    {"where", Sense::where}, {"nonzero", Sense::where}, {"__getitem__", Sense::picked}, {"gather", Sense::picked}, {"index_select", Sense::picked},
    {"take_along_dim", Sense::picked}, {"split", Sense::split}, {"split_with_sizes", Sense::split}, {"chunk", Sense::chunked}, {"tensor_split", Sense::chunked},
    {"cat", Sense::joined}, {"stack", Sense::joined},
    {"cos", Sense::cosine}, {"sin", Sense::sine}, {"polar", Sense::polar}, {"arange", Sense::count_up}, {"linspace", Sense::spaced}, {"normal_", Sense::filled_normal},
    {"scaled_dot_product_attention", Sense::attended}, {"normalize", Sense::unit_rows}, {"tanh", Sense::within_one}, {"Tanh", Sense::within_one},
    {"cosine_similarity", Sense::within_one}, {"CosineSimilarity", Sense::within_one},
};

std::unordered_map<std::string_view, Sense> by_name() {
  std::unordered_map<std::string_view, Sense> found;
  for (const Named& each : senses) found.emplace(each.name, each.sense);
  return found;
}

} // namespace

Sense sense_of(const values::Row& row) {
  static const auto known = by_name();
  if (!row.op) return Sense::none;
  std::string_view name = operator_name(row);
  if (const auto found = known.find(name); found != known.end()) return found->second;
  // The form that writes into its tensor.
  if (name.ends_with('_') && !name.ends_with("__")) {
    name.remove_suffix(1);
    if (const auto found = known.find(name); found != known.end()) return found->second;
  }
  return Sense::none;
}

Column sense_column() { return column_of("sense", senses); }

} // namespace stepzero::libraries
