#include "server/command_line/checker.hpp"

#include "documents/document.hpp"
#include "rules/launch/named_configurations.hpp"
#include "rules/launch/program_commands.hpp"
#include "server/scheduler/background_core.hpp"
#include "server/workspace/paths.hpp"
#include "server/workspace/read.hpp"
#include "snapshot/unparsed.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <set>
#include <utility>

namespace stepzero::server {
namespace {

// Beyond this the parser gives no statements.
constexpr std::uint32_t largest_analyzed = 8u << 20;

// Where the scripts of a program lie that is checked by its own name.
constexpr std::string_view usual_folders[] = {
    "", "scripts", "script", "bin", "launch", "slurm", "shell", "jobs", "examples", "run"};

std::set<std::string> scripts_of(const Inputs& inputs) {
  std::set<std::string> scripts, seen;
  const auto is_script = [](const std::string& path) {
    return documents::language_of(path) != documents::Language::none;
  };
  const auto starts_others = [](const std::string& path) {
    const ReadText read = path.ends_with(".py") || is_notebook(path) ? read_text(path) : ReadText{};
    return read.text &&
        (is_notebook(path) || rules::launch::may_start_commands(*read.text) ||
            rules::launch::may_name_configurations(*read.text));
  };
  for (const std::string& path : inputs.files)
    if (is_script(path) || starts_others(path)) scripts.insert(path);
  const auto list = [&](const std::string& folder) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error);
        !error && it != std::filesystem::directory_iterator(); it.increment(error))
      if (is_script(it->path().native()) && it->is_regular_file(error)) scripts.insert(it->path().native());
  };
  if (!inputs.found_documents.empty()) return scripts;
  for (const std::string& path : inputs.files) {
    for (std::string folder = parent_folder(path); folder != "/" && seen.insert(folder).second;
        folder = parent_folder(folder)) {
      const auto is_inside_one = [&](const std::string& root) { return is_inside(folder, root); };
      if (std::none_of(inputs.workspace_folders.begin(), inputs.workspace_folders.end(), is_inside_one))
        break;
      for (const std::string_view name : usual_folders) list(name.empty() ? folder : join(folder, name));
    }
  }
  return scripts;
}

// How long each phase of one analysis took.
struct PhaseTimes final : syntax::PhaseClock {
  using Clock = std::chrono::steady_clock;
  syntax::Phase enter(syntax::Phase phase) override {
    const auto now = Clock::now();
    taken[static_cast<std::size_t>(current)] += std::chrono::duration_cast<std::chrono::microseconds>(
        now - since);
    since = now;
    return std::exchange(current, phase);
  }
  decltype(Checked::phases) taken{};
  syntax::Phase current = syntax::Phase::other;
  Clock::time_point since = Clock::now();
};

}  // namespace

Checker::Checker(const Inputs& inputs, ConfigurationFiles& configuration,
    const CommandLineSettings& command_line, Analyze analyze)
    : analyze_(std::move(analyze)), workspace_folders_(inputs.workspace_folders),
      standard_input_(inputs.standard_input), standard_input_cells_(inputs.standard_input_cells),
      statistics_(command_line.statistics),
      background_(inputs.files.size() == 1 && !statistics_ ? another_core() : syntax::BackgroundRunner{}),
      modules_(std::make_shared<ModuleCache>(std::size_t{64} << 20, background_)) {
  const std::set<std::string> scripts = scripts_of(inputs);
  scripts_.assign(scripts.begin(), scripts.end());
  for (const std::string& path : inputs.files) {
    std::shared_ptr<const ConfigurationFile> file = configuration.nearest(path);
    std::shared_ptr<const Settings>& merged = merged_[file.get()];
    if (!merged) {
      Settings settings = merge({&file->layer, &command_line.layer});
      settings.ignore.insert(settings.ignore.end(), command_line.ignore.begin(), command_line.ignore.end());
      merged = std::make_shared<const Settings>(std::move(settings));
      configurations_.push_back(file);
    }
    settings_.emplace(path, merged);
    configuration_of_.emplace(path, file);
  }
}

std::shared_ptr<const Cells> Checker::cells(const std::string& path) const {
  if (!is_notebook(path)) return nullptr;
  return path == standard_input_ ? standard_input_cells_ : modules_->cells(path);
}

void Checker::find_launches(const std::shared_ptr<const Overlay>& overlay) const {
  std::call_once(found_launches_, [&] {
    for (const std::string& script : scripts_) launches_.add(sources(script, overlay), script);
  });
}

snapshot::LaunchesOfOne Checker::launches(
    const std::string& path, const std::shared_ptr<const Overlay>& overlay) const {
  find_launches(overlay);
  return launches_.of(path);
}

const snapshot::LaunchCounts& Checker::launch_counts(const std::shared_ptr<const Overlay>& overlay) const {
  find_launches(overlay);
  return launches_.counts();
}

FileSources Checker::sources(const std::string& path, const std::shared_ptr<const Overlay>& overlay) const {
  const auto known = settings_.find(path);
  return {modules_, import_roots(workspace_folders_, path), overlay,
      known == settings_.end() ? std::vector<std::string>() : known->second->library_folders};
}

Checked Checker::check(const std::string& path, const std::shared_ptr<const Overlay>& overlay) const {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  };
  Checked checked;
  const auto begin = Clock::now();
  const FileSources files = sources(path, overlay);
  const std::shared_ptr<const syntax::Module> module = files.module(path);
  if (!module) {
    const ReadText read = read_text(path);
    checked.unreadable = read.text && is_notebook(path) ? read_notebook(*read.text).reason : read.reason;
    if (checked.unreadable.empty()) checked.unreadable = "changed while it was read";
    return checked;
  }
  checked.reading = since(begin);
  const auto read = Clock::now();
  checked.is_too_large = module->text->size() > largest_analyzed;
  if (module->has_error && !is_notebook(path)) checked.unparsed = snapshot::unparsed_lines(*module);
  const Settings& wanted = settings(path);
  snapshot::Options options;
  options.select = wanted.select;
  options.ignore = wanted.ignore;
  options.gpu_memory = wanted.gpu_memory;
  options.want_facts = false;
  options.background = background_;
  PhaseTimes times;
  if (statistics_) options.clock = &times;
  options.launches = [&] { return launches(path, overlay); };
  options.named_as = [&] {
    find_launches(overlay);
    return launches_.named_as(path);
  };
  try {
    snapshot::Result result = analyze_(files, path, options);
    checked.findings = std::move(result.findings);
    checked.read = std::move(result.read);
    checked.not_checked = std::move(result.not_checked);
    checked.failures = std::move(result.failed_rules);
    checked.steps = result.steps;
    checked.units = result.units_run;
    checked.roots = std::move(result.costly_roots);
    times.enter(syntax::Phase::other);
    checked.phases = times.taken;
  } catch (const std::exception& error) {
    checked.failures.push_back(std::string("the analysis: ") + error.what());
  }
  wanted.apply(checked.findings);
  checked.analyzing = since(read);
  return checked;
}

}  // namespace stepzero::server
