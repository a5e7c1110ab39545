#include "server/lsp/notebooks.hpp"

#include "server/lsp/text_sync.hpp"

#include <algorithm>

namespace stepzero::server {

void Notebooks::serve() {
  protocol::Connection& connection = session_.editor.connection();
  connection.on(lsp::method::did_open_notebook,
      [this](lsp::DidOpenNotebookDocumentParams params) { opened(std::move(params)); });
  connection.on(lsp::method::did_change_notebook,
      [this](lsp::DidChangeNotebookDocumentParams params) { changed(std::move(params)); });
  connection.on(lsp::method::did_save_notebook, [](const lsp::DidSaveNotebookDocumentParams&) {
    // The cells are what was saved.
  });
  connection.on(lsp::method::did_close_notebook,
      [this](const lsp::DidCloseNotebookDocumentParams& params) { closed(params); });
}

NotebookProgram Notebooks::program_of(const Notebook& notebook) {
  NotebookProgram program;
  std::uint32_t number = 0;
  for (const lsp::NotebookCell& cell : notebook.cells) {
    ++number;
    const auto text = notebook.texts.find(cell.document);
    if (cell.kind != lsp::NotebookCellKind::code || text == notebook.texts.end()) continue;
    const bool python = is_python(text->second.language, {});
    program.add({cell.document, text->second.version, number, 0, 1},
        python && text->second.draft ? std::string_view(text->second.draft->bytes()) : std::string_view());
  }
  return program;
}

void Notebooks::opened(lsp::DidOpenNotebookDocumentParams params) {
  const std::string uri = params.notebook_document.uri;
  if (notebooks_.contains(uri)) closed({{uri}, {}});
  Notebook& notebook = notebooks_[uri];
  notebook.cells = std::move(params.notebook_document.cells);
  for (lsp::TextDocumentItem& item : params.cell_text_documents)
    notebook.texts[item.uri] = {item.language_id, item.version, Draft(std::move(item.text))};
  NotebookProgram program = program_of(notebook);
  OpenDocument& document = session_.analyses.open(uri, "python", ++notebook.program_version,
      std::move(program.text), std::make_shared<Cells>(std::move(program.cells)));
  diagnostics_.opened(document);
}

void Notebooks::changed(lsp::DidChangeNotebookDocumentParams params) {
  const std::string& uri = params.notebook_document.uri;
  const auto found = notebooks_.find(uri);
  OpenDocument* document = session_.analyses.find(uri);
  if (found == notebooks_.end() || !document) {
    session_.editor.log(
        lsp::MessageType::warning, "a change of " + uri + ", which is not open, is passed over");
    return;
  }
  if (!params.change.cells) return;
  Notebook& notebook = found->second;
  if (params.change.cells->structure)
    changed_structure(*document, notebook, std::move(*params.change.cells->structure));
  for (lsp::NotebookCell& changed : params.change.cells->data)
    for (lsp::NotebookCell& cell : notebook.cells)
      if (cell.document == changed.document) cell = changed;
  for (const lsp::NotebookCellTextChange& change : params.change.cells->text_content)
    changed_text(notebook, change);
  NotebookProgram program = program_of(notebook);
  // What a run leaves in a notebook (outputs, counts, metadata) is no edit: a fix that is on its way to the
  // user stays good.
  if (document->draft && program.text == document->draft->bytes() && program.cells == *document->cells)
    return;
  session_.analyses.change(*document, ++notebook.program_version, {{std::nullopt, std::move(program.text)}},
      std::make_shared<Cells>(std::move(program.cells)));
}

void Notebooks::changed_structure(
    OpenDocument& document, Notebook& notebook, lsp::NotebookCellStructureChange change) {
  auto& cells = notebook.cells;
  const auto start = std::min<std::size_t>(change.array.start, cells.size());
  const auto count = std::min<std::size_t>(change.array.delete_count, cells.size() - start);
  const auto at = cells.begin() + static_cast<std::ptrdiff_t>(start);
  const auto rest = cells.erase(at, at + static_cast<std::ptrdiff_t>(count));
  cells.insert(rest, change.array.cells.begin(), change.array.cells.end());
  for (const lsp::TextDocumentIdentifier& closed : change.did_close) {
    notebook.texts.erase(closed.uri);
    diagnostics_.cell_closed(document, closed.uri);
  }
  for (lsp::TextDocumentItem& item : change.did_open)
    notebook.texts[item.uri] = {item.language_id, item.version, Draft(std::move(item.text))};
}

void Notebooks::changed_text(Notebook& notebook, const lsp::NotebookCellTextChange& change) {
  const std::string& uri = change.document.uri;
  const auto text = notebook.texts.find(uri);
  if (text == notebook.texts.end()) {
    session_.editor.log(
        lsp::MessageType::warning, "a change of " + uri + ", which is no cell here, is passed over");
    return;
  }
  CellText& cell = text->second;
  cell.version = change.document.version;
  std::string refused;
  try {
    std::vector<TextChange> changes = changes_of(
        protocol::from_any<std::vector<lsp::TextDocumentContentChangeEvent>>(change.changes));
    if (!cell.draft && !changes.empty() && !changes.front().range) {
      cell.draft.emplace(std::string());
    }
    refused = cell.draft ? cell.draft->apply(changes, session_.analyses.client_view()->encoding()).refused
                         : "";
  } catch (const protocol::DecodeError& error) {
    refused = error.what();
  }
  if (refused.empty()) return;
  session_.editor.log(lsp::MessageType::error,
      uri + ": " + refused + "; the cell counts as empty until its whole text is sent");
  cell.draft.reset();
}

void Notebooks::closed(const lsp::DidCloseNotebookDocumentParams& params) {
  const std::string& uri = params.notebook_document.uri;
  notebooks_.erase(uri);
  OpenDocument* document = session_.analyses.find(uri);
  if (!document) return;
  std::vector<std::string> said;
  said.reserve(document->cell_gates.size());
  for (const auto& [cell, gate] : document->cell_gates) said.push_back(cell);
  for (const std::string& cell : said) diagnostics_.cell_closed(*document, cell);
  diagnostics_.closing(*document);
  session_.analyses.close(*document);
}

}  // namespace stepzero::server
