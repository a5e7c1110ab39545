// Calls: binding arguments, running functions in place, generators, library rows, and code that is not seen.
#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr int max_depth = 60;
// A function inside itself under conditions that are not known ends by itself only if something else is known.
constexpr std::size_t most_operands = 64;  // of a list that an operation takes
constexpr int max_recursion = 2;
constexpr int max_certain_recursion = 50;
constexpr std::uint64_t recursion_steps = 40'000;  // of all calls inside one that recurs
} // namespace

Arguments Interpreter::evaluate_arguments(const CallExpr& expr) {
  Arguments arguments;
  arguments.positional = evaluate_elements(expr.arguments, arguments.spread, arguments.rest, &arguments.behind);
  for (const Keyword& keyword : expr.keywords) {
    const Value value = evaluate(*keyword.value);
    if (!keyword.name.empty()) {
      arguments.keywords.push_back({keyword.name, value});
      continue;
    }
    const Value mapping = resolve(value);
    const Value dict = mapping.is(Kind::instance) ? held(*mapping.as<values::Instance>()) : mapping;
    if (dict.is(Kind::dict)) {
      const auto* state = values::Heap::dict_state(dict);
      for (const auto& [key, item] : state->items) {
        const bool there = !item.is(Kind::choice) || (item.as<values::Choice>()->yes && item.as<values::Choice>()->no);
        if (key.is(Kind::string) && there) arguments.keywords.push_back({Name(key.text()), item});
        else arguments.spread = true;
      }
      arguments.spread = arguments.spread || state->open;
    } else {
      arguments.spread = true;
    }
  }
  return arguments;
}

Value Interpreter::evaluate_call(const CallExpr& expr) {
  callee_ = expr.function;
  const Value function = evaluate(*expr.function);
  callee_ = nullptr;
  if (killed_) return function;
  Arguments arguments = evaluate_arguments(expr);
  if (killed_) return heap().external("", here(expr));
  const Value target = resolve(function);
  if (target.is(Kind::library) && target.as<values::LibrarySymbol>()->path == "builtins.super" && frame_->function) {
    auto* super = heap().make<values::Super>();
    if (arguments.positional.size() == 2) {
      const Value after = resolve(arguments.positional[0]);
      super->after = after.is(Kind::class_) ? after.as<values::Class>() : nullptr;
      super->self = resolve(arguments.positional[1]);
    } else if (frame_->function->parameters && !frame_->function->parameters->list.empty()) {
      super->after = frame_->function->owner;
      const values::Slot* self = frame_->scope->names.find(frame_->function->parameters->list[0].name);
      if (self) super->self = resolve(self->value);
    }
    return Value::of(Kind::super, super);
  }
  return call(target, std::move(arguments), here(expr), &expr);
}

Value Interpreter::call(Value function, Arguments arguments, Place where, const CallExpr* expr) {
  function = resolve(function);
  if (!step(1 + arguments.positional.size() / 8) || arguments.positional.size() > most_arguments) return heap().external("", where);
  switch (function.kind) {
  case Kind::function: return call_function(*function.as<values::Function>(), std::move(arguments), where, {});
  case Kind::bound: {
    const auto* bound = function.as<values::Bound>();
    const Value inner = resolve(bound->function);
    if (inner.is(Kind::function)) return call_function(*inner.as<values::Function>(), std::move(arguments), where, bound->self);
    if (inner.is(Kind::library)) return call_library(*inner.as<values::LibrarySymbol>(), bound->self, std::move(arguments), where, expr);
    if (inner.is(Kind::string)) return call_method(bound->self, inner.text(), arguments, where);
    arguments.positional.insert(arguments.positional.begin(), bound->self);
    return call(inner, std::move(arguments), where, expr);
  }
  case Kind::partial: {
    const auto* partial = function.as<values::Partial>();
    arguments.positional.insert(arguments.positional.begin(), partial->arguments.begin(), partial->arguments.end());
    for (const auto& keyword : partial->keywords) {
      bool overridden = false;
      for (const auto& [name, value] : arguments.keywords) overridden = overridden || name == keyword.first;
      if (!overridden) arguments.keywords.push_back(keyword);
    }
    return call(partial->function, std::move(arguments), where, expr);
  }
  case Kind::class_: return instantiate(*function.as<values::Class>(), std::move(arguments), where, expr);
  case Kind::library: {
    const auto& found = *function.as<values::LibrarySymbol>();
    // A method taken from its class: the object comes first.
    if (found.row && found.row->kind == values::RowKind::method && !arguments.positional.empty()) {
      const Value self = resolve(arguments.positional.front());
      arguments.positional.erase(arguments.positional.begin());
      return call_library(found, self, std::move(arguments), where, expr);
    }
    return call_library(found, {}, std::move(arguments), where, expr);
  }
  case Kind::super: return call_unknown(function, arguments, where);
  case Kind::instance: {
    auto* object = function.as<values::Instance>();
    if (const Value method = find_method(object, Name("__call__"))) return call(method, std::move(arguments), where, expr);
    if (expr) library_.unseen_call(*this, arguments.positional, arguments.keywords, *expr, where);
    return call_unknown(function, arguments, where);
  }
  case Kind::choice:
    return over_choices(function, [&](Value side) { return call(side, arguments, where, expr); }, where);
  default:
    if (expr && !arguments.spread) library_.unseen_call(*this, arguments.positional, arguments.keywords, *expr, where);
    return call_unknown(function, arguments, where);
  }
}

// ---------------------------------------------------------------- functions of the program

bool Interpreter::bind(const values::Function& function, Arguments& arguments, values::Scope& scope) {
  const auto& list = function.parameters->list;
  std::vector<Value> bound(list.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Parameter& parameter = list[i];
    if (parameter.kind == ParameterKind::var_positional) {
      std::vector<Value> rest;
      while (next < arguments.positional.size()) rest.push_back(arguments.positional[next++]);
      bound[i] = arguments.spread ? heap().open_list(heap().external("")) : heap().tuple(std::move(rest));
    } else if (parameter.kind == ParameterKind::positional_only || parameter.kind == ParameterKind::normal) {
      if (next < arguments.positional.size()) bound[i] = arguments.positional[next++];
    }
  }
  std::vector<std::pair<Value, Value>> options;
  std::ptrdiff_t options_at = -1;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].kind == ParameterKind::var_keyword) options_at = static_cast<std::ptrdiff_t>(i);
  bool fits = next == arguments.positional.size();
  for (const auto& [name, value] : arguments.keywords) {
    bool found = false;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].name == name && list[i].kind != ParameterKind::var_positional && list[i].kind != ParameterKind::var_keyword &&
          list[i].kind != ParameterKind::positional_only) {
        bound[i] = value;
        found = true;
      }
    if (!found && options_at >= 0) options.push_back({heap().string(name.text()), value});
    else if (!found) fits = false;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (static_cast<std::ptrdiff_t>(i) == options_at)
      bound[i] = heap().dict(std::move(options), arguments.spread, arguments.spread ? heap().external("") : Value{});
    if (!bound[i] && arguments.spread) bound[i] = heap().unknown(list[i].name.text(), Sharing::local);
    if (!bound[i] && i < function.defaults.size()) bound[i] = function.defaults[i];
    if (!bound[i]) {
      bound[i] = heap().external(list[i].name.text());
      fits = false;
    }
    heap().set(heap().slot_of(scope.names, list[i].name), bound[i]);
  }
  return fits;
}

bool Interpreter::recurs_too_far(const values::Function& function) {
  const auto active = active_.find(&function);
  if (active == active_.end() || active->second < max_recursion) return false;
  if (active->second >= max_certain_recursion) return true;
  // The outermost call of the function that is still running: has anything since then depended on what is not known?
  const Frame* outermost = nullptr;
  for (const Frame* frame = frame_; frame; frame = frame->outer)
    if (frame->function == &function) outermost = frame;
  return !outermost || path_.size() > outermost->depth || generic_depth_ > outermost->generic_depth || record_.steps - outermost->steps > recursion_steps;
}

Value Interpreter::call_function(const values::Function& function, Arguments arguments, Place where, Value bound_self) {
  if (function.stmt) reached_[function.stmt] = true;
  if (bound_self) arguments.positional.insert(arguments.positional.begin(), bound_self);
  if (!function.parameters || depth_ >= max_depth || recurs_too_far(function) || !step())
    return call_unknown(Value::of(Kind::function, &function), arguments, where);
  auto* scope = heap().make<values::Scope>();
  scope->parent = function.closure;
  scope->globals = function.closure ? function.closure->globals : nullptr;
  scope->info = function.stmt ? &function.stmt->scope : nullptr;
  bind(function, arguments, *scope);
  for (const Parameter& parameter : function.parameters->list)
    if (parameter.annotation)
      if (const values::Slot* slot = scope->names.find(parameter.name)) judge_annotation(parameter.annotation, function.chunk, slot->value, where, parameter.name.text());
  if (function.stmt && function.stmt->scope.is_generator) {
    auto* generator = heap().make<values::Iterator>();
    generator->pending = &function;
    generator->scope = scope;
    generator->born = where;
    return Value::of(Kind::iterator, generator);
  }
  if (function.wrapped_guard)
    return fork_value(
        truth(function.wrapped_guard), where, [&] { return run_function(function, scope, where, nullptr); },
        [] { return Value::none(); });
  return run_function(function, scope, where, nullptr);
}

Value Interpreter::run_function(const values::Function& function, values::Scope* scope, Place where,
                                std::function<Value(Value)>* on_yield) {
  auto site = std::make_unique<CallSite>(CallSite{where, &function, site_});
  record_.sites.push_back(std::move(site));
  auto* event = record_.event<CallEvent>();
  event->place = where;
  event->calls = site_;
  event->function = &function;

  Frame frame;
  frame.scope = scope;
  frame.function = &function;
  frame.site = record_.sites.back().get();
  frame.chunk = function.chunk;
  frame.mark = heap().mark();
  frame.depth = path_.size();
  frame.generic_depth = generic_depth_;
  frame.steps = record_.steps;
  frame.on_yield = on_yield;
  frame.outer = frame_;
  Block* const block = block_;
  const CallSite* const outer_site = site_;
  const std::uint32_t outer_chunk = chunk_;
  const auto facts = symbols().mark();
  frame_ = &frame;
  site_ = frame.site;
  chunk_ = function.chunk;
  block_ = &event->body;
  // What the program itself does with a function is told; what one that nobody calls would do with it is not.
  const bool quiet = in_roots_ && function.stmt && ran_.contains(function.stmt);
  quiet_ += quiet;
  ++depth_;
  ++active_[&function];

  Value result = Value::none();
  Flow flow = Flow::normal;
  if (function.lambda) {
    result = evaluate(*function.lambda->body);
    if (killed_) flow = Flow::dead;
  } else {
    // What the body learns of a parameter was so from the beginning: it is told behind the body.
    std::vector<std::pair<const Parameter*, Value>> given;
    for (const Parameter& parameter : function.parameters->list)
      if (const values::Slot* slot = scope->names.find(parameter.name)) given.emplace_back(&parameter, slot->value);
    flow = run_block(function.stmt->body);
    for (const auto& [parameter, value] : given) note(Fact::Role::parameter, {chunk_, parameter->span}, value);
  }
  flow = merge_exits({frame.mark, facts, frame.depth}, frame.returns, flow, &result, false);

  --active_[&function];
  --depth_;
  quiet_ -= quiet;
  block_ = block;
  chunk_ = outer_chunk;
  site_ = outer_site;
  frame_ = frame.outer;
  path_.resize(frame.depth);
  if (!event->body.events.empty()) append(event);
  if (flow == Flow::dead) {
    // No path comes back. A method that only raises is there to be overridden.
    const bool abstract = function.owner && function.stmt && function.stmt->body.size() <= 2 &&
                          function.stmt->body.back()->kind == StmtKind::raise && catching_ == 0;
    killed_ = !abstract;
    return heap().external("", where);
  }
  return result;
}

Value Interpreter::drain(Value generator, Place where, std::function<Value(Value)>& consume) {
  auto* iterator = generator.as<values::Iterator>();
  const values::Function& function = *iterator->pending;
  heap().set_list(generator, {});  // it runs once
  if (depth_ >= max_depth || recurs_too_far(function)) return consume(heap().external("", where));
  return run_function(function, iterator->scope, where, &consume);
}

std::vector<Value> Interpreter::evaluate_defaults(const Parameters& parameters) {
  std::vector<Value> defaults;
  for (const Parameter& parameter : parameters.list)
    defaults.push_back(parameter.default_value ? evaluate(*parameter.default_value) : Value{});
  return defaults;
}

Value Interpreter::make_function(const FunctionStmt& stmt) {
  auto* function = heap().make<values::Function>();
  function->name = stmt.name;
  function->stmt = &stmt;
  function->parameters = stmt.parameters;
  function->chunk = chunk_;
  function->closure = frame_->scope;
  function->owner = frame_->scope->is_class ? frame_->scope->cls : nullptr;
  function->born = {chunk_, stmt.name_span};
  function->defaults = evaluate_defaults(*stmt.parameters);
  function->qualified = stmt.name.text();
  if (rehearsals_ == 0 && record_.chunks[chunk_].path == main_path_) {
    auto [it, inserted] = functions_.try_emplace(&stmt, function);
    if (inserted) function_order_.push_back(function);
    it->second = function;
  }
  return decorate(Value::of(Kind::function, function), stmt);
}

Value Interpreter::make_lambda(const LambdaExpr& expr) {
  auto* function = heap().make<values::Function>();
  function->lambda = &expr;
  function->parameters = expr.parameters;
  function->chunk = chunk_;
  function->closure = frame_->scope;
  function->born = here(expr);
  function->defaults = evaluate_defaults(*expr.parameters);
  function->qualified = "lambda";
  return Value::of(Kind::function, function);
}

Value Interpreter::decorate(Value value, const FunctionStmt& stmt) {
  auto* const original = value.as<values::Function>();
  for (auto it = stmt.decorators.rbegin(); it != stmt.decorators.rend(); ++it) {
    const Value decorator = resolve(evaluate(**it));
    if (!decorator.is(Kind::library) && !decorates(decorator)) continue;
    if (decorator.is(Kind::library)) {
      // What is still the function itself is marked in place.
      auto* function = value.is(Kind::function) ? value.as<values::Function>() : original;
      const std::string_view path = decorator.as<values::LibrarySymbol>()->path;
      if (path == "builtins.staticmethod") function->is_static = true;
      else if (path == "builtins.classmethod") function->is_class_method = true;
      else if (path == "builtins.property") function->is_property = true;
      else if (path == "functools.cached_property") function->is_property = function->is_cached = true;
      else if (path == "contextlib.contextmanager") function->is_context_manager = true;
      else if (const Row* row = decorator.as<values::LibrarySymbol>()->row; row && row->run) {
        const Value made = resolve(call(decorator, {{value}, {}, false}, here(**it)));
        if (made.is(Kind::boolean)) function->wrapped_guard = made;  // the ranks that run it
        else if (made.is(Kind::function) || made.is(Kind::partial) || made.is(Kind::bound)) value = made;
      }
      continue;
    }
    const Value made = resolve(call(decorator, {{value}, {}, false}, here(**it)));
    if (made.is(Kind::boolean) && value.is(Kind::function) && decorator.is(Kind::partial)) value.as<values::Function>()->wrapped_guard = made;
    if (made.is(Kind::function) || made.is(Kind::partial) || made.is(Kind::bound) || made.is(Kind::class_)) value = made;
    else if (made.is(Kind::instance) && made.as<values::Instance>()->cls) value = made;
  }
  killed_ = false;
  return value;
}

// ---------------------------------------------------------------- libraries

Value Interpreter::library_symbol(std::string_view path) {
  if (const auto known = spellings_.find(path); known != spellings_.end()) return Value::of(Kind::library, known->second);
  const std::string canonical(library_.canonical(path));
  auto it = library_symbols_.find(canonical);
  if (it == library_symbols_.end()) {
    auto* made = heap().make<values::LibrarySymbol>();
    made->path = heap().keep(canonical);
    made->row = library_.find(canonical);
    it = library_symbols_.emplace(canonical, made).first;
  }
  spellings_.emplace(path, it->second);
  return Value::of(Kind::library, it->second);
}

const Row* Interpreter::method_row(std::string_view class_path, Name method) const {
  const auto [known, fresh] = method_rows_.try_emplace({class_path.data(), method}, nullptr);
  if (!fresh) return known->second;
  for (int i = 0; i < 8 && !class_path.empty(); ++i) {
    if (const Row* row = library_.find(std::string(class_path) + "." + std::string(method.text()))) return known->second = row;
    const Row* cls = library_.find(class_path);
    if (!cls) break;
    class_path = cls->base;
  }
  return nullptr;
}

const Row* Interpreter::constructor_row(std::string_view class_path) const {
  const Row* first = library_.find(class_path);
  for (int i = 0; i < 8 && !class_path.empty(); ++i) {
    if (const Row* init = library_.find(std::string(class_path) + ".__init__")) return init;
    const Row* cls = library_.find(class_path);
    if (!cls || cls->run) return cls;
    class_path = cls->base;
  }
  return first;
}

values::Instance* Interpreter::make_native(std::string_view class_path, Place where) {
  auto* object = heap().make<values::Instance>();
  object->native = library_symbol(class_path).as<values::LibrarySymbol>();
  object->born = where;
  object->open = true;
  return object;
}

bool Interpreter::is_a(Value object, std::string_view class_path) const {
  if (!object.is(Kind::instance)) return false;
  const auto* instance = object.as<values::Instance>();
  std::string_view at = instance->native ? instance->native->path
                        : instance->cls && instance->cls->native ? instance->cls->native->path
                                                                 : std::string_view{};
  for (int i = 0; i < 8 && !at.empty(); ++i) {
    if (at == class_path) return true;
    const Row* row = library_.find(at);
    if (!row) return false;
    at = row->base;
  }
  return false;
}

Value Interpreter::call_library(const values::LibrarySymbol& symbol_called, Value self, Arguments arguments, Place where,
                                const CallExpr* expr) {
  if (symbol_called.path.starts_with("builtins.") && !symbol_called.row) {
    if (self) arguments.positional.insert(arguments.positional.begin(), self);
    return call_builtin(symbol_called.path.substr(9), arguments, where, expr);
  }
  const Row* row = symbol_called.row;
  if (!row) return call_unknown(Value::of(Kind::library, &symbol_called), arguments, where);
  if (!row->pure) ++may_raise_;

  // Operations on operands that are not the same on every path are run for each of them.
  if (row->op) {
    if (self.is(Kind::choice))
      return over_choices(self, [&](Value side) { return call_library(symbol_called, side, arguments, where, expr); }, where);
    for (std::size_t i = 0; i < arguments.positional.size(); ++i)
      if (const Value argument = resolve(arguments.positional[i]); argument.is(Kind::choice))
        return over_choices(
            argument,
            [&](Value side) {
              Arguments one = arguments;
              one.positional[i] = side;
              return call_library(symbol_called, self, std::move(one), where, expr);
            },
            where);
    if (self && row->self_first) arguments.positional.insert(arguments.positional.begin(), self);
  }
  Call made{*this, *row, self, {}, {}, {}, {}, arguments.spread, expr, expr, where};
  made.behind = arguments.behind;
  made.arguments.resize(row->parameters.size());
  made.given.resize(row->parameters.size());
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    if (i < row->positional) {
      made.arguments[i] = arguments.positional[i];
      made.given[i] = true;
    } else {
      made.rest.push_back(arguments.positional[i]);
    }
  }
  for (const auto& [name, value] : arguments.keywords) {
    std::size_t i = 0;
    while (i < row->parameters.size() && !(row->parameters[i] == name)) ++i;
    if (i < row->parameters.size()) {
      made.arguments[i] = value;
      made.given[i] = true;
    } else {
      made.options.push_back({name, value});
    }
  }
  for (std::size_t i = 0; i < row->parameters.size(); ++i)
    if (!made.given[i] && !arguments.spread && i < row->defaults.size()) {
      const values::Constant& constant = row->defaults[i];
      switch (constant.kind) {
      case Kind::none: made.arguments[i] = Value::none(); break;
      case Kind::boolean: made.arguments[i] = heap().boolean(constant.integer != 0); break;
      case Kind::integer: made.arguments[i] = heap().integer(constant.integer); break;
      case Kind::real: made.arguments[i] = Value::of(constant.real); break;
      case Kind::string: made.arguments[i] = heap().string(constant.text); break;
      default: break;
      }
    }

  if (row->kind == values::RowKind::class_) {
    const bool is_init = static_cast<bool>(self);
    if (!is_init) {
      auto* object = make_native(row->path, where);
      made.self = Value::of(Kind::instance, object);
    }
    Value result = row->run ? row->run(made) : Value{};
    if (!result) result = made.self;
    record_operation(made, result);
    return is_init ? Value::none() : result;
  }
  // Operations on arguments that are not the same on every path are run for each of them.
  if (self.is(Kind::choice))
    return over_choices(self, [&](Value side) { return call_library(symbol_called, side, arguments, where, expr); }, where);
  Value result;
  if (row->run) {
    result = row->run(made);
  } else {
    std::vector<Value> sources = arguments.positional;
    sources.push_back(self);
    for (const auto& [name, argument] : arguments.keywords) sources.push_back(argument);
    result = heap().unknown_from(sources, where);
  }
  record_operation(made, result);
  return result;
}

void Interpreter::record_operation(const Call& called, Value result, Value extra_self) {
  if (called.row.operation == values::Operation::none || rehearsals_ > 0) return;
  auto* event = record_.event<OperationEvent>();
  event->place = called.place;
  event->calls = site_;
  event->row = &called.row;
  event->expr = called.expr;
  event->self = resolve(extra_self ? extra_self : called.self);
  event->arguments = called.arguments;
  event->result = result;
  event->expected = expected_ > 0;
  const auto state = [&](Value value) -> const values::TensorState* {
    value = resolve(value);
    if (value.is(Kind::unknown)) value = value.as<values::Unknown>()->state.value;
    return value.is(Kind::tensor) ? value.as<values::Tensor>()->now() : nullptr;
  };
  event->tensors.push_back(state(event->self));
  for (Value& argument : event->arguments) {
    argument = resolve(argument);
    event->tensors.push_back(state(argument));
    event->lists.push_back(argument.is(Kind::list) ? values::Heap::list_state(argument) : nullptr);
  }
  append(event);
}

// The arguments, what lies in lists and tuples of them, and the object.
void Interpreter::each_operand(const Call& called, const std::function<void(Value)>& look) {
  for (const auto* part : {&called.arguments, &called.rest})
    for (const Value& argument : *part) {
      const Value operand = resolve(argument);
      look(operand);
      if (const auto* items = operand.is(Kind::tuple)  ? &operand.as<values::Tuple>()->items
                              : operand.is(Kind::list) ? &values::Heap::list_state(operand)->items
                                                       : nullptr)
        for (std::size_t i = 0; i < items->size() && i < most_operands; ++i) look(resolve((*items)[i]));
    }
  look(resolve(called.self));
}

void Interpreter::blame(const Call& called) {
  each_operand(called, [&](Value operand) { heap().blame(operand); });
}

ProblemEvent* Interpreter::problem(values::ProblemKind kind, const Call& called, Cond when) {
  auto* event = record_.event<ProblemEvent>();
  event->problem = kind;
  event->place = called.place;
  event->calls = site_;
  event->row = &called.row;
  event->expr = called.expr;
  event->node = called.node;
  event->self = called.self;
  bool again = false;
  each_operand(called, [&](Value operand) { again = again || heap().is_blamed(operand); });
  event->guarded = guards_ > 0 || expected_ > 0 || again;
  event->assumption = assumption();
  if (when) event->assumption = event->assumption ? symbols().logical_and(event->assumption, when) : when;
  if (!event->guarded && !event->assumption && kind < values::ProblemKind::first_without_failure) blame(called);
  if (rehearsals_ == 0) append(event);
  return event;
}

// ---------------------------------------------------------------- code that is not seen

void Interpreter::escape(Value value, int depth) {
  value = resolve(value);
  if (depth > 2) return;
  switch (value.kind) {
  case Kind::choice:
    escape(value.as<values::Choice>()->yes, depth);
    escape(value.as<values::Choice>()->no, depth);
    return;
  case Kind::list: {
    values::ListState state = *values::Heap::list_state(value);
    if (state.open && state.rest.is(Kind::unknown) && state.rest.as<values::Unknown>()->external) return;
    for (const Value& item : state.items) escape(item, depth + 1);
    state.open = true;
    state.length = nullptr;
    state.rest = heap().external("");
    state.items.clear();
    heap().set_list(value, std::move(state));
    return;
  }
  case Kind::dict: {
    values::DictState state = *values::Heap::dict_state(value);
    state.open = true;
    state.rest = heap().external("");
    heap().set_dict(value, std::move(state));
    return;
  }
  case Kind::tuple:
    for (const Value& item : value.as<values::Tuple>()->items) escape(item, depth + 1);
    return;
  case Kind::tensor: {
    // Unseen code may have communicated: nothing is known of how the content relates among ranks.
    values::TensorState state = *value.as<values::Tensor>()->now();
    if (state.external) return;
    state.external = true;
    state.sharing = Sharing::local;
    state.content = {};
    heap().set(value.as<values::Tensor>()->state, Value::of(Kind::state, heap().state(state)));
    return;
  }
  default: return;
  }
}

Value Interpreter::call_unknown(Value function, const Arguments& arguments, Place where) {
  ++may_raise_;
  for (const Value& argument : arguments.positional) escape(argument);
  for (const auto& [name, argument] : arguments.keywords) escape(argument);
  std::string name;
  if (function.is(Kind::unknown)) name = function.as<values::Unknown>()->name;
  else if (function.is(Kind::function)) name = function.as<values::Function>()->qualified;
  const Value made = heap().external(name.empty() ? "" : name + "()", where);
  made.as<values::Unknown>()->blamed = heap().is_blamed(function) ||
                                       std::any_of(arguments.positional.begin(), arguments.positional.end(), [&](Value value) { return heap().is_blamed(resolve(value)); });
  return made;
}

} // namespace stepzero::interpreter
