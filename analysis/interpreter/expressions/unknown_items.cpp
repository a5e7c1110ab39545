// Kept with the unknown values under names with a '$': items are the same on all paths, and what is stored
// differs among them.
#include "interpreter/expressions/unknown_items.hpp"
#include "interpreter/loops/loop_runner.hpp"

#include "values/kept.hpp"

namespace stepzero::interpreter {

using syntax::Name;
using values::Kind;

namespace {
constexpr values::KeptKey any_stored = values::UnknownState::stored;
Name slot_name(std::size_t item) { return Name(values::UnknownState::item + std::to_string(item)); }
}  // namespace

void store_item(Interpreter& run, values::Unknown& object, Value index, Value value) {
  index = run.resolve(index);
  run.heap().slot_of(object.attributes, Name(any_stored)).value = Value::none();
  const auto set_item = [&](std::size_t item, Value stored) {
    values::Slot& slot = run.heap().slot_of(object.attributes, slot_name(item));
    if (!slot.value) {
      slot.value = object.items[item].second;  // it was always there: no write
      run.note_keyed({&object, item, &slot});
    }
    run.heap().set(slot, stored);
  };
  // Keys that may be the same as this one: what they stand for may have changed.
  const bool comparable = index.is(Kind::string) || index.is(Kind::integer);
  const bool constant = index.is(Kind::string) || (comparable && run.to_constant(index));
  std::size_t same = object.items.size();
  for (std::size_t i = 0; i < object.items.size(); ++i) {
    const Value key = object.items[i].first;
    if (!key) continue;  // of an iteration that was taken back
    if (comparable && run.same_key(key, index))
      same = i;
    else if (!constant || !(key.is(Kind::string) || (key.is(Kind::integer) && run.to_constant(key))))
      set_item(i, run.heap().unknown("", object.sharing, {}));
  }
  if (!comparable) return;
  if (same == object.items.size())
    object.items.push_back({index, run.heap().unknown("", object.sharing, {})});
  set_item(same, value);
}

bool was_stored_in(const values::Unknown& object) {
  return object.attributes.find(Name(any_stored)) != nullptr;
}

const values::Slot* stored_item(const values::Unknown& object, std::size_t item) {
  return object.attributes.find(Name(any_stored)) ? object.attributes.find(slot_name(item)) : nullptr;
}

}  // namespace stepzero::interpreter
