// Modules of the program: imports run a file once; cycles see what is there so far.
#include "interpreter/builtins/builtin_call.hpp"
#include "interpreter/calls/outside_write.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/incremental/library_import.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/statements/import_names.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "program/paths.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <span>
#include <utility>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr int max_import_depth = 40;  // imports within imports: the stack has to hold
// Steps of imported modules: of the program's own, and of installed ones. They are no part of the importer's:
// what a file is answered does not depend on whether a module has run before.
constexpr std::uint64_t steps_of_a_module[] = {50'000, 12'000};
constexpr std::uint64_t steps_of_a_registry = 200'000;  // of one that fills it
std::uint64_t steps_of_all_modules(bool installed, std::uint64_t steps) {
  return installed ? steps : steps / 2;
}

}  // namespace

ModuleLoader::ModuleLoader(Interpreter& run)
    : RunPart(run),
      imports_(run.sources_, run.record_.read,
          [&library = run.library_](std::string_view top_level) { return library.reads(top_level); }) {}

ModuleRun& ModuleLoader::begin_main(const std::string& path) {
  ModuleRun& run_of = modules_[path];
  run_of.path = path;
  run_of.is_package = path.ends_with("/__init__.py");
  run_of.object = heap().make<values::ModuleObject>();
  run_of.object->path = heap().keep(path);
  return run_of;
}

ModuleRun& ModuleLoader::main() { return modules_[run_.main_path_]; }

std::uint32_t ModuleLoader::add_chunk(
    const std::string& path, std::shared_ptr<const Module> module, const Item& item) {
  record_.chunks.push_back({path, std::move(module), item.chunk, item.offset, {}});
  return static_cast<std::uint32_t>(record_.chunks.size() - 1);
}

void ModuleLoader::run_module(ModuleRun& run_of, std::shared_ptr<const Module> module, bool as_main) {
  auto* globals = heap().make<values::Scope>();
  globals->globals = globals;
  run_of.object->globals = globals;
  run_of.object->loading = true;
  run_of.object->pending = false;
  if (run_of.path == run_.main_path_) run_.globals_ = globals;
  if (run_of.is_installed) installed_.emplace(globals, &run_of);
  heap().set(heap().slot_of(globals->names, Name("__name__")),
      heap().string(as_main ? "__main__" : name_of(run_of.path)));
  heap().set(heap().slot_of(globals->names, Name("__file__")), heap().string(run_of.path));

  run_items(run_of, module, 0, module->items.size());
}

void ModuleLoader::run_items(
    ModuleRun& run_of, const std::shared_ptr<const Module>& module, std::size_t first, std::size_t last) {
  Frame frame;
  frame.scope = run_of.object->globals;
  Speculation statements(run_);
  frame.mark = statements.mark();
  frame.depth = statements.depth();
  // What a module does happens wherever it is imported first; who imports it does not see its locals.
  Frame* const outer = run_.frame_;
  const std::uint32_t outer_chunk = run_.chunk_;
  frame.outer = outer;
  run_.frame_ = &frame;
  const bool follow = run_.following_ && run_of.path == run_.main_path_;
  for (const Item& item : std::span(module->items).subspan(first, last - first)) {
    const auto known = follow && run_.incremental_->replay().replaying
        ? run_.incremental_->replay().chunks.find(item.chunk.get())
        : run_.incremental_->replay().chunks.end();
    run_.chunk_ = known != run_.incremental_->replay().chunks.end() ? known->second
                                                                    : add_chunk(run_of.path, module, item);
    if (!follow && run_of.path == run_.main_path_) run_.incremental_->replay().copies.push_back(run_.chunk_);
    frame.chunk = run_.chunk_;
    if (follow) run_.incremental_->begin_item(item);
    // It says where the names live that a library hands out by `__getattr__`, or by a module put in its own
    // place: they wait like its other imports. What the module binds as it runs comes first.
    if (const syntax::Block* named =
            run_of.is_installed && item.chunk->stmt ? names_for_types(*item.chunk->stmt) : nullptr)
      each_import_for_types(*named, [&](const ImportFromStmt& inner) { run_import_from(inner); });
    const bool dead = item.chunk->stmt && run_.run(*item.chunk->stmt) == Flow::dead;
    // What the table says of a function, class or method is believed before the file.
    if (run_of.is_installed && item.chunk->stmt && item.chunk->stmt->kind == StmtKind::function) {
      const Name name = as<FunctionStmt>(*item.chunk->stmt).name;
      if (const std::string dotted = dotted_name(run_of.path, name); run_.library_.find(dotted))
        heap().set(heap().slot_of(run_of.object->globals->names, name), run_.library_symbol(dotted));
    }
    if (run_of.is_installed && item.chunk->stmt && item.chunk->stmt->kind == StmtKind::class_) {
      const auto& stmt = as<ClassStmt>(*item.chunk->stmt);
      const values::Slot* made = run_of.object->globals->names.find(stmt.name);
      const std::string canonical = run_.library_.canonical(dotted_name(run_of.path, stmt.name));
      if (const values::Row* row = run_.library_.find(canonical); row && row->kind == values::RowKind::class_)
        heap().set(heap().slot_of(run_of.object->globals->names, stmt.name), run_.library_symbol(canonical));
      else if (made && made->value.is(Kind::class_) && made->value.as<values::Class>()->body)
        for (const auto& [name, slot] : made->value.as<values::Class>()->body->names.entries())
          if (const std::string dotted = dotted_name(run_of.path, stmt.name) + "." + std::string(name.text());
              slot->value.is(Kind::function) && run_.library_.find(dotted))
            heap().set(*slot, run_.library_symbol(dotted));
    }
    if (follow) run_.incremental_->end_item(*run_of.object->globals);
    if (!dead) continue;
    if (follow && &item != &module->items.back()) run_.incremental_->replay().possible = false;
    break;
  }
  run_.killed_ = false;
  statements.forget_path();
  statements.commit();
  run_.frame_ = outer;
  run_.chunk_ = outer_chunk;
  run_of.object->loading = false;
}

values::ModuleObject* ModuleLoader::import_file(const program::Target& target) {
  auto [it, inserted] = modules_.try_emplace(target.path);
  ModuleRun& run_of = it->second;
  if (!inserted) return run_of.object;
  run_of.path = target.path;
  run_of.is_package = target.is_package;
  run_of.is_installed = imports_.is_installed(target.path);
  run_of.object = heap().make<values::ModuleObject>();
  run_of.object->path = heap().keep(target.path);
  run_of.object->pending = true;
  run_of.is_namespace = target.is_namespace;
  if (!run_of.is_installed) load(*run_of.object);
  return run_of.object;
}

// Runs the module, if it has not run. That of an installed library has a budget of its own, and what it
// imports waits until it is asked for.
void ModuleLoader::load(values::ModuleObject& object) {
  if (!object.pending) return;
  object.pending = false;
  const InPhase phase(run_.clock_, Phase::imports);
  ModuleRun& run_of = modules_[std::string(object.path)];
  if (!parsed(run_of) || run_.depth_ > max_import_depth) {
    auto* globals = heap().make<values::Scope>();
    globals->globals = globals;
    object.globals = globals;
    return;
  }
  Block scratch;
  Block* const block = run_.block_;
  run_.block_ = &scratch;  // what an import does is not part of the importer's schedule
  ++run_.depth_;
  const int guards = std::exchange(run_.guards_, 1);
  const int catching = std::exchange(run_.catching_, 0);
  const int generic = std::exchange(run_.generic_depth_, 0);
  const int dry_runs = std::exchange(run_.dry_runs_, 0);
  const bool killed = std::exchange(run_.killed_, false);
  const std::uint64_t limit = run_.step_limit_,
                      trial_limit = std::exchange(run_.trial_limit_, RunState::unlimited_steps);
  const bool out_of_budget = std::exchange(record_.out_of_budget, false);
  const bool truncated = !record_.roots.empty() && record_.roots.back()->truncated;
  const std::uint64_t before = record_.steps;
  std::uint64_t& taken = module_steps_[run_of.is_installed];
  const std::uint64_t all = steps_of_all_modules(run_of.is_installed, run_.limits_.steps),
                      left = all - std::min(taken, all);
  run_.step_limit_ = before +
      std::min(run_of.fills_registry ? steps_of_a_registry : steps_of_a_module[run_of.is_installed], left);
  // What a module writes into others that are imported with it stays with them, as if one statement had done
  // it.
  const auto loading = [&](bool libraries) {
    return std::any_of(modules_.begin(), modules_.end(), [&](const auto& each) {
      return each.second.object && each.second.object->loading && each.first != run_.main_path_ &&
          (!libraries || each.second.is_installed);
    });
  };
  const bool outermost = !loading(false);
  const bool meddled = outermost && !run_of.is_installed &&
      (run_.incremental_->replay().meddled ||
          (!run_.incremental_->replay().items.empty() &&
              run_.incremental_->meddles(run_.incremental_->replay().items.back().before)));
  std::optional<LibraryImport> apart;
  if (run_of.is_installed && !loading(true)) apart.emplace(heap(), run_.incremental_->replay());
  Speculation import(run_);
  ++loading_;
  run_module(run_of, run_of.syntax, false);
  --loading_;
  import.keep_new_objects();
  import.commit();
  if (apart) run_.incremental_->note_library_import(run_of, *apart, apart->finish(import.mark()));
  if (outermost) run_.incremental_->replay().imports.emplace_back(import.mark().clock, heap().mark().clock);
  if (outermost && !apart) run_.incremental_->note_import(run_of, import.mark(), meddled);
  taken += record_.steps - before;
  if (record_.out_of_budget && !record_.cancelled && !run_of.is_installed) lose_unfinished(object);
  if (!record_.cancelled) {
    record_.steps = before;
    run_.step_limit_ = limit;
    record_.out_of_budget = out_of_budget;
    if (!record_.roots.empty()) record_.roots.back()->truncated = truncated;
  }
  run_.trial_limit_ = trial_limit;
  run_.killed_ = killed;
  run_.dry_runs_ = dry_runs;
  run_.generic_depth_ = generic;
  run_.catching_ = catching;
  run_.guards_ = guards;
  --run_.depth_;
  run_.block_ = block;
}

// What a module binds whose statements did not all run may have been bound once more, and filled.
void ModuleLoader::lose_unfinished(values::ModuleObject& object) {
  for (const auto& [name, slot] : std::vector(object.globals->names.entries())) {
    const Value held = run_.resolve(slot->value);
    if (!held.is(Kind::function) && !held.is(Kind::class_) && !held.is(Kind::module) &&
        !held.is(Kind::library))
      slot->value = heap().unseen(name.text());
  }
}

ModuleRun* ModuleLoader::installed_module(const values::Scope* globals) {
  const auto found = installed_.find(globals);
  return found == installed_.end() ? nullptr : found->second;
}

// The names of `__all__ = [...]` at the top of the module: read, not run.
const std::vector<Name>& ModuleLoader::exports(ModuleRun& module) {
  if (std::exchange(module.looked_for_exports, true) || !parsed(module)) return module.exported;
  for (const Item& item : module.syntax->items) {
    const Stmt* stmt = item.chunk->stmt;
    if (!stmt || stmt->kind != StmtKind::assign || as<AssignStmt>(*stmt).targets.size() != 1) continue;
    const Expr* target = as<AssignStmt>(*stmt).targets[0];
    if (target->kind != ExprKind::name || as<NameExpr>(*target).id.text() != "__all__") continue;
    const Expr* value = as<AssignStmt>(*stmt).value;
    if (value->kind != ExprKind::list && value->kind != ExprKind::tuple) continue;
    for (const Expr* each :
        value->kind == ExprKind::list ? as<ListExpr>(*value).elements : as<TupleExpr>(*value).elements)
      if (each->kind == ExprKind::string) module.exported.emplace_back(as<StringExpr>(*each).value);
  }
  return module.exported;
}

Value ModuleLoader::lazy_name(ModuleRun& module, Name name) {
  const auto bind = [&](Value value) {
    if (value && module.object->globals)
      heap().slot_of(module.object->globals->names, name).value = value;  // as if it had always been there
    return value;
  };
  if (const auto found = module.lazy.find(name); found != module.lazy.end()) {
    const LazyName lazy = found->second;
    module.lazy.erase(found);
    // What the table says of it is believed before the file.
    if (const std::string dotted = dotted_name(lazy.target.path, lazy.name); run_.library_.find(dotted))
      return bind(run_.library_symbol(dotted));
    values::ModuleObject* source = import_file(lazy.target);
    return bind(
        lazy.name.empty() ? Value::of(Kind::module, source) : module_attribute(*source, lazy.name, {}));
  }
  for (const program::Target& star : by_name(module.stars, name)) {
    if (const std::string dotted = dotted_name(star.path, name); run_.library_.find(dotted))
      return bind(run_.library_symbol(dotted));
    values::ModuleObject* source = import_file(star);
    ModuleRun& from = modules_[std::string(source->path)];
    const auto& names = exports(from);
    if (std::find(names.begin(), names.end(), name) != names.end())
      return bind(module_attribute(*source, name, {}));
    // Without a list every name without an underscore is meant, those that it has from others included.
    if (names.empty() && !name.text().starts_with("_")) {
      load(*source);
      if (source->globals)
        if (const values::Slot* slot = source->globals->names.find(name); slot && slot->value)
          return bind(run_.resolve(slot->value));
      if (from.is_installed)
        if (const Value found_there = lazy_name(from, name)) return bind(found_there);
    }
  }
  return {};
}

// The names of the file that is run; null before it has any.
values::Scope* ModuleLoader::main_globals() const {
  const auto main = modules_.find(run_.main_path_);
  return main != modules_.end() && main->second.object ? main->second.object->globals : nullptr;
}

// Imports that nothing else answers look in that folder, too, from here on. Kept as (those before, the last
// one). False where it is not known which folder it is.
bool ModuleLoader::add_import_root(const Arguments& arguments) {
  values::Scope* globals = main_globals();
  if (!globals || arguments.positional.empty()) return false;
  const Value folder = run_.resolve(arguments.positional.back());
  if (!folder.is(Kind::string)) return false;
  values::Slot& roots = heap().slot_of(globals->names, Name(values::EngineNotes::import_roots));
  const Value before = roots.value ? roots.value : Value::none();
  heap().set(roots, heap().tuple({before, folder}));
  return true;
}

namespace {
// The folders that were added, the last one first, whichever way led to it. Where ways were joined, each part
// may be one of two, or not known.
void added_roots(Value roots, std::vector<std::string_view>& found) {
  constexpr std::size_t most_added = 32;  // a program adds one or two
  if (found.size() >= most_added) return;
  if (roots.is(Kind::choice)) {
    added_roots(roots.as<values::Choice>()->yes, found);
    added_roots(roots.as<values::Choice>()->no, found);
  } else if (roots.is(Kind::tuple)) {
    const auto& items = roots.as<values::Tuple>()->items;
    added_roots(items[1], found);
    added_roots(items[0], found);
  } else if (roots.is(Kind::string)) {
    found.push_back(roots.text());
  }
}
}  // namespace

// What lies in a folder that the program added. Outside of the workspace nothing is read.
std::optional<program::Target> ModuleLoader::find_in_root(
    std::string_view folder, std::span<const std::string_view> names, const std::string& from) const {
  std::vector<std::string> places;
  if (folder.starts_with('/')) {
    places.push_back(program::normal_path(std::string(folder)));
  } else {
    // As seen from where the program is started: nobody knows where that is.
    const std::string below = "/" + std::string(folder);
    places.push_back(program::normal_path(program::folder_of(run_.main_path_) + below));
    for (const std::string& root : run_.sources_.roots())
      places.push_back(program::normal_path(root + below));
  }
  for (const std::string& place : places) {
    const bool inside = std::ranges::any_of(run_.sources_.roots(), [&](const std::string& root) {
      return place == root || (place.starts_with(root) && place[root.size()] == '/');
    });
    if (!inside) continue;
    auto found = imports_.relative(1, names, place + "/.");
    if (found && found->path != from && !found->is_namespace) return found;
  }
  return std::nullopt;
}

// The file that an import means, seen from another.
std::optional<program::Target> ModuleLoader::find_import(
    std::span<const std::string_view> names, const std::string& from) {
  const bool reads = !names.empty() && run_.library_.reads(names[0]);
  // What else lies in the folder of the libraries is not read.
  if (auto found = imports_.absolute(names, from); found && (reads || !imports_.is_installed(found->path)))
    return found;
  if (reads) return imports_.installed(names);
  std::vector<std::string_view> folders;
  if (const values::Scope* globals = main_globals())
    added_roots(globals->names.value(Name(values::EngineNotes::import_roots)), folders);
  for (const std::string_view folder : folders)
    if (auto found = find_in_root(folder, names, from)) return found;
  return std::nullopt;
}

namespace {
// What an import of a module gives that is not to be read.
Value imported(values::Heap& heap, std::string_view name, Place where, std::string_view module = {}) {
  const Value made = heap.unseen(name, where);
  heap.slot_of(made.as<values::Unknown>()->attributes, Name(values::UnknownState::imported)).value =
      module.empty() ? Value::none() : heap.string(module);
  return made;
}
}  // namespace

Value ModuleLoader::import_dotted(std::span<const Name> path, bool whole) {
  if (path.empty()) return heap().unseen("");
  std::string dotted;
  for (const Name name : path) dotted += (dotted.empty() ? "" : ".") + std::string(name.text());
  if (run_.library_.knows(path[0].text()))
    return run_.library_symbol(whole ? dotted : std::string(path[0].text()));
  std::vector<std::string_view> names;
  Value first, last;
  for (const Name name : path) {
    names.push_back(name.text());
    const auto target = find_import(names, record_.chunks[run_.chunk_].path);
    if (!target) {
      last = whole && !run_.library_.members(dotted).empty() ? run_.library_symbol(dotted)
                                                             : imported(heap(), dotted, {});
      if (!first) first = last;
      break;
    }
    const Value module = Value::of(Kind::module, import_file(*target));
    if (last.is(Kind::module) && last.as<values::ModuleObject>()->globals)
      heap().slot_of(last.as<values::ModuleObject>()->globals->names, name).value = module;
    last = module;
    if (!first) first = last;
  }
  return whole ? last : first;
}

Value ModuleLoader::module_attribute(values::ModuleObject& module, Name name, Place where) {
  if (module.pending) expect_decorated(modules_[std::string(module.path)], name.text());
  load(module);
  if (name.text() == "__dict__" && module.globals) {
    const Value names = BuiltinCall::names_in(run_, module.globals);
    names.as<values::Dict>()->names_of = &module;
    return names;
  }
  run_.note_used(module.globals, name);
  if (module.globals)
    if (const values::Slot* slot = module.globals->names.find(name); slot && slot->value)
      return run_.unseen_->found_global(*module.globals, name, run_.resolve(slot->value));
  if (ModuleRun* installed = installed_module(module.globals))
    if (const Value found = lazy_name(*installed, name)) return found;
  const auto it = modules_.find(std::string(module.path));
  if (it != modules_.end() && it->second.is_package) {
    const bool is_namespace = !it->first.ends_with(".py");
    if (const auto target = imports_.within({it->first, true, is_namespace}, name.text())) {
      const Value found = Value::of(Kind::module, import_file(*target));
      if (module.globals) heap().set(heap().slot_of(module.globals->names, name), found);
      return found;
    }
  }
  return heap().unseen(name.text(), where);
}

void ModuleLoader::run_import(const ImportStmt& stmt) {
  if (!stmt.names.empty() && !stmt.names[0].path.empty() &&
      !run_.library_.always_there(stmt.names[0].path[0].text()) &&
      run_.library_.knows(stmt.names[0].path[0].text()))
    ++run_.may_raise_;
  for (const Alias& alias : stmt.names) {
    if (alias.path.empty()) continue;
    if (!alias.alias.empty())
      heap().set(run_.variable(alias.alias), import_dotted(alias.path, true));
    else {
      if (alias.path.size() > 1 && !run_.library_.knows(alias.path[0].text()))
        import_dotted(alias.path, true);
      heap().set(run_.variable(alias.path[0]), import_dotted(alias.path, false));
    }
  }
}

void ModuleLoader::run_import_from(const ImportFromStmt& stmt) {
  const auto bind_name = [&](const Alias& alias, Value value) {
    if (alias.path.empty()) return;
    heap().set(run_.variable(alias.alias.empty() ? alias.path.back() : alias.alias), value);
  };
  std::string dotted;
  std::vector<std::string_view> names;
  for (const Name name : stmt.module) {
    dotted += (dotted.empty() ? "" : ".") + std::string(name.text());
    names.push_back(name.text());
  }
  if (stmt.level == 0 && !stmt.module.empty() && run_.library_.knows(stmt.module[0].text())) {
    const Value module = run_.library_symbol(dotted);
    if (!run_.library_.always_there(stmt.module[0].text())) ++run_.may_raise_;
    for (const Alias& alias : stmt.names) {
      if (alias.path.empty()) continue;
      const Value found = run_.attribute(module, alias.path.back(), {run_.chunk_, alias.span});
      // Which names a version of a library has that are not known here is open.
      if (!run_.library_.always_there(stmt.module[0].text()) ||
          (found.is(Kind::library) && !found.as<values::LibrarySymbol>()->row &&
              !run_.library_.complete(stmt.module[0].text())))
        ++run_.may_raise_;
      bind_name(alias, found);
    }
    if (stmt.star)
      for (const Name name : run_.library_.members(dotted))
        heap().set(run_.variable(name), run_.attribute(module, name, {run_.chunk_, stmt.span}));
    return;
  }
  const std::string& from = record_.chunks[run_.chunk_].path;
  const auto target = stmt.level == 0 ? find_import(names, from) : imports_.relative(stmt.level, names, from);
  if (!target) {
    for (const Alias& alias : stmt.names) {
      if (alias.path.empty()) continue;
      const std::string full = dotted + "." + std::string(alias.path.back().text());
      bind_name(alias,
          stmt.level == 0 && (run_.library_.find(full) || !run_.library_.members(full).empty())
              ? run_.library_symbol(full)
              : imported(heap(), alias.path.back().text(), {run_.chunk_, alias.span},
                    stmt.level == 0 ? dotted : std::string_view{}));
    }
    return;
  }
  // In a library's own module the names wait until they are asked for.
  if (ModuleRun* importer =
          run_.frame_->scope == run_.frame_->scope->globals ? installed_module(run_.frame_->scope) : nullptr;
      importer && imports_.is_installed(target->path)) {
    for (const Alias& alias : stmt.names) {
      if (alias.path.empty()) continue;
      const Name name = alias.path.back();
      const Name bound = alias.alias.empty() ? name : alias.alias;
      const auto submodule = target->path == importer->path || stmt.module.empty()
          ? imports_.within(*target, name.text())
          : std::nullopt;
      importer->lazy[bound] = submodule ? LazyName{*submodule, {}} : LazyName{*target, name};
    }
    if (stmt.star) importer->stars.push_back(*target);
    return;
  }
  values::ModuleObject* module = import_file(*target);
  for (const Alias& alias : stmt.names)
    if (!alias.path.empty()) {
      const std::string canonical =
          imports_.is_installed(target->path) ? dotted_name(target->path, alias.path.back()) : std::string();
      bind_name(alias,
          !canonical.empty() && run_.library_.find(canonical)
              ? run_.library_symbol(canonical)
              : module_attribute(*module, alias.path.back(), {run_.chunk_, alias.span}));
    }
  if (stmt.star) load(*module);
  if (stmt.star && imports_.is_installed(target->path)) {
    ModuleRun& from_module = modules_[target->path];
    for (const Name name : std::vector(exports(from_module)))
      heap().set(run_.variable(name), module_attribute(*module, name, {run_.chunk_, stmt.span}));
    if (!from_module.exported.empty()) return;
  }
  if (stmt.star) run_.note_all_used(module->globals);
  if (stmt.star && module->globals) {
    std::vector<std::pair<Name, Value>> all;
    // __all__ says what a star means, where it stands there as plain names.
    if (const values::Slot* listed = module->globals->names.find(Name("__all__")); listed && listed->value) {
      const auto exported = run_.elements(run_.resolve(listed->value), {});
      if (exported && std::all_of(exported->begin(), exported->end(), [&](Value name) {
            return run_.resolve(name).is(Kind::string);
          })) {
        all.reserve(exported->size());
        for (const Value& name : *exported) all.push_back({Name(run_.resolve(name).text()), {}});
        for (auto& [name, value] : all) value = module_attribute(*module, name, {run_.chunk_, stmt.span});
        for (const auto& [name, value] : all) heap().set(run_.variable(name), value);
        return;
      }
    }
    for (const auto& [name, slot] : module->globals->names.entries())
      if (slot->value && !name.text().starts_with("_")) all.push_back({name, slot->value});
    for (const auto& [name, value] : all) heap().set(run_.variable(name), value);
  }
}

}  // namespace stepzero::interpreter
