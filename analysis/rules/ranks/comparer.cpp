// Which jobs are compared, of which sizes and under which assumptions, and what is told of what goes wrong in
// them.
#include "rules/ranks/comparer.hpp"

#include "interpreter/presumed_rank.hpp"
#include "rules/fact_index.hpp"
#include "rules/ranks/agreement.hpp"
#include "rules/ranks/assumption_words.hpp"
#include "rules/ranks/balance.hpp"
#include "rules/ranks/causes.hpp"
#include "rules/ranks/communication.hpp"
#include "rules/ranks/conditions.hpp"
#include "rules/ranks/iteration_counts.hpp"
#include "rules/ranks/job_size.hpp"
#include "rules/ranks/missing_gradients.hpp"
#include "rules/ranks/point_to_point.hpp"
#include "rules/ranks/questions_for_rank.hpp"
#include "rules/ranks/requests.hpp"
#include "rules/ranks/slow_work.hpp"
#include "rules/ranks/structure.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

constexpr int most_ranks_asked_for = 8;  // where a program names none
constexpr int largest_job = 16;          // that a program gives the size of; larger ones are compared as any

}  // namespace

ComparedJob::ComparedJob(const Record& record, RunOfRank runs, ComparedBefore* before)
    : run(std::move(runs)), worlds(record, run) {
  Comparer(record, *this, before).run();
}

void Comparer::run() {
  for (const auto& root : record_.roots)
    if (const int size = communicates(record_, *root) ? size_of_job(record_, *root) : 0; size >= 2)
      for (Mismatch& mismatch : ranks_beyond(record_, *root, size))
        into_.found.push_back(std::move(mismatch));
  if (!into_.run || !may_part(record_)) return;
  for (Mismatch& mismatch : dropped_requests(record_)) into_.found.push_back(std::move(mismatch));
  note_branches();
  std::vector<const Root*> roots;
  for (const auto& root : record_.roots)
    if (communicates(record_, *root)) roots.push_back(root.get());
  if (before_) {
    before_->begin();
    for (const Root* const root : roots)
      for (const int world : before_->worlds_of(root->name)) into_.worlds.ask(*root, world);
  }
  for (const Root* const root : roots) {
    if (stands(*root)) continue;
    const std::size_t before = into_.found.size();
    asked_worlds_.clear();
    ++into_.roots_looked_at;
    compare(*root);
    if (into_.found.size() == before) keep(*root);
    if (before_) before_->keep_worlds(root->name, asked_worlds_);
  }
  pair_up();
  for (Mismatch& mismatch : missing_gradients(record_, into_.worlds))
    into_.found.push_back(std::move(mismatch));
}

// Branches on the rank, and the ways out in them.
void Comparer::note_branches() {
  constexpr std::uint64_t about_rank = 1u << 8, about_exit = 2u << 8;  // as other than Runs tell them
  KnownPlaces& known = into_.worlds.known();
  visit_kind(record_, EventKind::branch, [&](const Event& event) {
    const auto& branch = static_cast<const BranchEvent&>(event);
    if (!depends_on_rank(record_.symbols, branch.condition)) return;
    if (about_ranks_.insert({event.place.chunk, event.place.span.begin}).second)
      known.add(event.place, about_rank);
    for (const Block* side : {&branch.yes, &branch.no})
      for (const Event* inner : side->events)
        if (inner->kind == EventKind::exit &&
            about_exits_.insert({inner->place.chunk, inner->place.span.begin}).second)
          known.add(inner->place, about_exit);
  });
}

// Only of functions: what the program itself sends its ranks tell each other while they are compared.
bool Comparer::stands(const Root& root) {
  const ComparedBefore::Outcome* const kept = before_ && root.function ? before_->find(root) : nullptr;
  if (!kept || rests_on(root) != kept->rests_on ||
      (kept->highest_named && *kept->highest_named != highest_named()))
    return false;
  for (const auto& [world, rests_on] : kept->worlds)
    if (into_.worlds.rests_on(root, world, *before_) != rests_on) return false;
  if (kept->wholly) into_.compared_roots.insert(&root);
  std::set<int> worlds;
  for (const auto& [world, rests_on] : kept->worlds) worlds.insert(world);
  before_->keep_worlds(root.name, std::move(worlds));
  before_->keep(root, *kept);
  return true;
}

void Comparer::keep(const Root& root) {
  if (!before_ || !root.function) return;
  const auto own = rests_on(root);
  if (!own) return;
  ComparedBefore::Outcome outcome{*own, {}, highest_named_, into_.compared_roots.contains(&root)};
  for (const int world : asked_worlds_) {
    const auto of_ranks = into_.worlds.rests_on(root, world, *before_);
    if (!of_ranks) return;
    outcome.worlds.emplace_back(world, *of_ranks);
  }
  before_->keep(root, std::move(outcome));
}

std::optional<std::uint64_t> Comparer::rests_on(const Root& root) {
  const auto places = before_->rests_on(root, record_, into_.worlds.known());
  if (!places) return std::nullopt;
  return KnownPlaces::mixed(*places, static_cast<std::uint64_t>(size_of_job(record_, root)));
}

void Comparer::compare(const Root& root) {
  const std::size_t before = into_.found.size();
  look_at(root);
  const bool open = got_past_ || !all_reached(root);
  // Functions that nobody calls may be called under any conditions.
  for (const Assumption assumed :
      {Assumption::rank, Assumption::gradients, Assumption::defaults, Assumption::numbers}) {
    if (into_.found.size() > before || root.function) break;
    if (assumed == Assumption::rank            ? question_for_rank().empty()
            : assumed == Assumption::gradients ? !into_.worlds.any_about_gradients()
            : assumed == Assumption::defaults  ? !has_defaults()
                                               : !record_.symbols.any_usual() || !sends_or_groups(root))
      continue;
    assumed_ = assumed;
    look_at(root);
    assumed_ = Assumption::nothing;
  }
  if (into_.found.size() == before && (open || too_many_ || presumes_)) {
    assumed_ = Assumption::agreement;
    only_few_ = root.truncated || !(open || presumes_);
    look_at(root);
    assumed_ = Assumption::nothing;
  }
  if (into_.found.size() == before) tell_conditional();
  if (into_.found.size() == before && !into_.compared_roots.contains(&root))
    for (Mismatch& mismatch : standing_out(
             record_, root, [&](Place place) { return reached_.contains({place.chunk, place.span.begin}); }))
      into_.found.push_back(std::move(mismatch));
}

void Comparer::note(const Root& root, const std::string& what) {
  constexpr std::size_t most = 200;  // notes for people who ask why: more is not read
  if (into_.notes.size() >= most) return;
  const std::string given = assumed_ == Assumption::nothing                 ? ""
      : assumed_ == Assumption::gradients                                   ? "given equal gradients, "
      : assumed_ == Assumption::defaults || assumed_ == Assumption::numbers ? "given the defaults, "
      : assumed_ == Assumption::rank                                        ? "given a rank, "
                                                                            : "given agreement, ";
  std::pair made{&root, given + what};
  if (std::ranges::find(into_.notes, made) == into_.notes.end()) into_.notes.push_back(std::move(made));
}

std::uint32_t Comparer::line_of(Place place) const {
  return place
      ? record_.chunk(place).module->text->position(record_.span(place).begin, syntax::Encoding::utf8).line +
          1
      : 0;
}

void Comparer::look_at(const Root& root) {
  root_ = &root;
  begin(root);
  const std::vector<int> sizes = sizes_to_ask(root);
  if (sizes.empty()) {
    into_.compared_roots.insert(&root);  // there is nobody to wait for
    return;
  }
  Found found;
  if (!explore(root, sizes, found)) return;
  if (!found.complete) {
    if (assumed_ == Assumption::nothing) tell_of_few(found);
    return;
  }
  const bool cut_off = is_cut_off(root);
  // That nobody waits for a request holds whichever tensors have gradients.
  if (!cut_off && (assumed_ == Assumption::nothing || assumed_ == Assumption::gradients))
    for (Mismatch& mismatch : requests_.never_waited(record_, into_.worlds, !root.function))
      if (!root.function || is_dropped(record_, mismatch.place)) into_.found.push_back(std::move(mismatch));
  if (assumed_ != Assumption::nothing) return report_assumed(found);
  if (!cut_off) into_.compared_roots.insert(&root);
  const std::size_t before = into_.found.size();
  for (const Found::Key& key : found.order) tell(root, found, key, sizes.size() > 1);
  for (auto& [site, mismatch] : slow_) into_.found.push_back(std::move(mismatch));
  // What only some ranks enter makes what only they have, too: it is told once.
  if (into_.found.size() == before)
    into_.found.insert(into_.found.end(), undefined_.begin(), undefined_.end());
}

void Comparer::begin(const Root& root) {
  fine_.clear();
  fine_in_.clear();
  reached_.clear();
  of_function_ = root.function != nullptr;
  undefined_.clear();
  requests_ = {};
  slow_.clear();
  left_.clear();
  doubtful_.clear();
  got_past_ = too_many_ = false;
  conditions_.clear();
  if (assumed_ == Assumption::nothing) {
    conditional_.clear();
    presumes_ = false;
  }
  impossible_ = only_fails_ = true;
  by_gradients_ = false;
  defaults_.clear();
}

// Of jobs, smallest first; none where the job has one rank.
std::vector<int> Comparer::sizes_to_ask(const Root& root) const {
  const int fixed = size_of_job(record_, root);
  if (fixed == 1) return {};
  if (fixed >= 2 && fixed <= largest_job) return {fixed};
  if (assumed_ == Assumption::agreement) return {2, 3};
  return {2, 3, 4, 8, 16};
}

// Follows the ways of jobs of those sizes. False: an agreement that is asked for is found nowhere.
bool Comparer::explore(const Root& root, const std::vector<int>& sizes, Found& found) {
  constexpr std::size_t most_ways[] = {
      512, 128, 8};  // of the smallest job, of those up to four ranks, of larger ones
  for (const int world : sizes) {
    // Larger worlds are asked only where the program names ranks that smaller ones have not.
    const bool too_small = impossible_ || (only_fails_ && world == most_ranks_asked_for);
    if (world > 4 && world != sizes.front() && (!too_small || assumed_ == Assumption::numbers)) break;
    std::vector<Mismatch> here;
    world_ = world;
    asked_worlds_.insert(world);
    const std::size_t ways = most_ways[world == sizes.front() ? 0 : world <= 4 ? 1 : 2];
    const bool done = worlds_asked().explore(
        root, world, ways, [&](const JobRun& run) { follow(run, here); },
        assumed_ == Assumption::nothing ? Assumption::balance : assumed_);
    // Of too many runs only what no other run takes back is told.
    if (!done)
      note(root,
          "with " + std::to_string(world) +
              " ranks there are too many ways, or the run of a rank is broken off or lacks the root.");
    if (!done)
      std::erase_if(here,
          [](const Mismatch& mismatch) { return mismatch.cause != Cause::local && !mismatch.by_surprise; });
    // Is anything left that more ranks could tell?
    if (done && world == 2 && here.empty() && undefined_.empty() && all_reached(root) &&
        highest_named() < 2 && !sends_or_groups(root))
      break;
    if (assumed_ == Assumption::agreement && here.empty()) return false;
    for (const Mismatch& mismatch : here) found.add(mismatch);
    if (!done) {
      too_many_ = true;
      found.complete = world > sizes.front();
      break;
    }
    ++found.explored;
    if (is_cut_off(root)) break;  // larger jobs come no further
  }
  return true;
}

namespace {

// Does it wait for a rank that no job of this size has?
bool never_is_there(const Mismatch& mismatch) {
  const auto* wait = mismatch.as<MessageWait>();
  return wait && wait->nowhere;
}

}  // namespace

void Comparer::Found::add(const Mismatch& mismatch) {
  const Key key{static_cast<int>(mismatch.cause), mismatch.key};
  worlds[key].insert(mismatch.world);
  smallest.try_emplace(key, mismatch);
  made_for[key].insert(mismatch.made_for);
  const auto [it, fresh] = by_key.try_emplace(key, mismatch);
  if (fresh) order.push_back(key);
  // What is wrong in the smaller job may be made for that.
  else if (it->second.world < mismatch.world && !never_is_there(mismatch) &&
      !(mismatch.cause == Cause::handler && mismatch.by_surprise) && mismatch.cause != Cause::local)
    it->second = mismatch;
}

// Not even the smallest job was followed on all its ways.
void Comparer::tell_of_few(const Found& found) {
  for (const Found::Key& key : found.order) into_.found.push_back(found.by_key.at(key));
  for (const auto& [site, left] : left_)
    if (!found.by_key.contains({static_cast<int>(left.cause), site})) into_.found.push_back(left);
}

void Comparer::tell(const Root& root, Found& found, const Found::Key& key, bool of_several_sizes) {
  const std::set<int>& worlds = found.worlds[key];
  // Numbers of iterations that differ in jobs of every size are told of ranks that each of them has.
  if (key.first == static_cast<int>(Cause::iterations) && !fine_.contains(key.second) &&
      static_cast<int>(worlds.size()) == found.explored)
    found.by_key.at(key) = found.smallest.at(key);
  if (differs_with_two_ranks(found.smallest.at(key))) found.by_key.at(key) = found.smallest.at(key);
  Mismatch& mismatch = found.by_key.at(key);
  if (is_told_by_handler(found, mismatch) || is_told_of_group(found, mismatch)) return;
  // The same in jobs of all sizes: it is made for another.
  if (mismatch.made_for && of_several_sizes && found.made_for[key].size() == 1 &&
      (worlds.size() > 1 || found.explored < 2))
    return;
  if (is_right_with_two_ranks_only(mismatch, worlds) || fails_where_it_counts(mismatch, worlds)) {
    mismatch.certain = false;
    mismatch.jobs = "With " + std::to_string(mismatch.world) + " ranks: ";
    into_.found.push_back(mismatch);
    return;
  }
  const auto* parting = mismatch.as<Parting>();
  if (mismatch.cause == Cause::local || mismatch.by_surprise || !fine_.contains(mismatch.key) ||
      (mismatch.cause == Cause::exit && parting && parting->waits_at && !fine_.contains(parting->waits_at))) {
    if (doubtful_.contains(mismatch.key) && mismatch.cause != Cause::local && mismatch.certain) {
      mismatch.certain = false;
      mismatch.supposed = true;
      mismatch.jobs = "As far as is seen: ";
    }
    into_.found.push_back(mismatch);
    if (root.function) of_functions_.push_back({into_.found.size() - 1, &root});
    return;
  }
  if (const auto left = left_.find(mismatch.key); mismatch.cause == Cause::exit && left != left_.end()) {
    into_.found.push_back(left->second);
    return;
  }
  got_past_ = true;
  note(root,
      "some run gets past what is wrong at line " + std::to_string(line_of(mismatch.place)) +
          " in another: " + mismatch.text);
  if (!mismatch.certain || !mismatch.jobs.empty()) return;
  mismatch.jobs = conditions_.of(record_, into_.worlds, mismatch.key);
  if (!mismatch.jobs.empty()) conditional_.push_back(mismatch);
}

// A message that is right with two ranks, and with more never is.
bool Comparer::is_right_with_two_ranks_only(const Mismatch& mismatch, const std::set<int>& worlds) {
  if (mismatch.cause != Cause::message || never_is_there(mismatch) || !fine_in_[2].contains(mismatch.key) ||
      fine_in_[3].contains(mismatch.key))
    return false;
  return mismatch.world == 3 ||
      (worlds.contains(3) && !fine_in_[4].contains(mismatch.key) && counts_ranks(record_, mismatch.place));
}

void Comparer::report_assumed(Found& found) {
  if (assumed_ == Assumption::numbers) defaults_ = worlds_asked().of(0, 2).by_defaults;
  if (assumed_ != Assumption::agreement && assumed_ != Assumption::rank &&
      (assumed_ == Assumption::gradients ? !by_gradients_ : defaults_.empty()))
    return;
  constexpr std::size_t most_told = 3;  // conditions that one message names
  for (const auto& key : found.order) {
    Mismatch& mismatch = found.by_key.at(key);
    const bool of_messages = mismatch.cause == Cause::making_groups || mismatch.cause == Cause::message ||
        mismatch.cause == Cause::other_group;
    if (mismatch.cause != Cause::guard && mismatch.cause != Cause::exit && mismatch.cause != Cause::order &&
        mismatch.cause != Cause::iterations && !(of_messages && assumed_ == Assumption::numbers))
      continue;
    const bool of_large_jobs = assumed_ == Assumption::numbers &&
        fails_where_it_counts(mismatch, found.worlds[key]);
    if (fine_.contains(mismatch.key) && !of_large_jobs) continue;
    // Who enters alone enters in another order, too.
    const bool told_of_guard = mismatch.cause == Cause::order &&
        std::any_of(found.by_key.begin(), found.by_key.end(), [&](const auto& each) {
          return each.second.cause == Cause::guard && each.second.place == mismatch.place &&
              !fine_.contains(each.second.key);
        });
    if (told_of_guard) continue;
    // A default may be made for a job of another size.
    if (assumed_ == Assumption::numbers && !found.worlds[key].contains(4)) continue;
    if (assumed_ == Assumption::agreement && (mismatch.jobs.empty() || mismatch.severity)) continue;
    mismatch.certain = false;
    mismatch.supposed = true;
    if (assumed_ == Assumption::agreement) {
      into_.found.push_back(mismatch);
      continue;
    }
    if (assumed_ == Assumption::rank)
      mismatch.jobs = "When `" + question_for_rank() + "`";
    else if (assumed_ == Assumption::gradients)
      mismatch.jobs = "When all ranks have the same gradients";
    else {
      mismatch.jobs = defaults_.size() == 1 ? "With the default" : "With the defaults";
      if (defaults_.size() <= most_told)
        for (auto it = defaults_.begin(); it != defaults_.end(); ++it)
          mismatch.jobs += (it == defaults_.begin() ? " " : ", ") +
              (it->first.empty() ? std::to_string(it->second)
                                 : values::code(it->first + " = " + std::to_string(it->second)));
      if (of_large_jobs) mismatch.jobs += " and " + std::to_string(mismatch.world) + " ranks";
    }
    mismatch.jobs += ": ";
    into_.found.push_back(mismatch);
  }
}

void Comparer::tell_conditional() {
  for (Mismatch& mismatch : conditional_) {
    if (mismatch.cause != Cause::guard && mismatch.cause != Cause::exit && mismatch.cause != Cause::order &&
        mismatch.cause != Cause::iterations && mismatch.cause != Cause::message &&
        mismatch.cause != Cause::root)
      continue;
    mismatch.certain = false;
    mismatch.supposed = true;
    // What would mend it under these answers is wrong under the others.
    mismatch.event = nullptr;
    if (mismatch.as<GuardedEntry>()) mismatch.detail = {};
    into_.found.push_back(std::move(mismatch));
  }
}

JobExplorer& Comparer::worlds_asked() {
  if (assumed_ != Assumption::numbers) return into_.worlds;
  if (!into_.by_defaults) into_.by_defaults = std::make_unique<JobExplorer>(record_, into_.run, true);
  return *into_.by_defaults;
}

std::string Comparer::question_for_rank() {
  const Record& own = into_.worlds.of(0, 2);
  const auto questions = questions_for_rank(own);
  return questions.empty() ? std::string() : own.symbols.text(questions.front());
}

bool Comparer::has_defaults() const {
  bool any = false;
  visit_kind(record_, EventKind::branch, [&](const Event& event) {
    if (any) return;
    record_.symbols.parts(
        static_cast<const BranchEvent&>(event).condition,
        [&](values::Int atom) {
          const auto* info = record_.symbols.atom_info(atom);
          any = any ||
              (info && info->usual && info->role == symbolic::Role::none &&
                  !info->name.starts_with(interpreter::if_so));
        },
        [](values::Cond) {});
  });
  return any;
}

// Numbers of iterations that differ with two ranks on every way, and with more on none: nine samples in
// batches of four.
bool Comparer::differs_with_two_ranks(const Mismatch& mismatch) {
  return mismatch.cause == Cause::iterations && mismatch.world == 2 && !mismatch.by_surprise &&
      !fine_in_[2].contains(mismatch.key) && fine_in_[4].contains(mismatch.key) && highest_named() < 2;
}

bool Comparer::fails_where_it_counts(const Mismatch& mismatch, const std::set<int>& worlds) {
  if (mismatch.by_surprise || !fine_.contains(mismatch.key)) return false;
  const auto never_fine = [&](int world) {
    return worlds.contains(world) && !fine_in_[world].contains(mismatch.key);
  };
  const bool of_four_ranks = mismatch.world == 4 && never_fine(4);
  const auto* parting = mismatch.as<Parting>();
  const bool of_numbers = mismatch.cause == Cause::iterations ||
      ((mismatch.cause == Cause::guard || mismatch.cause == Cause::handler ||
           (parting && parting->exit == ExitKind::continue_)) &&
          highest_named() < 2);
  if (of_numbers && of_four_ranks && never_fine(2)) return true;
  if (differs_with_two_ranks(mismatch)) return true;
  if (mismatch.counts_the_job && of_four_ranks && never_fine(3)) return true;
  // Where two ranks are one group, only four show what becomes of several.
  if ((mismatch.cause == Cause::making_groups || mismatch.cause == Cause::root) && of_four_ranks) return true;
  if (mismatch.cause != Cause::iterations && mismatch.cause != Cause::handler &&
      mismatch.cause != Cause::exit && mismatch.cause != Cause::guard && mismatch.cause != Cause::other_group)
    return false;
  const int named = highest_named();
  if (named < 2 || named >= 4 || mismatch.world != 4) return false;
  for (int world = named + 1; world <= 4; ++world)
    if (!never_fine(world)) return false;
  return true;
}

int Comparer::highest_named() {
  if (!highest_named_) highest_named_ = highest_named_rank(record_);
  return *highest_named_;
}

bool Comparer::is_told_by_handler(const Found& found, const Mismatch& mismatch) {
  return mismatch.cause == Cause::order &&
      std::any_of(found.by_key.begin(), found.by_key.end(), [&](const auto& each) {
        return each.second.cause == Cause::handler && each.second.place == mismatch.place;
      });
}

bool Comparer::is_told_of_group(const Found& found, const Mismatch& mismatch) {
  return mismatch.cause == Cause::guard &&
      std::any_of(found.by_key.begin(), found.by_key.end(), [&](const auto& each) {
        return each.second.cause == Cause::other_group && each.second.place == mismatch.place;
      });
}

bool Comparer::sends_or_groups(const Root& root) {
  bool any = false;
  visit(root.block, [&](const Event& event) {
    if (event.kind != EventKind::operation) return;
    const auto& row = *static_cast<const OperationEvent&>(event).row;
    any = any || row.operation == values::Operation::message ||
        (row.collective && row.collective->makes_group);
  });
  return any;
}

bool Comparer::all_reached(const Root& root) const {
  bool all = true;
  visit(root.block, [&](const Event& event) {
    if (event.kind == EventKind::exit && static_cast<const ExitEvent&>(event).exit != ExitKind::raise &&
        about_exits_.contains({event.place.chunk, event.place.span.begin}))
      all = all && reached_.contains({event.place.chunk, event.place.span.begin});
    if (event.kind == EventKind::operation &&
        static_cast<const OperationEvent&>(event).row->operation != values::Operation::await &&
        communicates(static_cast<const OperationEvent&>(event)))
      all = all && reached_.contains({event.place.chunk, event.place.span.begin});
  });
  return all;
}

void Comparer::pair_up() {
  std::set<std::size_t> dropped;
  for (const auto& [i, one] : of_functions_)
    for (const auto& [j, another] : of_functions_) {
      const Mismatch &a = into_.found[i], &b = into_.found[j];
      if (one == another || a.name != b.name || a.world != b.world) continue;
      const auto entering = [](const Mismatch& mismatch) {
        if (mismatch.cause == Cause::guard) return mismatch.ranks;
        std::vector<int> others;
        for (int rank = 0; rank < mismatch.world && mismatch.cause == Cause::exit; ++rank)
          if (std::find(mismatch.ranks.begin(), mismatch.ranks.end(), rank) == mismatch.ranks.end())
            others.push_back(rank);
        return others;
      };
      std::vector<int> both = entering(a);
      const std::vector<int> more = entering(b);
      if (both.empty() || more.empty()) continue;
      both.insert(both.end(), more.begin(), more.end());
      std::sort(both.begin(), both.end());
      if (both.size() == static_cast<std::size_t>(a.world) &&
          std::adjacent_find(both.begin(), both.end()) == both.end())
        dropped.insert(i);
    }
  for (auto it = dropped.rbegin(); it != dropped.rend(); ++it)
    into_.found.erase(into_.found.begin() + static_cast<std::ptrdiff_t>(*it));
}

}  // namespace stepzero::rules
