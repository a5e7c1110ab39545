// Notebook document synchronization: a notebook is a list of cells, each cell's text a text document of its
// own.
#pragma once

#include "protocol/lsp/basic.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace stepzero::lsp {

enum class NotebookCellKind { markup = 1, code = 2 };
constexpr IntRange values_of(NotebookCellKind) { return {1, 2}; }

struct ExecutionSummary {
  std::uint32_t execution_order = 0;
  std::optional<bool> success;
  friend bool operator==(const ExecutionSummary&, const ExecutionSummary&) = default;
};
STEPZERO_LSP_TYPE(ExecutionSummary)

struct NotebookCell {
  NotebookCellKind kind = NotebookCellKind::code;
  DocumentUri document;
  Any metadata;
  std::optional<ExecutionSummary> execution_summary;
  friend bool operator==(const NotebookCell&, const NotebookCell&) = default;
};
STEPZERO_LSP_TYPE(NotebookCell)

struct NotebookDocument {
  DocumentUri uri;
  std::string notebook_type;  // "jupyter-notebook"
  std::int32_t version = 0;
  Any metadata;
  std::vector<NotebookCell> cells;
  friend bool operator==(const NotebookDocument&, const NotebookDocument&) = default;
};
STEPZERO_LSP_TYPE(NotebookDocument)

struct DidOpenNotebookDocumentParams {
  NotebookDocument notebook_document;
  std::vector<TextDocumentItem> cell_text_documents;
  friend bool operator==(
      const DidOpenNotebookDocumentParams&, const DidOpenNotebookDocumentParams&) = default;
};
STEPZERO_LSP_TYPE(DidOpenNotebookDocumentParams)

struct NotebookCellArrayChange {  // replace `delete_count` cells at `start`
  std::uint32_t start = 0;
  std::uint32_t delete_count = 0;
  std::vector<NotebookCell> cells;
  friend bool operator==(const NotebookCellArrayChange&, const NotebookCellArrayChange&) = default;
};
STEPZERO_LSP_TYPE(NotebookCellArrayChange)

struct NotebookCellStructureChange {
  NotebookCellArrayChange array;
  std::vector<TextDocumentItem> did_open;
  std::vector<TextDocumentIdentifier> did_close;
  friend bool operator==(const NotebookCellStructureChange&, const NotebookCellStructureChange&) = default;
};
STEPZERO_LSP_TYPE(NotebookCellStructureChange)

struct NotebookCellTextChange {
  VersionedTextDocumentIdentifier document;
  Any changes;  // a list of TextDocumentContentChangeEvent: from_any<std::vector<…>>
  friend bool operator==(const NotebookCellTextChange&, const NotebookCellTextChange&) = default;
};
STEPZERO_LSP_TYPE(NotebookCellTextChange)

struct NotebookCellsChange {
  std::optional<NotebookCellStructureChange> structure;
  std::vector<NotebookCell> data;
  std::vector<NotebookCellTextChange> text_content;
  friend bool operator==(const NotebookCellsChange&, const NotebookCellsChange&) = default;
};
STEPZERO_LSP_TYPE(NotebookCellsChange)

struct NotebookDocumentChangeEvent {
  Any metadata;
  std::optional<NotebookCellsChange> cells;
  friend bool operator==(const NotebookDocumentChangeEvent&, const NotebookDocumentChangeEvent&) = default;
};
STEPZERO_LSP_TYPE(NotebookDocumentChangeEvent)

struct VersionedNotebookDocumentIdentifier {
  std::int32_t version = 0;
  DocumentUri uri;
  friend bool operator==(
      const VersionedNotebookDocumentIdentifier&, const VersionedNotebookDocumentIdentifier&) = default;
};
STEPZERO_LSP_TYPE(VersionedNotebookDocumentIdentifier)

struct NotebookDocumentIdentifier {
  DocumentUri uri;
  friend bool operator==(const NotebookDocumentIdentifier&, const NotebookDocumentIdentifier&) = default;
};
STEPZERO_LSP_TYPE(NotebookDocumentIdentifier)

struct DidChangeNotebookDocumentParams {
  VersionedNotebookDocumentIdentifier notebook_document;
  NotebookDocumentChangeEvent change;
  friend bool operator==(
      const DidChangeNotebookDocumentParams&, const DidChangeNotebookDocumentParams&) = default;
};
STEPZERO_LSP_TYPE(DidChangeNotebookDocumentParams)

struct DidSaveNotebookDocumentParams {
  NotebookDocumentIdentifier notebook_document;
  friend bool operator==(
      const DidSaveNotebookDocumentParams&, const DidSaveNotebookDocumentParams&) = default;
};
STEPZERO_LSP_TYPE(DidSaveNotebookDocumentParams)

struct DidCloseNotebookDocumentParams {
  NotebookDocumentIdentifier notebook_document;
  std::vector<TextDocumentIdentifier> cell_text_documents;
  friend bool operator==(
      const DidCloseNotebookDocumentParams&, const DidCloseNotebookDocumentParams&) = default;
};
STEPZERO_LSP_TYPE(DidCloseNotebookDocumentParams)

struct NotebookDocumentFilter {
  std::optional<std::string> notebook_type, scheme, pattern;
  friend bool operator==(const NotebookDocumentFilter&, const NotebookDocumentFilter&) = default;
};
STEPZERO_LSP_TYPE(NotebookDocumentFilter)

struct NotebookCellLanguage {
  std::string language;
  friend bool operator==(const NotebookCellLanguage&, const NotebookCellLanguage&) = default;
};
STEPZERO_LSP_TYPE(NotebookCellLanguage)

struct NotebookSelector {
  std::optional<std::variant<NotebookDocumentFilter, std::string>> notebook;
  std::vector<NotebookCellLanguage> cells;
  friend bool operator==(const NotebookSelector&, const NotebookSelector&) = default;
};
STEPZERO_LSP_TYPE(NotebookSelector)

struct NotebookDocumentSyncOptions {
  std::vector<NotebookSelector> notebook_selector;
  bool save = false;
  friend bool operator==(const NotebookDocumentSyncOptions&, const NotebookDocumentSyncOptions&) = default;
};
STEPZERO_LSP_TYPE(NotebookDocumentSyncOptions)

}  // namespace stepzero::lsp
