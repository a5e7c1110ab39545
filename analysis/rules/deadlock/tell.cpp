#include "rules/deadlock/tell.hpp"

#include <set>

namespace stepzero::rules {

void tell(Report& report, Cause cause, Severity severity, FixesOf fixes) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  for (const Mismatch& mismatch : report.ranks().comparison().found) {
    if (mismatch.cause != cause || !mismatch.place ||
        !told.insert({mismatch.place.chunk, mismatch.place.span.begin}).second)
      continue;
    Finding* finding = report.add(mismatch.severity ? *mismatch.severity
            : mismatch.certain                      ? severity
                                                    : Severity::warning,
        mismatch.place, mismatch.calls, mismatch.jobs + mismatch.text);
    if (!finding) continue;
    for (const auto& [place, text] : mismatch.related) report.relate(*finding, place, text);
    report.relate_calls(*finding, mismatch.calls);
    if (fixes) finding->fixes = fixes(report, mismatch);
    for (Fix& fix : finding->fixes) fix.preferred = fix.preferred && !mismatch.supposed;
  }
}

}  // namespace stepzero::rules
