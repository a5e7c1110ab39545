// See library_import.hpp.
#include "interpreter/incremental/library_import.hpp"

#include "interpreter/calls/outside_write.hpp"
#include "interpreter/incremental/incremental_run.hpp"

#include <algorithm>

namespace stepzero::interpreter {

namespace {

using values::Kind;
using values::Value;

// Are they certainly two? Of names and of what is defined once that can be told.
bool are_two(const Value& a, const Value& b) {
  const auto is_defined = [](const Value& value) {
    return value.is(Kind::function) || value.is(Kind::class_) || value.is(Kind::module);
  };
  if (a.is(Kind::string) && b.is(Kind::string)) return a.as<values::Str>()->text != b.as<values::Str>()->text;
  return is_defined(a) && is_defined(b) && !(a == b);
}

const Value& key_of(const Value& item) { return item; }
const Value& key_of(const std::pair<Value, Value>& item) { return item.first; }

// `base`, then what `first` has after it, then what `second` has after it. Nothing: one of them is not `base`
// with more after it, or what they have more may be the same.
template <class State> std::optional<State> both_after(
    values::Heap& heap, const State& base, const State& first, const State& second) {
  const auto goes_on = [&](const State& state) {
    return state.items.size() >= base.items.size() &&
        std::equal(base.items.begin(), base.items.end(), state.items.begin());
  };
  if (base.open || !goes_on(first) || !goes_on(second)) return std::nullopt;
  const auto more = static_cast<std::ptrdiff_t>(base.items.size());
  State both = first;
  for (auto it = second.items.begin() + more; it != second.items.end(); ++it) {
    if (!std::all_of(first.items.begin() + more, first.items.end(),
            [&](const auto& other) { return are_two(key_of(*it), key_of(other)); }))
      return std::nullopt;
    both.items.push_back(*it);
  }
  both.open = first.open || second.open;
  if constexpr (requires { both.length; }) both.length = nullptr;
  both.rest = !first.rest || first.rest == second.rest ? second.rest
      : !second.rest                                   ? first.rest
                     : heap.merge(first.rest, second.rest, symbolic::Sharing::uniform);
  return both;
}

// The same of the content of a dict, a list or a set.
Value both_after(values::Heap& heap, const Value& base, const Value& first, const Value& second) {
  const auto as_one = [&]<class State>(const State*) -> Value {
    const auto content = [](const Value& value) {
      return value.is(Kind::state) ? dynamic_cast<const State*>(value.object()) : nullptr;
    };
    const State *of_base = content(base), *of_first = content(first), *of_second = content(second);
    if (!of_base || !of_first || !of_second) return {};
    auto both = both_after(heap, *of_base, *of_first, *of_second);
    if (!both) return {};
    State* made = heap.make<State>();
    const Place born = made->born;
    *made = std::move(*both);
    made->born = born;
    return Value::of(Kind::state, made);
  };
  const Value of_dicts = as_one(static_cast<const values::DictState*>(nullptr));
  return of_dicts ? of_dicts : as_one(static_cast<const values::ListState*>(nullptr));
}

}  // namespace

LibraryImport::LibraryImport(values::Heap& heap, const Replay& replay) : heap_(heap) {
  if (!replay.file_begin) return;
  file_begin_ = *replay.file_begin;
  for (const auto& [slot, before] : heap_.written(*replay.file_begin)) {
    // A submodule that its package has as an attribute stays one: whoever asks for it imports it.
    const bool submodule = !before && slot->value.is(values::Kind::module);
    if (!submodule && !replay.is_of_statements(*slot)) hidden_.push_back({slot, slot->value, before});
  }
  for (const Hidden& each : hidden_) each.slot->value = each.before;
}

std::optional<values::Delta> LibraryImport::filled_by_both(values::Mark begin) const {
  values::Delta filled;
  for (const Hidden& each : hidden_) {
    const Value now = each.slot->value;
    if (now == each.before) continue;
    const auto goes_on = [&](const Value& held) { return bool(both_after(heap_, each.before, now, held)); };
    if (!goes_on(each.mine) || !heap_.held_between(file_begin_, begin, *each.slot, [&](const Value& held) {
          return held == now || goes_on(held);
        }))
      return std::nullopt;
    filled.emplace_back(each.slot, now);
  }
  return filled;
}

bool LibraryImport::finish(values::Mark begin) {
  const auto filled = filled_by_both(begin);
  for (const Hidden& each : hidden_)
    if (each.slot->value == each.before) each.slot->value = each.mine;
  values::Delta submodules;
  for (const auto& [slot, before] : heap_.written(begin)) {
    if (is_outside_write(*slot, before))
      left_.emplace_back(slot, slot->value);
    else if (!(slot->value == before))
      submodules.emplace_back(slot, slot->value);
  }
  if (!filled) return false;
  heap_.rollback(begin);
  for (const auto& [slot, value] : left_) slot->value = value;
  for (const auto& [slot, now] : *filled) {
    const auto& each = *std::ranges::find(hidden_, slot, &Hidden::slot);
    slot->value = each.mine;
    heap_.rewrite_since(file_begin_, *slot, [&](const Value& held) {
      return held == each.before ? now : both_after(heap_, each.before, now, held);
    });
  }
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
