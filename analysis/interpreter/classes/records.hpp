// Classes that Python finishes by what stands in their bodies: named tuples and enums; and the fields of
// dataclasses.
#pragma once

#include "interpreter/run_part.hpp"

#include <string_view>

namespace stepzero::interpreter {

class Records : private RunPart {
public:
  explicit Records(Interpreter& run) : RunPart(run) {}

  static void inherit_fields(values::Class& cls);
  void finish_named_tuple(values::Class& cls);
  Value make_named(values::Class& cls, const Arguments& arguments, Place place);
  Value named_tuple_method(Value self, std::string_view name, const Arguments& arguments, Place place);
  void finish_enum(values::Class& cls);
  Value enum_member(values::Class& cls, Value wanted, Place place);
};

}  // namespace stepzero::interpreter
