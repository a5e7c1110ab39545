// Functions that keep their results. Under keys that are known the results lie one by one; what was called
// with anything else may be any call.
#include "interpreter/calls/kept_results.hpp"

#include "interpreter/arguments.hpp"
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/interpreter.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using syntax::Name;
using values::KeptResults;
using values::Kind;

values::Function* same_function(values::Heap& heap, const values::Function& function) {
  auto* made = heap.make<values::Function>();
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
  made->wrapped_guard = function.wrapped_guard;
  made->qualified = function.qualified;
  made->born = function.born;
  return made;
}

bool keeps_results(const values::Function& function) {
  const values::Slot* slot = function.attributes.find(Name(KeptResults::results));
  return slot && slot->value;
}

Value keeping_results(Runtime& run, const values::Function& function, Value most) {
  auto* made = same_function(run.heap(), function);
  run.heap().set(run.heap().slot_of(made->attributes, Name(KeptResults::results)), run.heap().dict({}));
  run.heap().set(run.heap().slot_of(made->attributes, Name(KeptResults::most)), most);
  return Value::of(Kind::function, made);
}

bool takes_over_results(Runtime& run, values::Function& function, Value made) {
  if (!made.is(Kind::function)) return false;
  const auto& other = *made.as<values::Function>();
  if (&other == &function || other.stmt != function.stmt || other.lambda != function.lambda ||
      !keeps_results(other))
    return false;
  for (const values::KeptKey key : {KeptResults::results, KeptResults::most})
    run.heap().set(run.heap().slot_of(function.attributes, Name(key)), other.attributes.value(Name(key)));
  return true;
}

namespace {
// Arguments as they are given: `f(3)` and `f(x=3)` are kept apart. Absent: not all of them are known.
Value key_of(Interpreter& run, const Arguments& arguments) {
  if (arguments.spread) return {};
  std::vector<Value> parts;
  parts.reserve(arguments.positional.size());
  for (const Value& given : arguments.positional) parts.push_back(run.resolve(given));
  for (const auto& [name, given] : arguments.keywords) {
    parts.push_back(Value::ellipsis());
    parts.push_back(run.heap().string(name.text()));
    parts.push_back(run.resolve(given));
  }
  const Value key = run.heap().tuple(std::move(parts));
  return run.known_key(key) ? key : Value{};
}

// Results of so many calls lie there that the first may have been dropped.
bool is_full(Interpreter& run, const values::Function& function, const values::DictState& state) {
  const Value most = run.resolve(function.attributes.value(Name(KeptResults::most)));
  if (most.is(Kind::none)) return false;
  const auto number = most.is(Kind::integer) ? run.symbols().value(most.integer()) : std::nullopt;
  return !number || state.items.size() >= static_cast<std::uint64_t>(std::max<std::int64_t>(*number, 0));
}
}  // namespace

Value FunctionCalls::kept_or_run(const values::Function& function, const Arguments& arguments, Place where,
    const std::function<Value()>& body) {
  Interpreter& run = run_;
  const Value table = run.resolve(function.attributes.value(Name(KeptResults::results)));
  if (!table.is(Kind::dict)) return body();
  const Value key = key_of(run, arguments);
  const auto run_and_keep = [&] {
    const Value made = body();
    if (run.killed_) return made;
    values::DictState state = *values::Heap::dict_state(table);
    if (!key || is_full(run, function, state)) {
      state.items.clear();
      state.open = true;
    } else {
      const auto same = std::ranges::find_if(
          state.items, [&](const auto& item) { return run.same_key(item.first, key); });
      if (same == state.items.end())
        state.items.push_back({key, made});
      else
        same->second = made;
    }
    if (state.open) state.rest = run.heap().merge(state.rest, made, Sharing::unseen);
    run.heap().set_dict(table, std::move(state));
    return made;
  };
  const values::DictState& state = *values::Heap::dict_state(table);
  // Whether the body runs is not known. Only communication has others wait for it.
  const auto perhaps = [&](Value kept) {
    const Value called = Value::of(Kind::function, &function);
    if (!run.unseen_->may_communicate(function)) return run_and_keep();
    return run.heap().merge(kept, run.unseen_->call_unknown(called, arguments, where), Sharing::unseen);
  };
  if (!key) {
    Value any = state.rest;
    for (const auto& [known, kept] : state.items)
      any = run.heap().merge(any, run.resolve(kept), Sharing::unseen);
    return any ? perhaps(any) : run_and_keep();
  }
  for (const auto& [known, kept] : state.items) {
    if (!run.same_key(known, key)) continue;
    if (!kept.is(Kind::choice)) return kept;
    const auto& choice = *kept.as<values::Choice>();
    if (choice.yes && choice.no) return kept;
    const Value there = choice.yes ? choice.yes : choice.no;
    return run.fork_value(
        choice.yes ? choice.condition : run.symbols().logical_not(choice.condition), where,
        [&] { return there; }, run_and_keep);
  }
  return state.open ? perhaps(state.rest ? state.rest : run.heap().unseen("", where)) : run_and_keep();
}

}  // namespace stepzero::interpreter
