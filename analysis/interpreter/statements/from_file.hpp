// Dicts that were read of a file of data: which file, and where in it. Kept in place of the factory that a
// defaultdict has.
#pragma once

#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/value.hpp"

namespace stepzero::interpreter {

constexpr std::string_view file_origin =
    values::InternalRow::data_file;  // the class of these marks; values::FileState::path and
                                     // values::FileState::within are texts

// Null: the dict is of no file.
inline const values::Instance* file_of(const values::Dict& dict) {
  const auto* mark = dict.factory.is(values::Kind::instance) ? dict.factory.as<values::Instance>() : nullptr;
  return mark && mark->native && mark->native->path == file_origin ? mark : nullptr;
}
// Does it make an item of a key that it has not?
inline bool makes_items(const values::Dict& dict) {
  return dict.factory && !dict.factory.is(values::Kind::none) && !file_of(dict);
}

}  // namespace stepzero::interpreter
