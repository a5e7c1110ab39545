// Where the rules' pages lie: share/doc/stepzero/rules/<family>/<name>.md beside the program's bin/. A rule
// without a page there has no link.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace stepzero::server {

class RulePages {
public:
  RulePages() = default;                          // no pages
  explicit RulePages(const std::string& folder);  // that holds <family>/<name>.md

  // The folder that belongs to the running program; it need not exist.
  static std::string installed_folder();

  bool empty() const { return uris_.empty(); }
  std::optional<std::string> uri(std::string_view rule) const;

private:
  std::map<std::string, std::string, std::less<>> uris_;
};

}  // namespace stepzero::server
