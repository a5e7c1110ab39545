#include "rules/launch/program_environment.hpp"

#include "rules/launch/settings.hpp"
#include "rules/launch/variables.hpp"
#include "rules/source.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::rules::launch {

using namespace syntax;

namespace {

struct Set {
  const Expr* name = nullptr;   // the text
  const Expr* value = nullptr;  // may be null
  const Stmt* stmt = nullptr;   // the innermost one
};

std::string_view text_of(const Expr& expr) {
  return expr.kind == ExprKind::string ? as<StringExpr>(expr).value : std::string_view();
}
// os.environ, or environ
bool is_environment(const Expr& expr) {
  if (expr.kind == ExprKind::name) return as<NameExpr>(expr).id.text() == "environ";
  return expr.kind == ExprKind::attribute && as<AttributeExpr>(expr).attribute.text() == "environ";
}

void of_call(const CallExpr& call, const Stmt& stmt, const std::function<void(const Set&)>& each) {
  if (call.function->kind != ExprKind::attribute) return;
  const auto& function = as<AttributeExpr>(*call.function);
  const std::string_view name = function.attribute.text();
  const bool puts = name == "putenv" && function.object->kind == ExprKind::name &&
      as<NameExpr>(*function.object).id.text() == "os";
  if ((puts || (name == "setdefault" && is_environment(*function.object))) && !call.arguments.empty() &&
      call.arguments[0]->kind == ExprKind::string)
    each({call.arguments[0], call.arguments.size() > 1 ? call.arguments[1] : nullptr, &stmt});
  if (name != "update" || !is_environment(*function.object) || call.arguments.empty() ||
      call.arguments[0]->kind != ExprKind::dict)
    return;
  for (const DictItem& item : as<DictExpr>(*call.arguments[0]).items)
    if (item.key && item.key->kind == ExprKind::string) each({item.key, item.value, &stmt});
}

void each_set(const Stmt& root, const std::function<void(const Set&)>& each) {
  for_each_statement(root, [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::expression && as<ExpressionStmt>(stmt).value->kind == ExprKind::call)
      of_call(as<CallExpr>(*as<ExpressionStmt>(stmt).value), stmt, each);
    if (stmt.kind != StmtKind::assign) return;
    for (const Expr* target : as<AssignStmt>(stmt).targets)
      if (target->kind == ExprKind::subscript && is_environment(*as<SubscriptExpr>(*target).object) &&
          as<SubscriptExpr>(*target).index->kind == ExprKind::string)
        each({as<SubscriptExpr>(*target).index, as<AssignStmt>(stmt).value, &stmt});
  });
}

// Where the run made the process group, if it is made in one place alone.
std::optional<Place> group_made(const Record& record) {
  std::optional<Place> found;
  bool several = false;
  visit_roots(record, [&](const Event& event) {
    if (event.kind != interpreter::EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    if (operation.row && operation.row->operation == values::Operation::group_settings)
      several = several || (found && !(*found == event.place)), found = event.place;
  });
  return several ? std::nullopt : found;
}

// Does the place stand before the statement, in a statement of the same block or of one around it that always
// runs first? Only whole statements count: a place in a branch may not have been there.
bool stands_before(const Stmt& root, const Stmt& stmt, Span place) {
  for (const Enclosing& around : enclosing(root, stmt.span)) {
    if (around.stmt->kind == StmtKind::function && around.stmt != &stmt) continue;
    for (std::size_t i = 0; i < around.index && i < around.block.size(); ++i) {
      const Stmt& earlier = *around.block[i];
      if (earlier.kind == StmtKind::expression && earlier.span.begin <= place.begin &&
          place.end <= earlier.span.end)
        return true;
    }
  }
  return false;
}

// Of one file the statements at the top run in order.
bool is_after(const Record& record, std::uint32_t chunk, const Stmt& stmt, Place group) {
  if (group.chunk == chunk) return stands_before(*record.chunks[chunk].chunk->stmt, stmt, group.span);
  const auto& there = record.chunk(group);
  return there.path == record.chunks[chunk].path && there.chunk && there.chunk->stmt &&
      there.chunk->stmt->kind == StmtKind::expression &&
      record.chunks[chunk].chunk->stmt->kind != StmtKind::function &&
      record.chunks[chunk].chunk->stmt->kind != StmtKind::class_ &&
      there.offset < record.chunks[chunk].offset;
}

}  // namespace

void check_program_environment(const Record& record, Report& report) {
  const std::optional<Place> group = group_made(record);
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const auto& chunk = record.chunks[i];
    if (chunk.path != record.path || !chunk.statement()) continue;
    each_set(*chunk.chunk->stmt, [&](const Set& set) {
      const std::string_view name = text_of(*set.name);
      const std::string_view written = record.text({i, set.name->span});
      const std::optional<std::string> value = set.value && set.value->kind == ExprKind::string
          ? std::optional<std::string>(text_of(*set.value))
          : std::nullopt;
      for (const SettingProblem& problem : judge_setting(name, value)) {
        Finding* finding = report.add(problem.severity,
            {i, problem.at_value ? set.value->span : set.name->span}, nullptr, problem.message);
        if (!finding || problem.rename.empty() || written.size() != name.size() + 2) continue;
        Fix fix;
        fix.title = "Rename to " + problem.rename;
        fix.preferred = problem.is_certain;
        fix.edits.push_back(
            {report.location({i, {set.name->span.begin + 1, set.name->span.end - 1}}), problem.rename});
        finding->fixes.push_back(std::move(fix));
      }
      if (!group || !find_variable(name) || !is_read_by_the_group(name) ||
          !is_after(record, i, *set.stmt, *group))
        return;
      if (Finding* finding = report.add(Severity::warning, {i, set.name->span}, nullptr,
              "`" + std::string(name) +
                  "` is set after the process group was made, which has read it by then: this has no effect on it. Set it before `init_process_group`"))
        report.relate(*finding, *group, "the group is made here");
    });
  }
}

}  // namespace stepzero::rules::launch
