#include "rules/ranks/collective_simulator.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

constexpr std::int64_t not_buffered =
    262'144;  // elements of a message that no network takes without the receiver

}  // namespace

bool same_kind(const CommEvent& a, const CommEvent& b) { return a.name == b.name; }
bool is_member(const CommEvent& comm, int rank) {
  return std::find(comm.members.begin(), comm.members.end(), rank) != comm.members.end();
}

bool waits_for_who_has_ended(const JobRun& world, const std::vector<std::size_t>& at, std::size_t rank) {
  const RankTrace& own = world[rank];
  if (at[rank] >= own.comms.size() || own.comms[at[rank]].what != CommEvent::What::collective ||
      own.comms[at[rank]].starts)
    return false;
  return std::ranges::any_of(own.comms[at[rank]].members, [&](int member) {
    const auto other = static_cast<std::size_t>(member);
    return other < world.size() && other != rank && !world[other].uncertain && !world[other].raised &&
        at[other] >= world[other].comms.size();
  });
}

Stop CollectiveSimulator::play() {
  bool progress = true;
  while (progress && stop_.kind == Stop::Kind::none) {
    progress = false;
    for (std::size_t rank = 0; rank < world_.size(); ++rank)
      while (at_[rank] < world_[rank].comms.size() && stop_.kind == Stop::Kind::none && go_on(rank)) {
        ++at_[rank];
        posted_[rank] = false;
        progress = true;
      }
  }
  stop_.at = at_;
  if (stop_.kind != Stop::Kind::none) return stop_;
  bool all_ended = true;
  for (std::size_t rank = 0; rank < world_.size(); ++rank)
    all_ended = all_ended && at_[rank] == world_[rank].comms.size();
  // A collective that not all members entered: it may have let some go on, and is wrong all the same.
  for (auto& [group, meetings] : meetings_)
    for (std::size_t i = 0; i < meetings.size(); ++i)
      if (meetings[i].size() < members_[group].size()) {
        incomplete_.push_back({group, i});
        break;
      }
  if (!all_ended)
    stop_.kind = Stop::Kind::blocked;
  else if (!incomplete_.empty())
    stop_.kind = Stop::Kind::incomplete;
  return stop_;
}

const CommEvent* CollectiveSimulator::message_of(int rank, std::size_t at) const {
  const CommEvent& comm = world_[static_cast<std::size_t>(rank)].comms[at];
  if (comm.what == CommEvent::What::send || comm.what == CommEvent::What::receive) return &comm;
  if (comm.what != CommEvent::What::await) return nullptr;
  const auto it = requests_.find({rank, comm.request});
  return it == requests_.end() || it->second.is_collective ? nullptr : it->second.comm;
}

std::vector<const std::map<int, std::size_t>*> CollectiveSimulator::held() const {
  std::vector<const std::map<int, std::size_t>*> all;
  for (const auto& [group, meetings] : meetings_)
    for (std::size_t i = 0; i < meetings.size(); ++i)
      if (complete(group, i) &&
          !(stop_.kind == Stop::Kind::different && stop_.group == group && stop_.meeting == i))
        all.push_back(&meetings[i]);
  return all;
}

std::vector<std::pair<int, const CommEvent*>> CollectiveSimulator::left_over() const {
  std::vector<std::pair<int, const CommEvent*>> left;
  for (const auto& [channel, queue] : sends_)
    for (const Message& message : queue)
      if (!message.met) left.push_back({std::get<0>(channel), message.comm});
  return left;
}

bool CollectiveSimulator::sent(const CommEvent& comm, const Message& message) const {
  if (message.met) return true;
  if (!buffering_) return false;
  return !comm.elements || *comm.elements < not_buffered;
}

CollectiveSimulator::Message* CollectiveSimulator::post(int rank, const CommEvent& comm) {
  const bool sends = comm.what == CommEvent::What::send;
  const Channel channel = sends ? Channel{rank, comm.peer, comm.tag, comm.group}
                                : Channel{comm.peer, rank, comm.tag, comm.group};
  auto& mine = (sends ? sends_ : receives_)[channel];
  mine.push_back({&comm, false});
  Message* made = &mine.back();
  for (Message& other : (sends ? receives_ : sends_)[channel])
    if (!other.met) {
      other.met = made->met = true;
      met_.push_back(sends ? std::pair{&comm, other.comm} : std::pair{other.comm, &comm});
      break;
    }
  return made;
}

bool CollectiveSimulator::go_on(std::size_t number) {
  const int rank = static_cast<int>(number);
  const CommEvent& comm = world_[number].comms[at_[number]];
  switch (comm.what) {
  case CommEvent::What::send:
  case CommEvent::What::receive: {
    if (!posted_[number]) {
      now_[number] = post(rank, comm);
      posted_[number] = true;
      if (comm.starts) {
        requests_[{rank, comm.request}] = {false, &comm, {}, 0, now_[number]};
        return true;
      }
    }
    return comm.what == CommEvent::What::send ? sent(comm, *now_[number]) : now_[number]->met;
  }
  case CommEvent::What::await: {
    const auto it = requests_.find({rank, comm.request});
    if (it == requests_.end()) return true;
    const Request& request = it->second;
    if (request.is_collective) return complete(request.group, request.meeting);
    return request.comm->what == CommEvent::What::send ? sent(*request.comm, *request.message)
                                                       : request.message->met;
  }
  case CommEvent::What::collective: {
    if (!is_member(comm, rank)) {
      foreign_.push_back({rank, at_[number]});
      return true;
    }
    auto& meetings = meetings_[comm.group];
    members_[comm.group] = comm.members;
    if (!posted_[number]) {
      const std::size_t i = entered_[{rank, comm.group}]++;
      if (meetings.size() <= i) meetings.resize(i + 1);
      posted_[number] = true;
      here_[number] = i;
      for (const auto& [other, their] : meetings[i])
        if (!same_kind(world_[static_cast<std::size_t>(other)].comms[their], comm)) {
          meetings[i][rank] = at_[number];
          stop_ = {Stop::Kind::different, comm.group, i, other, rank, {}};
          return false;
        }
      meetings[i][rank] = at_[number];
      if (comm.starts) {
        requests_[{rank, comm.request}] = {true, &comm, comm.group, i, nullptr};
        return true;
      }
    }
    if (complete(comm.group, here_[number])) return true;
    if (!comm.root) return false;
    return comm.info->waits == values::Waiting::all_but_root
        ? *comm.root == rank
        : comm.info->waits == values::Waiting::root && *comm.root != rank;
  }
  }
  return true;
}

}  // namespace stepzero::rules
