// Findings as workflow commands of GitHub Actions: annotations of a pull request.
#include "server/command_line/report.hpp"
#include "server/workspace/paths.hpp"

namespace stepzero::server {
namespace {

std::string escaped(std::string_view text, bool is_property) {
  std::string result;
  for (const char c : text) {
    if (c == '%')
      result += "%25";
    else if (c == '\r')
      result += "%0D";
    else if (c == '\n')
      result += "%0A";
    else if (is_property && c == ':')
      result += "%3A";
    else if (is_property && c == ',')
      result += "%2C";
    else
      result += c;
  }
  return result;
}

// GitHub has no level below notice.
std::string_view command(rules::Severity severity) {
  if (severity == rules::Severity::error) return "error";
  return severity == rules::Severity::warning ? "warning" : "notice";
}

}  // namespace

std::string github_report(const Report& report) {
  // Annotations are matched by the path in the repository, which is where the workflow runs.
  const std::string& folder = report.names.current_folder();
  std::string result;
  for (const rules::Finding& finding : report.findings) {
    const rules::Location& where = finding.where;
    const auto [begin, end] = report.places(where);
    result += "::" + std::string(command(finding.severity)) + " title=" + escaped(finding.rule, true) +
        ",file=" + escaped(seen_from(where.path, folder), true);
    std::string message = finding.message;
    if (begin.cell != 0) {
      // The lines that GitHub knows are those of the notebook's file: the place is told in words.
      message = "cell " + std::to_string(begin.cell) + ", line " + std::to_string(begin.line) + ": " +
          message;
    } else {
      result += ",line=" + std::to_string(begin.line) + ",endLine=" + std::to_string(end.line);
      // Columns are refused for places of many lines.
      if (begin.line == end.line)
        result += ",col=" + std::to_string(begin.column) + ",endColumn=" + std::to_string(end.column);
    }
    for (const rules::Related& related : finding.related) {
      const Place at = report.place(related.where.path, related.where.span.begin);
      message += "\n" + seen_from(related.where.path, folder) + ":" +
          (at.cell ? "cell " + std::to_string(at.cell) + ":" : "") + std::to_string(at.line) + ": " +
          related.message;
    }
    result += "::" + escaped(message, false) + "\n";
  }
  return result;
}

}  // namespace stepzero::server
