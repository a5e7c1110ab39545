// Calls of what the program does not define: rows of libraries, and the events and problems that they record.
#include "interpreter/calls/library_calls.hpp"

#include "values/shape_text.hpp"

#include "interpreter/builtins/builtins.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/reasons.hpp"
#include "interpreter/statements/module_loader.hpp"

#include "interpreter/calls/unseen.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "syntax/spelling.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t most_operands = 64;  // of a list that an operation takes
}  // namespace

values::Instance* Interpreter::make_native(std::string_view class_path, Place where) {
  auto* object = heap().make<values::Instance>();
  object->native = library_symbol(class_path).as<values::LibrarySymbol>();
  object->born = where;
  object->open = true;
  return object;
}

// An argument that has no default and is not given. Operators are held against their signature where they are
// run; what communicates takes a root in more than one way.
static std::string_view lacking_argument(const Call& call) {
  const Row& row = call.row;
  if (row.op || row.collective || row.message || call.spread || !call.expr ||
      row.kind == values::RowKind::property || row.kind == values::RowKind::constant)
    return {};
  const auto* object = call.self.is(Kind::instance) ? call.self.as<values::Instance>() : nullptr;
  if (row.kind == values::RowKind::method ? !object || !object->native || object->cls || object->symbolic
                                          : static_cast<bool>(call.self))
    return {};
  if (std::ranges::any_of(
          call.expr->arguments, [](const Expr* each) { return each->kind == ExprKind::starred; }))
    return {};
  for (std::size_t i = 0; i < row.parameters.size(); ++i)
    if (!call.given[i] && (i >= row.defaults.size() || row.defaults[i].kind == Kind::absent)) {
      // A default that is no constant is one, too.
      const std::string_view name = row.parameters[i].text();
      const auto at = row.signature.find(std::string(name) + "=");
      return at != std::string_view::npos && (at == 0 || row.signature[at - 1] == ' ') ? std::string_view{}
                                                                                       : name;
    }
  return {};
}

// A call of a row of the library's: its arguments are bound to the row's parameters, and what the row says is
// run and recorded.
struct LibraryCalls::LibraryCall {
  Interpreter& run;
  const values::LibrarySymbol& symbol;
  const Row& row;
  Value self;
  Arguments arguments;
  Place where;
  const CallExpr* expr;

  Value result();

private:
  std::optional<Value> by_choices();
  Value again(Value other_self, Arguments changed) const {
    return run.library_calls_->call_library(symbol, other_self, std::move(changed), where, expr);
  }
  void bind(Call& made) const;
  Value default_of(const values::Constant& constant) const;
  bool is_refused(const Call& made) const;
  Value construct(Call& made);
  Value operate(Call& made);
};

Value LibraryCalls::call_library(const values::LibrarySymbol& symbol_called, Value self, Arguments arguments,
    Place where, const CallExpr* expr) {
  if (symbol_called.path.starts_with("builtins.") && !symbol_called.row) {
    if (self) arguments.positional.insert(arguments.positional.begin(), self);
    return run_.builtins_->call_builtin(symbol_called.path.substr(9), arguments, where);
  }
  const Row* row = symbol_called.row;
  if (row && row->extends_imports) {
    if (run_.loader_->add_import_root(arguments)) return Value::none();
    row = nullptr;
  }
  if (!row || is_replaced(outermost_globals(run_.frame_), symbol_called.path))
    return run_.unseen_->call_unknown(Value::of(Kind::library, &symbol_called), arguments, where);
  if (!row->pure) ++run_.may_raise_;
  return LibraryCall{run_, symbol_called, *row, self, std::move(arguments), where, expr}.result();
}

Value LibraryCalls::LibraryCall::result() {
  // Modes, reductions, devices.
  if (row.op || symbol.path.starts_with(run.library_.types().layers) ||
      symbol.path == run.library_.types().device) {
    for (const Value& argument : arguments.positional) run.note_choice_by_text(argument);
    for (const auto& [name, argument] : arguments.keywords) run.note_choice_by_text(argument);
  }
  if (row.op)
    if (const auto chosen = by_choices()) return *chosen;
  if (self && row.self_first) arguments.positional.insert(arguments.positional.begin(), self);
  Call made{run, row, self, {}, {}, {}, {}, arguments.spread, expr, expr, where};
  bind(made);
  if (is_refused(made)) return run.heap().unseen("", where);
  return row.kind == values::RowKind::class_ ? construct(made) : operate(made);
}

// An operation on operands that are not the same on every path is run for each of them.
std::optional<Value> LibraryCalls::LibraryCall::by_choices() {
  if (self.is(Kind::choice))
    return run.over_choices(self, [&](Value side) { return again(side, arguments); }, where);
  // More of them than it takes are refused whatever they are.
  const bool too_many = !arguments.spread && !row.takes_rest &&
      arguments.positional.size() + (self && row.self_first) > row.positional;
  for (std::size_t i = 0; i < arguments.positional.size() && !too_many; ++i)
    if (const Value argument = run.resolve(arguments.positional[i]); argument.is(Kind::choice)) {
      const auto with_side = [&](Value side) {
        Arguments one = arguments;
        one.positional[i] = side;
        return again(self, std::move(one));
      };
      return run.over_choices(argument, with_side, where);
    }
  if (!run.policy_.follows_keyword_choices) return std::nullopt;
  for (std::size_t i = 0; i < arguments.keywords.size(); ++i)
    if (const Value argument = run.resolve(arguments.keywords[i].second); argument.is(Kind::choice)) {
      const auto with_side = [&](Value side) {
        Arguments one = arguments;
        one.keywords[i].second = side;
        return again(self, std::move(one));
      };
      return run.over_choices(argument, with_side, where);
    }
  return std::nullopt;
}

void LibraryCalls::LibraryCall::bind(Call& made) const {
  made.after = arguments.after;
  made.arguments.resize(row.parameters.size());
  made.given.resize(row.parameters.size());
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    if (i < row.positional) {
      made.arguments[i] = arguments.positional[i];
      made.given[i] = true;
    } else {
      made.rest.push_back(arguments.positional[i]);
    }
  }
  for (const auto& [name, value] : arguments.keywords) {
    const auto i = static_cast<std::size_t>(std::ranges::find(row.parameters, name) - row.parameters.begin());
    if (i < row.parameters.size()) {
      made.arguments[i] = value;
      made.given[i] = true;
    } else {
      made.options.push_back({name, value});
    }
  }
  for (std::size_t i = 0; i < row.parameters.size() && i < row.defaults.size(); ++i)
    if (!made.given[i] && !arguments.spread) made.arguments[i] = default_of(row.defaults[i]);
}

Value LibraryCalls::LibraryCall::default_of(const values::Constant& constant) const {
  switch (constant.kind) {
  case Kind::none: return Value::none();
  case Kind::boolean: return run.heap().boolean(constant.integer != 0);
  case Kind::integer: return run.heap().integer(constant.integer);
  case Kind::real: return Value::of(constant.real);
  case Kind::string: return run.heap().string(constant.text);
  default: return {};
  }
}

// What communicates takes what its signature says: Python raises before any message. So does what lacks an
// argument.
bool LibraryCalls::LibraryCall::is_refused(const Call& made) const {
  const bool is_of_root = row.path.starts_with(run.library_.types().root);
  const std::string called = values::code(row.path.substr(row.path.rfind('.') + 1));
  const bool communicates = row.message || (row.collective && !row.collective->hidden);
  if (communicates && !made.options.empty() && !row.takes_options && row.kind == values::RowKind::function &&
      is_of_root) {
    const std::string_view written = made.options.front().first.text();
    std::string meant;
    for (const Name parameter : row.parameters)
      if (syntax::letters_between(written, parameter.text()) <=
          (std::min(written.size(), parameter.text().size()) > 4 ? 2u : 1u))
        meant = parameter.text();
    explain(*run.problem(values::ProblemKind::argument, made),
        NoSuchArgument{called, std::string(written), std::move(meant)});
    return true;
  }
  const std::string_view lacking = is_of_root ? lacking_argument(made) : std::string_view{};
  if (lacking.empty()) return false;
  explain(*run.problem(values::ProblemKind::argument, made), MissingArgument{called, lacking});
  return true;
}

Value LibraryCalls::LibraryCall::construct(Call& made) {
  const bool is_init = static_cast<bool>(self);
  if (!is_init) made.self = Value::of(Kind::instance, run.make_native(row.path, where));
  Value result = row.run ? row.run(made) : Value{};
  if (!result) result = made.self;
  run.record_operation(made, result);
  return is_init ? Value::none() : result;
}

Value LibraryCalls::LibraryCall::operate(Call& made) {
  if (self.is(Kind::choice))
    return run.over_choices(self, [&](Value side) { return again(side, arguments); }, where);
  Value result;
  if (row.run) {
    const bool is_forward = row.operation == values::Operation::forward;
    run.forwards_ += is_forward;
    result = row.run(made);
    run.forwards_ -= is_forward;
  } else {
    std::vector<Value> sources = arguments.positional;
    sources.push_back(self);
    for (const auto& [name, argument] : arguments.keywords) sources.push_back(argument);
    result = run.heap().unknown_from(sources, where);
  }
  run.record_operation(made, result);
  return result;
}

namespace {
constexpr std::size_t most_named = 1'000;    // tensors that names keep alive at a backward
constexpr std::size_t most_looked = 10'000;  // objects whose attributes may hold some

// The tensors with a history that the names of the functions that run hold, in containers and attributes,
// too: autograd keeps what their backward needs.
template <class Resolve>
void add_named_tensors(const Frame* frame, const Resolve& resolve, std::vector<Value>& found) {
  std::unordered_set<const values::Object*> looked;
  constexpr int most_nested = 3;  // lists of pairs of results: deeper ones hold no outputs of one step
  const auto add = [&](const auto& self, Value value, int depth) -> void {
    if (!value || depth < 0 || found.size() >= most_named) return;
    value = resolve(value);
    switch (value.kind) {
    case Kind::tensor:
      if (value.as<values::Tensor>()->now()->made && std::ranges::find(found, value) == found.end())
        found.push_back(value);
      return;
    case Kind::choice:
      self(self, value.as<values::Choice>()->yes, depth - 1);
      self(self, value.as<values::Choice>()->no, depth - 1);
      return;
    case Kind::tuple:
      for (const Value& item : value.as<values::Tuple>()->items) self(self, item, depth - 1);
      return;
    case Kind::list:
      for (const Value& item : values::Heap::list_state(value)->items) self(self, item, depth - 1);
      return;
    case Kind::dict:
      if (const auto state = value.as<values::Dict>()->state.value)
        for (const auto& [key, item] : state.template as<values::DictState>()->items)
          self(self, item, depth - 1);
      return;
    case Kind::instance:
      if (looked.size() >= most_looked || !looked.insert(value.object()).second) return;
      for (const auto& [name, slot] : value.as<values::Instance>()->attributes.entries())
        if (!slot->value.is(Kind::tensor) ||
            slot->value.as<values::Tensor>()->role == values::TensorRole::plain)
          self(self, slot->value, most_nested);
      return;
    default: return;
    }
  };
  for (; frame; frame = frame->outer)
    for (const auto& [name, slot] : frame->scope->names.entries()) add(add, slot->value, most_nested);
}
}  // namespace

void Interpreter::record_operation(const Call& called, Value result, Value extra_self) {
  if (called.row.operation == values::Operation::none || dry_runs_ > 0 || !noted_->matters(called)) return;
  if (called.row.operation == values::Operation::forward && forwards_ > 0) return;
  auto* event = record_.event<OperationEvent>();
  event->place = called.place;
  event->calls = site_;
  event->row = &called.row;
  event->expr = called.expr;
  event->self = resolve(extra_self ? extra_self : called.self);
  event->arguments = called.arguments;
  // What follows the parameters is of interest where data is moved or parted, or a function is handed
  // its inputs.
  if (called.row.operation == values::Operation::transfer ||
      called.row.operation == values::Operation::split ||
      called.row.operation == values::Operation::recomputed)
    event->arguments.insert(event->arguments.end(), called.rest.begin(), called.rest.end());
  if (called.row.operation == values::Operation::transfer)
    for (const auto& [name, value] : called.options) event->arguments.push_back(value);
  // Who counts memory asks what else is alive then.
  if (called.row.operation == values::Operation::backward &&
      record_.conditions.contains(values::RecordCondition::counted)) {
    std::vector<Value> named;
    add_named_tensors(frame_, [&](Value value) { return resolve(value); }, named);
    event->arguments.resize(std::max(event->arguments.size(), called.row.parameters.size()));
    event->arguments.insert(event->arguments.end(), named.begin(), named.end());
  }
  event->result = result;
  event->expected = expected_ > 0;
  event->around = around_;
  const auto state = [&](Value value) -> const values::TensorState* {
    value = resolve(value);
    if (value.is(Kind::unknown)) value = value.as<values::Unknown>()->state.value;
    if (!value.is(Kind::tensor)) return nullptr;
    const values::TensorState* now = value.as<values::Tensor>()->now();
    if (heap().requires_grad(*now) == now->requires_grad) return now;
    values::TensorState known = *now;
    known.requires_grad = heap().requires_grad(*now);
    return heap().state(known);
  };
  event->made = state(result);
  event->tensors.push_back(state(event->self));
  for (Value& argument : event->arguments) {
    argument = resolve(argument);
    event->tensors.push_back(state(argument));
    event->lists.push_back(argument.is(Kind::list) ? values::Heap::list_state(argument) : nullptr);
  }
  append(event);
}

// The arguments, what lies in lists and tuples of them, and the object.
void LibraryCalls::each_operand(const Call& called, const std::function<void(Value)>& look) {
  for (const auto* part : {&called.arguments, &called.rest})
    for (const Value& argument : *part) {
      const Value operand = run_.resolve(argument);
      look(operand);
      if (const auto* items = operand.is(Kind::tuple) ? &operand.as<values::Tuple>()->items
              : operand.is(Kind::list)                ? &values::Heap::list_state(operand)->items
                                                      : nullptr)
        for (std::size_t i = 0; i < items->size() && i < most_operands; ++i) look(run_.resolve((*items)[i]));
    }
  look(run_.resolve(called.self));
}

void Interpreter::poison(const Call& called) {
  library_calls_->each_operand(called, [&](Value operand) { heap().poison(operand); });
}

}  // namespace stepzero::interpreter
