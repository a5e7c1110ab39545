// What becomes of a world: its ranks do their communications one after the other, by the rules of process
// groups and messages, until all have ended or none can go on. Knows no rule, and not whose fault it is.
#pragma once

#include "rules/ranks/trace.hpp"

#include <deque>
#include <tuple>

namespace stepzero::rules {

// Are these the same collective to those who meet in it?
bool same_kind(const CommEvent& a, const CommEvent& b);
bool is_member(const CommEvent& comm, int rank);

// Does the rank wait in a collective for one of which all is known, and which has ended? What else the rank
// may do does not help it.
bool waits_for_who_has_ended(const JobRun& world, const std::vector<std::size_t>& at, std::size_t rank);

// Where a run stops.
struct Stop {
  enum class Kind : std::uint8_t { none, different, incomplete, blocked } kind = Kind::none;
  std::string group;
  std::size_t meeting = 0;
  int a = -1, b = -1;  // ranks: that is there, that is elsewhere
  std::vector<std::size_t>
      at;  // by rank: the communication that it waits in, or the number of its communications
};

class CollectiveSimulator {
public:
  // With `buffering`, a network takes small messages without the receiver.
  CollectiveSimulator(const JobRun& world, bool buffering)
      : world_(world), buffering_(buffering), at_(world.size(), 0), posted_(world.size(), false) {}

  Stop play();

  const std::vector<std::pair<std::string, std::size_t>>& incomplete() const { return incomplete_; }
  const std::map<int, std::size_t>& meeting(const std::string& group, std::size_t i) const {
    return meetings_.at(group)[i];
  }
  const std::vector<int>& members(const std::string& group) const { return members_.at(group); }
  // Collectives that all their members entered: by rank, the communication.
  std::vector<const std::map<int, std::size_t>*> held() const;
  const std::vector<std::pair<int, std::size_t>>& foreign() const { return foreign_; }
  // The message that an communication, a wait included, is about; null for others.
  const CommEvent* message_of(int rank, std::size_t at) const;
  // Pairs of messages that met.
  const std::vector<std::pair<const CommEvent*, const CommEvent*>>& met() const { return met_; }
  // Sends that nobody took, with their ranks.
  std::vector<std::pair<int, const CommEvent*>> left_over() const;

private:
  struct Message {
    const CommEvent* comm = nullptr;
    bool met = false;
  };
  struct Request {
    bool is_collective = false;
    const CommEvent* comm = nullptr;
    std::string group;
    std::size_t meeting = 0;
    Message* message = nullptr;
  };
  using Channel = std::tuple<int, int, std::int64_t, std::string>;

  bool complete(const std::string& group, std::size_t i) const {
    return meetings_.at(group)[i].size() == members_.at(group).size();
  }

  bool sent(const CommEvent& comm, const Message& message) const;
  Message* post(int rank, const CommEvent& comm);
  // May the communication that the rank has come to end?
  bool go_on(std::size_t number);

  const JobRun& world_;
  bool buffering_;
  std::vector<std::size_t> at_;
  std::vector<bool> posted_;
  std::map<std::size_t, Message*> now_;
  std::map<std::size_t, std::size_t> here_;
  std::map<std::string, std::vector<std::map<int, std::size_t>>>
      meetings_;  // by group: who entered, in which communication
  std::map<std::string, std::vector<int>> members_;
  std::map<std::pair<int, std::string>, std::size_t> entered_;
  std::map<Channel, std::deque<Message>> sends_, receives_;
  std::map<std::pair<int, const values::Object*>, Request> requests_;
  std::vector<std::pair<int, std::size_t>> foreign_;
  std::vector<std::pair<const CommEvent*, const CommEvent*>> met_;
  std::vector<std::pair<std::string, std::size_t>> incomplete_;
  Stop stop_;
};

}  // namespace stepzero::rules
