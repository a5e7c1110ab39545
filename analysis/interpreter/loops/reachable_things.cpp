#include "interpreter/loops/reachable_things.hpp"

#include "values/limits.hpp"

#include <algorithm>
#include <utility>

namespace stepzero::interpreter {

using values::Kind;

std::optional<std::uint64_t> birth_of(Value value) {
  switch (value.kind) {
  case Kind::tensor: return value.as<values::Tensor>()->state.birth;
  case Kind::list: return value.as<values::List>()->state.birth;
  case Kind::dict: return value.as<values::Dict>()->state.birth;
  case Kind::iterator: return value.as<values::Iterator>()->state.birth;
  case Kind::instance: return value.as<values::Instance>()->attributes.birth;
  case Kind::unknown: return value.as<values::Unknown>()->attributes.birth;
  default: return std::nullopt;
  }
}

namespace {

using Step = ReachableThings::Step;
using Thing = ReachableThings::Thing;

// Calls `visit(step, thing)` for each part that can be something else later.
template <class Visit> void parts_of(Value value, const Visit& visit) {
  const auto names = [&](const values::Table& table) {
    for (const auto& [name, slot] : table.entries())
      visit(Step{Step::By::name, name}, Thing{slot, slot->value});
  };
  const auto state = [&](values::Slot& slot) { visit(Step{Step::By::state}, Thing{&slot, slot.value}); };
  std::size_t index = 0;
  const auto element = [&](Value item) { visit(Step{Step::By::element, {}, index++}, Thing{nullptr, item}); };
  const auto rest = [&](Value any) {
    if (any) visit(Step{Step::By::rest}, Thing{nullptr, any});
  };
  switch (value.kind) {
  case Kind::tensor: return state(value.as<values::Tensor>()->state);
  case Kind::instance: return names(value.as<values::Instance>()->attributes);
  case Kind::unknown:
    state(value.as<values::Unknown>()->state);
    for (const auto& [key, item] : value.as<values::Unknown>()->items) element(item);
    rest(value.as<values::Unknown>()->element);
    return names(value.as<values::Unknown>()->attributes);
  case Kind::list:
  case Kind::iterator:
    state(value.is(Kind::list) ? value.as<values::List>()->state : value.as<values::Iterator>()->state);
    if (const auto* list = values::Heap::list_state(value)) {
      std::ranges::for_each(list->items, element);
      rest(list->rest);
    }
    return;
  case Kind::dict:
    state(value.as<values::Dict>()->state);
    for (const auto& [key, item] : values::Heap::dict_state(value)->items) element(item);
    return rest(values::Heap::dict_state(value)->rest);
  case Kind::tuple: std::ranges::for_each(value.as<values::Tuple>()->items, element); return;
  case Kind::choice: element(value.as<values::Choice>()->yes); return element(value.as<values::Choice>()->no);
  case Kind::bound: return element(value.as<values::Bound>()->self);
  default: return;
  }
}

}  // namespace

ReachableThings::ReachableThings(const Frame* innermost, const values::Heap& heap, values::Mark since)
    : heap_(heap), since_(since) {
  std::size_t functions = 0;
  for (const Frame* frame = innermost; frame; frame = frame->outer, ++functions) {
    if (!frame->scope || frame->scope->names.birth <= since.clock) continue;
    const std::size_t from = found_.size();
    found_.push_back({from, {Step::By::function, {}, functions}, {}});
    for (const auto& [name, slot] : frame->scope->names.entries()) {
      slots_.try_emplace(slot, found_.size());
      found_.push_back({from, {Step::By::name, name}, {slot, slot->value}});
    }
  }
  follow(0);
}

void ReachableThings::look_at_written() {
  constexpr std::size_t most_written = 8'192;  // writes: a training step has fewer
  if (std::exchange(written_, true) || heap_.mark().trail - since_.trail > most_written) return;
  const std::size_t from = found_.size();
  for (const auto& [slot, before] : heap_.written(since_))
    if (slot->birth <= since_.clock)
      found_.push_back({found_.size(), {Step::By::slot, {}, 0, slot}, {slot, slot->value}});
  follow(from);
}

// Breadth first: the shortest way is the one that is least likely to be another the next time.
void ReachableThings::follow(std::size_t from) {
  const std::size_t most = found_.size() + values::most_parts;
  for (std::size_t i = from; i < found_.size() && found_.size() < most; ++i) {
    const Value value = found_[i].thing.value;
    const auto birth = birth_of(value);
    if (!birth && !value.is(Kind::tuple) && !value.is(Kind::choice) && !value.is(Kind::bound)) continue;
    // What was there before leads to itself.
    if ((birth && *birth <= since_.clock) || !objects_.try_emplace(value.object(), i).second) continue;
    parts_of(value, [&](const Step& step, const Thing& thing) {
      if (thing.slot) slots_.try_emplace(thing.slot, found_.size());
      found_.push_back({i, step, thing});
    });
  }
}

ReachableThings::Path ReachableThings::path_to(std::size_t at) const {
  Path path;
  for (;; at = found_[at].from) {
    path.push_back(found_[at].step);
    if (found_[at].from == at) break;
  }
  std::ranges::reverse(path);
  return path;
}

std::optional<ReachableThings::Thing> ReachableThings::at(const Frame* innermost, const Path& path) {
  Thing there;
  std::size_t next_step = 1;
  if (path.front().by == Step::By::slot) {
    there = {path.front().slot, path.front().slot->value};
  } else {
    const Frame* frame = innermost;
    for (std::size_t i = 0; i < path.front().index && frame; ++i) frame = frame->outer;
    values::Slot* const variable =
        frame && frame->scope && path.size() > 1 ? frame->scope->names.find(path[1].name) : nullptr;
    if (!variable) return std::nullopt;
    there = {variable, variable->value};
    next_step = 2;
  }
  for (std::size_t i = next_step; i < path.size(); ++i) {
    std::optional<Thing> next;
    parts_of(there.value, [&](const Step& step, const Thing& thing) {
      if (step == path[i]) next = thing;
    });
    if (!next) return std::nullopt;
    there = *next;
  }
  return there;
}

}  // namespace stepzero::interpreter
