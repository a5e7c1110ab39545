// What the methods of a class may set on their object, as their texts say.
#pragma once

#include "interpreter/interpreter.hpp"

#include <vector>

namespace stepzero::interpreter {

// The attributes that a block of a method sets on `self`, nested blocks included, and those whose lists and dicts it changes.
struct Changes {
  std::vector<syntax::Name> set, changed;
  bool any = false;  // setattr with a name that is computed
};
void set_on_self(syntax::Block block, syntax::Name self, Changes& changes);
// What all its methods set but the constructors, those of its bases included.
Changes set_by_methods(const values::Class& cls);
// Unseen code may have called any of them: the numbers, flags and texts that they set are not known from here on.
void lose_set_by_methods(values::Heap& heap, values::Instance& object);

} // namespace stepzero::interpreter
