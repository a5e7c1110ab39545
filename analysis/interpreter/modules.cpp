// Modules of the program: imports run a file once; cycles see what is there so far.
#include "interpreter/interpreter.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

std::uint32_t Interpreter::add_chunk(const std::string& path, std::shared_ptr<const Module> module, const Item& item) {
  record_.chunks.push_back({path, std::move(module), item.chunk, item.offset});
  return static_cast<std::uint32_t>(record_.chunks.size() - 1);
}

void Interpreter::run_module(ModuleRun& run_of, std::shared_ptr<const Module> module, bool as_main) {
  auto* globals = heap().make<values::Scope>();
  globals->globals = globals;
  run_of.object->globals = globals;
  run_of.object->loading = true;
  heap().set(heap().slot_of(globals->names, Name("__name__")), heap().string(as_main ? "__main__" : "module"));
  heap().set(heap().slot_of(globals->names, Name("__file__")), heap().string(run_of.path));

  Frame frame;
  frame.scope = globals;
  frame.mark = heap().mark();
  frame.depth = path_.size();
  // What a module does happens wherever it is imported first; who imports it does not see its locals.
  Frame* const outer = frame_;
  const std::uint32_t outer_chunk = chunk_;
  frame.outer = outer;
  frame_ = &frame;
  const auto facts = symbols().mark();
  for (const Item& item : module->items) {
    chunk_ = add_chunk(run_of.path, module, item);
    frame.chunk = chunk_;
    if (!item.chunk->stmt) continue;
    if (run(*item.chunk->stmt) == Flow::dead) break;
  }
  killed_ = false;
  symbols().rewind(facts);
  path_.resize(frame.depth);
  frame_ = outer;
  chunk_ = outer_chunk;
  run_of.object->loading = false;
}

values::ModuleObject* Interpreter::import_file(const program::Target& target) {
  auto [it, inserted] = modules_.try_emplace(target.path);
  ModuleRun& run_of = it->second;
  if (!inserted) return run_of.object;
  run_of.path = target.path;
  run_of.is_package = target.is_package;
  run_of.object = heap().make<values::ModuleObject>();
  run_of.object->path = heap().keep(target.path);
  const auto module = target.is_namespace ? nullptr : sources_.module(target.path);
  if (!module || depth_ > 30) {
    auto* globals = heap().make<values::Scope>();
    globals->globals = globals;
    run_of.object->globals = globals;
    return run_of.object;
  }
  Block scratch;
  Block* const block = block_;
  block_ = &scratch;  // what an import does is not part of the importer's schedule
  ++depth_;
  const int guards = guards_;
  guards_ = 1;
  const auto mark = heap().mark();
  run_module(run_of, module, false);
  heap().settle(mark);
  guards_ = guards;
  --depth_;
  block_ = block;
  return run_of.object;
}

Value Interpreter::import_dotted(List<Name> path, bool whole) {
  if (path.empty()) return heap().external("");
  std::string dotted;
  for (const Name name : path) dotted += (dotted.empty() ? "" : ".") + std::string(name.text());
  if (library_.knows(path[0].text())) return library_symbol(whole ? dotted : std::string(path[0].text()));
  std::vector<std::string_view> names;
  Value first, last;
  for (const Name name : path) {
    names.push_back(name.text());
    const auto target = imports_.absolute(names, record_.chunks[chunk_].path);
    if (!target) {
      last = heap().external(dotted);
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

Value Interpreter::module_attribute(values::ModuleObject& module, Name name, Place where) {
  if (module.globals)
    if (const values::Slot* slot = module.globals->names.find(name); slot && slot->value) return resolve(slot->value);
  const auto it = modules_.find(std::string(module.path));
  if (it != modules_.end() && it->second.is_package) {
    const bool is_namespace = !it->first.ends_with(".py");
    if (const auto target = imports_.within({it->first, true, is_namespace}, name.text())) {
      const Value found = Value::of(Kind::module, import_file(*target));
      if (module.globals) heap().set(heap().slot_of(module.globals->names, name), found);
      return found;
    }
  }
  return heap().external(name.text(), where);
}

void Interpreter::run_import(const ImportStmt& stmt) {
  for (const Alias& alias : stmt.names) {
    if (alias.path.empty()) continue;
    if (!alias.alias.empty()) heap().set(variable(alias.alias), import_dotted(alias.path, true));
    else {
      if (alias.path.size() > 1 && !library_.knows(alias.path[0].text())) import_dotted(alias.path, true);
      heap().set(variable(alias.path[0]), import_dotted(alias.path, false));
    }
  }
}

void Interpreter::run_import_from(const ImportFromStmt& stmt) {
  const auto bind_name = [&](const Alias& alias, Value value) {
    if (alias.path.empty()) return;
    heap().set(variable(alias.alias.empty() ? alias.path.back() : alias.alias), value);
  };
  std::string dotted;
  std::vector<std::string_view> names;
  for (const Name name : stmt.module) {
    dotted += (dotted.empty() ? "" : ".") + std::string(name.text());
    names.push_back(name.text());
  }
  if (stmt.level == 0 && !stmt.module.empty() && library_.knows(stmt.module[0].text())) {
    const Value module = library_symbol(dotted);
    for (const Alias& alias : stmt.names)
      if (!alias.path.empty()) bind_name(alias, attribute(module, alias.path.back(), {chunk_, alias.span}));
    if (stmt.star)
      for (const Name name : library_.members(dotted)) heap().set(variable(name), attribute(module, name, {chunk_, stmt.span}));
    return;
  }
  const std::string& from = record_.chunks[chunk_].path;
  const auto target = stmt.level == 0 ? imports_.absolute(names, from) : imports_.relative(stmt.level, names, from);
  if (!target) {
    for (const Alias& alias : stmt.names)
      if (!alias.path.empty()) bind_name(alias, heap().external(alias.path.back().text(), {chunk_, alias.span}));
    return;
  }
  values::ModuleObject* module = import_file(*target);
  for (const Alias& alias : stmt.names)
    if (!alias.path.empty()) bind_name(alias, module_attribute(*module, alias.path.back(), {chunk_, alias.span}));
  if (stmt.star && module->globals) {
    std::vector<std::pair<Name, Value>> all;
    // __all__ says what a star means, where it stands there as plain names.
    if (const values::Slot* listed = module->globals->names.find(Name("__all__")); listed && listed->value) {
      const auto exported = elements(resolve(listed->value), {});
      if (exported && std::all_of(exported->begin(), exported->end(), [&](Value name) { return resolve(name).is(Kind::string); })) {
        for (const Value& name : *exported) all.push_back({Name(resolve(name).text()), {}});
        for (auto& [name, value] : all) value = module_attribute(*module, name, {chunk_, stmt.span});
        for (const auto& [name, value] : all) heap().set(variable(name), value);
        return;
      }
    }
    for (const auto& [name, slot] : module->globals->names.entries())
      if (slot->value && !name.text().starts_with("_")) all.push_back({name, slot->value});
    for (const auto& [name, value] : all) heap().set(variable(name), value);
  }
}

} // namespace stepzero::interpreter
