#include "server/lsp/symbols.hpp"

#include "server/log.hpp"
#include "server/lsp/sweep_question.hpp"

#include <algorithm>
#include <exception>
#include <stop_token>

namespace stepzero::server {
namespace {

using Document = std::variant<std::vector<lsp::DocumentSymbol>, std::vector<lsp::SymbolInformation>>;

lsp::SymbolKind kind_of(Symbol::Kind kind) {
  switch (kind) {
  case Symbol::Kind::job: return lsp::SymbolKind::module;
  case Symbol::Kind::model: return lsp::SymbolKind::class_;
  case Symbol::Kind::layer: return lsp::SymbolKind::field;
  case Symbol::Kind::function: return lsp::SymbolKind::function;
  case Symbol::Kind::communication: return lsp::SymbolKind::event;
  }
  return lsp::SymbolKind::object;
}

// Of a notebook, those of the cell that was asked for.
bool is_elsewhere(
    const Analysis& analysis, const ClientView& client_view, const std::string& uri, const Symbol& symbol) {
  return analysis.cells &&
      client_view.location(analysis, *analysis.module->text, {analysis.path, symbol.place}).uri != uri;
}

std::vector<lsp::DocumentSymbol> tree(const std::vector<Symbol>& symbols, const Analysis& analysis,
    const ClientView& client_view, const std::string& uri) {
  std::vector<lsp::DocumentSymbol> made;
  for (const Symbol& symbol : symbols) {
    if (is_elsewhere(analysis, client_view, uri, symbol)) continue;
    lsp::DocumentSymbol& out = made.emplace_back();
    out.name = symbol.name;
    if (!symbol.detail.empty()) out.detail = symbol.detail;
    out.kind = kind_of(symbol.kind);
    out.range = client_view.range(analysis, symbol.whole);
    out.selection_range = client_view.range(analysis, symbol.place);
    out.children = tree(symbol.children, analysis, client_view, uri);
  }
  return made;
}

void list(const std::vector<Symbol>& symbols, const Analysis& analysis, const ClientView& client_view,
    const std::string& container, std::vector<lsp::SymbolInformation>& made) {
  for (const Symbol& symbol : symbols) {
    lsp::SymbolInformation& out = made.emplace_back();
    out.name = symbol.name;
    out.kind = kind_of(symbol.kind);
    out.location = client_view.location(analysis, *analysis.module->text, {analysis.path, symbol.place});
    if (!container.empty()) out.container_name = container;
    list(symbol.children, analysis, client_view, symbol.name, made);
  }
}

}  // namespace

std::vector<lsp::SymbolInformation> symbol_list(const Analysis& analysis, const ClientView& client_view) {
  std::vector<lsp::SymbolInformation> made;
  if (analysis.module) list(symbols(analysis), analysis, client_view, {}, made);
  return made;
}

struct Symbols::Question {
  protocol::Reply<std::optional<std::vector<lsp::SymbolInformation>>> reply;
  lsp::WorkspaceSymbolParams params;
  std::string name;
  std::shared_ptr<Sweep> sweep = nullptr;
  std::shared_ptr<WorkDone> progress = nullptr;
  std::vector<lsp::SymbolInformation> found = {};
  std::size_t parts = 0;
  std::optional<std::stop_callback<std::function<void()>>> on_cancel = std::nullopt;

  void say(const std::vector<lsp::SymbolInformation>& symbols) {
    for (const lsp::SymbolInformation& each : symbols)
      if (matches(each.name, params.query)) found.push_back(each);
  }
};

void Symbols::serve() {
  session_.editor.connection().on(lsp::method::document_symbol,
      [this](const lsp::DocumentSymbolParams& params, protocol::Reply<std::optional<Document>> reply) {
        const std::string uri = params.text_document.uri;
        answer_from_view<Document>(session_, uri, true, std::move(reply),
            [this, uri](const OpenDocument&, const View& view) -> std::optional<Document> {
              const auto client_view = session_.analyses.client_view();
              if (client_view->client.hierarchical_symbols) {
                if (!view.analysis->module) return Document(std::vector<lsp::DocumentSymbol>());
                return Document(tree(symbols(*view.analysis), *view.analysis, *client_view, uri));
              }
              std::vector<lsp::SymbolInformation> flat = symbol_list(*view.analysis, *client_view);
              std::erase_if(
                  flat, [&](const auto& each) { return view.analysis->cells && each.location.uri != uri; });
              return Document(std::move(flat));
            });
      });
  session_.editor.connection().on(lsp::method::workspace_symbol,
      [this](lsp::WorkspaceSymbolParams params,
          protocol::Reply<std::optional<std::vector<lsp::SymbolInformation>>> reply) {
        const auto question = std::make_shared<Question>(
            std::move(reply), std::move(params), "symbols:" + std::to_string(++questions_) + ":");
        question->progress = std::make_shared<WorkDone>(session_.editor, question->params.work_done_token);
        ask(question);
      });
}

void Symbols::ask(const Shared& question) {
  question->sweep = std::make_shared<Sweep>(session_.analyses.world(), session_.analyses.client_view(),
      session_.analyses.versions(), session_.analyses.all_changed(), reports_, Sweep::Wants::symbols);
  active_.push_back(question);
  begin_sweep(session_, question, [this](const Shared& found) { work(found); });
}

void Symbols::work(const Shared& question) {
  question->progress->begin("stepzero: looking for models and jobs", true);
  const unsigned workers = std::max(1u, session_.scheduler.pool_size() - 1);
  question->parts = workers + 1;
  for (unsigned worker = 0; worker < workers; ++worker)
    session_.scheduler.request(question->name + std::to_string(worker), Urgency::background,
        [this, question](const std::atomic<bool>&) -> Scheduler::Finish {
          std::vector<Sweep::Report> made;
          try {
            while (auto report = question->sweep->work()) made.push_back(std::move(*report));
          } catch (const std::exception& error) {
            log::error(std::string("the search for symbols failed: ") + error.what());
            question->sweep->cancelled = true;
          }
          return [this, question, made = std::move(made)] {
            for (const Sweep::Report& each : made) {
              question->say(each.report->symbols);
              reports_[each.path] = each.report;
            }
            part_done(question);
          };
        });
  std::vector<std::string> uris;
  for (const auto& [uri, document] : session_.analyses.documents())
    if (document->analyzed && document->draft) uris.push_back(uri);
  question->parts += uris.size();
  for (const std::string& uri : uris)
    session_.analyses.when_fresh(
        uri, false, [this, question](const std::shared_ptr<const View>& view, Unanswered) {
          if (view) question->say(symbol_list(*view->analysis, *session_.analyses.client_view()));
          part_done(question);
        });
  part_done(question);
}

void Symbols::part_done(const Shared& question) {
  if (--question->parts != 0) return;
  active_.remove(question);
  question->on_cancel.reset();
  question->progress->end({});
  if (question->sweep->cancelled || !question->reply) {
    question->reply.error(protocol::error_code::request_cancelled, "cancelled");
    return;
  }
  std::stable_sort(question->found.begin(), question->found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.location.uri, a.location.range.start.line) <
        std::tie(b.location.uri, b.location.range.start.line);
  });
  question->reply(std::move(question->found));
}

void Symbols::stop() {
  for (const Shared& question : active_) {
    question->sweep->cancelled = true;
    question->reply.error(protocol::error_code::request_cancelled, "the server is shutting down");
  }
  active_.clear();
}

}  // namespace stepzero::server
