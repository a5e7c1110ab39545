// What each rank of a small job does, one after the other: the communication of a program that was run again
// as every process runs it, with the decisions and exits on the way. Sites name places with the calls that
// led there, alike in the runs of all ranks. Knows no rule, and not what fits together.
#pragma once

#include "interpreter/record.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::rules {

using interpreter::OperationEvent;
using interpreter::Record;
using values::Place;

// A side of a branch that a process took. `nth`: of its decisions at this site.
struct Decision {
  int site = 0;
  int nth = 0;
  bool yes = false;
  bool local = false;     // this process decided by what only it has
  bool open = false;      // neither way is known to be the only one
  bool unseen = false;    // … or by code that was not seen
  bool surprise = false;  // … or whether something fails that may fail in one process and not in another
  bool attempt = false;   // it is a try: was its body run to the end? Else the handler was
  const interpreter::BranchEvent* branch = nullptr;
  Place place;
  const interpreter::CallSite* own_calls = nullptr;  // in the rank's record
  std::size_t handled_from = 0;  // of a try: how many communications there were before its handler
};

// One iteration of a loop around something.
struct Iteration {
  int site = 0;
  int nth = 0;  // time that the process came to the loop
  int iteration = 0;
  Place place;
  const interpreter::LoopEvent* loop = nullptr;
  std::size_t turns = 0;  // the decisions around the loop
};

// The name of the group of all ranks, among those that the traces have.
constexpr std::string_view world_group = "world";

struct CommEvent {
  enum class What : std::uint8_t { collective, send, receive, await };
  What what = What::collective;
  const OperationEvent* event = nullptr;
  const values::CollectiveInfo* info = nullptr;  // of collectives
  const values::Instance* module =
      nullptr;  // the wrapper whose backward it is a part of; in the rank's record
  std::string_view name;
  Place place;  // in the chunks of the file's own record
  const interpreter::CallSite* calls = nullptr;
  const interpreter::CallSite* own_calls = nullptr;  // the same in the rank's record
  int site = 0;
  std::vector<std::size_t> turns;     // the decisions around, outermost first: places in RankTrace::decisions
  std::vector<Iteration> iterations;  // the loops around
  std::size_t decided = 0;            // decisions before
  bool starts = false;                // and is waited for later, by `request`
  const values::Object* request = nullptr;
  // Of collectives.
  std::string group;  // the same text for the same group; of all ranks: world_group
  std::vector<int> members;
  std::optional<std::int64_t> root;
  std::string root_where;  // the condition under which it is that one; empty: it is no other
  std::vector<int> made;   // the members of the group that it makes
  bool makes_group = false;
  std::optional<std::int64_t> list_length;
  std::optional<std::int64_t> joined;  // elements of the one tensor that has a part for each rank
  // Rows for each rank of the group, and from each, where these are given one by one.
  std::vector<std::int64_t> gives, takes;
  bool one_for_all = false;             // one tensor stands at every place of the list that is received into
  std::optional<std::int64_t> objects;  // of what carries any objects, how many: as many on each rank
  bool list_even = true;                // its tensors are known to be equally large, or there is none
  // Of messages.
  int peer = -1;
  std::int64_t tag = 0;
  // What is sent or received.
  std::optional<std::int64_t> elements;
  values::Dtype dtype = values::Dtype::unknown;
  const values::TensorState* tensor = nullptr;  // in the rank's record; null where that is not known
};

struct PathExit {
  interpreter::ExitKind kind{};
  int site = 0;
  Place place;
  const interpreter::CallSite* calls = nullptr;
  std::vector<std::size_t> turns;
  std::vector<Iteration> iterations;
  std::size_t at = 0;   // communications before
  bool caught = false;  // an exception that the process takes itself
  bool fails = false;   // an exception that says that something is wrong
};

struct LoopRun {
  int site = 0;
  int nth = 0;
  int iterations = 0;  // that were walked
  Place place;
  const interpreter::CallSite* calls = nullptr;
  bool stands_for_many = false;       // one iteration was walked for any number of them
  std::optional<std::int64_t> count;  // … this one, if it is known and no iteration leaves the loop
  bool any_order = false;             // each process makes the iterations in an order of its own
  const interpreter::IterationCounts* counts =
      nullptr;          // how many there are by sizes that are not known; null where an iteration may leave
  bool local = false;   // how many there are depends on data of this process
  bool silent = false;  // nothing is entered in it
  bool left = false;    // in some iteration, by anything else than a failure
};

// A name that was used without a value.
struct Missing {
  std::string name;
  int site = 0;
  Place place;
  const interpreter::CallSite* calls = nullptr;
  std::vector<std::size_t> turns;
};

// Work that takes long.
struct Work {
  int site = 0;
  Place place;
  const interpreter::CallSite* calls = nullptr;
  std::size_t at = 0;             // communications before
  std::optional<double> seconds;  // where it is known
};

// What is taken for granted of conditions that no rank's run decides.
enum class Assumption : std::uint8_t {
  nothing,
  gradients,  // whether there are gradients is the same on all ranks, and at one branch the same of all
              // tensors
  defaults,   // what may be given is not given
  numbers,    // the same, in runs in which these are numbers from the start: see JobExplorer
  // Questions to code that is not seen have one answer for all ranks, unless they ask which rank it is; where
  // there are too many ways a spread of them is followed.
  agreement,
  // Nothing; but where there are too many ways, of branches on which nothing depends one side is followed,
  // and what a run that was broken off came to counts.
  balance,
  rank,  // the program was told its rank, where it asks for that: `args.local_rank != -1`
};

struct RankTrace {
  std::optional<CommEvent> nowhere;              // the message to a rank below 0 that ends the process
  std::map<std::string, std::int64_t> defaults;  // that decided something, by name
  std::set<std::string> supposed;  // clauses that are taken to be so: "`group` is the default group"
  bool presumes = false;  // a question is decided if what names say is so: see interpreter/presumed_rank.hpp
  bool by_gradients = false;  // whether there are gradients decided something
  std::vector<Missing> missing;
  std::vector<Work> works;
  std::map<std::string, std::optional<double>>
      limits;  // by group: how many seconds its ranks wait, where that is set; none: not known
  std::vector<CommEvent> comms;
  std::vector<Decision> decisions;
  std::vector<PathExit> exits;
  std::vector<LoopRun> loops;
  std::vector<std::pair<std::size_t, int>>
      perhaps;                    // communication of which it is not known whether it
                                  // takes place: the communications before it, and its site
  bool raised = false;            // the process ends in an exception that nobody takes
  bool uncertain = false;         // it communicates in ways that are not known
  std::size_t certain_comms = 0;  // … after so many communications
  bool impossible = false;        // it names ranks that this world has not
};

using JobRun = std::vector<RankTrace>;  // by rank

}  // namespace stepzero::rules
