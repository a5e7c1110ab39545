// The modules that a run has imported, and how a name of an import is found and bound. Each file runs once;
// an import cycle sees what is there so far. Of an installed library a module is read when somebody asks for
// it, and its imports wait until somebody asks for their names.
#pragma once

#include "interpreter/run_part.hpp"

#include <map>
#include <unordered_map>
#include <unordered_set>

namespace stepzero::interpreter {

class ModuleLoader : private RunPart {
public:
  explicit ModuleLoader(Interpreter& run);

  // `import …` and `from … import …`.
  void run_import(const syntax::ImportStmt& stmt);
  void run_import_from(const syntax::ImportFromStmt& stmt);
  Value import_dotted(std::span<const syntax::Name> path, bool whole);
  Value module_attribute(values::ModuleObject& module, syntax::Name name, Place place);
  // Runs the module, if it has not run. That of an installed library has a budget of its own.
  void load(values::ModuleObject& module);
  // The file that the run is of.
  ModuleRun& begin_main(const std::string& path);
  ModuleRun& main();
  // The names of that file; null before it has any.
  values::Scope* main_globals() const;
  void run_module(ModuleRun& module, std::shared_ptr<const syntax::Module> syntax, bool as_main);
  // Runs the statements [first, last) of the module's text.
  void run_items(ModuleRun& module, const std::shared_ptr<const syntax::Module>& syntax, std::size_t first,
      std::size_t last);
  std::uint32_t add_chunk(
      const std::string& path, std::shared_ptr<const syntax::Module> module, const syntax::Item& item);
  // Imports that nothing else answers look in that folder, too, from here on. Kept as (those before, the last
  // one). False where it is not known which folder it is.
  bool add_import_root(const Arguments& arguments);
  // Of an installed library, by its globals; else null.
  ModuleRun* installed_module(const values::Scope* globals);
  // A name that the module binds once somebody asks for it; absent if it has none such.
  Value lazy_name(ModuleRun& module, syntax::Name name);
  // A library asks a dict of its own for a key that it does not have: runs the modules that enter it by a
  // decorator. True: one has run.
  bool load_registering(Value key);
  // A name of a library's file as the table has it: transformers.utils.auto_docstring.auto_docstring.
  std::string dotted_name(const std::string& path, syntax::Name name) const;
  // One that has run, by its `__name__`; null: none.
  values::ModuleObject* named(std::string_view name) const;
  // Is a module being imported?
  bool loading() const { return loading_ > 0; }
  const std::map<std::string, ModuleRun>& modules() const { return modules_; }  // by path

private:
  // Parsed when somebody asks for it: most of what libraries import is not used.
  const syntax::Module* parsed(ModuleRun& module);
  std::string name_of(const std::string& path) const;
  void expect_decorated(ModuleRun& module, std::string_view name);
  values::ModuleObject* import_file(const program::Target& target);
  void lose_unfinished(values::ModuleObject& module);
  const std::vector<syntax::Name>& exports(ModuleRun& module);
  std::optional<program::Target> find_import(
      std::span<const std::string_view> names, const std::string& from);
  std::optional<program::Target> find_in_root(
      std::string_view folder, std::span<const std::string_view> names, const std::string& from) const;

  program::Imports imports_;
  std::map<std::string, ModuleRun> modules_;
  std::unordered_map<const values::Scope*, ModuleRun*> installed_;  // by their globals
  std::unordered_set<std::string>
      looked_for_registered_;           // names that no module was found for, or one has run
  int loading_ = 0;                     // modules around that are imported
  std::uint64_t module_steps_[2] = {};  // taken by imported modules so far: the program's own, installed ones
};

}  // namespace stepzero::interpreter
