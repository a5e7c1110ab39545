// Calls of what the program defines: binding arguments, running functions in place, generators, decorators.
#include "interpreter/calls/no_result.hpp"
#include "interpreter/calls/own_calls.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/loops/alike.hpp"
#include "interpreter/paths/speculation.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr int max_depth = 60;
// A function inside itself under conditions that are not known ends by itself only if something else is
// known.
constexpr int max_recursion = 2;
constexpr int max_certain_recursion = 50;
constexpr std::uint64_t recursion_steps = 40'000;  // of all calls inside one that recurs
}  // namespace

Arguments Interpreter::evaluate_arguments(const CallExpr& expr) {
  Arguments arguments;
  arguments.positional = evaluate_elements(expr.arguments, arguments.spread, arguments.rest, &arguments);
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
        const bool there = !item.is(Kind::choice) ||
            (item.as<values::Choice>()->yes && item.as<values::Choice>()->no);
        if (key.is(Kind::string) && there)
          arguments.keywords.push_back({Name(key.text()), item});
        else
          arguments.spread = true;
      }
      arguments.spread = arguments.spread || state->open;
    } else {
      arguments.spread = true;
    }
  }
  return arguments;
}

namespace {
// Of `x.flatten(start_dim=1)` the keyword tells what the unknown `x` is: the method of the library's class
// that alone takes it. Absent: none does.
Value told_by_keyword(Interpreter& run, const CallExpr& expr, Value function,
    const std::function<Value(const Expr&)>& value_of) {
  if (!function.is(Kind::unknown) || expr.function->kind != ExprKind::attribute) return {};
  const auto& access = as<AttributeExpr>(*expr.function);
  if (access.object->kind != ExprKind::name) return {};
  for (const Keyword& keyword : expr.keywords) {
    const std::string_view path = run.library().presume_method(
        std::string(access.attribute.text()) + " " + std::string(keyword.name.text()));
    if (path.empty()) continue;
    const Value object = run.resolve(value_of(*access.object));
    if (!object.is(Kind::unknown) ||
        object.as<values::Unknown>()->attributes.find(Name(values::UnknownState::declared)))
      return {};
    auto* bound = run.heap().make<values::Bound>();
    bound->self = object;
    bound->function = run.library_symbol(path);
    return Value::of(Kind::bound, bound);
  }
  return {};
}
}  // namespace

// The only argument of what reads it to its end, as sum() and list() do; null: of something else.
const Expr* Interpreter::read_to_its_end(Value function, const CallExpr& expr) const {
  const bool reads = expr.arguments.size() == 1 && function.is(Kind::library) &&
      library_.find(values::InternalRow::reads_all + std::string(function.as<values::LibrarySymbol>()->path));
  return reads ? expr.arguments.front() : nullptr;
}

Value Interpreter::evaluate_call(const CallExpr& expr) {
  callee_ = expr.function;
  Value function = evaluate(*expr.function);
  callee_ = nullptr;
  if (killed_) return function;
  const Expr* const read_around = std::exchange(read_whole_, read_to_its_end(resolve(function), expr));
  Arguments arguments = evaluate_arguments(expr);
  read_whole_ = read_around;
  if (killed_) return heap().external("", here(expr));
  if (const Value told = told_by_keyword(
          *this, expr, resolve(function), [&](const Expr& object) { return evaluate(object); }))
    function = told;
  const Value target = resolve(function);
  if (target.is(Kind::library) && target.as<values::LibrarySymbol>()->path == "builtins.super" &&
      frame_->function) {
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

namespace {
// What is called like an activation is taken to keep the size of what it is given. What follows from that is
// likely, and no proof: the function lies in the graph of the result, with a mark.
Value presumed_size(
    Interpreter& run, Value function, const CallExpr& expr, Value given, Value made, Place where) {
  if (!function.is(Kind::unknown) || !made.is(Kind::unknown) || run.records_gradients() != values::Known::yes)
    return made;
  const Expr& callee = *expr.function;
  const std::string_view name = callee.kind == ExprKind::attribute
      ? as<AttributeExpr>(callee).attribute.text()
      : callee.kind == ExprKind::name ? as<NameExpr>(callee).id.text()
                                      : std::string_view();
  const values::TensorState* from = given.as<values::Tensor>()->now();
  if (name.empty() || from->blamed || from->shape.dims.empty() ||
      !run.library().find(values::InternalRow::keeps_size + std::string(name)))
    return made;
  values::TensorState state = *from;
  state.content = nullptr;
  state.extent = nullptr;
  state.made = nullptr;
  state.outcome = nullptr;
  state.mean = nullptr;
  state.crossed = nullptr;
  state.first.clear();
  state.strides.clear();
  state.shape_value = {};
  state.external = true;
  state.requires_grad = values::Known::unknown;
  state.graph_complete = false;
  run.heap()
      .slot_of(function.as<values::Unknown>()->attributes, Name(values::UnknownState::keeps_size))
      .value = run.heap().boolean(true);
  state.graph.push_back(function.object());
  return run.heap().tensor(std::move(state), where);
}
}  // namespace

namespace {
// `torch.no_grad()(evaluate)`: the same function, which runs inside of the manager. Absent: the call is
// another.
Value inside(Interpreter& run, Value manager, const Arguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.keywords.empty() || arguments.spread ||
      !run.is_a(manager, run.library().types().context))
    return {};
  const Value given = run.resolve(arguments.positional.front());
  if (!given.is(Kind::function)) return {};
  const auto& function = *given.as<values::Function>();
  auto* made = run.heap().make<values::Function>();
  made->name = function.name;
  made->stmt = function.stmt;
  made->lambda = function.lambda;
  made->parameters = function.parameters;
  made->chunk = function.chunk;
  made->closure = function.closure;
  made->owner = function.owner;
  made->defaults = function.defaults;
  made->is_static = function.is_static;
  made->wrapped_unseen = function.wrapped_unseen;
  made->altered = function.altered;
  made->contexts = function.contexts;
  made->contexts.push_back(manager);
  made->wrapped_guard = function.wrapped_guard;
  made->qualified = function.qualified;
  made->born = function.born;
  return Value::of(Kind::function, made);
}
// The manager that a decorator made a function run in; absent: it made something else of it.
Value entered_by(Interpreter& run, Value made, const values::Function& original) {
  if (made.is(Kind::choice)) {
    const auto* choice = made.as<values::Choice>();
    const Value yes = entered_by(run, run.resolve(choice->yes), original),
                no = entered_by(run, run.resolve(choice->no), original);
    return yes && no ? run.heap().choose(choice->condition, yes, no) : Value{};
  }
  if (!made.is(Kind::function)) return {};
  const auto& function = *made.as<values::Function>();
  return function.stmt == original.stmt && function.contexts.size() == original.contexts.size() + 1
      ? function.contexts.back()
      : Value{};
}
}  // namespace

Value Interpreter::call(Value function, Arguments arguments, Place where, const CallExpr* expr) {
  function = resolve(function);
  if (!step(1 + arguments.positional.size() / 8) || arguments.positional.size() > most_arguments)
    return heap().external("", where);
  switch (function.kind) {
  case Kind::function:
    return call_function(*function.as<values::Function>(), std::move(arguments), where, {}, expr);
  case Kind::bound: {
    const auto* bound = function.as<values::Bound>();
    const Value inner = resolve(bound->function);
    if (inner.is(Kind::function)) {
      const auto& method = *inner.as<values::Function>();
      const Value result = call_function(method, std::move(arguments), where, bound->self, expr);
      // An optimizer of the program's own: its step is a step, though no method of the library makes it.
      const auto* optimizer =
          method.stmt && bound->self.is(Kind::instance) ? bound->self.as<values::Instance>() : nullptr;
      const Row* row = optimizer && optimizer->cls && optimizer->cls->native
          ? method_row(optimizer->cls->native->path, method.name)
          : nullptr;
      const bool counts = row &&
          (row->operation == values::Operation::optimizer_step ||
              row->operation == values::Operation::zero_grad);
      if (counts && record_.text({method.chunk, method.stmt->span}).find("super(") == std::string_view::npos)
        static_cast<void>(call_library(
            *library_symbol(row->path).as<values::LibrarySymbol>(), bound->self, {}, where, expr));
      return result;
    }
    if (inner.is(Kind::library))
      return call_library(*inner.as<values::LibrarySymbol>(), bound->self, std::move(arguments), where, expr);
    if (inner.is(Kind::string)) return call_method(bound->self, inner.text(), arguments, where);
    arguments.positional.insert(arguments.positional.begin(), bound->self);
    return call(inner, std::move(arguments), where, expr);
  }
  case Kind::partial: {
    const auto* partial = function.as<values::Partial>();
    arguments.positional.insert(
        arguments.positional.begin(), partial->arguments.begin(), partial->arguments.end());
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
    if (answered_.first == object) return std::exchange(answered_, {}).second;
    if (const Value wrapped = inside(*this, function, arguments)) {
      if (unentered_ == object) unentered_ = nullptr;
      return wrapped;
    }
    if (const Value method = find_method(object, Name("__call__")))
      return call(method, std::move(arguments), where, expr);
    if (expr) library_.unseen_call(*this, arguments.positional, arguments.keywords, *expr, where);
    return call_unknown(function, arguments, where);
  }
  case Kind::choice:
    if (const Value given = without_none(*this, function); !given.is(Kind::choice))
      return call(given, std::move(arguments), where, expr);
    if (const auto* choice = function.as<values::Choice>();
        choice->yes.is(Kind::instance) && choice->no.is(Kind::instance)) {
      if (library_.wrapped(choice->yes) == choice->no)
        return call_wrapped(function, choice->yes, choice->no, std::move(arguments), where, expr);
      if (library_.wrapped(choice->no) == choice->yes)
        return call_wrapped(function, choice->no, choice->yes, std::move(arguments), where, expr);
    }
    return over_choices(function, [&](Value side) { return call(side, arguments, where, expr); }, where);
  default:
    if (expr) judge_callable(*this, function, *expr, where);
    if (expr && !arguments.spread)
      library_.unseen_call(*this, arguments.positional, arguments.keywords, *expr, where);
    const Value given = arguments.positional.size() == 1 && arguments.keywords.empty() && !arguments.spread
        ? resolve(arguments.positional[0])
        : Value{};
    const Value made = call_unknown(function, arguments, where);
    return expr && given.is(Kind::tensor) ? presumed_size(*this, function, *expr, given, made, where) : made;
  }
}

namespace {
// Tensors that differ in their devices alone, between which what is not known chooses: one on a device that
// is not known.
Value on_some_device(values::Heap& heap, Value value) {
  if (!value.is(Kind::choice)) return value;
  const Value yes = on_some_device(heap, value.as<values::Choice>()->yes),
              no = on_some_device(heap, value.as<values::Choice>()->no);
  if (!yes.is(Kind::tensor) || !no.is(Kind::tensor) ||
      yes.as<values::Tensor>()->role != no.as<values::Tensor>()->role)
    return value;
  const values::TensorState &a = *yes.as<values::Tensor>()->now(), &b = *no.as<values::Tensor>()->now();
  const auto same = [](const values::Dim& x, const values::Dim& y) { return x.size == y.size; };
  const bool alike = a.shape.rank_known == b.shape.rank_known &&
      std::equal(a.shape.dims.begin(), a.shape.dims.end(), b.shape.dims.begin(), b.shape.dims.end(), same) &&
      a.dtype == b.dtype && a.requires_grad == b.requires_grad && a.content == b.content &&
      a.external == b.external && a.graph.size() == b.graph.size();
  if (!alike) return value;
  values::TensorState state = a;
  state.device = nullptr;
  const Value made = heap.tensor(std::move(state), yes.object()->born);
  made.as<values::Tensor>()->role = yes.as<values::Tensor>()->role;
  return made;
}
}  // namespace

// `DDP(model) if distributed else model`: the module runs on both ways, and is run once. What the wrapper
// does besides is done on its own way.
Value Interpreter::call_wrapped(
    Value either, Value wrapper, Value module, Arguments arguments, Place where, const CallExpr* expr) {
  std::vector<Value> handed;
  const auto hand = [&](Value& given) { handed.push_back(given = on_some_device(heap(), resolve(given))); };
  for (Value& given : arguments.positional) hand(given);
  for (auto& [name, given] : arguments.keywords) hand(given);
  library_.hand_on(*this, handed);
  const Value result = call(module, arguments, where, expr);
  if (killed_) return result;
  const auto side = [&](Value part) {
    if (!(part == wrapper)) return result;
    const auto outer = std::exchange(answered_, {module.object(), result});
    const Value made = call(wrapper, arguments, where, expr);
    answered_ = outer;
    return made;
  };
  return over_choices(either, side, where);
}

// ---------------------------------------------------------------- functions of the program

bool Interpreter::bind(const values::Function& function, Arguments& arguments, values::Scope& scope) {
  const auto& list = function.parameters->list;
  std::vector<Value> bound(list.size());
  const std::size_t behind = arguments.spread ? std::min(arguments.behind, arguments.positional.size())
                                              : 0;  // something of unknown length
  const std::size_t in_front = arguments.positional.size() - behind;
  std::size_t next = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Parameter& parameter = list[i];
    if (parameter.kind == ParameterKind::var_positional) {
      std::vector<Value> rest;
      while (next < arguments.positional.size()) rest.push_back(arguments.positional[next++]);
      bound[i] = arguments.spread ? heap().open_list(heap().external(""), nullptr, values::ListKind::tuple)
                                  : heap().tuple(std::move(rest));
    } else if (parameter.kind == ParameterKind::positional_only || parameter.kind == ParameterKind::normal) {
      if (next < in_front) bound[i] = arguments.positional[next++];
    }
  }
  // `f(*unknown, y)`: where each parameter has to be given, the last one is y; else nobody knows which.
  if (behind > 0) {
    const bool each_given = arguments.keywords.empty() &&
        std::ranges::all_of(
            list, [](const Parameter& parameter) { return parameter.kind <= ParameterKind::normal; }) &&
        std::ranges::none_of(function.defaults, [](const Value& value) { return static_cast<bool>(value); });
    if (each_given && in_front + behind <= list.size())
      for (std::size_t i = 0; i < behind; ++i)
        bound[list.size() - behind + i] = arguments.positional[in_front + i];
    next = arguments.positional.size();
  }
  std::vector<std::pair<Value, Value>> options;
  std::ptrdiff_t options_at = -1;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].kind == ParameterKind::var_keyword) options_at = static_cast<std::ptrdiff_t>(i);
  // A decorator of which nothing is known may hand on more than it is given, as those of command lines do.
  const bool adds = function.wrapped_unseen;
  bool fits = next == arguments.positional.size();
  for (const auto& [name, value] : arguments.keywords) {
    bool found = false;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].name == name && list[i].kind != ParameterKind::var_positional &&
          list[i].kind != ParameterKind::var_keyword && list[i].kind != ParameterKind::positional_only) {
        bound[i] = value;
        found = true;
      }
    if (!found && options_at >= 0)
      options.push_back({heap().string(name.text()), value});
    else if (!found)
      fits = false;
  }
  // What has to be given and is not shows that it does: then it may give each of the others, too.
  bool filled = false;
  for (std::size_t i = 0; adds && i < list.size(); ++i)
    filled = filled ||
        (!bound[i] && list[i].kind != ParameterKind::var_keyword &&
            (i >= function.defaults.size() || !function.defaults[i]));
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (static_cast<std::ptrdiff_t>(i) == options_at)
      bound[i] = heap().dict(std::move(options), arguments.spread || adds,
          arguments.spread || adds ? heap().external("") : Value{});
    if (!bound[i] && (arguments.spread || filled)) bound[i] = heap().external(list[i].name.text());
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
  // The outermost call of the function that is still running: has anything since then depended on what is not
  // known?
  const Frame* outermost = nullptr;
  for (const Frame* frame = frame_; frame; frame = frame->outer)
    if (frame->function == &function) outermost = frame;
  return !outermost || path_.size() > outermost->depth || generic_depth_ > outermost->generic_depth ||
      record_.steps - outermost->steps > recursion_steps;
}

Value Interpreter::call_function(const values::Function& function, Arguments arguments, Place where,
    Value bound_self, const CallExpr* expr) {
  if (bound_self) arguments.positional.insert(arguments.positional.begin(), bound_self);
  if (expr && refuses(function, arguments, bound_self, where, *expr)) {
    const Value made_up = heap().unknown_from(arguments.positional, where);
    made_up.as<values::Unknown>()->blamed = true;
    return made_up;
  }
  if (function.stmt) note_reached(function.stmt);
  if (bound_self.is(Kind::instance) && function.name.text() == library_.types().forward)
    note_model(bound_self.object());
  if (!function.parameters || depth_ >= max_depth || recurs_too_far(function) || !step())
    return call_unknown(Value::of(Kind::function, &function), arguments, where);
  auto* scope = heap().make<values::Scope>();
  scope->parent = function.closure;
  scope->globals = function.closure ? function.closure->globals : nullptr;
  scope->info = function.stmt ? &function.stmt->scope : nullptr;
  bind(function, arguments, *scope);
  for (const Parameter& parameter : function.parameters->list)
    if (parameter.annotation)
      if (const values::Slot* slot = scope->names.find(parameter.name))
        judge_annotation(parameter.annotation, function.chunk, slot->value, where, parameter.name.text());
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
  Speculation body(*this);
  frame.mark = body.mark();
  frame.depth = body.depth();
  frame.generic_depth = generic_depth_;
  frame.steps = record_.steps;
  frame.on_yield = on_yield;
  frame.outer = frame_;
  Block* const block = block_;
  const CallSite* const outer_site = site_;
  const std::uint32_t outer_chunk = chunk_;
  frame_ = &frame;
  site_ = frame.site;
  chunk_ = function.chunk;
  block_ = &event->body;
  const Around* const around = around_;
  // A test that says of itself that it fails, or that nobody runs.
  const bool expected = std::any_of(function.contexts.begin(), function.contexts.end(),
      [&](Value each) { return is_a(each, values::InternalRow::catches); });
  guards_ += expected;
  expected_ += expected;
  for (auto it = function.contexts.rbegin(); it != function.contexts.rend(); ++it) enter(*it, function.born);
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
      if (const values::Slot* slot = scope->names.find(parameter.name))
        given.emplace_back(&parameter, slot->value);
    flow = run_block(function.stmt->body);
    for (const auto& [parameter, value] : given)
      note(Fact::Role::parameter, {chunk_, parameter->span}, value);
  }
  if (!function.lambda && flow == Flow::normal) result = nothing_of(*this, function, *scope);
  body.commit();
  flow = merge_exits(body, frame.returns, flow, &result, false);

  --active_[&function];
  --depth_;
  quiet_ -= quiet;
  expected_ -= expected;
  guards_ -= expected;
  around_ = around;
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
  Value one = heap().one_of_alike(result);
  if (function.wrapped_unseen && one.is(Kind::tuple)) {
    const auto* made = one.as<values::Tuple>();
    const Value other = heap().tuple(made->items);
    other.as<values::Tuple>()->fields = made->fields;
    other.as<values::Tuple>()->cls = made->cls;
    other.as<values::Tuple>()->seen_through = true;
    one = other;
  }
  return policy_.joins_alike && in_roots_ ? one_for_both(heap(), one) : one;
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
  if (dry_runs_ == 0 && record_.chunks[chunk_].path == main_path_) {
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
    const Value before = value;
    bool keeps_signature = is_a(decorator, library_.types().context);
    if (is_a(decorator, library_.types().context) || is_a(decorator, values::InternalRow::catches))
      original->contexts.push_back(decorator);
    if (decorator.is(Kind::unknown)) original->wrapped_unseen = true;
    if (!decorator.is(Kind::library) && !decorates(decorator)) {
      original->altered = original->altered || !keeps_signature;
      continue;
    }
    if (decorator.is(Kind::library)) {
      // What is still the function itself is marked in place.
      auto* function = value.is(Kind::function) ? value.as<values::Function>() : original;
      const std::string_view path = decorator.as<values::LibrarySymbol>()->path;
      constexpr std::string_view keeping[] = {"builtins.staticmethod", "builtins.classmethod",
          "builtins.property", "functools.cached_property", "functools.lru_cache", "functools.cache",
          "contextlib.contextmanager", "abc.abstractmethod", "typing.final", "typing.override"};
      keeps_signature = keeps_signature || std::ranges::find(keeping, path) != std::end(keeping);
      if (path == "builtins.staticmethod")
        function->is_static = true;
      else if (path == "builtins.classmethod")
        function->is_class_method = true;
      else if (path == "builtins.property")
        function->is_property = true;
      else if (path == "functools.cached_property")
        function->is_property = function->is_cached = true;
      else if (path == "contextlib.contextmanager")
        function->is_context_manager = true;
      else if (const Row* row = decorator.as<values::LibrarySymbol>()->row; row && row->run) {
        const Value made = resolve(call(decorator, {{value}, {}, false}, here(**it)));
        if (is_a(made, library_.types().context) || is_a(made, values::InternalRow::catches))
          original->contexts.push_back(made);
        keeps_signature = keeps_signature || made == before || is_a(made, library_.types().context);
        if (made.is(Kind::boolean))
          function->wrapped_guard = made;  // the ranks that run it
        else if (made.is(Kind::function) || made.is(Kind::partial) || made.is(Kind::bound))
          value = made;
      }
      original->altered = original->altered || !keeps_signature;
      continue;
    }
    const Value made = resolve(call(decorator, {{value}, {}, false}, here(**it)));
    if (const Value entered = value.is(Kind::function) && value.as<values::Function>() == original
            ? entered_by(*this, made, *original)
            : Value{}) {
      original->contexts.push_back(entered);
      continue;
    }
    original->altered = original->altered || !(keeps_signature || made == before);
    if (made.is(Kind::boolean) && value.is(Kind::function) &&
        (decorator.is(Kind::partial) ||
            (decorator.is(Kind::bound) && decorator.as<values::Bound>()->function.is(Kind::library))))
      value.as<values::Function>()->wrapped_guard = made;
    if (made.is(Kind::function) || made.is(Kind::partial) || made.is(Kind::bound) || made.is(Kind::class_))
      value = made;
    else if (made.is(Kind::instance) && made.as<values::Instance>()->cls)
      value = made;
  }
  killed_ = false;
  return value;
}

}  // namespace stepzero::interpreter
