// Python's own functions, and the methods and attributes of values of its types.
#pragma once

#include "interpreter/run_part.hpp"

#include <string_view>

namespace stepzero::interpreter {

class Builtins : private RunPart {
public:
  explicit Builtins(Interpreter& run) : RunPart(run) {}

  Value builtin(syntax::Name name);  // absent if Python has none of that name
  Value call_builtin(std::string_view name, Arguments& arguments, Place place);
  Value call_method(Value self, std::string_view name, Arguments& arguments, Place place);
  Value value_attribute(Value object, syntax::Name name, Place place);

  Value list_method(Value self, std::string_view name, Arguments& arguments, Place place);
  void dict_delete(Value dict, Value key);
  Value plain_member(Value value) const;  // of an enum whose members are numbers or text: the number or text

private:
  Value sequence_method(Value self, std::string_view name, Arguments& arguments, Place place);
  Value dict_method(Value self, std::string_view name, Arguments& arguments, Place place);
  Value string_method(Value self, std::string_view name, Arguments& arguments, Place place);
};

}  // namespace stepzero::interpreter
