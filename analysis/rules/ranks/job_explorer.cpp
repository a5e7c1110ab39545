// The ways that the ranks of a small job may go: every answer to every question that a rank's run leaves
// open, or some of them where these are too many.
#include "rules/ranks/job_explorer.hpp"

#include "rules/ranks/balance.hpp"
#include "rules/ranks/exchange.hpp"
#include "rules/ranks/walker.hpp"
#include "rules/ways.hpp"
#include "symbolic/supposition.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;

JobExplorer::JobExplorer(const Record& record, RunOfRank run, bool by_defaults)
    : record_(record), run_(std::move(run)), by_defaults_(by_defaults) {}
JobExplorer::~JobExplorer() = default;

Runs& JobExplorer::runs() {
  if (!runs_) runs_ = std::make_unique<Runs>(record_, run_, by_defaults_);
  return *runs_;
}

bool JobExplorer::any_about_gradients() { return runs().any_about_gradients(); }

const Record& JobExplorer::of(int rank, int world) { return *runs().of(rank, world).record; }

bool JobExplorer::follows_one_iteration(int rank, int sender, int world) const {
  return runs_ && runs_->follows_one_iteration(rank, sender, world);
}

void JobExplorer::ask(const Root& root, int world) { runs().ask(root, world); }

KnownPlaces& JobExplorer::known() { return runs().known(); }

std::optional<std::uint64_t> JobExplorer::rests_on(
    const Root& root, int world, ComparedBefore& compared_before) {
  Runs& runs = this->runs();
  runs.ask(root, world);
  std::uint64_t sum = static_cast<std::uint64_t>(world);
  for (int rank = 0; rank < world; ++rank) {
    const RankRun& own = runs.of(rank, world);
    const Root* const same = own.record && !own.record->cancelled ? Runs::same_root(own, root) : nullptr;
    const auto one = same ? compared_before.rests_on(*same, *own.record, runs.known()) : std::nullopt;
    if (!one) return std::nullopt;
    sum = KnownPlaces::mixed(sum, KnownPlaces::mixed(*one, own.record->out_of_budget));
  }
  return sum;
}

namespace {
// What may take place takes place on all ranks, or on none, where all come to it. Else it is not known what
// they do after it.
void mark_uncertain(JobRun& world) {
  const auto sites = [](const RankTrace& trace) {
    std::vector<int> made;
    made.reserve(trace.perhaps.size());
    for (const auto& [before, site] : trace.perhaps) made.push_back(site);
    return made;
  };
  if (std::all_of(world.begin(), world.end(),
          [&](const RankTrace& trace) { return sites(trace) == sites(world.front()); }))
    return;
  for (RankTrace& trace : world) {
    if (trace.perhaps.empty()) continue;
    trace.certain_comms = trace.uncertain ? std::min(trace.certain_comms, trace.perhaps.front().first)
                                          : trace.perhaps.front().first;
    trace.uncertain = true;
  }
}
}  // namespace

namespace {

// The possible runs of one root in one world.
class Exploration {
public:
  Exploration(Runs& runs, int world, std::size_t limit, const std::function<void(const JobRun&)>& each,
      Assumption assumed)
      : runs_(runs), world_(world), limit_(limit), each_(each), assumed_(assumed),
        own_(static_cast<std::size_t>(world)), kept_(static_cast<std::size_t>(world)) {}

  // False: the root is not run by every rank alike.
  bool begin(const Root& root) {
    const auto& roots = runs_.main().roots;
    const auto number = std::ranges::find_if(roots, [&](const auto& each) { return each.get() == &root; }) -
        roots.begin();
    for (int rank = 0; rank < world_; ++rank) {
      RankRun& own = runs_.of(rank, world_);
      if (!own.record || own.record->cancelled) return false;
      const Root* const same = Runs::same_root(own, root);
      if (!same) return false;
      own.root = static_cast<int>(number);
      ranks_.push_back(&own);
      blocks_.push_back(&same->block);
      cut_off_.push_back(same->truncated);
    }
    return true;
  }

  // Was some rank's run broken off?
  bool any_cut_off() const { return std::find(cut_off_.begin(), cut_off_.end(), true) != cut_off_.end(); }

  // All of them; false: there are too many.
  bool all() { return follow(WaySearch::every(limit_)); }

  // From now on one side of branches on which nothing depends.
  void leave_out_balanced() {
    balanced_ = balanced_branches(runs_, ranks_, blocks_, assumed_ == Assumption::agreement);
    leave_out_ = true;
    kept_.assign(kept_.size(), {});
  }

  // Some of them, well spread, and always the same ones.
  void some(std::size_t count) {
    walked_ = 0;
    std::uint64_t drawn_by = 88172645463325252u;
    for (std::size_t i = 0; i < count; ++i) {
      WaySearch search = WaySearch::one(drawn_by);
      if (!follow_one_more(search)) return;
      drawn_by = search.drawn_by();
    }
  }

  // The one in which every answer is no, where that is possible: what is counted there comes to its end
  // soonest.
  void denying() { follow(WaySearch::one(0)); }

private:
  // A run that came to a condition without an answer.
  struct Asked {
    std::size_t rank = 0;
    Cond condition = nullptr;
    bool is_shared = false;
    int key = 0;
    bool is_surprise = false;
  };
  using Came = WaySearch::Came;
  // The walk of one rank, which stands while ranks after it are asked: it came to its end without what they
  // ask. Walked again it would answer the same.
  struct Kept {
    std::optional<RankTrace> trace;
    int asked_after = 0;   // answers that hold now and that a rank after it was asked for
    int asked_of_all = 0;  // of these those that this rank, too, was asked for on some way
  };

  bool follow(WaySearch search) {
    walked_ = 0;
    return follow_one_more(search);
  }
  bool follow_one_more(WaySearch& search) {
    return search.follow<Asked>(
        [this](Asked& asked) {
          JobRun made;
          const Came came = walk(made, asked);
          if (came == Came::through) {
            mark_uncertain(made);
            each_(made);
          }
          return came;
        },
        [this](const Asked& asked, bool answer, const auto& go_on) { return under(asked, answer, go_on); });
  }

  Came walk(JobRun& made, Asked& asked) {
    for (std::size_t at = 0; at < ranks_.size(); ++at) {
      Kept& kept = kept_[at];
      if (kept.trace && kept.asked_of_all == 0) {
        made.push_back(*kept.trace);
        continue;
      }
      // What one rank was asked first holds for those that come to the same question.
      symbolic::Supposition supposed(ranks_[at]->record->symbols);
      Walked one;
      for (std::size_t met = 0, before = 0; met == 0 || met != before;) {
        before = ranks_[at]->asked_as.size();
        for (const auto& [key, value] : shared_)
          if (const auto same = ranks_[at]->asked_as.find(key); same != ranks_[at]->asked_as.end() &&
              !supposed.assume(value ? same->second : ranks_[at]->record->symbols.logical_not(same->second)))
            return Came::nowhere;
        one = walk_rank(runs_, *ranks_[at], world_, *blocks_[at],
            {shared_, own_[at], assumed_, false, surprises_ > 0, leave_out_ ? &balanced_ : nullptr}, walked_);
        met = ranks_[at]->asked_as.size();
        if (one.too_long || one.missing || met == 0) break;
      }
      if (one.too_long) return Came::too_far;
      if (one.missing) {
        asked = {at, one.missing, one.missing_is_shared, one.missing_key, one.missing_is_surprise};
        return Came::to_a_question;
      }
      // What it does after the place where its run was broken off is not known.
      if (cut_off_[at]) {
        one.trace.certain_comms = one.trace.uncertain ? one.trace.certain_comms : one.trace.comms.size();
        one.trace.uncertain = true;
        one.trace.raised = false;
      }
      if (kept.asked_after == 0 && at + 1 < ranks_.size()) kept.trace = one.trace;
      made.push_back(std::move(one.trace));
    }
    return Came::through;
  }

  // An answer holds, or no longer: what the rank that was asked and those after it did is of no use.
  void note_answer(const Asked& asked, int change) {
    for (std::size_t at = 0; at < kept_.size(); ++at)
      if (at >= asked.rank)
        kept_[at].trace.reset();
      else
        kept_[at].asked_after += change;
  }

  // Goes on with an answer; nothing if it is impossible.
  template <class GoOn> std::optional<bool> under(const Asked& asked, bool answer, const GoOn& go_on) {
    auto& symbols = ranks_[asked.rank]->record->symbols;
    if (asked.is_shared)
      shared_[asked.key] = answer;
    else
      own_[asked.rank][asked.condition] = answer;
    surprises_ += answer && asked.is_surprise;
    note_answer(asked, 1);
    std::vector<std::size_t> too;  // ranks before it that were asked the same on some way
    for (std::size_t at = 0; at < asked.rank; ++at)
      if (asked.is_shared && ranks_[at]->asked_as.contains(asked.key)) too.push_back(at);
    for (const std::size_t at : too) ++kept_[at].asked_of_all;
    std::optional<bool> done;
    {
      const symbolic::Supposition supposed(
          symbols, answer ? asked.condition : symbols.logical_not(asked.condition));
      if (supposed.possible()) done = go_on();
    }
    for (const std::size_t at : too) --kept_[at].asked_of_all;
    note_answer(asked, -1);
    surprises_ -= answer && asked.is_surprise;
    if (asked.is_shared)
      shared_.erase(asked.key);
    else
      own_[asked.rank].erase(asked.condition);
    return done;
  }

  Runs& runs_;
  int world_;
  std::size_t limit_;
  const std::function<void(const JobRun&)>& each_;
  Assumption assumed_;
  std::vector<RankRun*> ranks_;
  std::vector<const Block*> blocks_;
  std::vector<bool> cut_off_;
  std::map<int, bool> shared_;
  std::vector<std::map<Cond, bool>> own_;
  std::vector<Kept> kept_;
  std::unordered_set<int> balanced_;
  bool leave_out_ = false;
  int surprises_ = 0;  // that were chosen
  std::uint64_t walked_ = 0;
};

constexpr std::size_t drawn = 24;        // runs, where there are too many
constexpr std::size_t most_agreed = 64;  // ways, before they are drawn

}  // namespace

bool JobExplorer::explore(const Root& root, int world, std::size_t limit,
    const std::function<void(const JobRun&)>& each, Assumption assumed) {
  Runs& runs = this->runs();
  if (!runs.can_run()) return false;
  runs.ask(root, world);
  // Functions that nobody calls are called by who is not seen.
  if (!root.function && exchanged_.insert(world).second) exchange_contents(runs, world, root);
  Exploration exploration(
      runs, world, assumed == Assumption::agreement ? std::min(limit, most_agreed) : limit, each, assumed);
  if (!exploration.begin(root)) return false;
  if (assumed != Assumption::balance && assumed != Assumption::agreement)
    return !exploration.any_cut_off() && exploration.all();
  if (assumed != Assumption::agreement && exploration.all()) return true;
  exploration.leave_out_balanced();
  if (exploration.all()) return true;
  if (assumed != Assumption::agreement) return exploration.denying(), false;
  exploration.some(drawn);
  return true;
}

}  // namespace stepzero::rules
