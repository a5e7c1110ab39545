#include "libraries/torch/distributed/handed_to_all.hpp"

#include "libraries/table/op.hpp"
#include "values/kept.hpp"

#include <unordered_set>

namespace stepzero::libraries {

using values::Kind;

namespace {

using Seen = std::unordered_set<const values::Object*>;  // what others may hold as well is looked into once

Value as_handed(Call& call, Value value, Seen& seen, int depth) {
  constexpr int deepest = 4;  // what holds what is handed over
  values::Heap& heap = call.run.heap();
  value = call.run.resolve(value);
  if (depth > deepest) return value;
  const bool holds = value.is(Kind::list) || value.is(Kind::dict) || value.is(Kind::instance) ||
      (value.is(Kind::unknown) && !value.as<values::Unknown>()->attributes.entries().empty());
  const auto inside = [&](Value held) { return held ? as_handed(call, held, seen, depth + 1) : held; };
  if (holds && !seen.insert(value.object()).second) return value;
  switch (value.kind) {
  case Kind::tuple: {
    if (value.as<values::Tuple>()->cls) return value;
    std::vector<Value> items = value.as<values::Tuple>()->items;
    for (Value& item : items) item = inside(item);
    return items == value.as<values::Tuple>()->items ? value : heap.tuple(std::move(items));
  }
  case Kind::list: {
    values::ListState state = *values::Heap::list_state(value);
    for (Value& item : state.items) item = inside(item);
    if (state.items != values::Heap::list_state(value)->items) heap.set_list(value, std::move(state));
    return value;
  }
  case Kind::dict: {
    const auto items = values::Heap::dict_state(value)->items;
    for (const auto& [key, item] : items)
      if (const Value same = inside(item); same != item) call.run.dict_set(value, key, same);
    return value;
  }
  case Kind::choice: {
    const auto& choice = *value.as<values::Choice>();
    const Value yes = inside(choice.yes), no = inside(choice.no);
    return yes == choice.yes && no == choice.no ? value : heap.choose(choice.condition, yes, no);
  }
  case Kind::integer: {
    if (heap.sharing(value) != Sharing::local) return value;
    symbolic::AtomInfo info;
    info.sharing = Sharing::uniform;
    info.lower = call.run.symbols().lower(value.integer());
    info.upper = call.run.symbols().upper(value.integer());
    return Value::of(call.run.symbols().fresh(info));
  }
  case Kind::string:
    return heap.sharing(value) == Sharing::local ? heap.unknown("", Sharing::uniform, call.place) : value;
  case Kind::instance:
  case Kind::unknown: {
    auto& table = value.is(Kind::instance) ? value.as<values::Instance>()->attributes
                                           : value.as<values::Unknown>()->attributes;
    // Of what code that is not seen made, a queue, each process may take its own part.
    if (value.is(Kind::unknown) && !value.as<values::Unknown>()->unseen && table.entries().empty() &&
        heap.sharing(value) == Sharing::local)
      return heap.unknown("", Sharing::uniform, call.place);
    const auto entries = table.entries();
    for (const auto& [name, slot] : entries)
      if (slot->value && !values::is_kept(name.text()))
        if (const Value same = inside(slot->value); same != slot->value)
          heap.set(heap.slot_of(table, name), same);
    return value;
  }
  default: return value;
  }
}

}  // namespace

Value handed_to_all(Call& call, Value value) {
  Seen seen;
  return as_handed(call, value, seen, 0);
}

}  // namespace stepzero::libraries
