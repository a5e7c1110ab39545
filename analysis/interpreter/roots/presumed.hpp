// What is taken for an object of a library class because of its name, or of its annotation: it may be
// something else, or nothing. Whatever is asked of it, the answer is open.
#pragma once

#include "values/value.hpp"

namespace stepzero::interpreter {

inline bool is_presumed(values::Value value) {
  if (!value.is(values::Kind::instance)) return false;
  const auto* object = value.as<values::Instance>();
  return object->symbolic && !object->cls && object->native && !object->name.empty();
}

}  // namespace stepzero::interpreter
