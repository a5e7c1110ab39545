// Findings as SARIF 2.1.0, the format of code scanning services.
#include "server/command_line/fingerprint.hpp"
#include "server/command_line/json.hpp"

#include "rules/rule.hpp"
#include "server/configuration/settings.hpp"
#include "server/version.hpp"
#include "server/workspace/paths.hpp"

#include <set>

namespace stepzero::server {
namespace {

constexpr const char* root_name = "SRCROOT";

std::string percent_encoded(std::string_view path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string result;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
        (byte >= '0' && byte <= '9') || std::string_view("/-._~").find(c) != std::string_view::npos;
    if (plain) {
      result += c;
    } else {
      result += '%';
      result += digits[byte >> 4];
      result += digits[byte & 15];
    }
  }
  return result;
}

std::string_view level(rules::Severity severity) {
  if (severity == rules::Severity::error) return "error";
  return severity == rules::Severity::warning ? "warning" : "note";
}

class Log {
public:
  explicit Log(const Report& report) : report_(report) {}

  Json run() {
    for (const rules::Rule& rule : rules::rules()) {
      add_rule(std::string(rule.id), rule.severity, std::string(rule.summary), std::string(rule.why),
          rules::page(rule));
    }
    add_rule(std::string(configuration_rule), rules::Severity::warning, "A setting that cannot be understood",
        "A setting that is misspelled or of the wrong type has no effect.",
        "A setting that is misspelled or of the wrong type has no effect.");
    Json results = Json::array();
    const std::vector<std::string> keys = fingerprints(report_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      results.push_back(result(report_.findings[i]));
      results.back()["partialFingerprints"] = {{"stepzero/v1", keys[i]}};
    }
    Json notifications = Json::array();
    for (const Unreadable& unreadable : report_.unreadable) {
      notifications.push_back(
          {{"level", "error"}, {"message", {{"text", unreadable.name + ": " + unreadable.reason}}}});
    }
    const std::string folder = report_.names.current_folder();
    const std::string base = "file://" + percent_encoded(folder) + (folder.ends_with('/') ? "" : "/");
    Json run = {
        {"tool",
            {{"driver",
                {{"name", "stepzero"}, {"semanticVersion", version()}, {"rules", std::move(rules_)}}}}},
        {"invocations",
            Json::array(
                {{{"executionSuccessful", report_.unreadable.empty()}, {"exitCode", report_.exit_status},
                    {"toolExecutionNotifications", std::move(notifications)}}})},
        {"columnKind", "unicodeCodePoints"}, {"originalUriBaseIds", {{root_name, {{"uri", base}}}}},
        {"results", std::move(results)}};
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"},
        {"runs", Json::array({std::move(run)})}};
  }

private:
  void add_rule(
      std::string id, rules::Severity severity, std::string summary, std::string why, std::string page) {
    index_[id] = rules_.size();
    rules_.push_back({{"id", id}, {"shortDescription", {{"text", std::move(summary)}}},
        {"fullDescription", {{"text", std::move(why)}}}, {"help", {{"text", page}, {"markdown", page}}},
        {"defaultConfiguration", {{"level", level(severity)}}},
        {"properties", {{"tags", Json::array({family(id)})}}}});
  }

  Json artifact(const std::string& path) const {
    const std::string& folder = report_.names.current_folder();
    if (!is_inside(path, folder)) return {{"uri", "file://" + percent_encoded(path)}};
    return {{"uri", percent_encoded(relative_to(path, folder))}, {"uriBaseId", root_name}};
  }

  Json region(const rules::Location& where) const {
    const auto [begin, end] = report_.places(where);
    Json json = {{"startLine", begin.line}, {"startColumn", begin.column}, {"endLine", end.line},
        {"endColumn", end.column}};
    if (begin.cell != 0) json["properties"] = {{"cell", begin.cell}};
    return json;
  }

  Json location(const rules::Location& where) const {
    return {{"physicalLocation", {{"artifactLocation", artifact(where.path)}, {"region", region(where)}}}};
  }

  Json fix_of(const rules::Fix& fix) const {
    std::vector<std::string> paths;
    std::set<std::string> seen;
    for (const rules::TextEdit& edit : fix.edits) {
      if (seen.insert(edit.where.path).second) paths.push_back(edit.where.path);
    }
    Json changes = Json::array();
    for (const std::string& path : paths) {
      Json replacements = Json::array();
      for (const rules::TextEdit& edit : fix.edits) {
        if (edit.where.path != path) continue;
        replacements.push_back(
            {{"deletedRegion", region(edit.where)}, {"insertedContent", {{"text", edit.new_text}}}});
      }
      changes.push_back({{"artifactLocation", artifact(path)}, {"replacements", std::move(replacements)}});
    }
    return {{"description", {{"text", fix.title}}}, {"artifactChanges", std::move(changes)}};
  }

  Json result(const rules::Finding& finding) {
    const std::string id(finding.rule);
    if (!index_.contains(id)) add_rule(id, finding.severity, id, id, id);
    Json json = {{"ruleId", id}, {"ruleIndex", index_[id]}, {"level", level(finding.severity)},
        {"message", {{"text", finding.message}}}, {"locations", Json::array({location(finding.where)})}};
    Json related = Json::array();
    for (const rules::Related& other : finding.related) {
      Json place = {{"id", related.size() + 1}};
      place.update(location(other.where));
      place["message"] = {{"text", other.message}};
      related.push_back(std::move(place));
    }
    if (!related.empty()) json["relatedLocations"] = std::move(related);
    Json fixes = Json::array();
    for (const rules::Fix& fix : finding.fixes) {
      if (!fix.edits.empty()) fixes.push_back(fix_of(fix));
    }
    if (!fixes.empty()) json["fixes"] = std::move(fixes);
    return json;
  }

  const Report& report_;
  Json rules_ = Json::array();
  std::map<std::string, std::size_t> index_;
};

}  // namespace

std::string sarif_report(const Report& report) { return written(Log(report).run()); }

}  // namespace stepzero::server
