// Starts the runs of a program by the ranks of small jobs, and follows the ways that these may go. For the
// comparison and the snapshot alone: a rule starts no run.
#pragma once

#include "interpreter/one_rank.hpp"
#include "rules/ranks/trace.hpp"

#include <set>
#include <unordered_set>

namespace stepzero::rules {

class ComparedBefore;
class KnownPlaces;
class Runs;

// Runs the same file again as one process of a small job does; of the functions that nobody calls, and of
// classes, only those among `roots`. Null: there is no such run of the record.
using RunOfRank = std::function<std::shared_ptr<Record>(
    const interpreter::OneRank& rank, const std::unordered_set<const syntax::Stmt*>& roots)>;

class JobExplorer {
public:
  // `by_defaults`: where every number that may be given to the program is its default.
  JobExplorer(const Record& record, RunOfRank run, bool by_defaults = false);
  ~JobExplorer();
  // Calls `each` for the possible runs of a root of the file's record in a world. False if there are too
  // many, or the root is not run by every rank alike.
  bool explore(const interpreter::Root& root, int world, std::size_t limit,
      const std::function<void(const JobRun&)>& each, Assumption assumed = Assumption::nothing);
  // Does any branch that leads to communication ask whether there are gradients?
  bool any_about_gradients();
  // The program as one rank runs it.
  const Record& of(int rank, int world);
  // The root is going to be explored in a world of this size: who says so of all roots before the first is
  // spares runs that lack some.
  void ask(const interpreter::Root& root, int world);
  // What the record tells of places, for who notes more of it.
  KnownPlaces& known();
  // See ComparedBefore: of the runs of the root by all ranks of a world. Nothing: one of them has no such
  // root.
  std::optional<std::uint64_t> rests_on(
      const interpreter::Root& root, int world, ComparedBefore& compared_before);
  // Was that run told of one iteration of what the sender sends in a loop of any number of iterations?
  bool follows_one_iteration(int rank, int sender, int world) const;

private:
  Runs& runs();

  const Record& record_;
  const RunOfRank run_;
  const bool by_defaults_;
  std::unique_ptr<Runs> runs_;  // made when first asked for: few programs part
  std::set<int> exchanged_;     // worlds whose ranks have told each other what they send
};

}  // namespace stepzero::rules
