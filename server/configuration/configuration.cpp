#include "server/configuration/configuration.hpp"

#include "server/configuration/toml.hpp"
#include "server/workspace/libraries.hpp"
#include "server/workspace/paths.hpp"
#include "server/workspace/read.hpp"

#include <algorithm>

namespace stepzero::server {
namespace {

constexpr std::string_view own_file = "stepzero.toml";
constexpr std::string_view shared_file = "pyproject.toml";

rules::Finding finding(const std::string& path, const Problem& problem) {
  rules::Finding result;
  result.rule = configuration_rule;
  result.severity = rules::Severity::warning;
  result.where = {path, problem.where};
  result.message = problem.message;
  if (!problem.replacement.empty()) {
    result.fixes.push_back(
        {"Change to " + problem.replacement, false, {{{path, problem.where}, problem.replacement}}});
  }
  return result;
}

}  // namespace

std::shared_ptr<const ConfigurationFile> read_configuration(const std::string& path, std::string text) {
  const bool is_own = file_name(path) == own_file;
  auto file = std::make_shared<ConfigurationFile>();
  file->path = path;
  file->folder = parent_folder(path);
  file->text = std::make_shared<syntax::Text>(std::move(text));
  const Toml toml = read_toml(
      *file->text, is_own ? std::vector<std::string>() : std::vector<std::string>{"tool", "stepzero"});
  if (toml.broken) {
    // A broken pyproject.toml is other tools' business unless it speaks of us.
    if (!is_own && file->text->bytes().find("stepzero") == std::string::npos) return nullptr;
    file->problems.push_back(finding(
        path, {toml.broken->where, "The settings cannot be read: " + toml.broken->message + ".", {}}));
    return file;
  }
  if (!toml.table) return nullptr;
  if (toml.table->kind != Value::Kind::table) {
    file->problems.push_back(finding(path, {toml.table->where, "\"tool.stepzero\" takes a table.", {}}));
    return file;
  }
  Meaning meaning = interpret(*toml.table, selectable_names());
  file->layer = std::move(meaning.layer);
  for (const Problem& problem : meaning.problems) file->problems.push_back(finding(path, problem));
  if (file->layer.library_folders)
    for (std::string& folder : *file->layer.library_folders) folder = normal_path(folder, file->folder);
  for (const Entry& entry : toml.table->entries) {
    if (entry.key != "library-folders" || entry.value.kind != Value::Kind::list) continue;
    for (const Value& item : entry.value.items)
      if (item.kind == Value::Kind::string &&
          installed_packages(normal_path(item.text, file->folder)).empty())
        file->problems.push_back(finding(
            path, {item.where, "There is no folder of installed packages \"" + item.text + "\".", {}}));
  }
  std::sort(file->problems.begin(), file->problems.end(),
      [](const auto& left, const auto& right) { return left.where.span.begin < right.where.span.begin; });
  return file;
}

std::shared_ptr<const ConfigurationFile> ConfigurationFiles::nearest(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return of_folder(parent_folder(path));
}

std::shared_ptr<const ConfigurationFile> ConfigurationFiles::of_folder(const std::string& folder) {
  if (const auto known = folders_.find(folder); known != folders_.end()) return known->second;
  std::shared_ptr<const ConfigurationFile> result;
  if (boundary_.empty() || is_inside(folder, boundary_)) {
    for (const std::string_view name : {own_file, shared_file}) {
      const std::string path = join(folder, name);
      if (!file_stamp(path)) continue;
      ReadText read = read_text(path);
      if (read.text) {
        result = read_configuration(path, std::move(*read.text));
      } else {
        auto unreadable = std::make_shared<ConfigurationFile>();
        unreadable->path = path;
        unreadable->folder = folder;
        unreadable->text = std::make_shared<syntax::Text>(std::string());
        unreadable->problems.push_back(
            finding(path, {{}, "The settings cannot be read: " + read.reason + ".", {}}));
        result = unreadable;
      }
      if (result) break;
    }
    if (!result && folder != "/") result = of_folder(parent_folder(folder));
  }
  if (!result) result = std::make_shared<ConfigurationFile>();
  folders_[folder] = result;
  return result;
}

void ConfigurationFiles::clear() {
  const std::lock_guard lock(mutex_);
  folders_.clear();
}

}  // namespace stepzero::server
