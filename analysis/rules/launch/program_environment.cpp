#include "rules/launch/program_environment.hpp"

#include "documents/document.hpp"
#include "rules/launch/settings.hpp"
#include "rules/launch/variables.hpp"
#include "rules/source.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::rules::launch {

using namespace syntax;

namespace {

struct Set {
  const Expr* name = nullptr;     // the text
  const Expr* value = nullptr;    // may be null
  const Stmt* stmt = nullptr;     // the innermost one
  std::string_view keyword = {};  // of `update(NAME="value")`, which has no text
  Span keyword_span = {};
};

std::string_view string_of(const Expr& expr) {
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
  if (name == "update" && is_environment(*function.object))
    for (const Keyword& given : call.keywords)
      if (!given.name.text().empty()) each({nullptr, given.value, &stmt, given.name.text(), given.span});
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
    // os.environ |= {"NAME": "value"}
    if (stmt.kind == StmtKind::aug_assign && is_environment(*as<AugAssignStmt>(stmt).target) &&
        as<AugAssignStmt>(stmt).value->kind == ExprKind::dict)
      for (const DictItem& item : as<DictExpr>(*as<AugAssignStmt>(stmt).value).items)
        if (item.key && item.key->kind == ExprKind::string) each({item.key, item.value, &stmt});
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
  visit_operations(record, [&](const OperationEvent& operation) {
    if (operation.row && operation.row->operation == values::Operation::group_settings)
      several = several || (found && !(*found == operation.place)), found = operation.place;
  });
  return several ? std::nullopt : found;
}

// Where the run made collectives: NCCL reads its variables with the first of them.
std::vector<Place> collectives_made(const Record& record) {
  std::vector<Place> found;
  visit_operations(record, [&](const OperationEvent& operation) {
    if (operation.row && operation.row->operation == values::Operation::collective &&
        operation.row->path.starts_with("torch.distributed.") &&
        std::find(found.begin(), found.end(), operation.place) == found.end())
      found.push_back(operation.place);
  });
  return found;
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

// What all ranks have to agree on: NCCL's documentation of its variables, 2.27, and of torch.distributed.
constexpr std::string_view same_on_all_ranks[] = {"NCCL_ALGO", "NCCL_PROTO", "NCCL_MIN_NCHANNELS",
    "NCCL_MAX_NCHANNELS", "NCCL_BUFFSIZE", "NCCL_NTHREADS", "NCCL_CROSS_NIC", "NCCL_P2P_DISABLE",
    "NCCL_SHM_DISABLE", "NCCL_P2P_LEVEL", "TORCH_DISTRIBUTED_DEBUG", "MASTER_ADDR", "MASTER_PORT"};

bool names_rank(const Expr& expr) {
  bool found = false;
  for_each_expression(expr, [&](const Expr& each) {
    if (each.kind == ExprKind::name) {
      const std::string_view name = as<NameExpr>(each).id.text();
      found = found || name == "rank" || name == "local_rank" || name == "global_rank";
    } else if (each.kind == ExprKind::call) {
      const auto& call = as<CallExpr>(each);
      const std::string_view last = call.function->kind == ExprKind::attribute
          ? as<AttributeExpr>(*call.function).attribute.text()
          : std::string_view();
      found = found || last == "get_rank";
    } else if (each.kind == ExprKind::string) {
      const std::string_view text = as<StringExpr>(each).value;
      found = found || text == "RANK" || text == "LOCAL_RANK";
    }
  });
  return found;
}

// `if rank == 0:` around it, with nothing set on the other ranks.
void check_some_ranks(const Record& record, std::uint32_t chunk, const Set& set, std::string_view name,
    Span where, Report& report) {
  if (std::find(std::begin(same_on_all_ranks), std::end(same_on_all_ranks), name) ==
      std::end(same_on_all_ranks))
    return;
  for (const Enclosing& around : enclosing(*record.chunks[chunk].chunk->stmt, set.stmt->span)) {
    if (around.stmt->kind != StmtKind::if_) continue;
    const auto& branch = as<IfStmt>(*around.stmt);
    const bool compares = branch.test->kind == ExprKind::compare &&
        as<CompareExpr>(*branch.test).ops.size() == 1 &&
        as<CompareExpr>(*branch.test).ops[0] == CompareOp::eq;
    if (!compares || !branch.orelse.empty() || !names_rank(*branch.test)) continue;
    report.add(Severity::warning, {chunk, where}, nullptr,
        "`" + std::string(name) +
            "` is set on some ranks only, but all of them must agree on it: otherwise they wait for each other. Set it on every rank, or in the script that launches them.");
    return;
  }
}

// CUDA_VISIBLE_DEVICES after the first use of the GPU, in the statements of the module.
void check_after_cuda(const Record& record, std::uint32_t chunk, const Set& set, std::string_view name,
    Span where, Report& report) {
  if (name != "CUDA_VISIBLE_DEVICES" || record.chunks[chunk].chunk->stmt != set.stmt) return;
  constexpr std::string_view begins[] = {".cuda(", "torch.cuda.set_device(", "torch.cuda.init(",
      "torch.cuda.current_device(", "torch.cuda.get_device_name(", "device=\"cuda", "device='cuda",
      ".to(\"cuda", ".to('cuda"};
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const auto& earlier = record.chunks[i];
    if (earlier.path != record.path || !earlier.statement() || earlier.offset >= record.chunks[chunk].offset)
      continue;
    const Stmt& stmt = *earlier.chunk->stmt;
    if (stmt.kind != StmtKind::assign && stmt.kind != StmtKind::expression) continue;
    const std::string_view text = record.text({i, stmt.span});
    if (std::none_of(std::begin(begins), std::end(begins),
            [&](std::string_view each) { return text.find(each) != std::string_view::npos; }))
      continue;
    if (Finding* finding = report.add(Severity::warning, {chunk, where}, nullptr,
            "`CUDA_VISIBLE_DEVICES` is set after CUDA was used: it is read once, where CUDA begins, and this has no effect. Set it before the first use of the GPU, best before `import torch`, or in the script that launches the program."))
      report.relate(*finding, Place{i, stmt.span}, "CUDA begins here");
    return;
  }
}

// A name that is nearly one of those that launchers set, and that the program sets nowhere.
void check_reads(const Record& record, Report& report) {
  constexpr std::string_view set_by_launchers[] = {
      "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK"};
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const auto& chunk = record.chunks[i];
    if (chunk.path != record.path || !chunk.statement()) continue;
    for_each_expression(*chunk.chunk->stmt, [&](const Expr& expr) {
      if (expr.kind != ExprKind::subscript || !is_environment(*as<SubscriptExpr>(expr).object)) return;
      const Expr& index = *as<SubscriptExpr>(expr).index;
      const std::string_view name = string_of(index);
      if (name.size() < 8 || find_variable(name)) return;
      const auto meant = std::find_if(std::begin(set_by_launchers), std::end(set_by_launchers),
          [&](std::string_view each) { return each != name && documents::is_typo(name, each); });
      if (meant == std::end(set_by_launchers)) return;
      bool is_set = false;
      for (std::uint32_t j = 0; j < record.chunks.size() && !is_set; ++j)
        if (record.chunks[j].statement())
          each_set(*record.chunks[j].chunk->stmt, [&](const Set& set) {
            is_set = is_set || (set.name ? string_of(*set.name) : set.keyword) == name;
          });
      if (is_set) return;
      Finding* finding = report.add(Severity::warning, {i, index.span}, nullptr,
          "No launcher sets `" + std::string(name) + "`, so reading it raises `KeyError`. Did you mean `" +
              std::string(*meant) + "`?");
      if (finding && record.text({i, index.span}).size() == name.size() + 2) {
        Fix fix;
        fix.title = "Rename to " + std::string(*meant);
        fix.preferred = true;
        fix.edits.push_back(
            {report.location({i, {index.span.begin + 1, index.span.end - 1}}), std::string(*meant)});
        finding->fixes.push_back(std::move(fix));
      }
    });
  }
}

}  // namespace

void check_program_environment(const Record& record, Report& report) {
  check_reads(record, report);
  const std::optional<Place> group = group_made(record);
  const std::vector<Place> collectives = collectives_made(record);
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const auto& chunk = record.chunks[i];
    if (chunk.path != record.path || !chunk.statement()) continue;
    each_set(*chunk.chunk->stmt, [&](const Set& set) {
      const std::string_view name = set.name ? string_of(*set.name) : set.keyword;
      const Span name_span = set.name
          ? set.name->span
          : Span{set.keyword_span.begin, set.keyword_span.begin + static_cast<std::uint32_t>(name.size())};
      const std::string_view written = set.name ? record.text({i, name_span}) : std::string_view();
      const std::optional<std::string> value = set.value && set.value->kind == ExprKind::string
          ? std::optional<std::string>(string_of(*set.value))
          : std::nullopt;
      for (const SettingProblem& problem : judge_setting(name, value)) {
        Finding* finding = report.add(
            problem.severity, {i, problem.at_value ? set.value->span : name_span}, nullptr, problem.message);
        if (!finding || problem.rename.empty() || written.size() != name.size() + 2) continue;
        Fix fix;
        fix.title = "Rename to " + problem.rename;
        fix.preferred = problem.is_certain;
        fix.edits.push_back({report.location({i, {name_span.begin + 1, name_span.end - 1}}), problem.rename});
        finding->fixes.push_back(std::move(fix));
      }
      check_after_cuda(record, i, set, name, name_span, report);
      const bool is_late = group && find_variable(name) && is_read_by_the_group(name) &&
          is_after(record, i, *set.stmt, *group);
      const auto first = name.starts_with("NCCL_") && find_variable(name) && !is_late
          ? std::find_if(collectives.begin(), collectives.end(),
                [&](Place each) { return is_after(record, i, *set.stmt, each); })
          : collectives.end();
      if (first != collectives.end()) {
        if (Finding* finding = report.add(Severity::warning, {i, name_span}, nullptr,
                "`" + std::string(name) +
                    "` is set after a collective, and NCCL reads its variables once, with the first of them: this has no effect. Set it before `init_process_group`"))
          report.relate(*finding, *first, "NCCL has read it by then");
        return;
      }
      if (!is_late) check_some_ranks(record, i, set, name, name_span, report);
      if (!is_late) return;
      if (Finding* finding = report.add(Severity::warning, {i, name_span}, nullptr,
              "`" + std::string(name) +
                  "` is set after the process group was made, which has read it by then: this has no effect on it. Set it before `init_process_group`"))
        report.relate(*finding, *group, "the group is made here");
    });
  }
}

}  // namespace stepzero::rules::launch
