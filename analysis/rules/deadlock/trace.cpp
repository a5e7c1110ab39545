#include "rules/deadlock/exchange.hpp"
#include "rules/deadlock/walker.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;

Worlds::Worlds(const Record& record, bool by_defaults) : runs_(std::make_unique<Runs>(record, by_defaults)) {}
Worlds::~Worlds() = default;

bool Worlds::any_about_gradients() const { return runs_->any_about_gradients(); }

const Record& Worlds::of(int rank, int world) { return *runs_->of(rank, world).record; }

namespace {
// What may take place takes place on all ranks, or on none, where all come to it. Else it is not known what they do behind it.
void settle(World& world) {
  const auto sites = [](const Trace& trace) {
    std::vector<int> made;
    for (const auto& [before, site] : trace.perhaps) made.push_back(site);
    return made;
  };
  if (std::all_of(world.begin(), world.end(), [&](const Trace& trace) { return sites(trace) == sites(world.front()); })) return;
  for (Trace& trace : world) {
    if (trace.perhaps.empty()) continue;
    trace.settled = trace.unsettled ? std::min(trace.settled, trace.perhaps.front().first) : trace.perhaps.front().first;
    trace.unsettled = true;
  }
}
} // namespace

bool Worlds::explore(const Root& root, int world, std::size_t limit, const std::function<void(const World&)>& each, Granted granted) {
  Runs& runs = *runs_;
  if (!runs.main().as_rank) return false;
  // Functions that nobody calls are called by who is not seen.
  if (!root.function && exchanged_.insert(world).second) exchange_contents(runs, world, root);
  std::vector<RankRun*> ranks;
  std::vector<const Block*> blocks;
  for (int rank = 0; rank < world; ++rank) {
    RankRun& own = runs.of(rank, world);
    if (!own.record || own.record->cancelled) return false;
    const Root* same = nullptr;
    for (const auto& other : own.record->roots)
      if (other->name == root.name && (other->function ? other->function->stmt : nullptr) == (root.function ? root.function->stmt : nullptr)) {
        same = other.get();
        break;
      }
    if (!same || same->truncated) return false;
    ranks.push_back(&own);
    blocks.push_back(&same->block);
  }
  std::map<int, bool> shared;
  std::vector<std::map<Cond, bool>> own(static_cast<std::size_t>(world));
  std::size_t explored = 0;
  std::uint64_t walked = 0;
  const std::function<bool()> choose = [&]() -> bool {
    if (++explored > limit) return false;
    World made;
    for (int rank = 0; rank < world; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      Walked one = walk_rank(runs, *ranks[at], world, *blocks[at], {shared, own[at], granted}, walked);
      if (one.too_long) return false;
      if (!one.missing) {
        made.push_back(std::move(one.trace));
        continue;
      }
      const Cond missing = one.missing;
      const bool is_shared = one.missing_is_shared;
      const int key = one.missing_key;
      auto& symbols = ranks[at]->record->symbols;
      const auto mark = symbols.mark();
      for (const bool value : {true, false}) {
        if (is_shared) shared[key] = value;
        else own[at][missing] = value;
        const bool possible = symbols.assume(value ? missing : symbols.logical_not(missing));
        const bool complete = !possible || choose();
        symbols.rewind(mark);
        if (!complete) {
          if (is_shared) shared.erase(key);
          else own[at].erase(missing);
          return false;
        }
      }
      if (is_shared) shared.erase(key);
      else own[at].erase(missing);
      return true;
    }
    settle(made);
    each(made);
    return true;
  };
  return choose();
}

} // namespace stepzero::rules
