#include "server/command_line/baseline.hpp"

#include "server/command_line/json.hpp"
#include "server/workspace/paths.hpp"
#include "server/workspace/read.hpp"

namespace stepzero::server {
namespace {

constexpr int format_version = 1;

}  // namespace

bool Baseline::take(const Fingerprint& finding) {
  const auto known = counts_.find(finding);
  if (known == counts_.end()) return false;
  if (--known->second == 0) counts_.erase(known);
  return true;
}

std::size_t Baseline::left(const std::set<std::string>& paths) const {
  std::size_t sum = 0;
  for (const auto& [finding, count] : counts_) sum += paths.contains(finding.path) ? count : 0;
  return sum;
}

ReadBaseline read_baseline(const std::string& path) {
  const ReadText read = read_text(path);
  if (!read.text) return {{}, read.reason};
  const Json json = Json::parse(*read.text, nullptr, false);
  const auto wrong = [](std::string reason) {
    return ReadBaseline{{}, std::move(reason) + "; write it again with --write-baseline"};
  };
  if (!json.is_object() || !json.contains("findings") || !json["findings"].is_array())
    return wrong("not a baseline of stepzero");
  if (json.value("version", Json()) != format_version)
    return wrong("a baseline of another version of stepzero");
  Baseline baseline;
  for (const Json& entry : json["findings"]) {
    if (!entry.is_object()) return wrong("not a baseline of stepzero");
    const Json path_of = entry.value("path", Json()), rule = entry.value("rule", Json()),
               line = entry.value("line", Json());
    const Json count = entry.value("count", Json(1));
    if (!path_of.is_string() || !rule.is_string() || !line.is_string() || !count.is_number_integer() ||
        count < 1)
      return wrong("not a baseline of stepzero");
    baseline.add({path_of.get<std::string>(), rule.get<std::string>(), line.get<std::string>()},
        count.get<std::size_t>());
  }
  return {std::move(baseline), {}};
}

std::string baseline_text(const Report& report, const std::string& folder) {
  Baseline baseline;
  for (const rules::Finding& finding : report.findings)
    baseline.add(fingerprint(report, finding, seen_from(finding.where.path, folder)));
  std::string text = "{\"version\": " + std::to_string(format_version) + ", \"findings\": [";
  bool first = true;
  for (const auto& [finding, count] : baseline.counts()) {
    Json entry = {{"path", finding.path}, {"rule", finding.rule}, {"line", finding.line}};
    if (count > 1) entry["count"] = count;
    text += (first ? "\n  " : ",\n  ") + entry.dump(-1, ' ', false, Json::error_handler_t::replace);
    first = false;
  }
  return text + "\n]}\n";
}

}  // namespace stepzero::server
