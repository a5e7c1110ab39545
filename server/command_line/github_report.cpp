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

// Annotations are matched by the path in the repository, which is where the workflow runs.
std::string path_of(const std::string& path, const Names& names) {
  const std::string& folder = names.current_folder();
  return is_inside(path, folder) ? std::string(relative_to(path, folder)) : path;
}

} // namespace

std::string github_report(const Report& report) {
  std::string result;
  for (const rules::Finding& finding : report.findings) {
    const rules::Location& where = finding.where;
    const syntax::Position begin = report.position(where.path, where.span.begin);
    const syntax::Position end = report.position(where.path, where.span.end);
    result += "::" + std::string(command(finding.severity)) + " title=" + escaped(finding.rule, true) +
              ",file=" + escaped(path_of(where.path, report.names), true) +
              ",line=" + std::to_string(begin.line + 1) + ",endLine=" + std::to_string(end.line + 1);
    // Columns are refused for places of many lines.
    if (begin.line == end.line) {
      result += ",col=" + std::to_string(begin.column + 1) + ",endColumn=" + std::to_string(end.column + 1);
    }
    std::string message = finding.message;
    for (const rules::Related& related : finding.related) {
      const syntax::Position at = report.position(related.where.path, related.where.span.begin);
      message += "\n" + path_of(related.where.path, report.names) + ":" + std::to_string(at.line + 1) + ": " +
                 related.message;
    }
    result += "::" + escaped(message, false) + "\n";
  }
  return result;
}

} // namespace stepzero::server
