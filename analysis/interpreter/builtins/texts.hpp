// What formatting makes of values: `f"{x:.3f}"`, `"%d" % n`, `"{}".format(x)`. Absent: it is not known.
#pragma once

#include "interpreter/run_part.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace stepzero::interpreter {

class Texts : private RunPart {
public:
  explicit Texts(Interpreter& run) : RunPart(run) {}

  Value evaluate_format(const syntax::FormatExpr& expr);
  std::optional<std::string> formatted(Value value, std::string_view specification);
  std::optional<std::string> format_percent(std::string_view pattern, Value argument);
  std::optional<std::string> format_braces(std::string_view pattern, const Arguments& arguments);
};

}  // namespace stepzero::interpreter
