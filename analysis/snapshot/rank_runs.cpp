#include "snapshot/rank_runs.hpp"

namespace stepzero::snapshot {

void RankRuns::begin(int world, std::function<void()> after) {
  begin(world, of_.roots_of_ranks, std::move(after));
}

RankRuns::RunsOfWorld* RankRuns::begin(int world, Only only, std::function<void()> after) {
  if (!elsewhere_) return nullptr;
  const auto [it, fresh] = worlds_.try_emplace(world);
  RunsOfWorld& begun = it->second;
  if (!fresh) return &begun;
  begun.only = std::move(only);
  for (int rank = world - 1; rank >= 0; --rank) {
    One& one = begun.ranks.emplace_back();
    one.rank = rank;
    one.run = &of_.ranks[{rank, world}];  // the map itself is not touched elsewhere
  }
  begun.working = elsewhere_([this, world, &begun, after = std::move(after)] {
    for (One& one : begun.ranks)
      if (!one.taken.exchange(true)) {
        make_(*one.run, one.rank, world, begun.only);
        one.made = true;
      }
    if (after) after();
  });
  return &begun;
}

std::shared_ptr<interpreter::Record> RankRuns::of(int rank, int world, const Only& only) {
  if (world == first_world) of_.roots_of_ranks = only;
  std::shared_ptr<Run>& run = of_.ranks[{rank, world}];
  bool made = false;
  if (RunsOfWorld* begun = begin(world, only))
    for (One& one : begun->ranks)
      if (one.rank == rank) {
        if (one.taken.exchange(true)) {
          if (const auto working = std::move(begun->working)) working->wait();
          made = one.made && begun->only == only;
        }
        one.rank = asked;
      }
  if (!made) make_(run, rank, world, only);
  return std::shared_ptr<interpreter::Record>(run, &run->record);
}

}  // namespace stepzero::snapshot
