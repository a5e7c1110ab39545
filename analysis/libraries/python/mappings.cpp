// collections.abc.Mapping, MutableMapping and Sequence: what a class has from them that gives `__getitem__`
// and `__iter__` or `__len__` itself.
#include "libraries/frameworks/kernels.hpp"
#include "libraries/table/native.hpp"

namespace stepzero::libraries {
namespace {

using symbolic::Answer;

// Is the text among the keys that the object's own `__iter__` gives?
Answer holds(Call& call, Value key) {
  key = call.run.resolve(key);
  const auto keys = call.run.take(call.self, call.place);
  if (!keys || !key.is(Kind::string)) return Answer::unknown;
  bool all_known = true;
  for (const Value& each : *keys) {
    const Value known = call.run.resolve(each);
    if (known.is(Kind::string) && known.text() == key.text()) return Answer::yes;
    all_known = all_known && known.is(Kind::string);
  }
  return all_known ? Answer::no : Answer::unknown;
}
Value mapping_item(Call& call, Value key) {
  const Value method = call.run.attribute(call.self, Name("__getitem__"), call.place);
  return call.run.call(method, {{key}, {}, false}, call.place);
}
Value mapping_get(Call& call) {
  const Answer answer = holds(call, call.at(0));
  if (answer == Answer::yes) return mapping_item(call, call.at(0));
  return answer == Answer::no ? (call.at(1) ? call.at(1) : Value::none()) : unknown_of(call);
}
Value mapping_has(Call& call) {
  const Answer answer = holds(call, call.at(0));
  return answer == Answer::unknown ? unknown_of(call) : call.run.heap().boolean(answer == Answer::yes);
}
Value mapping_keys(Call& call) {
  auto keys = call.run.take(call.self, call.place);
  return keys ? call.run.heap().list(std::move(*keys)) : unknown_of(call);
}
template <bool pairs> Value mapping_values(Call& call) {
  auto keys = call.run.take(call.self, call.place);
  constexpr std::size_t most_keys = 512;  // that are looked up one by one
  if (!keys || keys->size() > most_keys) return unknown_of(call);
  for (Value& key : *keys) {
    const Value found = mapping_item(call, key);
    key = pairs ? call.run.heap().tuple({key, found}) : found;
  }
  return call.run.heap().list(std::move(*keys));
}

constexpr std::int64_t most_mapped_items = 512;  // that are asked for one by one
// A sequence counts from 0 to its length.
Value sequence_iter(Call& call) {
  const Value length = call.run.resolve(
      call.run.call(call.run.attribute(call.self, Name("__len__"), call.place), {}, call.place));
  const auto count = length.is(values::Kind::integer) ? call.run.symbols().value(length.integer())
                                                      : std::nullopt;
  if (!count || *count < 0 || *count > most_mapped_items) return unknown_of(call);
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(*count));
  for (std::int64_t i = 0; i < *count; ++i)
    items.push_back(mapping_item(call, Value::of(call.run.symbols().constant(i))));
  return call.run.heap().list(std::move(items));
}

}  // namespace

std::vector<values::Row> mapping_rows() {
  using enum values::RowKind;
  return {
      row("collections.abc.Mapping", class_, "", nullptr),
      row("collections.abc.Mapping.get", method, "key, default=None", mapping_get),
      row("collections.abc.Mapping.__contains__", method, "key", mapping_has),
      row("collections.abc.Mapping.keys", method, "", mapping_keys),
      row("collections.abc.Mapping.values", method, "", mapping_values<false>),
      row("collections.abc.Mapping.items", method, "", mapping_values<true>),
      row("collections.abc.MutableMapping", class_, "", nullptr, "collections.abc.Mapping"),
      row("collections.abc.Sequence", class_, "", nullptr),
      row("collections.abc.Sequence.__iter__", method, "", sequence_iter),
  };
}

}  // namespace stepzero::libraries
