// What annotations and comments of the program say of shapes: `x: Float[Tensor, "b c"]`, `x = f(y)  # [B,
// C]`.
#pragma once

#include "interpreter/run_part.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace stepzero::interpreter {

class Annotations : private RunPart {
public:
  explicit Annotations(Interpreter& run) : RunPart(run) {}

  // The shape that an annotation gives; the same names are the same sizes.
  std::optional<values::Shape> annotated_shape(
      const syntax::Expr* annotation, Place where, std::map<std::string, Int, std::less<>>& names);
  // A tensor that contradicts its annotation becomes a problem.
  void judge_annotation(
      const syntax::Expr* annotation, std::uint32_t chunk, Value value, Place where, std::string_view what);
  // Sizes of the value that are not known are called as the comment after the statement calls them.
  void name_by_comment(Value value, const syntax::Stmt& stmt);
};

}  // namespace stepzero::interpreter
