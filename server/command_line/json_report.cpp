// Findings as the JSON object that other tools rely on: lines and columns from 1, columns in code points.
#include "server/command_line/json.hpp"

namespace stepzero::server {
namespace {

// "path" and "range", and in a notebook the "cell" that the range counts in.
Json place(const Report& report, const rules::Location& where) {
  const auto [begin, end] = report.places(where);
  const auto position = [](const Place& at) { return Json{{"line", at.line}, {"column", at.column}}; };
  Json json = {{"path", report.names.displayed(where.path)}};
  if (begin.cell != 0) json["cell"] = begin.cell;
  json["range"] = {{"start", position(begin)}, {"end", position(end)}};
  return json;
}

Json fix_of(const Report& report, const rules::Fix& fix) {
  Json edits = Json::array();
  for (const rules::TextEdit& edit : fix.edits) {
    edits.push_back(place(report, edit.where));
    edits.back()["new_text"] = edit.new_text;
  }
  return {{"title", fix.title}, {"preferred", fix.preferred}, {"edits", std::move(edits)}};
}

}  // namespace

Json diagnostic_json(const Report& report, const rules::Finding& finding) {
  Json related = Json::array();
  for (const rules::Related& other : finding.related) {
    related.push_back(place(report, other.where));
    related.back()["message"] = other.message;
  }
  Json fixes = Json::array();
  for (const rules::Fix& fix : finding.fixes) fixes.push_back(fix_of(report, fix));
  Json where = place(report, finding.where);
  Json json = {{"path", where["path"]}, {"rule", finding.rule}, {"severity", rules::name(finding.severity)},
      {"message", finding.message}};
  if (where.contains("cell")) json["cell"] = where["cell"];
  json["range"] = std::move(where["range"]);
  json["related"] = std::move(related);
  json["fixes"] = std::move(fixes);
  return json;
}

std::string json_report(const Report& report) {
  Json diagnostics = Json::array();
  for (const rules::Finding& finding : report.findings)
    diagnostics.push_back(diagnostic_json(report, finding));
  return written({{"version", 1}, {"files", report.files}, {"diagnostics", std::move(diagnostics)}});
}

}  // namespace stepzero::server
