// Calls of code that is not seen: what may be otherwise after them, and what is recorded of them.
#include "interpreter/interpreter.hpp"

#include "interpreter/calls/unseen.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "interpreter/presumed_rank.hpp"
#include "interpreter/roots/required_ndims.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t most_kept = 32;  // fields of a dict that unseen code is handed
}  // namespace

void Interpreter::open_empty(Value held, int depth) {
  constexpr int deepest = 3;  // lists in dicts in lists
  held = resolve(held);
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

bool Interpreter::may_rebind(const syntax::Stmt* stmt) {
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

void Interpreter::lose_rebound(const values::Scope* scope, const syntax::Stmt* stmt) {
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

namespace {
const Name looked_up{
    values::UnknownState::looked_up};  // of a value that a mapping gave, or None where it has no such key

constexpr int most_choices = 4;  // that lie in each other
void each_unknown(Value value, const std::function<void(const values::Unknown&)>& look, int depth = 0) {
  if (value.is(Kind::unknown)) look(*value.as<values::Unknown>());
  if (!value.is(Kind::choice) || depth >= most_choices) return;
  each_unknown(value.as<values::Choice>()->yes, look, depth + 1);
  each_unknown(value.as<values::Choice>()->no, look, depth + 1);
}

// Whether `mapping.get(key)` finds something is for the mapping to say: a function that asks whether it is
// given None may always be.
void note_looked_up(values::Heap& heap, Value function, const Arguments& arguments, Value made) {
  if (!function.is(Kind::unknown) || !made.is(Kind::unknown) ||
      !function.as<values::Unknown>()->name.ends_with(".get"))
    return;
  if (arguments.spread || !arguments.keywords.empty() || arguments.positional.empty() ||
      arguments.positional.size() > 2)
    return;
  if (arguments.positional.size() == 1 || arguments.positional.back().is(Kind::none))
    heap.slot_of(made.as<values::Unknown>()->attributes, looked_up).value =
        Value::none();  // it is new: no write
}
}  // namespace

bool Interpreter::asked_by_callee() const {
  std::size_t end = path_.size();
  const auto is_taken = [&](Cond condition, std::size_t from) {
    return std::any_of(path_.begin() + static_cast<std::ptrdiff_t>(std::min(from, end)),
        path_.begin() + static_cast<std::ptrdiff_t>(end), [&](Cond taken) {
          return taken == condition ||
              (record_.symbols.form(taken) == symbolic::Context::Form::conjunction &&
                  std::ranges::find(record_.symbols.operands(taken), condition) !=
                      record_.symbols.operands(taken).end());
        });
  };
  for (const Frame* frame = frame_; frame && frame->outer;
      end = std::min(end, frame->depth), frame = frame->outer) {
    if (!frame->function || !frame->function->parameters) continue;
    for (const syntax::Parameter& parameter : frame->function->parameters->list) {
      const values::Slot* slot = frame->scope->names.find(parameter.name);
      bool asked = false;
      if (slot)
        each_unknown(slot->value, [&](const values::Unknown& given) {
          if (!given.is_none) return;
          if (!given.default_value.is(Kind::none) && slot->value.is(Kind::unknown))
            asked = asked || is_taken(given.is_none, frame->depth);
          if (given.attributes.find(looked_up))
            asked = asked || is_taken(record_.symbols.logical_not(given.is_none), frame->depth);
        });
      if (asked) return true;
    }
  }
  return false;
}

// What unseen code may do to a value that it is handed, and to what it reaches from there.
class Interpreter::Escape {
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
  void inner(Value value) const { run.escape(value, depth + 1); }

  void lose_reached(Value part, int below);
  void lose_named_by(const values::Scope& scope);

  Interpreter& run;
  int depth;  // of the value in what was handed over
  std::size_t visited_ = 0;
};

void Interpreter::escape(Value value, int depth) {
  constexpr int deepest = 2;  // what a function is handed holds in lists of lists
  value = resolve(value);
  if (depth <= deepest) Escape(*this, depth).of(value);
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

// What the program has set on an object that is not seen, and on such parts of it, may be set otherwise by
// its own methods and by unseen code that has it: `cfg.TRAIN.RESUME = False`, `cfg.merge_from_file(path)`.
void lose_settings(Interpreter& run, const values::Unknown& object, bool mode, int depth = 0) {
  constexpr int deepest = 3;  // `model.encoder.layers`: settings lie no deeper
  const Name trains(run.library().types().trains);
  for (const auto& [name, slot] : std::vector(object.attributes.entries())) {
    if (values::is_kept(name.text()) || (name == trains && !mode)) continue;
    const Value held = run.resolve(slot->value);
    if (held.is(Kind::unknown) && held.object() != &object && depth < deepest)
      lose_settings(run, *held.as<values::Unknown>(), mode, depth + 1);
    else if (is_setting(run.symbols(), held)) {
      const Value other = run.heap().unknown(name.text(), object.sharing);
      other.as<values::Unknown>()->unseen = true;
      run.heap().set(*slot, other);
    }
  }
}
}  // namespace

void Interpreter::Escape::of(Value value) {
  switch (value.kind) {
  case Kind::choice:
    run.escape(value.as<values::Choice>()->yes, depth);
    run.escape(value.as<values::Choice>()->no, depth);
    return;
  case Kind::list: return of_list(value);
  case Kind::dict: return of_dict(value);
  case Kind::unknown:
    if (value.as<values::Unknown>()->is_gradient) run.lose_gradients();
    lose_settings(run, *value.as<values::Unknown>(), true);
    if (const Value functions = value.as<values::Unknown>()->attributes.value(
            Name(values::UnknownState::one_of)))
      run.escape(functions, depth);
    if (const Value tensor = value.as<values::Unknown>()->attributes.value(
            Name(values::AddressState::memory_of)))
      run.escape(tensor, depth);
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

void Interpreter::Escape::of_list(Value list) {
  values::ListState state = *values::Heap::list_state(list);
  if (state.open && state.rest.is(Kind::unknown) && state.rest.as<values::Unknown>()->unseen) return;
  for (const Value& item : state.items) inner(item);
  state.open = true;
  state.length = nullptr;
  state.rest = run.heap().unseen("");
  state.items.clear();
  run.heap().set_list(list, std::move(state));
}

void Interpreter::Escape::of_dict(Value dict) {
  run.heap().note_write(nullptr);
  values::DictState state = *values::Heap::dict_state(dict);
  state.open = true;
  state.rest = run.heap().unseen("");
  run.heap().set_dict(dict, std::move(state));
}

void Interpreter::Escape::of_instance(Value value) {
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
      run.call_library(*run.library_symbol(row->path).as<values::LibrarySymbol>(), value, {}, {}, nullptr);
  // A namespace of arguments, and the parser that makes it, may be given further ones.
  const bool declares = !object->cls &&
      (object->attributes.find(Name(values::ParserState::declared)) ||
          object->attributes.find(Name(values::ParserState::known_names)));
  if (((object->cls && !object->symbolic && !is_module) || declares) && !object->attributes.find(handed_out))
    run.heap().set(run.heap().slot_of(object->attributes, handed_out), run.heap().boolean(true));
}

// The method may set what it likes on its object, and call the others.
void Interpreter::Escape::of_bound(const values::Bound& bound) {
  if (const Value self = run.resolve(bound.self);
      self.is(Kind::instance) && bound.function.is(Kind::function))
    lose_set_by_methods(run.heap(), *self.as<values::Instance>());
  inner(bound.function);
}

// It may be called there, change what it holds of the functions around it, and call those that stand beside
// it.
void Interpreter::Escape::of_function(const values::Function& function) {
  run.lose_gradients();
  for (const values::Scope* scope = function.closure; scope && scope != scope->globals;
      scope = scope->parent) {
    std::vector<Value> held;
    for (const auto& [name, slot] : scope->names.entries())
      if (slot->value.is(Kind::list) || slot->value.is(Kind::dict)) held.push_back(slot->value);
    for (const Value& each : held) inner(each);
    lose_named_by(*scope);
  }
  if (function.stmt) run.lose_rebound(function.closure, function.stmt);
}

// Its methods may be called there.
void Interpreter::Escape::of_class(const values::Class& cls) {
  if (!cls.stmt || !cls.body) return;
  lose_filled_by_objects(run.heap(), cls);
  run.lose_rebound(cls.body, cls.stmt);
  for (const auto& [name, slot] : std::vector(cls.body->names.entries()))
    if (slot->value.is(Kind::function) &&
        slot->value.as<values::Function>()->closure != slot->value.as<values::Function>()->closure->globals)
      inner(slot->value);
}

// Unseen code may have communicated: nothing is known of how the content relates among ranks.
void Interpreter::Escape::of_tensor(values::Tensor& tensor) {
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
void Interpreter::Escape::lose_reached(Value part, int below) {
  constexpr int deepest_part = 4;            // what unseen code is handed it reaches through few attributes
  constexpr std::size_t most_visited = 128;  // each escape would cost the size of the model else
  part = run.resolve(part);
  if (below > deepest_part || ++visited_ > most_visited) return;
  switch (part.kind) {
  case Kind::function: {
    const auto* function = part.as<values::Function>();
    if (function->stmt) return run.lose_rebound(function->closure, function->stmt);
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
      run.lose_rebound(cls->body, cls->stmt);
    for (const auto& [name, slot] : std::vector(object->attributes.entries()))
      lose_reached(slot->value, below + 1);
    return;
  }
  default: return;
  }
}

void Interpreter::Escape::lose_named_by(const values::Scope& scope) {
  for (const auto& [name, slot] : std::vector(scope.names.entries())) {
    const Value beside = slot->value;
    if (beside.is(Kind::function) && beside.as<values::Function>()->stmt)
      run.lose_rebound(&scope, beside.as<values::Function>()->stmt);
    if (beside.is(Kind::class_) && beside.as<values::Class>()->stmt)
      run.lose_rebound(&scope, beside.as<values::Class>()->stmt);
  }
}

void Interpreter::note_gradient_written(Value of, Place where, const Row* by) {
  // An optimizer that the program writes works on gradients, as every other does.
  for (const CallSite* call = site_; call; call = call->outer)
    if (const values::Class* cls = call->function ? call->function->owner : nullptr; cls && cls->native &&
        cls->native->row && cls->native->row->operation == values::Operation::optimizer_made)
      return;
  OperationEvent* event = note_tensor_set("grad.__set__", of, where);
  if (!event) return;
  event->tensors.resize(1);
  event->by = by;
}

void Interpreter::note_weights_written(Value weights, Value numbers, Place where) {
  OperationEvent* event = note_tensor_set("data.__set__", weights, where);
  if (!event) return;
  event->arguments = {numbers};
  event->tensors = {weights.as<values::Tensor>()->now(), numbers.as<values::Tensor>()->now()};
}

// As if the attribute of a tensor were assigned to. Null in a run whose events nobody reads.
OperationEvent* Interpreter::note_tensor_set(std::string_view attribute, Value of, Place where) {
  const Row* row = dry_runs_ > 0 ? nullptr : method_row(library_.types().tensor, attribute);
  if (!row) return nullptr;
  auto* event = record_.event<OperationEvent>();
  event->place = where;
  event->calls = site_;
  event->row = row;
  event->self = resolve(of);
  event->around = around_;
  append(event);
  return event;
}

void Interpreter::note_seed(Value seed, std::optional<Stream> stream, bool partly) {
  Seeds seeds = Seeds::unknown;
  seed = resolve(seed);
  if (seed && !heap().is_unseen(seed))
    seeds = heap().sharing(seed) == Sharing::uniform ? Seeds::same : Seeds::by_rank;
  // The last seed holds, where it is set for certain.
  const bool certain = !partly && path_.empty() && generic_depth_ == 0;
  for (std::size_t i = 0; i < seeds_.size(); ++i)
    if (Seeds& own = seeds_[i]; !stream || i == static_cast<std::size_t>(*stream))
      own = certain || own == Seeds::never || own == seeds ? seeds : Seeds::unknown;
}

namespace {
// A dictionary as it is now: whoever has it may change it. Others, and those of which not all is known, are
// themselves.
Value as_it_is(values::Heap& heap, Value value) {
  if (!value.is(Kind::dict)) return value;
  const auto* state = values::Heap::dict_state(value);
  if (state->open || state->items.empty() || state->items.size() > most_kept) return value;
  const Value now = heap.dict(std::vector(state->items));
  now.object()->born = value.object()->born;
  return now;
}
}  // namespace

std::string imported_from(Value function) {
  if (!function.is(Kind::unknown)) return {};
  const auto* called = function.as<values::Unknown>();
  const Value module = called->attributes.value(Name(values::UnknownState::imported));
  if (module.is(Kind::string)) return std::string(module.text()) + "." + std::string(called->name);
  return called->name.find('.') == std::string_view::npos ? std::string() : std::string(called->name);
}

// Objects that are handed to what is not seen may be used there.
void Interpreter::record_unseen(Value function, const Arguments& arguments, Place where) {
  if (dry_runs_ > 0) return;
  if (const std::string called = arguments.keywords.empty() ? std::string() : imported_from(function);
      !called.empty() && library_.find(values::InternalRow::settings + called)) {
    std::vector<std::pair<Value, Value>> settings;
    for (const auto& [name, argument] : arguments.keywords)
      settings.emplace_back(heap().string(name.text()), as_it_is(heap(), resolve(argument)));
    const bool open = arguments.spread || !arguments.positional.empty();
    if (OperationEvent* event = record_implied(values::InternalRow::settings + called, function,
            {heap().dict(std::move(settings), open)}, {}, where))
      append(event);
  }
  std::vector<Value> handed;
  const auto look = [&](Value value) {
    value = resolve(value);
    switch (value.kind) {
    case Kind::dict: {
      handed.push_back(value);
      if (const Value now = as_it_is(heap(), value); !(now == value)) handed.push_back(now);
      return;
    }
    case Kind::instance:
    case Kind::list:
    case Kind::tuple:
    case Kind::function:
    case Kind::bound:
    case Kind::iterator:
    case Kind::choice: handed.push_back(value); return;
    case Kind::tensor:
      if (value.as<values::Tensor>()->now()->is_gradient) handed.push_back(value);
      return;
    case Kind::unknown:
      if (value.as<values::Unknown>()->is_gradient) handed.push_back(value);
      return;
    default: return;
    }
  };
  for (const Value& argument : arguments.positional) look(argument);
  for (const auto& [name, argument] : arguments.keywords) look(argument);
  const Row* row = handed.empty() ? nullptr : library_.find(values::InternalRow::unseen);
  if (!row) return;
  auto* event = record_.event<OperationEvent>();
  event->place = where;
  event->calls = site_;
  event->row = row;
  event->self = function;
  event->arguments = {heap().tuple(std::move(handed))};
  event->tensors.resize(2);
  event->lists.resize(event->arguments.size());
  event->around = around_;
  append(event);
}

namespace {
// A method of tensors, of something that is known to differ from rank to rank: so does what it gives.
bool is_of_own_data(Interpreter& run, Value function) {
  if (!function.is(Kind::unknown)) return false;
  const auto& method = *function.as<values::Unknown>();
  const Value object = method.attributes.value(Name(values::UnknownState::whole));
  if (!object.is(Kind::unknown)) return false;
  const auto& of = *object.as<values::Unknown>();
  const Row* row = run.method_row(
      run.library().types().tensor, Name(method.name.substr(method.name.rfind('.') + 1)));
  return row && (row->op || row->operation == values::Operation::transfer) && of.sharing == Sharing::local;
}
}  // namespace

namespace {
// "swiglu": the library knows it for an activation that halves what it is given.
bool names_gate(Interpreter& run, Value argument) {
  return argument.is(Kind::string) &&
      run.library().find(values::InternalRow::keeps_size + ("!" + std::string(argument.text())));
}

// `is_main_process()`, `get_rank()` of a module that is not seen: absent of what is called otherwise, and
// where no rank is run.
Value asked_for_rank(Interpreter& run, std::string_view function, const Arguments& arguments) {
  if (!arguments.positional.empty() || !arguments.keywords.empty() || arguments.spread) return {};
  const auto meant = run.library().presume(std::string(function.substr(function.rfind('.') + 1)) + "()");
  if (!meant || meant->of_each || !(meant->is_main || meant->role == symbolic::Role::rank)) return {};
  static_cast<void>(run.role(symbolic::Role::rank));  // it was asked for
  if (!run.as_rank()) return {};
  const std::string text = "`" + std::string(function) + "()`";
  const Int rank = presumed_rank(
      run, text + (meant->is_main ? " is true on rank 0 alone" : " is the rank"), symbolic::Sharing::unseen);
  if (!meant->is_main) return Value::of(rank);
  return Value::of(run.symbols().compared(symbolic::Compare::eq, rank, run.symbols().constant(0)));
}
}  // namespace

Value Interpreter::call_unknown(Value function, const Arguments& arguments, Place where) {
  ++may_raise_;
  // A function that is running has shown what it does with what it gets: it is not run once more.
  const auto running = function.is(Kind::function) ? active_.find(function.as<values::Function>())
                                                   : active_.end();
  if (running == active_.end() || running->second == 0) record_unseen(function, arguments, where);
  note_unseen_communication(function, arguments, where);
  for (const Value& argument : arguments.positional) escape(argument);
  for (const auto& [name, argument] : arguments.keywords) escape(argument);
  if (function.is(Kind::unknown))  // it may be one of several that are known
    if (const Value functions = function.as<values::Unknown>()->attributes.value(
            Name(values::UnknownState::one_of)))
      escape(functions);
  if (function.is(Kind::unknown))
    if (const Value object = function.as<values::Unknown>()->attributes.value(
            Name(values::UnknownState::whole));
        object.is(Kind::unknown))
      lose_settings(*this, *object.as<values::Unknown>(), false);
  lose_patched(arguments, where);
  std::string name;
  if (function.is(Kind::unknown))
    name = function.as<values::Unknown>()->name;
  else if (function.is(Kind::function))
    name = function.as<values::Function>()->qualified;
  const auto dot = name.rfind('.');
  if (limits_.as_rank && dot != std::string::npos) resized_.insert("len(" + name.substr(0, dot) + ")");
  if (library_.seeds(std::string_view(name).substr(name.rfind('.') + 1)))
    note_seed(arguments.positional.empty() ? Value{} : arguments.positional[0]);
  const std::string called = name.empty() ? "" : name + "()";
  if (const Value asked = asked_for_rank(*this, name, arguments)) return asked;
  const Value made = heap().unseen(called, where);
  if (std::ranges::any_of(
          arguments.positional, [&](Value argument) { return names_gate(*this, resolve(argument)); }))
    heap().slot_of(made.as<values::Unknown>()->attributes, Name(values::UnseenActivationState::gated)).value =
        heap().boolean(true);
  if (is_of_own_data(*this, function)) made.as<values::Unknown>()->sharing = Sharing::local;
  if (function.is(Kind::unknown) && switches_ == 0 && (!around_ || around_->gradients != values::Known::no))
    note_computed(*this, made, function, name, arguments);
  note_transfer(*this, made, function, arguments);
  note_given_by(heap(), made, function);
  // Of an object that was asked for a mode it is recorded what it does, as of a module.
  if (const Role role =
          function.is(Kind::unknown) ? role_of(*this, *function.as<values::Unknown>(), arguments) : Role{};
      role.row && (role.row->run || role.row->operation != values::Operation::none)) {
    const Value object = Value::of(Kind::unknown, role.object);
    // `model = model.eval()` is the model.
    if (role.row->run) {
      const Value result = call_library(
          *library_symbol(role.row->path).as<values::LibrarySymbol>(), object, arguments, where, nullptr);
      if (result == object) return object;
    } else if (OperationEvent* event = record_implied(role.row->path, object, {}, made, where)) {
      append(event);
      if (role.row->operation == values::Operation::forward && !arguments.spread) {
        Arguments given = arguments;
        for (const auto& [keyword, value] : given.keywords) given.positional.push_back(value);
        given.keywords.clear();
        if (const Row* inputs = library_.find(values::InternalRow::given_together))
          call_library(
              *library_symbol(inputs->path).as<values::LibrarySymbol>(), object, given, where, nullptr);
      }
    }
  }
  note_looked_up(heap(), function, arguments, made);
  if (!arguments.spread && arguments.positional.empty() && arguments.keywords.empty())
    note_asked_ndim(*this, function, made);
  made.as<values::Unknown>()->poisoned = heap().is_poisoned(function) ||
      std::any_of(arguments.positional.begin(), arguments.positional.end(),
          [&](Value value) { return heap().is_poisoned(resolve(value)); });
  return made;
}

}  // namespace stepzero::interpreter
