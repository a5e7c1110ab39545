// What an iteration adds to something that outlives it, as the text has it. Knows no rule.
#pragma once

#include "rules/report.hpp"

#include <optional>
#include <string>

namespace stepzero::rules {

// What is added there: the operand of `total += loss`, or the argument of `outputs.append(out)`.
struct Added {
  bool sum = false;
  std::string into, what;
  const syntax::Expr* value = nullptr;  // in the chunk of the event
};
// Of an event of the operation `kept`.
std::optional<Added> added_by(const Record& record, const OperationEvent& kept);

}  // namespace stepzero::rules
