// A piece of the run that may be taken back. A Speculation remembers where it began and owns the way back:
// nothing else takes facts, the path, the heap, the record or the exits of frames back to an earlier moment
// of the run (an edit does, between top-level statements: see IncrementalRun::rewind_to).
//
// A path is a way of the program that another will follow from the same beginning: what it left in the record
// did happen on it, and so did its exits. A trial is run to find something out: of what is discarded nothing
// ever happened. What is not committed when the Speculation ends is taken back.
#pragma once

#include "interpreter/runtime.hpp"

namespace stepzero::interpreter {

class Interpreter;

class Speculation {
public:
  enum class Of : std::uint8_t { path, trial };

  explicit Speculation(Runtime& run, Of what = Of::path);
  ~Speculation() {
    if (open_) end();
  }
  Speculation(const Speculation&) = delete;
  Speculation& operator=(const Speculation&) = delete;

  values::Mark mark() const { return mark_; }   // of the heap, at the beginning
  std::size_t depth() const { return depth_; }  // of the path, at the beginning

  // What was written since the beginning.
  values::Delta writes() const;
  // Back to the beginning, for another path: the heap, the facts, the path.
  void rewind();
  // The same; what was written on the path that ends here.
  values::Delta take();
  // The state is the one at the end of a path that was taken; facts and conditions are those of the
  // beginning.
  void become(const values::Delta& taken);
  // Only the writes are taken back, or only what is known: of several paths that meet no single one's facts
  // hold.
  void rewind_heap();
  void forget_path();
  // Of a trial: nothing of it has happened. Its events are in blocks that the caller drops.
  void discard();
  // What was written so far was so from the beginning.
  void include_so_far();
  // Objects made since keep what they hold, though the path is taken back: rules ask for it.
  void keep_new_objects();
  // What has happened stays.
  void commit() { open_ = false; }

private:
  // How far what only grows had grown. A trial that is discarded never happened, so none of it may be found
  // in a list.
  struct Lists {
    std::size_t facts, functions, classes, built;
    Block* block;
  };
  void end();
  std::vector<std::size_t> exit_counts() const;
  void drop_exits() const;

  Interpreter& run_;
  values::Mark mark_;
  std::size_t facts_;
  std::size_t depth_;
  Of what_;
  bool open_ = true;
  const bool killed_;  // what is taken back has not left the expression around it
  Lists lists_{};
  std::vector<std::size_t> exits_;  // collected so far by the frames around
};

}  // namespace stepzero::interpreter
