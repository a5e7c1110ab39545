// Python's object model: classes and how objects of them are made, how names are found on objects and bound
// to them.
#pragma once

#include "interpreter/run_part.hpp"

#include <vector>

namespace stepzero::interpreter {

class ObjectModel : private RunPart {
public:
  explicit ObjectModel(Interpreter& run) : RunPart(run) {}

  // Components that take several steps, each defined in its file.
  struct Attribute;
  struct InstanceOf;

  Value make_class(const syntax::ClassStmt& stmt);
  Value instantiate(values::Class& cls, Arguments arguments, Place place, const syntax::CallExpr* expr);
  bool decorates(Value decorator);
  void add_bases(values::Class& cls, const std::vector<Value>& bases, std::vector<values::Class*>& parents);
  // What an object of a class that derives from dict or list holds.
  Value held(const values::Instance& object) const;
  Value bind_method(Value found, Value self, values::Class* cls, Place place);
  void delete_attribute(Value object, syntax::Name name, Place where);
  // `x.grad = …` of a tensor, or of something that may be one; absent value: it is deleted.
  void store_in_tensor(Value object, syntax::Name name, Value value, Place where);

private:
  Value native_fallback(const values::LibrarySymbol& native, Value self, syntax::Name name, Place place);
  Value native_attribute(const values::LibrarySymbol& native, Value self, syntax::Name name, Place place);
};

}  // namespace stepzero::interpreter
