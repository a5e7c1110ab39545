// Shapes and sizes in the user's names.
#pragma once

#include "values/value.hpp"

#include <string>

namespace stepzero::values {

std::string shape_text(const symbolic::Context& symbols, const Shape& shape);  // "[B, T, 768]", "[*, 768]"
std::string size_text(const symbolic::Context& symbols, const Dim& dim);       // "?" if it is not known

// As messages write a size: a number as it is, what has a name as code.
std::string size_words(const symbolic::Context& symbols, const Dim& dim);

// As messages write code. What only stands for it ("the input") is left as it is.
inline std::string code(std::string_view text) {
  return text.starts_with("the ") ? std::string(text) : "`" + std::string(text) + "`";
}

}  // namespace stepzero::values
