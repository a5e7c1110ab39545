// Hover.
#pragma once

#include "protocol/lsp/basic.hpp"

#include <optional>

namespace stepzero::lsp {

using HoverParams = TextDocumentPositionParams;

struct Hover {
  MarkupContent contents;
  std::optional<Range> range;
  friend bool operator==(const Hover&, const Hover&) = default;
};
STEPZERO_LSP_TYPE(Hover)

}  // namespace stepzero::lsp
