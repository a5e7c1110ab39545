// How far the ranks of one run come: each goes on until it waits for what is never there.
#pragma once

#include "rules/ranks/trace.hpp"

#include <vector>

namespace stepzero::snapshot {

// A rank and one of its communications.
using Head = std::pair<int, std::size_t>;

// Acts that belong together: the collectives of a group in the order in which each member enters them, and
// the messages between two ranks in the order of their sends and receives.
class Partners {
public:
  explicit Partners(const rules::JobRun& run);
  // The others that are in it; by communication, without itself.
  const std::vector<Head>& of(const Head& head) const {
    return others_[static_cast<std::size_t>(head.first)][head.second];
  }
  // Is everybody there that it needs?
  bool complete(const Head& head) const {
    return complete_[static_cast<std::size_t>(head.first)][head.second];
  }

private:
  std::vector<std::vector<std::vector<Head>>> others_;
  std::vector<std::vector<bool>> complete_;
};

// By rank: the communication that it waits in forever, or the number of its communications. With `buffering`,
// messages that are not large need no receiver.
std::vector<std::size_t> stall(const rules::JobRun& run, const Partners& partners, bool buffering);

}  // namespace stepzero::snapshot
