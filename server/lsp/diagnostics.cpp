#include "server/lsp/diagnostics.hpp"

#include <functional>

namespace stepzero::server {

lsp::DiagnosticReport report_of(const std::vector<lsp::Diagnostic>& diagnostics, const std::string& result_id,
    const std::optional<std::string>& previous) {
  if (previous == result_id) return lsp::UnchangedDocumentDiagnosticReport{result_id};
  return lsp::FullDocumentDiagnosticReport{result_id, diagnostics};
}

void Diagnostics::serve() {
  session_.editor.connection().on(lsp::method::diagnostic,
      [this](lsp::DocumentDiagnosticParams params, protocol::Reply<lsp::DocumentDiagnosticReport> reply) {
        auto shared = std::make_shared<protocol::Reply<lsp::DocumentDiagnosticReport>>(std::move(reply));
        // Those of cells are pushed, to who pulls as well: a client pulls for the editors that it shows, and
        // a notebook is one.
        const OpenDocument* document = session_.analyses.find_for(params.text_document.uri);
        if (document && document->cells) {
          (*shared)({report_of({}, result_id({}), params.previous_result_id), {}});
          return;
        }
        session_.analyses.when_fresh(
            params.text_document.uri, false,
            [shared, previous = params.previous_result_id](
                const std::shared_ptr<const View>& view, Unanswered why) {
              if (view)
                (*shared)({report_of(view->diagnostics, view->result_id, previous), {}});
              else if (why == Unanswered::stopping)
                shared->error(protocol::error_code::request_cancelled, "the server is shutting down");
              else
                (*shared)({report_of({}, result_id({}), previous), {}});
            },
            Needs::findings);
      });
}

void Diagnostics::accepted(OpenDocument& document) {
  const View& view = *document.view;
  for (const std::string& rule : view.analysis->result.failed_rules)
    session_.editor.log_once(lsp::MessageType::error, "a rule failed and is left out: " + rule);
  publish_settings(*view.analysis);
  if (document.cells) {
    publish_cells(document);
  } else if (!session_.editor.pulls()) {
    if (document.gate.admit(view.analysis->version, std::hash<std::string>()(view.result_id)))
      publish(document, view.analysis->version, view.diagnostics);
  }
  if (!view.has_facts) return;  // the same findings come again with them
  Said& last = said_[document.uri];
  // After an edit of its own the client asks anyway.
  if (!document.edited && !document.cells && last.result_id != view.result_id)
    session_.editor.refresh_diagnostics();
  if (!document.edited && last.hints_id != view.hints_id) session_.editor.refresh_hints();
  if (!document.edited && last.lenses_id != view.lenses_id) session_.editor.refresh_lenses();
  last = {view.result_id, view.hints_id, view.lenses_id};
}

void Diagnostics::lost(OpenDocument& document) {
  said_.erase(document.uri);
  if (session_.editor.pulls() && !document.cells)
    session_.editor.refresh_diagnostics();
  else if (!document.cells && document.gate.admit(document.version, 0))
    publish(document, document.version, {});
}

void Diagnostics::closing(OpenDocument& document) {
  said_.erase(document.uri);
  // Problems of a settings file are not said again to who has seen and closed it, until they change.
  const auto settings = settings_.find(document.path);
  const bool has_settings = settings != settings_.end() && !settings->second.empty();
  if (has_settings || (document.analyzed && !document.cells && !session_.editor.pulls()))
    session_.editor.connection().notify(lsp::method::publish_diagnostics, {document.uri, std::nullopt, {}});
}

void Diagnostics::publish_cells(OpenDocument& document) {
  const View& view = *document.view;
  if (!view.analysis->cells) return;
  for (const Cells::Cell& cell : view.analysis->cells->cells) {
    if (!document.cells->find(cell.uri)) continue;  // it went in the meantime
    const auto said = view.by_cell.find(cell.uri);
    if (said != view.by_cell.end() &&
        document.cell_gates[cell.uri].admit(cell.version, std::hash<std::string>()(said->second.result_id)))
      session_.editor.connection().notify(
          lsp::method::publish_diagnostics, {cell.uri, cell.version, said->second.diagnostics});
  }
}

void Diagnostics::cell_closed(OpenDocument& document, const std::string& uri) {
  if (document.cell_gates.erase(uri) != 0)
    session_.editor.connection().notify(lsp::method::publish_diagnostics, {uri, std::nullopt, {}});
}

void Diagnostics::publish(
    const OpenDocument& document, int version, const std::vector<lsp::Diagnostic>& diagnostics) {
  session_.editor.connection().notify(lsp::method::publish_diagnostics, {document.uri, version, diagnostics});
}

void Diagnostics::publish_settings(const Analysis& analysis) {
  if (analysis.configuration_path.empty() || !analysis.configuration_text) return;
  const auto client_view = session_.analyses.client_view();
  std::vector<lsp::Diagnostic> made;
  made.reserve(analysis.configuration_problems.size());
  for (const rules::Finding& problem : analysis.configuration_problems)
    made.push_back(diagnostic(problem, *analysis.configuration_text, *client_view));
  std::vector<lsp::Diagnostic>& last = settings_[analysis.configuration_path];
  if (last == made) return;
  last = made;
  publish_settings(analysis.configuration_path, made);
}

void Diagnostics::publish_settings(const std::string& path, const std::vector<lsp::Diagnostic>& diagnostics) {
  const std::string uri = session_.analyses.client_view()->uri(path);
  const OpenDocument* document = session_.analyses.find(uri);
  session_.editor.connection().notify(lsp::method::publish_diagnostics,
      {uri, document ? std::optional(document->version) : std::nullopt, diagnostics});
}

void Diagnostics::opened(const OpenDocument& document) {
  const auto said = settings_.find(document.path);
  if (said != settings_.end() && !said->second.empty()) publish_settings(document.path, said->second);
}

}  // namespace stepzero::server
