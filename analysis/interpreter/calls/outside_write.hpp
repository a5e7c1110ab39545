// What counts as a write to something that was there before.
#pragma once

#include "values/value.hpp"

namespace stepzero::interpreter {

// A package that has its submodule as an attribute from its import on is as it always was: whoever asks for
// it imports it.
inline bool is_outside_write(const values::Slot& slot, const values::Value& before) {
  return !(slot.value == before) && !(!before && slot.value.is(values::Kind::module));
}

}  // namespace stepzero::interpreter
