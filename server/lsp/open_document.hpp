// One document that the client holds open: its text, what is known of it, and who waits to know. Belongs to
// the loop's thread; only `parsed` and `view` are shared.
#pragma once

#include "protocol/event_loop.hpp"
#include "protocol/lsp/diagnostics.hpp"
#include "server/documents/analysis.hpp"
#include "server/documents/draft.hpp"
#include "server/documents/parsed_draft.hpp"
#include "server/documents/publish_gate.hpp"
#include "server/features/steady_hints.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::server {

// An analysis as the client takes it: what push, pull, hover, hints and actions of one version all read.
struct View {
  std::shared_ptr<const Analysis> analysis;
  std::vector<lsp::Diagnostic> diagnostics;
  std::string result_id;  // of the diagnostics
  struct OfCell {
    std::vector<lsp::Diagnostic> diagnostics;
    std::string result_id;
  };
  std::map<std::string, OfCell> by_cell;  // a notebook's diagnostics again, by the URI of the cell
  std::string hints_id;                   // of the inlay hints
  std::string lenses_id;                  // of the code lenses; empty where there are none
  bool has_facts = true;                  // false: they are still being collected
};

// What a reader of a view looks at.
enum class Needs { findings, facts };

enum class Unanswered {
  nothing,   // there is nothing to know: not open, closed, no Python, or the draft was dropped
  changed,   // the text moved on
  stopping,  // the server ends
};

// Gets a view, or null and the reason.
using Answer = std::function<void(std::shared_ptr<const View> view, Unanswered why)>;

struct OpenDocument {
  OpenDocument(std::string its_uri, std::string its_path, int its_version, std::string text, bool its_python,
      bool is_analyzed, std::shared_ptr<const Cells> its_cells)
      : uri(std::move(its_uri)), path(std::move(its_path)), analyzed(is_analyzed), version(its_version),
        draft(std::in_place, std::move(text)), cells(std::move(its_cells)),
        parsed(std::make_shared<ParsedDraft>(draft->bytes(), version, cells, its_python)) {}

  const std::string uri;
  const std::string path;  // what the analysis calls it
  const bool analyzed;     // Python, a configuration or a script of the shell
  int version;
  std::optional<Draft> draft;          // nothing after a change that could not be applied
  std::shared_ptr<const Cells> cells;  // null if it is no notebook
  const std::shared_ptr<ParsedDraft> parsed;
  PublishGate gate;
  std::map<std::string, PublishGate> cell_gates;  // by the cell's URI

  std::shared_ptr<const View> view;  // the newest
  bool findings_fresh = false;  // whether the view's diagnostics are of now; its facts may still be missing
  bool fresh = false;           // whether `view` is of the present version and of all that it read
  bool edited = true;           // the client knows that a new result is to come: it changed the text

  SteadyHints hints;
  bool typing = false;          // the text changed, and there was no pause yet
  protocol::Timer hints_pause;  // ends it

  struct Waiter {
    bool exact;     // of no use after a change
    bool findings;  // asks for no facts
    Answer answer;
  };
  std::vector<Waiter> waiters;
};

}  // namespace stepzero::server
