#include "values/shape_text.hpp"

namespace stepzero::values {

std::string size_text(const symbolic::Context& symbols, const Dim& dim) {
  if (!dim.size) return "?";
  const std::string text = symbols.text(dim.size);
  return text.empty() ? "?" : text;
}

std::string size_words(const symbolic::Context& symbols, const Dim& dim) {
  const std::string text = size_text(symbols, dim);
  return dim.size && symbols.value(dim.size) ? text : code(text);
}

std::string shape_text(const symbolic::Context& symbols, const Shape& shape) {
  std::string text = "[";
  if (!shape.ndim_known) text += shape.dims.empty() ? "*" : "*, ";
  for (std::size_t i = 0; i < shape.dims.size(); ++i)
    text += (i ? ", " : "") + size_text(symbols, shape.dims[i]);
  return text + "]";
}

}  // namespace stepzero::values
