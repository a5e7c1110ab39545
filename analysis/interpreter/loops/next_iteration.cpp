#include "interpreter/loops/next_iteration.hpp"

#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using syntax::Name;
using values::Kind;

namespace {

// A list, a dict or an object, or possibly one.
bool may_change_in_place(Value value, int depth = 0) {
  if (value.is(Kind::choice) && depth < values::most_choices)
    return may_change_in_place(value.as<values::Choice>()->yes, depth + 1) ||
        may_change_in_place(value.as<values::Choice>()->no, depth + 1);
  return value.is(Kind::list) || value.is(Kind::dict) || value.is(Kind::instance);
}

// What another iteration makes in the place of what this one, which began then, made.
Value another(Interpreter& run, Value value, std::uint64_t since, int depth = 0) {
  switch (value.kind) {
  case Kind::tensor: return value.as<values::Tensor>()->state.birth > since ? run.one_of_many(value) : value;
  case Kind::unknown:
    return value.as<values::Unknown>()->attributes.birth > since ? run.one_of_many(value) : value;
  case Kind::list: {
    const auto* list = value.as<values::List>();
    return list->state.birth > since ? run.heap().list({}, list->kind) : value;
  }
  case Kind::dict: return value.as<values::Dict>()->state.birth > since ? run.heap().dict({}) : value;
  case Kind::instance: {
    const auto* object = value.as<values::Instance>();
    if (object->attributes.birth <= since) return value;
    auto* other = run.heap().make<values::Instance>();
    other->cls = object->cls;
    other->native = object->native;
    other->born = object->born;
    other->open = object->open;
    if (const Value held = object->attributes.value(Name(values::ArrayState::state)))
      run.heap().slot_of(other->attributes, Name(values::ArrayState::state)).value = another(
          run, held, since);
    return Value::of(Kind::instance, other);
  }
  case Kind::choice: {
    const auto* choice = value.as<values::Choice>();
    if (depth >= values::most_choices || !choice->yes || !choice->no) return value;
    const Value yes = another(run, choice->yes, since, depth + 1),
                no = another(run, choice->no, since, depth + 1);
    return yes == choice->yes && no == choice->no ? value : run.heap().choose(choice->condition, yes, no);
  }
  default: return value;
  }
}

bool is_settled_by_itself(const symbolic::Context& symbols, Value wide, std::uint64_t since, int depth = 0) {
  const auto part = [&](Value each) {
    return depth < values::deepest_data && is_settled_by_itself(symbols, each, since, depth + 1);
  };
  switch (wide.kind) {
  case Kind::choice: return false;
  case Kind::tuple: return std::ranges::all_of(wide.as<values::Tuple>()->items, part);
  case Kind::list: return wide.as<values::List>()->state.birth <= since;
  case Kind::dict: return wide.as<values::Dict>()->state.birth <= since;
  case Kind::instance: return wide.as<values::Instance>()->attributes.birth <= since;
  case Kind::state: {
    if (const auto* list = dynamic_cast<const values::ListState*>(wide.object()))
      return (!list->rest || part(list->rest)) && std::ranges::all_of(list->items, part);
    if (const auto* dict = dynamic_cast<const values::DictState*>(wide.object()))
      return (!dict->rest || part(dict->rest)) && std::ranges::all_of(dict->items, [&](const auto& item) {
        return !is_made_since(symbols, item.first, since) && part(item.second);
      });
    return true;
  }
  default: return true;
  }
}

}  // namespace

bool is_made_since(const symbolic::Context& symbols, Value key, std::uint64_t since) {
  const auto is_new = [&](Value part) { return is_made_since(symbols, part, since); };
  switch (key.kind) {
  case Kind::integer: {
    bool found = false;
    symbols.atoms(key.integer(), [&](symbolic::Int atom) {
      const auto* info = symbols.atom_info(atom);
      found = found || (info && info->made > since);
    });
    return found;
  }
  case Kind::tuple: return std::ranges::any_of(key.as<values::Tuple>()->items, is_new);
  case Kind::slice: return true;  // each is an object of its own
  case Kind::boolean: return symbols.form(key.condition()) != symbolic::Context::Form::constant;
  case Kind::unknown: return key.as<values::Unknown>()->attributes.birth > since;
  case Kind::tensor: return key.as<values::Tensor>()->state.birth > since;
  case Kind::list: return key.as<values::List>()->state.birth > since;
  case Kind::instance: return key.as<values::Instance>()->attributes.birth > since;
  default: return false;
  }
}

Value as_of_several(Interpreter& run, Value before, Value wide, std::uint64_t since) {
  if (!wide.is(Kind::state) || !before.is(Kind::state)) return wide;
  const auto with_more = [&]<class State>(const State* was, const State* now) -> Value {
    if (!was || !now || was->rest || !now->rest) return wide;
    const Value more = another(run, now->rest, since);
    if (more == now->rest) return wide;
    auto* made = run.heap().make<State>();
    *made = *now;
    made->rest = run.heap().merge(now->rest, more, Sharing::uniform);
    return Value::of(Kind::state, made);
  };
  if (const auto* now = dynamic_cast<values::ListState*>(wide.object()))
    return with_more(dynamic_cast<values::ListState*>(before.object()), now);
  if (const auto* now = dynamic_cast<values::DictState*>(wide.object()))
    return with_more(dynamic_cast<values::DictState*>(before.object()), now);
  return wide;
}

bool is_settled(const symbolic::Context& symbols, Value wide, Value end, std::uint64_t since) {
  return !(wide.is(Kind::unknown) && may_change_in_place(end)) && is_settled_by_itself(symbols, wide, since);
}
}  // namespace stepzero::interpreter
