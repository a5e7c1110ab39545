// Codecs of diagnostics. Reports are unions told apart by `kind`.
#include "protocol/lsp/diagnostics.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, DiagnosticRelatedInformation> v) {
  f("location", v.location);
  f("message", v.message);
}
STEPZERO_LSP_CODEC(DiagnosticRelatedInformation)

template <class F> void fields(F& f, Of<F, CodeDescription> v) { f("href", v.href); }
STEPZERO_LSP_CODEC(CodeDescription)

template <class F> void fields(F& f, Of<F, Diagnostic> v) {
  f("range", v.range);
  f("severity", v.severity);
  f("code", v.code);
  f("codeDescription", v.code_description);
  f("source", v.source);
  f("message", v.message);
  f.or_empty("tags", v.tags);
  f.or_empty("relatedInformation", v.related_information);
  f("data", v.data);
}
STEPZERO_LSP_CODEC(Diagnostic)

template <class F> void fields(F& f, Of<F, PublishDiagnosticsParams> v) {
  f("uri", v.uri);
  f("version", v.version);
  f("diagnostics", v.diagnostics);
}
STEPZERO_LSP_CODEC(PublishDiagnosticsParams)

template <class F> void fields(F& f, Of<F, DocumentDiagnosticParams> v) {
  f("textDocument", v.text_document);
  f("identifier", v.identifier);
  f("previousResultId", v.previous_result_id);
  f("workDoneToken", v.work_done_token);
  f("partialResultToken", v.partial_result_token);
}
STEPZERO_LSP_CODEC(DocumentDiagnosticParams)

template <class F> void fields(F& f, Of<F, FullDocumentDiagnosticReport> v) {
  f.constant("kind", "full");
  f("resultId", v.result_id);
  f("items", v.items);
}
STEPZERO_LSP_CODEC(FullDocumentDiagnosticReport)

template <class F> void fields(F& f, Of<F, UnchangedDocumentDiagnosticReport> v) {
  f.constant("kind", "unchanged");
  f("resultId", v.result_id);
}
STEPZERO_LSP_CODEC(UnchangedDocumentDiagnosticReport)

namespace {

// The report's own fields lie in the same object as those around it.
void read_report(const Json& in, DiagnosticReport& out) {
  if (in.is_object() && in.value("kind", Json()) == "unchanged")
    from_json(in, out.emplace<UnchangedDocumentDiagnosticReport>());
  else
    from_json(in, out.emplace<FullDocumentDiagnosticReport>());
}

}  // namespace

void to_json(Json& out, const DocumentDiagnosticReport& value) {
  protocol::Codec<DiagnosticReport>::write(out, value.report);
  protocol::FieldWriter(out).or_empty("relatedDocuments", value.related_documents);
}
void from_json(const Json& in, DocumentDiagnosticReport& value) {
  read_report(in, value.report);
  protocol::FieldReader(in).or_empty("relatedDocuments", value.related_documents);
}

template <class F> void fields(F& f, Of<F, DocumentDiagnosticReportPartialResult> v) {
  f("relatedDocuments", v.related_documents);
}
STEPZERO_LSP_CODEC(DocumentDiagnosticReportPartialResult)

template <class F> void fields(F& f, Of<F, DiagnosticServerCancellationData> v) {
  f("retriggerRequest", v.retrigger_request);
}
STEPZERO_LSP_CODEC(DiagnosticServerCancellationData)

template <class F> void fields(F& f, Of<F, PreviousResultId> v) {
  f("uri", v.uri);
  f("value", v.value);
}
STEPZERO_LSP_CODEC(PreviousResultId)

template <class F> void fields(F& f, Of<F, WorkspaceDiagnosticParams> v) {
  f("identifier", v.identifier);
  f("previousResultIds", v.previous_result_ids);
  f("workDoneToken", v.work_done_token);
  f("partialResultToken", v.partial_result_token);
}
STEPZERO_LSP_CODEC(WorkspaceDiagnosticParams)

void to_json(Json& out, const WorkspaceDocumentDiagnosticReport& value) {
  protocol::Codec<DiagnosticReport>::write(out, value.report);
  const protocol::FieldWriter writer(out);
  writer("uri", value.uri);
  writer.nullable("version", value.version);
}
void from_json(const Json& in, WorkspaceDocumentDiagnosticReport& value) {
  read_report(in, value.report);
  const protocol::FieldReader reader(in);
  reader("uri", value.uri);
  reader.nullable("version", value.version);
}

template <class F> void fields(F& f, Of<F, WorkspaceDiagnosticReport> v) { f("items", v.items); }
STEPZERO_LSP_CODEC(WorkspaceDiagnosticReport)

}  // namespace stepzero::lsp
