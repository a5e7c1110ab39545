// Inlay hints.
#pragma once

#include "protocol/lsp/edit.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace stepzero::lsp {

struct InlayHintParams {
  TextDocumentIdentifier text_document;
  Range range;  // only hints inside it are wanted
  std::optional<ProgressToken> work_done_token;
  friend bool operator==(const InlayHintParams&, const InlayHintParams&) = default;
};
STEPZERO_LSP_TYPE(InlayHintParams)

enum class InlayHintKind { type = 1, parameter = 2 };
constexpr IntRange values_of(InlayHintKind) { return {1, 2}; }

using Tooltip = std::variant<MarkupContent, std::string>;

struct InlayHintLabelPart {
  std::string value;
  std::optional<Tooltip> tooltip;
  std::optional<Location> location;
  std::optional<Command> command;
  friend bool operator==(const InlayHintLabelPart&, const InlayHintLabelPart&) = default;
};
STEPZERO_LSP_TYPE(InlayHintLabelPart)

struct InlayHint {
  Position position;
  std::variant<std::string, std::vector<InlayHintLabelPart>> label;
  std::optional<InlayHintKind> kind;
  std::vector<TextEdit> text_edits;  // what accepting the hint writes
  std::optional<Tooltip> tooltip;
  bool padding_left = false, padding_right = false;
  Any data;
  friend bool operator==(const InlayHint&, const InlayHint&) = default;
};
STEPZERO_LSP_TYPE(InlayHint)

}  // namespace stepzero::lsp
