// Findings as GitLab's code quality report: what a merge request shows beside the lines.
#include "server/command_line/fingerprint.hpp"
#include "server/command_line/json.hpp"

#include "server/workspace/paths.hpp"

namespace stepzero::server {
namespace {

// GitLab's own words, from its documentation of the report's format.
std::string_view severity(rules::Severity severity) {
  switch (severity) {
  case rules::Severity::error: return "critical";
  case rules::Severity::warning: return "major";
  case rules::Severity::information: return "minor";
  case rules::Severity::hint: break;
  }
  return "info";
}

}  // namespace

std::string gitlab_report(const Report& report) {
  const std::vector<std::string> keys = fingerprints(report);
  const std::string& folder = report.names.current_folder();
  Json issues = Json::array();
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const rules::Finding& finding = report.findings[i];
    const auto [begin, end] = report.places(finding.where);
    // The lines that GitLab knows are those of a notebook's file: the place is told in words.
    const bool in_cell = begin.cell != 0;
    const std::string place =
        in_cell ? "cell " + std::to_string(begin.cell) + ", line " + std::to_string(begin.line) + ": " : "";
    issues.push_back({{"description", place + finding.message}, {"check_name", finding.rule},
        {"fingerprint", keys[i]}, {"severity", severity(finding.severity)},
        {"location",
            {{"path", seen_from(finding.where.path, folder)},
                {"lines", {{"begin", in_cell ? 1 : begin.line}, {"end", in_cell ? 1 : end.line}}}}}});
  }
  return written(issues);
}

}  // namespace stepzero::server
