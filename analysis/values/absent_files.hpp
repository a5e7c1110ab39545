// Files that a run takes to be absent: what a program looks for before it falls back to a default of its own.
// Only runs that count memory ask for it, and they say which files these were.
#pragma once

#include <string_view>

namespace stepzero::values {

struct AbsentFiles {
  // Of a record's conditions: no file is there that the program asks for.
  static constexpr std::string_view taken = "absent files";
  // … and what the program asked for, as a person reads it.
  static constexpr std::string_view asked = "absent file ";
};

}  // namespace stepzero::values
