// Notebooks of the client: each is one document of ours, the program that its Python cells are together.
// Belongs to the loop's thread.
#pragma once

#include "protocol/lsp/notebook.hpp"
#include "server/lsp/diagnostics.hpp"
#include "server/lsp/session.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::server {

class Notebooks {
public:
  Notebooks(Session& session, Diagnostics& diagnostics) : session_(session), diagnostics_(diagnostics) {}

  void serve();

private:
  struct CellText {
    std::string language;
    int version = 0;
    std::optional<Draft> draft;  // nothing after a change that could not be applied
  };
  struct Notebook {
    std::vector<lsp::NotebookCell> cells;
    std::map<std::string, CellText> texts;  // by URI
    int program_version =
        0;  // counts our changes: a notebook's own version need not change with a cell's text
  };

  void opened(lsp::DidOpenNotebookDocumentParams params);
  void changed(lsp::DidChangeNotebookDocumentParams params);
  void changed_structure(OpenDocument& document, Notebook& notebook, lsp::NotebookCellStructureChange change);
  void changed_text(Notebook& notebook, const lsp::NotebookCellTextChange& change);
  void closed(const lsp::DidCloseNotebookDocumentParams& params);
  static NotebookProgram program_of(const Notebook& notebook);

  Session& session_;
  Diagnostics& diagnostics_;
  std::map<std::string, Notebook> notebooks_;  // by URI
};

}  // namespace stepzero::server
