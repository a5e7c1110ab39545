// Calls: arguments, what is called, and what takes the call for it.
#include "interpreter/builtins/builtins.hpp"
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/kept_results.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/no_result.hpp"
#include "interpreter/calls/own_calls.hpp"
#include "interpreter/calls/unseen.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/object_model.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/loops/merged_values.hpp"
#include "interpreter/paths/speculation.hpp"
#include "values/devices.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

Arguments FunctionCalls::evaluate_arguments(const CallExpr& expr) {
  Arguments arguments;
  arguments.positional = run_.evaluate_elements(expr.arguments, arguments.spread, arguments.rest, &arguments);
  for (const Keyword& keyword : expr.keywords) {
    const Value value = run_.evaluate(*keyword.value);
    if (!keyword.name.empty()) {
      arguments.keywords.push_back({keyword.name, value});
      continue;
    }
    const Value mapping = run_.resolve(value);
    const Value dict = mapping.is(Kind::instance) ? run_.object_model_->held(*mapping.as<values::Instance>())
                                                  : mapping;
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
      if (state->open) arguments.named_rest = state->rest;
    } else {
      arguments.spread = true;
      arguments.named_rest = dict;
    }
  }
  return arguments;
}

namespace {
// What the arguments of a method tell of an object of which nobody knows whether it is a tensor.
struct ToldMethod {
  Value method;          // of the tensor; absent: nothing is told
  Value object;          // what it is called on
  bool of_both = false;  // arrays of other libraries have it as well, and give the same shape
};

// `x.flatten(start_dim=1)`: no other library's arrays take the keyword.
std::string_view told_by_keyword(const Library& library, std::string_view name, const CallExpr& expr) {
  for (const Keyword& keyword : expr.keywords)
    if (const auto path = library.presume_method(std::string(name) + " " + std::string(keyword.name.text()));
        !path.empty())
      return path;
  return {};
}

// `x.transpose(1, 2)`, `x.repeat(1, n, 1)`: arrays do not take so many numbers, or refuse these.
std::string_view told_by_numbers(
    Interpreter& run, std::string_view name, const Arguments& arguments, const values::TensorState* known) {
  constexpr std::int64_t matrix = 2;  // dimensions: an array of so many may take two numbers, as axes
  bool beyond = known && known->shape.dims.size() > static_cast<std::size_t>(matrix);
  for (const Value& each : arguments.positional) {
    const Value number = run.resolve(each);
    if (!number.is(Kind::integer)) return {};
    const auto at = run.symbols().value(number.integer());
    beyond = beyond || (at && (*at >= matrix || *at < -matrix));
  }
  const std::string counted = std::string(name) + "(" + std::to_string(arguments.positional.size()) + ")";
  const std::string_view path = run.library().presume_method(counted);
  return path.empty() && beyond ? run.library().presume_method(counted + " beyond matrices") : path;
}

ToldMethod told_by_arguments(Interpreter& run, const CallExpr& expr, Value function,
    const Arguments& arguments, const std::function<Value(const Expr&)>& value_of) {
  if (!function.is(Kind::unknown) || expr.function->kind != ExprKind::attribute) return {};
  const auto& access = as<AttributeExpr>(*expr.function);
  if (access.object->kind != ExprKind::name) return {};
  const std::string_view name = access.attribute.text();
  const bool whole = !arguments.spread && expr.keywords.empty();
  // Of most methods nothing is told: their objects are not looked at.
  const std::string_view both = run.library().presume_method("both " + std::string(name));
  std::string_view path = told_by_keyword(run.library(), name, expr);
  if (path.empty() && !whole && both.empty()) return {};
  ToldMethod told;
  told.object = run.resolve(value_of(*access.object));
  if (told.object.is(Kind::unknown) &&
      told.object.as<values::Unknown>()->attributes.find(Name(values::UnknownState::annotated)))
    return {};
  Value seen = told.object;
  if (seen.is(Kind::unknown)) seen = seen.as<values::Unknown>()->state.value;
  const values::TensorState* known = seen.is(Kind::tensor) ? seen.as<values::Tensor>()->now() : nullptr;
  if (!told.object.is(Kind::unknown) && (!known || !known->maybe_array)) return {};
  if (path.empty() && whole) path = told_by_numbers(run, name, arguments, known);
  if (path.empty() && known && known->maybe_array) {
    path = both;
    told.of_both = true;
  }
  if (path.empty()) return {};
  auto* bound = run.heap().make<values::Bound>();
  bound->self = told.object;
  bound->function = run.library_symbol(path);
  told.method = Value::of(Kind::bound, bound);
  return told;
}

// What both tensors and arrays do says not which of them it is.
void leave_open(Interpreter& run, Value value) {
  value = run.resolve(value);
  if (value.is(Kind::unknown)) value = value.as<values::Unknown>()->state.value;
  if (!value.is(Kind::tensor) || value.as<values::Tensor>()->now()->maybe_array) return;
  values::TensorState state = *value.as<values::Tensor>()->now();
  state.maybe_array = true;
  run.heap().set(
      value.as<values::Tensor>()->state, Value::of(Kind::state, run.heap().state(std::move(state))));
}
}  // namespace

// The only argument of what reads it to its end, as sum() and list() do; null: of something else.
const Expr* FunctionCalls::read_to_its_end(Value function, const CallExpr& expr) const {
  const bool reads = expr.arguments.size() == 1 && function.is(Kind::library) &&
      run_.library_.find(
          values::InternalRow::reads_all + std::string(function.as<values::LibrarySymbol>()->path));
  return reads ? expr.arguments.front() : nullptr;
}

Value FunctionCalls::evaluate_call(const CallExpr& expr) {
  run_.callee_ = expr.function;
  Value function = run_.evaluate(*expr.function);
  run_.callee_ = nullptr;
  if (run_.killed_) return function;
  const Expr* const read_around = std::exchange(
      run_.read_whole_, read_to_its_end(run_.resolve(function), expr));
  Arguments arguments = evaluate_arguments(expr);
  run_.read_whole_ = read_around;
  if (run_.killed_) return heap().unseen("", run_.here(expr));
  const ToldMethod told = told_by_arguments(run_, expr, run_.resolve(function), arguments,
      [&](const Expr& object) { return run_.evaluate(object); });
  if (told.of_both) {
    const Value made = run_.call(told.method, std::move(arguments), run_.here(expr), &expr);
    leave_open(run_, told.object);
    leave_open(run_, made);
    return made;
  }
  if (told.method) function = told.method;
  const Value target = run_.resolve(function);
  if (target.is(Kind::library) && target.as<values::LibrarySymbol>()->path == "builtins.super" &&
      run_.frame_->function) {
    auto* super = heap().make<values::Super>();
    if (arguments.positional.size() == 2) {
      const Value after = run_.resolve(arguments.positional[0]);
      super->after = after.is(Kind::class_) ? after.as<values::Class>() : nullptr;
      super->self = run_.resolve(arguments.positional[1]);
    } else if (run_.frame_->function->parameters && !run_.frame_->function->parameters->list.empty()) {
      super->after = run_.frame_->function->owner;
      const values::Slot* self = run_.frame_->scope->names.find(
          run_.frame_->function->parameters->list[0].name);
      if (self) super->self = run_.resolve(self->value);
    }
    return Value::of(Kind::super, super);
  }
  return run_.call(target, std::move(arguments), run_.here(expr), &expr);
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
  // `self.sw = Swish()`: what made it says what it is, whatever it is called.
  std::string_view made_by = function.as<values::Unknown>()->name;
  if (made_by.ends_with("()")) {
    made_by.remove_suffix(2);
    made_by.remove_prefix(std::min(made_by.find_last_of('.') + 1, made_by.size()));
  } else {
    made_by = {};
  }
  const auto keeps = [&] {
    return run.library().find(values::InternalRow::keeps_size + std::string(name)) ||
        (!made_by.empty() &&
            run.library().find(values::InternalRow::keeps_size_in_a_row + std::string(made_by)));
  };
  const values::TensorState* from = given.as<values::Tensor>()->now();
  if (name.empty() || from->poisoned || from->shape.dims.empty() ||
      function.as<values::Unknown>()->attributes.find(Name(values::UnseenActivationState::gated)) || !keeps())
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
  state.unseen = true;
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
  values::Function* made = same_function(run.heap(), function);
  made->contexts.push_back(manager);
  return Value::of(Kind::function, made);
}
}  // namespace

Value Interpreter::call(Value function, Arguments arguments, Place where, const CallExpr* expr) {
  function = resolve(function);
  if (!step(1 + arguments.positional.size() / 8) || arguments.positional.size() > most_arguments)
    return heap().unseen("", where);
  switch (function.kind) {
  case Kind::function:
    return function_calls_->call_function(
        *function.as<values::Function>(), std::move(arguments), where, {}, expr);
  case Kind::bound: {
    const auto* bound = function.as<values::Bound>();
    const Value inner = resolve(bound->function);
    if (inner.is(Kind::function)) {
      const auto& method = *inner.as<values::Function>();
      const Value result = function_calls_->call_function(
          method, std::move(arguments), where, bound->self, expr);
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
        static_cast<void>(library_calls_->call_library(
            *library_symbol(row->path).as<values::LibrarySymbol>(), bound->self, {}, where, expr));
      return result;
    }
    if (inner.is(Kind::library))
      return library_calls_->call_library(
          *inner.as<values::LibrarySymbol>(), bound->self, std::move(arguments), where, expr);
    if (inner.is(Kind::string)) return builtins_->call_method(bound->self, inner.text(), arguments, where);
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
  case Kind::class_:
    return object_model_->instantiate(*function.as<values::Class>(), std::move(arguments), where, expr);
  case Kind::library: {
    const auto& found = *function.as<values::LibrarySymbol>();
    // A method taken from its class: the object comes first.
    if (found.row && found.row->kind == values::RowKind::method && !arguments.positional.empty()) {
      const Value self = resolve(arguments.positional.front());
      arguments.positional.erase(arguments.positional.begin());
      return library_calls_->call_library(found, self, std::move(arguments), where, expr);
    }
    return library_calls_->call_library(found, {}, std::move(arguments), where, expr);
  }
  case Kind::super: return unseen_->call_unknown(function, arguments, where);
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
    return unseen_->call_unknown(function, arguments, where);
  }
  case Kind::choice:
    if (const Value given = without_none(*this, function); !given.is(Kind::choice))
      return call(given, std::move(arguments), where, expr);
    if (const auto* choice = function.as<values::Choice>();
        choice->yes.is(Kind::instance) && choice->no.is(Kind::instance)) {
      if (library_.wrapped(choice->yes) == choice->no)
        return library_calls_->call_wrapped(
            function, choice->yes, choice->no, std::move(arguments), where, expr);
      if (library_.wrapped(choice->no) == choice->yes)
        return library_calls_->call_wrapped(
            function, choice->no, choice->yes, std::move(arguments), where, expr);
    }
    return over_choices(function, [&](Value side) { return call(side, arguments, where, expr); }, where);
  default:
    if (expr) judge_callable(*this, function, *expr, where);
    if (expr && !arguments.spread)
      library_.unseen_call(*this, arguments.positional, arguments.keywords, *expr, where);
    const Value given = arguments.positional.size() == 1 && arguments.keywords.empty() && !arguments.spread
        ? resolve(arguments.positional[0])
        : Value{};
    const Value made = unseen_->call_unknown(function, arguments, where);
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
  const bool equivalent = a.shape.ndim_known == b.shape.ndim_known &&
      std::equal(a.shape.dims.begin(), a.shape.dims.end(), b.shape.dims.begin(), b.shape.dims.end(), same) &&
      a.dtype == b.dtype && a.requires_grad == b.requires_grad && a.content == b.content &&
      a.unseen == b.unseen && a.graph.size() == b.graph.size();
  if (!equivalent) return value;
  values::TensorState state = a;
  state.device = nullptr;
  const Value made = heap.tensor(std::move(state), yes.object()->born);
  made.as<values::Tensor>()->role = yes.as<values::Tensor>()->role;
  return made;
}

// It lies on that device when the condition holds; else nobody knows where.
void lie_when(values::Heap& heap, Value value, Cond condition, const values::Device& device) {
  const values::Device* there = values::device_when(heap, condition, &device);
  if (!there) return;
  if (value.is(Kind::unknown))
    heap.set(heap.slot_of(value.as<values::Unknown>()->attributes, Name(values::UnknownState::lies_on)),
        Value::of(Kind::device, there));
  const Value tensor = value.is(Kind::unknown) ? value.as<values::Unknown>()->state.value : value;
  if (!tensor.is(Kind::tensor)) return;
  values::TensorState state = *tensor.as<values::Tensor>()->now();
  state.device = there;
  heap.set(tensor.as<values::Tensor>()->state, Value::of(Kind::state, heap.state(state)));
}
}  // namespace

// `DDP(model) if distributed else model`: the module runs on both ways, and is run once. What the wrapper
// does besides is done on its own way.
Value LibraryCalls::call_wrapped(
    Value either, Value wrapper, Value module, Arguments arguments, Place where, const CallExpr* expr) {
  std::vector<Value> handed;
  std::vector<const values::Device*> lay;
  const auto device_of = [](Value given) -> const values::Device* {
    const Value tensor = given.is(Kind::unknown) ? given.as<values::Unknown>()->state.value : given;
    if (tensor.is(Kind::tensor) && tensor.as<values::Tensor>()->now()->device)
      return tensor.as<values::Tensor>()->now()->device;
    return given.is(Kind::unknown) ? lies_on(*given.as<values::Unknown>()) : nullptr;
  };
  const auto hand = [&](Value& given) {
    handed.push_back(given = on_some_device(heap(), run_.resolve(given)));
    lay.push_back(device_of(given));
  };
  for (Value& given : arguments.positional) hand(given);
  for (auto& [name, given] : arguments.keywords) hand(given);
  run_.library_.hand_on(run_, handed);
  // The module by itself moves nothing.
  const auto& choice = *either.as<values::Choice>();
  const Cond alone = choice.yes == module ? choice.condition : symbols().logical_not(choice.condition);
  for (std::size_t i = 0; i < handed.size(); ++i)
    if (lay[i]) lie_when(heap(), handed[i], alone, *lay[i]);
  const Value result = run_.call(module, arguments, where, expr);
  if (run_.killed_) return result;
  const auto side = [&](Value part) {
    if (!(part == wrapper)) return result;
    const auto outer = std::exchange(run_.answered_, {module.object(), result});
    const Value made = run_.call(wrapper, arguments, where, expr);
    run_.answered_ = outer;
    return made;
  };
  return run_.over_choices(either, side, where);
}

}  // namespace stepzero::interpreter
