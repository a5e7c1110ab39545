#include "rules/imports.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace syntax;

std::string name_of_module(const Module& module, std::initializer_list<std::string_view> dotted) {
  const auto same = [](List<Name> path, auto begin, auto end) {
    return std::equal(path.begin(), path.end(), begin, end,
        [](Name name, std::string_view part) { return name.text() == part; });
  };
  for (const Item& item : module.items) {
    const Stmt& stmt = *item.chunk->stmt;
    if (stmt.kind == StmtKind::import)
      for (const Alias& alias : as<ImportStmt>(stmt).names) {
        if (!same(alias.path, dotted.begin(), dotted.end())) continue;
        if (!alias.alias.empty()) return std::string(alias.alias.text());
        std::string name;
        for (const std::string_view part : dotted) name += (name.empty() ? "" : ".") + std::string(part);
        return name;
      }
    if (stmt.kind == StmtKind::import_from && dotted.size() > 1) {
      const auto& from = as<ImportFromStmt>(stmt);
      if (from.level > 0 || !same(from.module, dotted.begin(), dotted.end() - 1)) continue;
      for (const Alias& alias : from.names)
        if (alias.path.size() == 1 && alias.path[0].text() == *(dotted.end() - 1))
          return std::string((alias.alias.empty() ? alias.path[0] : alias.alias).text());
    }
  }
  return {};
}

}  // namespace stepzero::rules
