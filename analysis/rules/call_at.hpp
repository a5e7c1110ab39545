// The call that is written at a place of the run.
#pragma once

#include "interpreter/record.hpp"

namespace stepzero::rules {

// Null where none is written there, and of what has no place.
const syntax::CallExpr* call_at(const interpreter::Record& record, values::Place place);

}  // namespace stepzero::rules
