#include "footprint/reparametrized.hpp"

#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"

namespace stepzero::footprint {

using values::Kind;

std::optional<ComputedWeight> computed_weight(const Record& record, const Instance& layer) {
  symbolic::Context& s = record.symbols;
  if (attribute(record, layer, values::ReparametrizedState::otherwise)) return ComputedWeight{};
  const Value by_length = attribute(record, layer, values::ReparametrizedState::by_length),
              by_spectrum = attribute(record, layer, values::ReparametrizedState::by_spectrum);
  if (!by_length && !by_spectrum) return std::nullopt;
  ComputedWeight made;
  const Value weight = attribute(record, layer, "weight");
  if (!weight.is(Kind::tensor)) return made;
  const Shape& shape = weight.as<values::Tensor>()->now()->shape;
  const Value given = by_length ? by_length : by_spectrum;
  const auto at = given.is(Kind::integer) ? s.value(given.integer()) : std::nullopt;
  const auto rank = static_cast<std::int64_t>(shape.dims.size());
  if (!at || !shape.ndim_known || *at < -1 || *at >= rank) return made;
  const Int all = elements(s, shape);
  if (by_length) {
    Shape lengths{true, {}};
    for (std::int64_t i = 0; *at >= 0 && i < rank; ++i)
      lengths.dims.push_back(
          i == *at ? shape.dims[static_cast<std::size_t>(i)] : values::Dim{s.constant(1), nullptr, nullptr});
    made.lengths = std::move(lengths);
  } else {
    made.rows = *at >= 0 ? shape.dims[static_cast<std::size_t>(*at)].size : nullptr;
    made.columns = made.rows && all ? s.exact_quotient(all, made.rows).value_or(nullptr) : nullptr;
    if (!made.columns) return made;
  }
  made.weight = weight.as<values::Tensor>();
  return made;
}

std::optional<std::vector<Held>> held_for_weight(
    const Record& record, const Instance& layer, const ComputedWeight& computed, const std::string& path) {
  if (!computed.weight) return std::nullopt;
  const TensorState& now = *computed.weight->now();
  std::vector<Held> held;
  const auto add = [&](std::string_view name, Shape shape, bool is_parameter) {
    held.push_back({(path.empty() ? "" : path + ".") + std::string(name), nullptr, &layer, std::move(shape),
        now.dtype, is_parameter, record.heap.requires_grad(now), 1});
  };
  const auto vector = [](Int size) { return Shape{true, {values::Dim{size, nullptr, nullptr}}}; };
  if (computed.lengths) add("weight_g", *computed.lengths, true);
  if (computed.rows) {
    add("weight_u", vector(computed.rows), false);
    add("weight_v", vector(computed.columns), false);
  }
  return held;
}

}  // namespace stepzero::footprint
