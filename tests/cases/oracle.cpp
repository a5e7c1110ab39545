#include "oracle.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace stepzero::cases {

namespace {

// FNV-1a over titles and texts, as oracle.py does it.
std::string content_hash(const std::vector<File>& files) {
  std::uint64_t hash = 14695981039346656037u;
  const auto add = [&](const std::string& text) {
    for (const char c : text + '\0') hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  };
  for (const File& file : files) {
    add(file.title);
    add(file.text);
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

// On a CPU a GradScaler is disabled: of amp the oracle can only say that it runs.
bool must_fail(const std::vector<File>& files) {
  for (const File& file : files)
    for (const Expectation& expected : file.expected)
      if (expected.severity == "error" &&
          expected.standing != Expectation::StandingFindings::wrongly_present &&
          !expected.rule.starts_with("amp/"))
        return true;
  return false;
}

}  // namespace

Oracle::Oracle(const std::string& path) {
  std::ifstream in(path);
  if (!in) return;
  const nlohmann::json all = nlohmann::json::parse(in);
  for (const auto& [hash, entry] : all.at("outcomes").items())
    outcomes_[hash] = entry.at("outcome").get<std::string>();
}

void Oracle::look(const std::vector<File>& files, std::uint32_t line, std::vector<std::string>& complaints) {
  const std::string hash = content_hash(files);
  asked_.insert(hash);
  const auto it = outcomes_.find(hash);
  const std::string where = "line " + std::to_string(line) + ": ";
  if (it == outcomes_.end())
    complaints.push_back(where + "PyTorch was not asked about this text: run tests/cases/oracle.py --record");
  else if (must_fail(files) != (it->second != "runs"))
    complaints.push_back(where + "PyTorch disagrees: it " + it->second);
}

std::vector<std::string> Oracle::judge(const Program& program) {
  std::vector<std::string> complaints;
  if (!program.torch) return complaints;
  look(program.files, program.line, complaints);
  for (const AfterFix& after : program.after) {
    std::vector<File> files = program.files;
    for (File& file : files) {
      if (file.title == after.file.title) file = after.file;
    }
    look(files, program.line, complaints);
  }
  return complaints;
}

std::vector<std::string> Oracle::stale() const {
  std::vector<std::string> stale;
  for (const auto& [hash, outcome] : outcomes_)
    if (!asked_.contains(hash)) stale.push_back(hash);
  return stale;
}

}  // namespace stepzero::cases
