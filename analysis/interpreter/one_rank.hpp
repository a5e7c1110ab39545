// One process of a small job on one node, and what the others were found to send to it.
#pragma once

#include "values/kept.hpp"
#include "values/value.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::interpreter {

// The messages of each other process, in their order.
struct PeerMessages {
  // The elements of a small tensor. Of a run of another process: numbers, no symbols.
  struct Sent {
    values::Dtype dtype = values::Dtype::unknown;
    bool is_scalar = false;
    std::vector<std::int64_t> whole;  // the elements, of a type of integers or bools
    std::vector<double> real;         // …, of floats
    friend bool operator==(const Sent&, const Sent&) = default;
  };
  using Channel = std::pair<int, std::int64_t>;              // the sender, and the tag
  std::map<Channel, std::vector<std::optional<Sent>>> sent;  // none: a message that is not known
  std::vector<bool> all;  // by sender: it is known to send no more than these, whatever else it does
  friend bool operator==(const PeerMessages&, const PeerMessages&) = default;

  // Under which names the process counts what it has received; and whether it has received anything that
  // cannot be counted.
  static std::string counter(const Channel& channel) {
    return values::EngineNotes::received +
        (std::to_string(channel.first) + " " + std::to_string(channel.second));
  }
  static constexpr values::KeptKey lost = values::EngineNotes::lost;
};

struct OneRank {
  int rank = 0;
  int world = 1;
  std::shared_ptr<const PeerMessages> told = {};  // null: nothing is known of what is sent to it
  bool by_defaults = false;                       // numbers that may be given to the program are not given
};

}  // namespace stepzero::interpreter
