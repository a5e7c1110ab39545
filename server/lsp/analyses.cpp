#include "server/lsp/analyses.hpp"

#include "documents/document.hpp"
#include "protocol/uri.hpp"
#include "server/features/code_lens.hpp"
#include "server/features/inlay_hints.hpp"
#include "server/workspace/paths.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace stepzero::server {
namespace {

const std::string key_between = "warm-up";  // no URI
std::string key_renewal(const std::string& uri) { return "renewal of " + uri; }

std::string hints_id(const std::vector<snapshot::Fact>& facts) {
  constexpr syntax::Span everything{0, std::numeric_limits<std::uint32_t>::max()};
  std::size_t hash = 0;
  for (const Hint& hint : inlay_hints(facts, everything, InlayHints::on))
    hash = hash * 31 + std::hash<std::string>()(hint.label) + hint.at;
  return std::to_string(hash);
}

std::string lenses_id(const Analysis& analysis) {
  const std::vector<Lens> lenses = code_lenses(analysis);
  std::size_t hash = 0;
  for (const Lens& lens : lenses) hash = hash * 31 + std::hash<std::string>()(lens.title) + lens.span.begin;
  return lenses.empty() ? std::string() : std::to_string(hash);
}

// What the view's analysis says, in the client's terms.
void tell(View& view, const ClientView& client_view) {
  view.diagnostics = diagnostics(*view.analysis, client_view);
  view.result_id = result_id(view.diagnostics);
  if (!view.analysis->cells) return;
  for (auto& [uri, of_cell] : diagnostics_by_cell(*view.analysis, client_view)) {
    View::OfCell& into = view.by_cell[uri];
    into.result_id = result_id(of_cell);
    into.diagnostics = std::move(of_cell);
  }
}

}  // namespace

std::string path_for(const std::string& uri) {
  if (const auto path = protocol::path_of(uri)) return normal_path(*path, "/");
  if (const auto notebook = protocol::notebook_path_of(uri)) {
    const auto parts = protocol::split_uri(uri);
    return normal_path(*notebook, "/") + "#" + std::string(parts ? parts->fragment : "") + ".py";
  }
  std::string name = uri;
  std::replace(name.begin(), name.end(), '/', '\\');
  return "/" + name;
}

bool is_python(const std::string& language, const std::string& path) {
  if (language.empty()) return path.ends_with(".py") || path.ends_with(".pyi");
  return language == "python";
}

Analyses::Analyses(Scheduler& scheduler, SharedState world, Hooks hooks)
    : scheduler_(scheduler), hooks_(std::move(hooks)),
      world_(std::make_shared<SharedState>(std::move(world))) {}

OpenDocument* Analyses::find(const std::string& uri) {
  const auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : found->second.get();
}

OpenDocument* Analyses::find_for(const std::string& uri) {
  const auto notebook = notebooks_.find(uri);
  return find(notebook == notebooks_.end() ? uri : notebook->second);
}

void Analyses::keep_cells(OpenDocument& document, std::shared_ptr<const Cells> cells) {
  if (document.cells)
    for (const Cells::Cell& cell : document.cells->cells) notebooks_.erase(cell.uri);
  document.cells = std::move(cells);
  if (document.cells)
    for (const Cells::Cell& cell : document.cells->cells) notebooks_[cell.uri] = document.uri;
}

void Analyses::publish_open() {
  auto open = std::make_shared<OpenDrafts>();
  auto client_view = std::make_shared<ClientView>(*client_view_);
  client_view->uris.clear();
  for (const auto& [uri, document] : documents_) {
    if (document->analyzed && document->draft) open->emplace(document->path, document->parsed);
    client_view->uris.emplace(document->path, uri);
  }
  auto world = std::make_shared<SharedState>(*world_);
  world->open = std::move(open);
  world_ = std::move(world);
  client_view_ = std::move(client_view);
}

OpenDocument& Analyses::open(const std::string& uri, const std::string& language, int version,
    std::string text, std::shared_ptr<const Cells> cells) {
  if (OpenDocument* old = find(uri)) close(*old);
  std::string path = path_for(uri);
  // Two spellings of one file are two documents; the second has a name of its own.
  while (client_view_->uris.contains(path)) path += '#';
  const bool python = is_python(language, path);
  const bool analyzed = python || documents::language_of(path, text) != documents::Language::none;
  auto& document = *(documents_[uri] = std::make_unique<OpenDocument>(
                         uri, path, version, std::move(text), python, analyzed, cells));
  keep_cells(document, std::move(cells));
  publish_open();
  touched(path);
  if (analyzed) start(document, Urgency::typing);
  return document;
}

std::string Analyses::change(OpenDocument& document, int version, const std::vector<TextChange>& changes,
    std::shared_ptr<const Cells> cells) {
  document.version = version;
  keep_cells(document, std::move(cells));
  document.fresh = document.findings_fresh = false;
  document.edited = true;
  answer_waiters(document, Which::exact, nullptr, Unanswered::changed);
  std::vector<TextChange> rest = changes;
  if (!document.draft) {
    // Only a whole text mends a dropped draft.
    if (changes.empty() || changes.front().range) return {};
    document.draft.emplace(changes.front().text);
    document.parsed->replace(changes.front().text, version, document.cells);
    rest.erase(rest.begin());
    publish_open();
  }
  Draft::Outcome outcome = document.draft->apply(rest, client_view_->encoding());
  if (outcome.refused.empty()) {
    document.hints.edited(outcome.edits);
    document.typing = true;
    document.hints_pause.reset();
    document.parsed->edit(std::move(outcome.edits), version, document.cells);
    touched(document.path);
    if (document.analyzed) start(document, Urgency::typing);
  } else {
    drop_draft(document);
  }
  return outcome.refused;
}

void Analyses::drop_draft(OpenDocument& document) {
  document.draft.reset();
  document.hints.clear();
  document.view.reset();
  document.fresh = document.findings_fresh = false;
  scheduler_.drop(document.uri);
  scheduler_.drop(key_renewal(document.uri));
  publish_open();
  touched(document.path);
  answer_waiters(document, Which::all, nullptr, Unanswered::nothing);
}

void Analyses::close(OpenDocument& document) {
  document.gate.close();
  scheduler_.drop(document.uri);
  scheduler_.drop(key_renewal(document.uri));
  answer_waiters(document, Which::all, nullptr, Unanswered::nothing);
  const std::string path = document.path;
  keep_cells(document, nullptr);
  documents_.erase(document.uri);
  publish_open();
  touched(path);
}

void Analyses::touched(const std::string& path) { touched(std::set<std::string_view>{path}); }

// What changed at the paths makes the documents that read one of them stale.
void Analyses::touched(const std::set<std::string_view>& paths) {
  ++*tick_;
  for (const std::string_view path : paths) changed_[std::string(path)] = *tick_;
  for (const auto& [uri, document] : documents_) {
    if (paths.contains(document->path) || !document->view) continue;
    const auto& read = document->view->analysis->result.read;
    if (std::any_of(read.begin(), read.end(), [&](const std::string& each) { return paths.contains(each); }))
      start(*document, Urgency::dependent);
  }
  hooks_.changed();
}

// A change of branch tells of thousands at once.
void Analyses::files_changed(const std::vector<std::string>& paths) {
  std::set<std::string_view> closed;
  for (const std::string& path : paths)
    if (!world_->open->contains(path)) closed.insert(path);
  if (!closed.empty()) touched(closed);
}

void Analyses::world_changed(const std::function<void(SharedState&)>& change) {
  auto world = std::make_shared<SharedState>(*world_);
  change(*world);
  world_ = std::move(world);
  all_changed_ = ++*tick_;
  start_all();
  hooks_.changed();
}

void Analyses::launches_changed(std::shared_ptr<const snapshot::Launches> launches) {
  const std::shared_ptr<const SharedState> before = world_;
  auto world = std::make_shared<SharedState>(*world_);
  world->launches = std::move(launches);
  world_ = std::move(world);
  const std::set<std::string> programs = world_->launches->changed_since(*before->launches);
  if (programs.empty()) return;
  ++*tick_;
  for (const std::string& path : programs) changed_[path] = *tick_;
  for (const auto& [uri, document] : documents_)
    if (programs.contains(document->path) && document->analyzed && document->draft)
      start(*document, Urgency::dependent);
  hooks_.changed();
}

void Analyses::client_view_changed(const std::function<void(ClientView&)>& change) {
  auto client_view = std::make_shared<ClientView>(*client_view_);
  change(*client_view);
  client_view_ = std::move(client_view);
}

void Analyses::begin() {
  if (begun_) return;
  begun_ = true;
  start_all();
}

void Analyses::between(std::function<void(const std::atomic<bool>& cancelled)> work) {
  between_ = std::move(work);
  start_between();
}

void Analyses::start_between() {
  if (!between_) return;
  scheduler_.request(key_between, Urgency::background,
      [this, work = between_](const std::atomic<bool>& cancelled) -> Scheduler::Finish {
        work(cancelled);
        return [this] { between_ = nullptr; };
      });
}

void Analyses::start_all() {
  for (const auto& [uri, document] : documents_)
    if (document->analyzed && document->draft)
      start(*document, document->view ? Urgency::dependent : Urgency::typing);
}

void Analyses::start(OpenDocument& document, Urgency urgency) {
  document.fresh = document.findings_fresh = false;
  if (!begun_ || stopped_) return;
  if (!document.waiters.empty()) urgency = Urgency::typing;
  scheduler_.request(document.uri, urgency,
      [this, uri = document.uri, path = document.path, world = world_, client_view = client_view_,
          tick = tick_, post = scheduler_.poster()](const std::atomic<bool>& cancelled) -> Scheduler::Finish {
        const Tick started = *tick;
        auto view = std::make_shared<View>();
        // What the user waits for goes out before the facts are collected.
        const auto early = [&](std::shared_ptr<const Analysis> findings) {
          auto first = std::make_shared<View>();
          first->has_facts = false;
          first->analysis = std::move(findings);
          tell(*first, *client_view);
          post([this, uri, started, first = std::move(first)] { accept_findings(uri, first, started); });
        };
        view->analysis = analyze(*world, path, true, &cancelled, early);
        if (view->analysis->result.cancelled) return {};
        tell(*view, *client_view);
        view->hints_id = hints_id(view->analysis->result.facts);
        view->lenses_id = lenses_id(*view->analysis);
        return [this, uri, started, view = std::move(view)] { accept(uri, view, started); };
      });
  scheduler_.drop(key_between);
  scheduler_.drop(key_renewal(document.uri));
}

// While nobody types.
void Analyses::renew(const OpenDocument& document) {
  if (!world_->memories->is_bloated(document.path)) return;
  scheduler_.request(key_renewal(document.uri), Urgency::background,
      [world = world_, path = document.path](const std::atomic<bool>& cancelled) -> Scheduler::Finish {
        server::renew(*world, path, &cancelled);
        return {};
      });
}

bool Analyses::changed_since(
    Tick since, const std::string& path, const std::vector<std::string>& read) const {
  if (all_changed_ > since) return true;
  const auto newer = [&](const std::string& each) {
    const auto found = changed_.find(each);
    return found != changed_.end() && found->second > since;
  };
  return newer(path) || std::any_of(read.begin(), read.end(), newer);
}

// The findings of a view whose facts are still to come: they are published, and nothing else is answered from
// it. Where they are partial they are not what somebody asked for, and who types on takes their place.
void Analyses::accept_findings(const std::string& uri, std::shared_ptr<const View> view, Tick started) {
  OpenDocument* document = find(uri);
  if (!document || stopped_) return;
  const Analysis& analysis = *view->analysis;
  if (analysis.version != document->version || changed_since(started, document->path, analysis.result.read))
    return;
  if (document->view && document->view->analysis->version > analysis.version) return;
  if (analysis.result.partial) {
    if (!hooks_.pushes(*document)) return;
    document->view = view;
    hooks_.accepted(*document);
    scheduler_.published(uri);
    return;
  }
  document->view = view;
  document->findings_fresh = true;
  hooks_.accepted(*document);
  scheduler_.published(uri);
  answer_waiters(*document, Which::findings, view, Unanswered::nothing);
}

void Analyses::accept(const std::string& uri, std::shared_ptr<const View> view, Tick started) {
  OpenDocument* document = find(uri);
  if (!document || stopped_) return;
  const Analysis& analysis = *view->analysis;
  if (document->view && analysis.version < document->view->analysis->version) return;
  document->view = view;
  const bool stale = changed_since(started, document->path, analysis.result.read);
  document->fresh = document->findings_fresh = !stale && analysis.version == document->version;
  hooks_.accepted(*document);
  scheduler_.published(uri);
  document->edited = !document->fresh && document->edited;
  if (document->fresh) {
    answer_waiters(*document, Which::all, view, Unanswered::nothing);
    renew(*document);
  } else if (!scheduler_.busy(uri)) {
    start(*document, Urgency::dependent);
  }
  if (scheduler_.idle()) start_between();
}

void Analyses::answer_waiters(
    OpenDocument& document, Which which, std::shared_ptr<const View> view, Unanswered why) {
  std::vector<OpenDocument::Waiter> waiting = std::exchange(document.waiters, {});
  for (OpenDocument::Waiter& waiter : waiting) {
    if (which == Which::all || (which == Which::exact && waiter.exact) ||
        (which == Which::findings && waiter.findings))
      waiter.answer(view, why);
    else
      document.waiters.push_back(std::move(waiter));
  }
}

void Analyses::failed(const std::string& uri) {
  if (OpenDocument* document = find(uri)) answer_waiters(*document, Which::all, nullptr, Unanswered::nothing);
}

void Analyses::when_fresh(const std::string& uri, bool exact, Answer answer, Needs needs) {
  OpenDocument* document = find_for(uri);
  if (stopped_)
    answer(nullptr, Unanswered::stopping);
  else if (!document || !document->analyzed || !document->draft)
    answer(nullptr, Unanswered::nothing);
  else if (document->fresh || (needs == Needs::findings && document->findings_fresh))
    answer(document->view, Unanswered::nothing);
  else {
    document->waiters.push_back({exact, needs == Needs::findings, std::move(answer)});
    scheduler_.hasten(document->uri);
  }
}

void Analyses::stop() {
  stopped_ = true;
  for (const auto& [uri, document] : documents_)
    answer_waiters(*document, Which::all, nullptr, Unanswered::stopping);
}

std::map<std::string, int> Analyses::versions() const {
  std::map<std::string, int> versions;
  for (const auto& [uri, document] : documents_) versions.emplace(document->path, document->version);
  return versions;
}

}  // namespace stepzero::server
