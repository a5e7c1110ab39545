// Expressions: names, literals, operators, comparisons, subscripts.
#include "interpreter/interpreter.hpp"

#include <charconv>
#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t most_elements = 1024;  // of a sequence that is read one by one
} // namespace

// The value as it is now: what is put into a list later is not in it.
Value Interpreter::frozen(Value value, int depth) {
  value = resolve(value);
  if (depth > 3 || (!value.is(Kind::list) && !value.is(Kind::tuple))) return value;
  const auto* state = value.is(Kind::list) ? values::Heap::list_state(value) : nullptr;
  std::vector<Value> items = state ? state->items : value.as<values::Tuple>()->items;
  bool nested = false;
  for (std::size_t i = 0; i < items.size() && i < 16; ++i) {
    const Value inner = frozen(items[i], depth + 1);
    nested = nested || !(inner == items[i]);
    items[i] = inner;
  }
  if (!state) return nested ? heap().tuple(std::move(items)) : value;
  auto* list = heap().make<values::List>();
  list->kind = value.as<values::List>()->kind;
  list->state.value = value.as<values::List>()->state.value;
  const Value copy = Value::of(Kind::list, list);
  if (nested) {
    values::ListState changed = *state;
    changed.items = std::move(items);
    heap().set_list(copy, std::move(changed));
  }
  return copy;
}

void Interpreter::note(Fact::Role role, Place where, Value value) {
  if (rehearsals_ > 0 || with_defaults_ || !value || value.is(Kind::state)) return;
  if (record_.chunks[chunk_].path != main_path_) return;
  Fact fact{where, role, value, nullptr};
  Value now = resolve(value);
  if (now.is(Kind::unknown) && now.as<values::Unknown>()->state.value.is(Kind::tensor)) now = now.as<values::Unknown>()->state.value;
  if (now.is(Kind::tensor)) fact.tensor = now.as<values::Tensor>()->now();
  fact.value = role == Fact::Role::expression ? now : frozen(now);
  record_.facts.push_back(fact);
}

Value Interpreter::evaluate(const Expr& expr) {
  const Nested nested(nesting_);
  if (!step() || nested.too_deep()) return heap().external("", here(expr));
  const Value value = evaluate_inner(expr);
  if (traced_ && traced_frame_ == frame_ && traced_->size() < 64) traced_->emplace_back(&expr, value);
  switch (expr.kind) {
  case ExprKind::name:
  case ExprKind::attribute:
  case ExprKind::call:
  case ExprKind::subscript:
  case ExprKind::binary: note(Fact::Role::expression, here(expr), value); break;
  default: break;
  }
  return value;
}

Value Interpreter::evaluate_inner(const Expr& expr) {
  switch (expr.kind) {
  case ExprKind::name: return lookup(as<NameExpr>(expr).id, expr);
  case ExprKind::integer: {
    const auto& literal = as<IntegerExpr>(expr);
    return literal.fits ? heap().integer(literal.value) : heap().unknown("", Sharing::uniform, here(expr));
  }
  case ExprKind::real: return Value::of(as<RealExpr>(expr).value);
  case ExprKind::string: return heap().string(as<StringExpr>(expr).value);
  case ExprKind::format: return evaluate_format(as<FormatExpr>(expr));
  case ExprKind::none: return Value::none();
  case ExprKind::boolean: return heap().boolean(as<BooleanExpr>(expr).value);
  case ExprKind::ellipsis: return Value::ellipsis();
  case ExprKind::imaginary:
  case ExprKind::bytes: return heap().unknown("", Sharing::uniform, here(expr));
  case ExprKind::attribute: {
    const auto& access = as<AttributeExpr>(expr);
    const bool called = std::exchange(callee_, nullptr) == &expr;
    const Value object = evaluate(*access.object);
    return over_choices(
        object,
        [&](Value side) {
          calling_ = called;
          const Value found = attribute(side, access.attribute, here(expr));
          calling_ = false;
          return found;
        },
        here(expr));
  }
  case ExprKind::subscript: {
    const auto& access = as<SubscriptExpr>(expr);
    const Value object = evaluate(*access.object);
    const Value index = evaluate(*access.index);
    return over_choices(object, [&](Value side) { return subscript(side, index, expr); }, here(expr));
  }
  case ExprKind::slice: {
    const auto& parts = as<SliceExpr>(expr);
    auto* slice = heap().make<values::SliceObject>();
    slice->lower = parts.lower ? evaluate(*parts.lower) : Value::none();
    slice->upper = parts.upper ? evaluate(*parts.upper) : Value::none();
    slice->step = parts.step ? evaluate(*parts.step) : Value::none();
    return Value::of(Kind::slice, slice);
  }
  case ExprKind::call: return evaluate_call(as<CallExpr>(expr));
  case ExprKind::binary: {
    const auto& operation = as<BinaryExpr>(expr);
    const Value left = evaluate(*operation.left);
    const Value right = evaluate(*operation.right);
    return binary(operation.op, left, right, expr);
  }
  case ExprKind::unary: return unary(as<UnaryExpr>(expr).op, evaluate(*as<UnaryExpr>(expr).operand), expr);
  case ExprKind::boolean_op: return evaluate_bool(as<BooleanOpExpr>(expr), 0);
  case ExprKind::compare: return evaluate_compare(as<CompareExpr>(expr));
  case ExprKind::conditional: {
    const auto& conditional = as<ConditionalExpr>(expr);
    const Cond condition = truth(evaluate(*conditional.test));
    return fork_value(
        condition, here(expr), [&] { return evaluate(*conditional.body); }, [&] { return evaluate(*conditional.orelse); });
  }
  case ExprKind::lambda: return make_lambda(as<LambdaExpr>(expr));
  case ExprKind::tuple:
  case ExprKind::list:
  case ExprKind::set: {
    const auto parts = expr.kind == ExprKind::tuple  ? as<TupleExpr>(expr).elements
                       : expr.kind == ExprKind::list ? as<ListExpr>(expr).elements
                                                     : as<SetExpr>(expr).elements;
    bool open = false;
    Value rest;
    std::vector<Value> items = evaluate_elements(parts, open, rest);
    if (expr.kind == ExprKind::tuple && !open) return heap().tuple(std::move(items));
    if (expr.kind == ExprKind::set && !open) return make_set(std::move(items));
    const Value list = heap().list(std::move(items), expr.kind == ExprKind::set ? values::ListKind::set : values::ListKind::list);
    values::Heap::list_state(list)->open = open;
    values::Heap::list_state(list)->rest = rest;
    return list;
  }
  case ExprKind::dict: {
    const Value dict = heap().dict({});
    std::vector<std::pair<Value, Value>> plain;  // so far all of it text that stands once
    std::unordered_set<std::string_view> seen;
    const auto flush = [&] {
      if (plain.empty()) return;
      values::DictState state;
      state.items = std::move(plain);
      plain.clear();
      heap().set_dict(dict, std::move(state));
    };
    bool direct = true;
    for (const DictItem& item : as<DictExpr>(expr).items) {
      const Value key = item.key ? resolve(evaluate(*item.key)) : Value{};
      const Value value = evaluate(*item.value);
      if (key) {
        direct = direct && key.is(Kind::string) && seen.insert(key.text()).second;
        if (direct) plain.push_back({key, value});
        else {
          flush();
          dict_set(dict, key, value);
        }
        continue;
      }
      flush();
      direct = false;
      if (dict_update(dict, value, here(expr))) continue;
      auto state = *values::Heap::dict_state(dict);
      for (auto& [k, v] : state.items) v = heap().merge(v, heap().external(""), Sharing::uniform);
      state.open = true;
      state.rest = heap().external("");
      heap().set_dict(dict, std::move(state));
    }
    flush();
    return dict;
  }
  case ExprKind::comprehension: return run_comprehension(as<ComprehensionExpr>(expr));
  case ExprKind::await: return evaluate(*as<AwaitExpr>(expr).value);
  case ExprKind::yield: {
    const Expr* part = as<YieldExpr>(expr).value;
    const Value value = part ? evaluate(*part) : Value::none();
    if (frame_->on_yield) return (*frame_->on_yield)(value);
    return heap().external("", here(expr));
  }
  case ExprKind::yield_from: {
    const Value source = evaluate(*as<YieldFromExpr>(expr).value);
    if (frame_->on_yield) {
      auto consume = *frame_->on_yield;
      const Value inner = resolve(source);
      if (is_pending(inner)) return drain(inner, here(expr), consume);
      if (const auto items = take(source, here(expr)))
        for (const Value& item : *items) {
          consume(item);
          if (killed_) break;
        }
      else
        consume(element(source, here(expr)));
    }
    return heap().external("", here(expr));
  }
  case ExprKind::starred: return evaluate(*as<StarredExpr>(expr).value);
  case ExprKind::named: {
    const auto& named = as<NamedExpr>(expr);
    const Value value = evaluate(*named.value);
    heap().set(variable(named.name), value);
    note(Fact::Role::assignment, place(named.name_span), value);
    return value;
  }
  case ExprKind::error:
    for (const Expr* part : as<ErrorExpr>(expr).parts) evaluate(*part);
    killed_ = false;
    return heap().external("", here(expr));
  }
  return heap().external("", here(expr));
}

std::vector<Value> Interpreter::evaluate_elements(List<const Expr*> parts, bool& open, Value& rest, std::size_t* behind) {
  std::vector<Value> items;
  std::size_t last_open = 0;
  for (const Expr* part : parts) {
    if (part->kind != ExprKind::starred) {
      items.push_back(evaluate(*part));
      continue;
    }
    const Value spread = evaluate(*as<StarredExpr>(*part).value);
    if (const auto known = take(spread, here(*part)); known && (!open || behind)) items.insert(items.end(), known->begin(), known->end());
    else {
      open = true;
      last_open = items.size();
      if (const Value tail = resolve(spread); behind && tail.is(Kind::unknown) && tail.as<values::Unknown>()->ends_with) {
        const auto& last = tail.as<values::Unknown>()->ends_with.as<values::Tuple>()->items;
        items.insert(items.end(), last.begin(), last.end());
      }
      rest = heap().merge(rest, element(spread, here(*part)), Sharing::uniform);
    }
  }
  if (behind && open) *behind = items.size() - last_open;
  return items;
}

// ---------------------------------------------------------------- names

Value Interpreter::lookup(Name name, const Expr& node) {
  for (values::Scope* scope = frame_->scope; scope; scope = scope->parent) {
    if (scope->is_class && scope != frame_->scope) continue;
    if (const values::Slot* slot = scope->names.find(name); slot && slot->value) {
      const Value value = resolve(slot->value);
      return value ? value : heap().external(name.text(), here(node));
    }
  }
  if (const values::Scope* globals = frame_->scope->globals)
    if (const values::Slot* slot = globals->names.find(name); slot && slot->value) return resolve(slot->value);
  if (!installed_.empty())
    if (ModuleRun* module = installed_module(frame_->scope->globals))
      if (const Value found = lazy_name(*module, name)) return found;
  if (const Value found = builtin(name)) return found;
  return heap().external(name.text(), here(node));
}

values::Slot& Interpreter::variable(Name name) {
  values::Scope* scope = frame_->scope;
  if (scope->info) {
    for (const Name global : scope->info->globals)
      if (global == name && scope->globals) return heap().slot_of(scope->globals->names, name);
    for (const Name outer : scope->info->nonlocals)
      if (outer == name)
        for (values::Scope* up = scope->parent; up; up = up->parent)
          if (!up->is_class && up->names.find(name)) return *up->names.find(name);
  }
  return heap().slot_of(scope->names, name);
}

// ---------------------------------------------------------------- truth and comparison

Cond Interpreter::named_condition(std::string_view name, Sharing sharing) {
  if (const auto it = record_.conditions.find(name); it != record_.conditions.end()) return it->second;
  const Cond made = symbols().opaque(std::string(name), sharing);
  record_.conditions.emplace(std::string(name), made);
  return made;
}

Cond Interpreter::truth(Value value) {
  const Nested nested(nesting_);
  value = resolve(value);
  auto& s = symbols();
  if (nested.too_deep()) return mark_external(s.opaque("", Sharing::local), true);
  switch (value.kind) {
  case Kind::boolean: return value.condition();
  case Kind::none: return s.boolean(false);
  case Kind::integer: return s.compared(symbolic::Compare::ne, value.integer(), s.constant(0));
  case Kind::real: return s.boolean(value.real() != 0);
  case Kind::string: return s.boolean(!value.text().empty());
  case Kind::tuple: return s.boolean(!value.as<values::Tuple>()->items.empty());
  case Kind::list: {
    const auto* state = values::Heap::list_state(value);
    if (!state->items.empty()) return s.boolean(true);
    if (!state->open) return s.boolean(false);
    if (state->length) return s.compared(symbolic::Compare::ne, state->length, s.constant(0));
    return mark_external(s.opaque("a list", heap().sharing(value)), state->rest && heap().is_external(state->rest));
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(value);
    if (!state->open) return s.boolean(!state->items.empty());
    return mark_external(s.opaque("a dict", Sharing::local), true);
  }
  case Kind::choice: {
    const auto* choice = value.as<values::Choice>();
    const Cond yes = s.logical_and(choice->condition, truth(choice->yes));
    const Cond no = s.logical_and(s.logical_not(choice->condition), truth(choice->no));
    return s.logical_or(yes, no);
  }
  case Kind::unknown: {
    auto* unknown = value.as<values::Unknown>();
    if (unknown->integer) return s.compared(symbolic::Compare::ne, unknown->integer, s.constant(0));
    if (!unknown->truth) unknown->truth = mark_external(s.opaque(std::string(unknown->name), unknown->sharing), unknown->external);
    return unknown->truth;
  }
  case Kind::tensor: {
    const auto* state = value.as<values::Tensor>()->now();
    return mark_external(s.opaque("a tensor", state->sharing), state->external);
  }
  case Kind::range: {
    const auto* range = value.as<values::Range>();
    return s.compared(symbolic::Compare::lt, range->start, range->stop);
  }
  case Kind::instance: {
    if (const Value method = find_method(value.as<values::Instance>(), Name("__bool__"))) return truth(call(method, {}, {}));
    if (const Value plain = plain_member(value); !(plain == value)) return truth(plain);
    if (find_method(value.as<values::Instance>(), Name("__len__"))) return truth(length_of(value, {}));
    return s.boolean(true);
  }
  case Kind::iterator:
  case Kind::state:
  case Kind::absent: return mark_external(s.opaque("", Sharing::local), true);
  default: return s.boolean(true);
  }
}

Value Interpreter::evaluate_bool(const BooleanOpExpr& expr, std::size_t from) {
  const Value left = evaluate(*expr.operands[from]);
  if (from + 1 == expr.operands.size() || killed_) return left;
  const Cond holds = truth(left);
  const Place where = here(expr);
  // A plain truth value stays one, so that `a and b` reads as a condition.
  if (expr.op == BoolOp::logical_and)
    return fork_value(
        holds, where, [&] { return evaluate_bool(expr, from + 1); },
        [&] { return left.is(Kind::boolean) ? heap().boolean(false) : left; });
  return fork_value(
      holds, where, [&] { return left.is(Kind::boolean) ? heap().boolean(true) : left; },
      [&] { return evaluate_bool(expr, from + 1); });
}

Value Interpreter::unary(UnaryOp op, Value operand, const Expr& node) {
  if (op == UnaryOp::logical_not) return Value::of(symbols().logical_not(truth(operand)));
  operand = settled(operand);
  if (operand.is(Kind::choice)) return over_choices(operand, [&](Value side) { return unary(op, side, node); }, here(node));
  if (operand.is(Kind::boolean))
    if (const auto constant = to_constant(operand)) operand = heap().integer(*constant);
  if (op == UnaryOp::minus) {
    if (operand.is(Kind::integer)) return Value::of(symbols().negate(operand.integer()));
    if (operand.is(Kind::real)) return Value::of(-operand.real());
  }
  if (op == UnaryOp::plus && (operand.is(Kind::integer) || operand.is(Kind::real))) return operand;
  if (op == UnaryOp::invert && operand.is(Kind::integer)) return Value::of(symbols().sub(symbols().constant(-1), operand.integer()));
  if (operand.is(Kind::tensor)) return library_.unary(*this, op, operand, node, here(node));
  if (operand.is(Kind::instance)) {
    const std::string_view name = op == UnaryOp::minus ? "__neg__" : op == UnaryOp::plus ? "__pos__" : "__invert__";
    if (const Value method = find_method(operand.as<values::Instance>(), Name(name))) return call(method, {}, {});
  }
  Value result = heap().unknown_from({operand});
  result.as<values::Unknown>()->is_real = operand.is(Kind::unknown) && operand.as<values::Unknown>()->is_real;
  return result;
}

Value Interpreter::settled(Value value) {
  value = resolve(value);
  if (value.is(Kind::unknown) && value.as<values::Unknown>()->state.value.is(Kind::tensor)) return value.as<values::Unknown>()->state.value;
  return value;
}

Value Interpreter::evaluate_compare(const CompareExpr& expr) {
  Value left = evaluate(*expr.left);
  Value result;
  for (std::size_t i = 0; i < expr.ops.size(); ++i) {
    const Value right = evaluate(*expr.rights[i]);
    const bool of_values = expr.ops[i] <= CompareOp::ge;
    const Value a = settled(left), b = settled(right);
    Value part = of_values && (a.is(Kind::tensor) || b.is(Kind::tensor)) ? library_.compare(*this, expr.ops[i], a, b, expr, here(expr))
                                                                         : compare(expr.ops[i], left, right);
    // Compared with something unknown, it may be a tensor of truths: a value of which only its truth is known.
    const auto may_be_tensor = [](Value value) { return value.is(Kind::unknown) && !value.as<values::Unknown>()->is_real; };
    const auto may_meet_tensor = [](Value value) { return value.is(Kind::unknown) || value.is(Kind::integer) || value.is(Kind::real) || value.is(Kind::boolean); };
    if (of_values && expr.ops.size() == 1 && part.is(Kind::boolean) && ((may_be_tensor(a) && may_meet_tensor(b)) || (may_be_tensor(b) && may_meet_tensor(a))) &&
        symbols().form(part.condition()) != symbolic::Context::Form::constant) {
      const Value made = heap().unknown("", symbols().sharing(part.condition()), here(expr));
      made.as<values::Unknown>()->truth = part.condition();
      made.as<values::Unknown>()->external = record_.external.contains(part.condition());
      part = made;
    }
    result = result ? Value::of(symbols().logical_and(truth(result), truth(part))) : part;
    if (i + 1 < expr.ops.size() && symbols().decide(truth(result)) == symbolic::Answer::no) break;  // the rest is not evaluated
    left = right;
  }
  return result;
}

namespace {
symbolic::Compare ordering(CompareOp op) {
  switch (op) {
  case CompareOp::ne: return symbolic::Compare::ne;
  case CompareOp::lt: return symbolic::Compare::lt;
  case CompareOp::le: return symbolic::Compare::le;
  case CompareOp::gt: return symbolic::Compare::gt;
  case CompareOp::ge: return symbolic::Compare::ge;
  default: return symbolic::Compare::eq;
  }
}
bool is_number(Value value) { return value.is(Kind::integer) || value.is(Kind::real); }
bool is_constant_like(Value value) {
  return value.is(Kind::string) || value.is(Kind::none) || value.is(Kind::boolean) || is_number(value) || value.is(Kind::dtype) ||
         value.is(Kind::device);
}
std::string constant_text(symbolic::Context& symbols, Value value) {
  switch (value.kind) {
  case Kind::string: return "'" + std::string(value.text()) + "'";
  case Kind::integer: return symbols.text(value.integer());
  case Kind::real: return std::to_string(value.real());
  case Kind::boolean: return symbols.text(value.condition());
  case Kind::dtype: return std::string(values::name(value.dtype()));
  default: return "None";
  }
}
std::string_view spelled(CompareOp op) {
  constexpr std::string_view names[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
  return names[static_cast<int>(op)];
}
} // namespace

Value Interpreter::compare(CompareOp op, Value left, Value right) {
  left = resolve(left);
  right = resolve(right);
  auto& s = symbols();
  const auto negate_if = [&](bool negate, Cond condition) { return Value::of(negate ? s.logical_not(condition) : condition); };
  if (left.is(Kind::choice))
    return over_choices(left, [&](Value side) { return Value::of(truth(compare(op, side, right))); });
  if (right.is(Kind::choice))
    return over_choices(right, [&](Value side) { return Value::of(truth(compare(op, left, side))); });
  const auto open = [&](std::string name) {
    const Sharing sharing = symbolic::mix(heap().sharing(left), heap().sharing(right));
    return Value::of(mark_external(s.opaque(std::move(name), sharing), heap().is_external(left) || heap().is_external(right)));
  };
  const bool negative = op == CompareOp::ne || op == CompareOp::is_not || op == CompareOp::not_in;

  if (op == CompareOp::in || op == CompareOp::not_in) {
    if (right.is(Kind::instance)) {
      auto* object = right.as<values::Instance>();
      if (const Value method = find_method(object, Name("__contains__"))) return negate_if(negative, truth(call(method, {{left}, {}, false}, {})));
    }
    if (right.is(Kind::dict)) {
      const auto* state = values::Heap::dict_state(right);
      bool known = known_key(left);
      for (const auto& [key, value] : state->items) {
        if (key == left || same_key(key, left)) {
          if (value && !value.is(Kind::choice)) return heap().boolean(!negative);
          if (value.is(Kind::choice) && value.as<values::Choice>()->yes && value.as<values::Choice>()->no) return heap().boolean(!negative);
          return open("");
        }
        known = known && known_key(key);
      }
      if (!state->open && known) return heap().boolean(negative);
      return open("");
    }
    if (right.is(Kind::string) && left.is(Kind::string))
      return heap().boolean((right.text().find(left.text()) != std::string_view::npos) != negative);
    if (right.is(Kind::range)) {
      const auto* range = right.as<values::Range>();
      const auto at = to_constant(left), from = s.value(range->start), to = s.value(range->stop), by = s.value(range->step);
      if (at && from && to && by && *by != 0)
        return heap().boolean(((*by > 0 ? *at >= *from && *at < *to : *at <= *from && *at > *to) && (*at - *from) % *by == 0) != negative);
    }
    if (right.is(Kind::class_) && right.as<values::Class>()->is_enum && left.is(Kind::instance))
      return heap().boolean((std::find(right.as<values::Class>()->members.begin(), right.as<values::Class>()->members.end(), left) != right.as<values::Class>()->members.end()) != negative);
    const bool is_set = right.is(Kind::list) && right.as<values::List>()->kind == values::ListKind::set;
    const auto items = is_set && !values::Heap::list_state(right)->open ? std::optional(values::Heap::list_state(right)->items)
                       : right.is(Kind::unknown)                         ? std::nullopt
                                                                         : elements(right, {});
    if (items) {
      if (known_key(left)) {
        bool known = true;
        for (const Value& raw : *items) {
          const Value item = resolve(raw);
          if (known_key(item) ? same_key(item, left) : item == left) return heap().boolean(!negative);
          known = known && known_key(item);
        }
        if (known) return heap().boolean(negative);
      }
      if (items->size() <= 16) {
        Cond any = s.boolean(false);
        for (const Value& item : *items) any = s.logical_or(any, truth(compare(CompareOp::eq, left, item)));
        return negate_if(negative, any);
      }
    }
    return open("");
  }

  if (op == CompareOp::is || op == CompareOp::is_not || op == CompareOp::eq || op == CompareOp::ne) {
    if (left == right && !left.is(Kind::tensor)) return heap().boolean(!negative);
    if (left.is(Kind::instance) && right.is(Kind::instance)) {
      // Identity, unless the class says otherwise.
      auto* object = left.as<values::Instance>();
      const bool identity = op == CompareOp::is || op == CompareOp::is_not || known_key(left);
      if (identity && known_key(left) && known_key(right) && !object->symbolic && !right.as<values::Instance>()->symbolic)
        return heap().boolean(same_key(left, right) != negative);
      if (!identity && object->cls)
        if (const Value method = find_in_order(object->cls->order, Name("__eq__")); method.is(Kind::function))
          return negate_if(negative, truth(call(bind_method(method, left, object->cls, {}), {{right}, {}, false}, {})));
      if (!identity && object->cls && object->cls->is_dataclass && object->cls == right.as<values::Instance>()->cls) {
        const auto a = field_values(*object), b = field_values(*right.as<values::Instance>());
        Cond all = s.boolean(true);
        for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) all = s.logical_and(all, truth(compare(CompareOp::eq, a[i].second, b[i].second)));
        return negate_if(negative, all);
      }
      return open("");
    }
    for (const auto& [member, other] : {std::pair{left, right}, std::pair{right, left}})
      if (member.is(Kind::instance) && (other.is(Kind::string) || is_number(other)) && member.as<values::Instance>()->cls) {
        if (const Value plain = plain_member(member); !(plain == member)) return compare(op, plain, other);
        if (member.as<values::Instance>()->cls->is_enum) return heap().boolean(negative);
      }
    if (left.is(Kind::list) && right.is(Kind::list)) {
      const auto* a = values::Heap::list_state(left);
      const auto* b = values::Heap::list_state(right);
      if (op == CompareOp::is || op == CompareOp::is_not) return heap().boolean(negative);
      if (a->open || b->open) return open("");
      if (left.as<values::List>()->kind == values::ListKind::set || right.as<values::List>()->kind == values::ListKind::set) {
        const auto within = [&](const auto* part, const auto* whole) {
          return std::all_of(part->items.begin(), part->items.end(), [&](Value item) {
            return std::any_of(whole->items.begin(), whole->items.end(), [&](Value other) { return same_key(item, other); });
          });
        };
        const auto known = [&](const auto* one) { return std::all_of(one->items.begin(), one->items.end(), [&](Value item) { return known_key(item); }); };
        if (!known(a) || !known(b)) return open("");
        return heap().boolean((within(a, b) && within(b, a)) != negative);
      }
      if (a->items.size() != b->items.size()) return heap().boolean(negative);
      Cond all = s.boolean(true);
      for (std::size_t i = 0; i < a->items.size(); ++i) all = s.logical_and(all, truth(compare(CompareOp::eq, a->items[i], b->items[i])));
      return negate_if(negative, all);
    }
    if (left.is(Kind::dict) && right.is(Kind::dict)) {
      const auto* a = values::Heap::dict_state(left);
      const auto* b = values::Heap::dict_state(right);
      if (op == CompareOp::is || op == CompareOp::is_not) return heap().boolean(negative);
      if (a->open || b->open) return open("");
      Cond all = s.boolean(a->items.size() == b->items.size());
      for (const auto& [key, value] : a->items) {
        if (!known_key(key) || s.decide(all) == symbolic::Answer::no) break;
        Value counterpart;
        for (const auto& [k, v] : b->items)
          if (same_key(k, key)) counterpart = v;
        all = counterpart ? s.logical_and(all, truth(compare(CompareOp::eq, value, counterpart))) : s.boolean(false);
      }
      return negate_if(negative, all);
    }
    if (left.is(Kind::none) || right.is(Kind::none)) {
      const Value other = left.is(Kind::none) ? right : left;
      if (!other.is(Kind::unknown)) return heap().boolean(negative);
      if (other.as<values::Unknown>()->is_real) return heap().boolean(negative);
      auto* unknown = other.as<values::Unknown>();
      if (unknown->state.value) return heap().boolean(negative);  // it has been used as a tensor
      if (!unknown->is_none)
        unknown->is_none = mark_external(s.opaque(unknown->name.empty() ? "" : std::string(unknown->name) + " is None", unknown->sharing), unknown->external);
      return negate_if(negative, unknown->is_none);
    }
    if (left.is(Kind::string) && right.is(Kind::string)) return heap().boolean((left.text() == right.text()) != negative);
    // Values of different kinds are not equal; numbers are compared below.
    if ((op == CompareOp::eq || op == CompareOp::ne) && left.kind != right.kind && known_key(left) && known_key(right) &&
        !(is_number(left) && is_number(right)))
      return heap().boolean(same_key(left, right) != negative);
    // os.environ["RANK"] == "0": what the environment holds is text.
    for (const auto& [text, number] : {std::pair{left, right}, std::pair{right, left}})
      if (text.is(Kind::string) && number.is(Kind::integer) && !s.value(number.integer())) {
        std::int64_t parsed = 0;
        const std::string_view digits = text.text();
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
        if (error == std::errc{} && end == digits.data() + digits.size()) return compare(op, number, heap().integer(parsed));
      }
    if (left.is(Kind::boolean) && right.is(Kind::boolean)) {
      const Cond both = s.logical_and(left.condition(), right.condition());
      const Cond neither = s.logical_and(s.logical_not(left.condition()), s.logical_not(right.condition()));
      return negate_if(negative, s.logical_or(both, neither));
    }
    if (left.is(Kind::dtype) && right.is(Kind::dtype) && left.dtype() != values::Dtype::unknown && right.dtype() != values::Dtype::unknown)
      return heap().boolean((left.dtype() == right.dtype()) != negative);
    if ((left.is(Kind::class_) || left.is(Kind::function) || left.is(Kind::library)) && right.kind == left.kind)
      return heap().boolean(negative);
    if (left.is(Kind::tuple) && right.is(Kind::tuple)) {
      const auto& a = left.as<values::Tuple>()->items;
      const auto& b = right.as<values::Tuple>()->items;
      if (a.size() != b.size()) return heap().boolean(negative);
      Cond all = s.boolean(true);
      for (std::size_t i = 0; i < a.size(); ++i) all = s.logical_and(all, truth(compare(CompareOp::eq, a[i], b[i])));
      return negate_if(negative, all);
    }
  }
  if (left.is(Kind::boolean) || right.is(Kind::boolean)) {
    const auto number = [&](Value value) -> Value {
      if (!value.is(Kind::boolean)) return value;
      const auto constant = to_constant(value);
      return constant ? heap().integer(*constant) : value;
    };
    left = number(left);
    right = number(right);
  }
  if (op != CompareOp::eq && op != CompareOp::ne && op != CompareOp::is && op != CompareOp::is_not && !is_number(left) && !left.is(Kind::tensor)) {
    if (left.is(Kind::list) && right.is(Kind::list) && left.as<values::List>()->kind == values::ListKind::set) {
      Arguments other{{op == CompareOp::le || op == CompareOp::lt ? right : left}, {}, false};
      const Value subset = list_method(op == CompareOp::le || op == CompareOp::lt ? left : right, "issubset", other, {});
      if (op == CompareOp::le || op == CompareOp::ge) return subset;
      return Value::of(s.logical_and(truth(subset), s.logical_not(truth(compare(CompareOp::eq, left, right)))));
    }
    if (const auto answer = order(left, right))
      return heap().boolean(op == CompareOp::lt ? *answer < 0 : op == CompareOp::le ? *answer <= 0 : op == CompareOp::gt ? *answer > 0 : *answer >= 0);
    if (left.is(Kind::instance) && left.as<values::Instance>()->cls) {
      const std::string_view name = op == CompareOp::lt ? "__lt__" : op == CompareOp::le ? "__le__" : op == CompareOp::gt ? "__gt__" : "__ge__";
      if (const Value method = find_in_order(left.as<values::Instance>()->cls->order, Name(name)); method.is(Kind::function))
        return Value::of(truth(call(bind_method(method, left, left.as<values::Instance>()->cls, {}), {{right}, {}, false}, {})));
    }
  }
  if (is_number(left) && is_number(right)) {
    if (left.is(Kind::integer) && right.is(Kind::integer)) return Value::of(s.compared(ordering(op), left.integer(), right.integer()));
    const auto real = [&](Value value) -> std::optional<double> {
      if (value.is(Kind::real)) return value.real();
      if (const auto constant = s.value(value.integer())) return static_cast<double>(*constant);
      return std::nullopt;
    };
    const auto a = real(left), b = real(right);
    if (!a || !b) return open("");
    switch (ordering(op)) {
    case symbolic::Compare::eq: return heap().boolean(*a == *b);
    case symbolic::Compare::ne: return heap().boolean(*a != *b);
    case symbolic::Compare::lt: return heap().boolean(*a < *b);
    case symbolic::Compare::le: return heap().boolean(*a <= *b);
    case symbolic::Compare::gt: return heap().boolean(*a > *b);
    case symbolic::Compare::ge: return heap().boolean(*a >= *b);
    }
  }
  if (left.is(Kind::tensor) || right.is(Kind::tensor)) {
    const Value operand = left.is(Kind::tensor) ? left : right;
    values::TensorState state = *operand.as<values::Tensor>()->now();
    if (left.is(Kind::tensor) && right.is(Kind::tensor)) state.shape = {};
    state.dtype = values::Dtype::boolean;
    state.requires_grad = values::Known::no;
    state.graph.clear();
    state.scaled_by = nullptr;
    state.content = {};
    state.sharing = symbolic::mix(heap().sharing(left), heap().sharing(right));
    return heap().tensor(state, {});
  }
  if (left.is(Kind::unknown) && right.is(Kind::integer) && !left.as<values::Unknown>()->external)
    return Value::of(s.compared(ordering(op), to_int(left), right.integer()));
  if (right.is(Kind::unknown) && left.is(Kind::integer) && !right.as<values::Unknown>()->external)
    return Value::of(s.compared(ordering(op), left.integer(), to_int(right)));
  if (left.is(Kind::unknown) && is_constant_like(right)) {
    // The same question about the same value has the same answer.
    const auto* unknown = left.as<values::Unknown>();
    const CompareOp positive = op == CompareOp::ne || op == CompareOp::is_not ? CompareOp::eq : op == CompareOp::is ? CompareOp::eq : op;
    std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(unknown));
    const std::string constant = constant_text(s, right);
    key += std::string(spelled(positive)) + constant;
    auto it = comparisons_.find(key);
    if (it == comparisons_.end()) {
      const std::string name = unknown->name.empty() ? "" : std::string(unknown->name) + " " + std::string(spelled(positive)) + " " + constant;
      it = comparisons_.emplace(key, Value::of(mark_external(s.opaque(name, unknown->sharing), unknown->external))).first;
    }
    return negate_if(negative && positive == CompareOp::eq, it->second.condition());
  }
  return open("");
}

// ---------------------------------------------------------------- numbers

Int Interpreter::role(symbolic::Role role_wanted) {
  Int& atom = record_.roles[static_cast<int>(role_wanted)];
  if (!atom) {
    constexpr std::string_view names[] = {"", "rank", "local_rank", "node_rank", "world_size", "local_world_size"};
    symbolic::AtomInfo info;
    info.name = names[static_cast<int>(role_wanted)];
    info.role = role_wanted;
    const bool size = role_wanted == symbolic::Role::world_size || role_wanted == symbolic::Role::local_world_size;
    info.lower = size ? 1 : 0;
    info.sharing = size ? Sharing::uniform : Sharing::divergent;
    atom = symbols().fresh(info);
  }
  return atom;
}

Value Interpreter::symbol(std::string_view name, Sharing sharing, Place born) {
  const auto dot = name.rfind('.');
  if (const auto presumed = library_.presume(dot == std::string_view::npos ? name : name.substr(dot + 1))) {
    if (presumed->is_main)
      return Value::of(symbols().compared(symbolic::Compare::eq, role(symbolic::Role::rank), symbols().constant(0)));
    if (!presumed->class_path.empty()) {
      values::Instance* object = make_native(presumed->class_path, born);
      object->symbolic = true;
      object->name = heap().keep(std::string(name));
      return Value::of(Kind::instance, object);
    }
    return Value::of(role(presumed->role));
  }
  return heap().unknown(name, sharing, born);
}

Int Interpreter::to_int(Value value) {
  value = resolve(value);
  switch (value.kind) {
  case Kind::integer: return value.integer();
  case Kind::boolean:
    if (symbols().form(value.condition()) == symbolic::Context::Form::constant)
      return symbols().constant(symbols().decide(value.condition()) == symbolic::Answer::yes);
    return nullptr;
  case Kind::unknown: {
    auto* unknown = value.as<values::Unknown>();
    if (unknown->state.value) return nullptr;
    if (!unknown->integer) {
      symbolic::AtomInfo info;
      info.name = std::string(unknown->name);
      info.sharing = unknown->sharing;
      if (unknown->default_value.is(Kind::integer)) info.usual = symbols().value(unknown->default_value.integer());
      unknown->integer = symbols().fresh(info);
    }
    return unknown->integer;
  }
  default: return nullptr;
  }
}

std::optional<std::int64_t> Interpreter::to_constant(Value value) {
  value = resolve(value);
  if (value.is(Kind::integer)) return symbols().value(value.integer());
  if (value.is(Kind::boolean) && symbols().form(value.condition()) == symbolic::Context::Form::constant)
    return symbols().decide(value.condition()) == symbolic::Answer::yes;
  return std::nullopt;
}

Value Interpreter::binary(BinaryOp op, Value left, Value right, const Expr& node) {
  left = plain_member(settled(left));
  right = plain_member(settled(right));
  for (Value* side : {&left, &right})
    if (side->is(Kind::boolean) && !(op == BinaryOp::bit_and || op == BinaryOp::bit_or || op == BinaryOp::bit_xor))
      if (const auto constant = to_constant(*side)) *side = heap().integer(*constant);
  if (left.is(Kind::choice)) return over_choices(left, [&](Value side) { return binary(op, side, right, node); }, here(node));
  if (right.is(Kind::choice)) return over_choices(right, [&](Value side) { return binary(op, left, side, node); }, here(node));
  if (left.is(Kind::tensor) || right.is(Kind::tensor) || op == BinaryOp::matmul)
    return library_.binary(*this, op, left, right, node, here(node));
  auto& s = symbols();
  const auto unknown = [&](std::string name = {}) {
    Value made = heap().unknown(name, symbolic::mix(heap().sharing(left), heap().sharing(right)), here(node));
    made.as<values::Unknown>()->external = heap().is_external(left) || heap().is_external(right);
    made.as<values::Unknown>()->blamed = heap().is_blamed(left) || heap().is_blamed(right);
    return made;
  };
  if (left.is(Kind::instance) || right.is(Kind::instance)) {
    constexpr std::string_view names[] = {"add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"};
    if (left.is(Kind::instance))
      if (const Value method = find_method(left.as<values::Instance>(), Name("__" + std::string(names[static_cast<int>(op)]) + "__")))
        return call(method, {{right}, {}, false}, here(node));
    if (right.is(Kind::instance))
      if (const Value method = find_method(right.as<values::Instance>(), Name("__r" + std::string(names[static_cast<int>(op)]) + "__")))
        return call(method, {{left}, {}, false}, here(node));
    return heap().external("", here(node));
  }
  if (left.is(Kind::list) && right.is(Kind::list) && left.as<values::List>()->kind == values::ListKind::set) {
    const std::string_view method = op == BinaryOp::bit_or    ? "union"
                                    : op == BinaryOp::bit_and ? "intersection"
                                    : op == BinaryOp::sub     ? "difference"
                                    : op == BinaryOp::bit_xor ? "symmetric_difference"
                                                              : "";
    Arguments other{{right}, {}, false};
    if (!method.empty()) return list_method(left, method, other, here(node));
  }
  if (left.is(Kind::dict) && right.is(Kind::dict)) {
    if (op == BinaryOp::bit_or) {
      const Value sum = heap().dict(values::Heap::dict_state(left)->items, values::Heap::dict_state(left)->open, values::Heap::dict_state(left)->rest);
      if (dict_update(sum, right, here(node))) return sum;
    }
    return heap().external("", here(node));
  }
  if ((op == BinaryOp::bit_and || op == BinaryOp::bit_or || op == BinaryOp::bit_xor || op == BinaryOp::rshift)) {
    if (left.is(Kind::boolean) && right.is(Kind::boolean) && op != BinaryOp::rshift) {
      const Cond a = left.condition(), b = right.condition();
      if (op == BinaryOp::bit_and) return Value::of(s.logical_and(a, b));
      if (op == BinaryOp::bit_or) return Value::of(s.logical_or(a, b));
      return Value::of(s.logical_or(s.logical_and(a, s.logical_not(b)), s.logical_and(s.logical_not(a), b)));
    }
    const auto a = to_constant(left), b = to_constant(right);
    if (a && b && (op != BinaryOp::rshift || (*b >= 0 && *b < 63)))
      return heap().integer(op == BinaryOp::bit_and ? *a & *b : op == BinaryOp::bit_or ? *a | *b : op == BinaryOp::bit_xor ? *a ^ *b : *a >> *b);
  }
  if (op == BinaryOp::add) {
    if (left.is(Kind::string) && right.is(Kind::string)) {
      if (left.text().size() + right.text().size() > longest_text) return unknown();
      return heap().string(std::string(left.text()) + std::string(right.text()));
    }
    if (left.is(Kind::tuple) && right.is(Kind::tuple)) {
      std::vector<Value> items = left.as<values::Tuple>()->items;
      const auto& more = right.as<values::Tuple>()->items;
      if (items.size() + more.size() > longest_sequence) return unknown();
      items.insert(items.end(), more.begin(), more.end());
      return heap().tuple(std::move(items));
    }
    // A tuple of which only the end is known: x.shape[:-1] + (heads, size).
    if (left.is(Kind::unknown) && right.is(Kind::tuple) && !left.as<values::Unknown>()->state.value) {
      std::vector<Value> items;
      if (const Value last = left.as<values::Unknown>()->ends_with) items = last.as<values::Tuple>()->items;
      const auto& more = right.as<values::Tuple>()->items;
      items.insert(items.end(), more.begin(), more.end());
      const Value made = unknown();
      made.as<values::Unknown>()->ends_with = heap().tuple(std::move(items));
      return made;
    }
    if (left.is(Kind::list) && right.is(Kind::list)) {
      const auto* a = values::Heap::list_state(left);
      const auto* b = values::Heap::list_state(right);
      if (a->items.size() + b->items.size() > longest_sequence)
        return heap().open_list(heap().merge(element(left, here(node)), element(right, here(node)), Sharing::uniform));
      std::vector<Value> items = a->items;
      if (!a->open) items.insert(items.end(), b->items.begin(), b->items.end());
      const Value sum = heap().list(std::move(items));
      auto* state = values::Heap::list_state(sum);
      state->open = a->open || b->open;
      state->rest = heap().merge(a->rest, b->rest, Sharing::uniform);
      if (a->open)
        for (const Value& item : b->items) state->rest = heap().merge(state->rest, item, Sharing::uniform);
      return sum;
    }
  }
  if (op == BinaryOp::mul && (left.is(Kind::list) || left.is(Kind::tuple) || right.is(Kind::list) || right.is(Kind::tuple))) {
    const Value sequence = left.is(Kind::list) || left.is(Kind::tuple) ? left : right;
    const Value times = sequence == left ? right : left;
    const auto known = elements(sequence, here(node));
    const auto count = to_constant(times);
    if (known && count && (*count <= 0 || known->size() * static_cast<std::size_t>(*count) <= longest_sequence)) {
      std::vector<Value> items;
      for (std::int64_t i = 0; i < *count; ++i) items.insert(items.end(), known->begin(), known->end());
      return sequence.is(Kind::tuple) ? heap().tuple(std::move(items)) : heap().list(std::move(items));
    }
    if (known && known->size() == 1 && sequence.is(Kind::list)) return heap().open_list(known->front(), to_int(times));
    return heap().open_list(element(sequence, here(node)));
  }
  if (op == BinaryOp::mod && left.is(Kind::string)) {
    if (const auto text = format_percent(left.text(), right)) return heap().string(*text);
    return unknown();
  }
  if (op == BinaryOp::mul && (left.is(Kind::string) || right.is(Kind::string))) {
    const Value text = left.is(Kind::string) ? left : right;
    const auto count = to_constant(left.is(Kind::string) ? right : left);
    if (!count || *count * static_cast<std::int64_t>(text.text().size()) > static_cast<std::int64_t>(longest_text)) return unknown();
    std::string repeated;
    for (std::int64_t i = 0; i < *count; ++i) repeated += text.text();
    return heap().string(repeated);
  }

  const bool integers = left.is(Kind::integer) && right.is(Kind::integer);
  if ((left.is(Kind::real) || left.is(Kind::integer)) && (right.is(Kind::real) || right.is(Kind::integer)) &&
      !(integers && op != BinaryOp::div)) {
    const auto real = [&](Value value) -> std::optional<double> {
      if (value.is(Kind::real)) return value.real();
      if (const auto constant = s.value(value.integer())) return static_cast<double>(*constant);
      return std::nullopt;
    };
    const auto a = real(left), b = real(right);
    if (!a || !b) {
      Value made = unknown();
      made.as<values::Unknown>()->is_real = true;  // a number, whichever
      return made;
    }
    switch (op) {
    case BinaryOp::add: return Value::of(*a + *b);
    case BinaryOp::sub: return Value::of(*a - *b);
    case BinaryOp::mul: return Value::of(*a * *b);
    case BinaryOp::div: return *b != 0 ? Value::of(*a / *b) : unknown();
    case BinaryOp::floordiv: return *b != 0 ? Value::of(std::floor(*a / *b)) : unknown();
    case BinaryOp::pow: return *a < 0 && *b != std::floor(*b) ? unknown() : Value::of(std::pow(*a, *b));
    case BinaryOp::mod: {
      if (*b == 0) return unknown();
      const double rest = std::fmod(*a, *b);
      return Value::of(rest != 0 && (rest < 0) != (*b < 0) ? rest + *b : rest);
    }
    default: return unknown();
    }
  }
  const bool may_be_int = (left.is(Kind::integer) || left.is(Kind::unknown)) && (right.is(Kind::integer) || right.is(Kind::unknown));
  const auto is_real = [](Value value) { return value.is(Kind::real) || (value.is(Kind::unknown) && value.as<values::Unknown>()->is_real); };
  // Something unknown times a float may be a tensor.
  const auto is_number_surely = [&](Value value) { return value.is(Kind::integer) || value.is(Kind::boolean) || is_real(value); };
  const bool numbers = is_number_surely(left) && is_number_surely(right);
  if (!may_be_int || is_real(left) || is_real(right)) {
    Value made = unknown();
    made.as<values::Unknown>()->is_real = numbers && (is_real(left) || is_real(right));
    return made;
  }
  Int result = nullptr;
  const Int a = to_int(left), b = to_int(right);
  if (a && b) switch (op) {
    case BinaryOp::add: result = s.add(a, b); break;
    case BinaryOp::sub: result = s.sub(a, b); break;
    case BinaryOp::mul: result = s.mul(a, b); break;
    case BinaryOp::floordiv:
      if (s.compare(symbolic::Compare::eq, b, s.constant(0)) != symbolic::Answer::yes) result = s.floordiv(a, b);
      break;
    case BinaryOp::mod:
      if (s.compare(symbolic::Compare::eq, b, s.constant(0)) != symbolic::Answer::yes) result = s.mod(a, b);
      break;
    case BinaryOp::pow:
      if (const auto exponent = s.value(b); exponent && *exponent >= 0 && (*exponent <= 16 || (s.value(a) && *exponent < 63))) result = s.power(a, *exponent);
      else if (exponent && *exponent < 0 && s.value(a) && *s.value(a) != 0) return Value::of(std::pow(static_cast<double>(*s.value(a)), static_cast<double>(*exponent)));
      break;
    case BinaryOp::lshift:
      if (const auto shift = s.value(b); shift && *shift >= 0 && *shift < 62) result = s.mul(a, s.constant(std::int64_t{1} << *shift));
      break;
    default: break;
    }
  if (!result) {
    Value made = unknown();
    // A true division, or arithmetic with a float, gives a float.
    made.as<values::Unknown>()->is_real = numbers && op == BinaryOp::div;
    return made;
  }
  if (integers) return Value::of(result);
  // It may still turn out to be a tensor or a float: an unknown that is this number if it is an integer.
  Value made = unknown(s.text(result));
  made.as<values::Unknown>()->integer = result;
  return made;
}

// ---------------------------------------------------------------- elements

// What __next__ gives until it raises StopIteration.
std::optional<std::vector<Value>> Interpreter::iterated(Value iterator, Place where) {
  const Value next = find_method(iterator.as<values::Instance>(), Name("__next__"));
  if (!next || iterator.as<values::Instance>()->symbolic) return std::nullopt;
  return until_raised("StopIteration", [&](std::int64_t) { return call(next, {}, where); });
}
// What __getitem__ gives until it raises IndexError: a sequence without __iter__.
std::optional<std::vector<Value>> Interpreter::counted(Value sequence, Place where) {
  if (sequence.as<values::Instance>()->symbolic) return std::nullopt;
  const Value item = find_method(sequence.as<values::Instance>(), Name("__getitem__"));
  return until_raised("IndexError", [&](std::int64_t i) { return call(item, {{heap().integer(i)}, {}, false}, where); });
}
std::optional<std::vector<Value>> Interpreter::until_raised(std::string_view exception, const std::function<Value(std::int64_t)>& next) {
  std::vector<Value> items;
  const std::size_t depth = path_.size();
  const std::uint64_t from = record_.steps;
  ++catching_;
  ++guards_;
  TryTarget target{heap().mark(), depth, {}};
  frame_->tries.push_back(&target);
  bool ended = false, certain = true;
  while (!ended && certain) {
    const Value item = next(static_cast<std::int64_t>(items.size()));
    ended = killed_;
    // A conditional end, or an exception of another kind, is beyond this.
    certain = path_.size() == depth && items.size() < most_elements && record_.steps - from < 8'000 && step();
    if (!ended) {
      items.push_back(item);
      certain = certain && target.raises.empty();
    }
  }
  killed_ = false;
  frame_->tries.pop_back();
  --guards_;
  --catching_;
  if (!certain || is_instance_of_raised(exception) != symbolic::Answer::yes) return std::nullopt;
  return items;
}

std::optional<std::vector<Value>> Interpreter::elements(Value iterable, Place where) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return std::nullopt;
  iterable = resolve(iterable);
  switch (iterable.kind) {
  case Kind::tuple: return iterable.as<values::Tuple>()->items;
  case Kind::list: {
    const auto* state = values::Heap::list_state(iterable);
    if (state->open) return std::nullopt;
    // In which order a set gives its elements is not known.
    if (iterable.as<values::List>()->kind == values::ListKind::set && state->items.size() > 1) return std::nullopt;
    return state->items;
  }
  case Kind::class_:
    if (iterable.as<values::Class>()->is_enum) return iterable.as<values::Class>()->members;
    return std::nullopt;
  case Kind::iterator: {
    if (is_pending(iterable)) {
      std::vector<Value> items;
      std::size_t seen = 0;
      const std::size_t depth = path_.size();
      bool certain = true;
      std::function<Value(Value)> collect = [&](Value value) {
        // A yield inside a generic loop or a branch comes an unknown number of times.
        certain = certain && generic_depth_ == 0 && path_.size() == depth;
        if (++seen <= most_elements) items.push_back(value);
        else certain = false;
        return Value::none();
      };
      const int generic = generic_depth_;
      generic_depth_ = 0;
      drain(iterable, where, collect);
      generic_depth_ = generic;
      values::ListState state;
      if (certain) {
        state.items = std::move(items);
      } else {
        state.open = true;
        for (const Value& item : items) state.rest = heap().merge(state.rest, item, Sharing::uniform);
      }
      auto* made = heap().make<values::ListState>();
      *made = state;
      heap().set(iterable.as<values::Iterator>()->state, Value::of(Kind::state, made));
    }
    const auto* state = iterable.as<values::Iterator>()->state.value.as<values::ListState>();
    if (!state || state->open) return std::nullopt;
    return state->items;
  }
  case Kind::range: {
    const auto* range = iterable.as<values::Range>();
    const auto start = symbols().value(range->start), stop = symbols().value(range->stop), step_size = symbols().value(range->step);
    if (!start || !stop || !step_size || *step_size == 0) return std::nullopt;
    std::vector<Value> items;
    for (std::int64_t i = *start; *step_size > 0 ? i < *stop : i > *stop; i += *step_size) {
      if (items.size() > most_elements) return std::nullopt;
      items.push_back(heap().integer(i));
    }
    return items;
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(iterable);
    if (state->open) return std::nullopt;
    std::vector<Value> keys;
    for (const auto& [key, value] : state->items) {
      if (value.is(Kind::choice)) return std::nullopt;
      keys.push_back(key);
    }
    return keys;
  }
  case Kind::string: {
    std::vector<Value> letters;
    if (iterable.text().size() > 512 || std::any_of(iterable.text().begin(), iterable.text().end(), [](char c) { return c < 0; })) return std::nullopt;
    for (const char& letter : iterable.text()) letters.push_back(heap().string(std::string_view(&letter, 1)));
    return letters;
  }
  case Kind::instance: {
    auto* object = iterable.as<values::Instance>();
    if (const Value method = object->cls || !object->attributes.find(Name("$items")) ? find_method(object, Name("__iter__")) : Value{}) {
      const Value produced = resolve(call(method, {}, where));
      if (!(produced == iterable) && !produced.is(Kind::instance)) return elements(produced, where);
      if (produced.is(Kind::instance)) return iterated(produced, where);
      return std::nullopt;
    }
    if (const values::Slot* items = object->attributes.find(Name("$items"))) return elements(items->value, where);
    if (object->cls && !object->open && find_in_order(object->cls->order, Name("__getitem__")).is(Kind::function)) return counted(iterable, where);
    return std::nullopt;
  }
  default: return std::nullopt;
  }
}

Value Interpreter::element(Value iterable, Place where) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return heap().external("", where);
  iterable = resolve(iterable);
  switch (iterable.kind) {
  case Kind::list:
  case Kind::iterator: {
    if (iterable.is(Kind::iterator) && is_pending(iterable)) elements(iterable, where);
    const auto* state = values::Heap::list_state(iterable);
    if (!state) return heap().external("", where);
    Value any = state->rest;
    for (const Value& item : state->items) any = heap().merge(any, item, Sharing::uniform);
    return any ? any : heap().external("", where);
  }
  case Kind::tuple: {
    Value any;
    for (const Value& item : iterable.as<values::Tuple>()->items) any = heap().merge(any, item, Sharing::uniform);
    return any ? any : heap().external("", where);
  }
  case Kind::range: {
    const auto* range = iterable.as<values::Range>();
    symbolic::AtomInfo info;
    info.sharing = symbolic::mix(symbols().sharing(range->start), symbols().sharing(range->step));
    const auto step_size = symbols().value(range->step);
    if (step_size && *step_size > 0) {
      info.lower = symbols().lower(range->start);
      if (const auto high = symbols().upper(range->stop)) info.upper = *high - 1;
    }
    return Value::of(symbols().fresh(info));
  }
  case Kind::unknown: {
    Value made = heap().unknown_from({iterable}, where);
    made.as<values::Unknown>()->of_many = true;
    return made;
  }
  case Kind::choice: {
    const auto* choice = iterable.as<values::Choice>();
    return heap().merge(element(choice->yes, where), element(choice->no, where), symbols().sharing(choice->condition));
  }
  case Kind::instance: {
    auto* object = iterable.as<values::Instance>();
    if (const values::Slot* items = object->attributes.find(Name("$items")); items && !object->cls) return element(items->value, where);
    if (const Value method = find_method(object, Name("__iter__"))) {
      const Value produced = resolve(call(method, {}, where));
      if (!(produced == iterable) && !produced.is(Kind::instance)) return element(produced, where);
      if (const Value next = find_method(object, Name("__next__"))) return call(next, {}, where);
    } else if (const values::Slot* items = object->attributes.find(Name("$items"))) {
      return element(items->value, where);
    }
    return heap().unknown("", Sharing::local, where);
  }
  case Kind::tensor: {
    values::TensorState state = *iterable.as<values::Tensor>()->now();
    if (state.shape.rank_known && !state.shape.dims.empty()) state.shape.dims.erase(state.shape.dims.begin());
    else state.shape = {};
    state.content = {};
    return heap().tensor(state, where);
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(iterable);
    return heap().unknown("", state->open ? Sharing::local : Sharing::uniform, where);
  }
  default: return heap().external("", where);
  }
}

// The places that a slice picks of so many elements; nullopt if its bounds are not known.
std::optional<std::vector<std::int64_t>> Interpreter::slice_of(std::int64_t size, const values::SliceObject& slice) {
  const auto part = [&](Value value) { return resolve(value).is(Kind::none) || !value ? std::optional<std::int64_t>() : to_constant(value); };
  const auto given = [&](Value value) { return value && !resolve(value).is(Kind::none); };
  const auto by = given(slice.step) ? part(slice.step) : std::optional<std::int64_t>(1);
  if (!by || *by == 0) return std::nullopt;
  const auto bound = [&](Value value, std::int64_t otherwise) -> std::optional<std::int64_t> {
    if (!given(value)) return otherwise;
    auto at = part(value);
    if (!at) return std::nullopt;
    if (*at < 0) *at += size;
    return std::clamp<std::int64_t>(*at, *by > 0 ? 0 : -1, *by > 0 ? size : size - 1);
  };
  const auto from = bound(slice.lower, *by > 0 ? 0 : size - 1), to = bound(slice.upper, *by > 0 ? size : -1);
  if (!from || !to) return std::nullopt;
  std::vector<std::int64_t> places;
  for (std::int64_t i = *from; *by > 0 ? i < *to : i > *to; i += *by) places.push_back(i);
  return places;
}

Value Interpreter::subscript(Value object, Value index, const Expr& node) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return heap().external("", here(node));
  object = resolve(object);
  const Place where = here(node);
  switch (object.kind) {
  case Kind::tuple:
  case Kind::list: {
    index = resolve(index);
    if (index.is(Kind::choice)) return over_choices(index, [&](Value side) { return subscript(object, side, node); }, where);
    if (object.is(Kind::list) && values::Heap::list_state(object)->open) {
      const auto* state = values::Heap::list_state(object);
      if (const auto at = to_constant(index); at && *at >= 0 && *at < static_cast<std::int64_t>(state->items.size()))
        return state->items[static_cast<std::size_t>(*at)];
      if (index.is(Kind::slice)) return heap().open_list(element(object, where));
      return element(object, where);
    }
    const auto items = elements(object, where);
    if (!items) return heap().external("", where);
    const auto size = static_cast<std::int64_t>(items->size());
    if (index.is(Kind::slice)) {
      const auto picked = slice_of(size, *index.as<values::SliceObject>());
      if (!picked) {
        return heap().open_list(element(object, where));
      }
      std::vector<Value> part;
      for (const std::int64_t i : *picked) part.push_back((*items)[static_cast<std::size_t>(i)]);
      return object.is(Kind::tuple) ? heap().tuple(std::move(part)) : heap().list(std::move(part));
    }
    if (const auto at = to_constant(index)) {
      const std::int64_t i = *at < 0 ? *at + size : *at;
      if (i >= 0 && i < size) return (*items)[static_cast<std::size_t>(i)];
      return raise_builtin("IndexError", where);
    }
    return element(object, where);
  }
  case Kind::range: {
    const auto* range = object.as<values::Range>();
    index = resolve(index);
    if (index.is(Kind::slice)) {
      const auto items = elements(object, where);
      const auto picked = items ? slice_of(static_cast<std::int64_t>(items->size()), *index.as<values::SliceObject>()) : std::nullopt;
      if (!picked) return heap().external("", where);
      std::vector<Value> part;
      for (const std::int64_t i : *picked) part.push_back((*items)[static_cast<std::size_t>(i)]);
      return heap().list(std::move(part));
    }
    const Int at = to_int(index);
    const Value length = length_of(object, where);
    if (!at || !length.is(Kind::integer)) return heap().external("", where);
    const auto constant = symbols().value(at);
    if (constant && *constant < 0) return Value::of(symbols().add(range->start, symbols().mul(range->step, symbols().add(length.integer(), at))));
    if (constant || symbols().compare(symbolic::Compare::ge, at, symbols().constant(0)) == symbolic::Answer::yes)
      return Value::of(symbols().add(range->start, symbols().mul(range->step, at)));
    return heap().external("", where);
  }
  case Kind::class_: {
    auto* cls = object.as<values::Class>();
    index = resolve(index);
    if (cls->is_enum && index.is(Kind::string)) {
      for (const Value& member : cls->members)
        if (const values::Slot* name = member.as<values::Instance>()->attributes.find(Name("name")); name && name->value.is(Kind::string) && name->value.text() == index.text()) return member;
      if (const Value found = find_in_order(cls->order, Name(index.text())); found.is(Kind::instance)) return found;
      return raise_builtin("KeyError", where);
    }
    if (const Value method = find_in_order(cls->order, Name("__class_getitem__")); method.is(Kind::function))
      return call_function(*method.as<values::Function>(), {{index}, {}, false}, where, object);
    return object;  // a generic class
  }
  case Kind::dict: return dict_get(object, resolve(index), {});
  case Kind::tensor: return library_.subscript(*this, object, index, node, where);
  case Kind::instance: {
    auto* instance = object.as<values::Instance>();
    if (const Value method = find_method(instance, Name("__getitem__"))) return call(method, {{index}, {}, false}, where);
    if (const values::Slot* items = instance->attributes.find(Name("$items"))) return subscript(items->value, index, node);
    return heap().external("", where);
  }
  case Kind::unknown: {
    auto* unknown = object.as<values::Unknown>();
    if (unknown->state.value) return subscript(unknown->state.value, index, node);
    index = resolve(index);
    if (unknown->shape_of)
      if (const Value size = library_.part_of_shape(*this, unknown->shape_of, index, where)) return size;
    if (const auto at = unknown->ends_with ? to_constant(index) : std::nullopt; at && *at < 0) {
      const auto& last = unknown->ends_with.as<values::Tuple>()->items;
      if (static_cast<std::size_t>(-*at) <= last.size()) return last[last.size() - static_cast<std::size_t>(-*at)];
    }
    for (const auto& [key, value] : unknown->items)
      if (same_key(key, index)) return value;
    std::string name;
    if (!unknown->name.empty()) {
      if (index.is(Kind::string)) name = std::string(unknown->name) + "['" + std::string(index.text()) + "']";
      else if (const auto at = to_constant(index)) name = std::string(unknown->name) + "[" + std::to_string(*at) + "]";
    }
    Value made;
    if (index.is(Kind::string) && !unknown->external && !unknown->of_many) {
      made = symbol(index.text(), unknown->sharing, where);
      if (made.is(Kind::unknown)) made = heap().unknown(name, unknown->sharing, where);
    } else {
      made = heap().unknown(name, symbolic::mix(unknown->sharing, heap().sharing(index)), where);
    }
    if (made.is(Kind::unknown)) {
      made.as<values::Unknown>()->external = unknown->external;
      made.as<values::Unknown>()->of_many = unknown->of_many;
      made.as<values::Unknown>()->blamed = unknown->blamed;
    }
    unknown->items.push_back({index, made});
    return made;
  }
  case Kind::string: {
    index = resolve(index);
    const std::string_view text = object.text();
    const auto size = static_cast<std::int64_t>(text.size());
    const bool plain = std::none_of(text.begin(), text.end(), [](char c) { return c < 0; });
    if (plain && index.is(Kind::slice)) {
      if (const auto picked = slice_of(size, *index.as<values::SliceObject>())) {
        std::string part;
        for (const std::int64_t i : *picked) part += text[static_cast<std::size_t>(i)];
        return heap().string(part);
      }
    }
    const auto at = to_constant(index);
    if (plain && at && *at < size && *at >= -size) return heap().string(text.substr(static_cast<std::size_t>(*at < 0 ? *at + size : *at), 1));
    if (plain && at) return raise_builtin("IndexError", where);
    return heap().unknown("", symbolic::mix(Sharing::uniform, heap().sharing(index)), where);
  }
  case Kind::library: {
    const Value item = resolve(index);
    const auto* symbol_found = object.as<values::LibrarySymbol>();
    // List[int], Generic[T]: a type is still that type.
    if (symbol_found->path.starts_with("typing.") || symbol_found->path.starts_with("builtins.") || symbol_found->path.starts_with("collections.")) return object;
    if (item.is(Kind::string))
      if (const Row* row = library_.find(library_.canonical(std::string(symbol_found->path) + "[" + std::string(item.text()) + "]")))
        return call_library(*library_symbol(row->path).as<values::LibrarySymbol>(), {}, {}, where, nullptr);
    return heap().unknown("", Sharing::uniform, where);
  }
  default: return heap().external("", where);
  }
}

} // namespace stepzero::interpreter
