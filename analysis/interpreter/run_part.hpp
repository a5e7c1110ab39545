// A part of the interpreter with a state of its own: it reads and steers the run, and owns what nobody else
// has to know.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

class RunPart {
protected:
  explicit RunPart(Interpreter& run) : run_(run), record_(run.record_) {}
  ~RunPart() = default;
  RunPart(const RunPart&) = delete;
  RunPart& operator=(const RunPart&) = delete;

  values::Heap& heap() const { return record_.heap; }
  symbolic::Context& symbols() const { return record_.symbols; }

  Interpreter& run_;
  Record& record_;
};

}  // namespace stepzero::interpreter
