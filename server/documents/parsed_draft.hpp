// The syntax of an open document. The thread that reads the client hands edits over without parsing;
// whichever analysis needs the module first parses. Knows no URI and no analysis.
#pragma once

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
  ParsedDraft(std::string text, int version);

  // Neither waits for a parse.
  void edit(std::vector<syntax::Edit> edits, int version);
  void replace(std::string text, int version);

  struct State {
    std::shared_ptr<const syntax::Module> module;
    int version = 0;
  };
  // The newest text, parsed now if need be.
  State parse();

private:
  std::mutex pending_mutex_; // taken last; guards what the client's thread writes
  std::optional<std::string> pending_text_;
  std::vector<syntax::Edit> pending_edits_;
  int pending_version_;

  std::mutex parse_mutex_; // guards the rest
  std::optional<syntax::Document> document_;
  State state_;
};

} // namespace stepzero::server
