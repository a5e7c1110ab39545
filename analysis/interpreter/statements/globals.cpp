// Globals as a function that nobody calls finds them: what other functions set may have any value by then.
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/statements/module_loader.hpp"

#include "interpreter/classes/self_writes.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

Value UnseenCode::found_outside(Value found) {
  if (!run_.in_roots_ || !run_.frame_ || (!found.is(Kind::list) && !found.is(Kind::dict))) return found;
  const bool is_list = found.is(Kind::list);
  const bool empty = is_list
      ? values::Heap::list_state(found)->items.empty() && !values::Heap::list_state(found)->open
      : values::Heap::dict_state(found)->items.empty() && !values::Heap::dict_state(found)->open;
  if (!empty) return found;
  const Frame* outermost = run_.frame_;
  while (outermost->outer) outermost = outermost->outer;
  const std::uint64_t birth = is_list ? found.as<values::List>()->state.birth
                                      : found.as<values::Dict>()->state.birth;
  if (birth <= outermost->mark.clock) escape(found);
  return found;
}

namespace {
// Set on an object once a run has asked what functions set on it: what that run then sets itself is known.
const Name looked_at(values::UnknownState::looked_at);

bool is_constant(Value value) {
  return value.is(Kind::none) || value.is(Kind::boolean) || value.is(Kind::integer) || value.is(Kind::real) ||
      value.is(Kind::string);
}

void names_declared_global(const syntax::Stmt* stmt, std::vector<Name>& names) {
  using namespace syntax;
  const auto inner = [&](syntax::Block block) {
    for (const Stmt* part : block) names_declared_global(part, names);
  };
  switch (stmt->kind) {
  case StmtKind::function:
    for (const Name name : as<FunctionStmt>(*stmt).scope.globals) names.push_back(name);
    return inner(as<FunctionStmt>(*stmt).body);
  case StmtKind::class_: return inner(as<ClassStmt>(*stmt).body);
  case StmtKind::if_: inner(as<IfStmt>(*stmt).body); return inner(as<IfStmt>(*stmt).orelse);
  default: return;
  }
}

// What the functions and methods of a module set outside themselves: `x` for `global x`, `x.size` for what
// they set on an object of its own that it calls x.
std::vector<Name> set_in_functions(const values::Scope& globals) {
  std::vector<Name> names;
  std::vector<const Stmt*> definitions;
  std::vector<Name> objects;
  for (const auto& [defined, slot] : globals.names.entries()) {
    const Value value = slot->value;
    if (value.is(Kind::function) && value.as<values::Function>()->stmt)
      definitions.push_back(value.as<values::Function>()->stmt);
    if (value.is(Kind::class_) && value.as<values::Class>()->stmt)
      definitions.push_back(value.as<values::Class>()->stmt);
    if (value.is(Kind::instance) && value.as<values::Instance>()->cls &&
        value.as<values::Instance>()->cls->stmt)
      objects.push_back(defined);
  }
  for (const Stmt* definition : definitions) names_declared_global(definition, names);
  for (const Name object : objects) {
    Changes changes;
    for (const Stmt* definition : definitions) {
      if (definition->kind == StmtKind::function)
        collect_self_writes({&definition, 1}, object, changes);
      else
        for (const Stmt* method : as<ClassStmt>(*definition).body)
          if (method->kind == StmtKind::function) collect_self_writes({&method, 1}, object, changes);
    }
    for (const Name attribute : changes.set)
      names.push_back(Name(std::string(object.text()) + "." + std::string(attribute.text())));
  }
  return names;
}

void open_attributes(values::Heap& heap, values::Instance& object, const std::vector<Name>& set, Name name) {
  const std::string prefix = std::string(name.text()) + ".";
  for (const Name each : set)
    if (each.text().starts_with(prefix))
      if (values::Slot* slot = object.attributes.find(Name(each.text().substr(prefix.size())));
          slot && is_constant(slot->value))
        heap.set(*slot, heap.unseen(each.text()));
}
}  // namespace

Value UnseenCode::found_global(const values::Scope& globals, Name name, Value found) {
  if (!run_.in_roots_ || !run_.frame_) return found;
  const bool own_object = found.is(Kind::instance) && found.as<values::Instance>()->cls &&
      found.as<values::Instance>()->cls->stmt;
  if (!is_constant(found) && !own_object) return found_outside(found);
  const auto set_by_functions = [&](const values::Scope& scope) -> const std::vector<Name>& {
    const auto [it, fresh] = set_by_functions_.try_emplace(&scope);
    if (fresh) it->second = set_in_functions(scope);
    return it->second;
  };
  if (!own_object)
    return std::ranges::find(set_by_functions(globals), name) != set_by_functions(globals).end()
        ? heap().unseen(name.text())
        : found;
  auto& object = *found.as<values::Instance>();
  if (const values::Slot* looked = object.attributes.find(looked_at);
      object.symbolic || (looked && looked->value))
    return found;
  heap().set(heap().slot_of(object.attributes, looked_at), heap().boolean(true));
  // The file that asks, and the one that made it.
  open_attributes(heap(), object, set_by_functions(globals), name);
  if (object.born.chunk < record_.chunks.size())
    if (const auto made_in = run_.loader_->modules().find(record_.chunks[object.born.chunk].path);
        made_in != run_.loader_->modules().end() && made_in->second.object && made_in->second.object->globals)
      for (const auto& [other, slot] : made_in->second.object->globals->names.entries())
        if (slot->value == found)
          open_attributes(heap(), object, set_by_functions(*made_in->second.object->globals), other);
  return found;
}

}  // namespace stepzero::interpreter
