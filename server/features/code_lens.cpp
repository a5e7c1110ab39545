#include "server/features/code_lens.hpp"

#include "server/features/footprint.hpp"
#include "server/features/schedule.hpp"

#include <algorithm>

namespace stepzero::server {

namespace {

// Over a class of which there are several sizes only their constructions have one.
void add_models(const Analysis& analysis, const footprint::Footprint& footprint, std::vector<Lens>& lenses) {
  for (const footprint::Model& model : footprint.models) {
    const std::string title = model_line(footprint, model);
    if (title.empty()) continue;
    const bool alone = std::ranges::count(footprint.models, model.of_class.span.begin,
                           [](const footprint::Model& other) { return other.of_class.span.begin; }) == 1;
    if (alone && model.of_class.line && model.of_class.path == analysis.path)
      lenses.push_back({model.of_class.span, title, false});
    if (model.where.line && model.where.path == analysis.path)
      lenses.push_back({model.where.span, title, false});
  }
}

}  // namespace

std::vector<Lens> code_lenses(const Analysis& analysis) {
  std::vector<Lens> lenses;
  if (analysis.result.schedule) {
    const snapshot::Schedule& schedule = *analysis.result.schedule;
    for (const snapshot::FunctionCommunication& function : schedule.functions)
      if (std::string title = summary(function, schedule.world); !title.empty())
        lenses.push_back({function.definition.span, std::move(title)});
  }
  if (analysis.result.footprint) add_models(analysis, *analysis.result.footprint, lenses);
  std::ranges::stable_sort(lenses, {}, [](const Lens& lens) { return lens.span.begin; });
  return lenses;
}

}  // namespace stepzero::server
