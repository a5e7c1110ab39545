// Do the ranks fit together? The possible runs of small worlds are played with the rules of process groups
// and messages; where no rank can go on, or ranks meet in what does not fit, the cause is named. One
// comparison serves all deadlock rules.
#pragma once

#include "rules/ranks/trace.hpp"
#include "rules/report.hpp"

#include <set>
#include <variant>

namespace stepzero::rules {

enum class Cause : std::uint8_t {
  guard,
  order,
  exit,
  message,
  root,
  making_groups,
  other_group,
  size,
  iterations,
  local,
  handler,
  name,
  request,
  slow,
  outsider
};

// Some ranks enter under a guard. What it points to is of the file's own record.
struct GuardedEntry {
  const interpreter::BranchEvent* guard = nullptr;  // null: what guards it is no branch of the file
  bool side = true;                                 // of the guard on which it is entered
  const OperationEvent* next_of_others = nullptr;   // null: the others enter nothing more
};

// The ranks part by an exit that some of them take, or by data of their own.
struct Parting {
  Place condition;                            // by which they part; absent where there is none
  std::optional<interpreter::ExitKind> exit;  // that some take; none: they part by data
  int missed = 0;                             // collectives that they miss by it
  bool whole_job = false;                     // all ranks are to enter
  int waits_at = 0;  // the site of what the others wait in; 0: no run is asked for that
};

// A message that is waited for.
struct MessageWait {
  int peer = -1;          // the rank that is waited for
  bool nowhere = false;   // there never is such a rank
  bool exchange = false;  // two ranks both send first, or both receive first
  bool apart = false;     // … at two places of the program
  int first = -1;         // the rank that does so at the place
};

// Something that goes wrong in every run that gets there. Places are those of the file's own record.
struct Mismatch {
  std::optional<std::int64_t> made_for;  // what it has is right in a job of so many ranks
  bool counts_the_job = false;  // it goes by how many ranks the job has, where those of a group count
  Cause cause{};
  bool by_surprise =
      false;            // of what may happen on one rank alone: that others do not meet it takes nothing back
  bool certain = true;  // else it depends on how much the network buffers
  std::optional<Severity> severity;  // other than that of the rule
  std::string name;                  // "broadcast"
  Place place;                       // where it belongs
  const interpreter::CallSite* calls = nullptr;
  bool supposed = false;  // it is so where something holds that is not known, as `jobs` says
  std::string jobs;       // "With 4 ranks: ", where smaller jobs get past
  std::string text;       // what each rank does, for the causes that word it here
  std::vector<std::pair<Place, std::string>> related;
  std::vector<int> ranks;  // that enter, or leave
  int world = 0;
  const OperationEvent* event = nullptr;  // of the file's own record: what is entered or missed; may be null
  int key = 0;                            // the site that decides whether some run gets past
  std::variant<std::monostate, GuardedEntry, Parting, MessageWait> detail;  // by the cause

  template <typename Detail> const Detail* as() const { return std::get_if<Detail>(&detail); }
  // Made where it is not there yet.
  template <typename Detail> Detail& make() {
    if (!as<Detail>()) detail.emplace<Detail>();
    return *std::get_if<Detail>(&detail);
  }
};

struct Comparison {
  std::vector<Mismatch> found;
  std::set<const interpreter::Root*> compared_roots;  // roots that were compared wholly
  std::size_t roots_looked_at = 0;  // of the others all stands that an earlier comparison found
  std::vector<std::pair<const interpreter::Root*, std::string>>
      notes;  // what kept it from judging, for who asks why nothing is told
};

// What is known of the ranks of a program: a rule reads it and starts no run. Whoever keeps it finds each
// part out once, when it is first asked for.
class RankResults {
public:
  virtual ~RankResults() = default;
  virtual const Comparison& comparison() const = 0;
  // The program as one rank of a small job runs it, told what the others send to it; null: there is none.
  virtual const Record* run(int rank, int world) const = 0;
};

// Do the ranks communicate, and is there anything in which they may differ? What is so of a part of the
// record is so of the whole.
bool may_part(const Record& record);

// "If `accelerator` is an object of accelerate.Accelerator: ", of a call whose object is known by its name
// alone; empty for others.
std::string if_it_is_one(const OperationEvent& event);

// "rank 0", "ranks 1 and 2", "the ranks but 0".
std::string rank_words(const std::vector<int>& ranks, int world);
// A name without the article that it may have: "backward of the model" of "the backward of the model".
std::string_view without_article(std::string_view name);
// The same as the subject of a sentence: "rank 0 waits", "every rank but 0 waits", "ranks 1 and 2 wait".
std::string ranks_do(
    const std::vector<int>& ranks, int world, std::string_view singular, std::string_view plural_form);

}  // namespace stepzero::rules
