#include "rules/launch/placement.hpp"

#include "rules/launch/declarations.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/source.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace stepzero::rules::launch {

using namespace syntax;

namespace {

// int(os.environ["RANK"]), os.environ["RANK"], os.getenv("RANK")
bool reads_rank(const Expr& expr) {
  if (expr.kind == ExprKind::call) {
    const auto& call = as<CallExpr>(expr);
    const std::string_view name = last_name(*call.function);
    if (name == "get_rank") return call.arguments.empty() && call.keywords.empty();
    if (name == "int") return call.arguments.size() == 1 && reads_rank(*call.arguments[0]);
    return (name == "getenv" || name == "get") && !call.arguments.empty() &&
        literal(call.arguments[0]) == "RANK";
  }
  return expr.kind == ExprKind::subscript && last_name(*as<SubscriptExpr>(expr).object) == "environ" &&
      literal(as<SubscriptExpr>(expr).index) == "RANK";
}

// What a module gives to each name; null: something that is not told.
std::map<std::string_view, std::vector<const Expr*>> values_of_names(const Module& module) {
  std::map<std::string_view, std::vector<const Expr*>> values;
  const auto note = [&](const Expr& target, const Expr* value) {
    if (target.kind == ExprKind::name) values[as<NameExpr>(target).id.text()].push_back(value);
    if (target.kind != ExprKind::tuple) return;
    for (const Expr* each : as<TupleExpr>(target).elements)
      if (each->kind == ExprKind::name) values[as<NameExpr>(*each).id.text()].push_back(nullptr);
  };
  for (const Item& item : module.items)
    if (item.chunk->stmt)
      for_each_statement(*item.chunk->stmt, [&](const Stmt& stmt) {
        if (stmt.kind == StmtKind::assign)
          for (const Expr* target : as<AssignStmt>(stmt).targets) note(*target, as<AssignStmt>(stmt).value);
        if (stmt.kind == StmtKind::aug_assign) note(*as<AugAssignStmt>(stmt).target, nullptr);
        if (stmt.kind == StmtKind::for_) note(*as<ForStmt>(stmt).target, nullptr);
        if (stmt.kind == StmtKind::function)
          for (const Parameter& parameter : as<FunctionStmt>(stmt).parameters->list)
            values[parameter.name.text()].push_back(nullptr);
      });
  return values;
}

}  // namespace

std::optional<Location> device_by_global_rank(
    const program::Sources& sources, const std::string& path, std::set<std::string>& read) {
  read.insert(path);
  const auto module = sources.module(path);
  if (!module || module->has_error || module->text->bytes().find("set_device") == std::string::npos)
    return std::nullopt;
  const auto values = values_of_names(*module);
  std::optional<Location> found;
  bool otherwise = false;  // another call takes another device
  for (const Item& item : module->items) {
    if (!item.chunk->stmt) continue;
    for_each_expression(*item.chunk->stmt, [&](const Expr& expr) {
      if (expr.kind != ExprKind::call || last_name(*as<CallExpr>(expr).function) != "set_device" ||
          as<CallExpr>(expr).arguments.size() != 1)
        return;
      const Expr& device = *as<CallExpr>(expr).arguments[0];
      bool global = reads_rank(device);
      if (device.kind == ExprKind::name)
        if (const auto known = values.find(as<NameExpr>(device).id.text()); known != values.end())
          global = std::all_of(known->second.begin(), known->second.end(),
              [](const Expr* value) { return value && reads_rank(*value); });
      if (global)
        found = Location{path, {expr.span.begin + item.offset, expr.span.end + item.offset}};
      else
        otherwise = true;
    });
  }
  return otherwise ? std::nullopt : found;
}

bool takes_any_gpu(const program::Sources& sources, const std::string& path, std::set<std::string>& read) {
  if (!mentions(sources, path, {"nccl\""}, read) && !mentions(sources, path, {"nccl'"}, read)) return false;
  if (!mentions(sources, path, {".cuda()", "to(\"cuda\")", "to('cuda')"}, read)) return false;
  return !mentions(sources, path,
      {"set_device", "LOCAL_RANK", "local_rank", "device_id", "cuda:", "CUDA_VISIBLE_DEVICES", "ccelerat",
          "Fabric", "Trainer", "deepspeed", "lightning", "(rank", "=rank", "(gpu", "=gpu", "device(",
          ".device", "world_size() ==", "spawn"},
      read);
}

bool needs_local_rank_argument(
    const program::Sources& sources, const std::string& path, std::set<std::string>& read) {
  return mentions(sources, path, {".local_rank"}, read) &&
      !mentions(sources, path,
          {"LOCAL_RANK", "local_process_index", "get_local_rank", "node_local_rank", "get_node_local_rank",
              "ccelerat", "Fabric", "Trainer", "deepspeed", "lightning", "device_count", "vars(", "setattr",
              ".local_rank ="},
          read);
}

}  // namespace stepzero::rules::launch
