// Modules that are gone when a step runs. Of a model that was taken apart no name leads to the whole any
// more, and some of its layers live on in another module, as in
// `nn.Sequential(*list(vgg16().features)[:16])`: the rest is freed. Of what unseen code may hold nothing is
// known: without a part that lives on nothing is gone.
#include "footprint/account.hpp"

#include "syntax/walk.hpp"

#include <map>
#include <set>

namespace stepzero::footprint {

using interpreter::Fact;
using syntax::StmtKind;
using values::Kind;

namespace {

// The innermost class or function whose body the place is in; null: none.
const syntax::Stmt* around(const Record& record, values::Place place, StmtKind kind) {
  const syntax::Stmt* root = record.chunk(place).statement();
  const syntax::Stmt* found = nullptr;
  if (root)
    syntax::for_each_statement(*root, [&](const syntax::Stmt& stmt) {
      if (stmt.kind == kind && stmt.span.holds(place.span)) found = &stmt;
    });
  return found;
}

void add_running(const Record& record, const interpreter::OperationEvent& event,
    std::unordered_set<const syntax::Stmt*>& running) {
  running.insert(around(record, event.place, StmtKind::function));
  for (const interpreter::CallSite* site = event.calls; site; site = site->outer)
    running.insert(around(record, site->place, StmtKind::function));
}

// All that values lead to: attributes, items, what functions were bound to and close over.
class Reachable {
public:
  explicit Reachable(const Record& record) : record_(record) {}

  void add(Value value) {
    open_.push_back(value);
    while (!open_.empty()) {
      const Value next = open_.back();
      open_.pop_back();
      look(decided(record_, next));
    }
  }
  bool holds(const Instance* module) const { return seen_.contains(module); }

private:
  template <class Table> void add_table(const Table& table) {
    for (const auto& [name, slot] : table.entries())
      if (slot->value) open_.push_back(slot->value);
  }
  void add_all(const std::vector<Value>& items) { open_.insert(open_.end(), items.begin(), items.end()); }

  void look(Value value) {
    switch (value.kind) {
    case Kind::tuple:
    case Kind::list:
    case Kind::dict:
    case Kind::function:
    case Kind::bound:
    case Kind::partial:
    case Kind::instance:
    case Kind::iterator:
    case Kind::choice:
    case Kind::unknown:
      if (!seen_.insert(value.object()).second) return;
      break;
    default: return;
    }
    switch (value.kind) {
    case Kind::tuple: return add_all(value.as<values::Tuple>()->items);
    case Kind::list: {
      const auto* state = values::Heap::list_state(value);
      open_.push_back(state->rest);
      return add_all(state->items);
    }
    case Kind::dict: {
      const auto* state = values::Heap::dict_state(value);
      open_.push_back(state->rest);
      for (const auto& [key, item] : state->items) open_.push_back(item);
      return;
    }
    case Kind::function: {
      const auto* function = value.as<values::Function>();
      add_all(function->defaults);
      add_table(function->attributes);
      for (const values::Scope* scope = function->closure; scope && scope != scope->globals;
          scope = scope->parent)
        if (seen_.insert(scope).second) add_table(scope->names);
      return;
    }
    case Kind::bound:
      open_.push_back(value.as<values::Bound>()->self);
      open_.push_back(value.as<values::Bound>()->function);
      return;
    case Kind::partial:
      open_.push_back(value.as<values::Partial>()->function);
      add_all(value.as<values::Partial>()->arguments);
      for (const auto& [name, item] : value.as<values::Partial>()->keywords) open_.push_back(item);
      return;
    case Kind::instance: return add_table(value.as<Instance>()->attributes);
    case Kind::iterator:
      if (value.as<values::Iterator>()->scope) add_table(value.as<values::Iterator>()->scope->names);
      return;
    case Kind::choice:
      open_.push_back(value.as<values::Choice>()->yes);
      open_.push_back(value.as<values::Choice>()->no);
      return;
    default: return add_table(value.as<values::Unknown>()->attributes);
    }
  }

  const Record& record_;
  std::vector<Value> open_;
  std::unordered_set<const values::Object*> seen_;
};

// Does the statement that assigns run whenever its function does?
bool is_always(const Record& record, values::Place place) {
  for (const StmtKind kind : {StmtKind::if_, StmtKind::for_, StmtKind::while_, StmtKind::try_})
    if (const syntax::Stmt* block = around(record, place, kind)) {
      const syntax::Stmt* function = around(record, place, StmtKind::function);
      if (!function || function->span.holds(block->span)) return false;
    }
  return true;
}

// What names hold in the end: of one that is given another value, what it had before is not held by it.
Reachable held_by_names(const Record& record, const std::unordered_set<const syntax::Stmt*>& running) {
  std::map<std::tuple<std::string_view, const syntax::Stmt*, std::string_view>, std::vector<Value>> names;
  Reachable held(record);
  for (const Fact& fact : record.facts) {
    if ((fact.role != Fact::Role::assignment && fact.role != Fact::Role::parameter) || !fact.value) continue;
    const syntax::Stmt* function = around(record, fact.place, StmtKind::function);
    if (!running.contains(function)) continue;
    auto& all = names[{record.chunk(fact.place).path, function, record.text(fact.place)}];
    if (!all.empty() && is_always(record, fact.place)) all.clear();
    all.push_back(fact.value);
  }
  for (const auto& [name, all] : names)
    for (const Value& value : all) held.add(value);
  return held;
}

// Of these values the modules that are gone with the model that they were part of. `used`: what the graphs of
// losses go through.
std::unordered_set<const Instance*> gone_with_whole(const Record& record, const std::vector<Value>& values,
    const std::unordered_set<const syntax::Stmt*>& running, const std::unordered_set<const Instance*>& used) {
  std::vector<std::pair<const Instance*, Tree>> models;
  std::unordered_map<const Instance*, int> holders;
  for (const Instance* model : models_of(record, values)) {
    models.emplace_back(model, tree_of(record, *model));
    for (const Module& module : models.back().second.modules) ++holders[module.object];
  }
  const auto is_shared = [&](const Module& module) { return holders.at(module.object) > 1; };
  std::erase_if(
      models, [&](const auto& each) { return std::ranges::none_of(each.second.modules, is_shared); });
  std::unordered_set<const Instance*> gone;
  if (models.empty()) return gone;
  const Reachable held = held_by_names(record, running);
  for (const auto& [model, tree] : models) {
    if (held.holds(model) ||
        std::ranges::none_of(tree.modules, [&](const Module& part) { return held.holds(part.object); }))
      continue;
    for (const Module& part : tree.modules)
      if (!held.holds(part.object) && !used.contains(part.object)) gone.insert(part.object);
  }
  return gone;
}

}  // namespace

// A module that the program only ever had as a part of another one, which has something else there now.
bool Account::was_replaced(const Instance& model) {
  if (!replaced_) {
    replaced_.emplace();
    std::unordered_set<const syntax::Stmt*> classes;  // of modules
    for (const Value& value : values_)
      if (const Value object = decided(record_, value); is_module(object) && object.as<Instance>()->cls)
        for (const values::Class* each : object.as<Instance>()->cls->order) classes.insert(each->stmt);
    // Names of functions that have returned hold nothing, nor does a name hold what it was before.
    std::unordered_set<const syntax::Stmt*> running{nullptr};
    for (const Backward& backward : backwards_) add_running(record_, *backward.event, running);
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, const Instance*> named;
    for (const interpreter::Fact& fact : record_.facts) {
      const Value value = decided(record_, fact.value);
      if (!is_module(value)) continue;
      if (fact.role == interpreter::Fact::Role::attribute &&
          classes.contains(around(record_, fact.place, syntax::StmtKind::class_)))
        replaced_->insert(value.as<Instance>());
      else if (fact.role == interpreter::Fact::Role::assignment &&
          running.contains(around(record_, fact.place, syntax::StmtKind::function)))
        named[{fact.place.chunk, fact.place.span.begin, fact.place.span.end}] = value.as<Instance>();
    }
    for (const auto& [place, module] : named) replaced_->erase(module);
    for (const Backward& backward : backwards_)
      for (const values::Object* source : backward.event->self_state()->graph)
        if (const auto* module = dynamic_cast<const Instance*>(source)) replaced_->erase(module);
  }
  return replaced_->contains(&model);
}

// Of a model that was taken apart what nobody uses.
void Account::leave_gone_out() {
  if (backwards_.empty()) return;
  std::unordered_set<const syntax::Stmt*> running{nullptr};
  std::unordered_set<const Instance*> used;
  for (const Backward& backward : backwards_) {
    add_running(record_, *backward.event, running);
    for (const values::Object* source : backward.event->self_state()->graph)
      if (const auto* module = dynamic_cast<const Instance*>(source)) used.insert(module);
  }
  const auto gone = gone_with_whole(record_, values_, running, used);
  std::erase_if(values_, [&](const Value& value) {
    const Value object = decided(record_, value);
    return is_module(object) && gone.contains(object.as<Instance>());
  });
}

}  // namespace stepzero::footprint
