// Functions of the program: making and decorating them, binding arguments, running them in place, generators.
#include "interpreter/calls/call_check.hpp"
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/kept_results.hpp"
#include "interpreter/calls/no_result.hpp"
#include "interpreter/calls/own_calls.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/object_model.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/loops/merged_values.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/roots/annotations.hpp"
#include "interpreter/roots/root_runner.hpp"
#include "interpreter/statements/contexts.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr int max_depth = 60;  // calls within calls, of any functions: the stack has to hold
// A function inside itself under conditions that are not known ends by itself only if something else is
// known.
constexpr int max_recursion = 2;
constexpr int max_certain_recursion =
    50;  // of one function, where each call is certain: a countdown ends before
// A function that calls itself at many places on unknown ways (a walk through a syntax tree) would be run
// some thousand times within itself, of which nothing is learned that one such call does not show.
constexpr std::uint64_t open_recursion_steps = 8'000;  // of all calls inside one that recurs
constexpr std::uint64_t recursion_steps = 40'000;      // the same, where nothing depends on what is not known
}  // namespace

bool FunctionCalls::bind(const values::Function& function, Arguments& arguments, values::Scope& scope) {
  const auto& list = function.parameters->list;
  std::vector<Value> bound(list.size());
  const std::size_t after = arguments.spread ? std::min(arguments.after, arguments.positional.size())
                                             : 0;  // something of unknown length
  const std::size_t in_front = arguments.positional.size() - after;
  std::size_t next = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Parameter& parameter = list[i];
    if (parameter.kind == ParameterKind::var_positional) {
      std::vector<Value> rest;
      while (next < arguments.positional.size()) rest.push_back(arguments.positional[next++]);
      bound[i] = arguments.spread ? heap().open_list(heap().unseen(""), nullptr, values::ListKind::tuple)
                                  : heap().tuple(std::move(rest));
    } else if (parameter.kind == ParameterKind::positional_only || parameter.kind == ParameterKind::normal) {
      if (next < in_front) bound[i] = arguments.positional[next++];
    }
  }
  // `f(*unknown, y)`: where each parameter has to be given, the last one is y; else nobody knows which.
  if (after > 0) {
    const bool each_given = arguments.keywords.empty() &&
        std::ranges::all_of(
            list, [](const Parameter& parameter) { return parameter.kind <= ParameterKind::normal; }) &&
        std::ranges::none_of(function.defaults, [](const Value& value) { return static_cast<bool>(value); });
    if (each_given && in_front + after <= list.size())
      for (std::size_t i = 0; i < after; ++i)
        bound[list.size() - after + i] = arguments.positional[in_front + i];
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
  fits = fits && !filled;
  if (options_at >= 0)
    bound[static_cast<std::size_t>(options_at)] = heap().dict(
        std::move(options), arguments.spread || adds, arguments.spread || adds ? heap().unseen("") : Value{});
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!bound[i] && (arguments.spread || filled)) bound[i] = heap().unseen(list[i].name.text());
    if (!bound[i] && i < function.defaults.size()) bound[i] = function.defaults[i];
    if (!bound[i]) {
      bound[i] = heap().unseen(list[i].name.text());
      fits = false;
    }
    heap().set(heap().slot_of(scope.names, list[i].name), bound[i]);
  }
  return fits;
}

bool FunctionCalls::recurs_too_far(const values::Function& function) {
  const auto active = run_.active_.find(&function);
  if (active == run_.active_.end() || active->second == 0) return false;
  // The outermost call of the function that is still running: has anything since then depended on what is not
  // known?
  const Frame* outermost = nullptr;
  for (const Frame* frame = run_.frame_; frame; frame = frame->outer)
    if (frame->function == &function) outermost = frame;
  if (!outermost) return true;
  const bool certain = run_.path_.size() <= outermost->depth &&
      run_.generic_depth_ <= outermost->generic_depth;
  if (active->second >= max_certain_recursion || (!certain && active->second >= max_recursion)) return true;
  return record_.steps - outermost->steps > (certain ? recursion_steps : open_recursion_steps);
}

Value FunctionCalls::call_function(const values::Function& function, Arguments arguments, Place where,
    Value bound_self, const CallExpr* expr) {
  if (bound_self) arguments.positional.insert(arguments.positional.begin(), bound_self);
  if (expr && run_.call_check_->refuses(function, arguments, bound_self, where, *expr)) {
    const Value made_up = heap().unknown_from(arguments.positional, where);
    made_up.as<values::Unknown>()->poisoned = true;
    return made_up;
  }
  if (keeps_results(function) && run_.depth_ < max_depth)
    return kept_or_run(
        function, arguments, where, [&] { return call_body(function, arguments, where, bound_self); });
  return call_body(function, std::move(arguments), where, bound_self);
}

Value FunctionCalls::call_body(
    const values::Function& function, Arguments arguments, Place where, Value bound_self) {
  if (function.stmt) run_.incremental_->note_reached(function.stmt);
  if (bound_self.is(Kind::instance) && function.name.text() == run_.library_.types().forward)
    run_.incremental_->note_model(bound_self.object());
  if (!function.parameters || run_.depth_ >= max_depth || recurs_too_far(function) || !run_.step())
    return run_.unseen_->call_unknown(Value::of(Kind::function, &function), arguments, where);
  auto* scope = heap().make<values::Scope>();
  scope->parent = function.closure;
  scope->globals = function.closure ? function.closure->globals : nullptr;
  scope->info = function.stmt ? &function.stmt->scope : nullptr;
  // A decorator of which nothing is known lets it be called otherwise, as `curry` does: then it may give back
  // something else, too.
  const bool is_another = !bind(function, arguments, *scope) && function.wrapped_unseen;
  for (const Parameter& parameter : function.parameters->list)
    if (parameter.annotation)
      if (const values::Slot* slot = scope->names.find(parameter.name))
        run_.annotations_->judge_annotation(
            parameter.annotation, function.chunk, slot->value, where, parameter.name.text());
  if (is_another) {
    if (!function.stmt || !function.stmt->scope.is_generator) run_function(function, scope, where, nullptr);
    return heap().unseen("", where);
  }
  if (function.stmt && function.stmt->scope.is_generator) {
    auto* generator = heap().make<values::Iterator>();
    generator->pending = &function;
    generator->scope = scope;
    generator->born = where;
    return Value::of(Kind::iterator, generator);
  }
  if (function.wrapped_guard)
    return run_.fork_value(
        run_.truth(function.wrapped_guard), where,
        [&] { return run_function(function, scope, where, nullptr); }, [] { return Value::none(); });
  return run_function(function, scope, where, nullptr);
}

Value FunctionCalls::run_function(const values::Function& function, values::Scope* scope, Place where,
    std::function<Value(Value)>* on_yield) {
  auto site = std::make_unique<CallSite>(CallSite{where, &function, run_.site_});
  record_.sites.push_back(std::move(site));
  auto* event = record_.event<CallEvent>();
  event->place = where;
  event->calls = run_.site_;
  event->function = &function;

  Frame frame;
  frame.scope = scope;
  frame.function = &function;
  frame.site = record_.sites.back().get();
  frame.chunk = function.chunk;
  Speculation body(run_);
  frame.mark = body.mark();
  frame.depth = body.depth();
  frame.generic_depth = run_.generic_depth_;
  frame.steps = record_.steps;
  frame.on_yield = on_yield;
  frame.outer = run_.frame_;
  Block* const block = run_.block_;
  const CallSite* const outer_site = run_.site_;
  const std::uint32_t outer_chunk = run_.chunk_;
  run_.frame_ = &frame;
  run_.site_ = frame.site;
  run_.chunk_ = function.chunk;
  run_.block_ = &event->body;
  const Around* const around = run_.around_;
  // A test that says of itself that it fails, or that nobody runs.
  const bool expected = std::any_of(function.contexts.begin(), function.contexts.end(),
      [&](Value each) { return run_.is_a(each, values::InternalRow::catches); });
  run_.guards_ += expected;
  run_.expected_ += expected;
  for (auto it = function.contexts.rbegin(); it != function.contexts.rend(); ++it)
    run_.contexts_->enter(*it, function.born);
  // What the program itself does with a function is told; what one that nobody calls would do with it is not.
  const bool quiet = run_.in_roots_ && function.stmt && run_.roots_->ran(function.stmt);
  run_.quiet_ += quiet;
  ++run_.depth_;
  ++run_.active_[&function];

  Value result = Value::none();
  Flow flow = Flow::normal;
  if (function.lambda) {
    result = run_.evaluate(*function.lambda->body);
    if (run_.killed_) flow = Flow::dead;
  } else {
    // What the body learns of a parameter was so from the beginning: it is told after the body.
    std::vector<std::pair<const Parameter*, Value>> given;
    for (const Parameter& parameter : function.parameters->list)
      if (const values::Slot* slot = scope->names.find(parameter.name))
        given.emplace_back(&parameter, slot->value);
    flow = run_.run_block(function.stmt->body);
    for (const auto& [parameter, value] : given)
      run_.note(Fact::Role::parameter, {run_.chunk_, parameter->span}, value);
  }
  if (!function.lambda && flow == Flow::normal) result = nothing_of(run_, function, *scope);
  body.commit();
  flow = run_.merge_exits(body, frame.returns, flow, &result, false);

  --run_.active_[&function];
  --run_.depth_;
  run_.quiet_ -= quiet;
  run_.expected_ -= expected;
  run_.guards_ -= expected;
  run_.around_ = around;
  run_.block_ = block;
  run_.chunk_ = outer_chunk;
  run_.site_ = outer_site;
  run_.frame_ = frame.outer;
  run_.path_.resize(frame.depth);
  if (!event->body.events.empty()) run_.append(event);
  if (flow == Flow::dead) {
    // No path comes back. A method that only raises is there to be overridden.
    const bool abstract = function.owner && function.stmt && function.stmt->body.size() <= 2 &&
        function.stmt->body.back()->kind == StmtKind::raise && run_.catching_ == 0;
    run_.killed_ = !abstract;
    return heap().unseen("", where);
  }
  Value one = heap().one_of_equivalent(result);
  if (function.wrapped_unseen && one.is(Kind::tuple)) {
    const auto* made = one.as<values::Tuple>();
    const Value other = heap().tuple(made->items);
    other.as<values::Tuple>()->fields = made->fields;
    other.as<values::Tuple>()->cls = made->cls;
    other.as<values::Tuple>()->seen_through = true;
    one = other;
  }
  return run_.policy_.joins_equivalent && run_.in_roots_ ? one_for_both(heap(), one) : one;
}

Value FunctionCalls::drain(Value generator, Place where, std::function<Value(Value)>& consume) {
  auto* iterator = generator.as<values::Iterator>();
  const values::Function& function = *iterator->pending;
  heap().set_list(generator, {});  // it runs once
  if (run_.depth_ >= max_depth || recurs_too_far(function)) return consume(heap().unseen("", where));
  return run_function(function, iterator->scope, where, &consume);
}

std::vector<Value> FunctionCalls::evaluate_defaults(const Parameters& parameters) {
  std::vector<Value> defaults;
  defaults.reserve(parameters.list.size());
  for (const Parameter& parameter : parameters.list)
    defaults.push_back(parameter.default_value ? run_.evaluate(*parameter.default_value) : Value{});
  return defaults;
}

Value FunctionCalls::make_function(const FunctionStmt& stmt) {
  auto* function = heap().make<values::Function>();
  function->name = stmt.name;
  function->stmt = &stmt;
  function->parameters = stmt.parameters;
  function->chunk = run_.chunk_;
  function->closure = run_.frame_->scope;
  function->owner = run_.frame_->scope->is_class ? run_.frame_->scope->cls : nullptr;
  function->born = {run_.chunk_, stmt.name_span};
  function->defaults = evaluate_defaults(*stmt.parameters);
  function->qualified = stmt.name.text();
  if (run_.dry_runs_ == 0 && record_.chunks[run_.chunk_].path == run_.main_path_) {
    auto [it, inserted] = run_.functions_.try_emplace(&stmt, function);
    if (inserted) run_.function_order_.push_back(function);
    it->second = function;
    run_.roots_->note_closure(*function);
  }
  return decorate(Value::of(Kind::function, function), stmt);
}

Value FunctionCalls::make_lambda(const LambdaExpr& expr) {
  auto* function = heap().make<values::Function>();
  function->lambda = &expr;
  function->parameters = expr.parameters;
  function->chunk = run_.chunk_;
  function->closure = run_.frame_->scope;
  function->born = run_.here(expr);
  function->defaults = evaluate_defaults(*expr.parameters);
  function->qualified = "lambda";
  return Value::of(Kind::function, function);
}

namespace {
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

Value FunctionCalls::decorate(Value value, const FunctionStmt& stmt) {
  auto* const original = value.as<values::Function>();
  for (auto it = stmt.decorators.rbegin(); it != stmt.decorators.rend(); ++it) {
    const Value decorator = run_.resolve(run_.evaluate(**it));
    const Value before = value;
    bool keeps_signature = run_.is_a(decorator, run_.library_.types().context);
    if (run_.is_a(decorator, run_.library_.types().context) ||
        run_.is_a(decorator, values::InternalRow::catches))
      original->contexts.push_back(decorator);
    if (decorator.is(Kind::unknown)) original->wrapped_unseen = true;
    if (!decorator.is(Kind::library) && !run_.object_model_->decorates(decorator)) {
      original->altered = original->altered || !keeps_signature;
      continue;
    }
    if (decorator.is(Kind::library)) {
      // What is still the function itself is marked in place.
      auto* function = value.is(Kind::function) ? value.as<values::Function>() : original;
      const std::string_view path = decorator.as<values::LibrarySymbol>()->path;
      constexpr std::string_view keeping[] = {"builtins.staticmethod", "builtins.classmethod",
          "builtins.property", "functools.cached_property", "contextlib.contextmanager", "abc.abstractmethod",
          "typing.final", "typing.override"};
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
        const Value made = run_.resolve(run_.call(decorator, {{value}, {}, false}, run_.here(**it)));
        if (run_.is_a(made, run_.library_.types().context) || run_.is_a(made, values::InternalRow::catches))
          original->contexts.push_back(made);
        if (takes_over_results(run_, *function, made)) continue;
        keeps_signature = keeps_signature || made == before || run_.is_a(made, run_.library_.types().context);
        if (made.is(Kind::boolean))
          function->wrapped_guard = made;  // the ranks that run it
        else if (made.is(Kind::function) || made.is(Kind::partial) || made.is(Kind::bound))
          value = made;
      }
      original->altered = original->altered || !keeps_signature;
      continue;
    }
    const Value made = run_.resolve(run_.call(decorator, {{value}, {}, false}, run_.here(**it)));
    if (value.is(Kind::function) && takes_over_results(run_, *value.as<values::Function>(), made)) continue;
    if (const Value entered = value.is(Kind::function) && value.as<values::Function>() == original
            ? entered_by(run_, made, *original)
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
  run_.killed_ = false;
  return value;
}

}  // namespace stepzero::interpreter
