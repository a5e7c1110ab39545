// See library_import.hpp.
#include "interpreter/incremental/library_import.hpp"

#include "interpreter/calls/outside_write.hpp"
#include "interpreter/incremental/incremental_run.hpp"

#include <algorithm>

namespace stepzero::interpreter {

LibraryImport::LibraryImport(values::Heap& heap, const Replay& replay) : heap_(heap) {
  if (!replay.file_begin) return;
  for (const auto& [slot, before] : heap_.written(*replay.file_begin)) {
    // A submodule that its package has as an attribute stays one: whoever asks for it imports it.
    const bool submodule = !before && slot->value.is(values::Kind::module);
    if (!submodule && !replay.is_of_statements(*slot)) hidden_.push_back({slot, slot->value, before});
  }
  for (const Hidden& each : hidden_) each.slot->value = each.before;
}

bool LibraryImport::finish(values::Mark begin) {
  const bool apart = std::ranges::all_of(
      hidden_, [](const Hidden& each) { return each.slot->value == each.before; });
  for (const Hidden& each : hidden_)
    if (each.slot->value == each.before) each.slot->value = each.mine;
  values::Delta submodules;
  for (const auto& [slot, before] : heap_.written(begin)) {
    if (is_outside_write(*slot, before))
      left_.emplace_back(slot, slot->value);
    else if (!(slot->value == before))
      submodules.emplace_back(slot, slot->value);
  }
  if (!apart) return false;
  heap_.rollback(begin);
  for (const auto& [slot, value] : left_) slot->value = value;
  heap_.apply(submodules);
  return true;
}

// `meddled`: the file itself had written to what it shares with modules before this one was run.
void IncrementalRun::note_import(const ModuleRun& run_of, values::Mark before, bool meddled) {
  auto outside = heap().written(before);
  std::erase_if(outside, [](const auto& each) { return !is_outside_write(*each.first, each.second); });
  for (auto& [slot, value] : outside) value = slot->value;
  // A function's import is the program's own order of events.
  const bool in_order = run_.path_.empty() && !run_.in_roots_;
  if (meddled ? !run_.in_roots_ || !outside.empty() : !outside.empty() && !in_order) {
    replay_.unsteady.push_back(run_of.path);
    return;
  }
  replay_.left.insert(replay_.left.end(), outside.begin(), outside.end());
  replay_.program_left = replay_.program_left || !outside.empty();
}

void IncrementalRun::note_library_import(const ModuleRun& run_of, const LibraryImport& import, bool apart) {
  if (!apart) replay_.unsteady.push_back(run_of.path);
  replay_.left.insert(replay_.left.end(), import.left().begin(), import.left().end());
}

}  // namespace stepzero::interpreter
