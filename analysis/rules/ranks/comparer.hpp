// The runs of several ranks of a program, held against each other: which of them wait for each other forever,
// and what is told of it.
#pragma once

#include "rules/ranks/collective_simulator.hpp"
#include "rules/ranks/compared_job.hpp"
#include "rules/ranks/conditions.hpp"
#include "rules/ranks/iteration_counts.hpp"
#include "rules/ranks/job_view.hpp"
#include "rules/ranks/questions_for_rank.hpp"
#include "rules/ranks/requests.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stepzero::rules {

using namespace interpreter;

class Comparer {
public:
  Comparer(const Record& record, ComparedJob& into, ComparedBefore* before)
      : record_(record), into_(into), before_(before) {}
  void run();

private:
  // What is wrong in the jobs of one root, by cause and key.
  struct Found {
    using Key = std::pair<int, int>;
    std::map<Key, Mismatch> by_key, smallest;  // of the largest job that has it, and of the smallest
    std::map<Key, std::set<int>> worlds;       // sizes of the jobs that have it
    std::map<Key, std::set<std::optional<std::int64_t>>> made_for;
    std::vector<Key> order;
    bool complete = true;  // the smallest job was followed on all its ways
    int explored = 0;      // jobs that were
    void add(const Mismatch& mismatch);
  };

  // For who asks why nothing is told: see Comparison::notes.
  void note(const Root& root, const std::string& what);
  std::uint32_t line_of(Place place) const;
  void note_branches();
  // Was it compared before, and does what that rested on stand? Nothing was found then.
  bool stands(const Root& root);
  void keep(const Root& root);  // nothing was found
  std::optional<std::uint64_t> rests_on(const Root& root);
  // Under each assumption, until something is found.
  void compare(const Root& root);
  void look_at(const Root& root);
  void begin(const Root& root);
  std::vector<int> sizes_to_ask(const Root& root) const;
  bool explore(const Root& root, const std::vector<int>& sizes, Found& found);
  void tell_of_few(const Found& found);
  void tell(const Root& root, Found& found, const Found::Key& key, bool of_several_sizes);
  bool is_right_with_two_ranks_only(const Mismatch& mismatch, const std::set<int>& worlds);
  // What is so where something is taken for granted: that is said.
  void report_assumed(Found& found);
  // What goes wrong under some answers alone: these are said.
  void tell_conditional();
  // The runs that are compared. Those in which defaults are numbers from the start are made where they are
  // asked for.
  JobExplorer& worlds_asked();
  // `args.local_rank != -1`; empty: no run of a rank asks whether it was told its rank.
  std::string question_for_rank();
  // Is anything asked for that has a default?
  bool has_defaults() const;
  // Some world gets past, but none of those that count: a program that names rank 2 is not made for two
  // ranks, and one that fits three by its numbers is hardly meant for three where neither two nor four do.
  bool fails_where_it_counts(const Mismatch& mismatch, const std::set<int>& worlds);
  bool differs_with_two_ranks(const Mismatch& mismatch);
  // Found out once.
  int highest_named();
  // What only an exception leads to is told as that.
  static bool is_told_by_handler(const Found& found, const Mismatch& mismatch);
  // Where a job is so small that each group has one member left in it, larger ones tell what is meant.
  static bool is_told_of_group(const Found& found, const Mismatch& mismatch);
  // Messages and groups are made for more ranks than two.
  static bool sends_or_groups(const Root& root);
  // Does every communication of a root take part in some run that ends well?
  bool all_reached(const Root& root) const;
  // `stop`: where the ranks wait in it, if the run does not end; what a rank waits in it has not got past.
  void passed(const JobRun& world, const Stop* stop = nullptr);
  // Do both go through the same thing to its end? Then they make as many iterations, wherever they stand.
  bool as_many_iterations(const Iteration& a, const Iteration& b) const;
  // A leader calls its workers in one loop, and they wait for it in another: the iteration that stands for
  // many met something that is not in an iteration of the same loop. How many more meet is not known, nor
  // what becomes of the ranks after that.
  bool met_across_loops(const JobRun& world, const CollectiveSimulator& simulator);
  // One way that the ranks may go.
  void follow(const JobRun& world, std::vector<Mismatch>& here);
  void play(const JobRun& world, std::vector<Mismatch>& here);
  void play_to_stop(const JobView& view, const JobRun& world, const CollectiveSimulator& simulator,
      const Stop& stop, bool parted, std::vector<Mismatch>& here);
  // What is asked of an object that only its name describes may be another's: then what the ranks wait in is
  // none of it.
  void presume(const JobRun& world, const Stop& stop, Mismatch& mismatch);
  // Was the run of the root, or of a rank's, broken off?
  bool is_cut_off(const Root& root) {
    asked_worlds_.insert(2);
    return root.truncated || worlds_asked().of(0, 2).out_of_budget || worlds_asked().of(1, 2).out_of_budget;
  }
  // Some rank ends at a message to a rank that there never is. Of what comes before it only messages that
  // nobody ever sends are told.
  void ends_nowhere(const JobRun& world, std::vector<Mismatch>& here) const;
  // Does it depend on what is not known whether the rank comes to the call?
  static bool left_open(const RankTrace& trace, const CommEvent& comm);
  // Do two ranks take different sides of a condition that says nothing of ranks? Uniform ones that were not
  // seen to be the same on both count, too; and those that only one of the runs knows the truth of, where the
  // rank has no part in it.
  bool decide_differently(const JobRun& world) const;
  bool answer_words_differently(const JobRun& world) const;
  // Names that some ranks never bind, and use.
  void undefined_names(const JobView& view);
  // What some ranks enter in one function, and all others in another, may belong together: nobody here calls
  // them.
  void pair_up();

  const Record& record_;
  ComparedJob& into_;
  ComparedBefore* const before_;  // may be null
  std::set<int> asked_worlds_;    // of the root that is looked at
  std::set<std::pair<std::uint32_t, std::uint32_t>>
      about_ranks_;           // branches whose conditions depend on the rank
  bool of_function_ = false;  // that nobody calls
  Assumption assumed_ = Assumption::nothing;
  bool presumes_ = false;      // see RankTrace, of all runs so far
  bool by_gradients_ = false;  // see RankTrace, of all runs so far
  std::map<std::string, std::int64_t> defaults_;
  bool impossible_ = false;     // every run so far names ranks that its world has not
  bool only_fails_ = false;     // … or ends on all ranks in what says that something is wrong
  const Root* root_ = nullptr;  // that is looked at
  std::set<std::pair<std::uint32_t, std::uint32_t>>
      reached_;  // places of communication in runs that end well
  std::vector<Mismatch> undefined_;
  Requests requests_;
  Conditions conditions_;
  std::set<int> past_;  // sites that the run gets past
  std::vector<Mismatch>
      conditional_;               // what goes wrong under some answers of the program's own questions alone
  std::map<int, Mismatch> slow_;  // by site
  std::map<int, Mismatch> left_;  // by the site of a way out of a loop that some run gets past: the leader
                                  // leaves it in one of its iterations
  std::set<std::pair<std::uint32_t, std::uint32_t>> about_exits_;  // ways out in them
  std::optional<int> highest_named_;
  std::map<int, std::set<int>> fine_in_;  // by world: sites that some run of it gets past
  int world_ = 0;                         // that is played
  std::set<int> fine_;                    // sites that some run gets past
  bool only_few_ = false;   // what rests on many answers is not told, as little is known of the rest
  bool too_many_ = false;   // ways, to follow them all
  bool got_past_ = false;   // some run stops where another gets past
  std::set<int> doubtful_;  // sites that a run came to of which not all is known
  std::vector<std::pair<std::size_t, const Root*>> of_functions_;
};

}  // namespace stepzero::rules
