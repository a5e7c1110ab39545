#include "server/documents/analysis.hpp"

#include "server/scheduler/background_core.hpp"
#include "server/workspace/paths.hpp"

#include <utility>

namespace stepzero::server {
namespace {

void keep_texts(Analysis& analysis, const RunSources& sources) {
  const auto keep = [&](const rules::Location& where) {
    if (where.path == analysis.path || analysis.others.contains(where.path)) return;
    if (const auto module = sources.module(where.path)) analysis.others.emplace(where.path, module->text);
  };
  for (const rules::Finding& finding : analysis.result.findings) {
    for (const rules::Related& related : finding.related) keep(related.where);
    for (const rules::Fix& fix : finding.fixes)
      for (const rules::TextEdit& edit : fix.edits) keep(edit.where);
  }
  for (const snapshot::Fact& fact : analysis.result.facts)
    if (fact.origins)
      for (const rules::Related& origin : *fact.origins) keep(origin.where);
}

}  // namespace

std::string SharedState::folder_of(const std::string& path) const {
  std::string best;
  for (const std::string& folder : folders)
    if (is_inside(path, folder) && folder.size() > best.size()) best = folder;
  return best;
}

Settings SharedState::settings(const std::string& path) const {
  std::vector<const Layer*> layers;
  const auto file = configuration->nearest(path);
  layers.push_back(&file->layer);
  layers.push_back(&editor);
  const auto of_folder = editor_by_folder.find(folder_of(path));
  if (of_folder != editor_by_folder.end()) layers.push_back(&of_folder->second);
  return merge(layers);
}

std::shared_ptr<const snapshot::Launches> find_launches(
    const SharedState& world, const std::vector<std::string>& scripts, const std::atomic<bool>& cancelled) {
  auto launches = std::make_shared<snapshot::Launches>();
  for (const std::string& script : scripts) {
    if (cancelled) break;
    launches->add(RunSources(world.open, world.cache, import_roots(world.folders, script)), script);
  }
  return launches;
}

const syntax::Text* Analysis::text_of(const std::string& other) const {
  if (other == path) return module ? module->text.get() : nullptr;
  const auto found = others.find(other);
  return found == others.end() ? nullptr : found->second.get();
}

namespace {

// `afresh`: of an open document the run that its last analysis left is not gone on from, and is replaced.
std::shared_ptr<const Analysis> analyse_from(bool afresh, const SharedState& world, const std::string& path,
    bool want_facts, const std::atomic<bool>* cancelled, const Early& early) {
  auto analysis = std::make_shared<Analysis>();
  analysis->path = path;
  analysis->settings = world.settings(path);
  // What the editor names is relative to the workspace; what a file names was read as lying beside it.
  std::vector<std::string> libraries = analysis->settings.library_folders;
  for (std::string& folder : libraries) folder = normal_path(folder, world.folder_of(path));
  const RunSources sources(world.open, world.cache, import_roots(world.folders, path), libraries);
  analysis->version = sources.version(path);
  analysis->cells = sources.cells(path);
  analysis->module = sources.module(path);
  const auto configuration = world.configuration->nearest(path);
  analysis->configuration_path = configuration->path;
  analysis->configuration_problems = configuration->problems;
  analysis->configuration_text = configuration->text;

  const std::string& base = configuration->path.empty() ? world.folder_of(path) : configuration->folder;
  if (!base.empty() && is_inside(path, base) && analysis->settings.excludes(relative_to(path, base)))
    return analysis;

  snapshot::Options options;
  options.select = analysis->settings.select;
  options.ignore = analysis->settings.ignore;
  options.gpu_memory = analysis->settings.gpu_memory;
  options.want_facts = want_facts;
  options.want_schedule = want_facts;
  options.want_footprint = want_facts;
  options.cancelled = cancelled;
  options.launches = [&] { return world.launches->of(path); };
  options.named_as = [&] { return world.launches->named_as(path); };
  if (early)
    options.on_findings = [&](const snapshot::Result& result) {
      auto findings = std::make_shared<Analysis>(*analysis);
      findings->result = result;
      findings->settings.apply(findings->result.findings);
      keep_texts(*findings, sources);
      early(std::move(findings));
    };
  const bool is_open = analysis->version >= 0;
  snapshot::RunCache memory;
  if (is_open) {
    if (!afresh) memory = world.memories->take(path);
    options.memory = &memory;
    options.background = another_core();
  }
  analysis->result = world.analyze(sources, path, options);
  if (is_open && !(afresh && analysis->result.cancelled)) world.memories->give(path, std::move(memory));
  analysis->settings.apply(analysis->result.findings);
  keep_texts(*analysis, sources);
  return analysis;
}

}  // namespace

std::shared_ptr<const Analysis> analyze(const SharedState& world, const std::string& path, bool want_facts,
    const std::atomic<bool>* cancelled, const Early& early) {
  return analyse_from(false, world, path, want_facts, cancelled, early);
}

void renew(const SharedState& world, const std::string& path, const std::atomic<bool>* cancelled) {
  analyse_from(true, world, path, false, cancelled, {});
}

std::shared_ptr<const snapshot::Schedule> schedule_of_file(
    const SharedState& world, const std::string& path, int ranks, const std::atomic<bool>* cancelled) {
  const RunSources sources(world.open, world.cache, import_roots(world.folders, path));
  if (!sources.module(path)) return nullptr;
  snapshot::Options options;
  options.select = {"none"};  // no rule has this name
  options.want_facts = false;
  options.want_schedule = true;
  options.world = ranks;
  options.background = another_core();
  options.cancelled = cancelled;
  const snapshot::Result result = world.analyze(sources, path, options);
  return result.cancelled ? nullptr : result.schedule;
}

}  // namespace stepzero::server
