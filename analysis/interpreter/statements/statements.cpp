// Statements, other than loops, imports, class bodies, `with`, `try` and `match`.
#include "interpreter/calls/no_result.hpp"
#include "interpreter/expressions/ambiguous_truth.hpp"
#include "interpreter/expressions/unknown_items.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/residual.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t not_spread = static_cast<std::size_t>(-1);

// Of `a, b, c, d = *sizes, e` the place of the part that is spread out over several names; `not_spread` for what is written otherwise.
std::size_t spread_part(const Expr& target, const Expr& value) {
  if (target.kind != ExprKind::tuple || value.kind != ExprKind::tuple) return not_spread;
  const auto& targets = as<TupleExpr>(target).elements;
  const auto& parts = as<TupleExpr>(value).elements;
  const auto starred = [](const Expr* part) { return part->kind == ExprKind::starred; };
  if (std::any_of(targets.begin(), targets.end(), starred) || std::count_if(parts.begin(), parts.end(), starred) != 1 || targets.size() < parts.size())
    return not_spread;
  return static_cast<std::size_t>(std::find_if(parts.begin(), parts.end(), starred) - parts.begin());
}
} // namespace

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
  // Who raises SystemExit means to end.
  const auto ends = [&] {
    const std::string_view suffix = "SystemExit";
    if (value.is(Kind::library)) return value.as<values::LibrarySymbol>()->path.ends_with(suffix);
    return value.is(Kind::instance) && value.as<values::Instance>()->native && value.as<values::Instance>()->native->path.ends_with(suffix);
  };
  if (kind == ExitKind::raise && catching_ > 0)
    if (OperationEvent* raised = record_implied("$raised", {}, {value}, {}, event->place)) append(raised);
  event->fails = kind == ExitKind::raise && (stmt.kind == StmtKind::raise || stmt.kind == StmtKind::assert_) && !ends();
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
        target.raises.push_back(make_exit(target.mark, target.depth, value));
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
    return leave(ExitKind::raise, stmt, raised_);
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
    // b, n, d, h = *x.shape, self.heads: that so many sizes are asked for tells of how many dimensions x is.
    if (const std::size_t star = assign.targets.size() == 1 ? spread_part(*assign.targets[0], *assign.value) : not_spread; star != not_spread) {
      const auto& targets = as<TupleExpr>(*assign.targets[0]).elements;
      const auto& parts = as<TupleExpr>(*assign.value).elements;
      std::vector<Value> given;
      for (const Expr* part : parts) given.push_back(resolve(evaluate(part->kind == ExprKind::starred ? *as<StarredExpr>(*part).value : *part)));
      if (killed_) return after_expression();
      const std::size_t count = targets.size() + 1 - parts.size();
      std::vector<std::string_view> names;
      for (std::size_t i = star; i < star + count; ++i) names.push_back(targets[i]->kind == ExprKind::name ? as<NameExpr>(*targets[i]).id.text() : std::string_view());
      auto sizes = library_.unpack(*this, given[star], names, *assign.value, here(*assign.value));
      if (!sizes) sizes = take(given[star], here(*assign.value));
      for (std::size_t i = 0; i < targets.size(); ++i) {
        const bool of_star = i >= star && i < star + count;
        const bool of_shape = given[star].is(Kind::unknown) && given[star].as<values::Unknown>()->shape_of;
        const Value part = !of_star                           ? given[i < star ? i : i - count + 1]
                           : sizes && sizes->size() == count ? (*sizes)[i - star]
                           : !sizes && of_shape ? subscript(given[star], heap().integer(static_cast<std::int64_t>(i - star)), *targets[i])
                                                : heap().external("", here(*targets[i]));
        run_assign(*targets[i], part);
      }
      return after_expression();
    }
    const Value value = evaluate(*assign.value);
    if (killed_) return after_expression();
    name_by_comment(value, stmt);
    // total = total + loss
    bool sums = assign.targets.size() == 1 && assign.value->kind == ExprKind::binary && !killed_;
    if (sums) {
      const auto& sum = as<BinaryExpr>(*assign.value);
      if (policy_.operands_fit && assign.targets[0]->kind == ExprKind::name && sum.op != BinaryOp::matmul)
        for (const Expr* operand : {sum.left, sum.right})
          if (operand->kind == ExprKind::name && as<NameExpr>(*operand).id == as<NameExpr>(*assign.targets[0]).id)
            if (const values::Slot& slot = variable(as<NameExpr>(*operand).id); slot.value) keep_updated(*this, slot.value, value);
      // Also a running mean: mean = 0.9 * mean + 0.1 * loss.
      const auto names_target = [&](const Expr& part) {
        if (part.kind == assign.targets[0]->kind) return record_.text(here(part)) == record_.text(here(*assign.targets[0]));
        // sums[name] = sums.get(name, 0) + loss
        if (part.kind != ExprKind::call || assign.targets[0]->kind != ExprKind::subscript) return false;
        const auto& call = as<CallExpr>(part);
        const auto& entry = as<SubscriptExpr>(*assign.targets[0]);
        if (call.function->kind != ExprKind::attribute || call.arguments.empty() || as<AttributeExpr>(*call.function).attribute.text() != "get") return false;
        const auto same = [&](const Expr& a, const Expr& b) { return record_.text(here(a)) == record_.text(here(b)); };
        return same(*as<AttributeExpr>(*call.function).object, *entry.object) && same(*call.arguments[0], *entry.index);
      };
      const auto weighs_target = [&](const Expr& part) {
        return part.kind == ExprKind::binary && as<BinaryExpr>(part).op == BinaryOp::mul && (names_target(*as<BinaryExpr>(part).left) || names_target(*as<BinaryExpr>(part).right));
      };
      sums = sum.op == BinaryOp::add && (names_target(*sum.left) || weighs_target(*sum.left) || weighs_target(*sum.right));
      if (sums) note_assigned(*assign.targets[0], value, {chunk_, stmt.span});
    }
    // history[step] = loss: each round has an entry of its own.
    if (!sums && assign.targets.size() == 1 && assign.targets[0]->kind == ExprKind::subscript && as<SubscriptExpr>(*assign.targets[0]).index->kind == ExprKind::name && in_loop()) {
      const Expr& index = *as<SubscriptExpr>(*assign.targets[0]).index;
      const Value key = resolve(lookup(as<NameExpr>(index).id, index));
      if (killed_) return after_expression();
      sums = key.is(Kind::integer) && !symbols().value(key.integer());
      if (sums) note_assigned(*assign.targets[0], value, {chunk_, stmt.span});
    }
    for (const Expr* target : assign.targets) run_assign(*target, value);
    if (sums) note_assigned(*assign.targets[0], {}, {chunk_, stmt.span});
    return after_expression();
  }
  case StmtKind::aug_assign: {
    const auto& assign = as<AugAssignStmt>(stmt);
    const Value before = evaluate(*assign.target);
    const Value operand = evaluate(*assign.value);
    if (killed_) return after_expression();
    const Value changed = resolve(before);
    const Place where{chunk_, stmt.span};
    if (changed.is(Kind::list) || changed.is(Kind::dict)) {
      const bool is_set = changed.is(Kind::list) && changed.as<values::List>()->kind == values::ListKind::set;
      const std::string_view method = changed.is(Kind::dict)        ? (assign.op == BinaryOp::bit_or ? "update" : "")
                                      : !is_set                     ? (assign.op == BinaryOp::add ? "extend" : "")
                                      : assign.op == BinaryOp::bit_or  ? "update"
                                      : assign.op == BinaryOp::bit_and ? "intersection_update"
                                      : assign.op == BinaryOp::sub     ? "difference_update"
                                      : assign.op == BinaryOp::bit_xor ? "symmetric_difference_update"
                                                                       : "";
      if (!method.empty()) {
        Arguments arguments{{operand}, {}, false};
        call_method(changed, method, arguments, where);
        // The target is assigned to, which a property or an element sees.
        if (assign.target->kind != ExprKind::name) run_assign(*assign.target, changed);
        return after_expression();
      }
      if (changed.is(Kind::list) && !is_set && assign.op == BinaryOp::mul) {
        const BinaryExpr times{{ExprKind::binary, stmt.span}, assign.op, assign.target, assign.value, assign.target->span};
        const Value made = resolve(binary(assign.op, changed, operand, times));
        if (made.is(Kind::list)) heap().set_list(changed, *values::Heap::list_state(made));
        return after_expression();
      }
    }
    if (changed.is(Kind::instance)) {
      constexpr std::string_view names[] = {"add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"};
      const std::string in_place = "__i" + std::string(names[static_cast<int>(assign.op)]) + "__";
      if (const Value method = find_method(changed.as<values::Instance>(), Name(in_place))) {
        run_assign(*assign.target, call(method, {{operand}, {}, false}, where));
        return after_expression();
      }
    }
    const BinaryExpr& node = record_.augmented.try_emplace(&stmt, BinaryExpr{{ExprKind::binary, stmt.span}, assign.op, assign.target, assign.value, assign.target->span}).first->second;
    const Value made = changed.is(Kind::tensor) ? library_.augment(*this, assign.op, changed, operand, node, {chunk_, stmt.span}) : binary(assign.op, before, operand, node);
    const bool sums = assign.op == BinaryOp::add && !killed_;
    if (sums) note_assigned(*assign.target, operand, where);
    run_assign(*assign.target, made);
    if (sums) note_assigned(*assign.target, {}, where);
    return after_expression();
  }
  case StmtKind::ann_assign: {
    const auto& assign = as<AnnAssignStmt>(stmt);
    if (!assign.value) return Flow::normal;
    const Value value = evaluate(*assign.value);
    if (!killed_) judge_annotation(assign.annotation, chunk_, value, here(*assign.value), record_.text(here(*assign.target)));
    if (!killed_) run_assign(*assign.target, value);
    return after_expression();
  }
  case StmtKind::return_: {
    const Expr* expr = as<ReturnStmt>(stmt).value;
    const Value value = expr ? evaluate(*expr) : Value::none();
    if (killed_) return after_expression();
    if (expr && frame_->function && frame_->function->stmt && frame_->function->stmt->returns)
      judge_annotation(frame_->function->stmt->returns, chunk_, value, here(*expr), "The result");
    return leave(ExitKind::return_, stmt, value);
  }
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

namespace {
// One integer or another: a size that depends on a condition.
bool is_either_integer(Value value) {
  if (value.is(Kind::unknown)) {
    const auto* unknown = value.as<values::Unknown>();
    return unknown->integer && !unknown->only_compared && !unknown->state.value;
  }
  if (!value.is(Kind::choice)) return value.is(Kind::integer);
  return is_either_integer(value.as<values::Choice>()->yes) && is_either_integer(value.as<values::Choice>()->no);
}
} // namespace

void Interpreter::store_subscript(Value object, Value index, Value value, const Expr& target) {
  object = resolve(object);
  // Each side gets the item only if its condition holds.
  if (object.is(Kind::choice)) {
    const auto store = [&](Value side) {
      store_subscript(side, index, value, target);
      return Value::none();
    };
    over_choices(object, store, here(target));
    return;
  }
  // Containers of modules hold their parts in a list or a dict, where the class has no way of its own.
  if (object.is(Kind::instance) && !(object.as<values::Instance>()->cls && find_in_order(object.as<values::Instance>()->cls->order, Name("__setitem__"))))
    for (const std::string_view parts : {values::ContainerState::items, values::ContainerState::dict})
      if (const values::Slot* slot = object.as<values::Instance>()->attributes.find(Name(parts)); slot && slot->value) {
        object = resolve(slot->value);
        break;
      }
  // os.environ["WORLD_SIZE"] = ...: who communicates from here on is not as the job was started.
  if (const Value key = resolve(index); object.is(Kind::library) && key.is(Kind::string) && library_.find(std::string(object.as<values::LibrarySymbol>()->path) + "[" + std::string(key.text()) + "]"))
    if (OperationEvent* event = record_implied("$unseen_communication", {}, {}, {}, here(target))) append(event);
  if (object.is(Kind::library))
    if (const Row* setter = library_.find(std::string(object.as<values::LibrarySymbol>()->path) + ".__setitem__"); setter && setter->kind == values::RowKind::function)
      call_library(*library_symbol(setter->path).as<values::LibrarySymbol>(), {}, {{index, value}, {}, false}, here(target), nullptr);
  if (object.is(Kind::dict)) dict_set(object, index, value);
  else if (object.is(Kind::unknown) && !object.as<values::Unknown>()->state.value) {
    step(1 + object.as<values::Unknown>()->items.size());  // each of them is compared, and may be made anew
    store_item(*this, *object.as<values::Unknown>(), index, value);
  } else if (object.is(Kind::tensor)) library_.store(*this, object, index, value, target, here(target));
  else if (object.is(Kind::list)) {
    values::ListState state = *values::Heap::list_state(object);
    const Value place_of = resolve(index);
    const auto at = to_constant(place_of);
    const auto size = static_cast<std::int64_t>(state.items.size());
    if (at && !state.open && *at < size && *at >= -size) state.items[static_cast<std::size_t>(*at < 0 ? *at + size : *at)] = value;
    else if (place_of.is(Kind::slice) && !state.open) {
      const auto picked = slice_of(size, *place_of.as<values::SliceObject>());
      const auto items = take(value, here(target));
      const Value by = resolve(place_of.as<values::SliceObject>()->step);
      const bool plain = !by || by.is(Kind::none) || to_constant(by) == 1;
      if (picked && items && plain) {
        const auto lower = place_of.as<values::SliceObject>()->lower;
        std::int64_t from = picked->empty() ? (resolve(lower).is(Kind::none) ? 0 : to_constant(lower).value_or(0)) : picked->front();
        if (from < 0) from += size;
        from = std::clamp<std::int64_t>(from, 0, size);
        state.items.erase(state.items.begin() + from, state.items.begin() + from + static_cast<std::ptrdiff_t>(picked->size()));
        state.items.insert(state.items.begin() + from, items->begin(), items->end());
      } else if (picked && items && picked->size() == items->size()) {
        for (std::size_t i = 0; i < picked->size(); ++i) state.items[static_cast<std::size_t>((*picked)[i])] = (*items)[i];
      } else {
        state.rest = heap().merge(element(object, here(target)), element(value, here(target)), Sharing::uniform);
        state.items.clear();
        state.open = true;
        state.length = nullptr;
      }
    } else {
      for (Value& item : state.items) item = heap().merge(item, value, Sharing::uniform);
      if (state.open) state.rest = heap().merge(state.rest, value, Sharing::uniform);
    }
    heap().set_list(object, std::move(state));
  } else if (object.is(Kind::instance)) {
    if (const Value method = find_method(object.as<values::Instance>(), Name("__setitem__")))
      call(method, {{index, value}, {}, false}, here(target));
  }
}

void Interpreter::run_assign(const Expr& target, Value value) {
  // To be shown, it goes by the name that the program gives it.
  if (policy_.names_sizes && in_roots_ && value.is(Kind::choice) && rehearsals_ == 0 && (target.kind == ExprKind::name || target.kind == ExprKind::attribute)) {
    value = resolve(value);
    const Name name = target.kind == ExprKind::name ? as<NameExpr>(target).id : as<AttributeExpr>(target).attribute;
    if (value.is(Kind::choice) && is_either_integer(value)) value = Value::of(stand_in(name.text()));
  }
  switch (target.kind) {
  case ExprKind::name: {
    const Name name = as<NameExpr>(target).id;
    if (value.is(Kind::unknown) && value.as<values::Unknown>()->name.empty())
      value.as<values::Unknown>()->name = name.text();
    if (value.is(Kind::integer) && policy_.names_sizes && name.text() != "_") symbols().rename(value.integer(), std::string(name.text()));
    heap().set(variable(name), value);
    note(Fact::Role::assignment, here(target), value);
    return;
  }
  case ExprKind::attribute: {
    const auto& attribute = as<AttributeExpr>(target);
    const Value object = evaluate(*attribute.object);
    set_attribute(object, attribute.attribute, value, here(target));
    const bool on_self =
        attribute.object->kind == ExprKind::name && as<NameExpr>(*attribute.object).id.text() == "self";
    note(on_self ? Fact::Role::attribute : Fact::Role::expression, here(target), value);
    return;
  }
  case ExprKind::subscript: {
    const auto& subscript_target = as<SubscriptExpr>(target);
    const Value object = evaluate(*subscript_target.object);
    store_subscript(object, evaluate(*subscript_target.index), value, target);
    return;
  }
  case ExprKind::starred: return run_assign(*as<StarredExpr>(target).value, value);
  case ExprKind::tuple:
  case ExprKind::list: {
    const auto targets = target.kind == ExprKind::tuple ? as<TupleExpr>(target).elements : as<ListExpr>(target).elements;
    value = resolve(value);
    if (const Value made = refuse_nothing(*this, value, "it cannot be unpacked (TypeError)", here(target))) value = made;
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
    if (!items) items = take(value, here(target));
    const bool fits = items && (star == targets.size() ? items->size() == targets.size() : items->size() + 1 >= targets.size());
    if (!fits) {
      for (std::size_t i = 0; i < targets.size(); ++i) {
        // Each part of an unknown has a name of its own: `B, T = x.shape`. What stands behind a star is counted from the end.
        const auto at = static_cast<std::int64_t>(i) - (i > star ? static_cast<std::int64_t>(targets.size()) : 0);
        Value part = items ? heap().external("", here(target)) : subscript(value, heap().integer(at), *targets[i]);
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
    Value object = resolve(evaluate(*as<SubscriptExpr>(target).object));
    const Value index = resolve(evaluate(*as<SubscriptExpr>(target).index));
    if (object.is(Kind::instance)) {
      if (const Value method = find_method(object.as<values::Instance>(), Name("__delitem__"))) {
        call(method, {{index}, {}, false}, here(target));
        return;
      }
      for (const std::string_view parts : {values::ContainerState::items, values::ContainerState::dict})
        if (const values::Slot* slot = object.as<values::Instance>()->attributes.find(Name(parts)); slot && slot->value) {
          object = resolve(slot->value);
          break;
        }
    }
    if (object.is(Kind::dict)) dict_delete(object, index);
    else if (object.is(Kind::list) && !values::Heap::list_state(object)->open) {
      values::ListState state = *values::Heap::list_state(object);
      const auto size = static_cast<std::int64_t>(state.items.size());
      std::vector<std::int64_t> places;
      if (index.is(Kind::slice)) {
        const auto picked = slice_of(size, *index.as<values::SliceObject>());
        if (!picked) return escape(object);
        places = *picked;
      } else {
        const auto at = to_constant(index);
        if (!at || *at >= size || *at < -size) return escape(object);
        places.push_back(*at < 0 ? *at + size : *at);
      }
      std::sort(places.rbegin(), places.rend());
      for (const std::int64_t i : places) state.items.erase(state.items.begin() + i);
      heap().set_list(object, std::move(state));
    } else {
      escape(object);
    }
  } else if (target.kind == ExprKind::attribute) {
    const auto& attribute_target = as<AttributeExpr>(target);
    delete_attribute(evaluate(*attribute_target.object), attribute_target.attribute, here(target));
  }
}

Flow Interpreter::run_if(const IfStmt& stmt) {
  const Cond condition = truth(asked_for_truth(*this, evaluate(*stmt.test), here(*stmt.test)));
  if (killed_) {
    killed_ = false;
    return leave(ExitKind::raise, stmt, raised_);
  }
  return fork(
      condition, &stmt, here(*stmt.test), [&] { return run_block(stmt.body); }, [&] { return run_block(stmt.orelse); });
}

} // namespace stepzero::interpreter
