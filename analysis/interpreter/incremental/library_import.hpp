// An installed library's module is run where it is first asked for, in the middle of the program. It finds
// what modules share as no program had touched it, and what it leaves there was there from the beginning: so
// it stands, whatever the program does, and whichever path of it is taken back.
#pragma once

#include "interpreter/incremental/replay.hpp"
#include "values/heap.hpp"

#include <optional>

namespace stepzero::interpreter {

class LibraryImport {
public:
  // Before the module runs: hides what the program has written since its first statement.
  LibraryImport(values::Heap& heap, const Replay& replay);
  // After it, and after what it made is settled. What it and the program both put into a registry stands
  // there as if the module had been imported first. False: it wrote otherwise to what the program had written
  // to. Then its writes are those of the program's path, as any other.
  bool finish(values::Mark begin);
  // What it left with others, as it is now.
  const values::Delta& left() const { return left_; }

private:
  struct Hidden {
    values::Slot* slot;
    values::Value mine, before;
  };
  // What the module and the program filled, with the state that the module left. Nothing: one of them did
  // more than that.
  std::optional<values::Delta> filled_by_both(values::Mark begin) const;

  values::Heap& heap_;
  values::Mark file_begin_;
  std::vector<Hidden> hidden_;
  values::Delta left_;
};

}  // namespace stepzero::interpreter
