// What may be otherwise once unseen code was called: what it was handed, and what it reaches from there.
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/unseen_code.hpp"

#include "interpreter/classes/self_writes.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

void UnseenCode::open_empty(Value held, int depth) {
  constexpr int deepest = 3;  // lists in dicts in lists
  held = run_.resolve(held);
  if (depth > deepest) return;
  if (held.is(Kind::list)) {
    const auto* state = values::Heap::list_state(held);
    if (state->open) return;
    if (state->items.empty()) return escape(held);
    for (const Value& item : std::vector(state->items)) open_empty(item, depth + 1);
  } else if (held.is(Kind::dict)) {
    const auto* state = values::Heap::dict_state(held);
    if (state->open) return;
    if (state->items.empty()) return escape(held);
    for (const auto& [key, item] : std::vector(state->items)) open_empty(item, depth + 1);
  }
}

bool UnseenCode::may_rebind(const syntax::Stmt* stmt) {
  using namespace syntax;
  const auto any = [this](syntax::Block block) {
    return std::ranges::any_of(block, [this](const Stmt* part) { return may_rebind(part); });
  };
  switch (stmt->kind) {
  case StmtKind::nonlocal:
  case StmtKind::global: return true;
  case StmtKind::if_: return any(as<IfStmt>(*stmt).body) || any(as<IfStmt>(*stmt).orelse);
  case StmtKind::function:
  case StmtKind::class_: break;
  default: return false;
  }
  const auto [it, fresh] = may_rebind_.try_emplace(stmt, false);
  if (!fresh) return it->second;
  const bool found = any(
      stmt->kind == StmtKind::function ? as<FunctionStmt>(*stmt).body : as<ClassStmt>(*stmt).body);
  return may_rebind_[stmt] = found;
}

void UnseenCode::lose_rebound(const values::Scope* scope, const syntax::Stmt* stmt) {
  using namespace syntax;
  if (!may_rebind(stmt)) return;
  const auto lose = [&](values::Slot* slot, Name name) {
    if (slot && slot->value) heap().set(*slot, heap().unseen(name.text()));
  };
  const auto inner = [&](syntax::Block block) {
    for (const Stmt* part : block) lose_rebound(scope, part);
  };
  switch (stmt->kind) {
  case StmtKind::nonlocal:
    for (const Name name : as<NonlocalStmt>(*stmt).names)
      for (const values::Scope* at = scope; at && at != at->globals; at = at->parent)
        if (!at->is_class && at->names.find(name)) {
          lose(at->names.find(name), name);
          break;
        }
    return;
  case StmtKind::global:
    for (const Name name : as<GlobalStmt>(*stmt).names)
      if (scope && scope->globals) lose(scope->globals->names.find(name), name);
    return;
  case StmtKind::function: inner(as<FunctionStmt>(*stmt).body); return;
  case StmtKind::class_: inner(as<ClassStmt>(*stmt).body); return;
  case StmtKind::if_:
    inner(as<IfStmt>(*stmt).body);
    inner(as<IfStmt>(*stmt).orelse);
    return;
  default: return;
  }
}

// What unseen code may do to a value that it is handed, and to what it reaches from there.
class UnseenCode::Escape {
public:
  Escape(Interpreter& interpreter, int at) : run(interpreter), depth(at) {}
  void of(Value value);  // resolved

private:
  void of_list(Value list);
  void of_dict(Value dict);
  void of_instance(Value value);
  void of_bound(const values::Bound& bound);
  void of_function(const values::Function& function);
  void of_class(const values::Class& cls);
  void of_tensor(values::Tensor& tensor);
  void inner(Value value) const { run.unseen_->escape(value, depth + 1); }

  void lose_reached(Value part, int below);
  void lose_named_by(const values::Scope& scope);

  Interpreter& run;
  int depth;  // of the value in what was handed over
  std::size_t visited_ = 0;
};

void UnseenCode::escape(Value value, int depth) {
  constexpr int deepest = 2;  // what a function is handed holds in lists of lists
  value = run_.resolve(value);
  if (depth <= deepest) Escape(run_, depth).of(value);
}

namespace {
// Something that the program itself has written down: a flag, a number, a text. What it was given or has
// computed, a rank for one, others take from it.
bool is_setting(const symbolic::Context& symbols, Value value) {
  switch (value.kind) {
  case Kind::none:
  case Kind::real:
  case Kind::string: return true;
  case Kind::integer: return symbols.value(value.integer()).has_value();
  case Kind::boolean: return symbols.decide(value.condition()) != symbolic::Answer::unknown;
  default: return false;
  }
}

}  // namespace

// What the program has set on an object that is not seen, and on such parts of it, may be set otherwise by
// its own methods and by unseen code that has it: `cfg.TRAIN.RESUME = False`, `cfg.merge_from_file(path)`.
void UnseenCode::lose_settings(const values::Unknown& object, bool mode, int depth) {
  constexpr int deepest = 3;  // `model.encoder.layers`: settings lie no deeper
  const Name trains(run_.library().types().trains);
  for (const auto& [name, slot] : std::vector(object.attributes.entries())) {
    if (values::is_kept(name.text()) || (name == trains && !mode)) continue;
    const Value held = run_.resolve(slot->value);
    if (held.is(Kind::unknown) && held.object() != &object && depth < deepest)
      lose_settings(*held.as<values::Unknown>(), mode, depth + 1);
    else if (is_setting(symbols(), held)) {
      const Value other = heap().unknown(name.text(), object.sharing);
      other.as<values::Unknown>()->unseen = true;
      heap().set(*slot, other);
    }
  }
}

void UnseenCode::Escape::of(Value value) {
  switch (value.kind) {
  case Kind::choice:
    run.unseen_->escape(value.as<values::Choice>()->yes, depth);
    run.unseen_->escape(value.as<values::Choice>()->no, depth);
    return;
  case Kind::list: return of_list(value);
  case Kind::dict: return of_dict(value);
  case Kind::unknown:
    if (value.as<values::Unknown>()->is_gradient) run.lose_gradients();
    run.unseen_->lose_settings(*value.as<values::Unknown>(), true);
    if (const Value functions = value.as<values::Unknown>()->attributes.value(
            Name(values::UnknownState::one_of)))
      run.unseen_->escape(functions, depth);
    if (const Value tensor = value.as<values::Unknown>()->attributes.value(
            Name(values::AddressState::memory_of)))
      run.unseen_->escape(tensor, depth);
    return;
  case Kind::instance: return of_instance(value);
  case Kind::bound: return of_bound(*value.as<values::Bound>());
  case Kind::function: return of_function(*value.as<values::Function>());
  case Kind::class_: return of_class(*value.as<values::Class>());
  case Kind::tuple:
    for (const Value& item : value.as<values::Tuple>()->items) inner(item);
    return;
  case Kind::tensor: return of_tensor(*value.as<values::Tensor>());
  default: return;
  }
}

void UnseenCode::Escape::of_list(Value list) {
  values::ListState state = *values::Heap::list_state(list);
  if (state.open && state.rest.is(Kind::unknown) && state.rest.as<values::Unknown>()->unseen) return;
  for (const Value& item : state.items) inner(item);
  state.open = true;
  state.length = nullptr;
  state.rest = run.heap().unseen("");
  state.items.clear();
  run.heap().set_list(list, std::move(state));
}

void UnseenCode::Escape::of_dict(Value dict) {
  run.heap().note_write(nullptr);
  values::DictState state = *values::Heap::dict_state(dict);
  state.open = true;
  state.rest = run.heap().unseen("");
  run.heap().set_dict(dict, std::move(state));
}

void UnseenCode::Escape::of_instance(Value value) {
  auto* object = value.as<values::Instance>();
  run.heap().note_write(nullptr);
  run.heap().note_grad_write();
  run.lose_gradients();
  lose_set_by_methods(run.heap(), *object);
  lose_reached(value, 0);
  const std::string_view module = run.library_.types().module;
  const bool is_module = run.is_a(value, module);
  if (is_module)
    if (const Row* row = run.method_row(module, values::InternalRow::out_of_sight))
      run.library_calls_->call_library(
          *run.library_symbol(row->path).as<values::LibrarySymbol>(), value, {}, {}, nullptr);
  // A namespace of arguments, and the parser that makes it, may be given further ones.
  const bool declares = !object->cls &&
      (object->attributes.find(Name(values::ParserState::declared)) ||
          object->attributes.find(Name(values::ParserState::known_names)));
  if (((object->cls && !object->symbolic && !is_module) || declares) && !object->attributes.find(handed_out))
    run.heap().set(run.heap().slot_of(object->attributes, handed_out), run.heap().boolean(true));
}

// The method may set what it likes on its object, and call the others.
void UnseenCode::Escape::of_bound(const values::Bound& bound) {
  if (const Value self = run.resolve(bound.self);
      self.is(Kind::instance) && bound.function.is(Kind::function))
    lose_set_by_methods(run.heap(), *self.as<values::Instance>());
  inner(bound.function);
}

// It may be called there, change what it holds of the functions around it, and call those that stand beside
// it.
void UnseenCode::Escape::of_function(const values::Function& function) {
  run.lose_gradients();
  for (const values::Scope* scope = function.closure; scope && scope != scope->globals;
      scope = scope->parent) {
    std::vector<Value> held;
    for (const auto& [name, slot] : scope->names.entries())
      if (slot->value.is(Kind::list) || slot->value.is(Kind::dict)) held.push_back(slot->value);
    for (const Value& each : held) inner(each);
    lose_named_by(*scope);
  }
  if (function.stmt) run.unseen_->lose_rebound(function.closure, function.stmt);
}

// Its methods may be called there.
void UnseenCode::Escape::of_class(const values::Class& cls) {
  if (!cls.stmt || !cls.body) return;
  lose_filled_by_objects(run.heap(), cls);
  run.unseen_->lose_rebound(cls.body, cls.stmt);
  for (const auto& [name, slot] : std::vector(cls.body->names.entries()))
    if (slot->value.is(Kind::function) &&
        slot->value.as<values::Function>()->closure != slot->value.as<values::Function>()->closure->globals)
      inner(slot->value);
}

// Unseen code may have communicated: nothing is known of how the content relates among ranks.
void UnseenCode::Escape::of_tensor(values::Tensor& tensor) {
  values::TensorState state = *tensor.now();
  run.heap().note_write(&state);
  run.heap().note_grad_write();
  if (state.is_gradient || tensor.role == values::TensorRole::parameter) run.lose_gradients();
  if (state.unseen) return;
  state.unseen = true;
  state.sharing = Sharing::unseen;
  state.content = nullptr;
  state.extent = nullptr;
  run.heap().set(tensor.state, Value::of(Kind::state, run.heap().state(state)));
}

// The names around the classes of an object and its parts, and around the functions that it holds, which
// those may rebind.
void UnseenCode::Escape::lose_reached(Value part, int below) {
  constexpr int deepest_part = 4;            // what unseen code is handed it reaches through few attributes
  constexpr std::size_t most_visited = 128;  // each escape would cost the size of the model else
  part = run.resolve(part);
  if (below > deepest_part || ++visited_ > most_visited) return;
  switch (part.kind) {
  case Kind::function: {
    const auto* function = part.as<values::Function>();
    if (function->stmt) return run.unseen_->lose_rebound(function->closure, function->stmt);
    for (const values::Scope* scope = function->closure; scope && scope != scope->globals;
        scope = scope->parent)
      lose_named_by(*scope);
    return;
  }
  case Kind::class_: return lose_filled_by_objects(run.heap(), *part.as<values::Class>());
  case Kind::list:
    for (const Value& item : std::vector(values::Heap::list_state(part)->items))
      lose_reached(item, below + 1);
    return;
  case Kind::tuple:
    for (const Value& item : part.as<values::Tuple>()->items) lose_reached(item, below + 1);
    return;
  case Kind::instance: {
    const auto* object = part.as<values::Instance>();
    if (const values::Class* cls = object->cls;
        cls && cls->body && cls->stmt && cls->body->parent && cls->body->parent != cls->globals)
      run.unseen_->lose_rebound(cls->body, cls->stmt);
    for (const auto& [name, slot] : std::vector(object->attributes.entries()))
      lose_reached(slot->value, below + 1);
    return;
  }
  default: return;
  }
}

void UnseenCode::Escape::lose_named_by(const values::Scope& scope) {
  for (const auto& [name, slot] : std::vector(scope.names.entries())) {
    const Value beside = slot->value;
    if (beside.is(Kind::function) && beside.as<values::Function>()->stmt)
      run.unseen_->lose_rebound(&scope, beside.as<values::Function>()->stmt);
    if (beside.is(Kind::class_) && beside.as<values::Class>()->stmt)
      run.unseen_->lose_rebound(&scope, beside.as<values::Class>()->stmt);
  }
}

}  // namespace stepzero::interpreter
