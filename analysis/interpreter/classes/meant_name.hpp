// The edit that writes the name that looks meant where an attribute is read.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// Offers to write `meant` for the attribute `written` that is read at the problem's place. Nothing if no such
// attribute stands there.
void offer_name(const Record& record, ProblemEvent& problem, syntax::Name written, std::string_view meant);

}  // namespace stepzero::interpreter
