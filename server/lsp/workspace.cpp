#include "server/lsp/workspace.hpp"

#include "documents/document.hpp"
#include "rules/launch/named_configurations.hpp"
#include "rules/launch/program_commands.hpp"
#include "server/documents/run_sources.hpp"
#include "server/log.hpp"
#include "server/lsp/progress.hpp"
#include "server/workspace/discovery.hpp"
#include "server/workspace/paths.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::server {
namespace {

// Of the files' text: syntax trees are several times as large, and most files are never asked for.
constexpr std::uint64_t scanned_bytes = 8u << 20;

bool is_program(std::string_view path) { return path.ends_with(".py"); }

struct Scan {
  std::vector<std::string> documents;  // and programs that start others, or name configurations
  std::size_t found = 0;
  std::size_t parsed = 0;
};

bool speaks_of_launches(const syntax::Module& module) {
  const std::string& text = module.text->bytes();
  return rules::launch::may_start_commands(text) || rules::launch::may_name_configurations(text);
}

// `report`: so many files of so many are after it.
Scan scan_folders(const SharedState& world, const std::atomic<bool>& cancelled,
    const std::function<void(std::size_t, std::size_t)>& report) {
  Scan scan;
  std::uint64_t bytes = 0;
  std::vector<std::string> files;
  for (const std::string& folder : world.folders) {
    const Discovery discovery = find_python_files(
        folder, &cancelled, NotebookFiles::left_out, Documents::included);
    files.insert(files.end(), discovery.files.begin(), discovery.files.end());
    scan.documents.insert(scan.documents.end(), discovery.documents.begin(), discovery.documents.end());
  }
  scan.found = files.size();
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto stamp = file_stamp(files[i]);
    if (i * 20 / files.size() != (i + 1) * 20 / files.size()) report(i + 1, files.size());
    if (!stamp || stamp->size > scanned_bytes - bytes) continue;
    if (cancelled) return scan;
    if (const auto module = world.cache->module(files[i]); module && speaks_of_launches(*module))
      scan.documents.push_back(files[i]);
    bytes += stamp->size;
    ++scan.parsed;
  }
  return scan;
}

}  // namespace

void Workspace::serve() {
  session_.editor.connection().on(lsp::method::did_change_watched_files,
      [this](const lsp::DidChangeWatchedFilesParams& params) { files_changed(params); });
  session_.editor.connection().on(
      lsp::method::did_change_workspace_folders, [this](const lsp::DidChangeWorkspaceFoldersParams& params) {
        auto folders = folders_;
        for (const lsp::WorkspaceFolder& gone : params.event.removed)
          std::erase_if(folders, [&](const auto& folder) { return folder.uri == gone.uri; });
        folders.insert(folders.end(), params.event.added.begin(), params.event.added.end());
        set_folders(std::move(folders));
        configuration_.pull(folders_, [this] { scan(); });
      });
}

void Workspace::set_folders(std::vector<lsp::WorkspaceFolder> folders) {
  folders_ = std::move(folders);
  std::vector<std::string> paths;
  for (const lsp::WorkspaceFolder& folder : folders_)
    if (folder.uri.starts_with("file:")) paths.push_back(path_for(folder.uri));
  session_.analyses.world_changed([&](SharedState& world) { world.folders = std::move(paths); });
}

void Workspace::watch() {
  std::vector<lsp::Registration> registrations;
  if (session_.editor.client.watched_files_dynamic) {
    lsp::DidChangeWatchedFilesRegistrationOptions options;
    for (const char* pattern : {"**/*.py", "**/*.json", "**/*.yaml", "**/*.yml", "**/*.sh", "**/*.slurm",
             "**/*.sbatch", "**/*.toml", "**/Makefile", "**/Dockerfile*", "**/*.env", "**/.gitignore"})
      options.watchers.push_back({std::string(pattern), std::nullopt});
    registrations.push_back({"stepzero-files", std::string(lsp::method::did_change_watched_files.name),
        protocol::to_any(options)});
  }
  if (session_.editor.client.configuration_dynamic)
    registrations.push_back(
        {"stepzero-configuration", std::string(lsp::method::did_change_configuration.name),
            protocol::to_any(std::map<std::string, std::string>{{"section", "stepzero"}})});
  if (registrations.empty()) return;
  session_.editor.connection().request(lsp::method::register_capability, {std::move(registrations)},
      [this](const protocol::Outcome<protocol::None>& outcome) {
        if (!outcome)
          session_.editor.log(lsp::MessageType::warning,
              "the client does not tell of changed files: " + outcome.error.message);
      });
}

void Workspace::files_changed(const lsp::DidChangeWatchedFilesParams& params) {
  std::vector<std::string> files;
  bool settings = false;
  for (const lsp::FileEvent& event : params.changes) {
    std::string path = path_for(event.uri);
    const std::string_view name = file_name(path);
    if (name == "pyproject.toml" || name == "stepzero.toml" || name == ".gitignore")
      settings = true;
    else
      files.push_back(std::move(path));
  }
  session_.analyses.files_changed(files);
  bool scripts = false;
  for (const std::string& path : files)
    if (documents::language_of(path) != documents::Language::none || is_program(path)) {
      // A program is looked at where it was one that starts others, or may have become one.
      if (is_program(path) && !scripts_.contains(path) && !speaks_of_launches(path)) continue;
      scripts_.insert(path), scripts = true;
    }
  if (scripts) find_launches();
  if (settings)
    session_.analyses.world_changed(
        [](SharedState& world) { world.configuration = std::make_shared<ConfigurationFiles>(); });
}

bool Workspace::speaks_of_launches(const std::string& path) const {
  const auto world = session_.analyses.world();
  const auto module = RunSources(world->open, world->cache, {}).module(path);
  return module && server::speaks_of_launches(*module);
}

void Workspace::program_changed(const std::string& path) {
  if (scripts_.contains(path) || speaks_of_launches(path)) script_changed(path);
}

void Workspace::script_changed(const std::string& path) {
  scripts_.insert(path);
  find_launches();
}

void Workspace::find_launches() {
  if (scripts_.empty() || !session_.analyses.begun()) return;
  std::vector<std::string> scripts(scripts_.begin(), scripts_.end());
  session_.scheduler.request("launches:", Urgency::background,
      [this, scripts = std::move(scripts), world = session_.analyses.world()](
          const std::atomic<bool>& cancelled) -> Scheduler::Finish {
        auto launches = server::find_launches(*world, scripts, cancelled);
        if (cancelled) return {};
        return [this, launches = std::move(launches)] { session_.analyses.launches_changed(launches); };
      });
}

void Workspace::scan() {
  const auto world = session_.analyses.world();
  if (world->folders.empty()) return;
  auto progress = WorkDone::of_our_own(session_.editor, "stepzero/scan/" + std::to_string(++scans_));
  progress->begin("stepzero: reading the workspace", false);
  session_.scheduler.request("scan:", Urgency::background,
      [this, world, progress, post = session_.scheduler.poster()](
          const std::atomic<bool>& cancelled) -> Scheduler::Finish {
        const Scan scan = scan_folders(*world, cancelled, [&](std::size_t done, std::size_t all) {
          post([progress, done, all] { progress->report(done, all); });
        });
        return [this, progress, scan] {
          scripts_.insert(scan.documents.begin(), scan.documents.end());
          find_launches();
          progress->end(std::to_string(scan.found) + " Python files");
          log::info("the workspace has " + std::to_string(scan.found) + " Python files; " +
              std::to_string(scan.parsed) + " were parsed");
        };
      });
}

}  // namespace stepzero::server
