// What an object of the program is made of: its attributes and items, and theirs. Knows no rule.
#pragma once

#include "rules/report.hpp"

#include <set>

namespace stepzero::rules {

using values::Instance;
using values::Object;
using values::Value;

// What the run keeps of an object under the name; absent if there is nothing, or it is no object.
Value attribute(const Object* object, std::string_view name);
Value attribute(Value value, std::string_view name);

// Parts of an object: its attributes, items, and what it was made of.
struct Parts {
  std::set<const Object*> found;
  bool complete = true;

  void add(Value value, int depth = 0);
};
// Is one the other, or a part of it, as a model and its wrapper? Unknown: not all parts of them are known.
symbolic::Answer belong_together(const Object* one, const Object* other);

}  // namespace stepzero::rules
