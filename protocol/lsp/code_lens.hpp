// Code lenses.
#pragma once

#include "protocol/lsp/basic.hpp"

#include <optional>

namespace stepzero::lsp {

struct CodeLensParams {
  TextDocumentIdentifier text_document;
  std::optional<ProgressToken> work_done_token;
  std::optional<ProgressToken> partial_result_token;
  friend bool operator==(const CodeLensParams&, const CodeLensParams&) = default;
};
STEPZERO_LSP_TYPE(CodeLensParams)

struct CodeLens {
  Range range;                     // within one line
  std::optional<Command> command;  // absent until resolved
  Any data;
  friend bool operator==(const CodeLens&, const CodeLens&) = default;
};
STEPZERO_LSP_TYPE(CodeLens)

}  // namespace stepzero::lsp
