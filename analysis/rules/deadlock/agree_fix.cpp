// Fixes of exits and conditions by which ranks part: agree on them first, or enter what the others enter
// before leaving.
#include "rules/deadlock/fixes.hpp"
#include "rules/imports.hpp"
#include "rules/job_devices.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace syntax;
using interpreter::ExitKind;
using interpreter::Fact;

namespace {

// Is a part of the expression another value on each rank because of its number, and not because of its data?
bool about_ranks(const Record& record, std::uint32_t chunk, Span span) {
  return std::any_of(record.facts.begin(), record.facts.end(), [&](const Fact& fact) {
    return fact.place.chunk == chunk && span.holds(fact.place.span) &&
        record.heap.sharing(fact.value) == symbolic::Sharing::divergent;
  });
}

// `rank != 0` alone is never the same for all: there is nothing to agree on.
bool can_be_agreed_on(const Record& record, std::uint32_t chunk, const Expr& test) {
  if (test.kind == ExprKind::boolean_op && as<BooleanOpExpr>(test).op == BoolOp::logical_and)
    return std::any_of(as<BooleanOpExpr>(test).operands.begin(), as<BooleanOpExpr>(test).operands.end(),
        [&](const Expr* operand) { return !about_ranks(record, chunk, operand->span); });
  return !about_ranks(record, chunk, test.span);
}

// Where the flag lives: with what decides, or where the function keeps its tensors; NCCL takes none of the
// CPU.
std::string device_of(const Record& record, const SourceLines& source, std::uint32_t chunk, const Stmt& scope,
    const Expr& test) {
  // What may be None has no device.
  const auto compared = [&](Span span) {
    bool any = false;
    for_each_expression(test, [&](const Expr& part) {
      if (part.kind == ExprKind::compare && as<CompareExpr>(part).left->span == span)
        any = any || as<CompareExpr>(part).ops.front() == CompareOp::is ||
            as<CompareExpr>(part).ops.front() == CompareOp::is_not;
    });
    return any;
  };
  for (const Fact& fact : record.facts)
    if (fact.place.chunk == chunk && test.span.holds(fact.place.span) && fact.tensor &&
        fact.value.is(values::Kind::tensor) && !compared(fact.place.span)) {
      const std::string_view text = source.text(fact.place.span);
      if (!text.empty() && text.find_first_of("()[] ") == std::string_view::npos)
        return ", device=" + std::string(text) + ".device";
    }
  const Name device("device");
  bool bound = false;
  if (scope.kind == StmtKind::function)
    for (const Parameter& parameter : as<FunctionStmt>(scope).parameters->list)
      bound = bound || parameter.name == device;
  for_each_statement(scope, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::assign || stmt.span.end > test.span.begin) return;
    for (const Expr* target : as<AssignStmt>(stmt).targets)
      bound = bound || (target->kind == ExprKind::name && as<NameExpr>(*target).id == device);
  });
  if (bound) return ", device=device";
  return computes_on_gpus(record) ? ", device=\"cuda\"" : "";
}

std::string fresh_name(const Record& record, std::uint32_t chunk, const std::string& base) {
  const std::string& whole = record.chunks[chunk].module->text->bytes();
  std::string name = base;
  for (int i = 2; whole.find(name) != std::string::npos; ++i) name = base + "_" + std::to_string(i);
  return name;
}

const Stmt& scope_of(const std::vector<Enclosing>& path) {
  const Stmt* scope = path.front().stmt;
  for (const Enclosing& level : path)
    if (level.stmt->kind == StmtKind::function) scope = level.stmt;
  return *scope;
}

}  // namespace

std::vector<Fix> agree_first(const Report& report, const Mismatch& mismatch) {
  const Record& record = report.record();
  const auto* parting = mismatch.as<Parting>();
  if (!parting || !parting->whole_job) return {};
  const Place where = parting->condition;
  if (!where || !record.in_file(where)) return {};
  const auto path = enclosing(*record.chunk(where).chunk->stmt, where.span);
  const IfStmt* branch = nullptr;
  for (auto level = path.rbegin(); level != path.rend() && !branch; ++level)
    if (level->stmt->kind == StmtKind::if_ && as<IfStmt>(*level->stmt).test->span.holds(where.span))
      branch = &as<IfStmt>(*level->stmt);
  if (!branch || branch->is_elif) return {};
  // To a handler only the ranks come that failed: there is nothing to agree on.
  const auto handles = [&](const Enclosing& level) {
    if (level.stmt->kind != StmtKind::try_) return false;
    const auto& handlers = as<TryStmt>(*level.stmt).handlers;
    return std::any_of(handlers.begin(), handlers.end(),
        [&](const ExceptHandler& handler) { return handler.span.holds(branch->span); });
  };
  if (std::any_of(path.begin(), path.end(), handles)) return {};
  // An exit has to be the ranks' own: not one of an `if` further in, to which some do not come.
  if (parting->exit &&
      (mismatch.place.chunk != where.chunk ||
          std::none_of(branch->body.begin(), branch->body.end(),
              [&](const Stmt* stmt) { return stmt->span == mismatch.place.span; })))
    return {};
  // A loop that all ranks leave, though not in the same iteration, asks something else in each.
  if (mismatch.cause != Cause::iterations && !can_be_agreed_on(record, where.chunk, *branch->test)) return {};
  bool binds = false;
  for_each_expression(*branch->test, [&](const Expr& part) {
    binds = binds || part.kind == ExprKind::named || part.kind == ExprKind::await;
  });
  if (binds) return {};
  const Module& module = *record.chunk(where).module;
  const std::string torch = name_of_module(module, {"torch"}),
                    dist = name_of_module(module, {"torch", "distributed"});
  if (torch.empty() || dist.empty()) return {};
  const SourceLines source(record, where.chunk);
  const Span line = source.lines(*branch, *branch);
  const std::string indent = source.indentation(*branch);
  const Span test = source.absolute(branch->test->span);
  if (source.slice({line.begin, source.absolute(branch->header).begin}) != indent) return {};
  const std::string flag = fresh_name(record, where.chunk, "any_rank"), end = source.line_ending();
  const std::string text(source.text(*branch->test));
  const bool plain = branch->test->kind == ExprKind::compare ||
      (branch->test->kind == ExprKind::unary && as<UnaryExpr>(*branch->test).op == UnaryOp::logical_not);
  Fix fix;
  fix.title = "Agree on it first: all ranks do it if one does";
  fix.edits.push_back({{source.path(), {line.begin, line.begin}},
      indent + flag + " = " + torch + ".tensor([float(" + (plain ? text : "bool(" + text + ")") + ")]" +
          device_of(record, source, where.chunk, scope_of(path), *branch->test) + ")" + end + indent + dist +
          ".all_reduce(" + flag + ", op=" + dist + ".ReduceOp.MAX)" + end});
  fix.edits.push_back({{source.path(), test}, flag + ".item()"});
  return {fix};
}

std::vector<Fix> enter_before_leaving(const Report& report, const Mismatch& mismatch) {
  const Record& record = report.record();
  const OperationEvent* event = mismatch.event;
  const auto* parting = mismatch.as<Parting>();
  if (!parting || !parting->exit || parting->missed != 1 || !parting->whole_job || !event || !event->expr ||
      !event->row->collective)
    return {};
  const values::CollectiveInfo& info = *event->row->collective;
  if (info.tensor >= 0 || info.root >= 0 || info.list >= 0 || info.hidden || info.makes_group ||
      !event->expr->arguments.empty() || !event->expr->keywords.empty())
    return {};
  if (*parting->exit != ExitKind::return_ && *parting->exit != ExitKind::continue_) return {};
  if (!record.in_file(mismatch.place) || event->place.chunk != mismatch.place.chunk) return {};
  const Stmt& root = *record.chunk(mismatch.place).chunk->stmt;
  const auto path = enclosing(root, mismatch.place.span), others = enclosing(root, event->place.span);
  if (path.empty() || others.empty() || &scope_of(path) != &scope_of(others)) return {};
  // Of a loop around both, only an iteration is left.
  const Stmt* innermost = nullptr;
  for (const Enclosing& level : path)
    if (level.stmt->kind == StmtKind::for_ || level.stmt->kind == StmtKind::while_) innermost = level.stmt;
  if (*parting->exit == ExitKind::continue_ ? !innermost || !innermost->span.holds(event->place.span)
                                            : innermost && innermost->span.holds(event->place.span))
    return {};
  const Stmt& exit = *path.back().stmt;
  const SourceLines source(record, mismatch.place.chunk);
  if (!source.own_line(exit)) return {};
  const std::uint32_t begin = source.lines(exit, exit).begin;
  Fix fix;
  fix.title = "Enter " + std::string(info.name) + " before leaving";
  fix.edits.push_back({{source.path(), {begin, begin}},
      source.indentation(exit) + std::string(source.text(event->expr->span)) + source.line_ending()});
  return {fix};
}

std::vector<Fix> leave_together(const Report& report, const Mismatch& mismatch) {
  std::vector<Fix> fixes = enter_before_leaving(report, mismatch);
  for (Fix& fix : agree_first(report, mismatch)) fixes.push_back(std::move(fix));
  return fixes;
}

std::vector<Fix> make_group_on_all(const Report& report, const Mismatch& mismatch) {
  const Record& record = report.record();
  const auto* guarded = mismatch.as<GuardedEntry>();
  if (!mismatch.event || !guarded || !guarded->guard || !mismatch.event->expr) return {};
  // A group whose members depend on the rank has to be made once for each of them.
  const CallExpr& call = *mismatch.event->expr;
  if (about_ranks(record, mismatch.event->place.chunk, call.arguments_span)) return {};
  return fixes_for(record, {mismatch.event, guarded->guard, guarded->side, mismatch.ranks});
}

std::vector<Fix> call_module_inside(const Record& record, const Guarded& guarded, Place seen) {
  const OperationEvent& event = *guarded.event;
  // Replicas only: the module inside a sharded wrapper has not its weights.
  if (!event.expr || event.row->operation != values::Operation::parallel_forward || !event.row->collective ||
      event.row->collective->inside != "model.module")
    return {};
  const Place guard = guarded.guard->place;
  if (!record.in_file(guard) || seen.chunk != guard.chunk) return {};
  const SourceLines source(record, seen.chunk);
  const auto path = enclosing(*record.chunk(seen).chunk->stmt, seen.span);
  if (path.empty()) return {};
  Fix fix;
  fix.title = "Call the module inside the wrapper";
  const auto inside = [&](const Expr& expr) {
    const std::uint32_t end = source.absolute(expr.span).end;
    fix.edits.push_back({{source.path(), {end, end}}, ".module"});
  };
  if (seen == event.place) {
    const Expr& module = *event.expr->function;
    if (module.kind != ExprKind::name && module.kind != ExprKind::attribute) return {};
    inside(module);
    return {fix};
  }
  // Further in: the function is given the module inside.
  for_each_expression(*path.back().stmt, [&](const Expr& expr) {
    if (expr.kind != ExprKind::call || !(expr.span == seen.span) || !fix.edits.empty()) return;
    const auto given = [&](const Expr& argument) {
      if (argument.kind != ExprKind::name && argument.kind != ExprKind::attribute) return false;
      return std::any_of(record.facts.begin(), record.facts.end(), [&](const Fact& fact) {
        return fact.place.chunk == seen.chunk && fact.place.span == argument.span &&
            fact.value.is(values::Kind::instance) && fact.value.object() == event.self.object();
      });
    };
    for (const Expr* argument : as<CallExpr>(expr).arguments)
      if (given(*argument)) inside(*argument);
    for (const Keyword& keyword : as<CallExpr>(expr).keywords)
      if (given(*keyword.value)) inside(*keyword.value);
  });
  if (fix.edits.size() != 1) return {};
  return {fix};
}

}  // namespace stepzero::rules
