#include "rules/launch/program_rendezvous.hpp"

#include "libraries/table/class_roles.hpp"
#include "rules/launch/declarations.hpp"
#include "rules/name_hints.hpp"
#include "rules/shape/operator_problem.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace stepzero::rules::launch {

using namespace syntax;

namespace {

// A call in the file that is judged, with its place.
struct FoundCall {
  const CallExpr* call;
  std::uint32_t chunk;
  const FunctionStmt* function;  // around it; null: the module
};

class File {
public:
  explicit File(const Record& record) {
    for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
      const auto& chunk = record.chunks[i];
      if (chunk.path != record.path || !chunk.statement()) continue;
      const Stmt& root = *chunk.chunk->stmt;
      for_each_statement(root, [&](const Stmt& stmt) { bind(stmt, &stmt == &root); });
      for_each_expression(root, [&](const Expr& expr) {
        if (expr.kind == ExprKind::call)
          calls.push_back({&as<CallExpr>(expr), i, function_around(record, {i, expr.span})});
      });
    }
  }

  std::vector<FoundCall> calls;

  // The function of the module that is called so, if nothing else in the file is.
  const FunctionStmt* function(const Expr* name) const {
    const Bound* found = only_one(name);
    return found ? found->function : nullptr;
  }
  std::optional<std::int64_t> number(const Expr* expr) const {
    if (const Bound* found = only_one(expr)) expr = found->value;
    if (!expr || expr->kind != ExprKind::integer || !as<IntegerExpr>(*expr).fits) return std::nullopt;
    return as<IntegerExpr>(*expr).value;
  }

private:
  // What a name of the file is bound to, and how often anything is bound to it.
  struct Bound {
    int times = 0;
    const FunctionStmt* function = nullptr;  // of the module
    const Expr* value = nullptr;             // assigned by the module
  };
  const Bound* only_one(const Expr* name) const {
    if (!name || name->kind != ExprKind::name || takes_any_name_) return nullptr;
    const auto found = bound_.find(as<NameExpr>(*name).id.text());
    return found == bound_.end() || found->second.times != 1 ? nullptr : &found->second;
  }
  void bind_target(const Expr& target) {
    for_each_expression(target, [&](const Expr& part) {
      if (part.kind == ExprKind::name) ++bound_[as<NameExpr>(part).id.text()].times;
    });
  }
  void bind_import(const Alias& imported) {
    const Name name = !imported.alias.empty() || imported.path.empty() ? imported.alias : imported.path[0];
    ++bound_[name.text()].times;
  }
  void bind(const Stmt& stmt, bool of_module) {
    switch (stmt.kind) {
    case StmtKind::function: {
      const auto& function = as<FunctionStmt>(stmt);
      Bound& bound = bound_[function.name.text()];
      ++bound.times;
      if (of_module) bound.function = &function;
      for (const Parameter& parameter : function.parameters->list) ++bound_[parameter.name.text()].times;
      break;
    }
    case StmtKind::class_: ++bound_[as<ClassStmt>(stmt).name.text()].times; break;
    case StmtKind::assign:
      for (const Expr* target : as<AssignStmt>(stmt).targets) {
        bind_target(*target);
        if (of_module && target->kind == ExprKind::name)
          bound_[as<NameExpr>(*target).id.text()].value = as<AssignStmt>(stmt).value;
      }
      break;
    case StmtKind::aug_assign: bind_target(*as<AugAssignStmt>(stmt).target); break;
    case StmtKind::ann_assign: bind_target(*as<AnnAssignStmt>(stmt).target); break;
    case StmtKind::for_: bind_target(*as<ForStmt>(stmt).target); break;
    case StmtKind::with:
      for (const WithItem& item : as<WithStmt>(stmt).items)
        if (item.target) bind_target(*item.target);
      break;
    case StmtKind::import:
      for (const Alias& each : as<ImportStmt>(stmt).names) bind_import(each);
      break;
    case StmtKind::import_from:
      for (const Alias& each : as<ImportFromStmt>(stmt).names) bind_import(each);
      takes_any_name_ = takes_any_name_ || as<ImportFromStmt>(stmt).star;
      break;
    default: break;
    }
  }
  std::map<std::string_view, Bound> bound_;
  bool takes_any_name_ = false;  // `from module import *`
};

bool is_group_made(const CallExpr& call) { return last_name(*call.function) == "init_process_group"; }
bool is_spawn(const CallExpr& call) {
  if (last_name(*call.function) != "spawn" || call.function->kind != ExprKind::attribute) return false;
  const std::string_view owner = last_name(*as<AttributeExpr>(*call.function).object);
  return owner == "mp" || owner == "multiprocessing";
}
const Expr* written(const CallExpr& call, std::string_view name, std::size_t place) {
  if (const Expr* given = keyword(call, name)) return given;
  return place < call.arguments.size() ? call.arguments[place] : nullptr;
}
bool is_none(const Expr* expr) { return !expr || expr->kind == ExprKind::none; }

// The call of `spawn` by whose function the run came here; nowhere if it did not.
Place spawn_of(const Record& record, const interpreter::CallSite* calls) {
  for (; calls; calls = calls->outer)
    if (record.text(calls->place).find("spawn(") != std::string_view::npos) return calls->place;
  return {};
}

// A port that is another one for each rank, or that each process draws itself.
void check_ports(const Record& record, Report& report) {
  visit_problems(record, [&](const interpreter::ProblemEvent& problem, const interpreter::Root& root) {
    if (!is_of_meeting(problem)) return;
    const Place spawn = spawn_of(record, problem.calls);
    // Before there are processes it is drawn once.
    if (!problem.operands.empty() && !spawn) return;
    std::string message =
        "Each process takes a different `MASTER_PORT`, so the ranks never meet: rank 0 listens at its own port, and the others wait at theirs until the time limit. Choose the port once, before the processes are started, and hand it to all of them.";
    const auto severity = qualify(record, problem, root, Severity::warning, message);
    Finding* finding =
        severity ? report.add(Severity::warning, problem.place, problem.calls, std::move(message)) : nullptr;
    if (finding && spawn) report.relate(*finding, spawn, "the processes are started here");
  });
}

const Expr* keyword_of(const interpreter::OperationEvent& event, std::string_view name) {
  return event.expr ? keyword(*event.expr, name) : nullptr;
}

void check_group(const interpreter::OperationEvent& event, const Record& record, Report& report) {
  const Value method = argument(event, 1);
  const std::string text(method.is(values::Kind::string) ? method.text() : std::string_view());
  const Expr *rank = keyword_of(event, "rank"), *world = keyword_of(event, "world_size"),
             *store = keyword_of(event, "store");
  if (!event.expr || spreads(*event.expr)) return;
  if ((text.starts_with("tcp://") || text.starts_with("file://")) && text.find('?') == std::string::npos &&
      (!rank || !world) && event.expr->arguments.size() <= 2) {
    report.add(Severity::error, event.place, event.calls,
        "`init_method=\"" + text + "\"` reads nothing from the environment: without `" +
            (rank           ? "world_size"
                    : world ? "rank"
                            : "rank=` and `world_size") +
            "=` this raises `ValueError`, \"" + (rank ? "world size" : "rank") +
            " parameter missing\". Pass " + (rank || world ? "it" : "both") +
            ", or leave `init_method` out under torchrun.");
    return;
  }
  // Started by spawn, the processes have what the program sets, and nothing else.
  const bool of_environment = !method || method.is(values::Kind::none) || text == "env://";
  if (!of_environment || !is_none(store) || !rank || !world || !spawn_of(record, event.calls)) return;
  if (program_says(record, Says::filling_environment)) return;
  const bool has_address = program_says(record, Says::master_address),
             has_port = program_says(record, Says::master_port);
  if (has_address && has_port) return;
  const std::string_view missing = has_port ? "MASTER_ADDR" : has_address ? "MASTER_PORT" : "";
  report.add(Severity::warning, event.place, event.calls,
      "Nothing in this program sets `" +
          (missing.empty() ? "MASTER_ADDR` and `MASTER_PORT" : std::string(missing)) +
          "`, and `spawn` does not either: unless the shell exports " + (missing.empty() ? "them" : "it") +
          ", this raises `ValueError`, \"environment variable " +
          std::string(missing.empty() ? "MASTER_ADDR" : missing) + " expected, but not set\". Set " +
          (missing.empty() ? "both" : "it") +
          " before `init_process_group`, or pass `init_method=\"tcp://localhost:29500\"`.");
}

}  // namespace

bool is_of_meeting(const interpreter::ProblemEvent& problem) {
  return problem.row && problem.row->path == "os.environ.$meeting";
}

void check_program_rendezvous(const Record& record, Report& report) {
  check_ports(record, report);
  Once once;
  const auto makes_group = libraries::is_call(libraries::FrameworkCall::makes_group);
  visit_operations(record, makes_group, [&](const interpreter::OperationEvent& event) {
    if (once(event.place)) check_group(event, record, report);
  });
}

namespace {
// By how much more than the number of its process a process takes: 1 in `rank + 1`.
std::optional<std::int64_t> above(const Expr* expr, Name process) {
  if (!expr) return std::nullopt;
  if (expr->kind == ExprKind::name)
    return as<NameExpr>(*expr).id == process ? std::optional<std::int64_t>(0) : std::nullopt;
  if (expr->kind != ExprKind::binary || as<BinaryExpr>(*expr).op != BinaryOp::add) return std::nullopt;
  const auto& sum = as<BinaryExpr>(*expr);
  const Expr *named = sum.left, *number = sum.right;
  if (named->kind != ExprKind::name) std::swap(named, number);
  if (named->kind != ExprKind::name || as<NameExpr>(*named).id != process ||
      number->kind != ExprKind::integer || !as<IntegerExpr>(*number).fits)
    return std::nullopt;
  return as<IntegerExpr>(*number).value;
}

// `rank + 1` in a job whose ranks begin at 0: the last process takes a rank, or a GPU, that is not there.
void check_shifted(const File& file, Report& report, const FoundCall& spawn, const FunctionStmt& function,
    const List<const Expr*>& values, const Expr* started) {
  const auto& parameters = function.parameters->list;
  if (parameters.empty()) return;
  const auto processes = file.number(started);
  const bool one_for_each_gpu = started && started->kind == ExprKind::call &&
      last_name(*as<CallExpr>(*started).function) == "device_count";
  for (const FoundCall& inner : file.calls) {
    if (inner.function != &function || spreads(*inner.call)) continue;
    const bool of_group = is_group_made(*inner.call);
    if (!of_group && last_name(*inner.call->function) != "set_device") continue;
    const auto more = above(
        of_group ? keyword(*inner.call, "rank") : written(*inner.call, "device", 0), parameters[0].name);
    if (!more || *more <= 0) continue;
    std::optional<std::int64_t> world;
    if (of_group) {
      const Expr* given = keyword(*inner.call, "world_size");
      for (std::size_t i = 1; given && given->kind == ExprKind::name && i < parameters.size(); ++i)
        if (parameters[i].name == as<NameExpr>(*given).id) {
          given = i <= values.size() ? values[i - 1] : nullptr;
          break;
        }
      world = given ? file.number(given) : std::nullopt;
      if (!world || !processes || *processes - 1 + *more < *world || *processes > *world) continue;
    } else if (!one_for_each_gpu) {
      continue;
    }
    const std::string shift = std::to_string(*more);
    Finding* finding = report.add(of_group ? Severity::error : Severity::warning,
        {inner.chunk, inner.call->span}, nullptr,
        of_group ? "The processes of `spawn` are numbered from 0, and each takes a rank that is " + shift +
                " higher: all wait for rank 0, which none of them takes, and the last takes rank " +
                std::to_string(*processes - 1 + *more) + " of `world_size` " + std::to_string(*world) +
                ". Pass the number of the process itself."
                 : "The processes of `spawn` are numbered from 0, and each takes the GPU that is " + shift +
                " higher: the last one has none of that number, \"invalid device ordinal\". Pass the number of the process itself.");
    if (finding) report.relate(*finding, {spawn.chunk, spawn.call->span}, "the processes are started here");
  }
}

// The world of the group that the started function makes, held against the number of processes: written
// there, or handed over by `args`.
void compare_with_groups(const File& file, Report& report, const FoundCall& spawn,
    const FunctionStmt& function, const List<const Expr*>& values, std::int64_t processes) {
  const auto& parameters = function.parameters->list;
  for (const FoundCall& inner : file.calls) {
    if (inner.function != &function || !is_group_made(*inner.call) || spreads(*inner.call)) continue;
    const Expr *rank = keyword(*inner.call, "rank"), *world = keyword(*inner.call, "world_size");
    if (!rank || rank->kind != ExprKind::name || !world || parameters.empty() ||
        as<NameExpr>(*rank).id != parameters[0].name)
      continue;
    const Expr* given = world;
    bool is_handed = false;
    for (std::size_t i = 1; world->kind == ExprKind::name && i < parameters.size(); ++i) {
      if (parameters[i].name != as<NameExpr>(*world).id) continue;
      is_handed = true;
      given = i <= values.size() ? values[i - 1] : nullptr;
    }
    // A name that the function does not take may be a local one.
    if (!is_handed && given->kind != ExprKind::integer) continue;
    const auto told = given ? file.number(given) : std::nullopt;
    if (!told || *told == processes) continue;
    Finding* finding = report.add(Severity::error, {is_handed ? spawn.chunk : inner.chunk, given->span},
        nullptr,
        "`spawn` starts " + std::to_string(processes) + " processes, but the group has `world_size` " +
            std::to_string(*told) +
            (*told < processes
                    ? ": rank " + std::to_string(*told) +
                        " and all higher ranks fail to join it. Make the two equal."
                    : ": it waits until the time limit for ranks that never start. Make the two equal."));
    if (!finding) continue;
    if (is_handed)
      report.relate(*finding, {inner.chunk, inner.call->span}, "the group is made here");
    else
      report.relate(*finding, {spawn.chunk, spawn.call->span}, "the processes are started here");
  }
}
}  // namespace

void check_spawned(const Record& record, Report& report) {
  const File file(record);
  for (const FoundCall& each : file.calls) {
    if (!is_spawn(*each.call) || spreads(*each.call)) continue;
    const CallExpr& call = *each.call;
    const FunctionStmt* function = file.function(written(call, "fn", 0));
    const Expr* given = written(call, "args", 1);
    if (!function || !function->decorators.empty() || (given && given->kind != ExprKind::tuple)) continue;
    const List<const Expr*> values = given ? as<TupleExpr>(*given).elements : List<const Expr*>();
    const auto& parameters = function->parameters->list;
    const bool is_plain = std::all_of(parameters.begin(), parameters.end(), [](const Parameter& one) {
      return one.kind == ParameterKind::normal || one.kind == ParameterKind::positional_only;
    });
    const bool has_star = std::any_of(
        values.begin(), values.end(), [](const Expr* value) { return value->kind == ExprKind::starred; });
    if (!is_plain || has_star) continue;
    const std::size_t handed = values.size() + 1;
    const auto needed = static_cast<std::size_t>(std::count_if(parameters.begin(), parameters.end(),
        [](const Parameter& one) { return one.default_value == nullptr; }));
    const std::string name(function->name.text());
    if (handed < needed || handed > parameters.size()) {
      report.add(Severity::error, {each.chunk, call.span}, nullptr,
          "`spawn` calls `" + name + "` with the number of the process and `args`, " +
              std::to_string(handed) + (handed == 1 ? " argument" : " arguments") + " in all, and it takes " +
              std::to_string(parameters.size()) + ": `TypeError` in every process. Pass what it takes.");
      continue;
    }
    check_shifted(file, report, each, *function, values, written(call, "nprocs", 2));
    if (const auto processes = file.number(written(call, "nprocs", 2)))
      compare_with_groups(file, report, each, *function, values, *processes);
  }
}

}  // namespace stepzero::rules::launch
