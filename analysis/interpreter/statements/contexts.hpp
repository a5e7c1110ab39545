// `with` and `try`: what managers change around their body, and where exceptions go.
#pragma once

#include "interpreter/run_part.hpp"

#include <string_view>

namespace stepzero::interpreter {

class Contexts : private RunPart {
public:
  explicit Contexts(Interpreter& run) : RunPart(run) {}

  Flow run_with(const syntax::WithStmt& stmt, std::size_t item);
  Flow run_try(const syntax::TryStmt& stmt);
  void enter(Value manager, Place where);

  symbolic::Answer catches(Value type, Value raised);
  symbolic::Answer is_instance_of_raised(std::string_view exception);

private:
  struct TryRun;
  struct WithItem;
};

}  // namespace stepzero::interpreter
