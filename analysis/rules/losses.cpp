#include "rules/losses.hpp"

#include <algorithm>

namespace stepzero::rules {

const values::LossInfo* loss_of(const Producer& made) {
  if (made.row->loss) return made.row->loss;
  const auto* layer = made.self.is(values::Kind::instance) ? made.self.as<values::Instance>() : nullptr;
  return layer && layer->native && layer->native->row ? layer->native->row->loss : nullptr;
}

LossReduction reduction_of(Value given) {
  constexpr std::pair<std::string_view, LossReduction> words[] = {
      {"mean", LossReduction::mean}, {"sum", LossReduction::sum}, {"none", LossReduction::none}};
  if (!given) return LossReduction::mean;
  for (const auto& [word, reduction] : words)
    if (given.is(values::Kind::string) && given.text() == word) return reduction;
  return LossReduction::unknown;
}

Value loss_option(const OperationEvent& loss, std::string_view name) {
  const auto& parameters = loss.row->parameters;
  if (std::ranges::find(parameters, syntax::Name(name)) != parameters.end()) return argument(loss, name);
  return loss.self.is(values::Kind::instance)
      ? loss.self.as<values::Instance>()->attributes.value(syntax::Name(name))
      : Value{};
}

}  // namespace stepzero::rules
