// What rows that are written by hand share. See native.hpp.
#include "libraries/table/native.hpp"

namespace stepzero::libraries {

Value nothing(Call&) { return Value::none(); }
Value never(Call& call) { return call.run.heap().boolean(false); }
Value itself(Call& call) { return call.self; }
Value first_argument(Call& call) { return call.at(0); }
Value uniform(Call& call) { return call.run.heap().unknown("", Sharing::uniform, call.place); }
Value unknown_of(Call& call) {
  Sharing sharing = Sharing::uniform;
  bool unseen = false;
  for (const auto* part : {&call.arguments, &call.rest})
    for (const Value& argument : *part) {
      sharing = symbolic::mix(sharing, call.run.heap().sharing(argument));
      unseen = unseen || call.run.heap().is_unseen(argument);
    }
  const Value made = call.run.heap().unknown("", sharing, call.place);
  made.as<values::Unknown>()->unseen = unseen;
  return made;
}
Value context(Call& call) {
  return Value::of(Kind::instance, call.run.make_native("torch.context", call.place));
}

Instance& object(const Call& call) {
  // A method that was handed something else, as Sequential.append(Sequential) is, has an object that nobody
  // sees.
  return call.self.is(Kind::instance) ? *call.self.as<Instance>() : *call.run.heap().make<Instance>();
}
void keep(Runtime& run, Instance& object, values::AttributeKey name, Value value) {
  run.heap().set(run.heap().slot_of(object.attributes, Name(name.text())), value);
}
void keep(const Call& call, values::AttributeKey name, Value value) {
  if (call.self.is(Kind::instance)) keep(call.run, object(call), name, value);
}
Value kept(Runtime& run, const Instance& object, values::AttributeKey name) {
  const values::Slot* slot = object.attributes.find(Name(name.text()));
  return slot ? run.resolve(slot->value) : Value{};
}
Value kept(const Call& call, values::AttributeKey name) { return kept(call.run, object(call), name); }
Value keep_options(Call& call) {
  Instance& made = object(call);
  for (const auto& [name, value] : call.options) keep(call.run, made, name.text(), value);
  made.open = call.spread;
  return {};
}

Value option(const Call& call, std::string_view name) {
  for (const auto& [key, value] : call.options)
    if (key.text() == name) return call.run.resolve(value);
  return {};
}

}  // namespace stepzero::libraries
