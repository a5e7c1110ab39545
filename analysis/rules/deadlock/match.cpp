#include "rules/deadlock/acts.hpp"
#include "rules/deadlock/agreed_words.hpp"
#include "rules/deadlock/agreement.hpp"
#include "rules/deadlock/balance.hpp"
#include "rules/deadlock/causes.hpp"
#include "rules/deadlock/conditions.hpp"
#include "rules/deadlock/granted.hpp"
#include "rules/deadlock/job_size.hpp"
#include "rules/deadlock/missing_gradients.hpp"
#include "rules/deadlock/point_to_point.hpp"
#include "rules/deadlock/requests.hpp"
#include "rules/deadlock/rounds.hpp"
#include "rules/deadlock/slow_work.hpp"
#include "rules/noted.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;

namespace {

bool communicates(const Root& root) {
  bool any = false;
  visit(root.block, [&](const Event& event) {
    any = any || (event.kind == EventKind::operation && Acts::communicates(static_cast<const OperationEvent&>(event)));
  });
  return any;
}

// Is there anything in which ranks that run the same may differ?
bool decides_by_own_data(const Record& record) {
  bool any = false;
  for (const auto& root : record.roots)
    visit(root->block, [&](const Event& event) {
      if (event.kind == EventKind::branch) {
        const auto condition = static_cast<const BranchEvent&>(event).condition;
        any = any || (record.symbols.sharing(condition) == symbolic::Sharing::local && !record.external.contains(condition));
      } else if (event.kind == EventKind::loop) {
        const auto& loop = static_cast<const LoopEvent&>(event);
        any = any || loop.any_order || (!loop.unrolled && loop.trips == symbolic::Sharing::local);
      } else if (event.kind == EventKind::attempt) {
        any = any || static_cast<const AttemptEvent&>(event).exhausted >= 0;
      } else if (event.kind == EventKind::operation) {
        // A group has ranks outside it.
        const auto* info = static_cast<const OperationEvent&>(event).row->collective;
        any = any || (info && info->makes_group);
      }
    });
  return any;
}

// Is there communication that is to be waited for?
bool starts_requests(const Record& record) {
  bool any = false;
  visit_roots(record, [&](const Event& event) {
    if (event.kind != EventKind::operation) return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    any = any || (operation.row->message && operation.row->message->starts) || (operation.row->collective && operation.row->collective->async >= 0 && operation.result.is(values::Kind::instance));
  });
  return any;
}

constexpr int most_ranks_asked_for = 8;  // where a program names none
constexpr int largest_job = 16;          // that a program gives the size of; larger ones are compared as any

// "When `strategy == 'fsdp'`: ", of a call whose object is one of several, by a condition that nobody decides; empty for others.
std::string if_it_is_chosen(const symbolic::Context& symbols, const Trace& trace, const Act& act) {
  for (auto turn = act.turns.rbegin(); turn != act.turns.rend(); ++turn) {
    const Decision& decision = trace.decisions[*turn];
    if (!decision.branch || decision.branch->stmt || !(decision.place == act.place) || !act.event || !decision.open) continue;
    const std::string condition = symbols.text(decision.branch->condition);
    if (condition.empty() || symbols.form(decision.branch->condition) == symbolic::Context::Form::constant) continue;
    return "When `" + (decision.yes ? condition : "not (" + condition + ")") + "`: ";
  }
  return {};
}

class Comparer {
public:
  Comparer(const Record& record, Comparison& into) : record_(record), into_(into) {}

  void run() {
    for (const auto& root : record_.roots)
      if (const int size = communicates(*root) ? size_of_job(record_, *root) : 0; size >= 2)
        for (Mismatch& mismatch : ranks_beyond(record_, *root, size)) into_.found.push_back(std::move(mismatch));
    if (!record_.as_rank || !may_part(record_)) return;
    for (Mismatch& mismatch : dropped_requests(record_)) into_.found.push_back(std::move(mismatch));
    for (const auto& root : record_.roots)
      visit(root->block, [&](const Event& event) {
        if (event.kind != EventKind::branch || !depends_on_rank(record_.symbols, static_cast<const BranchEvent&>(event).condition)) return;
        about_ranks_.insert({event.place.chunk, event.place.span.begin});
        for (const Block* side : {&static_cast<const BranchEvent&>(event).yes, &static_cast<const BranchEvent&>(event).no})
          for (const Event* inner : side->events)
            if (inner->kind == EventKind::exit) about_exits_.insert({inner->place.chunk, inner->place.span.begin});
      });
    for (const auto& root : record_.roots)
      if (communicates(*root)) {
        const std::size_t before = into_.found.size();
        look_at(*root);
        const bool open = got_past_ || !all_reached(*root);
        // Functions that nobody calls may be called under any conditions.
        for (const Granted granted : {granted_rank, Granted::gradients, Granted::defaults, Granted::numbers}) {
          if (into_.found.size() > before || root->function) break;
          if (granted == granted_rank ? question_for_rank().empty() : granted == Granted::gradients ? !into_.worlds->any_about_gradients() : granted == Granted::defaults ? !has_defaults() : !record_.symbols.any_usual() || !sends_or_groups(*root)) continue;
          granted_ = granted;
          look_at(*root);
          granted_ = Granted::nothing;
        }
        if (into_.found.size() == before && (open || too_many_)) {
          granted_ = granted_agreement;
          only_few_ = root->truncated || !open;
          look_at(*root);
          granted_ = Granted::nothing;
        }
        if (into_.found.size() == before) tell_conditional();
      }
    pair_up();
    for (Mismatch& mismatch : missing_gradients(record_, *into_.worlds)) into_.found.push_back(std::move(mismatch));
  }

private:
  void look_at(const Root& root) {
    std::map<std::pair<int, int>, Mismatch> found;  // by cause and key
    std::map<std::pair<int, int>, std::set<int>> worlds;
    std::map<std::pair<int, int>, std::set<std::optional<std::int64_t>>> made_for;
    std::vector<std::pair<int, int>> order;
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
    if (granted_ == Granted::nothing) conditional_.clear();
    bool complete = true;
    int explored = 0;
    impossible_ = only_fails_ = true;
    by_gradients_ = false;
    defaults_.clear();
    std::vector<int> sizes{2, 3, 4, 8, 16};
    if (granted_ == granted_agreement) sizes = {2, 3};
    const int fixed = size_of_job(record_, root);
    if (fixed >= 2 && fixed <= largest_job) sizes = {fixed};
    if (fixed == 1) {
      into_.settled.insert(&root);  // there is nobody to wait for
      return;
    }
    for (const int world : sizes) {
      // Larger worlds are asked only where the program names ranks that smaller ones have not.
      const bool too_small = impossible_ || (only_fails_ && world == most_ranks_asked_for);
      if (world > 4 && world != sizes.front() && (!too_small || granted_ == Granted::numbers)) break;
      std::vector<Mismatch> here;
      world_ = world;
      const bool done = worlds_asked().explore(root, world, world == sizes.front() ? 512 : world <= 4 ? 128 : 8, [&](const World& run) { follow(run, here); }, granted_ == Granted::nothing ? granted_balance : granted_);
      // Of too many runs only what no other run takes back is told.
      if (!done) std::erase_if(here, [](const Mismatch& mismatch) { return mismatch.cause != Cause::local && !mismatch.by_surprise; });
      // Is anything left that more ranks could tell?
      if (done && world == 2 && here.empty() && undefined_.empty() && all_reached(root) && highest_named() < 2 && !sends_or_groups(root)) break;
      if (granted_ == granted_agreement && here.empty()) return;
      for (Mismatch& mismatch : here) {
        const std::pair<int, int> key{static_cast<int>(mismatch.cause), mismatch.key};
        worlds[key].insert(mismatch.world);
        made_for[key].insert(mismatch.made_for);
        const auto [it, fresh] = found.try_emplace(key, mismatch);
        if (fresh) order.push_back(key);
        else if (it->second.world < mismatch.world && !mismatch.nowhere && !(mismatch.cause == Cause::handler && mismatch.by_surprise) && mismatch.cause != Cause::local) it->second = mismatch;  // what is wrong in the smaller job may be made for that
      }
      if (!done) {
        too_many_ = true;
        complete = world > sizes.front();
        break;
      }
      ++explored;
      if (is_cut_off(root)) break;  // larger jobs come no further
    }
    if (!complete && granted_ != Granted::nothing) return;
    if (!complete) {
      for (const auto& key : order) into_.found.push_back(found.at(key));
      for (const auto& [site, left] : left_)
        if (!found.contains({static_cast<int>(left.cause), site})) into_.found.push_back(left);
      return;
    }
    const bool cut_off = is_cut_off(root);
    // That nobody waits for a request holds whichever tensors have gradients.
    if (!cut_off && (granted_ == Granted::nothing || granted_ == Granted::gradients))
      for (Mismatch& mismatch : requests_.never_waited(*into_.worlds, !root.function))
        if (!root.function || is_dropped(record_, mismatch.place)) into_.found.push_back(std::move(mismatch));
    if (granted_ != Granted::nothing) {
      tell_granted(found, order, worlds);
      return;
    }
    if (!cut_off) into_.settled.insert(&root);
    const std::size_t before = into_.found.size();
    for (const auto& key : order)
      if (Mismatch& mismatch = found.at(key); is_told_by_handler(found, mismatch) || is_told_of_group(found, mismatch)) {
        continue;
      } else if (mismatch.made_for && sizes.size() > 1 && made_for[key].size() == 1 && (worlds[key].size() > 1 || explored < 2)) {
        continue;  // the same in jobs of all sizes: it is made for another
      } else if (mismatch.cause == Cause::message && !mismatch.nowhere && fine_in_[2].contains(mismatch.key) && !fine_in_[3].contains(mismatch.key) &&
                 (mismatch.world == 3 || (worlds[key].contains(3) && !fine_in_[4].contains(mismatch.key) && counts_ranks(record_, mismatch.place)))) {
        // With two ranks it is right, and with more it never is.
        mismatch.certain = false;
        mismatch.jobs = "With " + std::to_string(mismatch.world) + " ranks: ";
        into_.found.push_back(mismatch);
      } else if (fails_where_it_counts(mismatch, worlds[key])) {
        mismatch.certain = false;
        mismatch.jobs = "With " + std::to_string(mismatch.world) + " ranks: ";
        into_.found.push_back(mismatch);
      } else if (mismatch.cause == Cause::local || mismatch.by_surprise || !fine_.contains(mismatch.key) || (mismatch.cause == Cause::exit && mismatch.waits_at && !fine_.contains(mismatch.waits_at))) {
        if (doubtful_.contains(mismatch.key) && mismatch.cause != Cause::local && mismatch.certain) {
          mismatch.certain = false;
          mismatch.supposed = true;
          mismatch.jobs = "As far as is seen: ";
        }
        into_.found.push_back(mismatch);
        if (root.function) of_functions_.push_back({into_.found.size() - 1, &root});
      } else if (const auto left = left_.find(mismatch.key); mismatch.cause == Cause::exit && left != left_.end()) {
        into_.found.push_back(left->second);
      } else {
        got_past_ = true;
        if (!mismatch.certain || !mismatch.jobs.empty()) continue;
        mismatch.jobs = conditions_.of(record_, *into_.worlds, mismatch.key);
        if (!mismatch.jobs.empty()) conditional_.push_back(mismatch);
      }
    for (auto& [key, mismatch] : slow_) into_.found.push_back(std::move(mismatch));
    // What only some ranks enter makes what only they have, too: it is told once.
    if (into_.found.size() == before) into_.found.insert(into_.found.end(), undefined_.begin(), undefined_.end());
  }

  // What is so where something is taken for granted: that is said.
  void tell_granted(std::map<std::pair<int, int>, Mismatch>& found, const std::vector<std::pair<int, int>>& order, std::map<std::pair<int, int>, std::set<int>>& worlds) {
    if (granted_ == Granted::numbers) defaults_ = worlds_asked().of(0, 2).by_defaults;
    if (granted_ != granted_agreement && granted_ != granted_rank && (granted_ == Granted::gradients ? !by_gradients_ : defaults_.empty())) return;
    constexpr std::size_t most_told = 3;
    for (const auto& key : order) {
      Mismatch& mismatch = found.at(key);
      const bool of_messages = mismatch.cause == Cause::making_groups || mismatch.cause == Cause::message || mismatch.cause == Cause::other_group;
      if (mismatch.cause != Cause::guard && mismatch.cause != Cause::exit && mismatch.cause != Cause::order && mismatch.cause != Cause::rounds && !(of_messages && granted_ == Granted::numbers)) continue;
      const bool of_large_jobs = granted_ == Granted::numbers && fails_where_it_counts(mismatch, worlds[key]);
      if (fine_.contains(mismatch.key) && !of_large_jobs) continue;
      // A default may be made for a job of another size.
      if (granted_ == Granted::numbers && !worlds[key].contains(4)) continue;
      if (granted_ == granted_agreement && (mismatch.jobs.empty() || mismatch.severity)) continue;
      mismatch.certain = false;
      mismatch.supposed = true;
      if (granted_ == granted_agreement) {
        into_.found.push_back(mismatch);
        continue;
      }
      if (granted_ == granted_rank) mismatch.jobs = "When `" + question_for_rank() + "`";
      else if (granted_ == Granted::gradients) mismatch.jobs = "Where all ranks have the same gradients";
      else {
        mismatch.jobs = defaults_.size() == 1 ? "With the default" : "With the defaults";
        if (defaults_.size() <= most_told)
          for (auto it = defaults_.begin(); it != defaults_.end(); ++it) mismatch.jobs += (it == defaults_.begin() ? " " : ", ") + (it->first.empty() ? "" : it->first + " = ") + std::to_string(it->second);
        if (of_large_jobs) mismatch.jobs += " and " + std::to_string(mismatch.world) + " ranks";
      }
      mismatch.jobs += ": ";
      into_.found.push_back(mismatch);
    }
  }

  // What goes wrong under some answers alone: these are said.
  void tell_conditional() {
    for (Mismatch& mismatch : conditional_) {
      if (mismatch.cause != Cause::guard && mismatch.cause != Cause::exit && mismatch.cause != Cause::order && mismatch.cause != Cause::rounds && mismatch.cause != Cause::message && mismatch.cause != Cause::root) continue;
      mismatch.certain = false;
      mismatch.supposed = true;
      // What would mend it under these answers is wrong under the others.
      mismatch.event = nullptr;
      mismatch.guard = nullptr;
      into_.found.push_back(std::move(mismatch));
    }
  }

  // The runs that are compared. Those in which defaults are numbers from the start are made where they are asked for.
  Worlds& worlds_asked() {
    if (granted_ != Granted::numbers) return *into_.worlds;
    if (!into_.by_defaults) into_.by_defaults = std::make_unique<Worlds>(record_, true);
    return *into_.by_defaults;
  }

  // `args.local_rank != -1`; empty: no run of a rank asks whether it was told its rank.
  std::string question_for_rank() {
    const Record& own = into_.worlds->of(0, 2);
    const auto questions = questions_for_rank(own);
    return questions.empty() ? std::string() : own.symbols.text(questions.front());
  }

  // Is anything asked for that has a default?
  bool has_defaults() const {
    bool any = false;
    visit_roots(record_, [&](const Event& event) {
      if (any || event.kind != EventKind::branch) return;
      record_.symbols.parts(
          static_cast<const BranchEvent&>(event).condition,
          [&](values::Int atom) {
            const auto* info = record_.symbols.atom_info(atom);
            any = any || (info && info->usual && info->role == symbolic::Role::none);
          },
          [](values::Cond) {});
    });
    return any;
  }

  // Some world gets past, but none of those that count: a program that names rank 2 is not made for two ranks, and one that fits three
  // by its numbers is hardly meant for three where neither two nor four do.
  bool fails_where_it_counts(const Mismatch& mismatch, const std::set<int>& worlds) {
    if (mismatch.by_surprise || !fine_.contains(mismatch.key)) return false;
    const auto never_fine = [&](int world) { return worlds.contains(world) && !fine_in_[world].contains(mismatch.key); };
    const bool of_four_ranks = mismatch.world == 4 && never_fine(4);
    const bool of_numbers = mismatch.cause == Cause::rounds || ((mismatch.cause == Cause::guard || mismatch.exit == ExitKind::continue_) && highest_named() < 2);
    if (of_numbers && of_four_ranks && never_fine(2)) return true;
    // Where two ranks are one group, only four show what becomes of several.
    if ((mismatch.cause == Cause::making_groups || mismatch.cause == Cause::root) && of_four_ranks) return true;
    if (mismatch.cause != Cause::rounds && mismatch.cause != Cause::handler && mismatch.cause != Cause::exit && mismatch.cause != Cause::guard && mismatch.cause != Cause::other_group) return false;
    const int named = highest_named();
    if (named < 2 || named >= 4 || mismatch.world != 4) return false;
    for (int world = named + 1; world <= 4; ++world)
      if (!never_fine(world)) return false;
    return true;
  }

  // Found out once.
  int highest_named() {
    if (!highest_named_) highest_named_ = highest_named_rank(record_);
    return *highest_named_;
  }

  // What only an exception leads to is told as that.
  static bool is_told_by_handler(const std::map<std::pair<int, int>, Mismatch>& found, const Mismatch& mismatch) {
    return mismatch.cause == Cause::order &&
           std::any_of(found.begin(), found.end(), [&](const auto& each) { return each.second.cause == Cause::handler && each.second.place == mismatch.place; });
  }

  // Where a job is so small that each group has one member left in it, larger ones tell what is meant.
  static bool is_told_of_group(const std::map<std::pair<int, int>, Mismatch>& found, const Mismatch& mismatch) {
    return mismatch.cause == Cause::guard &&
           std::any_of(found.begin(), found.end(), [&](const auto& each) { return each.second.cause == Cause::other_group && each.second.place == mismatch.place; });
  }

  // Messages and groups are made for more ranks than two.
  static bool sends_or_groups(const Root& root) {
    bool any = false;
    visit(root.block, [&](const Event& event) {
      if (event.kind != EventKind::operation) return;
      const auto& row = *static_cast<const OperationEvent&>(event).row;
      any = any || row.operation == values::Operation::message || (row.collective && row.collective->makes_group);
    });
    return any;
  }

  // Does every communication of a root take part in some run that ends well?
  bool all_reached(const Root& root) const {
    bool all = true;
    visit(root.block, [&](const Event& event) {
      if (event.kind == EventKind::exit && static_cast<const ExitEvent&>(event).exit != ExitKind::raise && about_exits_.contains({event.place.chunk, event.place.span.begin}))
        all = all && reached_.contains({event.place.chunk, event.place.span.begin});
      if (event.kind == EventKind::operation && static_cast<const OperationEvent&>(event).row->operation != values::Operation::await && Acts::communicates(static_cast<const OperationEvent&>(event)))
        all = all && reached_.contains({event.place.chunk, event.place.span.begin});
    });
    return all;
  }

  // `stop`: where the ranks wait in it, if the run does not end; what a rank waits in it has not got past.
  void passed(const World& world, const Stop* stop = nullptr) {
    const Story story{record_, world, of_function_};
    requests_.note(story);
    for (Mismatch& mismatch : slow_ranks(story)) slow_.try_emplace(mismatch.key, std::move(mismatch));
    // A run in which a rank fails, or does what is not known, does not show that others get past what comes then.
    bool unknown = false;
    for (const Trace& trace : world) unknown = unknown || trace.raised || trace.unsettled;
    for (std::size_t rank = 0; rank < world.size(); ++rank) {
      const Trace& trace = world[rank];
      const std::size_t got = stop && stop->kind != Stop::Kind::none ? stop->at[rank] : trace.acts.size();
      for (std::size_t at = 0; at < trace.acts.size(); ++at) {
        const Act& act = trace.acts[at];
        if (at >= got || (unknown && (trace.raised || at >= trace.settled || !trace.unsettled))) {
          doubtful_.insert(act.site);
          continue;
        }
        fine_.insert(act.site);
        past_.insert(act.site);
        fine_in_[world_].insert(act.site);
        reached_.insert({act.place.chunk, act.place.span.begin});
      }
      for (const Leaving& exit : trace.exits) {
        if (unknown || exit.at > got) {
          doubtful_.insert(exit.site);
          continue;
        }
        fine_.insert(exit.site);
        past_.insert(exit.site);
        reached_.insert({exit.place.chunk, exit.place.span.begin});
      }
    }
  }

  // Was a loop of as many rounds followed round by round on one rank, and on another, for want of steps, in one round that stands for all?
  static bool followed_differently(const World& world) {
    std::map<std::pair<int, int>, int> followed;
    for (const Trace& trace : world)
      for (const LoopRun& loop : trace.loops)
        if (!loop.stands_for_many && loop.rounds > 1) followed.insert({{loop.site, loop.nth}, loop.rounds});
    return !followed.empty() && std::any_of(world.begin(), world.end(), [&](const Trace& trace) {
      return std::any_of(trace.loops.begin(), trace.loops.end(), [&](const LoopRun& loop) {
        const auto other = loop.stands_for_many && loop.count ? followed.find({loop.site, loop.nth}) : followed.end();
        return other != followed.end() && other->second == *loop.count;
      });
    });
  }

  // Do both go through the same thing to its end? Then they make as many rounds, wherever they stand.
  bool as_many_rounds(const Round& a, const Round& b) const {
    const auto iterable = [&](const Round& round) {
      const syntax::Stmt* stmt = round.loop ? round.loop->stmt : nullptr;
      return stmt && stmt->kind == syntax::StmtKind::for_ ? record_.text({round.place.chunk, syntax::as<syntax::ForStmt>(*stmt).iterable->span}) : std::string_view{};
    };
    return !iterable(a).empty() && iterable(a) == iterable(b) && a.loop->trips == symbolic::Sharing::uniform && b.loop->trips == symbolic::Sharing::uniform;
  }

  // A leader calls its workers in one loop, and they wait for it in another: the round that stands for many met something that is not in
  // a round of the same loop. How many more meet is not known, nor what becomes of the ranks behind that.
  bool met_across_loops(const World& world, const Player& player) {
    const auto loop_of = [&](int rank, const Round& round) {
      const auto& loops = world[static_cast<std::size_t>(rank)].loops;
      const auto loop = std::find_if(loops.begin(), loops.end(), [&](const LoopRun& each) { return each.site == round.site && each.nth == round.nth; });
      return loop == loops.end() ? nullptr : &*loop;
    };
    const auto many = [&](int rank, const Act& act, int other_rank, const Act& other) {
      return std::any_of(act.rounds.begin(), act.rounds.end(), [&](const Round& round) {
        const LoopRun* const loop = loop_of(rank, round);
        if (!loop || !loop->stands_for_many || loop->count) return false;
        // What the other does in a round of it was followed.
        if (worlds_asked().follows_one_round(other_rank, rank, static_cast<int>(world.size()))) return false;
        // Who has gone on from as many rounds of it is called by nobody there.
        if (both_went_through(world[static_cast<std::size_t>(rank)], world[static_cast<std::size_t>(other_rank)], round)) return false;
        return std::none_of(other.rounds.begin(), other.rounds.end(), [&](const Round& theirs) {
          if (theirs.site == round.site) return true;
          const LoopRun* const their = loop_of(other_rank, theirs);
          return their && loop->counts && their->counts && as_many_rounds(round, theirs);
        });
      });
    };
    const auto held = player.held();
    return std::any_of(held.begin(), held.end(), [&](const auto* meeting) {
      return std::any_of(meeting->begin(), meeting->end(), [&](const auto& one) {
        const Act& act = world[static_cast<std::size_t>(one.first)].acts[one.second];
        return !act.rounds.empty() && std::any_of(meeting->begin(), meeting->end(), [&](const auto& other) {
          return other.first != one.first && many(one.first, act, other.first, world[static_cast<std::size_t>(other.first)].acts[other.second]);
        });
      });
    });
  }

  // One way that the ranks may go.
  void follow(const World& world, std::vector<Mismatch>& here) {
    past_.clear();
    const std::size_t before = here.size();
    play(world, here);
    if (granted_ == Granted::nothing) conditions_.note(world, std::move(past_), here.size() > before ? std::optional(here.back().key) : std::nullopt);
  }

  void play(const World& world, std::vector<Mismatch>& here) {
    bool unsettled = false, all_raise = true;
    for (const Trace& trace : world) {
      if (trace.impossible) return;
      if (trace.nowhere) return ends_nowhere(world, here);
      by_gradients_ = by_gradients_ || trace.by_gradients;
      defaults_.insert(trace.defaults.begin(), trace.defaults.end());
      unsettled = unsettled || trace.unsettled;
      all_raise = all_raise && trace.raised;
    }
    impossible_ = false;
    only_fails_ = only_fails_ && std::all_of(world.begin(), world.end(), [](const Trace& trace) { return trace.raised && !trace.exits.empty() && trace.exits.back().fails; });
    if (followed_differently(world)) return passed(world);
    const Story story{record_, world, of_function_};
    if (all_raise) {
      // Not a world that the program is made for, or the failure follows from what comes first.
      Mismatch mismatch;
      mismatch.world = story.size();
      if (!unsettled && !decide_differently(world) && unequal(story, mismatch, true)) here.push_back(std::move(mismatch));
      return;
    }
    if (!unsettled && !decide_differently(world)) undefined_names(story);
    if (Mismatch mismatch; to_itself(story, mismatch)) {
      mismatch.world = story.size();
      // A function that nobody calls may be called by other ranks.
      if (!of_function_ && !decide_differently(world)) here.push_back(std::move(mismatch));
      return;
    }
    Player player(world, true);
    const Stop stop = player.play();
    if (unsettled) {
      // Only what comes before is known.
      bool before = stop.kind != Stop::Kind::none;
      for (std::size_t rank = 0; rank < world.size(); ++rank)
        before = before && (!world[rank].unsettled || stop.at[rank] < world[rank].settled || waits_for_who_has_ended(world, stop.at, rank) || (stop.kind == Stop::Kind::different && static_cast<int>(rank) != stop.a && static_cast<int>(rank) != stop.b));
      if (!before) return passed(world, &stop);
    }
    if (met_across_loops(world, player) && !never_as_often(world)) return passed(world, &stop);
    const bool parted = decide_differently(world);
    Mismatch mismatch;
    mismatch.world = story.size();
    if (stop.kind != Stop::Kind::none) {
      const bool told = unequal(story, mismatch, true) || explain(story, player, stop, mismatch) || left_by_rank(story, mismatch);
      // Where ranks decide differently by what only they have, another run may get past.
      if (told && granted_ == granted_agreement) mismatch.jobs = what_is_agreed_on(record_, worlds_asked(), world, mismatch.key, only_few_);
      if (told && mismatch.certain) presume(world, stop, mismatch);
      if (Mismatch left; told && mismatch.cause == Cause::exit && !mismatch.by_surprise && !parted && left_by_rank(story, left)) {
        left.world = story.size();
        left_.try_emplace(left.key, std::move(left));
      }
      if (told && (mismatch.cause == Cause::local || mismatch.by_surprise || !parted)) {
        here.push_back(std::move(mismatch));
      } else if (Mismatch left; told && left_by_rank(story, left)) {
        left.world = story.size();
        here.push_back(std::move(left));
      }
      return;
    }
    if (unequal(story, mismatch, false) || mixed(story, mismatch) || other_size(story, player, mismatch) || uneven(story, mismatch) || unordered(story, mismatch)) {
      if (!parted) here.push_back(std::move(mismatch));
      return;
    }
    Player strict(world, false);
    const Stop strictly = strict.play();
    if (strictly.kind == Stop::Kind::blocked && explain_messages(story, strict, strictly, mismatch)) {
      mismatch.certain = false;
      if (!parted) here.push_back(std::move(mismatch));
      return;
    }
    if (!of_function_ && never_received(story, player, mismatch)) {
      if (!parted) here.push_back(std::move(mismatch));
      return;
    }
    if (uneven_for_some(story, mismatch) || by_own_data(story, mismatch) || left_by_own_data(story, mismatch) || left_by_rank(story, mismatch) || root_of_own_data(story, mismatch) || outsiders(story, player, mismatch)) here.push_back(std::move(mismatch));
    passed(world);
  }

  // What is asked of an object that only its name describes may be another's: then what the ranks wait in is none of it.
  void presume(const World& world, const Stop& stop, Mismatch& mismatch) {
    for (std::size_t rank = 0; rank < world.size(); ++rank)
      for (std::size_t i = 0; i < world[rank].acts.size(); ++i) {
        const Act& act = world[rank].acts[i];
        if (act.site != mismatch.key && act.site != mismatch.waits_at && (rank >= stop.at.size() || i != stop.at[rank])) continue;
        std::string words = act.event ? if_it_is_one(*act.event) : std::string();
        if (words.empty()) words = if_it_is_chosen(worlds_asked().of(static_cast<int>(rank), static_cast<int>(world.size())).symbols, world[rank], act);
        if (!words.empty()) {
          mismatch.certain = false;
          mismatch.supposed = true;
          mismatch.jobs = std::move(words) + mismatch.jobs;
          return;
        }
      }
  }

  // Was the run of the root, or of a rank's, broken off?
  bool is_cut_off(const Root& root) { return root.truncated || worlds_asked().of(0, 2).out_of_budget || worlds_asked().of(1, 2).out_of_budget; }

  // Some rank ends at a message to a rank that there never is. Of what comes before it only messages that nobody ever sends are told.
  void ends_nowhere(const World& world, std::vector<Mismatch>& here) const {
    if (of_function_ || decide_differently(world)) return;
    for (const Trace& trace : world)
      if (trace.unsettled) return;
    const Story story{record_, world, of_function_};
    Player player(world, true);
    const Stop stop = player.play();
    Mismatch mismatch;
    mismatch.world = story.size();
    if (stop.at.size() != world.size()) return;
    for (int rank = 0; rank < story.size(); ++rank) {
      const Trace& trace = story.trace(rank);
      if (!trace.nowhere || stop.at[static_cast<std::size_t>(rank)] < trace.acts.size() || left_open(trace, *trace.nowhere)) continue;
      mismatch.cause = Cause::message;
      mismatch.nowhere = true;
      story.place(mismatch, *trace.nowhere);
      mismatch.text = "Rank " + std::to_string(rank) + (trace.nowhere->what == Act::What::send ? " sends to rank " : " asks for a message from rank ") + std::to_string(trace.nowhere->peer) +
                      " here, which does not exist: the call fails, and the other ranks wait until the launcher ends the job.";
      here.push_back(std::move(mismatch));
      return;
    }
    if (stop.kind == Stop::Kind::blocked && never_answered(story, player, stop, mismatch) && !story.trace(mismatch.peer).nowhere) here.push_back(std::move(mismatch));
  }

  // Does it depend on what is not known whether the rank comes to the call?
  static bool left_open(const Trace& trace, const Act& act) {
    for (std::size_t i = 0; i < act.decided && i < trace.decisions.size(); ++i) {
      const Decision& decision = trace.decisions[i];
      if (decision.open && (!decision.branch || leads_to(trace, i, act))) return true;
    }
    return false;
  }

  // Do two ranks take different sides of a condition that says nothing of ranks? Uniform ones that were not seen to be the same
  // on both count, too; and those that only one of the runs knows the truth of, where the rank has no part in it.
  bool decide_differently(const World& world) const {
    std::map<std::pair<int, int>, const Decision*> sides;
    for (const Trace& trace : world)
      for (const Decision& decision : trace.decisions) {
        const auto [it, fresh] = sides.try_emplace({decision.site, decision.nth}, &decision);
        if (fresh || it->second->yes == decision.yes) continue;
        if (decision.open && it->second->open) return true;
        if ((decision.open || it->second->open) && !about_ranks_.contains({decision.place.chunk, decision.place.span.begin})) return true;
      }
    return false;
  }

  // Names that some ranks never bind, and use.
  void undefined_names(const Story& story) {
    const int size = story.size();
    for (int rank = 0; rank < size; ++rank)
      for (const Missing& missing : story.trace(rank).missing) {
        std::vector<int> without;
        for (int other = 0; other < size; ++other)
          if (std::any_of(story.trace(other).missing.begin(), story.trace(other).missing.end(), [&](const Missing& each) { return each.site == missing.site && each.name == missing.name; })) without.push_back(other);
        if (static_cast<int>(without.size()) == size) continue;
        const auto turned = std::any_of(missing.turns.begin(), missing.turns.end(), [&](std::size_t turn) { return story.trace(rank).decisions[turn].open; });
        if (turned) continue;
        if (std::any_of(undefined_.begin(), undefined_.end(), [&](const Mismatch& each) { return each.calls == missing.calls && each.name == missing.name; })) continue;
        Mismatch made;
        made.cause = Cause::name;
        made.name = missing.name;
        made.world = size;
        made.key = missing.site;
        made.place = missing.place;
        made.calls = missing.calls;
        made.text = "`" + missing.name + "` is not assigned on " + rank_words(without, size) + ", which use" + (without.size() == 1 ? "s" : "") + " it here: " + (missing.calls || of_function_ ? "UnboundLocalError" : "NameError") + ", while the other ranks go on and wait.";
        undefined_.push_back(std::move(made));
      }
  }

  // What some ranks enter in one function, and all others in another, may belong together: nobody here calls them.
  void pair_up() {
    std::set<std::size_t> dropped;
    for (const auto& [i, one] : of_functions_)
      for (const auto& [j, another] : of_functions_) {
        const Mismatch &a = into_.found[i], &b = into_.found[j];
        if (one == another || a.name != b.name || a.world != b.world) continue;
        const auto entering = [](const Mismatch& mismatch) {
          if (mismatch.cause == Cause::guard) return mismatch.ranks;
          std::vector<int> others;
          for (int rank = 0; rank < mismatch.world && mismatch.cause == Cause::exit; ++rank)
            if (std::find(mismatch.ranks.begin(), mismatch.ranks.end(), rank) == mismatch.ranks.end()) others.push_back(rank);
          return others;
        };
        std::vector<int> both = entering(a);
        const std::vector<int> more = entering(b);
        if (both.empty() || more.empty()) continue;
        both.insert(both.end(), more.begin(), more.end());
        std::sort(both.begin(), both.end());
        if (both.size() == static_cast<std::size_t>(a.world) && std::adjacent_find(both.begin(), both.end()) == both.end()) dropped.insert(i);
      }
    for (auto it = dropped.rbegin(); it != dropped.rend(); ++it) into_.found.erase(into_.found.begin() + static_cast<std::ptrdiff_t>(*it));
  }

  const Record& record_;
  Comparison& into_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> about_ranks_;  // branches whose conditions depend on the rank
  bool of_function_ = false;         // that nobody calls
  Granted granted_ = Granted::nothing;
  bool by_gradients_ = false;        // see Trace, of all runs so far
  std::map<std::string, std::int64_t> defaults_;
  bool impossible_ = false;          // every run so far names ranks that its world has not
  bool only_fails_ = false;          // … or ends on all ranks in what says that something is wrong
  std::set<std::pair<std::uint32_t, std::uint32_t>> reached_;  // places of communication in runs that end well
  std::vector<Mismatch> undefined_;
  Requests requests_;
  Conditions conditions_;
  std::set<int> past_;                    // sites that the run gets past
  std::vector<Mismatch> conditional_;     // what goes wrong under some answers of the program's own questions alone
  std::map<int, Mismatch> slow_;  // by site
  std::map<int, Mismatch> left_;  // by the site of a way out of a loop that some run gets past: the leader leaves it in one of its rounds
  std::set<std::pair<std::uint32_t, std::uint32_t>> about_exits_;  // ways out in them
  std::optional<int> highest_named_;
  std::map<int, std::set<int>> fine_in_;  // by world: sites that some run of it gets past
  int world_ = 0;                         // that is played
  std::set<int> fine_;  // sites that some run gets past
  bool only_few_ = false;                // what rests on many answers is not told, as little is known of the rest
  bool too_many_ = false;                // ways, to follow them all
  bool got_past_ = false;                // some run stops where another gets past
  std::set<int> doubtful_;               // sites that a run came to of which not all is known
  std::vector<std::pair<std::size_t, const Root*>> of_functions_;
};

} // namespace

bool may_part(const Record& record) {
  // Who never asks for a rank has all ranks do the same, but for what they decide by data of their own.
  const bool asks = record.roles[static_cast<int>(symbolic::Role::rank)] || record.roles[static_cast<int>(symbolic::Role::local_rank)];
  if (!asks && !decides_by_own_data(record) && !starts_requests(record)) return false;
  return std::any_of(record.roots.begin(), record.roots.end(), [](const auto& root) { return communicates(*root); });
}

const Comparison& compare_ranks(const Record& record) {
  if (!record.compared) {
    auto made = std::make_shared<Comparison>();
    made->worlds = std::make_unique<Worlds>(record);
    Comparer(record, *made).run();
    record.compared = made;
  }
  return *static_cast<const Comparison*>(record.compared.get());
}

std::string if_it_is_one(const OperationEvent& event) {
  if (event.row->kind != values::RowKind::method || !event.self.is(values::Kind::unknown)) return {};
  const std::string_view path = event.row->path, name = event.self.as<values::Unknown>()->name;
  return "If " + (name.empty() ? std::string("that") : "`" + std::string(name) + "`") + " is an object of " + std::string(path.substr(0, path.rfind('.'))) + ": ";
}

void tell(const Record& record, Report& report, Cause cause, Severity severity, std::vector<Fix> (*fixes)(const Record&, const Mismatch&)) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  for (const Mismatch& mismatch : compare_ranks(record).found) {
    if (mismatch.cause != cause || !mismatch.place || !told.insert({mismatch.place.chunk, mismatch.place.span.begin}).second) continue;
    Finding* finding = report.add(mismatch.severity ? *mismatch.severity : mismatch.certain ? severity : Severity::warning, mismatch.place, mismatch.calls, mismatch.jobs + mismatch.text);
    if (!finding) continue;
    for (const auto& [place, text] : mismatch.related) report.relate(*finding, place, text);
    report.relate_calls(*finding, mismatch.calls);
    if (fixes) finding->fixes = fixes(record, mismatch);
    for (Fix& fix : finding->fixes) fix.preferred = fix.preferred && !mismatch.supposed;
  }
}

} // namespace stepzero::rules
