// What a program writes to checkpoints and reads from them: files, the dicts in them, and whose states these
// hold. Knows no rule.
#pragma once

#include "rules/report.hpp"
#include "rules/walk.hpp"

#include <string>
#include <vector>

namespace stepzero::rules {

using symbolic::Answer;
using values::Instance;
using values::Object;
using values::Value;

// An operation with what stands around it; in the order of the run.
struct FileUse {
  const OperationEvent* event = nullptr;
  std::vector<const interpreter::LoopEvent*> loops;
  std::vector<Turn> turns;
  bool guarded = false;  // in a try that may catch its failure, or in a handler
  std::size_t order = 0;
};

// One root that saves or loads.
struct CheckpointRoot {
  const interpreter::Root* root = nullptr;
  std::vector<FileUse> saves, loads, reads, taken, put, moves;
  std::vector<FileUse> steps;     // of optimizers and scalers
  std::vector<FileUse> updates;   // of scalers, and steps of schedulers
  std::vector<FileUse> made;      // optimizers, schedulers, scalers
  std::vector<FileUse> parallel;  // a model is wrapped for many ranks, or called so
  bool trains = false;            // a backward is made
  bool handed_over = false;       // to a framework, which may save and load itself
};

class Files {
public:
  // Found out once for a record.
  static const Files& of(const Record& record);
  explicit Files(const Record& record);
  const std::vector<CheckpointRoot>& checkpoint_roots() const { return checkpoint_roots_; }

private:
  std::vector<CheckpointRoot> checkpoint_roots_;
};

Value saved_object(const FileUse& save);
// Where what is saved lies in the end: a temporary file takes the place of another.
struct Path {
  Value value;
  std::string text;  // as the program writes it
  const interpreter::CallSite* calls = nullptr;
  std::uint32_t chunk = 0;
};
Path path_of(const Record& record, const FileUse& use);
Path final_path(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& save);
bool same_file(const Path& a, const Path& b);
bool is_moved(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& save);
// Has the path one value whenever the operation runs? A name made of a step or an epoch has not.
bool is_fixed(const Record& record, const Path& path);

// The saves under the path: those of the same root or, if it has none, of the others, which write what a
// later run reads.
std::vector<const FileUse*> writers(
    const Record& record, const CheckpointRoot& checkpoint_root, const Path& path);

// The operation that took the state which the value is; null if it is none.
const FileUse* state_of(const CheckpointRoot& checkpoint_root, Value value);
// The load whose file the value is, or is a part of; null if none. `key` is the part's.
struct Loaded {
  const FileUse* load = nullptr;
  Value key;
};
Loaded loaded_from(const CheckpointRoot& checkpoint_root, Value value);

// Which of two processes come to the operation: both in each run in which one does, both in some, or never
// more than one; none where that is not known.
enum class Who : std::uint8_t { none, one, some, both };
// Are there many ranks where the file is used? Not if that is on the other side of all that makes them.
bool among_ranks(const CheckpointRoot& checkpoint_root, const FileUse& use);
Who by_ranks(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& use);

}  // namespace stepzero::rules
