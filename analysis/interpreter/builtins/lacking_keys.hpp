// A key that a dict has not, an index beyond the end of a list: Python raises KeyError or IndexError where it
// is read.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// Tells it where all keys of the dict are known, and this is none of them.
void judge_lacking_key(Interpreter& run, Value dict, Value key, const syntax::Expr& node, Place where);
// Tells it of a list or a tuple whose `size` items are all known.
void judge_beyond_end(Interpreter& run, Value sequence, std::int64_t size, std::int64_t index,
    const syntax::Expr& node, Place where);

}  // namespace stepzero::interpreter
