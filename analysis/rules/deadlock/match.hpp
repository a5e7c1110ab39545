// Do the ranks fit together? The possible runs of small worlds are played with the rules of process groups and messages; where
// no rank can go on, or ranks meet in what does not fit, the cause is named. One comparison serves all deadlock rules.
#pragma once

#include "rules/report.hpp"
#include "rules/deadlock/trace.hpp"

#include <set>

namespace stepzero::rules {

enum class Cause : std::uint8_t { guard, order, exit, message, root, making_groups, other_group, size, rounds, local, handler, name, request, slow, outsider };

// Something that goes wrong in every run that gets there. Places are those of the file's own record.
struct Mismatch {
  std::optional<std::int64_t> made_for;  // what it has is right in a job of so many ranks
  Cause cause{};
  bool by_surprise = false;                // of what may happen on one rank alone: that others do not meet it takes nothing back
  bool certain = true;                     // else it depends on how much the network buffers
  std::optional<Severity> severity;        // other than that of the rule
  std::string name;                        // "broadcast"
  Place place;                             // where it belongs
  const interpreter::CallSite* calls = nullptr;
  bool supposed = false;                   // it is so where something holds that is not known, as `jobs` says
  std::string jobs;                        // "With 4 ranks: ", where smaller jobs get past
  std::string text;                        // what each rank does, for the causes that word it here
  std::vector<std::pair<Place, std::string>> related;
  std::vector<int> ranks;                  // that enter, or leave
  int world = 0;
  bool nowhere = false;                    // a message to a rank that there never is
  int peer = -1;                           // of messages: the rank that is waited for
  const OperationEvent* event = nullptr;   // of the file's own record: what is guarded; may be null
  const interpreter::BranchEvent* guard = nullptr;  // of the file's own record; may be null
  bool guard_side = true;
  const OperationEvent* next_of_others = nullptr;   // of the file's own record
  Place condition;                         // by which ranks part, where that is an exit or local data
  std::optional<interpreter::ExitKind> exit;  // that some ranks take
  int missed = 0;                          // collectives that they miss by it
  bool whole_job = false;                  // all ranks are to enter
  bool exchange = false;                   // two ranks both send first, or both receive first
  int key = 0;                             // the site that decides whether some run gets past
  int waits_at = 0;                        // of a way out: the site of what the others wait in; 0: no run is asked for that
};

struct Comparison {
  std::vector<Mismatch> found;
  std::set<const interpreter::Root*> settled;  // roots that were compared wholly
  std::unique_ptr<Worlds> worlds;              // owns what the places of `found` lead through
  std::vector<std::pair<const interpreter::Root*, std::string>> notes;  // what kept it from judging, for who asks why nothing is told
  std::unique_ptr<Worlds> by_defaults;         // the same, where what may be given is not given; null where nobody asked
};

// Do the ranks communicate, and is there anything in which they may differ? What is so of a part of the record is so of the whole.
bool may_part(const Record& record);

// Made once for a record.
const Comparison& compare_ranks(const Record& record);

// The findings of one cause, told by a rule.
void tell(const Record& record, Report& report, Cause cause, Severity severity, std::vector<Fix> (*fixes)(const Record&, const Mismatch&) = nullptr);

// "If `accelerator` is an object of accelerate.Accelerator: ", of a call whose object is known by its name alone; empty for others.
std::string if_it_is_one(const OperationEvent& event);

// "rank 0", "ranks 1 and 2", "the ranks but 0".
std::string rank_words(const std::vector<int>& ranks, int world);
// A name without the article that it may have: "backward of the model" of "the backward of the model".
std::string_view without_article(std::string_view name);
// The same as the subject of a sentence: "rank 0 waits", "every rank but 0 waits", "ranks 1 and 2 wait".
std::string ranks_do(const std::vector<int>& ranks, int world, std::string_view singular, std::string_view plural_form);

} // namespace stepzero::rules
