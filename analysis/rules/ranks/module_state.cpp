#include "rules/ranks/module_state.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::rules {

using values::Kind;
using values::Value;

namespace {
bool may_have_buffers(Value module, std::unordered_set<const values::Object*>& seen) {
  if (module.is(Kind::choice) || (module.is(Kind::unknown) && module.as<values::Unknown>()->unseen))
    return true;
  if (!module.is(Kind::instance)) return false;
  const auto& object = *module.as<values::Instance>();
  if (!seen.insert(&object).second) return false;
  if (object.cls && object.cls->open) return true;
  for (const auto& [name, slot] : object.attributes.entries()) {
    if (name.text() == values::ContainerState::items && slot->value.is(Kind::list)) {
      const auto* items = values::Heap::list_state(slot->value);
      if (items->open ||
          std::ranges::any_of(items->items, [&](Value item) { return may_have_buffers(item, seen); }))
        return true;
    } else if ((slot->value.is(Kind::instance) || (object.cls && !values::is_kept(name.text()))) &&
        may_have_buffers(slot->value, seen)) {
      return true;
    }
  }
  return false;
}

bool keeps_buffers(Value wrapper) {
  const values::Slot* keeps = wrapper.as<values::Instance>()->attributes.find(
      values::Name(values::WrapperState::keeps_buffers));
  return keeps && keeps->value;
}
}  // namespace

bool has_buffers(Value module, int depth) {
  if (!module.is(Kind::instance) || depth > values::deepest_search) return false;
  for (const auto& [name, slot] : module.as<values::Instance>()->attributes.entries()) {
    if (name.text() == values::ModuleState::has_buffers) return true;
    const Value part = slot->value;
    if (part.is(Kind::instance) && has_buffers(part, depth + 1)) return true;
    if (part.is(Kind::list) && name.text() == values::ContainerState::items)
      for (const Value& item : values::Heap::list_state(part)->items)
        if (has_buffers(item, depth + 1)) return true;
  }
  return false;
}

bool sends_buffers(Value wrapper) {
  return wrapper.is(Kind::instance) && !keeps_buffers(wrapper) && has_buffers(wrapper);
}
bool may_send_buffers(Value wrapper) {
  std::unordered_set<const values::Object*> seen;
  return wrapper.is(Kind::instance) && !keeps_buffers(wrapper) && may_have_buffers(wrapper, seen);
}

}  // namespace stepzero::rules
