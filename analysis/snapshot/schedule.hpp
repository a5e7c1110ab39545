// The communication schedule of a file: what each rank of a small job enters, in order, and where a rank
// waits forever. Plain values, ready to be shown.
#pragma once

#include "rules/finding.hpp"
#include "snapshot/snapshot.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::snapshot {

class RankResults;

// A place of any file, with its line: readers of a schedule need no text.
struct Spot {
  std::string path;
  syntax::Span span;
  std::uint32_t line = 0;  // 1-based
  friend bool operator==(const Spot&, const Spot&) = default;
};

// A function on the way to a place, and where it was called.
struct Caller {
  std::string function;  // "Trainer.validate"
  Spot definition;       // its name
  Spot call;             // line 0: nobody here calls it
  friend bool operator==(const Caller&, const Caller&) = default;
};

// What one rank does in a step.
struct Communication {
  enum class What : std::uint8_t { collective, send, receive, wait };
  int rank = 0;
  What what = What::collective;
  std::string name;  // "broadcast"
  Spot where;
  std::vector<Caller> callers;       // innermost first
  std::vector<int> members;          // of the process group
  bool whole_group = true;           // it is the group of all ranks
  std::optional<std::int64_t> root;  // src or dst, as a rank of the job
  bool root_sends = false;           // the root is src
  std::optional<int> peer;
  std::int64_t tag = 0;
  std::vector<int> made;   // the members of the group that it makes
  DisplayValue tensor;     // what is sent or received; no kind: none, or not known
  bool starts = false;     // returns at once, and is waited for later
  std::int64_t bytes = 0;  // that the rank has in it; 0: not known
};

struct ScheduleNode {
  enum class Kind : std::uint8_t {
    step,       // `calls`: what the ranks enter together, by rank; who is not in it goes on
    loop,       // `body` in each iteration of `text`; how many, if that is known: `times`
    iteration,  // `body` is iteration `times` of the loop around, and each up to `last`
    choice,     // `body` where `text` is so, or is not
    handler,    // `body` where the try at this place fails
    hang,       // `calls`: where the ranks stand that wait; the others have ended
    unmatched,  // the same, but whom they wait for may be elsewhere: nobody here calls this function
    unreached,  // `body` follows a hang
  };
  Kind kind = Kind::step;
  std::vector<Communication> calls;
  std::string text;  // "for batch in loader", "args.resume"; step: what is wrong with it, as the rules say it
  Spot where;
  std::optional<int> times;
  bool fewer = false;  // of a loop: some ranks make fewer iterations
  int last = 0;
  bool holds = true;       // choice
  bool local = false;      // choice: each rank decides for itself
  std::vector<int> ended;  // hang: ranks that ended before
  std::vector<int> open;   // step: other ranks, of which it is not known whether they take part
  std::vector<ScheduleNode> body;
};

// What a run begins with: the file itself, or a function that nobody here calls.
struct SchedulePart {
  std::string function;  // empty: the file as it runs
  Spot where;
  bool complete = true;  // else there are too many ways through it, or it is too long
  bool hangs = false;
  std::vector<ScheduleNode> nodes;
};

// What a function does, with what it calls.
struct FunctionCommunication {
  std::string function;
  Spot definition;  // its name
  int collectives = 0, sends = 0, receives = 0;
  struct Partly {  // collectives that not all members of the group enter
    std::vector<int> ranks;
    int count = 0;
  };
  std::vector<Partly> partly;
};

struct Schedule {
  std::string launch;  // "run.sh:12": the script that starts it so; empty: it is started in any way
  int world = 2;
  std::vector<SchedulePart> parts;
  std::vector<FunctionCommunication> functions;  // of the file itself, in order
};

// `world` 0: two ranks, or as many as the program is made for. A schedule without parts: nothing
// communicates.
Schedule schedule_of(const RankResults& ranks, int world);

}  // namespace stepzero::snapshot
