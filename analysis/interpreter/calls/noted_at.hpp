// What a program does somewhere, noted among the named conditions of its record with the statement that does
// it: a statement that an edit took away has done nothing.
#pragma once

#include "interpreter/record.hpp"
#include "values/kept.hpp"

#include <charconv>
#include <string>

namespace stepzero::interpreter {

inline std::string noted_at(std::string_view what, values::Place place) {
  return std::string(what) + " @" + std::to_string(place.chunk);
}

// Calls `each` for the conditions that were noted so.
template <class Each> void each_noted(const Record& record, std::string_view what, const Each& each) {
  const std::string prefix = std::string(what) + " @";
  for (auto it = record.conditions.lower_bound(prefix);
      it != record.conditions.end() && it->first.starts_with(prefix); ++it) {
    std::uint32_t chunk = 0;
    const std::string_view number = std::string_view(it->first).substr(prefix.size());
    std::from_chars(number.data(), number.data() + number.size(), chunk);
    if (chunk < record.chunks.size() && !record.chunks[chunk].path.empty()) each(it->second);
  }
}

inline bool is_noted(const Record& record, std::string_view what) {
  bool any = false;
  each_noted(record, what, [&](values::Cond) { any = true; });
  return any;
}

// The questions whether the program was told a rank of that role, which has a value of its own where it was
// not.
inline std::string told(symbolic::Role role) {
  return values::RecordCondition::told + std::to_string(static_cast<int>(role));
}

}  // namespace stepzero::interpreter
