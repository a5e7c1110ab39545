#include "server/lsp/rule_pages.hpp"

#include "protocol/uri.hpp"
#include "rules/rule.hpp"

#include <filesystem>
#include <system_error>

namespace stepzero::server {

RulePages::RulePages(const std::string& folder) {
  std::error_code error;
  if (folder.empty() || !std::filesystem::is_directory(folder, error)) return;
  for (const rules::Rule& rule : rules::rules()) {
    const std::string page = folder + "/" + std::string(rule.id) + ".md";
    if (std::filesystem::is_regular_file(page, error)) uris_.emplace(rule.id, protocol::uri_of(page));
  }
}

std::string RulePages::installed_folder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return (program.parent_path().parent_path() / "share/doc/stepzero/rules").lexically_normal().string();
}

std::optional<std::string> RulePages::uri(std::string_view rule) const {
  const auto found = uris_.find(rule);
  if (found == uris_.end()) return std::nullopt;
  return found->second;
}

}  // namespace stepzero::server
