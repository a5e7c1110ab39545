// Keeps the open documents analyzed: each change of a text, a file or a setting starts the analyses that it
// touches, and every reader waits here for the result that is of now. Belongs to the loop's thread. Knows no
// connection.
#pragma once

#include "server/lsp/client_view.hpp"
#include "server/lsp/open_document.hpp"
#include "server/scheduler/scheduler.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::server {

class Analyses {
public:
  struct Hooks {
    // A new view of a document, perhaps of a version that is not the newest.
    std::function<void(OpenDocument&)> accepted = [](OpenDocument&) {};
    // Are diagnostics of the document sent without being asked for?
    std::function<bool(const OpenDocument&)> pushes = [](const OpenDocument&) { return true; };
    // Something that other files may depend on has changed.
    std::function<void()> changed = [] {};
  };

  Analyses(Scheduler& scheduler, SharedState world, Hooks hooks);

  // Null if it is not open.
  OpenDocument* find(const std::string& uri);
  // The document that answers for a URI: for a cell's its notebook.
  OpenDocument* find_for(const std::string& uri);
  const std::map<std::string, std::unique_ptr<OpenDocument>>& documents() const { return documents_; }

  // `cells`: it is a notebook, and its text all of them.
  OpenDocument& open(const std::string& uri, const std::string& language, int version, std::string text,
      std::shared_ptr<const Cells> cells = nullptr);
  // Why the changes have no meaning; the draft is then gone until a whole new text comes.
  std::string change(OpenDocument& document, int version, const std::vector<TextChange>& changes,
      std::shared_ptr<const Cells> cells = nullptr);
  // Its text is not known any more.
  void drop_draft(OpenDocument& document);
  void close(OpenDocument& document);
  // The analysis of a document ended without a result.
  void failed(const std::string& uri);

  // Files on disk changed, appeared or went. Those that are open count as their drafts.
  void files_changed(const std::vector<std::string>& paths);
  // Settings or folders changed: everything is to be analyzed again.
  void world_changed(const std::function<void(SharedState&)>& change);
  // Only the programs are analyzed again that are launched in another way than before.
  void launches_changed(std::shared_ptr<const snapshot::Launches> launches);
  void client_view_changed(const std::function<void(ClientView&)>& change);
  // Until then documents are kept, but nothing runs.
  void begin();
  // Work that nobody waits for, done once: it gives way to documents, and begins anew when they are analyzed.
  void between(std::function<void(const std::atomic<bool>& cancelled)> work);

  // Answers once the document's view is of now. `exact`: a change of the text makes the question void.
  void when_fresh(const std::string& uri, bool exact, Answer answer, Needs needs = Needs::facts);
  // Answers all that waits and starts nothing more.
  void stop();

  std::shared_ptr<const SharedState> world() const { return world_; }
  std::shared_ptr<const ClientView> client_view() const { return client_view_; }
  std::map<std::string, int> versions() const;  // of open documents, by path
  bool begun() const { return begun_; }

  // Ticks at every change; a result that started later than the last change of all that it read is of now.
  using Tick = std::uint64_t;
  Tick now() const { return *tick_; }
  // When settings or folders last changed.
  Tick all_changed() const { return all_changed_; }
  // Whether one of the paths changed after `since`.
  bool changed_since(Tick since, const std::string& path, const std::vector<std::string>& read) const;

private:
  void start(OpenDocument& document, Urgency urgency);
  void start_all();
  void touched(const std::string& path);
  void touched(const std::set<std::string_view>& paths);
  void accept_findings(const std::string& uri, std::shared_ptr<const View> view, Tick started);
  void accept(const std::string& uri, std::shared_ptr<const View> view, Tick started);
  enum class Which { all, exact, findings };
  static void answer_waiters(
      OpenDocument& document, Which which, std::shared_ptr<const View> view, Unanswered why);
  void publish_open();
  void keep_cells(OpenDocument& document, std::shared_ptr<const Cells> cells);

  void start_between();

  Scheduler& scheduler_;
  std::function<void(const std::atomic<bool>& cancelled)> between_;
  void renew(const OpenDocument& document);
  Hooks hooks_;
  std::shared_ptr<const SharedState> world_;
  std::shared_ptr<const ClientView> client_view_ = std::make_shared<ClientView>();
  std::map<std::string, std::unique_ptr<OpenDocument>> documents_;
  std::map<std::string, std::string> notebooks_;  // by the URI of a cell
  bool begun_ = false, stopped_ = false;

  std::shared_ptr<std::atomic<Tick>> tick_ = std::make_shared<std::atomic<Tick>>(1);
  std::map<std::string, Tick> changed_;  // by path
  Tick all_changed_ = 0;
};

// What the analysis calls the document of a URI: a file's path, or a name in a place where no file is.
std::string path_for(const std::string& uri);
bool is_python(const std::string& language, const std::string& path);

}  // namespace stepzero::server
