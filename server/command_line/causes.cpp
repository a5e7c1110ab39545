#include "server/command_line/causes.hpp"

#include "rules/cause.hpp"

namespace stepzero::server {

Causes::Causes(const std::vector<Checked>& results) {
  for (const Checked& checked : results)
    for (const rules::Finding& finding : checked.findings) {
      const rules::Location* cause = rules::cause_of(finding);
      const auto [told, is_new] = told_.try_emplace(key_of(finding, cause ? *cause : finding.where),
          Reported{finding.severity, cause ? finding.where : rules::Location{}});
      if (is_new) continue;
      // The more severe one counts; of equal ones the one that stands at the cause, then the first.
      const bool takes_over = finding.severity < told->second.severity ||
          (finding.severity == told->second.severity && !cause && !told->second.by.path.empty());
      if (takes_over) told->second = {finding.severity, cause ? finding.where : rules::Location{}};
    }
}

bool Causes::are_told_elsewhere(const rules::Finding& finding) const {
  const rules::Location* cause = rules::cause_of(finding);
  if (!cause) return false;
  const auto told = told_.find(key_of(finding, *cause));
  return told != told_.end() && !(told->second.by == finding.where);
}

}  // namespace stepzero::server
