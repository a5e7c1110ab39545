// Statements, other than assignments, loops, imports, class bodies, `with`, `try` and `match`.
#include "interpreter/builtins/builtins.hpp"
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/object_model.hpp"
#include "interpreter/expressions/ambiguous_truth.hpp"
#include "interpreter/expressions/iterables.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/loops/loop_runner.hpp"
#include "interpreter/roots/annotations.hpp"
#include "interpreter/statements/assertions.hpp"
#include "interpreter/statements/assignments.hpp"
#include "interpreter/statements/contexts.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

bool Interpreter::step(std::uint64_t cost) {
  record_.steps += cost;
  if (limits_.cancelled && (record_.steps & 1023) < cost &&
      limits_.cancelled->load(std::memory_order_relaxed)) {
    record_.cancelled = true;
    step_limit_ = 0;
  }
  if (record_.steps < step_limit_) return record_.steps < trial_limit_;
  record_.out_of_budget = true;
  if (!record_.roots.empty()) record_.roots.back()->truncated = true;
  return false;
}

Flow Interpreter::run_block(syntax::Block block) {
  for (const Stmt* stmt : block)
    if (run(*stmt) == Flow::dead) return Flow::dead;
  return Flow::normal;
}

Flow Interpreter::leave(ExitKind kind, const Stmt& stmt, Value value) {
  auto* event = record_.event<ExitEvent>();
  event->place = {chunk_, stmt.span};
  event->calls = site_;
  event->exit = kind;
  // Who raises SystemExit means to end.
  const auto ends = [&] {
    const std::string_view suffix = "SystemExit";
    if (value.is(Kind::library)) return value.as<values::LibrarySymbol>()->path.ends_with(suffix);
    return value.is(Kind::instance) && value.as<values::Instance>()->native &&
        value.as<values::Instance>()->native->path.ends_with(suffix);
  };
  if (kind == ExitKind::raise && catching_ > 0)
    if (OperationEvent* raised = noted_->record_implied(
            values::InternalRow::raised, {}, {value}, {}, event->place))
      append(raised);
  event->fails = kind == ExitKind::raise &&
      (stmt.kind == StmtKind::raise || stmt.kind == StmtKind::assert_) && !ends();
  append(event);
  switch (kind) {
  case ExitKind::return_: frame_->returns.push_back(make_exit(frame_->mark, frame_->depth, value)); break;
  case ExitKind::break_:
    if (!frame_->loops.empty()) {
      LoopTarget& loop = *frame_->loops.back();
      loop.breaks.push_back(make_exit(loop.mark, loop.depth, {}));
    }
    break;
  case ExitKind::continue_:
    if (!frame_->loops.empty()) {
      LoopTarget& loop = *frame_->loops.back();
      loop.continues.push_back(make_exit(loop.iteration_mark, loop.depth, {}));
    }
    break;
  case ExitKind::raise:
    for (Frame* frame = frame_; frame; frame = frame->outer)
      if (!frame->tries.empty()) {
        TryTarget& target = *frame->tries.back();
        target.raises.add(path_since(target.depth), value);
        break;
      }
    break;
  }
  return Flow::dead;
}

// What a statement without statements in it leaves: the path goes on, unless an expression of it does not
// return.
Flow Interpreter::after_expression(const Stmt& stmt) {
  if (!killed_) return Flow::normal;
  killed_ = false;
  return leave(ExitKind::raise, stmt, raised_);
}

Flow Interpreter::run(const Stmt& stmt) {
  const Nested nested(nesting_);
  if (!step() || nested.too_deep()) return Flow::dead;
  switch (stmt.kind) {
  case StmtKind::expression: {
    const Expr& expr = *as<ExpressionStmt>(stmt).value;
    const Value value = evaluate(expr);
    if (expr.kind != ExprKind::string) note(Fact::Role::statement, here(expr), value);
    return after_expression(stmt);
  }
  case StmtKind::assign:
  case StmtKind::aug_assign:
  case StmtKind::ann_assign: assignments_->run_assignment(stmt); return after_expression(stmt);
  case StmtKind::return_: return run_return(as<ReturnStmt>(stmt));
  case StmtKind::break_: return leave(ExitKind::break_, stmt, {});
  case StmtKind::continue_: return leave(ExitKind::continue_, stmt, {});
  case StmtKind::raise: {
    Value exception = caught_;
    if (const Expr* expr = as<RaiseStmt>(stmt).exception) exception = resolve(evaluate(*expr));
    killed_ = false;
    raised_ = exception;
    return leave(ExitKind::raise, stmt, exception);
  }
  case StmtKind::delete_:
    for (const Expr* target : as<DeleteStmt>(stmt).targets) run_delete(*target);
    return after_expression(stmt);
  case StmtKind::assert_: return assertions_->run_assert(as<AssertStmt>(stmt));
  case StmtKind::if_: return run_if(as<IfStmt>(stmt));
  case StmtKind::while_: return loops_->run_while(as<WhileStmt>(stmt));
  case StmtKind::for_: return loops_->run_for(as<ForStmt>(stmt));
  case StmtKind::with: return contexts_->run_with(as<WithStmt>(stmt), 0);
  case StmtKind::try_: return contexts_->run_try(as<TryStmt>(stmt));
  case StmtKind::match: {
    const Value subject = evaluate(*as<MatchStmt>(stmt).subject);
    return killed_ ? after_expression(stmt) : run_match(as<MatchStmt>(stmt), 0, subject);
  }
  case StmtKind::import: loader_->run_import(as<ImportStmt>(stmt)); return Flow::normal;
  case StmtKind::import_from: loader_->run_import_from(as<ImportFromStmt>(stmt)); return Flow::normal;
  case StmtKind::function: {
    const Value value = function_calls_->make_function(as<FunctionStmt>(stmt));
    heap().set(variable(as<FunctionStmt>(stmt).name), value);
    return after_expression(stmt);
  }
  case StmtKind::class_: {
    const Value value = object_model_->make_class(as<ClassStmt>(stmt));
    heap().set(variable(as<ClassStmt>(stmt).name), value);
    return after_expression(stmt);
  }
  case StmtKind::type_alias:
    heap().set(variable(as<TypeAliasStmt>(stmt).name), heap().unseen(""));
    return Flow::normal;
  case StmtKind::error: run_parts(as<ErrorStmt>(stmt)); return Flow::normal;
  case StmtKind::global:
  case StmtKind::nonlocal:
  case StmtKind::pass: return Flow::normal;
  }
  return Flow::normal;
}

// What could be read of a statement that does not parse, as far as it binds names.
void Interpreter::run_parts(const ErrorStmt& stmt) {
  for (const Stmt* part : stmt.parts)
    if (part->kind == StmtKind::function || part->kind == StmtKind::class_ ||
        part->kind == StmtKind::import || part->kind == StmtKind::import_from ||
        part->kind == StmtKind::assign)
      run(*part);
}

Flow Interpreter::run_return(const ReturnStmt& stmt) {
  const Value value = stmt.value ? evaluate(*stmt.value) : Value::none();
  if (killed_) return after_expression(stmt);
  if (stmt.value && frame_->function && frame_->function->stmt && frame_->function->stmt->returns)
    annotations_->judge_annotation(
        frame_->function->stmt->returns, chunk_, value, here(*stmt.value), "The result");
  return leave(ExitKind::return_, stmt, value);
}

void Interpreter::run_delete(const Expr& target) {
  if (target.kind == ExprKind::name)
    heap().set(variable(as<NameExpr>(target).id), {});
  else if (target.kind == ExprKind::tuple)
    for (const Expr* element_target : as<TupleExpr>(target).elements) run_delete(*element_target);
  else if (target.kind == ExprKind::subscript) {
    Value object = resolve(evaluate(*as<SubscriptExpr>(target).object));
    const Value index = resolve(evaluate(*as<SubscriptExpr>(target).index));
    if (object.is(Kind::instance)) {
      if (const Value method = find_method(object.as<values::Instance>(), Name("__delitem__"))) {
        call(method, {{index}, {}, false}, here(target));
        return;
      }
      for (const values::KeptKey parts : {values::ContainerState::items, values::ContainerState::dict})
        if (const values::Slot* slot = object.as<values::Instance>()->attributes.find(Name(parts));
            slot && slot->value) {
          object = resolve(slot->value);
          break;
        }
    }
    if (object.is(Kind::dict))
      builtins_->dict_delete(object, index);
    else if (object.is(Kind::list) && !values::Heap::list_state(object)->open) {
      values::ListState state = *values::Heap::list_state(object);
      const auto size = static_cast<std::int64_t>(state.items.size());
      std::vector<std::int64_t> places;
      if (index.is(Kind::slice)) {
        const auto picked = iterables_->slice_of(size, *index.as<values::SliceObject>());
        if (!picked) return unseen_->escape(object);
        places = *picked;
      } else {
        const auto at = to_constant(index);
        if (!at || *at >= size || *at < -size) return unseen_->escape(object);
        places.push_back(*at < 0 ? *at + size : *at);
      }
      std::sort(places.rbegin(), places.rend());
      for (const std::int64_t i : places) state.items.erase(state.items.begin() + i);
      heap().set_list(object, std::move(state));
    } else {
      unseen_->escape(object);
    }
  } else if (target.kind == ExprKind::attribute) {
    const auto& attribute_target = as<AttributeExpr>(target);
    object_model_->delete_attribute(
        evaluate(*attribute_target.object), attribute_target.attribute, here(target));
  }
}

Flow Interpreter::run_if(const IfStmt& stmt) {
  const Cond condition = truth(asked_for_truth(*this, evaluate(*stmt.test), here(*stmt.test)));
  if (killed_) {
    killed_ = false;
    return leave(ExitKind::raise, stmt, raised_);
  }
  return fork(
      condition, &stmt, here(*stmt.test), [&] { return run_block(stmt.body); },
      [&] { return run_block(stmt.orelse); });
}

}  // namespace stepzero::interpreter
