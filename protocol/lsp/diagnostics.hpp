// Diagnostics, published and pulled.
#pragma once

#include "protocol/lsp/basic.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace stepzero::lsp {

enum class DiagnosticSeverity { error = 1, warning = 2, information = 3, hint = 4 };
constexpr IntRange values_of(DiagnosticSeverity) { return {1, 4}; }

enum class DiagnosticTag { unnecessary = 1, deprecated = 2 };
constexpr IntRange values_of(DiagnosticTag) { return {1, 2}; }

struct DiagnosticRelatedInformation {
  Location location;
  std::string message;
  friend bool operator==(const DiagnosticRelatedInformation&, const DiagnosticRelatedInformation&) = default;
};
STEPZERO_LSP_TYPE(DiagnosticRelatedInformation)

struct CodeDescription {
  std::string href;
  friend bool operator==(const CodeDescription&, const CodeDescription&) = default;
};
STEPZERO_LSP_TYPE(CodeDescription)

using DiagnosticCode = std::variant<std::int32_t, std::string>;

struct Diagnostic {
  Range range;
  std::optional<DiagnosticSeverity> severity;
  std::optional<DiagnosticCode> code;
  std::optional<CodeDescription> code_description;
  std::optional<std::string> source;
  std::string message;
  std::vector<DiagnosticTag> tags;
  std::vector<DiagnosticRelatedInformation> related_information;
  Any data;  // comes back with the code action request, if the client keeps it
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};
STEPZERO_LSP_TYPE(Diagnostic)

struct PublishDiagnosticsParams {
  DocumentUri uri;
  std::optional<std::int32_t> version;
  std::vector<Diagnostic> diagnostics;
  friend bool operator==(const PublishDiagnosticsParams&, const PublishDiagnosticsParams&) = default;
};
STEPZERO_LSP_TYPE(PublishDiagnosticsParams)

// Pull: textDocument/diagnostic and workspace/diagnostic.

struct DocumentDiagnosticParams {
  TextDocumentIdentifier text_document;
  std::optional<std::string> identifier;
  std::optional<std::string> previous_result_id;
  std::optional<ProgressToken> work_done_token;
  std::optional<ProgressToken> partial_result_token;
  friend bool operator==(const DocumentDiagnosticParams&, const DocumentDiagnosticParams&) = default;
};
STEPZERO_LSP_TYPE(DocumentDiagnosticParams)

struct FullDocumentDiagnosticReport {
  std::optional<std::string> result_id;
  std::vector<Diagnostic> items;
  friend bool operator==(const FullDocumentDiagnosticReport&, const FullDocumentDiagnosticReport&) = default;
};
STEPZERO_LSP_TYPE(FullDocumentDiagnosticReport)

struct UnchangedDocumentDiagnosticReport {
  std::string result_id;
  friend bool operator==(
      const UnchangedDocumentDiagnosticReport&, const UnchangedDocumentDiagnosticReport&) = default;
};
STEPZERO_LSP_TYPE(UnchangedDocumentDiagnosticReport)

using DiagnosticReport = std::variant<FullDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport>;

struct DocumentDiagnosticReport {
  DiagnosticReport report;  // its fields lie beside relatedDocuments on the wire
  std::map<DocumentUri, DiagnosticReport> related_documents;
  friend bool operator==(const DocumentDiagnosticReport&, const DocumentDiagnosticReport&) = default;
};
STEPZERO_LSP_TYPE(DocumentDiagnosticReport)

struct DocumentDiagnosticReportPartialResult {
  std::map<DocumentUri, DiagnosticReport> related_documents;
  friend bool operator==(
      const DocumentDiagnosticReportPartialResult&, const DocumentDiagnosticReportPartialResult&) = default;
};
STEPZERO_LSP_TYPE(DocumentDiagnosticReportPartialResult)

struct DiagnosticServerCancellationData {  // `data` of the error ServerCancelled
  bool retrigger_request = true;
  friend bool operator==(
      const DiagnosticServerCancellationData&, const DiagnosticServerCancellationData&) = default;
};
STEPZERO_LSP_TYPE(DiagnosticServerCancellationData)

struct PreviousResultId {
  DocumentUri uri;
  std::string value;
  friend bool operator==(const PreviousResultId&, const PreviousResultId&) = default;
};
STEPZERO_LSP_TYPE(PreviousResultId)

struct WorkspaceDiagnosticParams {
  std::optional<std::string> identifier;
  std::vector<PreviousResultId> previous_result_ids;
  std::optional<ProgressToken> work_done_token;
  std::optional<ProgressToken> partial_result_token;
  friend bool operator==(const WorkspaceDiagnosticParams&, const WorkspaceDiagnosticParams&) = default;
};
STEPZERO_LSP_TYPE(WorkspaceDiagnosticParams)

struct WorkspaceDocumentDiagnosticReport {
  DocumentUri uri;
  std::optional<std::int32_t> version;  // null if the document is not open
  DiagnosticReport report;
  friend bool operator==(
      const WorkspaceDocumentDiagnosticReport&, const WorkspaceDocumentDiagnosticReport&) = default;
};
STEPZERO_LSP_TYPE(WorkspaceDocumentDiagnosticReport)

struct WorkspaceDiagnosticReport {  // and its partial results
  std::vector<WorkspaceDocumentDiagnosticReport> items;
  friend bool operator==(const WorkspaceDiagnosticReport&, const WorkspaceDiagnosticReport&) = default;
};
STEPZERO_LSP_TYPE(WorkspaceDiagnosticReport)

}  // namespace stepzero::lsp
