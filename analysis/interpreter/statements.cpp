// Statements, other than loops, imports and class bodies.
#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

bool Interpreter::step(std::uint64_t cost) {
  record_.steps += cost;
  if (limits_.cancelled && (record_.steps & 1023) < cost && limits_.cancelled->load(std::memory_order_relaxed)) {
    record_.cancelled = true;
    step_limit_ = 0;
  }
  if (record_.steps < step_limit_) return true;
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
      loop.continues.push_back(make_exit(loop.round_mark, loop.depth, {}));
    }
    break;
  case ExitKind::raise:
    for (Frame* frame = frame_; frame; frame = frame->outer)
      if (!frame->tries.empty()) {
        TryTarget& target = *frame->tries.back();
        target.raises.push_back(make_exit(target.mark, target.depth, {}));
        break;
      }
    break;
  }
  return Flow::dead;
}

Flow Interpreter::run(const Stmt& stmt) {
  const Nested nested(nesting_);
  if (!step() || nested.too_deep()) return Flow::dead;
  const auto after_expression = [&] {
    if (!killed_) return Flow::normal;
    killed_ = false;
    return leave(ExitKind::raise, stmt, {});
  };
  switch (stmt.kind) {
  case StmtKind::expression: {
    const Expr& expr = *as<ExpressionStmt>(stmt).value;
    const Value value = evaluate(expr);
    if (expr.kind != ExprKind::string) note(Fact::Role::statement, here(expr), value);
    return after_expression();
  }
  case StmtKind::assign: {
    const auto& assign = as<AssignStmt>(stmt);
    const Value value = evaluate(*assign.value);
    if (killed_) return after_expression();
    for (const Expr* target : assign.targets) run_assign(*target, value);
    return after_expression();
  }
  case StmtKind::aug_assign: {
    const auto& assign = as<AugAssignStmt>(stmt);
    const Value before = evaluate(*assign.target);
    const Value operand = evaluate(*assign.value);
    if (killed_) return after_expression();
    const Value list = resolve(before);
    if (list.is(Kind::list) && assign.op == BinaryOp::add) {
      Arguments arguments{{operand}, {}, false};
      call_method(list, "extend", arguments, {chunk_, stmt.span});
      return after_expression();
    }
    const BinaryExpr& node = record_.augmented.try_emplace(&stmt, BinaryExpr{{ExprKind::binary, stmt.span}, assign.op, assign.target, assign.value, assign.target->span}).first->second;
    const Value made = list.is(Kind::tensor) ? library_.augment(*this, assign.op, list, operand, node, {chunk_, stmt.span}) : binary(assign.op, before, operand, node);
    run_assign(*assign.target, made);
    return after_expression();
  }
  case StmtKind::ann_assign: {
    const auto& assign = as<AnnAssignStmt>(stmt);
    if (!assign.value) return Flow::normal;
    const Value value = evaluate(*assign.value);
    if (!killed_) run_assign(*assign.target, value);
    return after_expression();
  }
  case StmtKind::return_: {
    const Expr* expr = as<ReturnStmt>(stmt).value;
    const Value value = expr ? evaluate(*expr) : Value::none();
    if (killed_) return after_expression();
    return leave(ExitKind::return_, stmt, value);
  }
  case StmtKind::break_: return leave(ExitKind::break_, stmt, {});
  case StmtKind::continue_: return leave(ExitKind::continue_, stmt, {});
  case StmtKind::raise:
    if (const Expr* exception = as<RaiseStmt>(stmt).exception) evaluate(*exception);
    killed_ = false;
    return leave(ExitKind::raise, stmt, {});
  case StmtKind::delete_:
    for (const Expr* target : as<DeleteStmt>(stmt).targets) run_delete(*target);
    return after_expression();
  case StmtKind::assert_: return run_assert(as<AssertStmt>(stmt));
  case StmtKind::if_: return run_if(as<IfStmt>(stmt));
  case StmtKind::while_: return run_while(as<WhileStmt>(stmt));
  case StmtKind::for_: return run_for(as<ForStmt>(stmt));
  case StmtKind::with: return run_with(as<WithStmt>(stmt), 0);
  case StmtKind::try_: return run_try(as<TryStmt>(stmt));
  case StmtKind::match: {
    const Value subject = evaluate(*as<MatchStmt>(stmt).subject);
    if (killed_) return after_expression();
    return run_match(as<MatchStmt>(stmt), 0, subject);
  }
  case StmtKind::import: run_import(as<ImportStmt>(stmt)); return Flow::normal;
  case StmtKind::import_from: run_import_from(as<ImportFromStmt>(stmt)); return Flow::normal;
  case StmtKind::function: {
    const auto& function = as<FunctionStmt>(stmt);
    const Value value = make_function(function);
    heap().set(variable(function.name), value);
    return after_expression();
  }
  case StmtKind::class_: {
    const auto& cls = as<ClassStmt>(stmt);
    const Value value = make_class(cls);
    heap().set(variable(cls.name), value);
    return after_expression();
  }
  case StmtKind::type_alias: heap().set(variable(as<TypeAliasStmt>(stmt).name), heap().external("")); return Flow::normal;
  case StmtKind::error:
    for (const Stmt* part : as<ErrorStmt>(stmt).parts)
      if (part->kind == StmtKind::function || part->kind == StmtKind::class_ || part->kind == StmtKind::import ||
          part->kind == StmtKind::import_from || part->kind == StmtKind::assign)
        run(*part);
    return Flow::normal;
  case StmtKind::global:
  case StmtKind::nonlocal:
  case StmtKind::pass: return Flow::normal;
  }
  return Flow::normal;
}

void Interpreter::run_assign(const Expr& target, Value value) {
  switch (target.kind) {
  case ExprKind::name: {
    const Name name = as<NameExpr>(target).id;
    if (value.is(Kind::unknown) && value.as<values::Unknown>()->name.empty())
      value.as<values::Unknown>()->name = name.text();
    heap().set(variable(name), value);
    note(Fact::Role::assignment, here(target), value);
    return;
  }
  case ExprKind::attribute: {
    const auto& attribute = as<AttributeExpr>(target);
    const Value object = evaluate(*attribute.object);
    set_attribute(object, attribute.attribute, value);
    const bool on_self =
        attribute.object->kind == ExprKind::name && as<NameExpr>(*attribute.object).id.text() == "self";
    note(on_self ? Fact::Role::attribute : Fact::Role::expression, here(target), value);
    return;
  }
  case ExprKind::subscript: {
    const auto& subscript_target = as<SubscriptExpr>(target);
    Value object = resolve(evaluate(*subscript_target.object));
    const Value index = evaluate(*subscript_target.index);
    // Containers of modules hold their parts in a list or a dict.
    if (object.is(Kind::instance))
      for (const std::string_view parts : {"$items", "$dict"})
        if (const values::Slot* slot = object.as<values::Instance>()->attributes.find(Name(parts)); slot && slot->value) {
          object = resolve(slot->value);
          break;
        }
    if (object.is(Kind::dict)) dict_set(object, index, value);
    else if (object.is(Kind::tensor)) library_.store(*this, object, index, value, target, here(target));
    else if (object.is(Kind::list)) {
      values::ListState state = *values::Heap::list_state(object);
      const auto at = to_constant(index);
      const auto size = static_cast<std::int64_t>(state.items.size());
      if (at && !state.open && *at < size && *at >= -size) state.items[static_cast<std::size_t>(*at < 0 ? *at + size : *at)] = value;
      else {
        for (Value& item : state.items) item = heap().merge(item, value, Sharing::uniform);
        if (state.open) state.rest = heap().merge(state.rest, value, Sharing::uniform);
      }
      heap().set_list(object, std::move(state));
    } else if (object.is(Kind::instance)) {
      if (const Value method = find_method(object.as<values::Instance>(), Name("__setitem__")))
        call(method, {{index, value}, {}, false}, here(target));
    }
    return;
  }
  case ExprKind::starred: return run_assign(*as<StarredExpr>(target).value, value);
  case ExprKind::tuple:
  case ExprKind::list: {
    const auto targets = target.kind == ExprKind::tuple ? as<TupleExpr>(target).elements : as<ListExpr>(target).elements;
    value = resolve(value);
    if (value.is(Kind::choice)) {
      // A choice of tuples is unpacked position by position.
      const auto* choice = value.as<values::Choice>();
      for (std::size_t i = 0; i < targets.size(); ++i) {
        const auto item = [&](Value side) {
          const auto items = elements(side, here(target));
          return items && items->size() == targets.size() ? (*items)[i] : element(side, here(target));
        };
        if (targets[i]->kind == ExprKind::starred) run_assign(*targets[i], heap().external(""));
        else run_assign(*targets[i], heap().choose(choice->condition, item(choice->yes), item(choice->no)));
      }
      return;
    }
    std::size_t star = targets.size();
    std::vector<std::string_view> names(targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i]->kind == ExprKind::starred) star = i;
      if (targets[i]->kind == ExprKind::name) names[i] = as<NameExpr>(*targets[i]).id.text();
    }
    std::optional<std::vector<Value>> items;
    if (star == targets.size()) items = library_.unpack(*this, value, names, target, here(target));
    if (!items) items = elements(value, here(target));
    const bool fits = items && (star == targets.size() ? items->size() == targets.size() : items->size() + 1 >= targets.size());
    if (!fits) {
      for (std::size_t i = 0; i < targets.size(); ++i) {
        // Each part of an unknown has a name of its own: `B, T = x.shape`.
        Value part = items ? heap().external("", here(target)) : subscript(value, heap().integer(static_cast<std::int64_t>(i)), target);
        if (targets[i]->kind == ExprKind::starred) part = heap().open_list(element(value, here(target)));
        run_assign(*targets[i], part);
      }
      return;
    }
    const std::size_t extra = items->size() + 1 - targets.size();
    for (std::size_t i = 0, from = 0; i < targets.size(); ++i) {
      if (i == star) {
        run_assign(*targets[i], heap().list({items->begin() + static_cast<std::ptrdiff_t>(from),
                                             items->begin() + static_cast<std::ptrdiff_t>(from + extra)}));
        from += extra;
      } else {
        run_assign(*targets[i], (*items)[from++]);
      }
    }
    return;
  }
  default: return;
  }
}

void Interpreter::run_delete(const Expr& target) {
  if (target.kind == ExprKind::name) heap().set(variable(as<NameExpr>(target).id), {});
  else if (target.kind == ExprKind::tuple)
    for (const Expr* element_target : as<TupleExpr>(target).elements) run_delete(*element_target);
  else if (target.kind == ExprKind::subscript) {
    const Value object = resolve(evaluate(*as<SubscriptExpr>(target).object));
    evaluate(*as<SubscriptExpr>(target).index);
    escape(object);
    if (object.is(Kind::instance))
      if (const values::Slot* items = object.as<values::Instance>()->attributes.find(Name("$items")); items) escape(items->value);
  } else if (target.kind == ExprKind::attribute) {
    const auto& attribute_target = as<AttributeExpr>(target);
    const Value object = resolve(evaluate(*attribute_target.object));
    if (object.is(Kind::instance)) heap().set(heap().slot_of(object.as<values::Instance>()->attributes, attribute_target.attribute), {});
  }
}

Flow Interpreter::run_if(const IfStmt& stmt) {
  const Cond condition = truth(evaluate(*stmt.test));
  if (killed_) {
    killed_ = false;
    return leave(ExitKind::raise, stmt, {});
  }
  return fork(
      condition, &stmt, here(*stmt.test), [&] { return run_block(stmt.body); }, [&] { return run_block(stmt.orelse); });
}

Flow Interpreter::run_with(const WithStmt& stmt, std::size_t item) {
  if (item == stmt.items.size()) return run_block(stmt.body);
  const Expr& expr = *stmt.items[item].context;
  const Expr* target = stmt.items[item].target;
  const Value manager = resolve(evaluate(expr));
  if (killed_) {
    killed_ = false;
    return leave(ExitKind::raise, stmt, {});
  }
  if (manager.is(Kind::iterator) && manager.as<values::Iterator>()->pending) {
    // The body of the with runs where the manager's generator yields.
    Frame* const frame = frame_;
    const std::uint32_t chunk = chunk_;
    Flow flow = Flow::dead;
    bool entered = false;
    std::function<Value(Value)> body = [&](Value yielded) {
      if (entered) return Value::none();
      entered = true;
      Frame* const inner = frame_;
      const std::uint32_t inner_chunk = chunk_;
      frame_ = frame;
      chunk_ = chunk;
      if (target) run_assign(*target, yielded);
      flow = run_with(stmt, item + 1);
      frame_ = inner;
      chunk_ = inner_chunk;
      return Value::none();
    };
    drain(manager, here(expr), body);
    if (!entered) {
      if (target) run_assign(*target, heap().external(""));
      return run_with(stmt, item + 1);
    }
    killed_ = false;
    return flow;
  }
  Value entered = manager;
  Value leave_method;
  const std::function<bool(Value)> expects_failure = [&](Value value) {
    if (!value.is(Kind::choice)) return is_a(value, "$catches");
    return expects_failure(value.as<values::Choice>()->yes) || expects_failure(value.as<values::Choice>()->no);
  };
  const bool catches = expects_failure(manager);
  if (manager.is(Kind::instance)) {
    auto* object = manager.as<values::Instance>();
    if (const Value enter = find_method(object, Name("__enter__"))) entered = call(enter, {}, here(expr));
    leave_method = find_method(object, Name("__exit__"));
  } else if (manager.is(Kind::unknown)) {
    entered = heap().external("", here(expr));
  }
  if (target) run_assign(*target, entered);
  guards_ += catches;
  expected_ += catches;
  const Flow flow = run_with(stmt, item + 1);
  expected_ -= catches;
  guards_ -= catches;
  if (leave_method && flow == Flow::normal)
    call(leave_method, {{Value::none(), Value::none(), Value::none()}, {}, false}, here(expr));
  killed_ = false;
  return flow;
}

Flow Interpreter::run_try(const TryStmt& stmt) {
  auto* event = record_.event<AttemptEvent>();
  event->place = {chunk_, stmt.span};
  event->calls = site_;
  Block* const block = block_;
  const auto mark = heap().mark();
  const auto facts = symbols().mark();
  const std::size_t depth = path_.size();
  TryTarget target{mark, depth, {}};
  const bool catches = !stmt.handlers.empty();

  bool only_imports = true;
  for (const Stmt* part : stmt.body)
    only_imports = only_imports && (part->kind == StmtKind::import || part->kind == StmtKind::import_from ||
                                    part->kind == StmtKind::assign || part->kind == StmtKind::pass);

  block_ = &event->body;
  if (catches) frame_->tries.push_back(&target);
  guards_ += catches;
  Flow flow = run_block(stmt.body);
  guards_ -= catches;
  if (catches) frame_->tries.pop_back();
  block_ = &event->orelse;
  if (flow == Flow::normal) flow = run_block(stmt.orelse);
  values::Delta finished = heap().capture(mark);
  const bool goes_on = flow == Flow::normal;
  symbols().rewind(facts);
  path_.resize(depth);

  std::vector<Exit> handled;
  const Cond raised = symbols().opaque("an exception", only_imports ? Sharing::uniform : Sharing::local);
  for (const ExceptHandler& handler : stmt.handlers) {
    heap().rollback(mark);
    // The body may have been left anywhere: what it wrote may or may not be there.
    heap().join(mark, finished, nullptr, Sharing::local);
    for (const Exit& exit : target.raises) heap().join(mark, exit.delta, nullptr, Sharing::local);
    block_ = &event->handlers.emplace_back();
    path_.push_back(raised);
    if (handler.type) evaluate(*handler.type);
    if (!handler.name.empty()) heap().set(variable(handler.name), heap().unknown("", Sharing::local));
    if (run_block(handler.body) == Flow::normal) handled.push_back({heap().capture(mark), raised, {}});
    symbols().rewind(facts);
    path_.resize(depth);
  }
  if (catches) {
    heap().rollback(mark);
    if (goes_on) heap().apply(finished);
    flow = merge_exits(mark, handled, goes_on ? Flow::normal : Flow::dead, nullptr, false);
  }
  block_ = &event->finally;
  if (flow == Flow::normal) flow = run_block(stmt.finally);
  block_ = block;
  append(event);
  return flow;
}

Flow Interpreter::run_match(const MatchStmt& stmt, std::size_t from, Value subject) {
  if (from == stmt.cases.size()) return Flow::normal;
  const MatchCase& arm = stmt.cases[from];
  Cond condition = match_condition(*arm.pattern, subject);
  if (arm.guard) condition = symbols().logical_and(condition, truth(evaluate(*arm.guard)));
  return fork(
      condition, nullptr, {chunk_, arm.span}, [&] { return run_block(arm.body); },
      [&] { return run_match(stmt, from + 1, subject); });
}

Cond Interpreter::match_condition(const Pattern& pattern, Value subject) {
  const auto open = [&] { return symbols().opaque("a pattern", heap().sharing(subject)); };
  switch (pattern.kind) {
  case PatternKind::wildcard: return symbols().boolean(true);
  case PatternKind::capture:
    heap().set(variable(as<CapturePattern>(pattern).name), subject);
    return symbols().boolean(true);
  case PatternKind::value: return truth(compare(CompareOp::eq, subject, evaluate(*as<ValuePattern>(pattern).value)));
  case PatternKind::as: {
    const auto& named = as<AsPattern>(pattern);
    heap().set(variable(named.name), subject);
    return named.pattern ? match_condition(*named.pattern, subject) : symbols().boolean(true);
  }
  case PatternKind::or_: {
    Cond any = symbols().boolean(false);
    for (const Pattern* alternative : as<OrPattern>(pattern).alternatives)
      any = symbols().logical_or(any, match_condition(*alternative, subject));
    return any;
  }
  case PatternKind::sequence: {
    const auto& sequence = as<SequencePattern>(pattern);
    const auto items = elements(resolve(subject), {chunk_, pattern.span});
    Cond all = symbols().boolean(true);
    bool star = false;
    for (const Pattern* part : sequence.elements) star = star || part->kind == PatternKind::star;
    if (!items || star) {
      for (const Pattern* part : sequence.elements) match_condition(*part, heap().external(""));
      return open();
    }
    if (items->size() != sequence.elements.size()) return symbols().boolean(false);
    for (std::size_t i = 0; i < items->size(); ++i)
      all = symbols().logical_and(all, match_condition(*sequence.elements[i], (*items)[i]));
    return all;
  }
  case PatternKind::mapping:
    for (const Pattern* part : as<MappingPattern>(pattern).patterns) match_condition(*part, heap().external(""));
    if (!as<MappingPattern>(pattern).rest.empty()) heap().set(variable(as<MappingPattern>(pattern).rest), heap().external(""));
    return open();
  case PatternKind::class_:
    for (const Pattern* part : as<ClassPattern>(pattern).arguments) match_condition(*part, heap().external(""));
    for (const Pattern* part : as<ClassPattern>(pattern).keyword_patterns) match_condition(*part, heap().external(""));
    return open();
  case PatternKind::star:
    if (!as<StarPattern>(pattern).name.empty()) heap().set(variable(as<StarPattern>(pattern).name), heap().external(""));
    return symbols().boolean(true);
  case PatternKind::error: return open();
  }
  return open();
}

} // namespace stepzero::interpreter
