// Facts by what they hold: most are of no interest to most rules, and all of them do not fit into a cache.
#pragma once

#include "interpreter/record.hpp"

#include <vector>

namespace stepzero::rules {

struct FactIndex {
  std::vector<const interpreter::Fact*> dictionaries;
  std::vector<const interpreter::Fact*> displays;    // `{…}` wherever it stands
  std::vector<const interpreter::Fact*> conditions;  // booleans, and what is one thing or another
  std::vector<const interpreter::Fact*> gradients;   // that are not known to be tensors

  // Of a record's run as it is; made where it is first asked for.
  static const FactIndex& of(const interpreter::Record& record);
};

}  // namespace stepzero::rules
