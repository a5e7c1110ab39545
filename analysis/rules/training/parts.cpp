#include "rules/training/parts.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

using values::Kind;

Value attribute(const Object* object, std::string_view name) {
  const auto* instance = dynamic_cast<const Instance*>(object);
  if (!instance) return {};
  return instance->attributes.value(syntax::Name(name));
}
Value attribute(Value value, std::string_view name) {
  return value.is(Kind::instance) ? attribute(value.object(), name) : Value{};
}

void Parts::add(Value value, int depth) {
  if (depth > values::deepest_module || found.size() > values::most_parts) {
    complete = false;
    return;
  }
  switch (value.kind) {
  case Kind::list: {
    const auto* state = values::Heap::list_state(value);
    if (!state) break;
    for (const Value& item : state->items) add(item, depth + 1);
    complete = complete && !state->open;
    return;
  }
  case Kind::tuple:
    for (const Value& item : value.as<values::Tuple>()->items) add(item, depth + 1);
    return;
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(value);
    for (const auto& [key, item] : state->items) add(item, depth + 1);
    complete = complete && !state->open;
    return;
  }
  case Kind::tensor:
    found.insert(value.object());
    // Losses do not tell which plain tensors they are computed from.
    complete = complete && value.as<values::Tensor>()->role != values::TensorRole::plain;
    return;
  case Kind::choice:
    add(value.as<values::Choice>()->yes, depth + 1);
    add(value.as<values::Choice>()->no, depth + 1);
    complete = false;
    return;
  case Kind::instance: {
    if (!found.insert(value.object()).second) return;
    const auto* instance = value.as<Instance>();
    if (const Value of = attribute(value, values::OptimizerState::of)) return add(of, depth + 1);
    // A layer of the library that has parameters of its own was given numbers.
    const bool of_numbers = instance->native && !instance->cls &&
        std::ranges::any_of(instance->attributes.entries(), [](const auto& each) {
          const Value held = each.second->value;
          return held.is(Kind::tensor) && held.as<values::Tensor>()->role != values::TensorRole::plain;
        });
    for (const auto& [name, slot] : instance->attributes.entries()) switch (slot->value.kind) {
      case Kind::instance:
      case Kind::list:
      case Kind::dict:
      case Kind::tuple:
      case Kind::choice:
      case Kind::tensor: add(slot->value, depth + 1); break;
      case Kind::unknown:
        if (!of_numbers && !values::is_kept(name.text())) complete = false;  // it may be a module
        break;
      default: break;
      }
    return;
  }
  case Kind::unknown:
  case Kind::iterator:
    complete = false;
    found.insert(value.object());
    return;
  default: return;
  }
}

symbolic::Answer belong_together(const Object* one, const Object* other) {
  if (one == other) return symbolic::Answer::yes;
  Parts of_one, of_other;
  of_one.add(as_value(one));
  of_other.add(as_value(other));
  if (of_one.found.contains(other) || of_other.found.contains(one)) return symbolic::Answer::yes;
  return of_one.complete && of_other.complete ? symbolic::Answer::no : symbolic::Answer::unknown;
}

}  // namespace stepzero::rules
