// The syntax of an open document. The thread that reads the client hands edits over without parsing;
// whichever analysis needs the module first parses. Knows no URI and no analysis.
#pragma once

#include "documents/edited.hpp"
#include "server/workspace/notebook.hpp"
#include "syntax/document.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::server {

class ParsedDraft {
public:
  // `python`: false for a configuration or a script of the shell, whose module is its text alone.
  ParsedDraft(
      std::string text, int version, std::shared_ptr<const Cells> cells = nullptr, bool python = true);

  // Neither waits for a parse. `cells`: of the text as it is then, if it is a notebook's.
  void edit(std::vector<syntax::Edit> edits, int version, std::shared_ptr<const Cells> cells = nullptr);
  void replace(std::string text, int version, std::shared_ptr<const Cells> cells = nullptr);

  struct State {
    std::shared_ptr<const syntax::Module> module;
    int version = 0;
    std::shared_ptr<const Cells> cells;
  };
  // The newest text, parsed now if need be.
  State parse();
  bool is_python() const { return python_; }

private:
  std::mutex pending_mutex_;  // taken last; guards what the client's thread writes
  std::optional<std::string> pending_text_;
  std::vector<syntax::Edit> pending_edits_;
  int pending_version_;
  std::shared_ptr<const Cells> pending_cells_;

  const bool python_;
  std::mutex parse_mutex_;  // guards the rest
  std::optional<syntax::Document> document_;
  std::optional<documents::EditedDocument> other_;  // of what is no Python
  State state_;
};

}  // namespace stepzero::server
