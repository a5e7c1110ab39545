#include "server/lsp/workspace_diagnostics.hpp"

#include "server/log.hpp"
#include "server/lsp/diagnostics.hpp"
#include "server/lsp/sweep_question.hpp"

#include <exception>
#include <stop_token>

namespace stepzero::server {
namespace {

constexpr std::size_t batch_size = 32;
// A held question is asked again when the user pauses, not at every key.
constexpr std::chrono::milliseconds pause{300};

}  // namespace

struct WorkspaceDiagnostics::Question {
  Question(protocol::Reply<lsp::WorkspaceDiagnosticReport> its_reply,
      lsp::WorkspaceDiagnosticParams its_params, std::string its_name)
      : reply(std::move(its_reply)), params(std::move(its_params)), name(std::move(its_name)) {
    for (const lsp::PreviousResultId& each : params.previous_result_ids) previous[each.uri] = each.value;
  }

  protocol::Reply<lsp::WorkspaceDiagnosticReport> reply;
  const lsp::WorkspaceDiagnosticParams params;
  const std::string name;
  std::map<std::string, std::string> previous;  // by URI; what is not met in the pass is gone
  std::shared_ptr<Sweep> sweep;
  std::shared_ptr<WorkDone> progress;
  Analyses::Tick asked_at = 0;
  std::map<std::string, std::string> met;
  lsp::WorkspaceDiagnosticReport report;  // not sent yet
  bool news = false;                      // something differed from `previous`
  std::size_t parts = 0;                  // workers and open documents that are still at it
  std::optional<std::stop_callback<std::function<void()>>> on_cancel;

  bool streams() const { return params.partial_result_token.has_value(); }
};

void WorkspaceDiagnostics::serve() {
  session_.editor.connection().on(lsp::method::workspace_diagnostic,
      [this](lsp::WorkspaceDiagnosticParams params, protocol::Reply<lsp::WorkspaceDiagnosticReport> reply) {
        auto question = std::make_shared<Question>(
            std::move(reply), std::move(params), "sweep:" + std::to_string(++questions_) + ":");
        // The first takes long: it is shown, whether the client asks for that or not.
        if (questions_ == 1 && !question->params.work_done_token)
          question->progress = WorkDone::of_our_own(session_.editor, "stepzero/first-check");
        else
          question->progress = std::make_shared<WorkDone>(session_.editor, question->params.work_done_token);
        ask(question);
      });
}

void WorkspaceDiagnostics::ask(Shared question) {
  const auto world = session_.analyses.world();
  question->asked_at = session_.analyses.now();
  question->met.clear();
  question->news = false;
  question->sweep = std::make_shared<Sweep>(world, session_.analyses.client_view(),
      session_.analyses.versions(), session_.analyses.all_changed(), reports_);
  active_.push_back(question);
  begin_sweep(session_, question, [this](const Shared& found) { work(found); });
}

void WorkspaceDiagnostics::work(const Shared& question) {
  question->progress->begin("stepzero: checking the workspace", true);
  const unsigned workers = std::max(1u, session_.scheduler.pool_size() - 1);
  question->parts = workers + 1;
  for (unsigned worker = 0; worker < workers; ++worker)
    session_.scheduler.request(question->name + std::to_string(worker), Urgency::background,
        [this, question, post = session_.scheduler.poster()](const std::atomic<bool>&) -> Scheduler::Finish {
          std::vector<Sweep::Report> batch;
          try {
            while (auto report = question->sweep->work()) {
              batch.push_back(std::move(*report));
              if (batch.size() < batch_size) continue;
              post([this, question, full = std::exchange(batch, {})]() mutable {
                received(question, std::move(full));
              });
            }
          } catch (const std::exception& error) {
            log::error(std::string("the check of the workspace failed: ") + error.what());
            question->sweep->cancelled = true;  // and the question is answered so
          }
          return [this, question, rest = std::move(batch)] {
            received(question, rest);
            part_done(question);
          };
        });
  ask_open_documents(question);
  part_done(question);
}

// Open documents are reported from the view that all their readers share.
void WorkspaceDiagnostics::ask_open_documents(const Shared& question) {
  std::vector<std::string> uris;
  for (const auto& [uri, document] : session_.analyses.documents())
    if (document->analyzed && document->draft && !document->cells)
      uris.push_back(uri);  // what cells have is pushed
  question->parts += uris.size();
  for (const std::string& uri : uris)
    session_.analyses.when_fresh(
        uri, false,
        [this, question](const std::shared_ptr<const View>& view, Unanswered) {
          if (view)
            say(question, view->analysis->path, view->analysis->version, view->diagnostics, view->result_id);
          part_done(question);
        },
        Needs::findings);
}

void WorkspaceDiagnostics::received(const Shared& question, std::vector<Sweep::Report> batch) {
  for (Sweep::Report& each : batch) {
    for (const std::string& rule : each.report->failed_rules)
      session_.editor.log_once(lsp::MessageType::error, "a rule failed and is left out: " + rule);
    say(question, each.path, std::nullopt, each.report->diagnostics, each.report->result_id);
    reports_[each.path] = std::move(each.report);
  }
  question->progress->report(question->sweep->done(), question->sweep->files().size());
  if (question->streams()) flush(question);
}

void WorkspaceDiagnostics::say(const Shared& question, const std::string& path, std::optional<int> version,
    const std::vector<lsp::Diagnostic>& diagnostics, const std::string& result_id) {
  const std::string uri = session_.analyses.client_view()->uri(path);
  const auto before = question->previous.find(uri);
  const bool same = before != question->previous.end() && before->second == result_id;
  question->met[uri] = result_id;
  if (!same) question->news = true;
  if (same && question->streams()) return;
  question->report.items.push_back(
      {uri, version, report_of(diagnostics, result_id, same ? std::optional(result_id) : std::nullopt)});
}

void WorkspaceDiagnostics::flush(const Shared& question) {
  if (question->report.items.empty()) return;
  session_.editor.connection().notify(
      lsp::method::progress, lsp::progress_of(*question->params.partial_result_token, question->report));
  question->report.items.clear();
}

void WorkspaceDiagnostics::part_done(const Shared& question) {
  if (--question->parts == 0) finish(question);
}

void WorkspaceDiagnostics::finish(const Shared& question) {
  active_.remove(question);
  question->on_cancel.reset();
  if (question->sweep->cancelled || !question->reply) {
    question->progress->end("cancelled");
    question->reply.error(protocol::error_code::request_cancelled, "cancelled");
    return;
  }
  // What the client holds of files that are gone is taken back.
  for (const auto& [uri, id] : question->previous) {
    if (question->met.contains(uri)) continue;
    const std::string nothing = result_id({});
    if (id != nothing) question->news = true;
    if (id != nothing || !question->streams())
      question->report.items.push_back({uri, std::nullopt, report_of({}, nothing, std::nullopt)});
    question->met[uri] = nothing;
  }
  question->progress->end(std::to_string(question->sweep->files().size()) + " files");
  std::erase_if(reports_, [&](const auto& entry) {
    const auto& files = question->sweep->files();
    return !std::binary_search(files.begin(), files.end(), entry.first);
  });
  if (question->streams()) {
    flush(question);
    if (!question->news) {
      held_.push_back(question);
      if (session_.analyses.now() != question->asked_at) changed();
      return;
    }
  }
  question->reply(question->report);
}

void WorkspaceDiagnostics::changed() {
  if (held_.empty()) return;
  again_ = session_.loop.after(pause, [this] {
    for (Shared& question : std::exchange(held_, {}))
      if (!question->reply.cancelled().stop_requested()) ask(std::move(question));
  });
}

void WorkspaceDiagnostics::stop() {
  again_.reset();
  for (const Shared& question : active_) {
    question->sweep->cancelled = true;
    question->reply.error(protocol::error_code::request_cancelled, "the server is shutting down");
  }
  for (const Shared& question : std::exchange(held_, {}))
    question->reply.error(protocol::error_code::request_cancelled, "the server is shutting down");
  active_.clear();
}

}  // namespace stepzero::server
