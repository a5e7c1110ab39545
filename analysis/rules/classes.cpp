#include "rules/classes.hpp"

#include <set>

namespace stepzero::rules {

using namespace syntax;

bool derives(const values::LibrarySymbol* native, std::string_view path) {
  for (const values::Row* row = native ? native->row : nullptr; row; row = row->base_row)
    if (row->path == path) return true;
  return native && native->path == path;
}

bool derives(const values::Class& cls, std::string_view path) { return derives(cls.native, path); }

const FunctionStmt* method_of(const values::Class& cls, std::string_view name) {
  for (const values::Class* each : cls.order)
    for (const Stmt* stmt : each->stmt->body)
      if (stmt->kind == StmtKind::function && as<FunctionStmt>(*stmt).name.text() == name)
        return &as<FunctionStmt>(*stmt);
  return nullptr;
}

std::vector<const values::Function*> functions_that_ran(const Record& record) {
  std::set<const values::Function*> seen;
  std::vector<const values::Function*> found;
  const auto add = [&](const values::Function* function) {
    if (function && function->stmt && seen.insert(function).second) found.push_back(function);
  };
  for (const auto& root : record.roots) add(root->function);
  visit_kind(record, interpreter::EventKind::call,
      [&](const Event& event) { add(static_cast<const interpreter::CallEvent&>(event).function); });
  return found;
}

}  // namespace stepzero::rules
