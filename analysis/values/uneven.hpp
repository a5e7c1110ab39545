// What a tensor was computed from on one side of a decision that each rank makes by its own data. Lies in the
// graph of the tensor, beside what it is about.
#pragma once

#include "values/value.hpp"

#include <vector>

namespace stepzero::values {

struct Uneven : Object {
  Cond condition = nullptr;  // null: one that is not known
  std::vector<const Object*> sources;
};

}  // namespace stepzero::values
