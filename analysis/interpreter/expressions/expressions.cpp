// Expressions: what each kind evaluates to, and names. What operators do is in arithmetic.cpp and
// comparisons.cpp.
#include "interpreter/builtins/builtins.hpp"

#include "interpreter/builtins/texts.hpp"
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/no_result.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/expressions/ambiguous_truth.hpp"
#include "interpreter/expressions/iterables.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/loops/loop_runner.hpp"
#include "interpreter/loops/merged_values.hpp"
#include "interpreter/reasons.hpp"
#include "interpreter/roots/residual.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

// The value as it is now: what is put into a list later is not in it.
Value Interpreter::frozen(Value value, int depth) {
  value = resolve(value);
  constexpr int deepest_frozen = 3;        // a fact shows no more levels
  constexpr std::size_t most_frozen = 16;  // … nor more items
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

// A method that runs in the place of one that it overrides, on an object that has not its attributes: see
// abstract.hpp.
template <class Frame> static bool runs_on_another(const Frame* frame) {
  constexpr int most_frames = 4;  // around a name: functions in functions nest less
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
  if (role == Fact::Role::expression &&
      (value.is(Kind::library) || value.is(Kind::module) || value.is(Kind::bound) || value.is(Kind::super)))
    return;
  // Facts are shown, and the file's own run has those of all ranks. Who counts memory asks which modules
  // there are.
  if (dry_runs_ > 0 || !value || value.is(Kind::state)) return;
  if ((with_defaults_ || limits_.as_rank) && !limits_.numbers) {
    if ((role != Fact::Role::assignment && role != Fact::Role::attribute) || !value.is(Kind::instance) ||
        !is_a(value, library_.types().module) ||
        !record_.conditions.contains(values::RecordCondition::counted))
      return;
  }
  if (record_.chunks[chunk_].path != main_path_ && !limits_.numbers) return;
  if (!policy_.facts_of_other_classes && runs_on_another(frame_)) return;
  Fact fact;
  fact.place = where;
  fact.role = role;
  Value now = resolve(value);
  if (now.is(Kind::unknown) && now.as<values::Unknown>()->state.value.is(Kind::tensor))
    now = now.as<values::Unknown>()->state.value;
  now = heap().one_of_equivalent(now, true);
  if (now.is(Kind::tensor)) fact.tensor = now.as<values::Tensor>()->now();
  // Of a parameter more may have been learned on some way than is so on all.
  if (const Value given = resolve(value); role == Fact::Role::parameter && fact.tensor &&
      !fact.tensor->shape.ndim_known && given.is(Kind::unknown))
    now = given;
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
  if (!step() || nested.too_deep()) return heap().unseen("", here(expr));
  const Value value = evaluate_inner(expr);
  constexpr std::size_t most_traced = 64;  // parts of one assertion: no message names more
  if (traced_ && traced_frame_ == frame_ && traced_->size() < most_traced)
    traced_->emplace_back(&expr, value);
  switch (expr.kind) {
  case ExprKind::name:
  case ExprKind::attribute:
  case ExprKind::call:
  case ExprKind::subscript:
  case ExprKind::dict:
  case ExprKind::binary: note(Fact::Role::expression, here(expr), value); break;
  default: break;
  }
  return value;
}

// What a program calls an optimizer and steps is one, wherever it comes from: `self.optimizer.step()`,
// `optimizers[0].step()`.
static Value presumed_step(
    Interpreter& run, const Library& library, const AttributeExpr& access, Value object) {
  const Expr* said = access.object;
  const bool of_several = said->kind == ExprKind::subscript;
  if (of_several) said = as<SubscriptExpr>(*said).object;
  std::string_view name = said->kind == ExprKind::name ? as<NameExpr>(*said).id.text()
      : said->kind == ExprKind::attribute              ? as<AttributeExpr>(*said).attribute.text()
                                                       : std::string_view{};
  if (of_several && name.ends_with('s')) name.remove_suffix(1);
  const auto presumed = library.presume(name);
  if (!presumed || presumed->class_path.empty()) return {};
  const values::Row* row = library.find(
      std::string(presumed->class_path) + "." + std::string(access.attribute.text()));
  if (!row ||
      (row->operation != values::Operation::optimizer_step && row->operation != values::Operation::zero_grad))
    return {};
  auto* bound = run.heap().make<values::Bound>();
  bound->self = object;
  bound->function = run.library_symbol(row->path);
  return Value::of(Kind::bound, bound);
}

// What an expression of more than a line evaluates to, by its kind.
struct Interpreter::Evaluation {
  Interpreter& run;
  const Expr& expr;

  Value attribute(const AttributeExpr& access);
  Value subscript(const SubscriptExpr& access);
  Value slice(const SliceExpr& parts);
  Value binary(const BinaryExpr& operation);
  Value conditional(const ConditionalExpr& conditional);
  Value display(List<const Expr*> elements);
  Value dict(const DictExpr& display);
  Value yielded(const Expr* part);
  Value yielded_from(const Expr& part);
  Value named(const NamedExpr& named);

private:
  void update(Value dict, Value other);
  Value without_unset(Value object);
  Place where() const { return run.here(expr); }
};

Value Interpreter::evaluate_inner(const Expr& expr) {
  switch (expr.kind) {
  case ExprKind::name: return lookup(as<NameExpr>(expr).id, expr);
  case ExprKind::integer: {
    const auto& literal = as<IntegerExpr>(expr);
    if (limits_.numbers)
      if (const auto other = limits_.numbers->find(&expr); other != limits_.numbers->end())
        return heap().integer(other->second);
    return literal.fits ? heap().integer(literal.value) : heap().unknown("", Sharing::uniform, here(expr));
  }
  case ExprKind::real: return Value::of(as<RealExpr>(expr).value);
  case ExprKind::string: return heap().string(as<StringExpr>(expr).value);
  case ExprKind::format: return texts_->evaluate_format(as<FormatExpr>(expr));
  case ExprKind::none: return Value::none();
  case ExprKind::boolean: return heap().boolean(as<BooleanExpr>(expr).value);
  case ExprKind::ellipsis: return Value::ellipsis();
  case ExprKind::imaginary:
  case ExprKind::bytes: return heap().unknown("", Sharing::uniform, here(expr));
  case ExprKind::attribute: return Evaluation{*this, expr}.attribute(as<AttributeExpr>(expr));
  case ExprKind::subscript: return Evaluation{*this, expr}.subscript(as<SubscriptExpr>(expr));
  case ExprKind::slice: return Evaluation{*this, expr}.slice(as<SliceExpr>(expr));
  case ExprKind::call: return function_calls_->evaluate_call(as<CallExpr>(expr));
  case ExprKind::binary: return Evaluation{*this, expr}.binary(as<BinaryExpr>(expr));
  case ExprKind::unary: return unary(as<UnaryExpr>(expr).op, evaluate(*as<UnaryExpr>(expr).operand), expr);
  case ExprKind::boolean_op: return evaluate_bool(as<BooleanOpExpr>(expr), 0);
  case ExprKind::compare: return evaluate_compare(as<CompareExpr>(expr));
  case ExprKind::conditional: return Evaluation{*this, expr}.conditional(as<ConditionalExpr>(expr));
  case ExprKind::lambda: return function_calls_->make_lambda(as<LambdaExpr>(expr));
  case ExprKind::tuple: return Evaluation{*this, expr}.display(as<TupleExpr>(expr).elements);
  case ExprKind::list: return Evaluation{*this, expr}.display(as<ListExpr>(expr).elements);
  case ExprKind::set: return Evaluation{*this, expr}.display(as<SetExpr>(expr).elements);
  case ExprKind::dict: return Evaluation{*this, expr}.dict(as<DictExpr>(expr));
  case ExprKind::comprehension: return loops_->run_comprehension(as<ComprehensionExpr>(expr));
  case ExprKind::await: return evaluate(*as<AwaitExpr>(expr).value);
  case ExprKind::yield: return Evaluation{*this, expr}.yielded(as<YieldExpr>(expr).value);
  case ExprKind::yield_from: return Evaluation{*this, expr}.yielded_from(*as<YieldFromExpr>(expr).value);
  case ExprKind::starred: return evaluate(*as<StarredExpr>(expr).value);
  case ExprKind::named: return Evaluation{*this, expr}.named(as<NamedExpr>(expr));
  case ExprKind::error:
    for (const Expr* part : as<ErrorExpr>(expr).parts) evaluate(*part);
    killed_ = false;
    return heap().unseen("", here(expr));
  }
  return heap().unseen("", here(expr));
}

Value Interpreter::Evaluation::attribute(const AttributeExpr& access) {
  const bool called = std::exchange(run.callee_, nullptr) == &expr;
  Value object = without_none(run, run.resolve(run.evaluate(*access.object)));
  if (!access.attribute.text().starts_with("__")) {
    if (const Value made = refuse_nothing(run, object, NoResult::attribute, where(), access.attribute.text()))
      return made;
    object = without_unset(object);
  }
  return run.over_choices(
      object,
      [&](Value side) {
        if (const Value method =
                called && side.is(Kind::unknown) ? presumed_step(run, run.library_, access, side) : Value{})
          return method;
        run.calling_ = called;
        const Value found = run.attribute(side, access.attribute, where());
        run.calling_ = false;
        return found;
      },
      where());
}

// None has no attributes that programs read: where the run goes on it was the other.
Value Interpreter::Evaluation::without_unset(Value object) {
  if (!object.is(Kind::choice) || run.catching_ > 0) return object;
  const auto* choice = object.as<values::Choice>();
  const Value yes = run.resolve(choice->yes), no = run.resolve(choice->no);
  if (!yes || !no || yes.is(Kind::none) == no.is(Kind::none) ||
      run.symbols().sharing(choice->condition) != Sharing::uniform)
    return object;
  if (!run.symbols().assume(
          no.is(Kind::none) ? choice->condition : run.symbols().logical_not(choice->condition)))
    return object;
  return no.is(Kind::none) ? yes : no;
}

Value Interpreter::Evaluation::subscript(const SubscriptExpr& access) {
  const Value object = without_none(run, run.resolve(run.evaluate(*access.object)));
  const Value index = run.evaluate(*access.index);
  if (const Value made = refuse_nothing(run, object, NoResult::items, where())) return made;
  return run.over_choices(object, [&](Value side) { return run.subscript(side, index, expr); }, where());
}

Value Interpreter::Evaluation::slice(const SliceExpr& parts) {
  auto* slice = run.heap().make<values::SliceObject>();
  slice->lower = parts.lower ? run.evaluate(*parts.lower) : Value::none();
  slice->upper = parts.upper ? run.evaluate(*parts.upper) : Value::none();
  slice->step = parts.step ? run.evaluate(*parts.step) : Value::none();
  return Value::of(Kind::slice, slice);
}

Value Interpreter::Evaluation::binary(const BinaryExpr& operation) {
  const Value left = run.evaluate(*operation.left);
  const Value right = run.evaluate(*operation.right);
  const Value made = run.binary(operation.op, left, right, expr);
  if (run.policy_.operands_fit && operation.op == BinaryOp::add)
    keep_residual(run, operation, left, right, made);
  return made;
}

Value Interpreter::Evaluation::conditional(const ConditionalExpr& conditional) {
  const Cond condition = run.truth(
      asked_for_truth(run, run.evaluate(*conditional.test), run.here(*conditional.test)));
  return run.fork_value(
      condition, where(), [&] { return run.evaluate(*conditional.body); },
      [&] { return run.evaluate(*conditional.orelse); });
}

// A tuple, a list or a set.
Value Interpreter::Evaluation::display(List<const Expr*> elements) {
  bool open = false;
  Value rest;
  std::vector<Value> items = run.evaluate_elements(elements, open, rest);
  if (expr.kind == ExprKind::tuple && !open) {
    const Value tuple = run.heap().tuple(std::move(items));
    tuple.as<values::Tuple>()->born = run.here(expr);
    return tuple;
  }
  if (expr.kind == ExprKind::set && !open) return run.make_set(std::move(items));
  const Value list = run.heap().list(
      std::move(items), expr.kind == ExprKind::set ? values::ListKind::set : values::ListKind::list);
  values::Heap::list_state(list)->open = open;
  values::Heap::list_state(list)->rest = rest;
  if (expr.kind != ExprKind::set) list.as<values::List>()->born = run.here(expr);
  return list;
}

Value Interpreter::Evaluation::dict(const DictExpr& display) {
  const Value dict = run.heap().dict({});
  dict.object()->born = where();
  // So far all keys are texts that stand once: what they are given needs no comparison with the others.
  bool direct = true;
  std::vector<std::pair<Value, Value>> plain;
  std::unordered_set<std::string_view> seen;
  const auto flush = [&] {
    if (plain.empty()) return;
    values::DictState state;
    state.items = std::move(plain);
    plain.clear();
    run.heap().set_dict(dict, std::move(state));
  };
  for (const DictItem& item : display.items) {
    const Value key = item.key ? run.resolve(run.evaluate(*item.key)) : Value{};
    const Value value = run.evaluate(*item.value);
    direct = direct && key.is(Kind::string) && seen.insert(key.text()).second;
    if (direct) {
      plain.push_back({key, value});
      continue;
    }
    flush();
    if (key)
      run.dict_set(dict, key, value);
    else
      update(dict, value);
  }
  flush();
  return dict;
}

// `**other` in a dict: what is not known of it may replace each value so far.
void Interpreter::Evaluation::update(Value dict, Value other) {
  if (run.dict_update(dict, other, where())) return;
  auto state = *values::Heap::dict_state(dict);
  for (auto& [key, value] : state.items)
    value = run.heap().merge(value, run.heap().unseen(""), Sharing::uniform);
  state.open = true;
  state.rest = run.heap().unseen("");
  run.heap().set_dict(dict, std::move(state));
}

Value Interpreter::Evaluation::yielded(const Expr* part) {
  const Value value = part ? run.evaluate(*part) : Value::none();
  return run.frame_->on_yield ? (*run.frame_->on_yield)(value) : run.heap().unseen("", where());
}

Value Interpreter::Evaluation::yielded_from(const Expr& part) {
  const Value source = run.evaluate(part);
  if (run.frame_->on_yield) {
    auto consume = *run.frame_->on_yield;
    const Value inner = run.resolve(source);
    if (FunctionCalls::is_pending(inner)) return run.function_calls_->drain(inner, where(), consume);
    if (const auto items = run.take(source, where()))
      for (const Value& item : *items) {
        consume(item);
        if (run.killed_) break;
      }
    else
      consume(run.element(source, where()));
  }
  return run.heap().unseen("", where());
}

Value Interpreter::Evaluation::named(const NamedExpr& named) {
  const Value value = run.evaluate(*named.value);
  run.heap().set(run.variable(named.name), value);
  run.note(Fact::Role::assignment, run.place(named.name_span), value);
  return value;
}

std::vector<Value> Interpreter::evaluate_elements(
    List<const Expr*> parts, bool& open, Value& rest, Arguments* of_call) {
  std::vector<Value> items;
  std::size_t last_open = 0;
  for (const Expr* part : parts) {
    if (part->kind != ExprKind::starred) {
      const Value item = evaluate(*part);
      // After items of which not even the number is known none has a place of its own.
      if (open && !of_call)
        rest = heap().merge(rest, item, Sharing::uniform);
      else
        items.push_back(item);
      continue;
    }
    const Value spread = evaluate(*as<StarredExpr>(*part).value);
    if (const auto known = take(spread, here(*part)); known && (!open || of_call))
      items.insert(items.end(), known->begin(), known->end());
    else {
      if (of_call) of_call->rest_length = open ? nullptr : iterables_->known_length(resolve(spread));
      open = true;
      last_open = items.size();
      if (const Value tail = resolve(spread);
          of_call && tail.is(Kind::unknown) && tail.as<values::Unknown>()->ends_with) {
        const auto& last = tail.as<values::Unknown>()->ends_with.as<values::Tuple>()->items;
        items.insert(items.end(), last.begin(), last.end());
      }
      rest = heap().merge(rest, element(spread, here(*part)), Sharing::uniform);
    }
  }
  if (of_call && open) of_call->after = items.size() - last_open;
  return items;
}

// ---------------------------------------------------------------- names

namespace {
bool assigns(const Stmt& stmt, Name name) {
  const auto within = [&](syntax::Block block) {
    return std::ranges::any_of(block, [&](const Stmt* inner) { return assigns(*inner, name); });
  };
  switch (stmt.kind) {
  case StmtKind::assign:
    return std::ranges::any_of(as<AssignStmt>(stmt).targets, [&](const Expr* target) {
      return target->kind == ExprKind::name && as<NameExpr>(*target).id == name;
    });
  case StmtKind::if_: return within(as<IfStmt>(stmt).body) || within(as<IfStmt>(stmt).orelse);
  case StmtKind::with: return within(as<WithStmt>(stmt).body);
  default: return false;
  }
}
// Does a file that ran up to here assign the name of its own somewhere, so that it comes from nowhere else?
bool is_assigned_in(const Record& record, const std::string& path, Name name) {
  bool any = false;
  for (const auto& chunk : record.chunks) {
    if (!chunk.statement() || chunk.path != path) continue;
    const Stmt& stmt = *chunk.statement();
    if (stmt.kind == StmtKind::import_from && as<ImportFromStmt>(stmt).star) return false;
    any = any || assigns(stmt, name);
  }
  return any;
}
}  // namespace

Value Interpreter::lookup(Name name, const Expr& node) {
  for (values::Scope* scope = frame_->scope; scope; scope = scope->parent) {
    if (scope->is_class && scope != frame_->scope) continue;
    if (const values::Slot* slot = scope->names.find(name); slot && slot->value) {
      const Value value = resolve(slot->value);
      note_used(scope, name);
      return value ? (scope->parent ? value : unseen_->found_global(*scope, name, value))
                   : heap().unseen(name.text(), here(node));
    }
  }
  if (const values::Scope* globals = frame_->scope->globals) {
    note_used(globals, name);
    if (const values::Slot* slot = globals->names.find(name); slot && slot->value)
      return unseen_->found_global(*globals, name, resolve(slot->value));
  }
  if (ModuleRun* module = loader_->installed_module(frame_->scope->globals))
    if (const Value found = loader_->lazy_name(*module, name)) return found;
  if (const Value found = builtins_->builtin(name)) return found;
  // What nothing binds, as in a piece of a program: an import that was left out, or something with a role.
  const auto is_local = [&] {
    const auto* info = frame_->scope->info;
    return info && std::find(info->locals.begin(), info->locals.end(), name) != info->locals.end();
  };
  if (frame_->scope->globals && !is_local()) {
    const Row* import = library_.find(values::InternalRow::import_ + std::string(name.text()));
    if (import || library_.presume(name.text())) {
      Value& meant = heap()
                         .slot_of(frame_->scope->globals->names,
                             Name(values::EngineNotes::free + std::string(name.text())))
                         .value;
      if (!meant) meant = import ? library_symbol(import->base) : symbol(name.text(), Sharing::uniform, {});
      // It was there before all that runs.
      if (meant.is(Kind::instance)) meant.as<values::Instance>()->attributes.birth = 0;
      return meant;
    }
  }
  // A process that never came to bind one of its function's names: other ranks may have.
  if (limits_.as_rank && dry_runs_ == 0)
    for (const values::Scope* scope = frame_->scope; scope; scope = scope->parent) {
      const bool is_module = !scope->parent && scope == frame_->scope && site_ == nullptr;
      if (!scope->info && !is_module) continue;
      const values::Slot* slot = scope->names.find(name);
      const bool binds = is_module
          ? is_assigned_in(record_, record_.chunks[chunk_].path, name)
          : std::ranges::find(scope->info->locals, name) != scope->info->locals.end();
      if (!binds || (slot && slot->value)) break;
      auto* event = record_.event<ProblemEvent>();
      event->place = here(node);
      event->calls = site_;
      event->node = &node;
      event->problem = values::ProblemKind::unbound;
      explain(*event, why<Reason::unbound_name>(name.text()));
      append(event);
      break;
    }
  return heap().unseen(name.text(), here(node));
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

}  // namespace stepzero::interpreter
