// Runs a file again after an edit: the statements that changed in place of those that stood there, and the
// units that use what they bind. See replay.hpp.
#include "interpreter/calls/outside_write.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/built_runs.hpp"
#include "interpreter/roots/root_runner.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

// The statements whose whole effect is the names that they bind, unless what they evaluate does more.
bool binds_names(const Stmt* stmt) {
  if (!stmt) return true;
  switch (stmt->kind) {
  case StmtKind::function:
  case StmtKind::class_:
  case StmtKind::import:
  case StmtKind::import_from:
  case StmtKind::assign:
  case StmtKind::ann_assign:
  case StmtKind::pass: return true;
  case StmtKind::expression: return as<ExpressionStmt>(*stmt).value->kind == ExprKind::string;
  default: return false;
  }
}

// The import statements of a chunk, as they are written.
std::vector<std::string> imports_of(const Chunk& chunk, const syntax::Module& module, std::uint32_t offset) {
  std::vector<std::string> found;
  if (!chunk.stmt) return found;
  for_each_statement(*chunk.stmt, [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::import || stmt.kind == StmtKind::import_from)
      found.emplace_back(module.text->slice({offset + stmt.span.begin, offset + stmt.span.end}));
  });
  return found;
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> IncrementalRun::costly_roots(std::size_t most) const {
  std::vector<std::pair<std::string, std::uint64_t>> found = {{"", replay_.end.steps}};
  for (const auto& [key, unit] : replay_.units)
    for (const RootRun& run : unit.root_runs)
      if (run.called || run.owner)
        found.emplace_back(run.called ? std::string(run.called->qualified)
                                      : std::string(as<ClassStmt>(*run.owner).name.text()) + ".__init__",
            run.steps);
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  found.resize(std::min(found.size(), most));
  return found;
}

const FunctionStmt* IncrementalRun::as_run(const Chunk& chunk, const FunctionStmt* method) const {
  const auto standing = replay_.standing.find(&chunk);
  if (standing == replay_.standing.end() || chunk.stmt->kind != StmtKind::class_) return method;
  const syntax::Block written = as<ClassStmt>(*chunk.stmt).body,
                      run = as<ClassStmt>(*standing->second.stmt).body;
  for (std::size_t i = 0; i < written.size(); ++i)
    if (written[i] == method) return &as<FunctionStmt>(*run[i]);
  return method;
}

// A chunk that is gone stays alive, and its number means nothing any more: what was run of it is looked for
// by address.
void IncrementalRun::drop_chunk(std::uint32_t index) {
  static const auto nothing = std::make_shared<const Chunk>();
  ChunkOf& chunk = record_.chunks[index];
  replay_.dropped.push_back(std::exchange(chunk.chunk, nothing));
  chunk.path.clear();
}

std::unordered_set<std::uint32_t> IncrementalRun::drop_standing(const Chunk* chunk) {
  std::unordered_set<std::uint32_t> dropped;
  const auto found = replay_.standing.find(chunk);
  if (found == replay_.standing.end()) return dropped;
  const auto whole = replay_.chunks.find(chunk);
  if (whole != replay_.chunks.end()) record_.parts.erase(whole->second);
  for (const std::uint32_t index : found->second.chunks) {
    if (whole != replay_.chunks.end() && whole->second == index) continue;
    drop_chunk(index);
    dropped.insert(index);
  }
  replay_.standing.erase(found);
  return dropped;
}

void IncrementalRun::move_chunks(
    const std::shared_ptr<const Module>& module, std::unordered_set<std::uint32_t>& gone) {
  std::unordered_map<const Chunk*, std::uint32_t> offsets;
  for (const Item& item : module->items) offsets[item.chunk.get()] = item.offset;
  const auto move = [&](std::uint32_t index, const Chunk* as) {
    const auto found = offsets.find(as);
    if (found == offsets.end()) {
      drop_chunk(index);
      gone.insert(index);
      return;
    }
    record_.chunks[index].module = module;
    record_.chunks[index].offset = found->second;
  };
  for (const auto& [chunk, index] : replay_.chunks) move(index, chunk);
  for (const auto& [chunk, standing] : replay_.standing)
    for (const std::uint32_t index : standing.chunks) move(index, chunk);
  for (const std::uint32_t index : replay_.copies)
    if (!record_.chunks[index].path.empty()) move(index, record_.chunks[index].chunk.get());
}

Moments IncrementalRun::moments() const {
  Moments now;
  now.heap = record_.heap.mark();
  now.events = record_.roots.front()->block.events.size();
  now.facts = record_.facts.size();
  now.functions = run_.function_order_.size();
  now.classes = run_.classes_.size();
  now.reached = replay_.reached.size();
  now.models = replay_.models.size();
  now.built = run_.roots_->built_.size();
  now.steps = record_.steps;
  now.writes = record_.heap.writes();
  now.default_device = run_.default_device_set_;
  std::uint64_t seeds = 0;
  for (const Seeds each : run_.seeds_) seeds = seeds * 4 + static_cast<std::uint64_t>(each);
  now.switched = static_cast<std::uint64_t>(run_.switches_) * 512 + seeds * 8 + (run_.unentered_ ? 4u : 0u) +
      (run_.gradients_.lost ? 2u : 0u) + (run_.gradients_.own ? 1u : 0u);
  now.plain = record_.symbols.mark() == replay_.base_facts && run_.path_.empty() && !run_.killed_ &&
      record_.symbols.doubts() == replay_.doubts && !run_.chosen_by_text_;
  return now;
}

void IncrementalRun::begin_item(const Item& item) {
  replay_.chunks.try_emplace(item.chunk.get(), run_.chunk_);
  ItemRun& made = replay_.items.emplace_back();
  made.chunk = item.chunk.get();
  made.before = moments();
  run_.used_ = &made.used;
  part_begin_ = made.before.heap.clock;
}

void IncrementalRun::end_item(const values::Scope& globals) {
  run_.used_ = nullptr;
  ItemRun& item = replay_.items.back();
  const Moments now = moments();
  const Moments& before = item.before;
  item.pure = binds_names(item.chunk->stmt) && now.plain && before.plain && now.models == before.models &&
      now.built == before.built && now.default_device == before.default_device &&
      now.switched == before.switched;
  // Decorators run functions. Those that other statements define are no longer run by themselves then; and
  // what else runs them may do more.
  item.ran_code = now.events != before.events || now.reached != before.reached;
  const bool decorates = item.chunk->stmt &&
      (item.chunk->stmt->kind == StmtKind::function || item.chunk->stmt->kind == StmtKind::class_);
  const auto is_others = [&](const FunctionStmt* stmt) {
    const auto made = run_.functions_.find(stmt);
    return made != run_.functions_.end() && made->second->chunk != run_.chunk_;
  };
  if (now.events != before.events && !decorates) item.pure = false;
  if (std::any_of(replay_.reached.begin() + static_cast<std::ptrdiff_t>(before.reached),
          replay_.reached.end(), is_others))
    item.pure = false;
  for (const auto& [slot, value] : heap().written(before.heap)) {
    if (slot->birth > before.heap.clock || slot->value == value) continue;
    const auto& entries = globals.names.entries();
    const auto found = std::find_if(
        entries.rbegin(), entries.rend(), [own = slot](const auto& entry) { return entry.second == own; });
    if (found != entries.rend())
      item.bound.push_back(found->first);
    else if (is_outside_write(*slot, value) && !is_left_by_import(*slot)) {
      item.meddled = true;
      item.outside.emplace_back(slot, value);
      replay_.meddled = replay_.meddled || !replay_.is_of_statements(*slot);
    }
  }
  item.pure = item.pure && !item.meddled;
  if (replay_.replaying) note_change(item);
}

bool IncrementalRun::differs(const Used& used) const {
  const Changed& changed = replay_.changed;
  if (changed.used.all || (changed.used.roles & used.roles) != 0) return true;
  if (used.all && !changed.used.names.empty()) return true;
  if (std::ranges::any_of(changed.used.names, [&](Name name) { return used.names.contains(name); }) ||
      std::ranges::any_of(changed.bodies, [&](const auto& body) {
        return used.bodies.contains(body.first) || (changed.calls && used.calls.contains(body.first));
      }))
    return true;
  if (used.attributes.empty()) return false;
  const auto any = [](const std::vector<ChunkOf>& all, const auto& says) {
    return std::ranges::any_of(all, [&](const ChunkOf& each) {
      return each.chunk->stmt && says(each.chunk->attribute_writes(each.text()));
    });
  };
  const auto same = [&](const auto& says) { return any(changed.before, says) == any(changed.now, says); };
  return !same([](const AttributeWrites& writes) { return writes.computes(); }) ||
      !same([](const AttributeWrites& writes) { return writes.computes_own(); }) ||
      !same([](const AttributeWrites& writes) { return writes.registers(); }) ||
      std::ranges::any_of(used.attributes, [&](std::string_view name) {
        return !same([&](const AttributeWrites& writes) { return writes.names(name); });
      });
}

bool IncrementalRun::differs(const Unit& unit) const {
  if (differs(unit.used)) return true;
  for (std::size_t i = 0; i < unit.root_runs.size(); ++i)
    if (unit.ran(i, replay_.changed)) return true;
  return false;
}

bool IncrementalRun::is_left_by_import(const values::Slot& slot) const {
  return std::any_of(replay_.left.begin(), replay_.left.end(),
      [&](const auto& each) { return each.first == &slot && each.second == slot.value; });
}

bool Replay::is_of_statements(const values::Slot& slot) const {
  if (!file_begin || slot.birth <= file_begin->clock) return false;
  const auto import = std::lower_bound(imports.begin(), imports.end(), slot.birth,
      [](const auto& each, std::uint64_t birth) { return each.second < birth; });
  return import == imports.end() || slot.birth <= import->first;
}

bool IncrementalRun::meddles(const Moments& before) const {
  const auto& entries = run_.globals_->names.entries();
  const auto written = record_.heap.written(before.heap);
  return std::any_of(written.begin(), written.end(), [&](const auto& each) {
    const auto& [slot, value] = each;
    return slot->birth <= before.heap.clock && is_outside_write(*slot, value) && !is_left_by_import(*slot) &&
        !replay_.is_of_statements(*slot) &&
        std::none_of(
            entries.begin(), entries.end(), [own = slot](const auto& entry) { return entry.second == own; });
  });
}

void IncrementalRun::note_change(const ItemRun& item) {
  replay_.changed.used.all = replay_.changed.used.all || !item.pure;
  replay_.changed.used.names.insert(item.bound.begin(), item.bound.end());
}

void IncrementalRun::note_reached(const FunctionStmt* stmt) {
  if (run_.called_) run_.called_->insert(stmt);
  bool& reached = run_.roots_->reached_[stmt];
  if (!reached) {
    reached = true;
    replay_.reached.push_back(stmt);
  }
  if (unit_ && !unit_->root_runs.empty()) unit_->root_runs.back().executed.insert(stmt);
}

void IncrementalRun::forget_reached(std::size_t after) {
  for (std::size_t i = after; i < replay_.reached.size(); ++i)
    run_.roots_->reached_.erase(replay_.reached[i]);
  replay_.reached.resize(std::min(replay_.reached.size(), after));
}

void IncrementalRun::note_number(values::Unknown& unknown) {
  if (unit_ && !unit_->root_runs.empty() && unknown.attributes.birth <= root_begin_)
    replay_.numbers.push_back(&unknown);
}

void IncrementalRun::begin_root_run(RootRun run) {
  if (!unit_) return;
  end_root_run();
  root_begin_ = heap().mark().clock;
  run.numbers = replay_.numbers.size();
  run.begin = record_.steps;
  run.root = (run_.with_defaults_ ? record_.default_roots.size() - unit_->default_roots[0]
                                  : record_.roots.size() - unit_->roots[0]) -
      1;
  run.facts = record_.facts.size() - unit_->facts[0];
  run.writes = heap().writes();
  run.switched = switched();
  record_.out_of_budget = false;  // of the root that begins
  doubts_before_root_ = symbols().doubts();
  run.allowance = steps_of_root(run.begin);
  unit_->root_runs.push_back(std::move(run));
}

void IncrementalRun::end_root_run() {
  if (!unit_ || unit_->root_runs.empty()) return;
  RootRun& run = unit_->root_runs.back();
  run.steps = record_.steps - run.begin;
  run.writes_after = heap().writes();
  run.doubtful = symbols().doubts() != doubts_before_root_;
  run.switched_after = switched();
  run.cut = record_.out_of_budget;
  note_steps_taken(run);
}

Switched IncrementalRun::switched() const {
  return {
      run_.switches_, run_.unentered_, run_.seeds_, run_.gradients_, run_.resized_, run_.default_device_set_};
}

void IncrementalRun::switch_back(const Switched& before) {
  run_.switches_ = before.switches;
  run_.unentered_ = before.unentered;
  run_.seeds_ = before.seeds;
  run_.gradients_ = before.gradients;
  run_.resized_ = before.resized;
}

void IncrementalRun::open_up(values::Instance& object) {
  if (!object.open && object.attributes.birth <= part_begin_)
    replay_.possible = false;  // who runs later sees it
  object.open = true;
}

void IncrementalRun::note_model(const values::Object* object) {
  if (run_.roots_->run_models_.insert(object).second) replay_.models.push_back(object);
}

void IncrementalRun::shrink_lists(std::size_t facts, std::size_t functions, std::size_t classes) {
  if (record_.facts.size() > facts) record_.facts.resize(facts);
  for (std::size_t i = functions; i < run_.function_order_.size(); ++i)
    run_.functions_.erase(run_.function_order_[i]->stmt);
  run_.function_order_.resize(std::min(run_.function_order_.size(), functions));
  run_.classes_.resize(std::min(run_.classes_.size(), classes));
}

void IncrementalRun::rewind_to(const Moments& before) {
  heap().rollback(before.heap);
  symbols().rewind(replay_.base_facts);
  record_.roots.front()->block.events.resize(before.events);
  shrink_lists(before.facts, before.functions, before.classes);
  forget_reached(before.reached);
  for (std::size_t i = before.models; i < replay_.models.size(); ++i)
    run_.roots_->run_models_.erase(replay_.models[i]);
  replay_.models.resize(before.models);
  run_.roots_->built_.assign(
      replay_.built.begin(), replay_.built.begin() + static_cast<std::ptrdiff_t>(before.built));
  run_.roots_->built_runs_ = 0;
  record_.steps = before.steps;
  heap().set_writes(before.writes);
  record_.out_of_budget = record_.cancelled = false;
  run_.step_limit_ = run_.limits_.steps;
  run_.default_device_set_ = before.default_device;
  run_.in_roots_ = run_.killed_ = run_.any_use_ = run_.chosen_by_text_ = false;
  run_.raised_ = run_.caught_ = {};
  run_.handling_ = nullptr;
  run_.defaults_.clear();
}

namespace {

// The roles that the run asked for, as bits.
unsigned roles_asked(const Replay& replay) {
  unsigned asked = replay.roles_of_imports;
  for (const ItemRun& item : replay.items) asked |= item.used.roles;
  for (const auto& [key, unit] : replay.units) asked |= unit.used.roles;
  return asked;
}

// How many items are the same from the beginning, and how many of the others from the end.
std::pair<std::size_t, std::size_t> unchanged_around(
    const std::deque<ItemRun>& old, const std::vector<Item>& items) {
  const auto same = [&](std::size_t was, std::size_t is) { return old[was].chunk == items[is].chunk.get(); };
  std::size_t first = 0, after = 0;
  while (first < old.size() && first < items.size() && same(first, first)) ++first;
  while (after < old.size() - first && after < items.size() - first &&
      same(old.size() - 1 - after, items.size() - 1 - after))
    ++after;
  return {first, after};
}

}  // namespace

bool IncrementalRun::run_again(
    const std::atomic<bool>* cancelled, const std::unordered_set<const Stmt*>* only) {
  run_.limits_.cancelled = cancelled;
  run_.limits_.only = only;
  const auto module = run_.sources_.module(run_.main_path_);
  // What earlier runs left lies about in the record until a run from the beginning. Who has time makes that
  // before it is so much.
  if (!module || !replay_.possible || record_.events.size() > 8 * replay_.fresh_events + 20'000 ||
      replay_.copies.size() > 20'000)
    return false;
  const auto& items = module->items;
  auto& old = replay_.items;
  const auto [first, after] = unchanged_around(old, items);
  for (std::size_t i = first; i < items.size() - after; ++i)
    if (items[i].chunk->stmt && replay_.chunks.contains(items[i].chunk.get())) return false;  // it was moved

  replay_.replaying = true;
  replay_.only_comments = false;
  replay_.changed = {};
  replay_.focus.reset();
  // One statement in place of one: what of it changed may be shown first.
  if (record_.on_focus && old.size() == items.size() && first + after + 1 == items.size() &&
      old[first].chunk->stmt && items[first].chunk->stmt)
    if (const auto known = replay_.chunks.find(old[first].chunk); known != replay_.chunks.end()) {
      const ChunkOf& was = record_.chunks[known->second];
      const Item& is = items[first];
      replay_.focus = find_focus(*was.chunk->stmt, was.text(), *is.chunk->stmt,
          module->text->slice({is.offset, is.offset + is.chunk->size}));
      if (replay_.focus && replay_.focus->was) replay_.focus->was = as_run(*was.chunk, replay_.focus->was);
    }
  std::unordered_set<std::uint32_t> gone;
  const bool one_for_one = old.size() == items.size() && first + after + 1 == items.size();
  std::vector<std::string> imports_before, imports_now;
  for (std::size_t i = first; i < items.size() - after; ++i)
    for (std::string& each : imports_of(*items[i].chunk, *module, items[i].offset))
      imports_now.push_back(std::move(each));
  const bool stood = one_for_one && keep_standing(module, first);
  for (std::size_t i = first; i < old.size() - after && !stood; ++i) {
    note_change(old[i]);
    for (const std::uint32_t index : drop_standing(old[i].chunk)) gone.insert(index);
    if (const auto found = replay_.chunks.find(old[i].chunk); found != replay_.chunks.end()) {
      const ChunkOf& was = record_.chunks[found->second];
      replay_.changed.before.push_back(was);
      for (std::string& each : imports_of(*was.chunk, *was.module, was.offset))
        imports_before.push_back(std::move(each));
      gone.insert(found->second);
      drop_chunk(found->second);
      replay_.chunks.erase(found);
    }
  }
  for (std::size_t i = first; i < items.size() - after && !stood; ++i)
    replay_.changed.now.push_back({run_.main_path_, module, items[i].chunk, items[i].offset, {}});
  move_chunks(module, gone);
  run_.roots_->tell_as_defaults();
  replay_.old_facts = record_.facts;
  replay_.old_roots = std::move(record_.roots);
  record_.roots.clear();
  record_.roots.push_back(std::move(replay_.old_roots.front()));
  replay_.old_default_roots = std::move(record_.default_roots);
  record_.default_roots.clear();
  replay_.old_units = std::move(replay_.units);
  replay_.units.clear();
  record_.derived.clear();
  rewind_to(replay_.end);
  replay_.doubts = symbols().doubts();

  ModuleRun& run_of = run_.loader_->main();
  run_.block_ = &record_.roots.front()->block;
  const Moments before = old.empty() ? replay_.end : old.front().before;
  forget_facts(gone);
  // A module that is imported no more takes back what it wrote into others.
  const bool imports_stand = !replay_.program_left || imports_before == imports_now;
  const bool cut = record_.roots.front()->truncated;
  record_.out_of_budget = cut;
  // Where the steps end is told by all that is run before: then no statement is run by itself.
  const bool by_themselves = imports_stand && !cut;
  const bool placed = stood ||
      (by_themselves && run_what_changed(run_of, module, first, items.size() - after, old.size() - after)) ||
      (imports_stand && run_statements_again(run_of, module, before));
  run_.block_ = nullptr;
  if (!placed) {
    replay_.possible = false;
    return false;
  }
  run_.roots_->run_roots(run_of, module);

  const unsigned asked = roles_asked(replay_);
  for (std::size_t role = 0; role < std::size(run_.roles_); ++role)
    record_.roles[role] = (asked >> role & 1u) != 0 ? run_.roles_[role] : nullptr;
  replay_.replaying = false;
  replay_.old_facts.clear();
  replay_.old_roots.clear();
  replay_.old_default_roots.clear();
  replay_.old_units.clear();
  run_.roots_->tell_as_defaults();
  return !record_.cancelled || replay_.possible;
}

bool IncrementalRun::begins_equally(const Unit& unit, const std::vector<bool>& condition) const {
  return unit.condition == condition && unit.device_before == run_.default_device_set_ &&
      (!unit.built || same_built_runs(unit.built_before, unit.built_runs, run_.roots_->built_runs_));
}

bool IncrementalRun::stands(const Unit& unit, const std::vector<bool>& condition) const {
  return begins_equally(unit, condition) && allows(unit) && !differs(unit);
}

void IncrementalRun::take_over(Unit& unit) {
  const auto move_roots = [](std::vector<std::unique_ptr<Root>>& from, std::vector<std::unique_ptr<Root>>& to,
                              std::size_t(&range)[2]) {
    const std::size_t begin = to.size();
    for (std::size_t i = range[0]; i < range[1]; ++i) to.push_back(std::move(from[i]));
    range[0] = begin;
    range[1] = to.size();
  };
  const std::size_t old_root = unit.roots[0];
  move_roots(replay_.old_roots, record_.roots, unit.roots);
  move_roots(replay_.old_default_roots, record_.default_roots, unit.default_roots);
  const std::size_t begin = record_.facts.size();
  const auto facts = replay_.old_facts.begin();
  record_.facts.insert(record_.facts.end(), facts + static_cast<std::ptrdiff_t>(unit.facts[0]),
      facts + static_cast<std::ptrdiff_t>(unit.facts[1]));
  for (std::size_t i = begin; i < record_.facts.size(); ++i)
    record_.facts[i].root = static_cast<std::uint32_t>(record_.facts[i].root - old_root + unit.roots[0]);
  unit.facts[0] = begin;
  unit.facts[1] = record_.facts.size();
  for (RootRun& run : unit.root_runs) {
    for (const FunctionStmt* stmt : run.executed) note_reached(stmt);
    run.begin = record_.steps + (run.begin - unit.begin);
  }
  unit.begin = record_.steps;
  unit.built_before = run_.roots_->built_runs_;
  record_.steps += unit.steps;
  run_.roots_->built_runs_ += unit.built_runs;
  record_.out_of_budget = record_.out_of_budget || unit.out_of_budget;
  run_.default_device_set_ = unit.device_after;
}

bool IncrementalRun::run_unit(
    UnitKey key, std::vector<bool> condition, const std::function<void()>& run, values::Class* cls) {
  if (replay_.replaying)
    if (const auto old = replay_.old_units.find(key); old != replay_.old_units.end()) {
      if (stands(old->second, condition)) {
        Unit& unit = replay_.units.insert_or_assign(key, std::move(old->second)).first->second;
        unit.taken_over = true;
        replay_.old_units.erase(old);
        take_over(unit);
        return unit.doubtful;
      }
      if (cls && begins_equally(old->second, condition) && run_methods_again(old->second, *cls)) {
        Unit& unit = replay_.units.insert_or_assign(key, std::move(old->second)).first->second;
        replay_.old_units.erase(old);
        return unit.doubtful;
      }
    }
  if (record_.cancelled) return false;  // it has not been run, and is the next time
  Unit& unit = replay_.units.insert_or_assign(key, Unit{}).first->second;
  unit.condition = std::move(condition);
  unit.roots[0] = record_.roots.size();
  unit.default_roots[0] = record_.default_roots.size();
  unit.facts[0] = record_.facts.size();
  unit.begin = record_.steps;
  unit.built_before = run_.roots_->built_runs_;
  unit.device_before = run_.default_device_set_;
  const std::size_t doubts = symbols().doubts();
  const bool out_of_budget = std::exchange(record_.out_of_budget, false);
  // What it switches for good is taken back with it: what runs after it is run as if it had not been.
  const Switched before = switched();
  unit_ = &unit;
  run_.used_ = &unit.used;
  part_begin_ = unit.clock = heap().mark().clock;
  heap().set_writes(replay_.end.writes);
  run();
  end_root_run();
  unit.writes = heap().writes();
  run_.used_ = nullptr;
  unit_ = nullptr;
  switch_back(before);
  if (record_.cancelled) {
    record_.roots.resize(unit.roots[0]);
    record_.default_roots.resize(unit.default_roots[0]);
    record_.facts.resize(unit.facts[0]);
    record_.steps = unit.begin;
    run_.roots_->built_runs_ = unit.built_before;
    replay_.units.erase(key);
    return false;
  }
  unit.numbers_after = replay_.numbers.size();
  unit.doubtful = symbols().doubts() != doubts;
  unit.out_of_budget = record_.out_of_budget || std::ranges::any_of(unit.root_runs, &RootRun::cut);
  record_.out_of_budget = unit.out_of_budget || out_of_budget;
  unit.device_after = run_.default_device_set_;
  unit.built_runs = run_.roots_->built_runs_ - unit.built_before;
  unit.steps = record_.steps - unit.begin;
  unit.facts[1] = record_.facts.size();
  unit.roots[1] = record_.roots.size();
  unit.default_roots[1] = record_.default_roots.size();
  return unit.doubtful;
}

}  // namespace stepzero::interpreter
