// What `keys()` gives of a dict that may have other keys than are known: a list that is asked like the dict
// itself.
#pragma once

#include "values/value.hpp"

namespace stepzero::interpreter {

struct KeysView : values::List {
  values::Value dict;
};
inline const KeysView* keys_view(values::Value value) {
  return value.is(values::Kind::list) ? dynamic_cast<const KeysView*>(value.as<values::List>()) : nullptr;
}

}  // namespace stepzero::interpreter
