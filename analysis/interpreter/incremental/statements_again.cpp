// The statements of a file after an edit: those that changed, and those that use what they bind, in place of
// what stood there; or all of them once more, where what they do is more than to bind names. The modules that
// they import are not run again. See replay.hpp.
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/root_runner.hpp"
#include "interpreter/statements/module_loader.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

// What statements from `begin` on wrote to things that are not the file's is as it was before them until it
// is put back: the code that runs meanwhile, a decorator's, finds what it found then.
class WithoutOutsideWrites {
public:
  WithoutOutsideWrites(const std::deque<ItemRun>& items, std::size_t begin) {
    for (std::size_t i = items.size(); i-- > begin;)
      for (const auto& [slot, value] : items[i].outside) {
        now_.emplace_back(slot, slot->value);
        slot->value = value;
        then_[slot] = value;
      }
  }
  // False: something was written to it.
  bool put_back() {
    const bool same = std::ranges::all_of(
        then_, [](const auto& each) { return each.first->value == each.second; });
    for (auto each = now_.rbegin(); each != now_.rend(); ++each) each->first->value = each->second;
    return same;
  }

private:
  std::vector<std::pair<values::Slot*, values::Value>> now_;
  std::map<values::Slot*, values::Value> then_;
};

}  // namespace

void IncrementalRun::forget_facts(const std::unordered_set<std::uint32_t>& of_chunks) {
  if (!of_chunks.empty())
    std::erase_if(record_.facts, [&](const Fact& fact) { return of_chunks.contains(fact.place.chunk); });
}

bool IncrementalRun::fits_in_place(
    const ModuleRun& run_of, const std::deque<ItemRun>& made, std::size_t first, std::size_t old_last) const {
  const auto& items = replay_.items;
  const auto others = [&](const auto& each) {
    for (std::size_t i = 0; i < items.size(); ++i)
      if ((i < first || i >= old_last) && each(i)) return true;
    return false;
  };
  const auto binds = [](const ItemRun& item, Name name) {
    return std::find(item.bound.begin(), item.bound.end(), name) != item.bound.end();
  };
  const bool others_do_more = others([&](std::size_t i) { return i >= old_last && !items[i].pure; });
  for (const ItemRun& item : made) {
    if (!item.pure || item.used.all) return false;
    // What it read then is what it reads now.
    for (const Name name : item.used.names) {
      if (std::any_of(made.begin(), made.end(), [&](const ItemRun& each) { return binds(each, name); }))
        continue;
      const values::Slot* slot = run_of.object->globals->names.find(name);
      const bool fixed = !slot || slot->value.is(Kind::function) || slot->value.is(Kind::class_) ||
          slot->value.is(Kind::library) || slot->value.is(Kind::module);
      if (!fixed && others_do_more) return false;
      if (others([&](std::size_t i) { return i >= old_last && binds(items[i], name); })) return false;
    }
    // Each of the names is bound by no other statement.
    for (const Name name : item.bound)
      if (others([&](std::size_t i) { return binds(items[i], name); })) return false;
  }
  return true;
}

// Functions, classes and events stand in the order of their statements. `all`: how many there were before
// `made` was run.
void IncrementalRun::put_in_place(
    std::deque<ItemRun>& made, std::size_t first, std::size_t old_last, const Moments& all) {
  auto& items = replay_.items;
  const auto next = [&](std::size_t Moments::* count) {
    return old_last < items.size() ? items[old_last].before.*count : all.*count;
  };
  const auto put = [&](auto& list, std::size_t Moments::* count) {
    const std::size_t begin = items[first].before.*count, end = next(count);
    const auto at = [&](std::size_t i) { return list.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::ptrdiff_t delta = static_cast<std::ptrdiff_t>(list.size() - all.*count) -
        static_cast<std::ptrdiff_t>(end - begin);
    std::rotate(at(begin), at(all.*count), list.end());
    const std::size_t fresh = list.size() - all.*count;
    list.erase(at(begin + fresh), at(end + fresh));
    for (std::size_t i = old_last; i < items.size(); ++i)
      items[i].before.*
          count = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(items[i].before.*count) + delta);
    for (ItemRun& item : made) item.before.*count = begin + (item.before.*count - all.*count);
  };
  // The steps of what stood there are not taken twice: where the budget ends is told by the text alone.
  const std::uint64_t begin = items[first].before.steps,
                      end = old_last < items.size() ? items[old_last].before.steps : all.steps;
  const std::uint64_t taken = record_.steps - all.steps;
  record_.steps = all.steps - (end - begin) + taken;
  for (std::size_t i = old_last; i < items.size(); ++i)
    items[i].before.steps = items[i].before.steps - (end - begin) + taken;
  for (ItemRun& item : made) item.before.steps = begin + (item.before.steps - all.steps);
  put(run_.function_order_, &Moments::functions);
  put(run_.classes_, &Moments::classes);
  put(record_.roots.front()->block.events, &Moments::events);
  for (ItemRun& item : made) {
    const Moments counted = item.before;
    item.before = items[first].before;
    item.before.steps = counted.steps;
    item.before.functions = counted.functions;
    item.before.classes = counted.classes;
    item.before.events = counted.events;
  }
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(first),
      items.begin() + static_cast<std::ptrdiff_t>(old_last));
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(first), made.begin(), made.end());
}

bool IncrementalRun::run_in_place(ModuleRun& run_of, const std::shared_ptr<const Module>& module,
    std::size_t first, std::size_t last, std::size_t old_last) {
  auto& items = replay_.items;
  if (first == old_last && first == last) return true;
  if (first >= items.size() || replay_.changed.used.all || !items[first].before.plain) return false;
  // What others bind, too, is theirs from then on.
  for (std::size_t i = first; i < old_last; ++i)
    for (const Name name : items[i].bound)
      for (std::size_t other = 0; other < items.size(); ++other)
        if ((other < first || other >= old_last) &&
            std::find(items[other].bound.begin(), items[other].bound.end(), name) != items[other].bound.end())
          return false;
  // What is bound to the same value as before is no write: the names are free when the statements run.
  for (std::size_t i = first; i < old_last; ++i)
    for (const Name name : items[i].bound)
      if (values::Slot* slot = run_of.object->globals->names.find(name)) heap().set(*slot, {});
  const std::size_t after = old_last < items.size() ? items[old_last].before.functions
                                                    : run_.function_order_.size();
  for (std::size_t i = items[first].before.functions; i < after; ++i)
    run_.functions_.erase(run_.function_order_[i]->stmt);
  Moments all;
  all.steps = record_.steps;
  all.functions = run_.function_order_.size();
  all.classes = run_.classes_.size();
  all.events = record_.roots.front()->block.events.size();
  WithoutOutsideWrites as_then(items, old_last);
  std::deque<ItemRun> standing = std::exchange(items, {});
  run_.following_ = true;
  run_.loader_->run_items(run_of, module, first, last);
  run_.following_ = false;
  std::deque<ItemRun> made = std::exchange(items, std::move(standing));
  if (!as_then.put_back() || !fits_in_place(run_of, made, first, old_last)) return false;
  put_in_place(made, first, old_last, all);
  return true;
}

bool IncrementalRun::run_what_changed(ModuleRun& run_of, const std::shared_ptr<const Module>& module,
    std::size_t first, std::size_t last, std::size_t old_last) {
  if (!run_in_place(run_of, module, first, last, old_last)) return false;
  std::size_t run = last - first;
  for (std::size_t i = last; i < replay_.items.size(); ++i) {
    if (!differs(replay_.items[i].used)) continue;
    note_change(replay_.items[i]);
    if (++run > 200) return false;
    forget_facts(drop_standing(replay_.items[i].chunk));
    if (const auto known = replay_.chunks.find(replay_.items[i].chunk); known != replay_.chunks.end())
      forget_facts({known->second});
    if (!run_in_place(run_of, module, i, i + 1, i + 1)) return false;
  }
  return true;
}

// What is known of numbers is told in the order in which they were made: those that the statements asked for
// are made anew.
void IncrementalRun::forget_roles() {
  for (std::size_t role = 0; role < std::size(run_.roles_); ++role) {
    if ((replay_.roles_of_imports >> role & 1u) != 0 || !run_.roles_[role]) continue;
    run_.roles_[role] = record_.roles[role] = nullptr;
    replay_.changed.used.roles |= 1u << role;
  }
}

bool IncrementalRun::run_statements_again(
    ModuleRun& run_of, const std::shared_ptr<const Module>& module, const Moments& before) {
  auto& items = replay_.items;
  if (!before.plain || !replay_.copies.empty() || !replay_.unsteady.empty() || !replay_.possible ||
      record_.cancelled)
    return false;
  const auto own_reached = [&] {
    std::unordered_set<const FunctionStmt*> found;
    for (const auto& [stmt, yes] : run_.roots_->reached_)
      if (yes && run_.functions_.contains(static_cast<const FunctionStmt*>(stmt)))
        found.insert(static_cast<const FunctionStmt*>(stmt));
    return found;
  };
  const auto note = [&] {
    for (const ItemRun& item : items) {
      replay_.changed.used.names.insert(item.bound.begin(), item.bound.end());
      replay_.changed.used.all = replay_.changed.used.all || item.meddled;
    }
  };
  const auto reached_before = own_reached();
  run_.roots_->default_numbers_.clear();
  replay_.changed.used.all = false;
  note();
  const bool all = replay_.changed.used.all;
  rewind_to(before);
  record_.roots.front()->truncated = false;
  for (const auto& [slot, value] : replay_.left) slot->value = value;
  for (const ItemRun& item : items) drop_standing(item.chunk);
  items.clear();
  replay_.meddled = record_.open_to_defaults = false;
  run_.switches_ = 0;
  run_.unentered_ = nullptr;
  run_.seeds_ = {};
  run_.gradients_ = {};
  run_.resized_.clear();
  run_.stand_ins_.clear();
  forget_roles();
  run_.following_ = true;
  run_.loader_->run_items(run_of, module, 0, module->items.size());
  run_.following_ = false;
  replay_.changed.used.all = all;
  note();
  replay_.changed.used.all = replay_.changed.used.all || own_reached() != reached_before;
  replay_.old_units.erase({nullptr, false});
  return !record_.cancelled;
}

}  // namespace stepzero::interpreter
