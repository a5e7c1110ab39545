#include "interpreter/loops/foreseen_changes.hpp"

#include "interpreter/loops/loop_shape.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <typeinfo>

namespace stepzero::interpreter {

using values::Kind;

namespace {

std::uint64_t key_of(const LoopShape& loop, const Frame& in) {
  constexpr std::uint64_t prime = 0x100000001b3;  // of FNV-1a
  std::uint64_t key = 0xcbf29ce484222325;
  const auto mix = [&](Place place) {
    key = (key ^ place.chunk) * prime;
    key = (key ^ place.span.begin) * prime;
  };
  mix(loop.place);
  for (const CallSite* site = in.site; site; site = site->outer) mix(site->place);
  return key;
}

// Calls `visit` for each object in a value that is one of its own. False: they lie too deep.
template <class Visit> bool each_object(Value value, const Visit& visit, int depth = 0) {
  const auto within = [&](Value part) { return each_object(part, visit, depth + 1); };
  if (birth_of(value)) {
    visit(value);
    return true;
  }
  if (depth > values::most_choices) return false;
  switch (value.kind) {
  case Kind::tuple: return std::ranges::all_of(value.as<values::Tuple>()->items, within);
  case Kind::choice: return within(value.as<values::Choice>()->yes) && within(value.as<values::Choice>()->no);
  case Kind::bound: return within(value.as<values::Bound>()->self);
  case Kind::state:
    if (const auto* list = dynamic_cast<const values::ListState*>(value.object()))
      return within(list->rest) && std::ranges::all_of(list->items, within);
    if (const auto* dict = dynamic_cast<const values::DictState*>(value.object()))
      return within(dict->rest) && std::ranges::all_of(dict->items, [&](const auto& item) {
        return within(item.first) && within(item.second);
      });
    return true;
  default: return true;
  }
}

// The way to a slot may lead to a thing of another kind the next time: what was a list is a tensor. Then what
// the slot held says nothing of it.
bool are_of_one_kind(Value a, Value b) {
  if (!a.is(Kind::state) || !b.is(Kind::state)) return a.is(Kind::state) == b.is(Kind::state);
  const values::Object &held = *a.object(), &holds = *b.object();
  return typeid(held) == typeid(holds);
}

// The value with other objects in the places of those that are gone.
class Renewed {
public:
  Renewed(values::Heap& heap, const std::unordered_map<const values::Object*, Value>& objects)
      : heap_(heap), objects_(objects) {}

  Value of(Value value) const {
    if (birth_of(value)) {
      const auto it = objects_.find(value.object());
      return it == objects_.end() ? value : it->second;
    }
    switch (value.kind) {
    case Kind::tuple: {
      const auto* tuple = value.as<values::Tuple>();
      const auto items = all(tuple->items);
      if (items == tuple->items) return value;
      auto* other = heap_.make<values::Tuple>();
      *other = *tuple;
      other->items = items;
      return Value::of(Kind::tuple, other);
    }
    case Kind::choice: {
      const auto* choice = value.as<values::Choice>();
      const Value yes = of(choice->yes), no = of(choice->no);
      return yes == choice->yes && no == choice->no ? value : heap_.choose(choice->condition, yes, no);
    }
    case Kind::bound: {
      const auto* bound = value.as<values::Bound>();
      const Value self = of(bound->self);
      if (self == bound->self) return value;
      auto* other = heap_.make<values::Bound>();
      *other = *bound;
      other->self = self;
      return Value::of(Kind::bound, other);
    }
    case Kind::state:
      if (const auto* list = dynamic_cast<const values::ListState*>(value.object())) {
        auto* other = heap_.make<values::ListState>();
        *other = *list;
        other->items = all(list->items);
        other->rest = of(list->rest);
        return Value::of(Kind::state, other);
      }
      if (const auto* dict = dynamic_cast<const values::DictState*>(value.object())) {
        auto* other = heap_.make<values::DictState>();
        *other = *dict;
        for (auto& [key, item] : other->items) {
          key = of(key);
          item = of(item);
        }
        other->rest = of(dict->rest);
        return Value::of(Kind::state, other);
      }
      return value;
    default: return value;
    }
  }

private:
  std::vector<Value> all(const std::vector<Value>& items) const {
    std::vector<Value> others;
    others.reserve(items.size());
    for (const Value& item : items) others.push_back(of(item));
    return others;
  }
  values::Heap& heap_;
  const std::unordered_map<const values::Object*, Value>& objects_;
};

}  // namespace

void ForeseenChanges::keep(
    const values::Heap& heap, const LoopShape& loop, const Frame& in, std::size_t path, Iteration iteration) {
  if (!dry_run_) return;
  const std::uint64_t key = key_of(loop, in), since = dry_run_->since.clock;
  loops_.erase(key);
  if (!iteration.failures.empty() && path != dry_run_->path) return;
  Kept kept{std::move(iteration), {}, {}};
  std::optional<ReachableThings> things;
  const auto path_to = [&](const auto* thing) {
    if (!things) things.emplace(&in, heap, dry_run_->since);
    return things->to(thing);
  };
  for (const Change& change : kept.iteration.changes) {
    if (change.slot->birth > since) {
      const auto there = path_to(change.slot);
      if (!there) return;
      kept.slots.emplace(change.slot, *there);
    }
    bool found = true;
    const bool all = each_object(change.end, [&](Value object) {
      const std::uint64_t birth = *birth_of(object);
      if (birth <= since || birth > kept.iteration.began) return;
      const auto there = path_to(object.object());
      if (there) kept.objects.emplace(object.object(), *there);
      found = found && there;
    });
    if (!all || !found) return;
  }
  loops_.emplace(key, std::move(kept));
}

std::optional<ForeseenChanges::Iteration> ForeseenChanges::of(
    values::Heap& heap, const LoopShape& loop, const Frame& in) const {
  const auto it = loops_.find(key_of(loop, in));
  if (it == loops_.end()) return std::nullopt;
  const Kept& kept = it->second;
  std::unordered_map<const values::Object*, Value> objects;
  for (const auto& [object, path] : kept.objects) {
    const auto there = ReachableThings::at(&in, path);
    if (!there || !birth_of(there->value)) return std::nullopt;
    objects.emplace(object, there->value);
  }
  Iteration iteration = kept.iteration;
  for (Change& change : iteration.changes) {
    if (const auto path = kept.slots.find(change.slot); path != kept.slots.end()) {
      const auto there = ReachableThings::at(&in, path->second);
      if (!there || !there->slot || !there->slot->value) return std::nullopt;
      change.slot = there->slot;
    }
    if (change.end && !are_of_one_kind(change.slot->value, change.end)) return std::nullopt;
    if (change.end && !objects.empty()) change.end = Renewed(heap, objects).of(change.end);
  }
  return iteration;
}

}  // namespace stepzero::interpreter
