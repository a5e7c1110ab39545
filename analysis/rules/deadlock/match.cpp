#include "rules/deadlock/match.hpp"

#include <algorithm>
#include <deque>

namespace stepzero::rules {

using namespace interpreter;
using values::Operation;

namespace {

constexpr std::size_t longest_aligned = 300;
constexpr std::int64_t buffered = 1024;        // elements of a message that a network takes without the receiver, at most
constexpr std::int64_t not_buffered = 262'144;  // … and from here on it does not

bool same_kind(const Act& a, const Act& b) { return a.name == b.name; }
bool root_need_not_wait(const Act& act) { return act.name == "broadcast" || act.name == "scatter"; }
bool only_root_waits(const Act& act) { return act.name == "reduce" || act.name == "gather"; }

// What each rank receives may be of another size: these split what they send.
bool own_sizes(const Act& act) {
  static constexpr std::string_view names[] = {"reduce_scatter", "reduce_scatter_tensor", "all_to_all_single"};
  return std::find(std::begin(names), std::end(names), act.name) != std::end(names);
}

// Where a run stops.
struct Stop {
  enum class Kind : std::uint8_t { none, different, incomplete, blocked } kind = Kind::none;
  std::string group;
  std::size_t meeting = 0;
  int a = -1, b = -1;             // ranks: that is there, that is elsewhere
  std::vector<std::size_t> at;    // by rank: the act that it waits in, or the number of its acts
};

class Player {
public:
  Player(const World& world, bool buffering) : world_(world), buffering_(buffering), at_(world.size(), 0), posted_(world.size(), false) {}

  Stop play() {
    bool progress = true;
    while (progress && stop_.kind == Stop::Kind::none) {
      progress = false;
      for (std::size_t rank = 0; rank < world_.size(); ++rank)
        while (at_[rank] < world_[rank].acts.size() && stop_.kind == Stop::Kind::none && go_on(rank)) {
          ++at_[rank];
          posted_[rank] = false;
          progress = true;
        }
    }
    stop_.at = at_;
    if (stop_.kind != Stop::Kind::none) return stop_;
    bool all_ended = true;
    for (std::size_t rank = 0; rank < world_.size(); ++rank) all_ended = all_ended && at_[rank] == world_[rank].acts.size();
    // A collective that not all members entered: it may have let some go on, and is wrong all the same.
    for (auto& [group, meetings] : meetings_)
      for (std::size_t i = 0; i < meetings.size(); ++i)
        if (meetings[i].size() < members_[group].size()) {
          incomplete_.push_back({group, i});
          break;
        }
    if (!all_ended) stop_.kind = Stop::Kind::blocked;
    else if (!incomplete_.empty()) stop_.kind = Stop::Kind::incomplete;
    return stop_;
  }

  const std::vector<std::pair<std::string, std::size_t>>& incomplete() const { return incomplete_; }
  const std::map<int, std::size_t>& meeting(const std::string& group, std::size_t i) const { return meetings_.at(group)[i]; }
  const std::vector<int>& members(const std::string& group) const { return members_.at(group); }
  const std::vector<std::pair<int, std::size_t>>& foreign() const { return foreign_; }
  // The message that an act, a wait included, is about; null for others.
  const Act* message_of(int rank, std::size_t at) const {
    const Act& act = world_[static_cast<std::size_t>(rank)].acts[at];
    if (act.what == Act::What::send || act.what == Act::What::receive) return &act;
    if (act.what != Act::What::await) return nullptr;
    const auto it = requests_.find({rank, act.request});
    return it == requests_.end() || it->second.is_collective ? nullptr : it->second.act;
  }
  // Pairs of messages that met.
  const std::vector<std::pair<const Act*, const Act*>>& met() const { return met_; }
  // Sends that nobody took, with their ranks.
  std::vector<std::pair<int, const Act*>> left_over() const {
    std::vector<std::pair<int, const Act*>> left;
    for (const auto& [channel, queue] : sends_)
      for (const Message& message : queue)
        if (!message.met) left.push_back({std::get<0>(channel), message.act});
    return left;
  }

private:
  struct Message {
    const Act* act = nullptr;
    bool met = false;
  };
  struct Request {
    bool is_collective = false;
    const Act* act = nullptr;
    std::string group;
    std::size_t meeting = 0;
    Message* message = nullptr;
  };
  using Channel = std::tuple<int, int, std::int64_t, std::string>;

  bool complete(const std::string& group, std::size_t i) const { return meetings_.at(group)[i].size() == members_.at(group).size(); }

  bool sent(const Act& act, const Message& message) const {
    if (message.met) return true;
    if (!buffering_) return false;
    return !act.elements || *act.elements < not_buffered;
  }

  Message* post(int rank, const Act& act) {
    const bool sends = act.what == Act::What::send;
    const Channel channel = sends ? Channel{rank, act.peer, act.tag, act.group} : Channel{act.peer, rank, act.tag, act.group};
    auto& mine = (sends ? sends_ : receives_)[channel];
    mine.push_back({&act, false});
    Message* made = &mine.back();
    for (Message& other : (sends ? receives_ : sends_)[channel])
      if (!other.met) {
        other.met = made->met = true;
        met_.push_back(sends ? std::pair{&act, other.act} : std::pair{other.act, &act});
        break;
      }
    return made;
  }

  // May the act that the rank has come to end?
  bool go_on(std::size_t number) {
    const int rank = static_cast<int>(number);
    const Act& act = world_[number].acts[at_[number]];
    switch (act.what) {
    case Act::What::send:
    case Act::What::receive: {
      if (!posted_[number]) {
        now_[number] = post(rank, act);
        posted_[number] = true;
        if (act.starts) {
          requests_[{rank, act.request}] = {false, &act, {}, 0, now_[number]};
          return true;
        }
      }
      return act.what == Act::What::send ? sent(act, *now_[number]) : now_[number]->met;
    }
    case Act::What::await: {
      const auto it = requests_.find({rank, act.request});
      if (it == requests_.end()) return true;
      const Request& request = it->second;
      if (request.is_collective) return complete(request.group, request.meeting);
      return request.act->what == Act::What::send ? sent(*request.act, *request.message) : request.message->met;
    }
    case Act::What::collective: {
      if (std::find(act.members.begin(), act.members.end(), rank) == act.members.end()) {
        foreign_.push_back({rank, at_[number]});
        return true;
      }
      auto& meetings = meetings_[act.group];
      members_[act.group] = act.members;
      if (!posted_[number]) {
        const std::size_t i = entered_[{rank, act.group}]++;
        if (meetings.size() <= i) meetings.resize(i + 1);
        posted_[number] = true;
        here_[number] = i;
        for (const auto& [other, their] : meetings[i])
          if (!same_kind(world_[static_cast<std::size_t>(other)].acts[their], act)) {
            meetings[i][rank] = at_[number];
            stop_ = {Stop::Kind::different, act.group, i, other, rank, {}};
            return false;
          }
        meetings[i][rank] = at_[number];
        if (act.starts) {
          requests_[{rank, act.request}] = {true, &act, act.group, i, nullptr};
          return true;
        }
      }
      if (complete(act.group, here_[number])) return true;
      if (!act.root) return false;
      return (root_need_not_wait(act) && *act.root == rank) || (only_root_waits(act) && *act.root != rank);
    }
    }
    return true;
  }

  const World& world_;
  bool buffering_;
  std::vector<std::size_t> at_;
  std::vector<bool> posted_;
  std::map<std::size_t, Message*> now_;
  std::map<std::size_t, std::size_t> here_;
  std::map<std::string, std::vector<std::map<int, std::size_t>>> meetings_;  // by group: who entered, in which act
  std::map<std::string, std::vector<int>> members_;
  std::map<std::pair<int, std::string>, std::size_t> entered_;
  std::map<Channel, std::deque<Message>> sends_, receives_;
  std::map<std::pair<int, const void*>, Request> requests_;
  std::vector<std::pair<int, std::size_t>> foreign_;
  std::vector<std::pair<const Act*, const Act*>> met_;
  std::vector<std::pair<std::string, std::size_t>> incomplete_;
  Stop stop_;
};

// An act of one rank that the other has no partner for.
struct Extra {
  bool of_first = true;
  std::size_t act = 0;      // in the trace of the rank that has it
  std::size_t before = 0;   // in the other's trace: its acts that come before
};

// The collectives of a group, side by side with as few left over as possible; of equal ways, calls at the same place go together.
std::vector<Extra> extras(const Trace& first, const Trace& second, const std::string& group) {
  const auto of_group = [&](const Trace& trace) {
    std::vector<std::size_t> acts;
    for (std::size_t i = 0; i < trace.acts.size(); ++i)
      if (trace.acts[i].what == Act::What::collective && trace.acts[i].group == group) acts.push_back(i);
    return acts;
  };
  const auto a = of_group(first), b = of_group(second);
  if (a.size() > longest_aligned || b.size() > longest_aligned) return {};
  constexpr int alone = 7, elsewhere = 1, never = 1 << 20;
  std::vector<std::vector<int>> cost(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  const auto pair_cost = [&](std::size_t i, std::size_t j) {
    const Act &x = first.acts[a[i]], &y = second.acts[b[j]];
    if (!same_kind(x, y)) return never;
    return x.site == y.site ? 0 : elsewhere;
  };
  for (std::size_t i = a.size() + 1; i-- > 0;)
    for (std::size_t j = b.size() + 1; j-- > 0;) {
      if (i == a.size() && j == b.size()) continue;
      int best = never;
      if (i < a.size()) best = std::min(best, alone + cost[i + 1][j]);
      if (j < b.size()) best = std::min(best, alone + cost[i][j + 1]);
      if (i < a.size() && j < b.size()) best = std::min(best, pair_cost(i, j) + cost[i + 1][j + 1]);
      cost[i][j] = best;
    }
  std::vector<Extra> left;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && cost[i][j] == pair_cost(i, j) + cost[i + 1][j + 1]) {
      ++i, ++j;
    } else if (i < a.size() && cost[i][j] == alone + cost[i + 1][j]) {
      left.push_back({true, a[i], j < b.size() ? b[j] : second.acts.size()});
      ++i;
    } else {
      left.push_back({false, b[j], i < a.size() ? a[i] : first.acts.size()});
      ++j;
    }
  }
  return left;
}

std::string plural(std::size_t count) { return count == 1 ? "" : "s"; }

class Comparer {
public:
  Comparer(const Record& record, Comparison& into) : record_(record), into_(into) {}

  void run() {
    if (!record_.as_rank || !record_.roles[static_cast<int>(symbolic::Role::rank)]) {
      // Who never asks for a rank has all ranks do the same.
      if (!record_.roles[static_cast<int>(symbolic::Role::local_rank)]) return;
    }
    bool any = false;
    for (const auto& root : record_.roots)
      if (!root->truncated && communicates(*root)) any = true;
    if (!any) return;
    for (const auto& root : record_.roots)
      visit(root->block, [&](const Event& event) {
        if (event.kind != EventKind::branch || record_.symbols.sharing(static_cast<const BranchEvent&>(event).condition) != symbolic::Sharing::divergent) return;
        about_ranks_.insert({event.place.chunk, event.place.span.begin});
        for (const Block* side : {&static_cast<const BranchEvent&>(event).yes, &static_cast<const BranchEvent&>(event).no})
          for (const Event* inner : side->events)
            if (inner->kind == EventKind::exit) about_exits_.insert({inner->place.chunk, inner->place.span.begin});
      });
    for (const auto& root : record_.roots)
      if (!root->truncated && communicates(*root)) look_at(*root);
    pair_up();
  }

private:
  static bool communicates(const Root& root) {
    bool any = false;
    visit(root.block, [&](const Event& event) {
      if (event.kind != EventKind::operation) return;
      const Operation operation = static_cast<const OperationEvent&>(event).row->operation;
      any = any || operation == Operation::collective || operation == Operation::parallel_forward || operation == Operation::message;
    });
    return any;
  }

  void look_at(const Root& root) {
    std::map<std::pair<int, int>, Mismatch> found;  // by cause and key
    std::vector<std::pair<int, int>> order;
    fine_.clear();
    reached_.clear();
    of_function_ = root.function != nullptr;
    undefined_.clear();
    started_.clear();
    awaited_.clear();
    await_places_.clear();
    bool complete = true;
    for (const int world : {2, 3, 4}) {
      std::vector<Mismatch> here;
      const bool done = into_.worlds->explore(root, world, world == 2 ? 512 : 128, [&](const World& run) { play(run, here); });
      if (!done) {
        complete = world > 2;
        break;
      }
      if (world == 2 && here.empty() && undefined_.empty() && all_reached(root)) break;  // nothing is left that more ranks could tell
      for (Mismatch& mismatch : here) {
        const std::pair<int, int> key{static_cast<int>(mismatch.cause), mismatch.key};
        const auto [it, fresh] = found.try_emplace(key, mismatch);
        if (fresh) order.push_back(key);
        else if (it->second.world < mismatch.world) it->second = mismatch;
      }
    }
    if (!complete) return;
    into_.settled.insert(&root);
    if (!root.function && sees_all_waits())
      for (const auto& [site, mismatch] : started_)
        if (!awaited_.contains(site)) into_.found.push_back(mismatch);
    const std::size_t before = into_.found.size();
    for (const auto& key : order)
      if (Mismatch& mismatch = found.at(key); mismatch.cause == Cause::local || !fine_.contains(mismatch.key)) {
        into_.found.push_back(mismatch);
        if (root.function) of_functions_.push_back(into_.found.size() - 1);
      }
    // What only some ranks enter makes what only they have, too: it is told once.
    if (into_.found.size() == before) into_.found.insert(into_.found.end(), undefined_.begin(), undefined_.end());
  }

  // Does every communication of a root take part in some run that ends well?
  bool all_reached(const Root& root) const {
    bool all = true;
    visit(root.block, [&](const Event& event) {
      if (event.kind == EventKind::exit && static_cast<const ExitEvent&>(event).exit != ExitKind::raise && about_exits_.contains({event.place.chunk, event.place.span.begin}))
        all = all && reached_.contains({event.place.chunk, event.place.span.begin});
      if (event.kind != EventKind::operation) return;
      const Operation operation = static_cast<const OperationEvent&>(event).row->operation;
      if (operation == Operation::collective || operation == Operation::message) all = all && reached_.contains({event.place.chunk, event.place.span.begin});
    });
    return all;
  }

  void passed(const World& world) {
    never_waited(world);
    for (const Trace& trace : world) {
      for (const Act& act : trace.acts) {
        fine_.insert(act.site);
        reached_.insert({act.place.chunk, act.place.span.begin});
      }
      for (const Leaving& exit : trace.exits) {
        fine_.insert(exit.site);
        reached_.insert({exit.place.chunk, exit.place.span.begin});
      }
    }
  }

  void play(const World& world, std::vector<Mismatch>& here) {
    bool unsettled = false, all_raise = true;
    for (const Trace& trace : world) {
      if (trace.impossible) return;
      unsettled = unsettled || trace.unsettled;
      all_raise = all_raise && trace.raised;
    }
    world_ = &world;
    if (all_raise) {
      // Not a world that the program is made for, or the failure follows from what comes first.
      Player player(world, true);
      player.play();
      Mismatch mismatch;
      mismatch.world = static_cast<int>(world.size());
      if (!unsettled && !decide_differently(world) && unequal(player, mismatch, true)) here.push_back(std::move(mismatch));
      return;
    }
    if (!unsettled) undefined_names();
    for (int rank = 0; rank < static_cast<int>(world.size()); ++rank)
      for (const Act& act : trace(rank).acts)
        if (act.peer == rank) {
          if (of_function_) return;  // called by other ranks, perhaps
          Mismatch mismatch;
          mismatch.world = static_cast<int>(world.size());
          mismatch.cause = Cause::message;
          place(mismatch, act);
          mismatch.text = "Rank " + std::to_string(rank) + (act.what == Act::What::send ? " sends to itself here" : " waits here for a message from itself") + ": a message needs two ranks.";
          if (!decide_differently(world)) here.push_back(std::move(mismatch));
          return;
        }
    Player player(world, true);
    const Stop stop = player.play();
    if (unsettled) {
      // Only what comes before is known.
      bool before = stop.kind != Stop::Kind::none;
      for (std::size_t rank = 0; rank < world.size(); ++rank)
        before = before && (!world[rank].unsettled || stop.at[rank] < world[rank].settled || (stop.kind == Stop::Kind::different && static_cast<int>(rank) != stop.a && static_cast<int>(rank) != stop.b));
      if (!before) return passed(world);
    }
    const bool parted = decide_differently(world);
    Mismatch mismatch;
    mismatch.world = static_cast<int>(world.size());
    if (stop.kind != Stop::Kind::none) {
      const bool told = unequal(player, mismatch, true) || explain(player, stop, mismatch);
      // Where ranks decide differently by what only they have, another run may get past.
      if (told && (mismatch.cause == Cause::local || !parted)) here.push_back(std::move(mismatch));
      return;
    }
    if (unequal(player, mismatch, false)) {
      if (!parted) here.push_back(std::move(mismatch));
      return;
    }
    Player strict(world, false);
    const Stop strictly = strict.play();
    if (strictly.kind == Stop::Kind::blocked && explain_messages(strict, strictly, mismatch)) {
      mismatch.certain = false;
      if (!parted) here.push_back(std::move(mismatch));
      return;
    }
    if (const auto left = player.left_over(); !left.empty() && !of_function_) {
      const auto& [rank, act] = left.front();
      mismatch.certain = false;
      mismatch.cause = Cause::message;
      place(mismatch, *act);
      mismatch.text = "Rank " + std::to_string(rank) + " sends to rank " + std::to_string(act->peer) + " here, which never receives it: the message is lost, or the sender waits for ever.";
      if (!parted) here.push_back(std::move(mismatch));
      return;
    }
    passed(world);
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

  // Is it seen that the condition at a place is about data of each rank: a tensor that differs, the clock, files?
  bool of_own_data(Place condition) const {
    bool own = false;
    for (const interpreter::Fact& fact : record_.facts) {
      if (fact.place.chunk != condition.chunk || fact.place.span.begin < condition.span.begin || fact.place.span.end > condition.span.end) continue;
      const Value value = fact.value;
      if (record_.heap.is_external(value) || (fact.tensor && fact.tensor->external)) return false;
      // Random numbers are the same where the seed is.
      if (record_.text(fact.place).find("rand") != std::string_view::npos && record_.chunk(condition).module->text->bytes().find("seed(") != std::string::npos) return false;
      if (fact.tensor && fact.tensor->sharing == symbolic::Sharing::local) own = true;
      // An attribute that was not followed tells nothing of where its value came from.
      const std::string_view text = record_.text(fact.place);
      const bool field = text.find('.') != std::string_view::npos && text.find('(') == std::string_view::npos;
      if (!field && (value.is(values::Kind::unknown) || value.is(values::Kind::list))) own = own || record_.heap.sharing(value) == symbolic::Sharing::local;
    }
    return own;
  }

  // Names that some ranks never bind, and use.
  void undefined_names() {
    const int size = static_cast<int>(world_->size());
    for (int rank = 0; rank < size; ++rank)
      for (const Missing& missing : trace(rank).missing) {
        std::vector<int> without;
        for (int other = 0; other < size; ++other)
          if (std::any_of(trace(other).missing.begin(), trace(other).missing.end(), [&](const Missing& each) { return each.site == missing.site && each.name == missing.name; })) without.push_back(other);
        if (static_cast<int>(without.size()) == size) continue;
        const auto turned = std::any_of(missing.turns.begin(), missing.turns.end(), [&](std::size_t turn) { return trace(rank).decisions[turn].open; });
        if (turned) continue;
        if (std::any_of(undefined_.begin(), undefined_.end(), [&](const Mismatch& each) { return each.calls == missing.calls && each.name == missing.name; })) continue;
        Mismatch made;
        made.cause = Cause::name;
        made.name = missing.name;
        made.world = size;
        made.key = missing.site;
        made.place = missing.place;
        made.calls = missing.calls;
        made.text = "`" + missing.name + "` is not assigned on " + rank_words(without, size) + ", which use" + (without.size() == 1 ? "s" : "") + " it here: UnboundLocalError, while the other ranks go on and wait.";
        undefined_.push_back(std::move(made));
      }
  }

  // What is started and never waited for, in a program that is seen wholly.
  void never_waited(const World& world) {
    for (const Trace& trace : world) {
      std::set<const void*> waited;
      for (const Act& act : trace.acts)
        if (act.what == Act::What::await) waited.insert(act.request);
      for (const Act& act : trace.acts) {
        if (!act.starts) continue;
        if (waited.contains(act.request)) {
          awaited_.insert(act.site);
          continue;
        }
        if (started_.contains(act.site)) continue;
        Mismatch made;
        made.cause = Cause::request;
        made.world = static_cast<int>(world.size());
        place(made, act);
        made.text = "Nobody waits for this " + made.name + ": its tensor may be read or written before the communication has ended. Keep what it returns, and call wait().";
        started_.emplace(act.site, std::move(made));
      }
      for (const Act& act : trace.acts)
        if (act.what == Act::What::await) await_places_.insert({act.place.chunk, act.place.span.begin});
    }
  }
  // Do all calls of wait() in the text lead to a request that is known?
  bool sees_all_waits() const {
    std::size_t written = 0;
    for (const ChunkOf& chunk : record_.chunks) {
      if (!chunk.module || chunk.path != record_.path) continue;
      const std::string& text = chunk.module->text->bytes();
      for (const char* other : {"is_completed", "get_future", "wait_all"})
        if (text.find(other) != std::string::npos) return false;
      for (std::size_t at = text.find(".wait("); at != std::string::npos; at = text.find(".wait(", at + 1)) ++written;
      break;
    }
    return written == await_places_.size();
  }

  const Trace& trace(int rank) const { return (*world_)[static_cast<std::size_t>(rank)]; }

  void place(Mismatch& mismatch, const Act& act) const {
    mismatch.name = std::string(act.name);
    mismatch.place = act.place;
    mismatch.calls = act.calls;
    mismatch.key = act.site;
  }
  const OperationEvent* of_main(const Act& act) const {
    const OperationEvent* found = nullptr;
    for (const auto& root : record_.roots)
      visit(root->block, [&](const Event& event) {
        if (!found && event.kind == EventKind::operation && event.place == act.place && static_cast<const OperationEvent&>(event).row == act.event->row)
          found = static_cast<const OperationEvent*>(&event);
      });
    return found;
  }
  const BranchEvent* of_main(const BranchEvent& branch, Place place) const {
    const BranchEvent* found = nullptr;
    for (const auto& root : record_.roots)
      visit(root->block, [&](const Event& event) {
        if (!found && event.kind == EventKind::branch && event.place.chunk == place.chunk && event.place.span == branch.place.span)
          found = static_cast<const BranchEvent*>(&event);
      });
    return found;
  }
  int line(Place place) const {
    if (!place) return 0;
    const auto& chunk = record_.chunk(place);
    return static_cast<int>(chunk.module->text->position(record_.span(place).begin, syntax::Encoding::utf8).line) + 1;
  }
  std::string at_line(Place place) const { return place ? " (line " + std::to_string(line(place)) + ")" : std::string(); }

  // What a rank does where another waits.
  std::string doing(int rank, const std::vector<std::size_t>& at) const {
    const Trace& own = trace(rank);
    const std::size_t where = at[static_cast<std::size_t>(rank)];
    if (where >= own.acts.size()) return own.raised ? "rank " + std::to_string(rank) + " has failed" : "rank " + std::to_string(rank) + " has ended";
    const Act& act = own.acts[where];
    return "rank " + std::to_string(rank) + " waits in " + std::string(act.name) + at_line(act.place);
  }

  bool explain(Player& player, const Stop& stop, Mismatch& mismatch) {
    if (stop.kind == Stop::Kind::different) {
      if (side_by_side(player, stop, stop.group, stop.a, stop.b, mismatch)) return true;
      return false;
    }
    if (stop.kind == Stop::Kind::blocked && never_answered(player, stop, mismatch)) return true;
    // Groups are made first: what is wrong there comes before what it leads to.
    auto incomplete = player.incomplete();
    std::stable_sort(incomplete.begin(), incomplete.end(), [](const auto& a, const auto& b) { return (a.first == "world") > (b.first == "world"); });
    for (const auto& [group, i] : incomplete) {
      const auto& there = player.meeting(group, i);
      for (const int member : player.members(group)) {
        if (there.contains(member)) continue;
        if (side_by_side(player, stop, group, there.begin()->first, member, mismatch)) return true;
      }
    }
    if (stop.kind != Stop::Kind::blocked) return false;
    if (explain_messages(player, stop, mismatch)) return true;
    // Every group fits by itself: ranks enter those of different groups in different orders.
    for (const auto& [group, i] : incomplete) {
      const auto& there = player.meeting(group, i);
      const auto& [rank, at] = *there.begin();
      const Act& act = trace(rank).acts[at];
      place(mismatch, act);
      mismatch.cause = Cause::order;
      mismatch.text = "Rank " + std::to_string(rank) + " waits in " + std::string(act.name) + " here for ever:";
      for (const int member : player.members(group))
        if (!there.contains(member)) {
          mismatch.text += " " + doing(member, stop.at) + ", and comes to it only behind that.";
          break;
        }
      return true;
    }
    return false;
  }

  // A receive, or a send that is too large to be buffered, that the other side has no answer to in all that it does.
  bool never_answered(Player& player, const Stop& stop, Mismatch& mismatch) {
    for (int rank = 0; rank < static_cast<int>(world_->size()); ++rank) {
      const std::size_t at = stop.at[static_cast<std::size_t>(rank)];
      if (at >= trace(rank).acts.size()) continue;
      const Act* message = player.message_of(rank, at);
      if (!message) continue;
      const auto count = [&](int of, int with, Act::What what, const Act* until) {
        int messages = 0;
        for (const Act& act : trace(of).acts) {
          if (act.what == what && act.peer == with && act.tag == message->tag && act.group == message->group) ++messages;
          if (&act == until) break;
        }
        return messages;
      };
      const auto opposite = message->what == Act::What::send ? Act::What::receive : Act::What::send;
      const int mine = count(rank, message->peer, message->what, message);
      const int theirs = count(message->peer, rank, opposite, nullptr);
      if (theirs >= mine) continue;
      // A function that nobody calls here may be one half of an exchange.
      if (of_function_ && !talks_to(message->peer, rank)) return false;
      mismatch.cause = Cause::message;
      place(mismatch, *message);
      const bool sends = message->what == Act::What::send;
      const std::string me = std::to_string(rank), other = std::to_string(message->peer);
      mismatch.text = "Rank " + me + (sends ? " sends to rank " + other + " here, which never receives it" : " waits here for a message from rank " + other + ", which never sends " + (mine > 1 ? std::string("that many") : "it"));
      const Act* nearest = nullptr;
      for (const Act& act : trace(message->peer).acts)
        if (act.what == opposite && (!nearest || act.peer == rank)) nearest = &act;
      if (nearest && nearest->peer == rank && nearest->tag != message->tag)
        mismatch.text += ": its " + std::string(nearest->name) + at_line(nearest->place) + " has tag " + std::to_string(nearest->tag) + ", this one has tag " + std::to_string(message->tag);
      else if (nearest && nearest->peer != rank)
        mismatch.text += ": its " + std::string(nearest->name) + at_line(nearest->place) + (sends ? " is for a message from rank " : " goes to rank ") + std::to_string(nearest->peer);
      else mismatch.text += ": " + doing(message->peer, stop.at);
      mismatch.text += ".";
      if (nearest && nearest->place) mismatch.related.push_back({nearest->place, "what rank " + other + (sends ? " receives" : " sends")});
      return true;
    }
    return false;
  }

  bool talks_to(int rank, int other) const {
    return std::any_of(trace(rank).acts.begin(), trace(rank).acts.end(), [&](const Act& act) { return act.peer == other; });
  }

  bool explain_messages(Player& player, const Stop& stop, Mismatch& mismatch) {
    const Act* first = nullptr;
    int who = -1;
    for (const bool sends : {true, false})
      for (int rank = 0; rank < static_cast<int>(world_->size()) && !first; ++rank) {
        const std::size_t at = stop.at[static_cast<std::size_t>(rank)];
        if (at >= trace(rank).acts.size()) continue;
        const Act* message = player.message_of(rank, at);
        if (!message || (message->what == Act::What::send) != sends) continue;
        first = message;
        who = rank;
      }
    if (!first || (of_function_ && !talks_to(first->peer, who))) return false;
    mismatch.cause = Cause::message;
    place(mismatch, *first);
    const bool sends = first->what == Act::What::send;
    const std::size_t theirs = stop.at[static_cast<std::size_t>(first->peer)];
    const Act* other = theirs < trace(first->peer).acts.size() ? &trace(first->peer).acts[theirs] : nullptr;
    const Act* other_message = other ? player.message_of(first->peer, theirs) : nullptr;
    if (other_message && other_message->what == first->what) {
      mismatch.text = std::string("Rank ") + std::to_string(who) + " and rank " + std::to_string(first->peer) + " both " + (sends ? "send" : "receive") + " first" +
                      (other_message->place == first->place ? "" : at_line(other_message->place)) + ": each waits for the other" +
                      (sends ? " as soon as the message is not buffered." : ".") + " Let one of them " + (sends ? "receive" : "send") + " first, or use batch_isend_irecv.";
    } else {
      mismatch.text = std::string("Rank ") + std::to_string(who) + (sends ? " sends to rank " : " waits here for rank ") + std::to_string(first->peer) + ", but " +
                      doing(first->peer, stop.at) + ": " + (sends ? "the message is not taken." : "it sends only behind that.");
    }
    if (other && other->place && !(other->place == first->place)) mismatch.related.push_back({other->place, "rank " + std::to_string(first->peer) + " waits here"});
    return true;
  }

  // The call that stands in the frame of the guard.
  static std::pair<Place, const CallSite*> seen_from(const Act& act, const Decision& guard) {
    const CallSite *own = act.own_calls, *calls = act.calls;
    Place place = act.place;
    while (own && own != guard.own_calls) {
      place = calls->place;
      own = own->outer;
      calls = calls->outer;
    }
    return {place, calls};
  }

  const Decision* decided(const Trace& trace, const Decision& like) const {
    for (const Decision& decision : trace.decisions)
      if (decision.site == like.site && decision.nth == like.nth) return &decision;
    return nullptr;
  }

  // Two ranks of a group, of which one waits for the other: what has one of them that the other has not?
  bool side_by_side(Player& player, const Stop& stop, const std::string& group, int a, int b, Mismatch& mismatch) {
    const auto left = extras(trace(a), trace(b), group);
    if (left.empty()) return false;
    // A group that is missing comes before what it leads to.
    const auto missing_group = std::find_if(left.begin(), left.end(), [&](const Extra& each) { return trace(each.of_first ? a : b).acts[each.act].makes_group; });
    // So does what an exception leads to, of what the two have alone at the same point.
    const auto other_side = std::find_if(left.begin(), left.end(), [&](const Extra& each) { return each.of_first != left.front().of_first; });
    const auto in_handler = [&](const Extra& each) {
      const Trace& own = trace(each.of_first ? a : b);
      const auto& turns = own.acts[each.act].turns;
      return std::any_of(turns.begin(), turns.end(), [&](std::size_t turn) { return own.decisions[turn].attempt && !own.decisions[turn].yes; });
    };
    const Extra& extra = missing_group != left.end()                                                           ? *missing_group
                         : other_side != left.end() && in_handler(*other_side) && !in_handler(left.front()) ? *other_side
                                                                                                               : left.front();
    const int owner = extra.of_first ? a : b, other = extra.of_first ? b : a;
    const Act& act = trace(owner).acts[extra.act];
    const auto& members = player.members(group);
    // Who else makes this call?
    std::vector<int> entering;
    for (const int rank : members)
      if (std::any_of(trace(rank).acts.begin(), trace(rank).acts.end(), [&](const Act& each) { return each.site == act.site; })) entering.push_back(rank);
    mismatch.ranks = entering;
    const auto next_of_other = [&]() -> const Act* {
      for (std::size_t i = extra.before; i < trace(other).acts.size(); ++i)
        if (trace(other).acts[i].what == Act::What::collective && trace(other).acts[i].group == group) return &trace(other).acts[i];
      return nullptr;
    };
    const Act* next = next_of_other();

    // Is there a branch around it of which the other took the other side?
    const Decision* guard = nullptr;
    for (const std::size_t turn : act.turns) {
      const Decision& mine = trace(owner).decisions[turn];
      const Decision* theirs = decided(trace(other), mine);
      if (!theirs) break;
      if (theirs->yes != mine.yes) {
        guard = &mine;
        break;
      }
    }
    if (guard && (guard->local || guard->unseen)) {
      if (!guard->local || guard->unseen) return false;
      if (!of_own_data(guard->place)) return false;
      mismatch.cause = Cause::local;
      const auto [where, calls] = seen_from(act, *guard);
      return tell_local(guard->place, where, calls, owner, other, act, mismatch);
    }
    // The same call elsewhere among what the other has alone: then it is the order that differs.
    const Extra* swapped = nullptr;
    for (const Extra& each : left)
      if (each.of_first != extra.of_first) {
        const Act& theirs = trace(other).acts[each.act];
        if (same_kind(theirs, act) || (guard && each.before <= extra.act + 1)) {
          swapped = &each;
          break;
        }
      }
    if (act.makes_group) {
      mismatch.cause = Cause::making_groups;
    } else if (swapped) {
      mismatch.cause = Cause::order;
    } else if (group == "world" && is_subgroup(entering) && !knows_group(owner, other, extra, entering)) {
      mismatch.cause = Cause::other_group;
    } else if (guard && guard->attempt) {
      mismatch.cause = Cause::handler;
      place(mismatch, act);
      std::tie(mismatch.place, mismatch.calls) = seen_from(act, *guard);
      mismatch.text = guard->yes ? "Rank " + std::to_string(other) + " skips this " + mismatch.name + " when its try ends in an exception, and rank " + std::to_string(owner) + " waits in it for ever."
                                 : "Rank " + std::to_string(owner) + " enters this " + mismatch.name + " only because its try ended in an exception: rank " + std::to_string(other) + " had none, and " +
                                       (next ? "goes on to " + std::string(next->name) + at_line(next->place) : std::string("never enters it")) + ".";
      mismatch.related.push_back({guard->place, "the try"});
      return true;
    } else if (guard) {
      mismatch.cause = Cause::guard;
    } else if (const Leaving* exit = exit_of(owner, other, extra)) {
      if (local_exit_) {
        if (!of_own_data(local_exit_)) return false;
        mismatch.cause = Cause::local;
        return tell_local(local_exit_, exit->place, exit->calls, owner, other, act, mismatch);
      }
      const auto& decisions = trace(other).decisions;
      const bool handling = std::any_of(exit->turns.begin(), exit->turns.end(), [&](std::size_t turn) { return decisions[turn].attempt && !decisions[turn].yes; });
      if (exit->kind == ExitKind::raise) {
        // Who raises again means to end the job. What raises by what is not known here may not raise at all.
        if (handling) return false;
        for (const std::size_t turn : exit->turns) mismatch.certain = mismatch.certain && !decisions[turn].open;
      }
      mismatch.cause = handling ? Cause::handler : Cause::exit;
      return tell_exit(*exit, owner, other, act, mismatch);
    } else if (const LoopRun* loop = shorter_loop(act, other)) {
      mismatch.cause = Cause::rounds;
      place(mismatch, act);
      mismatch.place = loop->place;
      mismatch.calls = loop->calls;
      mismatch.text = "Rank " + std::to_string(owner) + " makes more rounds than rank " + std::to_string(other) + ", which makes " + std::to_string(loop->rounds) +
                      ": in the next one it waits in " + mismatch.name + at_line(act.place) + " for ever.";
      mismatch.related.push_back({act.place, mismatch.name + " is entered here"});
      return true;
    } else {
      mismatch.cause = Cause::guard;
    }
    place(mismatch, act);
    mismatch.event = of_main(act);
    const std::string owner_words = "rank " + std::to_string(owner), other_words = "rank " + std::to_string(other);
    if (guard && mismatch.cause == Cause::making_groups) std::tie(mismatch.place, mismatch.calls) = seen_from(act, *guard);
    switch (mismatch.cause) {
    case Cause::guard:
      if (guard) {
        std::tie(mismatch.place, mismatch.calls) = seen_from(act, *guard);
        mismatch.guard = of_main(*guard->branch, mismatch.place);
        mismatch.guard_side = guard->yes;
      }
      if (next) mismatch.next_of_others = of_main(*next);
      mismatch.text = "Only " + rank_words(entering, mismatch.world) + (entering.size() == 1 ? " enters " : " enter ") + mismatch.name + " and wait" + (entering.size() == 1 ? "s" : "") + " for ever: " +
                      (next ? other_words + " goes on to " + (next->name == act.name ? "another " : "") + std::string(next->name) + at_line(next->place) : doing(other, stop.at)) + ".";
      break;
    case Cause::order: {
      // Where the paths to what comes first and to what comes next part.
      const Act* following = nullptr;
      for (std::size_t i = extra.act + 1; i < trace(owner).acts.size() && !following; ++i)
        if (trace(owner).acts[i].what == Act::What::collective && trace(owner).acts[i].group == group) following = &trace(owner).acts[i];
      if (following) {
        std::vector<const CallSite*> around;
        for (const CallSite* site = following->own_calls; site; site = site->outer) around.push_back(site);
        const CallSite *own = act.own_calls, *calls = act.calls;
        // … unless that is where the guard stands.
        while (own && (!guard || own != guard->own_calls) && own->outer && (!guard || own->outer != guard->own_calls) && std::find(around.begin(), around.end(), own) == around.end()) {
          mismatch.place = calls->place;
          own = own->outer;
          calls = calls->outer;
        }
        mismatch.calls = calls;
      }
      const Act* theirs = swapped ? &trace(other).acts[swapped->act] : next;
      mismatch.text = "The ranks enter collectives in different orders: " + owner_words + " enters " + mismatch.name + " here" +
                      (next ? ", where " + other_words + " enters " + std::string(next->name) + at_line(next->place) : std::string()) + ". They wait for each other for ever, or exchange garbage.";
      if (theirs && theirs->place) mismatch.related.push_back({theirs->place, other_words + " enters " + std::string(theirs->name) + " here"});
      break;
    }
    case Cause::making_groups:
      mismatch.text = "Process groups are made by all ranks together, members or not, in the same order: " + owner_words + " calls " + mismatch.name + " here, and " + other_words +
                      (next ? " goes on to " + std::string(next->name) + at_line(next->place) : " never does") + ". Make every group on every rank.";
      break;
    case Cause::other_group:
      mismatch.text = "This " + mismatch.name + " runs on the group of all ranks, and only " + rank_words(entering, mismatch.world) +
                      (entering.size() == 1 ? " enters" : " enter") + " it, the members of a smaller group: " + (next ? other_words + " goes on to " + std::string(next->name) + at_line(next->place) : doing(other, stop.at)) +
                      ". Pass that group.";
      break;
    default: break;
    }
    return true;
  }

  // Are these the members of a group that the program has made, and more than one?
  bool is_subgroup(const std::vector<int>& ranks) const {
    if (ranks.size() < 2) return false;
    for (const Act& act : trace(ranks[0]).acts)
      if (act.makes_group && act.made == ranks && act.made.size() < world_->size()) return true;
    return false;
  }

  // Have the members used their group between the way out of the others and this call? Then they mean all ranks here.
  bool knows_group(int owner, int other, const Extra& extra, const std::vector<int>& members) const {
    if (!exit_of(owner, other, extra)) return false;
    for (std::size_t i = 0; i < extra.act; ++i) {
      const Act& act = trace(owner).acts[i];
      if (act.what == Act::What::collective && act.group != "world" && act.members == members) return true;
    }
    return false;
  }

  // The way out by which `other` missed what `owner` did next.
  const Leaving* exit_of(int owner, int other, const Extra& extra) const {
    local_exit_ = {};
    const Leaving* found = nullptr;
    for (const Leaving& exit : trace(other).exits) {
      if (exit.at > extra.before || exit.caught) continue;
      for (auto turn = exit.turns.rbegin(); turn != exit.turns.rend(); ++turn) {
        const Decision& theirs = trace(other).decisions[*turn];
        if (theirs.unseen) return nullptr;
        const Decision* mine = decided(trace(owner), theirs);
        if (mine && mine->yes != theirs.yes) {
          found = &exit;
          local_exit_ = theirs.local ? theirs.place : Place{};
          break;
        }
      }
    }
    return found;
  }

  bool tell_exit(const Leaving& exit, int owner, int other, const Act& act, Mismatch& mismatch) {
    place(mismatch, act);
    mismatch.key = exit.site;
    mismatch.place = exit.place;
    mismatch.calls = exit.calls;
    std::vector<int> leaving;
    for (int rank = 0; rank < static_cast<int>(world_->size()); ++rank)
      if (std::any_of(trace(rank).exits.begin(), trace(rank).exits.end(), [&](const Leaving& each) { return each.site == exit.site; })) leaving.push_back(rank);
    const char* how = exit.kind == ExitKind::return_ ? "returns" : exit.kind == ExitKind::break_ ? "leaves the loop" : exit.kind == ExitKind::continue_ ? "goes on to the next round" : "ends";
    mismatch.ranks = leaving;
    mismatch.text = "Rank " + std::to_string(other) + " " + how + " here, and rank " + std::to_string(owner) + " waits for it in " + mismatch.name + at_line(act.place) + " for ever.";
    mismatch.related.push_back({act.place, "rank " + std::to_string(owner) + " enters " + mismatch.name + " here"});
    return true;
  }

  // Ranks that decide each by itself, and may decide differently.
  bool tell_local(Place condition, Place where, const CallSite* calls, int owner, int other, const Act& act, Mismatch& mismatch) {
    place(mismatch, act);
    mismatch.place = where;
    mismatch.calls = calls;
    mismatch.text = "Each rank decides this by data of its own: where rank " + std::to_string(owner) + " enters " + mismatch.name + (where == act.place ? std::string() : at_line(act.place)) + " and rank " + std::to_string(other) +
                    " does not, it waits for ever. Let the ranks agree first: all_reduce what decides.";
    if (!(condition == where)) mismatch.related.push_back({condition, "this condition may differ among the ranks"});
    if (!(act.place == where)) mismatch.related.push_back({act.place, mismatch.name + " is entered here"});
    return true;
  }

  const LoopRun* shorter_loop(const Act& act, int other) const {
    for (const Round& round : act.rounds) {
      for (const LoopRun& loop : trace(other).loops)
        if (loop.site == round.site && loop.nth == round.nth && loop.rounds <= round.round) return &loop;
      // Loops of no rounds leave nothing behind.
      if (round.place && std::none_of(trace(other).loops.begin(), trace(other).loops.end(), [&](const LoopRun& loop) { return loop.site == round.site && loop.nth == round.nth; })) {
        none_.push_back({round.site, round.nth, 0, round.place, act.calls});
        return &none_.back();
      }
    }
    return nullptr;
  }

  // All calls meet. Do they agree in what they send?
  // Of ranks that stop, only those in front are looked at that all ranks make at the same place.
  bool unequal(Player& player, Mismatch& mismatch, bool stops) {
    std::map<std::pair<std::string, std::size_t>, std::map<int, const Act*>> meetings;
    for (int rank = 0; rank < static_cast<int>(world_->size()); ++rank) {
      std::map<std::string, std::size_t> entered;
      for (const Act& act : trace(rank).acts)
        if (act.what == Act::What::collective && std::find(act.members.begin(), act.members.end(), rank) != act.members.end())
          meetings[{act.group, entered[act.group]++}][rank] = &act;
    }
    std::set<std::string> apart;  // groups whose ranks have parted
    for (const auto& [key, meeting] : meetings) {
      const Act& first = *meeting.begin()->second;
      const int first_rank = meeting.begin()->first;
      if (stops) {
        const bool together = !apart.contains(key.first) && meeting.size() == first.members.size() &&
                              std::all_of(meeting.begin(), meeting.end(), [&](const auto& each) { return each.second->site == first.site; });
        if (!together) {
          apart.insert(key.first);
          continue;
        }
      }
      for (const auto& [rank, pointer] : meeting) {
        const Act& act = *pointer;
        const std::string me = "rank " + std::to_string(rank), her = "rank " + std::to_string(first_rank);
        if (act.makes_group && act.made != first.made && !act.made.empty() && !first.made.empty()) {
          mismatch.cause = Cause::making_groups;
          place(mismatch, act);
          mismatch.text = "All ranks make the same groups in the same order: here " + me + " makes one of " + rank_words(act.made, 0) + ", and " + her + " at the same time one of " + rank_words(first.made, 0) + ".";
          return true;
        }
        if (act.root && std::find(act.members.begin(), act.members.end(), static_cast<int>(*act.root)) == act.members.end()) {
          if (*act.root >= static_cast<std::int64_t>(world_->size()) || *act.root < 0) return false;
          mismatch.cause = Cause::root;
          place(mismatch, act);
          mismatch.text = "Rank " + std::to_string(*act.root) + ", which " + mismatch.name + " is told to use here on " + me + ", is no member of the group of " + rank_words(act.members, 0) +
                          ": src and dst are ranks of the whole job.";
          return true;
        }
        if (act.root && first.root && *act.root != *first.root) {
          mismatch.cause = Cause::root;
          place(mismatch, act);
          mismatch.text = "The ranks disagree in the root of this " + mismatch.name + ": it is rank " + std::to_string(*act.root) + " on " + me + " and rank " + std::to_string(*first.root) + " on " + her + ".";
          if (!(first.place == act.place)) mismatch.related.push_back({first.place, "where " + her + " enters it"});
          return true;
        }
        const bool sizes_differ = act.elements && first.elements && *act.elements != *first.elements && act.list_even && first.list_even && !own_sizes(act);
        const bool types_differ = act.dtype != values::Dtype::unknown && first.dtype != values::Dtype::unknown && act.dtype != first.dtype;
        if (sizes_differ && same_tensors(rank, first_rank, key.first)) {
          mismatch.cause = Cause::order;
          place(mismatch, act);
          mismatch.text = "The ranks go through their tensors in different orders: in this " + mismatch.name + " a tensor of " + std::to_string(*act.elements) + " element" + plural(static_cast<std::size_t>(*act.elements)) + " on " + me +
                          " meets one of " + std::to_string(*first.elements) + " on " + her + ".";
          return true;
        }
        if (sizes_differ || types_differ) {
          mismatch.cause = Cause::size;
          place(mismatch, act);
          if (sizes_differ) mismatch.text = "The tensors of this " + mismatch.name + " differ in size: " + std::to_string(*act.elements) + " element" + plural(static_cast<std::size_t>(*act.elements)) + " on " + me + ", " + std::to_string(*first.elements) + " on " + her + ".";
          else mismatch.text = "The tensors of this " + mismatch.name + " differ in dtype: " + std::string(name(act.dtype)) + " on " + me + ", " + std::string(name(first.dtype)) + " on " + her + ".";
          if (!(first.place == act.place)) mismatch.related.push_back({first.place, "where " + her + " enters it"});
          return true;
        }
        const bool needs_list = act.list_length && (!act.root || *act.root == rank);
        if (needs_list && *act.list_length != static_cast<std::int64_t>(act.members.size()) && (*act.list_length > 0 || act.name == "all_gather")) {
          mismatch.cause = Cause::size;
          place(mismatch, act);
          mismatch.text = "The list of this " + mismatch.name + " has " + std::to_string(*act.list_length) + " item" + plural(static_cast<std::size_t>(*act.list_length)) + " on " + me + ", and the group has " +
                          std::to_string(act.members.size()) + " ranks: one for each is needed.";
          return true;
        }
      }
    }
    if (stops) return false;
    for (const auto& [send, receive] : player.met()) {
      if (!send->elements || !receive->elements || *send->elements == *receive->elements) continue;
      mismatch.cause = Cause::size;
      place(mismatch, *receive);
      mismatch.text = "This receives " + std::to_string(*receive->elements) + " element" + plural(static_cast<std::size_t>(*receive->elements)) + ", and the sender" + at_line(send->place) + " sends " + std::to_string(*send->elements) + ".";
      mismatch.related.push_back({send->place, "the message is sent here"});
      return true;
    }
    return false;
  }

  // Do two ranks send the same sizes through the same collectives, in whatever order?
  bool same_tensors(int a, int b, const std::string& group) const {
    const auto of = [&](int rank) {
      std::vector<std::pair<std::string_view, std::int64_t>> sizes;
      for (const Act& act : trace(rank).acts)
        if (act.what == Act::What::collective && act.group == group && act.elements) sizes.push_back({act.name, *act.elements});
      std::sort(sizes.begin(), sizes.end());
      return sizes;
    };
    return of(a) == of(b);
  }

  // What some ranks enter in one function, and all others in another, may belong together: nobody here calls them.
  void pair_up() {
    std::set<std::size_t> dropped;
    for (const std::size_t i : of_functions_)
      for (const std::size_t j : of_functions_) {
        const Mismatch &a = into_.found[i], &b = into_.found[j];
        if (i == j || a.name != b.name || a.world != b.world) continue;
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
  const World* world_ = nullptr;
  std::set<std::pair<std::uint32_t, std::uint32_t>> about_ranks_;  // branches whose conditions depend on the rank
  bool of_function_ = false;         // that nobody calls
  std::set<std::pair<std::uint32_t, std::uint32_t>> reached_;  // places of communication in runs that end well
  std::vector<Mismatch> undefined_;
  std::map<int, Mismatch> started_;  // by site
  std::set<int> awaited_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> await_places_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> about_exits_;  // ways out in them
  std::set<int> fine_;  // sites that some run gets past
  std::vector<std::size_t> of_functions_;
  mutable std::deque<LoopRun> none_;
  mutable Place local_exit_;  // the condition of the last way out that was looked for, if each rank decides it for itself
};

} // namespace

std::string rank_words(const std::vector<int>& ranks, int world) {
  if (ranks.size() == 1) return "rank " + std::to_string(ranks[0]);
  if (world > 0 && static_cast<int>(ranks.size()) == world - 1)
    for (int rank = 0; rank < world; ++rank)
      if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) return "the ranks but " + std::to_string(rank);
  std::string text = "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
  return text;
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

void tell(const Record& record, Report& report, Cause cause, Severity severity, std::vector<Fix> (*fixes)(const Record&, const Mismatch&)) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  for (const Mismatch& mismatch : compare_ranks(record).found) {
    if (mismatch.cause != cause || !mismatch.place || !told.insert({mismatch.place.chunk, mismatch.place.span.begin}).second) continue;
    Finding* finding = report.add(mismatch.certain ? severity : Severity::warning, mismatch.place, mismatch.calls, mismatch.text);
    if (!finding) continue;
    for (const auto& [place, text] : mismatch.related) report.relate(*finding, place, text);
    report.relate_calls(*finding, mismatch.calls);
    if (fixes) finding->fixes = fixes(record, mismatch);
  }
}

} // namespace stepzero::rules
