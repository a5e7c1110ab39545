// How what is known of unseen values is kept on them. For unseen.cpp, unseen_calls.cpp and unseen_devices.cpp
// alone.
#pragma once

#include "interpreter/runtime.hpp"
#include "values/kept_by_packages.hpp"

namespace stepzero::interpreter {

constexpr int deepest_part = 8;  // attributes of attributes, moved again and again: the chain has to end

// What is noted was so from the beginning: no write.
inline void keep(values::Heap& heap, values::Unknown& value, values::KeptKey key, Value what) {
  heap.slot_of(value.attributes, syntax::Name(key)).value = what;
}
inline Value kept(const values::Unknown& value, values::KeptKey key) {
  return value.attributes.value(syntax::Name(key));
}
// The name of a method. Those of an object without a name, as one of two objects is, have none themselves.
std::string_view method_name(const values::Unknown& owner, const values::Unknown& method);
// What was moved to a device and is called is a module, and so is what programs call their models:
// `self.teacher_model` by its last word.
bool is_model(Runtime& run, Value function, std::string_view name);
// A model computes where its input lies.
void note_place_by_model(Runtime& run, Value made, const Arguments& arguments);

}  // namespace stepzero::interpreter
