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

  // An object was asked for an attribute whose name is not known; the condition says that it has one.
  void note_asked(Value object, Value name, Cond when) { asked_ = {object, name, when}; }
  // Was it last asked for that one, and has it one on this path?
  bool is_known_there(Value object, Value name) const;

private:
  struct Asked {
    Value object, name;
    Cond when = nullptr;
  };
  Asked asked_;

  Value sequence_method(Value self, std::string_view name, Arguments& arguments, Place place);
  Value dict_method(Value self, std::string_view name, Arguments& arguments, Place place);
  Value string_method(Value self, std::string_view name, Arguments& arguments, Place place);
};

}  // namespace stepzero::interpreter
