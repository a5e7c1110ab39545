// Calls of rows, and what is to be said of those that cannot succeed.
#pragma once

#include "interpreter/run_part.hpp"

#include <functional>
#include <string_view>

namespace stepzero::interpreter {

class LibraryCalls : private RunPart {
public:
  explicit LibraryCalls(Interpreter& run) : RunPart(run) {}

  Value call_library(const values::LibrarySymbol& symbol, Value self, Arguments arguments, Place place,
      const syntax::CallExpr* expr);
  Value call_wrapped(Value either, Value wrapper, Value module, Arguments arguments, Place place,
      const syntax::CallExpr* expr);
  void each_operand(const interpreter::Call& called, const std::function<void(Value)>& look);
  // Fills in whether the failure may be caught, and under which assumption it is one.
  void qualify(ProblemEvent& event, Cond when, bool again, std::string_view raises);

private:
  struct LibraryCall;

  int tries_for_others(std::string_view raised);
  bool is_about_option(Cond given) const;
};

}  // namespace stepzero::interpreter
