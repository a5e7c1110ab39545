#include "rules/ranks/exchange.hpp"

#include "libraries/torch/distributed/messages.hpp"
#include "rules/ranks/walker.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using interpreter::Block;

namespace {

constexpr int most_iterations = 12;  // of messages that answer messages, in one world
constexpr int largest_world = 4;     // a pipeline of more repeats what four show

// What is certain of one rank's run.
struct Certain {
  std::vector<CommEvent> messages;
  bool all = false;            // of the messages: there are no more
  bool asks = false;           // in a loop of any number of iterations, for what others send to all
  bool calls = false;          // it sends to all others
  bool one_iteration = false;  // of a loop that may have more, in each of which it sends the same to all
};

const Block* block_of(const Record& record, const Root& root) {
  for (const auto& other : record.roots)
    if (other->name == root.name && !other->function) return other->truncated ? nullptr : &other->block;
  return nullptr;
}

bool stands_for_many(const RankTrace& trace, const CommEvent& comm) {
  return std::any_of(comm.iterations.begin(), comm.iterations.end(), [&](const Iteration& iteration) {
    return std::any_of(trace.loops.begin(), trace.loops.end(), [&](const LoopRun& loop) {
      return loop.site == iteration.site && loop.nth == iteration.nth && loop.stands_for_many;
    });
  });
}

// Does the rank send to all others there?
std::optional<PeerMessages::Channel> broadcasts(const CommEvent& comm, int rank) {
  if (comm.what != CommEvent::What::collective || comm.group != world_group || comm.starts ||
      comm.root != rank || !comm.root_where.empty())
    return std::nullopt;
  return libraries::broadcast_of(*comm.event->row, rank);
}

// What a send takes along; none: not known, or it may still be written.
std::optional<PeerMessages::Sent> sent_by(const CommEvent& comm, const Record& record) {
  if (const auto* list = comm.what == CommEvent::What::collective ? comm.event->list_state(0) : nullptr)
    return libraries::objects_sent(record.symbols, *list);
  if (comm.starts || !comm.tensor || !comm.tensor->content) return std::nullopt;
  const values::Content& content = *comm.tensor->content;
  PeerMessages::Sent made{content.dtype, content.is_scalar, {}, {}};
  for (const values::Number& number : content.numbers) {
    const auto whole = number.integer ? record.symbols.value(number.integer) : std::nullopt;
    if (whole)
      made.whole.push_back(*whole);
    else if (!number.integer && number.exact())
      made.real.push_back(number.low);
    else
      return std::nullopt;
  }
  if (!made.whole.empty() && !made.real.empty()) return std::nullopt;
  return made;
}

std::optional<Certain> certain_of(Runs& runs, int rank, int world, const Root& root) {
  RankRun& own = runs.of(rank, world);
  if (!own.record || own.record->cancelled || own.record->out_of_budget) return std::nullopt;
  const Block* block = block_of(*own.record, root);
  if (!block) return std::nullopt;
  const std::map<int, bool> shared;
  const std::map<Cond, bool> chosen;
  std::uint64_t walked = 0;
  const Walked one = walk_rank(runs, own, world, *block, {shared, chosen, Assumption::nothing, true}, walked);
  if (one.too_long || one.trace.impossible || one.trace.nowhere) return std::nullopt;
  Certain made;
  made.all = !one.missing && !one.trace.uncertain;
  const std::size_t certain_comms = one.trace.uncertain ? one.trace.certain_comms : one.trace.comms.size();
  for (std::size_t i = 0; i < certain_comms; ++i) {
    const CommEvent& comm = one.trace.comms[i];
    made.calls = made.calls || broadcasts(comm, rank);
    if (stands_for_many(one.trace, comm)) {
      if (comm.what == CommEvent::What::collective &&
          (!broadcasts(comm, rank) || sent_by(comm, *own.record))) {
        made.asks = made.asks || (comm.root && *comm.root != rank);
        if (!broadcasts(comm, rank)) continue;
        made.one_iteration = true;
        made.messages.push_back(comm);
        continue;
      }
      made.all = made.all &&
          std::none_of(one.trace.comms.begin() + static_cast<std::ptrdiff_t>(i), one.trace.comms.end(),
              [&](const CommEvent& later) {
                return later.what == CommEvent::What::send || broadcasts(later, rank);
              });
      break;
    }
    if (comm.what == CommEvent::What::send || comm.what == CommEvent::What::receive || broadcasts(comm, rank))
      made.messages.push_back(comm);
  }
  return made;
}

}  // namespace

void exchange_contents(Runs& runs, int world, const Root& root) {
  if (world > largest_world) return;
  std::vector<std::shared_ptr<const PeerMessages>> told(static_cast<std::size_t>(world));
  std::set<int> asking;  // in some iteration: who is told all does not ask any more
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    std::vector<Certain> ranks;
    for (int rank = 0; rank < world; ++rank) {
      auto one = certain_of(runs, rank, world, root);
      if (!one) return;
      if (one->asks) asking.insert(rank);
      ranks.push_back(std::move(*one));
    }
    std::map<int, std::shared_ptr<const PeerMessages>> news;
    for (int rank = 0; rank < world; ++rank) {
      const Certain& own = ranks[static_cast<std::size_t>(rank)];
      // Who calls the others goes on to know what it sends, as they then do.
      const bool calls = own.calls && !asking.empty();
      if (own.all && !asking.contains(rank) && !calls) continue;
      auto made = std::make_shared<PeerMessages>();
      bool known = false;
      for (int sender = 0; sender < world; ++sender) {
        const Certain& theirs = ranks[static_cast<std::size_t>(sender)];
        made->all.push_back(theirs.all);
        for (const CommEvent& comm : theirs.messages) {
          const auto broadcast = sender == rank || !asking.contains(rank) ? std::nullopt
                                                                          : broadcasts(comm, sender);
          if (!broadcast &&
              (comm.what != CommEvent::What::send || comm.peer != rank || comm.group != world_group))
            continue;
          const auto& sent =
              made->sent[broadcast ? *broadcast : PeerMessages::Channel{sender, comm.tag}].emplace_back(
                  sent_by(comm, *runs.of(sender, world).record));
          known = known || sent;
        }
      }
      const auto& before = told[static_cast<std::size_t>(rank)];
      if ((known || (calls && !before)) && !(before && *before == *made)) news[rank] = std::move(made);
      for (int sender = 0; sender < world; ++sender)
        if (ranks[static_cast<std::size_t>(sender)].all &&
            ranks[static_cast<std::size_t>(sender)].one_iteration)
          runs.note_one_iteration(rank, sender, world);
    }
    if (news.empty()) return;
    // The runs that are replaced take along what was said of them.
    ranks.clear();
    for (auto& [rank, made] : news) {
      if (!runs.tell(rank, world, made)) return;
      told[static_cast<std::size_t>(rank)] = std::move(made);
    }
  }
}

}  // namespace stepzero::rules
