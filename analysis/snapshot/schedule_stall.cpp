#include "snapshot/schedule_stall.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace stepzero::snapshot {

using rules::CommEvent;

namespace {

constexpr std::int64_t not_buffered =
    262'144;  // elements of a message that no network takes without the receiver

bool is_member(const CommEvent& act, int rank) {
  return std::find(act.members.begin(), act.members.end(), rank) != act.members.end();
}

}  // namespace

Partners::Partners(const rules::JobRun& run) : others_(run.size()), complete_(run.size()) {
  std::map<std::pair<std::string, std::size_t>, std::vector<Head>> meetings;
  std::map<std::tuple<int, int, std::int64_t, std::string>, std::pair<std::vector<Head>, std::vector<Head>>>
      messages;
  for (std::size_t rank = 0; rank < run.size(); ++rank) {
    const int me = static_cast<int>(rank);
    std::map<std::string, std::size_t> entered;
    others_[rank].resize(run[rank].acts.size());
    complete_[rank].resize(run[rank].acts.size(), true);
    for (std::size_t i = 0; i < run[rank].acts.size(); ++i) {
      const CommEvent& act = run[rank].acts[i];
      if (act.what == CommEvent::What::collective && is_member(act, me))
        meetings[{act.group, entered[act.group]++}].push_back({me, i});
      if (act.what == CommEvent::What::send)
        messages[{me, act.peer, act.tag, act.group}].first.push_back({me, i});
      if (act.what == CommEvent::What::receive)
        messages[{act.peer, me, act.tag, act.group}].second.push_back({me, i});
    }
  }
  const auto act_of = [&](const Head& head) -> const CommEvent& {
    return run[static_cast<std::size_t>(head.first)].acts[head.second];
  };
  const auto link = [&](const Head& a, const Head& b) {
    others_[static_cast<std::size_t>(a.first)][a.second].push_back(b);
  };
  for (const auto& [key, heads] : meetings) {
    bool whole = heads.size() == act_of(heads.front()).members.size();
    for (const Head& head : heads) whole = whole && act_of(head).name == act_of(heads.front()).name;
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
    const CommEvent& act = run[static_cast<std::size_t>(head.first)].acts[head.second];
    if (buffering && act.what == CommEvent::What::send && (!act.elements || *act.elements < not_buffered))
      return true;
    const auto& others = partners.of(head);
    return partners.complete(head) && std::all_of(others.begin(), others.end(), [&](const Head& other) {
      return other.second <= at[static_cast<std::size_t>(other.first)];
    });
  };
  const auto ends = [&](int rank, std::size_t i) {
    const CommEvent& act = run[static_cast<std::size_t>(rank)].acts[i];
    if (act.starts) return true;
    if (act.what != CommEvent::What::await) return there({rank, i});
    const auto& requests = started[static_cast<std::size_t>(rank)];
    const auto request = requests.find(act.request);
    return request == requests.end() || there({rank, request->second});
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t rank = 0; rank < run.size(); ++rank)
      while (at[rank] < run[rank].acts.size() && ends(static_cast<int>(rank), at[rank])) {
        const CommEvent& act = run[rank].acts[at[rank]];
        if (act.starts) started[rank][act.request] = at[rank];
        ++at[rank];
        progress = true;
      }
  }
  return at;
}

}  // namespace stepzero::snapshot
