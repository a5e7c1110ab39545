// Objects that stand in a class and answer for an attribute.
#pragma once

#include "values/value.hpp"

#include <algorithm>

namespace stepzero::interpreter {

inline bool is_descriptor(values::Value value) {
  if (!value.is(values::Kind::instance) || !value.as<values::Instance>()->cls) return false;
  const auto& order = value.as<values::Instance>()->cls->order;
  return std::any_of(order.begin(), order.end(), [](const values::Class* cls) {
    return cls->body &&
        (cls->body->names.find(syntax::Name("__get__")) || cls->body->names.find(syntax::Name("__set__")));
  });
}

}  // namespace stepzero::interpreter
