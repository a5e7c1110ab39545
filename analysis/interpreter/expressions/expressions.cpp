// Expressions: what each kind evaluates to, and names. What operators do is in arithmetic.cpp and comparisons.cpp.
#include "interpreter/calls/no_result.hpp"
#include "interpreter/expressions/ambiguous_truth.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/loops/alike.hpp"
#include "interpreter/roots/residual.hpp"

#include <charconv>
#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

// The value as it is now: what is put into a list later is not in it.
Value Interpreter::frozen(Value value, int depth) {
  value = resolve(value);
  constexpr int deepest_frozen = 3;                  // a fact shows no more levels
  constexpr std::size_t most_frozen = 16;            // … nor more items
  if (depth > deepest_frozen || (!value.is(Kind::list) && !value.is(Kind::tuple))) return value;
  const auto* state = value.is(Kind::list) ? values::Heap::list_state(value) : nullptr;
  std::vector<Value> items = state ? state->items : value.as<values::Tuple>()->items;
  bool nested = false;
  for (std::size_t i = 0; i < items.size() && i < most_frozen; ++i) {
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

// A method that runs in the place of one that it overrides, on an object that has not its attributes: see abstract.hpp.
template <class Frame> static bool runs_on_another(const Frame* frame) {
  constexpr int most_frames = 4;
  for (int i = 0; frame && i < most_frames; ++i, frame = frame->outer) {
    const values::Function* function = frame->function;
    if (!function || !function->owner || function->is_static || function->parameters->list.empty()) continue;
    const values::Slot* self = frame->scope->names.find(function->parameters->list[0].name);
    if (!self || !self->value.is(Kind::instance)) continue;
    const auto* cls = self->value.as<values::Instance>()->cls;
    if (cls && std::ranges::find(cls->order, function->owner) == cls->order.end()) return true;
  }
  return false;
}

void Interpreter::note(Fact::Role role, Place where, Value value) {
  // Of what is only called there is nothing to tell.
  if (role == Fact::Role::expression && (value.is(Kind::library) || value.is(Kind::module) || value.is(Kind::bound) || value.is(Kind::super))) return;
  // Facts are shown, and the file's own run has those of all ranks.
  if (rehearsals_ > 0 || with_defaults_ || limits_.as_rank || !value || value.is(Kind::state)) return;
  if (record_.chunks[chunk_].path != main_path_) return;
  if (!policy_.facts_of_other_classes && runs_on_another(frame_)) return;
  Fact fact;
  fact.place = where;
  fact.role = role;
  Value now = resolve(value);
  if (now.is(Kind::unknown) && now.as<values::Unknown>()->state.value.is(Kind::tensor)) now = now.as<values::Unknown>()->state.value;
  now = heap().one_of_alike(now, true);
  if (now.is(Kind::tensor)) fact.tensor = now.as<values::Tensor>()->now();
  // Of a parameter more may have been learned on some way than is so on all.
  if (const Value given = resolve(value); role == Fact::Role::parameter && fact.tensor && !fact.tensor->shape.rank_known && given.is(Kind::unknown)) now = given;
  fact.value = role == Fact::Role::expression ? now : frozen(now);
  // Does the function that runs stand for every call of it? Not if its object was made by the program.
  const auto on_symbols = [&] {
    if (!frame_ || !frame_->function) return false;
    const values::Function& function = *frame_->function;
    if (!function.owner || function.is_static || function.parameters->list.empty()) return true;
    const values::Slot* self = frame_->scope->names.find(function.parameters->list[0].name);
    return self && (!self->value.is(Kind::instance) || self->value.as<values::Instance>()->symbolic);
  };
  fact.root = static_cast<std::uint32_t>(record_.roots.size());
  fact.general = in_roots_ && site_ && !site_->outer && on_symbols();
  if (role == Fact::Role::parameter && frame_) fact.function = frame_->function;
  record_.facts.push_back(fact);
}

Value Interpreter::evaluate(const Expr& expr) {
  const Nested nested(nesting_);
  if (!step() || nested.too_deep()) return heap().external("", here(expr));
  const Value value = evaluate_inner(expr);
  constexpr std::size_t most_traced = 64;  // parts of one assertion: no message names more
  if (traced_ && traced_frame_ == frame_ && traced_->size() < most_traced) traced_->emplace_back(&expr, value);
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

// What a program calls an optimizer and steps is one, wherever it comes from: `self.optimizer.step()`, `optimizers[0].step()`.
static Value presumed_step(Interpreter& run, const Library& library, const AttributeExpr& access, Value object) {
  const Expr* said = access.object;
  const bool of_several = said->kind == ExprKind::subscript;
  if (of_several) said = as<SubscriptExpr>(*said).object;
  std::string_view name = said->kind == ExprKind::name ? as<NameExpr>(*said).id.text() : said->kind == ExprKind::attribute ? as<AttributeExpr>(*said).attribute.text() : std::string_view{};
  if (of_several && name.ends_with('s')) name.remove_suffix(1);
  const auto presumed = library.presume(name);
  if (!presumed || presumed->class_path.empty()) return {};
  const values::Row* row = library.find(std::string(presumed->class_path) + "." + std::string(access.attribute.text()));
  if (!row || (row->operation != values::Operation::optimizer_step && row->operation != values::Operation::zero_grad)) return {};
  auto* bound = run.heap().make<values::Bound>();
  bound->self = object;
  bound->function = run.library_symbol(row->path);
  return Value::of(Kind::bound, bound);
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
    Value object = without_none(*this, resolve(evaluate(*access.object)));
    if (!access.attribute.text().starts_with("__"))
      if (const Value made = refuse_nothing(*this, object, "it has no attribute `" + std::string(access.attribute.text()) + "` (AttributeError)", here(expr))) return made;
    // None has no such attribute: where the run goes on it was the other.
    if (const Value either = object; either.is(Kind::choice) && catching_ == 0 && !access.attribute.text().starts_with("__")) {
      const auto* choice = either.as<values::Choice>();
      const Value yes = resolve(choice->yes), no = resolve(choice->no);
      if (yes && no && yes.is(Kind::none) != no.is(Kind::none) && symbols().sharing(choice->condition) == Sharing::uniform &&
          symbols().assume(no.is(Kind::none) ? choice->condition : symbols().logical_not(choice->condition)))
        object = no.is(Kind::none) ? yes : no;
    }
    return over_choices(
        object,
        [&](Value side) {
          if (const Value method = called && side.is(Kind::unknown) ? presumed_step(*this, library_, access, side) : Value{}) return method;
          calling_ = called;
          const Value found = attribute(side, access.attribute, here(expr));
          calling_ = false;
          return found;
        },
        here(expr));
  }
  case ExprKind::subscript: {
    const auto& access = as<SubscriptExpr>(expr);
    const Value object = without_none(*this, resolve(evaluate(*access.object)));
    const Value index = evaluate(*access.index);
    if (const Value made = refuse_nothing(*this, object, "it has no items (TypeError)", here(expr))) return made;
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
    const Value made = binary(operation.op, left, right, expr);
    if (policy_.operands_fit && operation.op == BinaryOp::add) keep_residual(*this, operation, left, right, made);
    return made;
  }
  case ExprKind::unary: return unary(as<UnaryExpr>(expr).op, evaluate(*as<UnaryExpr>(expr).operand), expr);
  case ExprKind::boolean_op: return evaluate_bool(as<BooleanOpExpr>(expr), 0);
  case ExprKind::compare: return evaluate_compare(as<CompareExpr>(expr));
  case ExprKind::conditional: {
    const auto& conditional = as<ConditionalExpr>(expr);
    const Cond condition = truth(asked_for_truth(*this, evaluate(*conditional.test), here(*conditional.test)));
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
    dict.object()->born = here(expr);
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

std::vector<Value> Interpreter::evaluate_elements(List<const Expr*> parts, bool& open, Value& rest, Arguments* of_call) {
  std::vector<Value> items;
  std::size_t last_open = 0;
  for (const Expr* part : parts) {
    if (part->kind != ExprKind::starred) {
      const Value item = evaluate(*part);
      // Behind items of which not even the number is known none has a place of its own.
      if (open && !of_call) rest = heap().merge(rest, item, Sharing::uniform);
      else items.push_back(item);
      continue;
    }
    const Value spread = evaluate(*as<StarredExpr>(*part).value);
    if (const auto known = take(spread, here(*part)); known && (!open || of_call)) items.insert(items.end(), known->begin(), known->end());
    else {
      if (of_call) of_call->rest_length = open ? nullptr : known_length(resolve(spread));
      open = true;
      last_open = items.size();
      if (const Value tail = resolve(spread); of_call && tail.is(Kind::unknown) && tail.as<values::Unknown>()->ends_with) {
        const auto& last = tail.as<values::Unknown>()->ends_with.as<values::Tuple>()->items;
        items.insert(items.end(), last.begin(), last.end());
      }
      rest = heap().merge(rest, element(spread, here(*part)), Sharing::uniform);
    }
  }
  if (of_call && open) of_call->behind = items.size() - last_open;
  return items;
}

// ---------------------------------------------------------------- names

namespace {
bool assigns(const Stmt& stmt, Name name) {
  const auto within = [&](syntax::Block block) { return std::ranges::any_of(block, [&](const Stmt* inner) { return assigns(*inner, name); }); };
  switch (stmt.kind) {
  case StmtKind::assign: return std::ranges::any_of(as<AssignStmt>(stmt).targets, [&](const Expr* target) { return target->kind == ExprKind::name && as<NameExpr>(*target).id == name; });
  case StmtKind::if_: return within(as<IfStmt>(stmt).body) || within(as<IfStmt>(stmt).orelse);
  case StmtKind::with: return within(as<WithStmt>(stmt).body);
  default: return false;
  }
}
// Does a file that ran up to here assign the name of its own somewhere, so that it comes from nowhere else?
bool is_assigned_in(const Record& record, const std::string& path, Name name) {
  bool any = false;
  for (const auto& chunk : record.chunks) {
    if (!chunk.chunk || chunk.path != path) continue;
    const Stmt& stmt = *chunk.chunk->stmt;
    if (stmt.kind == StmtKind::import_from && as<ImportFromStmt>(stmt).star) return false;
    any = any || assigns(stmt, name);
  }
  return any;
}
} // namespace

Value Interpreter::lookup(Name name, const Expr& node) {
  for (values::Scope* scope = frame_->scope; scope; scope = scope->parent) {
    if (scope->is_class && scope != frame_->scope) continue;
    if (const values::Slot* slot = scope->names.find(name); slot && slot->value) {
      const Value value = resolve(slot->value);
      note_used(scope, name);
      return value ? (scope->parent ? value : found_global(*scope, name, value)) : heap().external(name.text(), here(node));
    }
  }
  if (const values::Scope* globals = frame_->scope->globals) {
    note_used(globals, name);
    if (const values::Slot* slot = globals->names.find(name); slot && slot->value) return found_global(*globals, name, resolve(slot->value));
  }
  if (!installed_.empty())
    if (ModuleRun* module = installed_module(frame_->scope->globals))
      if (const Value found = lazy_name(*module, name)) return found;
  if (const Value found = builtin(name)) return found;
  // What nothing binds, as in a piece of a program: an import that was left out, or something with a role.
  const auto is_local = [&] {
    const auto* info = frame_->scope->info;
    return info && std::find(info->locals.begin(), info->locals.end(), name) != info->locals.end();
  };
  if (frame_->scope->globals && !is_local()) {
    const Row* import = library_.find("$import." + std::string(name.text()));
    if (import || library_.presume(name.text())) {
      Value& meant = heap().slot_of(frame_->scope->globals->names, Name("$free." + std::string(name.text()))).value;
      if (!meant) meant = import ? library_symbol(import->base) : symbol(name.text(), Sharing::uniform, {});
      // It was there before all that runs.
      if (meant.is(Kind::instance)) meant.as<values::Instance>()->attributes.birth = 0;
      return meant;
    }
  }
  // A process that never came to bind one of its function's names: other ranks may have.
  if (limits_.as_rank && rehearsals_ == 0)
    for (const values::Scope* scope = frame_->scope; scope; scope = scope->parent) {
      const bool is_module = !scope->parent && scope == frame_->scope && site_ == nullptr;
      if (!scope->info && !is_module) continue;
      const values::Slot* slot = scope->names.find(name);
      const bool binds = is_module ? is_assigned_in(record_, record_.chunks[chunk_].path, name) : std::ranges::find(scope->info->locals, name) != scope->info->locals.end();
      if (!binds || (slot && slot->value)) break;
      auto* event = record_.event<ProblemEvent>();
      event->place = here(node);
      event->calls = site_;
      event->node = &node;
      event->problem = values::ProblemKind::unbound;
      event->text = name.text();
      append(event);
      break;
    }
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

} // namespace stepzero::interpreter
