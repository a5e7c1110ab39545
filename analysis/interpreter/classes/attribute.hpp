// An attribute of a value. Shared by the files that read and set them.
#pragma once

#include "interpreter/classes/object_model.hpp"
#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// One attribute: what reading it gives, what setting it does, and whether it is there.
struct ObjectModel::Attribute {
  Interpreter& run;
  syntax::Name name;
  Place where;

  Value of(Value object);
  void set(Value object, Value value);
  symbolic::Answer is_there(Value object);

private:
  Value of_instance(values::Instance& object, Value self);
  Value of_hook(values::Instance& object, Value self);
  Value of_class(values::Class& cls);
  Value of_super(const values::Super& super);
  Value of_unknown(values::Unknown& object);
  Value of_function(Value object);
  Value dict_of(values::Instance& object);
  void meet(values::Instance& object);
  void set_on_instance(values::Instance& object, Value self, Value value);
  bool set_by_hook(values::Instance& object, Value self, Value value);
  bool set_by_library(values::Instance& object, Value self, Value value);
  symbolic::Answer is_in_instance(values::Instance& object, Value self);
  symbolic::Answer is_in_library_class(
      const values::LibrarySymbol& native, values::Instance& object, Value self);
  symbolic::Answer is_given_by_hook(values::Instance& object, Value self);
  symbolic::Answer is_in_builtin(Value value) const;
};

}  // namespace stepzero::interpreter
