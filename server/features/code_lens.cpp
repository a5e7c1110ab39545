#include "server/features/code_lens.hpp"

#include "server/features/schedule.hpp"

namespace stepzero::server {

std::vector<Lens> code_lenses(const Analysis& analysis) {
  std::vector<Lens> lenses;
  if (!analysis.result.schedule) return lenses;
  const snapshot::Schedule& schedule = *analysis.result.schedule;
  for (const snapshot::FunctionCommunication& function : schedule.functions)
    if (std::string title = summary(function, schedule.world); !title.empty())
      lenses.push_back({function.definition.span, std::move(title)});
  return lenses;
}

} // namespace stepzero::server
