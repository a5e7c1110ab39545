#include "rules/deadlock/module_state.hpp"
#include "values/kept.hpp"

namespace stepzero::rules {

using values::Kind;
using values::Value;

bool has_buffers(Value module, int depth) {
  if (!module.is(Kind::instance) || depth > 6) return false;
  for (const auto& [name, slot] : module.as<values::Instance>()->attributes.entries()) {
    if (name.text() == "$has_buffers") return true;
    const Value part = slot->value;
    if (part.is(Kind::instance) && has_buffers(part, depth + 1)) return true;
    if (part.is(Kind::list) && name.text() == values::ContainerState::items)
      for (const Value& item : values::Heap::list_state(part)->items)
        if (has_buffers(item, depth + 1)) return true;
  }
  return false;
}

bool sends_buffers(Value wrapper) {
  if (!wrapper.is(Kind::instance)) return false;
  const values::Slot* keeps = wrapper.as<values::Instance>()->attributes.find(values::Name("$keeps_buffers"));
  return !(keeps && keeps->value) && has_buffers(wrapper);
}

} // namespace stepzero::rules
