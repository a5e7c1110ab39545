#include "rules/launch/scripts.hpp"

#include "program/imports.hpp"
#include "program/paths.hpp"
#include "rules/source.hpp"

#include <algorithm>

namespace stepzero::rules::launch {

using namespace syntax;

namespace {

constexpr std::size_t most_modules_of_script = 400;  // files that are read to find what one script launches
constexpr std::size_t most_folders = 16;             // around a script, up to the root of the project

bool leads_nowhere(std::string_view path) {
  return path.find_first_of("\x01\x02") != std::string_view::npos || path.starts_with('/') ||
      path.find("..") != std::string_view::npos;
}

}  // namespace

std::vector<std::string> script_files(const program::Sources& sources, const std::string& shell_script,
    const std::string& folder, const std::string& written, bool is_module, std::set<std::string>& read) {
  constexpr std::string_view ending = ".py";
  std::string relative = written;
  if (is_module) {
    std::replace(relative.begin(), relative.end(), '.', '/');
    relative += ending;
  }
  while (relative.starts_with("./")) relative.erase(0, 2);
  const std::string own = shell_script.substr(0, shell_script.rfind('/'));
  // From the folder of the script itself, or one that it went to from there.
  const bool from_own = relative.starts_with(documents::Chars::own),
             gone_from_own = folder.starts_with(documents::Chars::own);
  if ((from_own || gone_from_own) && !relative.starts_with('/')) {
    const std::string whole = from_own ? own + relative.substr(1) : own + folder.substr(1) + "/" + relative;
    if (whole.find_first_of("\x01\x02\x03") != std::string::npos) return {};
    const std::string path = program::normal_path(whole);
    read.insert(path);
    if (sources.is_file(path)) return {path};
    return {};
  }
  if (leads_nowhere(relative)) return {};
  // A folder that the script went to by a name that is known, and below that or above it.
  std::string gone = folder;
  while (gone.starts_with("./")) gone.erase(0, 2);
  if (leads_nowhere(gone)) gone.clear();
  std::vector<std::string> found, found_where_it_went;
  const auto look = [&](const std::string& start, std::vector<std::string>& into) {
    std::string path = start;
    path += '/';
    path += relative;
    if (path.find("/./") != std::string::npos) path = program::normal_path(path);  // `cd .`
    read.insert(path);
    if (sources.is_file(path)) return into.push_back(std::move(path));
    if (!is_module) return;
    // `python -m package`
    path.replace(path.size() - ending.size(), ending.size(), "/__main__.py");
    read.insert(path);
    if (sources.is_file(path)) into.push_back(std::move(path));
  };
  std::size_t folders = 0;
  for (std::string at = own; !at.empty() && folders < most_folders;
      at = at.substr(0, at.rfind('/')), ++folders) {
    if (!gone.empty()) look(at + "/" + gone, found_where_it_went);
    look(at, found);
    const bool is_root = std::find(sources.roots().begin(), sources.roots().end(), at) !=
        sources.roots().end();
    if (is_root && at != own) break;
  }
  return found_where_it_went.empty() ? found : found_where_it_went;
}

std::optional<std::string> script_file(const program::Sources& sources, const std::string& shell_script,
    const std::string& folder, const std::string& written, bool is_module, std::set<std::string>& read) {
  std::vector<std::string> found = script_files(sources, shell_script, folder, written, is_module, read);
  if (found.size() != 1) return std::nullopt;
  return std::move(found.front());
}

documents::ShellReader reader_of(
    const program::Sources& sources, const std::string& shell_script, std::set<std::string>& read) {
  return [&](const std::string& written) -> std::shared_ptr<const std::string> {
    std::vector<std::string> paths = script_files(sources, shell_script, "", written, false, read);
    const auto is_own = [&](const std::string& path) {
      return std::any_of(sources.roots().begin(), sources.roots().end(),
          [&](const std::string& root) { return path.starts_with(root + "/"); });
    };
    if (paths.size() > 1) std::erase_if(paths, [&](const std::string& path) { return !is_own(path); });
    const auto module = paths.size() == 1 && paths.front() != shell_script && !paths.front().ends_with(".py")
        ? sources.module(paths.front())
        : nullptr;
    return module ? std::shared_ptr<const std::string>(module->text, &module->text->bytes()) : nullptr;
  };
}

std::vector<std::string> imported_by(
    const program::Sources& sources, const Stmt& stmt, const std::string& path, std::set<std::string>& read) {
  std::vector<std::string> found, tried;
  const program::Imports imports(sources, tried);
  const auto add = [&](const std::optional<program::Target>& target) {
    if (target && !target->is_namespace) found.push_back(target->path);
  };
  const auto names_of = [](List<Name> parts) {
    std::vector<std::string_view> names;
    names.reserve(parts.size());
    for (const Name& part : parts) names.push_back(part.text());
    return names;
  };
  if (stmt.kind == StmtKind::import) {
    for (const Alias& alias : as<ImportStmt>(stmt).names) add(imports.absolute(names_of(alias.path), path));
  } else if (stmt.kind == StmtKind::import_from) {
    const auto& from = as<ImportFromStmt>(stmt);
    const auto target = from.level > 0 ? imports.relative(from.level, names_of(from.module), path)
                                       : imports.absolute(names_of(from.module), path);
    add(target);
    for (const Alias& alias : from.names)
      if (target && !alias.path.empty()) add(imports.within(*target, alias.path.front().text()));
  }
  for (std::string& each : tried) read.insert(std::move(each));
  return found;
}

bool mentions(const program::Sources& sources, const std::string& path,
    std::initializer_list<std::string_view> words, std::set<std::string>& read) {
  std::set<std::string> seen;
  std::vector<std::string> waiting = {path};
  while (!waiting.empty() && seen.size() < most_modules_of_script) {
    const std::string next = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(next).second) continue;
    read.insert(next);
    const auto module = sources.module(next);
    if (!module) continue;
    const std::string& text = module->text->bytes();
    if (std::any_of(words.begin(), words.end(),
            [&](std::string_view word) { return text.find(word) != std::string::npos; }))
      return true;
    for (const Item& item : module->items)
      if (item.chunk->stmt)
        for_each_statement(*item.chunk->stmt, [&](const Stmt& stmt) {
          for (std::string& each : imported_by(sources, stmt, next, read)) waiting.push_back(std::move(each));
        });
  }
  return !waiting.empty();
}

}  // namespace stepzero::rules::launch
