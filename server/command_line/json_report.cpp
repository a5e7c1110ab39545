// Findings as the JSON object that other tools rely on: lines and columns from 1, columns in code points.
#include "server/command_line/json.hpp"

namespace stepzero::server {
namespace {

Json range(const Report& report, const rules::Location& where) {
  const auto position = [&](std::uint32_t offset) {
    const syntax::Position at = report.position(where.path, offset);
    return Json{{"line", at.line + 1}, {"column", at.column + 1}};
  };
  return {{"start", position(where.span.begin)}, {"end", position(where.span.end)}};
}

Json fix_of(const Report& report, const rules::Fix& fix) {
  Json edits = Json::array();
  for (const rules::TextEdit& edit : fix.edits) {
    edits.push_back({{"path", report.names.shown(edit.where.path)},
                     {"range", range(report, edit.where)},
                     {"new_text", edit.new_text}});
  }
  return {{"title", fix.title}, {"preferred", fix.preferred}, {"edits", std::move(edits)}};
}

Json diagnostic(const Report& report, const rules::Finding& finding) {
  Json related = Json::array();
  for (const rules::Related& other : finding.related) {
    related.push_back({{"path", report.names.shown(other.where.path)},
                       {"range", range(report, other.where)},
                       {"message", other.message}});
  }
  Json fixes = Json::array();
  for (const rules::Fix& fix : finding.fixes) fixes.push_back(fix_of(report, fix));
  return {{"path", report.names.shown(finding.where.path)},
          {"rule", finding.rule},
          {"severity", rules::name(finding.severity)},
          {"message", finding.message},
          {"range", range(report, finding.where)},
          {"related", std::move(related)},
          {"fixes", std::move(fixes)}};
}

} // namespace

std::string json_report(const Report& report) {
  Json diagnostics = Json::array();
  for (const rules::Finding& finding : report.findings) diagnostics.push_back(diagnostic(report, finding));
  return written({{"version", 1}, {"files", report.files}, {"diagnostics", std::move(diagnostics)}});
}

} // namespace stepzero::server
