// An installed library's module is run where it is first asked for, in the middle of the program. It finds
// what modules share as no program had touched it, and what it leaves there was there from the beginning: so
// it stands, whatever the program does, and whichever path of it is taken back.
#pragma once

#include "interpreter/incremental/replay.hpp"
#include "values/heap.hpp"

namespace stepzero::interpreter {

class LibraryImport {
public:
  // Before the module runs: hides what the program has written since its first statement.
  LibraryImport(values::Heap& heap, const Replay& replay);
  // After it, and after what it made is settled. False: it wrote to what the program had written to. Then its
  // writes are those of the program's path, as any other.
  bool finish(values::Mark begin);
  // What it left with others, as it is now.
  const values::Delta& left() const { return left_; }

private:
  struct Hidden {
    values::Slot* slot;
    values::Value mine, before;
  };
  values::Heap& heap_;
  std::vector<Hidden> hidden_;
  values::Delta left_;
};

}  // namespace stepzero::interpreter
