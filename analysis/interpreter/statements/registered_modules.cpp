// Names of modules, and modules that enter what they define in a registry as they run.
#include "interpreter/statements/module_loader.hpp"

#include <algorithm>
#include <utility>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

const syntax::Module* ModuleLoader::parsed(ModuleRun& run_of) {
  if (!run_of.is_namespace && !std::exchange(run_of.is_read, true))
    run_of.syntax = run_.sources_.module(run_of.path);
  return run_of.syntax.get();
}

namespace {
std::string dotted_path(std::string_view rest) {
  for (const std::string_view end : {".py", "/__init__"})
    if (rest.ends_with(end)) rest.remove_suffix(end.size());
  std::string dotted(rest);
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  return dotted;
}
}  // namespace

// A name of a library's file as the table has it: transformers.utils.auto_docstring.auto_docstring.
std::string ModuleLoader::dotted_name(const std::string& path, Name name) const {
  const std::string_view rest = imports_.within_library(path);
  return dotted_path(rest.empty() ? path : rest) + "." + std::string(name.text());
}

// Its `__name__` if it is imported: as seen from the file that is run, or from a root.
std::string ModuleLoader::name_of(const std::string& path) const {
  std::string_view rest = imports_.within_library(path);
  const auto look_below = [&](const std::string& folder) {
    if (rest.empty() && path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/')
      rest = std::string_view(path).substr(folder.size() + 1);
  };
  look_below(program::folder_of(run_.main_path_));
  for (const std::string& root : run_.sources_.roots()) look_below(root);
  return dotted_path(rest.empty() ? std::string_view(path).substr(path.rfind('/') + 1) : rest);
}

// One that has run, by its `__name__`; null: none.
values::ModuleObject* ModuleLoader::named(std::string_view name) const {
  for (const auto& [path, run_of] : modules_)
    if (run_of.object && run_of.object->globals)
      if (const Value own = run_of.object->globals->names.value(Name("__name__"));
          own.is(Kind::string) && own.text() == name)
        return run_of.object;
  return nullptr;
}

namespace {
// Is it a function or class of that name, made by way of a decorator?
bool is_decorated(const syntax::Stmt* stmt, std::string_view name) {
  if (!stmt) return false;
  if (stmt->kind == StmtKind::function)
    return as<FunctionStmt>(*stmt).name.text() == name && !as<FunctionStmt>(*stmt).decorators.empty();
  return stmt->kind == StmtKind::class_ && as<ClassStmt>(*stmt).name.text() == name &&
      !as<ClassStmt>(*stmt).decorators.empty();
}
}  // namespace

// What is to be asked for is made by way of a decorator: the whole module has to run.
void ModuleLoader::expect_decorated(ModuleRun& run_of, std::string_view name) {
  const syntax::Module* module = run_of.is_installed ? parsed(run_of) : nullptr;
  if (module && std::ranges::any_of(module->items, [&](const Item& item) {
        return is_decorated(item.chunk->stmt, name);
      }))
    run_of.fills_registry = true;
}

// A library asks a dict of its own for a name that it does not have. Modules that it imports whole, and that
// wait until they are asked for, may be those that fill it: their functions enter themselves by decorators.
// True: one has run.
bool ModuleLoader::load_registering(Value key) {
  if (!key.is(Kind::string) || key.text().empty() || run_.depth_ > max_import_depth) return false;
  const std::string& asking = record_.chunks[run_.chunk_].path;
  if (!imports_.is_installed(asking) || !looked_for_registered_.emplace(key.text()).second) return false;
  std::vector<program::Target> waiting;
  for (const auto& [path, run_of] : modules_)
    if (run_of.is_installed && run_of.is_package && asking.starts_with(program::folder_of(path)))
      waiting.insert(waiting.end(), run_of.stars.begin(), run_of.stars.end());
  bool any = false;
  for (const program::Target& each : waiting) {
    values::ModuleObject* source = import_file(each);
    const syntax::Module* module = source->pending ? parsed(modules_[std::string(source->path)]) : nullptr;
    if (!module || std::ranges::none_of(module->items, [&](const Item& item) {
          return is_decorated(item.chunk->stmt, key.text());
        }))
      continue;
    modules_[std::string(source->path)].fills_registry = true;
    load(*source);
    any = true;
  }
  return any;
}

}  // namespace stepzero::interpreter
