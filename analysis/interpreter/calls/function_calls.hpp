// Functions of the program: made, decorated, called, run in place; generators.
#pragma once

#include "interpreter/run_part.hpp"

#include <functional>
#include <vector>

namespace stepzero::interpreter {

class FunctionCalls : private RunPart {
public:
  explicit FunctionCalls(Interpreter& run) : RunPart(run) {}

  Value evaluate_call(const syntax::CallExpr& expr);
  Arguments evaluate_arguments(const syntax::CallExpr& expr);
  Value make_function(const syntax::FunctionStmt& stmt);
  Value make_lambda(const syntax::LambdaExpr& expr);
  Value decorate(Value function, const syntax::FunctionStmt& stmt);
  std::vector<Value> evaluate_defaults(const syntax::Parameters& parameters);

  // `expr`: the call, where the program itself makes it.
  Value call_function(const values::Function& function, Arguments arguments, Place place, Value bound_self,
      const syntax::CallExpr* expr = nullptr);
  Value run_function(const values::Function& function, values::Scope* scope, Place place,
      std::function<Value(Value)>* on_yield);
  // What a call of a function comes to that keeps its results; `body` runs it.
  Value kept_or_run(const values::Function& function, const Arguments& arguments, Place place,
      const std::function<Value()>& body);
  static bool is_pending(Value value) {  // a generator that has not run yet
    return value.is(values::Kind::iterator) && value.as<values::Iterator>()->pending &&
        !value.as<values::Iterator>()->state.value;
  }
  // Runs a generator's body; each value it yields goes to `consume`.
  Value drain(Value generator, Place place, std::function<Value(Value)>& consume);

private:
  const syntax::Expr* read_to_its_end(Value function, const syntax::CallExpr& expr) const;
  Value call_body(const values::Function& function, Arguments arguments, Place place, Value bound_self);
  bool recurs_too_far(const values::Function& function);
  // Gives the parameters their values. False: what is given is not what the function takes.
  bool bind(const values::Function& function, Arguments& arguments, values::Scope& scope);
};

}  // namespace stepzero::interpreter
