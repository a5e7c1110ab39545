#include "rules/ranks/alignment.hpp"

#include "rules/ranks/collective_simulator.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {
constexpr std::size_t most_compared = 300 *
    300;  // communications of one with communications of the other, where they differ first and after that
}  // namespace

std::vector<Extra> extras(const RankTrace& first, const RankTrace& second, const std::string& group) {
  const auto of_group = [&](const RankTrace& trace) {
    std::vector<std::size_t> comms;
    for (std::size_t i = 0; i < trace.comms.size(); ++i)
      if (trace.comms[i].what == CommEvent::What::collective && trace.comms[i].group == group)
        comms.push_back(i);
    return comms;
  };
  auto a = of_group(first), b = of_group(second);
  constexpr int alone = 7, elsewhere = 2, other_iteration = 1, never = 1 << 20;
  const auto pair_cost = [&](std::size_t i, std::size_t j) {
    const CommEvent &x = first.comms[a[i]], &y = second.comms[b[j]];
    if (!same_kind(x, y)) return never;
    if (x.site != y.site) return elsewhere;
    const bool same_iteration = std::equal(x.iterations.begin(), x.iterations.end(), y.iterations.begin(),
        y.iterations.end(),
        [](const Iteration& one, const Iteration& other) { return one.iteration == other.iteration; });
    return same_iteration ? 0 : other_iteration;
  };
  // What both begin with alike costs nothing and belongs together, however long it is.
  std::size_t equivalent = 0;
  while (equivalent < a.size() && equivalent < b.size() && pair_cost(equivalent, equivalent) == 0)
    ++equivalent;
  a.erase(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(equivalent));
  b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(equivalent));
  if (a.size() * b.size() > most_compared) return {};
  std::vector<std::vector<int>> cost(a.size() + 1, std::vector<int>(b.size() + 1, 0));
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
      left.push_back({true, a[i], j < b.size() ? b[j] : second.comms.size()});
      ++i;
    } else {
      left.push_back({false, b[j], i < a.size() ? a[i] : first.comms.size()});
      ++j;
    }
  }
  return left;
}

}  // namespace stepzero::rules
