// A place of a text with the line it stands on and carets under it. Knows no findings.
#pragma once

#include "syntax/text.hpp"

#include <string>
#include <string_view>

namespace stepzero::server {

struct FrameStyle {
  std::string_view color;  // of the carets
  bool has_colors = false;
  std::uint32_t context = 1;  // lines shown before and after
  std::size_t width = 120;    // columns; longer lines are cut around the place
};

// Lines that end with '\n'. A span of many lines is shown with its first and last ones.
std::string code_frame(const syntax::Text& text, syntax::Span span, const FrameStyle& style);

}  // namespace stepzero::server
