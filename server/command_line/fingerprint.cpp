#include "server/command_line/fingerprint.hpp"

#include "server/workspace/paths.hpp"

#include <cstdint>
#include <map>

namespace stepzero::server {
namespace {

std::string collapsed(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!blank)
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  if (result.ends_with(' ')) result.pop_back();
  return result;
}

std::string line_of(const Report& report, const rules::Location& where) {
  const auto text = report.texts.find(where.path);
  if (text == report.texts.end() || !text->second) return {};
  const syntax::Text& of = *text->second;
  const std::uint32_t line = of.position(where.span.begin, syntax::Encoding::utf8).line;
  const std::uint32_t begin = of.line_start(line);
  const std::uint32_t end = line + 1 < of.line_count() ? of.line_start(line + 1) : of.size();
  return collapsed(of.slice({begin, end}));
}

// FNV-1a: short, and the same everywhere.
std::string digest(const Fingerprint& of) {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::string* part : {&of.path, &of.rule, &of.line}) {
    for (const char c : *part + '\0') hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  std::string digits(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) digits[i] = "0123456789abcdef"[hash & 15];
  return digits;
}

}  // namespace

Fingerprint fingerprint(const Report& report, const rules::Finding& finding, std::string path) {
  return {std::move(path), std::string(finding.rule), line_of(report, finding.where)};
}

std::vector<std::string> fingerprints(const Report& report) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::string> result;
  const std::string& folder = report.names.current_folder();
  for (const rules::Finding& finding : report.findings) {
    const std::string digits = digest(fingerprint(report, finding, seen_from(finding.where.path, folder)));
    result.push_back(digits + ":" + std::to_string(++seen[digits]));
  }
  return result;
}

}  // namespace stepzero::server
