// What a call is given, and what the engine notes of objects that calls hand around.
#pragma once

#include "values/heap.hpp"
#include "values/kept.hpp"

#include <utility>
#include <vector>

namespace stepzero::interpreter {

struct Arguments {
  std::vector<values::Value> positional;
  std::vector<std::pair<syntax::Name, values::Value>> keywords;
  bool spread = false;    // `*unknown` or `**unknown` among them
  values::Value rest{};   // what any one of the positional ones that are not known is like; may be absent
  std::size_t after = 0;  // how many of `positional` are known to follow it
  values::Int rest_length = nullptr;  // how many the unknown ones are; null: not known
  values::Value named_rest{};  // what any one of the keywords that are not known is like, or what they were
                               // taken from; may be absent
};

// The attribute that says of an object that it stands for many.
inline const syntax::Name stands_for_many{values::EngineNotes::many};
// The attribute that says of an object that unseen code has it, and may fill its lists at any time.
inline const syntax::Name handed_out{values::EngineNotes::handed};

}  // namespace stepzero::interpreter
