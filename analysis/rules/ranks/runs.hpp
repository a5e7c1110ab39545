// The runs of a program by the ranks of small worlds, and names for their places that are alike in all runs.
// Knows no rule.
#pragma once

#include "rules/ranks/compared_before.hpp"
#include "rules/ranks/job_explorer.hpp"

#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace stepzero::rules {

// The run of one rank, and what was found out about its places.
struct RankRun {
  std::shared_ptr<Record> record;
  int world = 0;
  std::set<const syntax::Stmt*> unrolled;  // loops
  std::vector<std::uint32_t> chunk_of;     // by chunk: the same one in the main record; 0: not there
  std::vector<std::uint32_t> files;        // by chunk: the number of its file, the same in all runs
  std::unordered_map<const interpreter::CallSite*, int> call_sites;
  std::unordered_map<const interpreter::CallSite*, const interpreter::CallSite*> translated;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Place>
      translated_places;  // by chunk, begin and end
  std::unordered_map<values::Cond, int> keys;
  std::unordered_map<values::Cond, symbolic::Answer> unasked;  // what needs no question: see RankWalker
  std::unordered_map<int, values::Cond> asked_as;              // by key: the question as this rank asks it
  int root = 0;                          // the root that is looked at: the same number in all runs
  std::unordered_set<int> named;         // texts of questions that were asked, by root
  std::unordered_map<int, int> keys_at;  // by site: conditions first met there
  // See BlockQueries. The ways through a run ask the same of a block again and again.
  std::unordered_map<const interpreter::Block*, bool> matters, communicates, sends, raises, leaves,
      leaves_loop;
  std::unordered_map<const interpreter::LoopEvent*, bool> left;
};

class Runs {
public:
  // `by_defaults`: see OneRank.
  Runs(const Record& whole, RunOfRank run, bool by_defaults);
  const Record& main() const { return main_; }
  bool can_run() const { return run_ != nullptr; }
  // What is told of the places of the main record by all of its roots.
  KnownPlaces& known() { return known_; }
  // The root of a rank's run that is this one of the main record; null: it has none.
  static const interpreter::Root* same_root(const RankRun& own, const interpreter::Root& root);
  // The root is going to be looked at in a world of this size: the runs of ranks have it. Those of the first
  // world asked for have every root that communicates; few of these need larger ones.
  void ask(const interpreter::Root& root, int world);
  // The program as one rank runs it; made when first asked for.
  RankRun& of(int rank, int world);
  // … that is told what the others send to it: that run takes the place of the one before. False: there is
  // none, and nothing was changed.
  bool tell(int rank, int world, const std::shared_ptr<const interpreter::PeerMessages>& told);

  // The run of the rank is told of one iteration of what the sender sends in a loop of any number of
  // iterations, alike in each.
  void note_one_iteration(int rank, int sender, int world) { one_iteration_.insert({rank, sender, world}); }
  bool follows_one_iteration(int rank, int sender, int world) const {
    return one_iteration_.contains({rank, sender, world});
  }

  // Does the branch lead to communication on some rank?
  bool leads_on(const RankRun& own, const interpreter::Event& branch) const;
  // Is the function one that communicates on some rank?
  bool leads_on(const RankRun& own, const interpreter::CallEvent& call) const {
    return call.function && call.function->stmt &&
        functions_.contains(own.record->as_written(call.function->stmt));
  }
  // A loop whose iterations are fewer on some ranks than on others.
  bool is_divergent(const RankRun& own, const interpreter::LoopEvent& loop) const {
    return loop.stmt && has(Trait::divergent_loop, own, loop.place);
  }

  // … or are as many as data of each rank have it: one rank by itself neither sees all of these, nor that
  // what it draws all others draw.
  bool is_local(const RankRun& own, const interpreter::LoopEvent& loop) const;

  // A loop that some rank of the same world was seen to go through iteration by iteration, to its end.
  bool ends_elsewhere(const RankRun& own, const interpreter::LoopEvent& loop) const;

  // Is the branch decided by what the ranks' data are, though one rank by itself cannot tell?
  bool differs(const RankRun& own, const interpreter::Event& branch) const;

  // Do all ranks decide the branch alike, though one by itself cannot tell, as by numbers that all draw with
  // one seed?
  bool is_decided_equally(const RankRun& own, const interpreter::Event& branch) const;

  // Does an operation fail on the one side, of which all ranks know the same, as a division by a size that
  // all have?
  bool fails_equally(const RankRun& own, const interpreter::BranchEvent& branch) const;

  // Does it ask for nothing that is not known but whether there are gradients?
  bool is_about_gradients(const RankRun& own, const interpreter::Event& branch) const;
  bool any_about_gradients() const { return !places(Trait::about_gradients).empty(); }
  bool is_about_rank(const RankRun& own, const interpreter::Event& branch) const;
  // Does it read or write a file that is another one on each rank, or does only some rank do so?
  bool may_fail(const RankRun& own, const interpreter::Event& operation) const;
  // A key for "the value asked about there is this one"; of all keys of a site one holds at most.
  int one_of(int site, std::int64_t value);
  // Does another key of the same site hold?
  bool is_excluded(int key, const std::map<int, bool>& chosen) const;

  // A number for a place with the calls that led there: the same in the runs of all ranks.
  int site(RankRun& own, Place place, const interpreter::CallSite* calls);
  // A number for a choice that is made at a site, or for one of the values there.
  enum class Of : std::uint32_t { nowhere, values, gradients, conditions, words, roots };
  int site(Of what, int at, int number) {
    return site(static_cast<std::uint32_t>(what),
        {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(number)}, 0);
  }
  // The same question of the program, asked at a site: by its words, alike in the runs of all ranks, and of
  // questions with the same words in one root by their order.
  int question(RankRun& own, int at, values::Cond condition);
  // The same place, and the same calls, in the file's own record.
  Place translate(RankRun& own, Place place) const;
  const interpreter::CallSite* translate(RankRun& own, const interpreter::CallSite* calls);

private:
  // A file, by its number, and a byte in it: the same in the runs of all ranks.
  using Spot = std::uint64_t;
  static constexpr std::uint32_t first_file = 6;  // smaller numbers are not of files: Of
  std::vector<std::uint32_t> files(const Record& record);
  Spot spot(Place place) const;  // of the main record
  Spot spot(const RankRun& own, Place place) const;
  int site(std::uint32_t file, syntax::Span span, int calls);

  std::unique_ptr<RankRun> make(
      int rank, int world, const std::shared_ptr<const interpreter::PeerMessages>& told);
  // `of_some_ranks`: it stands under a condition that depends on the rank.
  bool note(const interpreter::Block& block, bool of_some_ranks = false);
  bool leaves_by_rank(const interpreter::Block& block, bool of_some_ranks) const;
  bool asks_for_gradients(const interpreter::BranchEvent& branch) const;

  const Record& main_;
  const RunOfRank run_;
  bool by_defaults_ = false;
  std::unordered_map<std::string, std::uint32_t> files_;
  std::unordered_map<std::string, int> words_;  // of questions
  const std::vector<std::uint32_t> main_files_;
  // What a root may show of a place.
  enum class Trait : std::uint8_t {
    leads_on,         // a branch
    differs,          // … that data decide
    equal,            // … that all ranks decide alike
    unlike,           // … that they do not
    about_rank,       // …
    about_gradients,  // …
    fallible,         // an operation
    local_comprehension,
    divergent_loop,
    local_loop,
    equivalent_loop,
    other_loop,
    count
  };
  void mark(Trait trait, Place place) {
    if (places_[static_cast<std::size_t>(trait)].insert(spot(place)).second)
      known_.add(place, static_cast<std::uint64_t>(trait));
  }
  const std::unordered_set<Spot>& places(Trait trait) const {
    return places_[static_cast<std::size_t>(trait)];
  }
  bool has(Trait trait, const RankRun& own, Place place) const {
    return place && !places(trait).empty() && places(trait).contains(spot(own, place));
  }
  void mark_loops();

  KnownPlaces known_;
  std::array<std::unordered_set<Spot>, static_cast<std::size_t>(Trait::count)> places_;
  std::map<int, int> site_of_key_;
  std::map<int, std::set<int>> keys_at_;  // by site
  std::set<const syntax::Stmt*> functions_;
  std::unordered_map<Spot, std::uint32_t> chunks_;
  using Roots = std::unordered_set<const syntax::Stmt*>;  // functions and classes
  Roots roots_;                                           // that communicate
  int first_world_ = 0;
  std::map<int, Roots> asked_;  // of the roots those that were asked for, by world
  struct Site {
    std::uint32_t file, begin, end;
    int calls;
    friend bool operator==(const Site&, const Site&) = default;
  };
  struct SiteHash {
    std::size_t operator()(const Site& site) const {
      return ((std::size_t{site.file} << 32 | site.begin) * 0x9E3779B97F4A7C15u) ^
          ((std::size_t{site.end} << 32 | static_cast<std::uint32_t>(site.calls)) * 0xBF58476D1CE4E5B9u);
    }
  };
  std::unordered_map<Site, int, SiteHash> sites_;
  std::vector<std::unique_ptr<interpreter::CallSite>> call_sites_;
  std::map<std::pair<int, int>, std::unique_ptr<RankRun>> runs_;
  std::vector<std::unique_ptr<RankRun>> former_;  // whose events something that was found may name
  std::set<std::tuple<int, int, int>> one_iteration_;
};

}  // namespace stepzero::rules
