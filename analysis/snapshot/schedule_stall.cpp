#include "snapshot/schedule_stall.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace stepzero::snapshot {

using rules::CommEvent;

namespace {

constexpr std::int64_t not_buffered =
    262'144;  // elements of a message that no network takes without the receiver

bool takes_part(const CommEvent& comm, int rank) {
  return std::find(comm.members.begin(), comm.members.end(), rank) != comm.members.end();
}

}  // namespace

Partners::Partners(const rules::JobRun& run) : others_(run.size()), complete_(run.size()) {
  std::map<std::pair<std::string, std::size_t>, std::vector<Head>> meetings;
  std::map<std::tuple<int, int, std::int64_t, std::string>, std::pair<std::vector<Head>, std::vector<Head>>>
      messages;
  for (std::size_t rank = 0; rank < run.size(); ++rank) {
    const int me = static_cast<int>(rank);
    std::map<std::string, std::size_t> entered;
    others_[rank].resize(run[rank].comms.size());
    complete_[rank].resize(run[rank].comms.size(), true);
    for (std::size_t i = 0; i < run[rank].comms.size(); ++i) {
      const CommEvent& comm = run[rank].comms[i];
      if (comm.what == CommEvent::What::collective && takes_part(comm, me))
        meetings[{comm.group, entered[comm.group]++}].push_back({me, i});
      if (comm.what == CommEvent::What::send)
        messages[{me, comm.peer, comm.tag, comm.group}].first.push_back({me, i});
      if (comm.what == CommEvent::What::receive)
        messages[{comm.peer, me, comm.tag, comm.group}].second.push_back({me, i});
    }
  }
  const auto comm_of = [&](const Head& head) -> const CommEvent& {
    return run[static_cast<std::size_t>(head.first)].comms[head.second];
  };
  const auto link = [&](const Head& a, const Head& b) {
    others_[static_cast<std::size_t>(a.first)][a.second].push_back(b);
  };
  for (const auto& [key, heads] : meetings) {
    bool whole = heads.size() == comm_of(heads.front()).members.size();
    for (const Head& head : heads) whole = whole && comm_of(head).name == comm_of(heads.front()).name;
    for (const Head& a : heads) {
      complete_[static_cast<std::size_t>(a.first)][a.second] = whole;
      for (const Head& b : heads)
        if (a != b) link(a, b);
    }
  }
  for (const auto& [channel, ends] : messages) {
    const auto& [sends, receives] = ends;
    const std::size_t both = std::min(sends.size(), receives.size());
    for (std::size_t i = 0; i < both; ++i) {
      link(sends[i], receives[i]);
      link(receives[i], sends[i]);
    }
    for (const auto* list : {&sends, &receives})
      for (std::size_t i = both; i < list->size(); ++i)
        complete_[static_cast<std::size_t>((*list)[i].first)][(*list)[i].second] = false;
  }
}

std::vector<std::size_t> stall(const rules::JobRun& run, const Partners& partners, bool buffering) {
  std::vector<std::size_t> at(run.size(), 0);
  std::vector<std::map<const void*, std::size_t>> started(run.size());
  const auto there = [&](const Head& head) {
    const CommEvent& comm = run[static_cast<std::size_t>(head.first)].comms[head.second];
    if (buffering && comm.what == CommEvent::What::send && (!comm.elements || *comm.elements < not_buffered))
      return true;
    const auto& others = partners.of(head);
    return partners.complete(head) && std::all_of(others.begin(), others.end(), [&](const Head& other) {
      return other.second <= at[static_cast<std::size_t>(other.first)];
    });
  };
  const auto ends = [&](int rank, std::size_t i) {
    const CommEvent& comm = run[static_cast<std::size_t>(rank)].comms[i];
    if (comm.starts) return true;
    if (comm.what != CommEvent::What::await) return there({rank, i});
    const auto& requests = started[static_cast<std::size_t>(rank)];
    const auto request = requests.find(comm.request);
    return request == requests.end() || there({rank, request->second});
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t rank = 0; rank < run.size(); ++rank)
      while (at[rank] < run[rank].comms.size() && ends(static_cast<int>(rank), at[rank])) {
        const CommEvent& comm = run[rank].comms[at[rank]];
        if (comm.starts) started[rank][comm.request] = at[rank];
        ++at[rank];
        progress = true;
      }
  }
  return at;
}

}  // namespace stepzero::snapshot
