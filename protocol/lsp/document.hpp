// Text document synchronization.
#pragma once

#include "protocol/lsp/basic.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::lsp {

struct DidOpenTextDocumentParams {
  TextDocumentItem text_document;
  friend bool operator==(const DidOpenTextDocumentParams&, const DidOpenTextDocumentParams&) = default;
};
STEPZERO_LSP_TYPE(DidOpenTextDocumentParams)

struct TextDocumentContentChangeEvent {
  std::optional<Range> range;                 // nullopt: `text` is the whole document
  std::optional<std::uint32_t> range_length;  // deprecated: the range decides
  std::string text;
  friend bool operator==(
      const TextDocumentContentChangeEvent&, const TextDocumentContentChangeEvent&) = default;
};
STEPZERO_LSP_TYPE(TextDocumentContentChangeEvent)

struct DidChangeTextDocumentParams {
  VersionedTextDocumentIdentifier text_document;
  std::vector<TextDocumentContentChangeEvent>
      content_changes;  // each applies to the outcome of the one before
  friend bool operator==(const DidChangeTextDocumentParams&, const DidChangeTextDocumentParams&) = default;
};
STEPZERO_LSP_TYPE(DidChangeTextDocumentParams)

enum class TextDocumentSaveReason { manual = 1, after_delay = 2, focus_out = 3 };
constexpr IntRange values_of(TextDocumentSaveReason) { return {1, 3}; }

struct WillSaveTextDocumentParams {  // of willSave, and of willSaveWaitUntil, which answers edits
  TextDocumentIdentifier text_document;
  TextDocumentSaveReason reason = TextDocumentSaveReason::manual;
  friend bool operator==(const WillSaveTextDocumentParams&, const WillSaveTextDocumentParams&) = default;
};
STEPZERO_LSP_TYPE(WillSaveTextDocumentParams)

struct DidSaveTextDocumentParams {
  TextDocumentIdentifier text_document;
  std::optional<std::string> text;
  friend bool operator==(const DidSaveTextDocumentParams&, const DidSaveTextDocumentParams&) = default;
};
STEPZERO_LSP_TYPE(DidSaveTextDocumentParams)

struct DidCloseTextDocumentParams {
  TextDocumentIdentifier text_document;
  friend bool operator==(const DidCloseTextDocumentParams&, const DidCloseTextDocumentParams&) = default;
};
STEPZERO_LSP_TYPE(DidCloseTextDocumentParams)

}  // namespace stepzero::lsp
