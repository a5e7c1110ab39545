// Does a function or class of the program take what it is called with?
#pragma once

#include "interpreter/run_part.hpp"

#include <string>
#include <string_view>

namespace stepzero::interpreter {

class CallCheck : private RunPart {
public:
  explicit CallCheck(Interpreter& run) : RunPart(run) {}

  // Each makes a problem of a call that Python refuses, and answers whether every run fails there. `made`:
  // the class whose constructor is called.
  bool refuses(const values::Function& function, const Arguments& arguments, Value self, Place where,
      const syntax::CallExpr& expr, const values::Class* made = nullptr);
  // The constructor that dataclass makes.
  bool refuses_fields(
      const values::Class& cls, const Arguments& arguments, Place where, const syntax::CallExpr& expr);
  // A class without a constructor takes nothing.
  bool refuses_all(
      const values::Class& cls, const Arguments& arguments, Place where, const syntax::CallExpr& expr);

private:
  bool can_be_judged(const values::Function& function, const syntax::CallExpr& expr) const;
  // May the object be of a class that has a method of its own in the place of this one?
  bool may_be_another(const values::Function& function, Value self, const syntax::CallExpr& expr) const;
};

}  // namespace stepzero::interpreter
